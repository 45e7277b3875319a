/* test_inputs.c - for every input: absent, failed, empty, cut, contradictory
 * SPDX-License-Identifier: MIT
 *
 * A row is one input in one state, and what comes of it. The comment at the head of
 * adapters/ascend/facts_read.c is the same table for a reader. The process sees two of the four
 * NPUs of the host, so that a changed rule would give it CPUs of a hidden NPU.
 */
#include "memory_source.h"

/* == The host =============================================================== */

#define PCI     "sys/bus/pci/devices/0000:"
#define NODES   "sys/devices/system/node"
#define STATUS  "proc/self/status"
#define CGROUP  "proc/self/cgroup"
#define CPUSET  "sys/fs/cgroup/pod/cpuset.cpus.effective"
#define ONLINE  "sys/devices/system/cpu/online"
#define LSCPU_E "cmd/lscpu-e.txt"
#define MAP     "cmd/npu-smi-info-m.txt"
#define INFO    "cmd/npu-smi-info.txt"
#define TOPO    "cmd/npu-smi-info-t-topo.txt"
#define BOARD   "cmd/npu-smi-info-t-board-i1-c0.txt"
#define IRQS    "proc/interrupts"
#define TABLE   "proc/uda/namespace_node"
#define USERS   "proc/trs_core/proc"

#define MAP_HEAD                                                                               \
    "\tNPU ID                         Chip ID                        Chip Logic ID        "    \
    "          Chip Name                     \n"
#define MAP_ROW(card, logic)                                                                   \
    "\t" card "                              0                              " logic            \
    "                              Ascend 910B4\n"
#define RULE                                                                                   \
    "+===========================+===============+====================================+\n"
#define DEVICES                                                                                \
    "| NPU   Name                | Health        | Power(W)    Temp(C)                |\n"     \
    "| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)       "        \
    "|\n" RULE
#define DEVICE(card, bus)                                                                      \
    "| " card                                                                                  \
    "     910B4               | OK            | 90.5        44                     |"          \
    "\n| 0                         | 0000:" bus                                                \
    "  | 0           0    / 0               |\n" RULE
#define PROCESSES                                                                              \
    "| NPU     Chip              | Process id    | Process name   | Process memory(MB) "       \
    "|\n" RULE
#define PROCESS(card)                                                                          \
    "| " card                                                                                  \
    "       0                 | 812           | python3        | 150                |"         \
    "\n" RULE
#define TOPO_HEAD "\t   NPU1       NPU2       CPU Affinity\n"
#define TOPO_ROWS                                                                              \
    "NPU1       X          HCCS       8-15\n"                                                  \
    "NPU2       HCCS       X          24-31\n"
#define BOARD_OF(bus)                                                                          \
    "\tNPU ID                         : 1\n\tChip ID                        : 0\n"             \
    "\tPCIe Bus Info                  : 0000:" bus "\n"
#define IRQ(irq, name) irq ":          7  ITS-MSI " irq " Edge      " name "\n"
#define CPU0           "           CPU0\n"
#define MAILBOXES                                                                              \
    CPU0 IRQ("100", "trs-mbox-0-0") IRQ("110", "trs-mbox-1-0") IRQ("120", "trs-mbox-2-0")      \
        IRQ("130", "trs-mbox-3-0")
#define OWN_TABLE(n)                                                                           \
    "ns_id 1 identify 1 root_tgid 1 dev_num " n " namespace 1(#), udev list:\n"                \
    "logic_devid udevid\n"

