/* vendor.h - the vendors of accelerators: a row for each
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. A new vendor is one file
 * ../pci/vendor_NAME.c with its row, and one line in CPUBIND_VENDOR_LIST (accelerators.h); that
 * of Ascend, whose inputs are read in ../ascend, is there.
 */
#ifndef CPUBIND_MODEL_VENDOR_H
#define CPUBIND_MODEL_VENDOR_H

#include "driver_names.h"
#include "facts.h"

#ifdef __cplusplus
extern "C" {
#endif

struct facts_reader; /* of one reading; no part of the interface */

enum { CPUBIND_VENDOR_IDS = 3 };

/* A product, by the ids of the public list of PCI ids. Of several rows that fit the first
 * counts. */
typedef struct cpubind_vendor_product {
    int32_t device[CPUBIND_VENDOR_IDS]; /* ids, 0: no more; none: every other one of the vendor
                                            and the class */
    int32_t class_code;                 /* of these, without the programming interface */
    const char *name;                   /* "H100 SXM5"; NULL: not known by its id */
    int32_t n_tile; /* devices of the runtime that one function can be; at least 1 */
} cpubind_vendor_product;

/* Device files of one kind, an input of a process: "/" folder "/" start NUMBER. */
typedef struct cpubind_vendor_nodes {
    const char *input;  /* "dev/nvidia": lists the names of those that the process may open */
    const char *folder; /* "dev" */
    const char *start;  /* "nvidia"; may be "" */
    int32_t is_read;    /* 1: who uses them has them open for reading alone */
} cpubind_vendor_nodes;

/* Device files that the PCI bus tells: a folder of the function lists `start` NUMBER, and its
 * file dev has the number of the device file. */
typedef struct cpubind_vendor_files {
    const char *folder; /* "drm"; NULL: there are no more */
    const char *start;  /* "renderD" */
    cpubind_vendor_nodes nodes;
    int32_t is_display; /* a display server may have them: they tell who uses a device, and not
                           which devices a process sees */
} cpubind_vendor_files;

/* What most drivers have: those of DRM, and of accel. */
#define CPUBIND_FILES_DRM                                                                      \
    {"drm", "renderD", {"dev/dri", "dev/dri", "renderD", 0}, 0},                               \
    {                                                                                          \
        "drm", "card", {"dev/dri", "dev/dri", "card", 0}, 1                                    \
    }
#define CPUBIND_FILES_ACCEL                                                                    \
    {                                                                                          \
        "accel", "accel", {"dev/accel", "dev/accel", "accel", 0}, 0                            \
    }

/* Device files that a driver tells, in place of the bus. */
typedef struct cpubind_vendor_driver {
    const char
        *folder;      /* an input with a folder for each function that it drives; NULL: none */
    const char *leaf; /* a file in it, with lines "key: value" */
    const char *key;  /* of the number of the device file */
    cpubind_vendor_nodes nodes;
    const char *name[2]; /* in proc/devices: the first that is there has the major number */
    int32_t major;       /* where none is there */
    cpubind_vendor_nodes parts; /* those of parts of a device; input NULL: none */
} cpubind_vendor_driver;

/* A process that uses a device. */
typedef struct cpubind_user {
    int32_t pid;
    int32_t device; /* its index among the devices of the facts */
} cpubind_user;

typedef struct cpubind_users {
    cpubind_user *row; /* by device, then by pid; each pair once */
    int32_t n;
    int32_t n_elsewhere; /* entries of devices that are not among those of the facts */
    int32_t n_hidden;    /* entries that hide the pid; the device runs a process */
    int32_t n_unseen;    /* processes whose open files may not be read: they may use one */
    const char *input;   /* the input that has been read */
    /* Whose driver lists them, with the numbers that the host gives to processes; NULL: they
     * were found in this /proc. Static storage. */
    const struct cpubind_vendor *driver;
} cpubind_users;

/* Reads who uses the devices of the facts.
 *   out     *out, in the arena; n may be 0: no process uses one
 *   errors  UNREADABLE, with the input, when no input tells: an input that failed or is damaged
 *           is never taken for one without processes; NO_MEMORY */
typedef cpubind_problem_code cpubind_users_read(const cpubind_source *source,
                                                const cpubind_facts *facts,
                                                cpubind_arena *arena, cpubind_users *out,
                                                cpubind_problem *problem);

/* A variable that hides devices from a runtime. */
typedef struct cpubind_vendor_list {
    const char *name;
    const char *instead; /* counts where that is not set, or empty; NULL: none does */
    int32_t grammar;     /* CPUBIND_LIST_... of ../pci/visible_devices.h */
} cpubind_vendor_list;

enum { CPUBIND_VENDOR_VARIABLES = 4, CPUBIND_VENDOR_FILES = 4, CPUBIND_VENDOR_LISTS = 2 };

typedef struct cpubind_vendor {
    const char *word;    /* "nvidia" */
    const char *noun;    /* "gpu", before the number of a device: its name; NULL: it has none */
    const char *runtime; /* "cuda", which numbers the devices; NULL: none that cpubind knows */
    const cpubind_vendor_product *product;
    int32_t n_product;
    /* Names a product of a vendor whose ids are in a table of its own, or with a device of -1
     * says whether it has the vendor id; NULL: none is. */
    const char *(*name)(int32_t vendor, int32_t device);
    int32_t id; /* of the vendor, of all its products; 0: they are in that table */
    cpubind_vendor_driver driver;
    cpubind_vendor_files file[CPUBIND_VENDOR_FILES];
    /* The device that a process which computes has open besides its own: the input that has its
     * number, or the name of its driver in proc/devices, whose minor is 0; NULL: none. */
    const char *compute_file;
    const char *variable[CPUBIND_VENDOR_VARIABLES]; /* which hide devices; NULL: no more */
    /* Those by which a runtime shows devices to a process, each of what the one before leaves;
     * without one a device without a file that the process may open is hidden. */
    cpubind_vendor_list list[CPUBIND_VENDOR_LISTS];
    const char *setting[CPUBIND_VENDOR_VARIABLES]; /* which change what those mean */
    const char *usual; /* the value of the first setting with which devices are numbered as a
                          whole, by their addresses */
    /* The variable by which a container is given devices: a list of the host's numbers, models
     * with a number ("Ascend910-2") or UUIDs; NULL: none. */
    const char *container;
    /* The driver in proc/devices whose minor numbers are the host's numbers of the devices;
     * NULL: none is. */
    const char *numbered;
    /* Reads what the driver tells of a function that it drives; or NULL. */
    cpubind_problem_code (*read)(struct facts_reader *r, cpubind_host_device *function);
    /* Who uses the devices, by the list of their driver, which has facts->device; NULL: it has
     * none, and a process that has a file of a device open uses it. */
    cpubind_users_read *users;
    const char *user_file; /* that each of those users has open, "/dev/davinci_manager" */
    /* Where the threads of its processes and of its driver belong; a thread that fits no row is
     * a main thread. Of several rows that fit a name the first counts. */
    const cpubind_thread_role *thread;
    int32_t n_thread;
    cpubind_irqs_find *irqs; /* NULL: no interrupt of it is bound */
    const char *polling; /* the name of the threads of other processes that serve its devices,
                                which have the CPUs plan->spare; NULL: there are none */
    /* Device files that are an input of this process alone, not of another one that is looked
     * at: those that claim a device when they are opened. input NULL: none. */
    cpubind_vendor_nodes own;
    /* The command that lists its devices, "npu-smi": all that are due run side by side, and
     * processes of a host share their outputs; NULL: it has none. */
    const char *tool;
    int32_t drives_one; /* 1: a process that uses several is bound to none of them */
} cpubind_vendor;

/* Calls visit(ctx, nodes, bus) for each kind of device files that are inputs, of all vendors,
 * once, until it returns another value than 0, and returns that. `bus`: how the bus tells them;
 * NULL: a driver does. */
typedef int cpubind_vendor_visit(void *ctx, const cpubind_vendor_nodes *nodes,
                                 const cpubind_vendor_files *bus);
int cpubind_vendor_each_nodes(cpubind_vendor_visit *visit, void *ctx);

/* Reads who uses the devices facts->device, by the function `users` of the row of their
 * vendor. */
cpubind_problem_code cpubind_listed_users_read(const cpubind_source *source,
                                               const cpubind_facts *facts, cpubind_arena *arena,
                                               cpubind_users *out, cpubind_problem *problem);

enum { CPUBIND_DEVICE_NAME_SIZE = 32 };

/* Writes the name of a device: the noun of its vendor and the number of its runtime, "npu3";
 * where it has no such number its address; "" where that is not known either (domain -1). */
void cpubind_device_name(cpubind_vendor_id vendor, int32_t number,
                         const cpubind_pci_address *pci, char out[CPUBIND_DEVICE_NAME_SIZE]);

/* The same of a device of the facts. */
void cpubind_function_name(const cpubind_host_device *function,
                           char out[CPUBIND_DEVICE_NAME_SIZE]);

/* The function of the bus with an address, its index in facts->bus; -1: the bus lacks it. */
int32_t cpubind_facts_on_bus(const cpubind_facts *facts, const cpubind_pci_address *pci);

/* Writes the name of a device on record.
 *   in      number: of a device whose driver lists its users, else -1; address: of another one,
 *           else ""
 *   returns its index in facts->bus; -1: it has no address, or the bus lacks that, which is its
 *           name then */
int32_t cpubind_recorded_name(const cpubind_facts *facts, int32_t number, const char *address,
                              char out[CPUBIND_DEVICE_NAME_SIZE]);

/* The vendor whose driver lists the users of its devices. */
cpubind_vendor_id cpubind_vendor_listed(void);

/* The row of a vendor; of a number that is none, that of OTHER. Static storage. */
const cpubind_vendor *cpubind_vendor_of(cpubind_vendor_id id);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_MODEL_VENDOR_H */
