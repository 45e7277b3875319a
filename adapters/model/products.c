/* products.c - the Ascend products: how each is recognised, and how each is planned
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The rows are in products.h.
 */
#include "products.h"

#include "../text/cursor.h"

static const cpubind_product products[] = {{.word = "auto",
                                            .strategy = CPUBIND_TOPO_AFFINITY,
                                            .roles = CPUBIND_ROLES(2, 1, 1, 1),
                                            .cluster = {8, 0, 0},
                                            .log_name = "",
                                            .log_main = "main"},
#define CPUBIND_X(name, type_word, ...) {.word = (type_word), __VA_ARGS__},
                                           CPUBIND_PRODUCT_LIST(CPUBIND_X)
#undef CPUBIND_X
};

static const int32_t npu_vendors[] = {0x19e5, 0x2092, 0x20c6, 0x203f, 0x20e9};

const cpubind_product *cpubind_product_of(cpubind_device_type type)
{
    return &products[(uint32_t)type < CPUBIND_TYPE_COUNT ? type : CPUBIND_TYPE_AUTO];
}

const char *cpubind_type_word(cpubind_device_type type)
{
    return cpubind_product_of(type)->word;
}

/* Whether a chip name holds this part, where the part counts. */
static int fits(const cpubind_chip_name *chip, const char *name, int32_t len, int32_t has_phy)
{
    const int32_t n = (int32_t)strlen(chip->part);
    cursor_text of;
    cursor c = cursor_open(&of, name, len, NULL, !chip->is_end_with_phy || has_phy);
    if (chip->is_end_with_phy && len > n)
        c.at = len - n;
    while (cursor_len(&c) >= n && !cursor_starts_as(&c, chip->part))
        c.at++;
    return cursor_starts_as(&c, chip->part);
}

cpubind_device_type cpubind_type_of_chip(const char *name, int32_t len, int32_t has_phy)
{
    for (int type = CPUBIND_TYPE_COUNT - 1; type > CPUBIND_TYPE_AUTO; type--)
        for (int i = 0; i < CPUBIND_PRODUCT_CHIPS && products[type].chip[i].part; i++)
            if (fits(&products[type].chip[i], name, len, has_phy))
                return (cpubind_device_type)type;
    return CPUBIND_TYPE_AUTO;
}

cpubind_device_type cpubind_type_of_pci(int32_t device)
{
    for (int type = CPUBIND_TYPE_COUNT - 1; type > CPUBIND_TYPE_AUTO; type--)
        for (int i = 0; i < CPUBIND_PRODUCT_IDS && products[type].pci[i]; i++)
            if (products[type].pci[i] == device)
                return (cpubind_device_type)type;
    return CPUBIND_TYPE_AUTO;
}

int cpubind_is_npu_vendor(int32_t vendor)
{
    for (size_t i = 0; i < sizeof npu_vendors / sizeof npu_vendors[0]; i++)
        if (npu_vendors[i] == vendor)
            return 1;
    return 0;
}

int cpubind_is_chip_word(const char *word, int32_t len)
{
    cursor_text of;
    const cursor c = cursor_open(&of, word, len, NULL, 1);
    for (int type = CPUBIND_TYPE_AUTO; type < CPUBIND_TYPE_COUNT; type++)
        for (int i = 0; i < CPUBIND_PRODUCT_CHIPS && products[type].chip[i].part; i++)
            if (cursor_starts_as(&c, products[type].chip[i].part))
                return 1;
    return 0;
}