static void set_bus(memory_host *h)
{
    set(h, "sys/bus/pci/devices/", "0000:01:00.0\n0000:02:00.0\n0000:c1:00.0\n0000:c2:00.0\n");
    set(h, PCI "01:00.0/vendor", "0x19e5\n");
    set(h, PCI "02:00.0/vendor", "0x19e5\n");
    set(h, PCI "c1:00.0/vendor", "0x19e5\n");
    set(h, PCI "c2:00.0/vendor", "0x19e5\n");
    set(h, PCI "01:00.0/device", "0xd802\n");
    set(h, PCI "02:00.0/device", "0xd802\n");
    set(h, PCI "c1:00.0/device", "0xd802\n");
    set(h, PCI "c2:00.0/device", "0xd802\n");
    set(h, PCI "01:00.0/numa_node", "3\n");
    set(h, PCI "02:00.0/numa_node", "3\n");
    set(h, PCI "c1:00.0/numa_node", "1\n");
    set(h, PCI "c2:00.0/numa_node", "1\n");
    set(h, PCI "01:00.0/local_cpulist", "24-31\n");
    set(h, PCI "02:00.0/local_cpulist", "24-31\n");
    set(h, PCI "c1:00.0/local_cpulist", "8-15\n");
    set(h, PCI "c2:00.0/local_cpulist", "8-15\n");
}

/* The files of the driver: phy ids 0 to 3 are c1, c2, 01, 02; nodes for 1 and 2. */
static void set_driver(memory_host *h)
{
    set(h, IRQS, MAILBOXES);
    set(h, PCI "c1:00.0/msi_irqs/", "100\n");
    set(h, PCI "c2:00.0/msi_irqs/", "110\n");
    set(h, PCI "01:00.0/msi_irqs/", "120\n");
    set(h, PCI "02:00.0/msi_irqs/", "130\n");
    set(h, "dev/", "davinci1\ndavinci2\nnull\n");
    set(h, "dev/davinci1", "236:1\n");
    set(h, "dev/davinci2", "236:2\n");
    set(h, USERS "/", "812-1-dev-1\n");
}

static void set_npu_smi(memory_host *h)
{
    set(h, MAP, MAP_HEAD MAP_ROW("1", "0") MAP_ROW("2", "1"));
    set(h, TOPO, TOPO_HEAD TOPO_ROWS);
    set(h, INFO,
        DEVICES DEVICE("1", "C2:00.0") DEVICE("2", "01:00.0") PROCESSES PROCESS("1")
            PROCESS("2"));
}

/* Which inputs the host has, and what is asked. */
typedef enum setting {
    SMI,     /* npu-smi alone */
    BOARDS,  /* npu-smi without a topology; addresses on the boards */
    DRIVER,  /* the driver's files alone */
    RUNNING, /* as SMI, with --running */
    USED,    /* as DRIVER, with --running */
    OWN,     /* as SMI, with --scope own */
    LSCPU    /* as SMI, nodes by lscpu alone */
} setting;

static memory_host make_host(setting s)
{
    memory_host h;
    memset(&h, 0, sizeof h);
    set(&h, STATUS, "Cpus_allowed_list:\t0-31\n");
    set(&h, ONLINE, "0-31\n");
    if (s == LSCPU) {
        set(&h, LSCPU_E,
            "CPU NODE\n0 0\n1 0\n2 0\n3 0\n4 0\n5 0\n6 0\n7 0\n8 1\n9 1\n10 1\n11 1\n12 1\n"
            "13 1\n14 1\n15 1\n16 2\n17 2\n18 2\n19 2\n20 2\n21 2\n22 2\n23 2\n24 3\n25 3\n"
            "26 3\n27 3\n28 3\n29 3\n30 3\n31 3\n");
    } else {
        set(&h, NODES "/", "node0\nnode1\nnode2\nnode3\n");
        set(&h, NODES "/node0/cpulist", "0-7\n");
        set(&h, NODES "/node1/cpulist", "8-15\n");
        set(&h, NODES "/node2/cpulist", "16-23\n");
        set(&h, NODES "/node3/cpulist", "24-31\n");
    }
    set_bus(&h);
    if (s == DRIVER || s == USED)
        set_driver(&h);
    else
        set_npu_smi(&h);
    if (s == BOARDS) {
        set(&h, TOPO, "This device does not support querying topo.\n");
        set(&h, INFO, PROCESSES PROCESS("1") PROCESS("2"));
        set(&h, BOARD, BOARD_OF("C2:00.0"));
        set(&h, "cmd/npu-smi-info-t-board-i2-c0.txt",
            "\tNPU ID : 2\n\tChip ID : 0\n\tPCIe Bus Info : 0000:01:00.0\n");
    }
    if (s == OWN) {
        set(&h, CGROUP, "0::/pod\n");
        set(&h, CPUSET, "0-31\n");
    }
    return h;
}

