/* products.h - the Ascend products: how each is recognised, and how each is planned
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h. One row for each product. Everything that differs between products is read
 * from its row; no other file compares a device type with the name of a product. What the rows
 * say is from npu-smi's chip names, from the PCI ids of the driver, and from vllm-ascend's
 * cpu_binding.py (strategies, roles, clusters, words of the log).
 */
#ifndef CPUBIND_ASCEND_PRODUCTS_H
#define CPUBIND_ASCEND_PRODUCTS_H

#include "../text/text.h"
#include "pools.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The CPUs that each role of a pool has at least. */
#define CPUBIND_ROLES(irq, main, acl, release)                                                 \
    {                                                                                          \
        .count = {                                                                             \
            [CPUBIND_ROLE_IRQ] = (irq),                                                        \
            [CPUBIND_ROLE_MAIN] = (main),                                                      \
            [CPUBIND_ROLE_ACL] = (acl),                                                        \
            [CPUBIND_ROLE_RELEASE] = (release)                                                 \
        }                                                                                      \
    }

/* clang-format off */
/* The products: (enumerator, word, fields of cpubind_product). The word is that of
 * device-type, of JSON and of `fixture`. A chip name or a PCI id that fits several rows
 * belongs to the last of them. A new product is one more row at the end. */
#define CPUBIND_PRODUCT_LIST(X)                                                                \
    X(A2, "a2",                                                                                \
      .chip = {{"a2g", 0}, {"910", 0}}, .pci = {0xd801, 0xd802, 0xd804, 0xd805},               \
      .strategy = CPUBIND_TOPO_AFFINITY, .roles = CPUBIND_ROLES(2, 1, 1, 1),                   \
      .cluster = {8, 0, 0}, .log_name = "", .log_main = "main")                                \
    X(A3, "a3",                                                                                \
      .chip = {{"910_", 0}, {"910", 1}, {"910C", 0}}, .pci = {0xd803},                         \
      .strategy = CPUBIND_GLOBAL_SLICE, .roles = CPUBIND_ROLES(2, 1, 1, 1),                    \
      .cluster = {8, 0, 0}, .log_name = "", .log_main = "main")                                \
    X(300I, "300i",                                                                            \
      .chip = {{"310", 0}, {"MiniD", 0}}, .pci = {0xd100, 0xd105, 0xd500, 0xd501},             \
      .strategy = CPUBIND_TOPO_AFFINITY, .roles = CPUBIND_ROLES(2, 1, 1, 1),                   \
      .cluster = {8, 0, 0}, .has_pairs = 1, .log_name = "", .log_main = "main")                \
    X(950, "950",                                                                              \
      .chip = {{"950", 0}}, .pci = {0xd806},                                                   \
      .strategy = CPUBIND_CLUSTER, .roles = CPUBIND_ROLES(0, 1, 0, 0),                         \
      .cluster = {8, 0, 0}, .log_name = "Ascend 950 ", .log_main = "worker")                   \
    X(310B, "310b", /* a part of its board's chip, and no PCI function: no interrupts */       \
      .chip = {{"310B", 0}},                                                                   \
      .strategy = CPUBIND_TOPO_AFFINITY, .roles = CPUBIND_ROLES(0, 1, 1, 1),                   \
      .cluster = {8, 0, 0}, .log_name = "", .log_main = "main")
/* clang-format on */

typedef enum cpubind_device_type {
    CPUBIND_TYPE_AUTO = 0, /* to be found out; no product */
#define CPUBIND_X(name, ...) CPUBIND_TYPE_##name,
    CPUBIND_PRODUCT_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_TYPE_COUNT /* the number of types, AUTO among them; not a type */
} cpubind_device_type;

/* A part of a chip name, in letters of either case: "910" is in "Ascend 910B3". */
typedef struct cpubind_chip_name {
    const char *part;
    int32_t is_end_with_phy; /* 1: only at the end of the name, and only of a chip that has a
                                phy id in npu-smi info -m */
} cpubind_chip_name;

/* How the strategy `cluster` cuts the CPUs of this product. */
typedef struct cpubind_cluster_shape {
    int32_t cores;    /* in a cluster */
    int32_t uvb_node; /* the node whose free CPUs are for the host's UVB polling threads */
    int32_t kept_cpu; /* the one CPU of that node that those threads must not have */
} cpubind_cluster_shape;

enum { CPUBIND_PRODUCT_CHIPS = 4, CPUBIND_PRODUCT_IDS = 8 };

typedef struct cpubind_product {
    const char *word;                              /* "a2" */
    cpubind_chip_name chip[CPUBIND_PRODUCT_CHIPS]; /* part NULL: no more */
    int32_t pci[CPUBIND_PRODUCT_IDS];              /* PCI device ids; 0: no more */
    cpubind_strategy strategy;                     /* when none is asked for */
    cpubind_role_spec roles;                       /* of a pool that is no cluster; without
                                                        an irq role no interrupts are bound */
    cpubind_cluster_shape cluster;                 /* used with the strategy `cluster` */
    int32_t has_pairs;                             /* 1: two NPUs may be one PCI function */
    const char *log_name;                          /* before "NPU0" in the lines of the log */
    const char *log_main;                          /* the word of the role main there */
} cpubind_product;

/* The row of a type. Of AUTO, and of a number that is no type: a row with the word "auto" that
 * is planned as an A2. Static storage. */
const cpubind_product *cpubind_product_of(cpubind_device_type type);

/* "a2"; "auto" for AUTO and for a number that is no type. Static storage. */
const char *cpubind_type_word(cpubind_device_type type);

/* The type that a chip name tells; AUTO when it tells none.
 *   in      name[0 .. len - 1]; has_phy: whether npu-smi info -m has a phy id for the chip */
cpubind_device_type cpubind_type_of_chip(const char *name, int32_t len, int32_t has_phy);

/* The type that a PCI device id of an NPU vendor tells; AUTO when it is no NPU. */
cpubind_device_type cpubind_type_of_pci(int32_t device);

/* Whether a PCI vendor id is that of Huawei, or of a vendor that sells the same devices under
 * its own id. */
int cpubind_is_npu_vendor(int32_t vendor);

/* Whether a word starts as a chip name of some product does: "910b3". */
int cpubind_is_chip_word(const char *word, int32_t len);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_ASCEND_PRODUCTS_H */