/* == The table ============================================================== */

typedef enum state { ABSENT, FAILED, EMPTY, CUT, CONTRADICTORY, N_STATE } state;

static const char *const state_words[N_STATE] = {"absent", "failed", "empty", "cut",
                                                 "contradictory"};

/* What comes of it. */
typedef enum outcome {
    SAME,   /* the plan of the whole host */
    OTHER,  /* another plan: the warning says so, or the process may have no other */
    REFUSED /* no plan */
} outcome;

enum { NO_WARNING = -1 };

typedef struct row {
    setting setting;
    const char *input;
    state state;
    const char *text; /* for CUT and CONTRADICTORY */
    outcome outcome;
    int32_t detail; /* REFUSED: the code; else the warning, or NO_WARNING */
} row;

#define W(name) CPUBIND_WARNING_##name
#define P(name) CPUBIND_PROBLEM_##name

static const row rows[] = {
    {SMI, STATUS, ABSENT, NULL, SAME, W(NO_STATUS)},
    {SMI, STATUS, FAILED, NULL, REFUSED, P(UNREADABLE)},
    {SMI, STATUS, EMPTY, NULL, REFUSED, P(UNREADABLE)},
    {SMI, STATUS, CUT, "Cpus_allowed_list:\t0-3", REFUSED, P(UNREADABLE)},
    {SMI, STATUS, CONTRADICTORY, "Cpus_allowed_list:\t40-47\n", REFUSED, P(TOO_FEW_CPUS)},

    {OWN, CGROUP, ABSENT, NULL, SAME, NO_WARNING},
    {OWN, CGROUP, FAILED, NULL, REFUSED, P(UNREADABLE)},
    {OWN, CGROUP, EMPTY, NULL, SAME, NO_WARNING},
    {OWN, CGROUP, CUT, "0::/po", SAME, NO_WARNING},

    {OWN, CPUSET, ABSENT, NULL, SAME, NO_WARNING},
    {OWN, CPUSET, FAILED, NULL, REFUSED, P(UNREADABLE)},
    {OWN, CPUSET, EMPTY, NULL, REFUSED, P(UNREADABLE)},
    {OWN, CPUSET, CUT, "0-", REFUSED, P(UNREADABLE)},
    {OWN, CPUSET, CONTRADICTORY, "40-47\n", REFUSED, P(TOO_FEW_CPUS)},

    {SMI, "env", ABSENT, NULL, SAME, NO_WARNING},
    {SMI, "env", FAILED, NULL, REFUSED, P(UNREADABLE)},
    {SMI, "env", EMPTY, NULL, SAME, NO_WARNING},
    {SMI, "env", CUT, "ASCEND_RT_VISIBLE_DEV", SAME, NO_WARNING},
    {SMI, "env", CONTRADICTORY, "ASCEND_RT_VISIBLE_DEVICES=7\n", REFUSED, P(NO_RUNNING_DEVICE)},

    {SMI, ONLINE, ABSENT, NULL, SAME, NO_WARNING},
    {SMI, ONLINE, FAILED, NULL, REFUSED, P(UNREADABLE)},
    {SMI, ONLINE, EMPTY, NULL, REFUSED, P(UNREADABLE)},
    {SMI, ONLINE, CUT, "0-", REFUSED, P(UNREADABLE)},
    {SMI, ONLINE, CONTRADICTORY, "0-23\n", SAME, W(ONLINE_DIFFERS)},
    {SMI, ONLINE, CONTRADICTORY, "0-40\n", SAME, NO_WARNING},

    {SMI, NODES, ABSENT, NULL, OTHER, W(NO_NODES)},
    {SMI, NODES, FAILED, NULL, REFUSED, P(UNREADABLE)},
    {SMI, NODES, EMPTY, NULL, OTHER, W(NO_NODES)},
    {SMI, NODES, CUT, "node0\nnode", REFUSED, P(UNREADABLE)},
    {SMI, NODES, CONTRADICTORY, "node0\nnode1\nnode2\n", REFUSED, P(UNREADABLE)},
    {SMI, NODES, CONTRADICTORY, "node0\nnode1\nnode3\n", REFUSED, P(UNREADABLE)},

    {SMI, NODES "/node1/cpulist", ABSENT, NULL, REFUSED, P(UNREADABLE)},
    {SMI, NODES "/node1/cpulist", FAILED, NULL, REFUSED, P(UNREADABLE)},
    {SMI, NODES "/node1/cpulist", EMPTY, NULL, REFUSED, P(UNREADABLE)},
    {SMI, NODES "/node1/cpulist", CUT, "8-", REFUSED, P(UNREADABLE)},
    {SMI, NODES "/node1/cpulist", CONTRADICTORY, "0-7\n", REFUSED, P(UNREADABLE)},
    {SMI, NODES "/node1/cpulist", CONTRADICTORY, "7-15\n", REFUSED, P(UNREADABLE)},

    {LSCPU, LSCPU_E, ABSENT, NULL, OTHER, W(NO_NODES)},
    {LSCPU, LSCPU_E, FAILED, NULL, REFUSED, P(UNREADABLE)},
    {LSCPU, LSCPU_E, EMPTY, NULL, REFUSED, P(UNREADABLE)},
    {LSCPU, LSCPU_E, CUT, "CPU NODE\n0 0\n1", REFUSED, P(UNREADABLE)},
    {LSCPU, LSCPU_E, CONTRADICTORY, "CPU NODE\n0 0\n0 1\n", REFUSED, P(UNREADABLE)},

    {SMI, MAP, ABSENT, NULL, REFUSED, P(NO_NPU_SMI)},
    {SMI, MAP, FAILED, NULL, REFUSED, P(UNREADABLE)},
    {SMI, MAP, EMPTY, NULL, REFUSED, P(UNREADABLE)},
    {SMI, MAP, CUT, MAP_HEAD "\t1        0", REFUSED, P(UNREADABLE)},
    {SMI, MAP, CONTRADICTORY, MAP_HEAD MAP_ROW("1", "0") MAP_ROW("2", "0"), REFUSED,
     P(UNREADABLE)},

    {SMI, INFO, ABSENT, NULL, REFUSED, P(UNREADABLE)},
    {SMI, INFO, FAILED, NULL, REFUSED, P(UNREADABLE)},
    {SMI, INFO, EMPTY, NULL, REFUSED, P(UNREADABLE)},
    {SMI, INFO, CUT, DEVICES "| 1     910B4", REFUSED, P(UNREADABLE)},
    {SMI, INFO, CONTRADICTORY, DEVICES DEVICE("1", "C2:00.0") PROCESSES PROCESS("1"), REFUSED,
     P(UNREADABLE)},

    {SMI, INFO, CUT,
     DEVICES DEVICE("1", "C2:00.0") DEVICE("2", "01:00.0") PROCESSES "| 1       0", SAME,
     W(NO_PROCESSES)},

    {RUNNING, INFO, ABSENT, NULL, REFUSED, P(UNREADABLE)},
    {RUNNING, INFO, FAILED, NULL, REFUSED, P(UNREADABLE)},
    {RUNNING, INFO, EMPTY, NULL, REFUSED, P(UNREADABLE)},
    {RUNNING, INFO, CUT,
     DEVICES DEVICE("1", "C2:00.0") DEVICE("2", "01:00.0") PROCESSES "| 1       0", REFUSED,
     P(UNREADABLE)},
    {RUNNING, INFO, CONTRADICTORY,
     DEVICES DEVICE("1", "C2:00.0") DEVICE("2", "01:00.0") PROCESSES PROCESS("1") PROCESS("2")
         PROCESS("6"),
     SAME, W(INPUTS_DIFFER)},

    {SMI, TOPO, ABSENT, NULL, SAME, W(PCI_AFFINITY)},
    {SMI, TOPO, FAILED, NULL, SAME, W(PCI_AFFINITY)},
    {SMI, TOPO, EMPTY, NULL, SAME, W(PCI_AFFINITY)},
    {SMI, TOPO, CUT, TOPO_HEAD "NPU1       X          HC", SAME, W(PCI_AFFINITY)},
    {SMI, TOPO, CONTRADICTORY,
     TOPO_HEAD "NPU1       X          HCCS       0-7\nNPU2       HCCS       X          24-31\n",
     SAME, W(AFFINITY_DIFFERS)},

    {BOARDS, BOARD, ABSENT, NULL, REFUSED, P(UNREADABLE)},
    {BOARDS, BOARD, FAILED, NULL, REFUSED, P(UNREADABLE)},
    {BOARDS, BOARD, EMPTY, NULL, REFUSED, P(UNREADABLE)},
    {BOARDS, BOARD, CUT, "\tNPU ID : 1\n\tChip ID : 0\n\tPCIe Bus Info : 0000:C2", REFUSED,
     P(UNREADABLE)},
    {BOARDS, BOARD, CONTRADICTORY, BOARD_OF("C7:00.0"), REFUSED, P(UNREADABLE)},

    {SMI, "sys/bus/pci/devices", ABSENT, NULL, OTHER, W(NO_CENSUS)},
    {SMI, "sys/bus/pci/devices", FAILED, NULL, REFUSED, P(UNREADABLE)},
    {SMI, "sys/bus/pci/devices", EMPTY, NULL, OTHER, W(NO_CENSUS)},
    {SMI, "sys/bus/pci/devices", CUT, "0000:01:00.0\n0000:02:00.0\n0000:c1:00.0\n0000:c2", SAME,
     W(INPUTS_DIFFER)},
    {SMI, "sys/bus/pci/devices", CONTRADICTORY, "0000:01:00.0\n0000:02:00.0\n", OTHER,
     W(INPUTS_DIFFER)},

    {SMI, PCI "c1:00.0/vendor", ABSENT, NULL, REFUSED, P(UNREADABLE)},
    {SMI, PCI "c1:00.0/vendor", FAILED, NULL, REFUSED, P(UNREADABLE)},
    {SMI, PCI "c1:00.0/vendor", EMPTY, NULL, REFUSED, P(UNREADABLE)},
    {SMI, PCI "c1:00.0/vendor", CUT, "0x", REFUSED, P(UNREADABLE)},

    {SMI, PCI "c1:00.0/device", ABSENT, NULL, REFUSED, P(UNREADABLE)},
    {SMI, PCI "c1:00.0/device", FAILED, NULL, REFUSED, P(UNREADABLE)},
    {SMI, PCI "c1:00.0/device", EMPTY, NULL, REFUSED, P(UNREADABLE)},
    {SMI, PCI "c1:00.0/device", CUT, "0x", REFUSED, P(UNREADABLE)},
    {SMI, PCI "c1:00.0/device", CONTRADICTORY, "0xd500\n", OTHER, NO_WARNING},

    {SMI, PCI "c1:00.0/numa_node", ABSENT, NULL, SAME, NO_WARNING},
    {SMI, PCI "c1:00.0/numa_node", FAILED, NULL, REFUSED, P(UNREADABLE)},
    {SMI, PCI "c1:00.0/numa_node", EMPTY, NULL, REFUSED, P(UNREADABLE)},
    {SMI, PCI "c1:00.0/numa_node", CUT, "-", REFUSED, P(UNREADABLE)},
    {SMI, PCI "c1:00.0/numa_node", CONTRADICTORY, "3\n", SAME, NO_WARNING},

    {SMI, PCI "c1:00.0/local_cpulist", ABSENT, NULL, SAME, NO_WARNING},
    {SMI, PCI "c1:00.0/local_cpulist", FAILED, NULL, REFUSED, P(UNREADABLE)},
    {SMI, PCI "c1:00.0/local_cpulist", EMPTY, NULL, REFUSED, P(UNREADABLE)},
    {SMI, PCI "c1:00.0/local_cpulist", CUT, "8-", REFUSED, P(UNREADABLE)},
    {SMI, PCI "c1:00.0/local_cpulist", CONTRADICTORY, "16-23\n", OTHER, W(RESOLVED)},

    {SMI, PCI "c2:00.0/local_cpulist", ABSENT, NULL, SAME, NO_WARNING},
    {SMI, PCI "c2:00.0/local_cpulist", FAILED, NULL, SAME, NO_WARNING},
    {SMI, PCI "c2:00.0/local_cpulist", EMPTY, NULL, SAME, NO_WARNING},
    {SMI, PCI "c2:00.0/local_cpulist", CUT, "8-", SAME, NO_WARNING},
    {SMI, PCI "c2:00.0/local_cpulist", CONTRADICTORY, "16-23\n", OTHER, W(AFFINITY_DIFFERS)},

    {DRIVER, PCI "c1:00.0/local_cpulist", ABSENT, NULL, SAME, NO_WARNING},
    {DRIVER, PCI "c1:00.0/local_cpulist", FAILED, NULL, REFUSED, P(UNREADABLE)},
    {DRIVER, PCI "c1:00.0/local_cpulist", EMPTY, NULL, REFUSED, P(UNREADABLE)},
    {DRIVER, PCI "c1:00.0/local_cpulist", CUT, "8-", REFUSED, P(UNREADABLE)},
    {DRIVER, PCI "c1:00.0/local_cpulist", CONTRADICTORY, "16-23\n", OTHER, W(RESOLVED)},

    {DRIVER, IRQS, ABSENT, NULL, REFUSED, P(NO_NPU_SMI)},
    {DRIVER, IRQS, FAILED, NULL, REFUSED, P(UNREADABLE)},
    {DRIVER, IRQS, EMPTY, NULL, REFUSED, P(UNREADABLE)},
    {DRIVER, IRQS, CUT, CPU0 IRQ("100", "trs-mbox-0-0") "110:     7", REFUSED, P(UNREADABLE)},
    {DRIVER, IRQS, CONTRADICTORY,
     CPU0 IRQ("100", "trs-mbox-0-0") IRQ("110", "trs-mbox-0-0") IRQ("120", "trs-mbox-2-0")
         IRQ("130", "trs-mbox-3-0"),
     REFUSED, P(NO_NPU_SMI)},

    {DRIVER, PCI "c2:00.0/msi_irqs", ABSENT, NULL, REFUSED, P(NO_NPU_SMI)},
    {DRIVER, PCI "c2:00.0/msi_irqs", FAILED, NULL, REFUSED, P(UNREADABLE)},
    {DRIVER, PCI "c2:00.0/msi_irqs", EMPTY, NULL, REFUSED, P(NO_NPU_SMI)},
    {DRIVER, PCI "c2:00.0/msi_irqs", CUT, "11", REFUSED, P(NO_NPU_SMI)},
    {DRIVER, PCI "c2:00.0/msi_irqs", CONTRADICTORY, "100\n", REFUSED, P(NO_NPU_SMI)},

    {DRIVER, "dev", ABSENT, NULL, REFUSED, P(NO_NPU_SMI)},
    {DRIVER, "dev", FAILED, NULL, REFUSED, P(UNREADABLE)},
    {DRIVER, "dev", EMPTY, NULL, REFUSED, P(NO_NPU_SMI)},
    {DRIVER, "dev", CUT, "davinci1\ndav", OTHER, NO_WARNING},
    {DRIVER, "dev", CONTRADICTORY, "davinci1\ndavinci9\n", REFUSED, P(UNREADABLE)},

    {DRIVER, "dev/davinci1", ABSENT, NULL, REFUSED, P(UNREADABLE)},
    {DRIVER, "dev/davinci1", FAILED, NULL, REFUSED, P(UNREADABLE)},
    {DRIVER, "dev/davinci1", EMPTY, NULL, REFUSED, P(UNREADABLE)},
    {DRIVER, "dev/davinci1", CUT, "236:", REFUSED, P(UNREADABLE)},
    {DRIVER, "dev/davinci1", CONTRADICTORY, "236:9\n", REFUSED, P(NO_NPU_SMI)},

    {DRIVER, TABLE, ABSENT, NULL, SAME, NO_WARNING},
    {DRIVER, TABLE, FAILED, NULL, REFUSED, P(UNREADABLE)},
    {DRIVER, TABLE, EMPTY, NULL, SAME, NO_WARNING},
    {DRIVER, TABLE, CUT, "ns_id 1 identify 1 root_tgid 1 dev_num 2 na", REFUSED, P(UNREADABLE)},
    {DRIVER, TABLE, CONTRADICTORY, OWN_TABLE("1") "0           3\n", REFUSED, P(NO_NPU_SMI)},

    {DRIVER, PCI "c2:00.0/dev_id", ABSENT, NULL, SAME, NO_WARNING},
    {DRIVER, PCI "c2:00.0/dev_id", FAILED, NULL, REFUSED, P(UNREADABLE)},
    {DRIVER, PCI "c2:00.0/dev_id", EMPTY, NULL, SAME, NO_WARNING},
    {DRIVER, PCI "c2:00.0/dev_id", CUT, "x", REFUSED, P(UNREADABLE)},
    {DRIVER, PCI "c2:00.0/dev_id", CONTRADICTORY, "3\n", REFUSED, P(NO_NPU_SMI)},

    {DRIVER, PCI "c2:00.0/davinci_dev_num", ABSENT, NULL, SAME, NO_WARNING},
    {DRIVER, PCI "c2:00.0/davinci_dev_num", FAILED, NULL, REFUSED, P(UNREADABLE)},
    {DRIVER, PCI "c2:00.0/davinci_dev_num", EMPTY, NULL, SAME, NO_WARNING},
    {DRIVER, PCI "c2:00.0/davinci_dev_num", CUT, "x", REFUSED, P(UNREADABLE)},
    {DRIVER, PCI "c2:00.0/davinci_dev_num", CONTRADICTORY, "2\n", REFUSED, P(NO_NPU_SMI)},

    {DRIVER, PCI "01:00.0/devdrv_sysfs_bdf_to_devid", ABSENT, NULL, SAME, NO_WARNING},
    {DRIVER, PCI "01:00.0/devdrv_sysfs_bdf_to_devid", FAILED, NULL, REFUSED, P(UNREADABLE)},
    {DRIVER, PCI "01:00.0/devdrv_sysfs_bdf_to_devid", EMPTY, NULL, SAME, NO_WARNING},
    {DRIVER, PCI "01:00.0/devdrv_sysfs_bdf_to_devid", CUT, "c1:00.0 ---> ", REFUSED,
     P(UNREADABLE)},
    {DRIVER, PCI "01:00.0/devdrv_sysfs_bdf_to_devid", CONTRADICTORY,
     "c1:00.0 ---> 0\nc2:00.0 ---> 1\n01:00.0 ---> 3\n02:00.0 ---> 2\n", REFUSED,
     P(NO_NPU_SMI)},

    {DRIVER, USERS, ABSENT, NULL, SAME, W(NO_PROCESSES)},
    {DRIVER, USERS, FAILED, NULL, SAME, W(NO_PROCESSES)},
    {DRIVER, USERS, EMPTY, NULL, SAME, NO_WARNING},
    {DRIVER, USERS, CUT, "812-1-d", SAME, W(UNKNOWN_TEXT)},
    {DRIVER, USERS, CONTRADICTORY, "812-1-dev-9\n", SAME, NO_WARNING},

    {USED, USERS, ABSENT, NULL, REFUSED, P(NO_RUNNING_DEVICE)},
    {USED, USERS, FAILED, NULL, REFUSED, P(UNREADABLE)},
    {USED, USERS, EMPTY, NULL, REFUSED, P(NO_RUNNING_DEVICE)},
    {USED, USERS, CUT, "812-1-d", REFUSED, P(NO_RUNNING_DEVICE)},
    {USED, USERS, CONTRADICTORY, "812-1-dev-9\n", REFUSED, P(NO_RUNNING_DEVICE)},
};

/* What differs by the rules near: they resolve nothing, and refuse no NPU for its home. */
static const row rows_by_near[] = {
    {SMI, PCI "c1:00.0/local_cpulist", CONTRADICTORY, "16-23\n", OTHER, NO_WARNING},
    {DRIVER, PCI "c1:00.0/local_cpulist", CONTRADICTORY, "16-23\n", OTHER, NO_WARNING},
};

/* The row that counts by these rules. */
static const row *row_by(cpubind_rules rules, const row *r)
{
    for (size_t i = 0;
         rules == CPUBIND_RULES_NEAR && i < sizeof rows_by_near / sizeof *rows_by_near; i++)
        if (rows_by_near[i].setting == r->setting && rows_by_near[i].state == r->state &&
            strcmp(rows_by_near[i].input, r->input) == 0)
            return &rows_by_near[i];
    return r;
}

static attempt try_row(const row *r, cpubind_rules rules)
{
    cpubind_request request = ask_nothing();
    memory_host h = make_host(r->setting);
    char folder[128];
    const char *text;
    int is_list = 0;
    request.rules = rules;
    request.has_rules = 1;
    request.only_running = r->setting == RUNNING || r->setting == USED;
    request.scope = r->setting == OWN ? CPUBIND_SCOPE_OWN : CPUBIND_SCOPE_AUTO;
    snprintf(folder, sizeof folder, "%s/", r->input);
    switch (r->state) {
    case ABSENT:
        take_away(&h, r->input);
        take_away(&h, folder);
        break;
    case FAILED:
        h.failing = r->input;
        h.state = CPUBIND_INPUT_FAILED;
        break;
    default:
        text = r->state == EMPTY ? "" : r->text;
        for (int32_t i = 0; i < h.n; i++)
            is_list |= strcmp(h.entry[i].name, folder) == 0;
        set(&h, is_list ? folder : r->input, text);
    }
    return try(&h, &request);
}

static int have_same_pools(const attempt *a, const attempt *b)
{
    const cpubind_plan *p = &a->plan.core, *q = &b->plan.core;
    if (a->plan.n_want != b->plan.n_want || p->n_cpu != q->n_cpu)
        return 0;
    return memcmp(p->row, q->row, (size_t)(a->plan.n_want + 1) * sizeof *p->row) == 0 &&
           memcmp(p->cpu, q->cpu, (size_t)p->n_cpu * sizeof *p->cpu) == 0;
}

static const char *word_of(outcome o, int32_t detail)
{
    static char text[96];
    static const char *const words[] = {"SAME", "OTHER", "REFUSED"};
    snprintf(text, sizeof text, "%s, %s", words[o],
             o == REFUSED           ? cpubind_problem_word((cpubind_problem_code)detail)
             : detail == NO_WARNING ? "no warning"
                                    : cpubind_warning_word((cpubind_warning)detail));
    return text;
}

/* Prints a row whose outcome is another one. Returns whether it is. */
static int32_t differs(const row *r, cpubind_rules rules)
{
    row whole = *r;
    attempt a, b;
    outcome got;
    int32_t detail = NO_WARNING, is_other;
    whole.input = "";
    whole.state = ABSENT;
    a = try_row(r, rules);
    b = try_row(&whole, rules);
    assert_int_equal(b.code, CPUBIND_PROBLEM_NONE);
    got = a.code != CPUBIND_PROBLEM_NONE ? REFUSED : have_same_pools(&a, &b) ? SAME : OTHER;
    for (int32_t w = 0; got != REFUSED && w < CPUBIND_WARNING_COUNT; w++)
        if ((a.plan.warnings & ~b.plan.warnings) >> w & 1u)
            detail = detail == NO_WARNING || w == r->detail ? w : detail;
    if (got == REFUSED)
        detail = (int32_t)a.code;
    is_other = got != r->outcome || detail != r->detail;
    if (is_other) {
        print_error("%s, %d %s %s: %s", cpubind_rules_word(rules), (int)r->setting, r->input,
                    state_words[r->state], word_of(got, detail));
        print_error(" (%s), expected %s\n", a.problem.what ? a.problem.what : "",
                    word_of(r->outcome, r->detail));
    }
    drop(&a);
    drop(&b);
    return is_other;
}

TEST(every_state_of_every_input_has_its_outcome)
{
    int32_t n_failed = 0;
    for (int rules = 0; rules < CPUBIND_RULES_COUNT; rules++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            n_failed += differs(row_by((cpubind_rules)rules, &rows[i]), (cpubind_rules)rules);
    assert_int_equal(n_failed, 0);
}

TEST_FILE(NULL, NULL)
