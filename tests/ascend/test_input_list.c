/* test_input_list.c - which inputs are known, and which of them are visited
 * SPDX-License-Identifier: MIT
 */
#define _POSIX_C_SOURCE 200809L

#include "fixtures.h"
#include "memory_source.h"

#include "../../adapters/ascend/input_list.h"
#include "../../adapters/text/input_name.h"

/* The answer for a copy in a buffer of the exact size. */
static int is_known(const char *name)
{
    char *copy = edge_text(name, (int32_t)strlen(name) + 1);
    const int known = cpubind_input_list_has(copy);
    free(copy);
    return known;
}

/* == Which are known ======================================================== */

TEST(an_input_that_is_read_is_known)
{
    static const char *const names[] = {
        "proc/self/status",
        "proc/interrupts",
        "env",
        "uname",
        "sys/devices/system/cpu/online",
        "sys/devices/system/cpu/possible",
        "sys/devices/system/cpu/present",
        "sys/devices/system/cpu/cpu0/online",
        "sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
        "sys/devices/system/cpu/cpu639/topology/thread_siblings_list",
        "sys/devices/system/cpu/cpu0/topology/physical_package_id",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        "sys/devices/system/cpu/smt/active",
        "sys/devices/system/cpu/smt/control",
        "sys/devices/system/cpu/isolated",
        "sys/devices/system/cpu/nohz_full",
        "proc/sys/kernel/numa_balancing",
        "sys/devices/system/node/online",
        "sys/devices/system/node/possible",
        "sys/devices/system/node/has_cpu",
        "sys/devices/system/node/has_memory",
        "sys/devices/system/node/node0/cpulist",
        "sys/devices/system/node/node12/cpumap",
        "sys/devices/system/node/node65535/distance",
        "sys/bus/pci/devices/0000:c1:00.0/vendor",
        "sys/bus/pci/devices/0000:c1:00.0/device",
        "sys/bus/pci/devices/0000:c1:00.0/numa_node",
        "sys/bus/pci/devices/0000:c1:00.0/local_cpulist",
        "sys/bus/pci/devices/10000:c1:00.0/msi_irqs/512",
        "cmd/npu-smi-info-m.txt",
        "cmd/npu-smi-info.txt",
        "cmd/npu-smi-info-t-topo.txt",
        "cmd/lscpu-e.txt",
        "cmd/lscpu.txt",
        "cmd/npu-smi-info-t-board-i0.txt",
        "cmd/npu-smi-info-t-board-i1536-c1.txt",
        "proc/self/cgroup",
        "proc/uda/namespace_node",
        "proc/trs_core/proc",
        "proc/trs_core/proc/4711-0-dev-3/summary",
        "sys/class/devdrv-class/davinci3/dev",
        "dev/davinci0",
        "dev/davinci15",
        "dev/nvidia/nvidia0",
        "dev/dri/renderD128",
        "dev/accel/accel7",
        "sys/bus/pci/devices/0000:c1:00.0/drm/renderD128",
        "sys/bus/pci/devices/0000:c1:00.0/accel/accel7",
        "sys/bus/pci/devices/0000:c1:00.0/physfn",
        "sys/bus/pci/devices/0000:c1:00.0/class",
        "sys/bus/pci/devices/0000:c1:00.0/sriov_numvfs",
        "sys/bus/pci/devices/0000:17:01.0/secondary_bus_number",
        "proc/driver/nvidia/gpus/0000:17:00.0/information",
        "proc/driver/nvidia/gpus/0000:17:00.0/numa_status",
        "sys/bus/pci/devices/0000:c1:00.0/dev_id",
        "sys/bus/pci/devices/0000:c1:00.0/davinci_dev_num",
        "sys/bus/pci/devices/0000:c1:00.0/devdrv_sysfs_bdf_to_devid",
        "sys/fs/cgroup/cpuset.cpus.effective",
        "sys/fs/cgroup/kubepods.slice/pod 1/cpuset.cpus.effective",
        "sys/fs/cgroup/cpuset/cpuset.effective_cpus",
        "sys/fs/cgroup/cpuset/docker/cpuset.cpus",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!is_known(names[i]))
            fail_msg("%s is not known", names[i]);
}

TEST(an_input_that_nothing_reads_is_not_known)
{
    static const char *const names[] = {
        "",
        "/",
        "env/",
        "environ",
        "proc",
        "proc/self",
        "proc/self/status/",
        "proc/self/status2",
        "proc/1/maps",
        "proc//interrupts",
        "/proc/interrupts",
        "./proc/interrupts",
        "host.txt",
        "expect/default.json",
        "cmd",
        "cmd/",
        "cmd/npu-smi-info.exit",
        "cmd/npu-smi-info-m.exit",
        "cmd/npu-smi-info-l.txt",
        "cmd/npu-smi-info-t-board.txt",
        "cmd/npu-smi-info-t-board-i01.txt",
        "cmd/x/npu-smi-info.txt",
        "cmd/../env",
        "sys/devices/system/cpu",
        "sys/devices/system/cpu/offline",
        "sys/devices/system/cpu/cpu/online",
        "sys/devices/system/cpu/cpu00/online",
        "sys/devices/system/cpu/cpu+1/online",
        "sys/devices/system/cpu/cpu0x1/online",
        "sys/devices/system/cpu/cpu65536/online",
        "sys/devices/system/cpu/cpu18446744073709551616/online",
        "sys/devices/system/cpu/cpufreq/online",
        "sys/devices/system/cpu/cpu0/topology",
        "sys/devices/system/cpu/cpu0/topology/core_id",
        "sys/devices/system/cpu/cpu0/topology/thread_siblings_list/x",
        "sys/devices/system/cpux/cpu0/online",
        "sys/devices/system/node/node0",
        "sys/devices/system/node/node0/",
        "sys/devices/system/node/node0/meminfo",
        "sys/devices/system/node/0/cpulist",
        "sys/devices/system/node/node/cpulist",
        "sys/devices/system/node/node0 /cpulist",
        "sys/devices/system/node/node0/x/cpulist",
        "sys/devices/system/node/cpu0/cpulist",
        "sys/bus/pci/devices/0000:c1:00.0",
        "sys/bus/pci/devices/0000:c1:00.0/msi_irqs",
        "sys/bus/pci/devices/0000:c1:00.0/msi_irqs/",
        "sys/bus/pci/devices/0000:c1:00.0/msi_irqs/1/x",
        "sys/bus/pci/devices/0000:c1:00.0/msi_irqs/.",
        "sys/bus/pci/devices/0000:c1:00.0/msi_irqs/..",
        "sys/bus/pci/devices/./vendor",
        "sys/bus/pci/devices/../vendor",
        "sys/bus/pci/devices//vendor",
        "sys/bus/pci/devices/vendor",
        "sys/bus/pci/devices/a\nb/vendor",
        "sys/bus/pci/device/0000:c1:00.0/vendor",
        "sys/bus/pci/devices/0000:c1:00.0/hotreset_flag",
        "sys/bus/pci/devices/0000:c1:00.0/davinci_dev_id",
        "sys/bus/pci/devices/0000:c1:00.0/physfn/vendor",
        "proc/1/cgroups",
        "proc/uda",
        "proc/uda/udevice",
        "proc/trs_core",
        "proc/trs_core/proc/",
        "proc/trs_core/proc/4711-0-dev-3",
        "proc/trs_core/proc/4711-0-dev-3/x",
        "sys/class/devdrv-class",
        "sys/class/devdrv-class/davinci/dev",
        "sys/class/devdrv-class/davinci3/uevent",
        "dev",
        "dev/davinci",
        "dev/davinci03",
        "dev/davinci3/x",
        "dev/davinci_manager",
        "dev/null",
        "dev/nvidia0",
        "dev/nvidia/nvidiactl",
        "dev/dri",
        "dev/dri/card0",
        "dev/accel/accel",
        "sys/bus/pci/devices/0000:c1:00.0/drm",
        "sys/bus/pci/devices/0000:c1:00.0/drm/card0/dev",
        "sys/fs/cgroup/memory.max",
        "sys/fs/cgroup/a/cgroup.procs",
        "sys/fs/cgroup",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_known(names[i]))
            fail_msg("\"%s\" is known", names[i]);
    assert_false(cpubind_input_list_has(NULL));
}

TEST(a_start_of_a_known_name_is_not_known)
{
    static const char *const names[] = {
        "sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
        "sys/devices/system/node/node0/distance",
        "sys/bus/pci/devices/0000:c1:00.0/local_cpulist",
        "cmd/npu-smi-info-t-board-i12-c34.txt",
        "proc/self/status",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t n = 0; n < strlen(names[i]); n++) {
            char name[128];
            memcpy(name, names[i], n);
            name[n] = '\0';
            assert_false(is_known(name));
        }
}

/* A name of the longest length is known, one of a byte more is not. */
TEST(a_known_name_is_no_longer_than_a_name)
{
    static const char before[] = "sys/bus/pci/devices/", after[] = "/vendor";
    for (size_t len = CPUBIND_INPUT_NAME_MAX; len <= CPUBIND_INPUT_NAME_MAX + 1; len++) {
        char *name = (char *)malloc(len + 1);
        assert_non_null(name);
        memset(name, 'a', len);
        memcpy(name, before, sizeof before - 1);
        memcpy(name + len - (sizeof after - 1), after, sizeof after);
        assert_int_equal(cpubind_input_list_has(name), len == CPUBIND_INPUT_NAME_MAX);
        free(name);
    }
}

/* == The walk =============================================================== */

/* The visited names, each followed by a blank. */
typedef struct visited {
    char names[8192];
    int32_t n;
    int32_t stop_at, result; /* the visit that answers with `result` */
    cpubind_input last;
} visited;

static int visit(void *ctx, const char *name, cpubind_input answer)
{
    visited *v = (visited *)ctx;
    assert_true(strlen(v->names) + strlen(name) + 2 < sizeof v->names);
    strcat(strcat(v->names, name), " ");
    assert_true(answer.state != CPUBIND_INPUT_ABSENT);
    assert_true(cpubind_input_is_name(name));
    v->last = answer;
    return ++v->n == v->stop_at ? v->result : 0;
}

static int walk(memory_host *h, visited *v)
{
    const cpubind_source source = {h, read_input, list_inputs};
    memset(v, 0, sizeof *v);
    h->seen[0] = '\0';
    return cpubind_input_list_each(&source, visit, v);
}

static void expect_visits(memory_host *h, const char *names)
{
    visited v;
    assert_int_equal(walk(h, &v), 0);
    assert_string_equal(v.names, names);
}

/* A host with one of everything: two nodes, CPUs, an NPU, its controller, a bridge. */
static void make_host(memory_host *h)
{
    memset(h, 0, sizeof *h);
    set(h, "proc/self/status", "Cpus_allowed_list:\t0-3\n");
    set(h, "proc/interrupts", "           CPU0\n");
    set(h, "env", "");
    set(h, "uname", "aarch64\n");
    set(h, "sys/devices/system/cpu/online", "0-3\n");
    set(h, "sys/devices/system/cpu/", "cpu0\ncpu1\ncpufreq\nonline\n");
    set(h, "sys/devices/system/cpu/cpu0/online", "1\n");
    set(h, "sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0\n");
    set(h, "sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
    set(h, "sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1\n");
    set(h, "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n");
    set(h, "sys/devices/system/cpu/smt/active", "0\n");
    set(h, "sys/devices/system/cpu/isolated", "\n");
    set(h, "proc/sys/kernel/numa_balancing", "1\n");
    set(h, "sys/devices/system/node/", "has_cpu\nnode0\nnode10\nonline\n");
    set(h, "sys/devices/system/node/has_cpu", "0,10\n");
    set(h, "sys/devices/system/node/node0/cpulist", "0-1\n");
    set(h, "sys/devices/system/node/node0/cpumap", "3\n");
    set(h, "sys/devices/system/node/node10/cpumap", "c\n");
    set(h, "sys/devices/system/node/node10/distance", "20 10\n");
    set(h, "sys/bus/pci/devices/", "0000:00:00.0\n0000:c1:00.0\n");
    set(h, "sys/bus/pci/devices/0000:00:00.0/vendor", "0x8086\n");
    set(h, "sys/bus/pci/devices/0000:00:00.0/device", "0x0001\n");
    set(h, "sys/bus/pci/devices/0000:c1:00.0/vendor", "0x19e5\n");
    set(h, "sys/bus/pci/devices/0000:c1:00.0/device", "0xd802\n");
    set(h, "sys/bus/pci/devices/0000:c1:00.0/numa_node", "0\n");
    set(h, "sys/bus/pci/devices/0000:c1:00.0/msi_irqs/", "301\n302\n");
    set(h, "sys/bus/pci/devices/0000:c1:00.0/msi_irqs/301", "msix\n");
    set(h, "sys/bus/pci/devices/0000:c1:00.0/msi_irqs/302", "msix\n");
    set(h, "cmd/npu-smi-info-m.txt", "m");
    set(h, "cmd/npu-smi-info.txt", "i");
    set(h, "cmd/lscpu.txt", "l");
    set(h, "cmd/npu-smi-info-t-board-i0.txt", "b");
}

#define FILES_OF_CPUS                                                                          \
    "proc/self/status proc/interrupts env uname sys/devices/system/cpu/online "                \
    "sys/devices/system/cpu/smt/active sys/devices/system/cpu/isolated "                       \
    "proc/sys/kernel/numa_balancing sys/devices/system/node/has_cpu "
#define FILES_OF_TOPOLOGY                                                                      \
    "sys/devices/system/cpu/cpu0/topology/thread_siblings_list "                               \
    "sys/devices/system/cpu/cpu0/topology/physical_package_id "                                \
    "sys/devices/system/cpu/cpu1/topology/thread_siblings_list "                               \
    "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor "
#define FILES_OF_NODES                                                                         \
    "sys/devices/system/node/node0/cpulist sys/devices/system/node/node10/cpumap "             \
    "sys/devices/system/node/node10/distance "
#define FILES_OF_PCI                                                                           \
    "sys/bus/pci/devices/0000:c1:00.0/vendor sys/bus/pci/devices/0000:c1:00.0/device "         \
    "sys/bus/pci/devices/0000:c1:00.0/numa_node "                                              \
    "sys/bus/pci/devices/0000:c1:00.0/msi_irqs/301 "                                           \
    "sys/bus/pci/devices/0000:c1:00.0/msi_irqs/302 "
#define FILES    FILES_OF_CPUS FILES_OF_TOPOLOGY FILES_OF_NODES FILES_OF_PCI
#define COMMANDS "cmd/npu-smi-info-m.txt cmd/npu-smi-info.txt "

TEST(a_live_host_is_asked_for_three_commands)
{
    memory_host h;
    make_host(&h);
    expect_visits(&h, FILES COMMANDS);
    assert_non_null(strstr(h.seen, "cmd/npu-smi-info-t-topo.txt "));
    assert_null(strstr(h.seen, "lscpu"));
    assert_null(strstr(h.seen, "board"));
}

TEST(commands_that_are_listed_are_visited_when_they_are_known)
{
    memory_host h;
    make_host(&h);
    set(&h, "cmd/",
        ".\n..\n\nlscpu.exit\nlscpu.txt\nnpu-smi-info-m.txt\nnpu-smi-info-t-board-i0.txt\n"
        "npu-smi-info.exit\nother.txt\na/b\n");
    expect_visits(&h, FILES "cmd/lscpu.txt cmd/npu-smi-info-m.txt "
                            "cmd/npu-smi-info-t-board-i0.txt ");
    assert_null(strstr(h.seen, "other"));
    set(&h, "cmd/", "");
    expect_visits(&h, FILES);
}

TEST(an_empty_host_has_no_inputs)
{
    memory_host h;
    memset(&h, 0, sizeof h);
    expect_visits(&h, "");
}

TEST(without_a_list_of_online_cpus_each_cpu_has_a_file)
{
    memory_host h;
    make_host(&h);
    take_away(&h, "sys/devices/system/cpu/online");
    expect_visits(&h, "proc/self/status proc/interrupts env uname "
                      "sys/devices/system/cpu/smt/active sys/devices/system/cpu/isolated "
                      "proc/sys/kernel/numa_balancing sys/devices/system/node/has_cpu "
                      "sys/devices/system/cpu/cpu0/online " FILES_OF_TOPOLOGY FILES_OF_NODES
                          FILES_OF_PCI COMMANDS);
}

/* A capture keeps what tells an offline CPU from one that a made cpu/online lacks (lxcfs). */
TEST(each_cpu_that_the_list_of_online_cpus_lacks_has_a_file)
{
    static const struct {
        const char *list;
        int first, second; /* whether cpu0/online and cpu10/online are visited */
    } cases[] = {{"0-9\n", 0, 1},      {"1-20\n", 1, 0}, {"1,3-9,11-20\n", 1, 1},
                 {"0,3-9,10\n", 0, 0}, {"\n", 0, 0},     {"1,x\n", 0, 0},
                 {"0-3", 0, 1},        {"11-12", 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memory_host h;
        visited v;
        make_host(&h);
        set(&h, "sys/devices/system/cpu/", "cpu0\ncpu10\n");
        set(&h, "sys/devices/system/cpu/cpu0/online", "1\n");
        set(&h, "sys/devices/system/cpu/cpu10/online", "1\n");
        set(&h, "sys/devices/system/cpu/online", cases[i].list);
        assert_int_equal(walk(&h, &v), 0);
        if ((strstr(v.names, "cpu0/online ") != NULL) != cases[i].first ||
            (strstr(v.names, "cpu10/online ") != NULL) != cases[i].second)
            fail_msg("%s: %s", cases[i].list, v.names);
    }
}

TEST(the_topology_of_a_cpu_may_be_absent)
{
    memory_host h;
    make_host(&h);
    take_away(&h, "sys/devices/system/cpu/cpu0/topology/thread_siblings_list");
    expect_visits(
        &h, FILES_OF_CPUS
        "sys/devices/system/cpu/cpu0/topology/physical_package_id "
        "sys/devices/system/cpu/cpu1/topology/thread_siblings_list "
        "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor " FILES_OF_NODES FILES_OF_PCI
            COMMANDS);
}

/* Each vendor whose NPUs the census counts, and no other. */
TEST(a_function_is_visited_where_the_census_counts_it)
{
    static const struct {
        const char *vendor;
        int is_visited, is_counted;
    } cases[] = {
        {"0x19e5\n", 1, 1}, {"0x2092\n", 1, 1}, {"0x20c6\n", 1, 1}, {"0x203f\n", 1, 1},
        {"0x20e9\n", 1, 1}, {"6629\n", 1, 1},   {"0x19e4\n", 0, 0}, {"0x10de\n", 0, 0},
        {"-1\n", 0, 0},     {"0x\n", 1, 0},     {"", 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cpubind_request request = ask_nothing();
        memory_host h;
        visited v;
        attempt a;
        make_host(&h);
        set(&h, "sys/bus/pci/devices/0000:c1:00.0/vendor", cases[i].vendor);
        assert_int_equal(walk(&h, &v), 0);
        assert_int_equal(strstr(v.names, "0000:c1:00.0/vendor ") != NULL, cases[i].is_visited);
        assert_int_equal(strstr(v.names, "0000:c1:00.0/device ") != NULL, cases[i].is_visited);
        request.n_npu = 1;
        request.npu = &(const int32_t){0};
        take_away(&h, "cmd/npu-smi-info-m.txt");
        take_away(&h, "cmd/npu-smi-info.txt");
        a = try(&h, &request);
        assert_int_equal(a.facts.n_census, cases[i].is_counted);
        drop(&a);
    }
}

TEST(a_function_without_a_vendor_is_visited)
{
    memory_host h;
    memset(&h, 0, sizeof h);
    set(&h, "sys/bus/pci/devices/", "0000:c1:00.0\n");
    set(&h, "sys/bus/pci/devices/0000:c1:00.0/local_cpulist", "0-3\n");
    expect_visits(&h, "sys/bus/pci/devices/0000:c1:00.0/local_cpulist ");
}

/* Network cards, GPUs and bridges have the files that tell their place; other functions none. A
 * card of a vendor of NPUs has its own files, and the class. */
TEST(functions_of_these_classes_are_visited)
{
    memory_host h;
    memset(&h, 0, sizeof h);
    set(&h, "sys/bus/pci/devices/", "a\nb\nc\nd\n");
    set(&h, "sys/bus/pci/devices/a/class", "0x060400\n");
    set(&h, "sys/bus/pci/devices/a/vendor", "0x8086\n");
    set(&h, "sys/bus/pci/devices/a/secondary_bus_number", "1\n");
    set(&h, "sys/bus/pci/devices/b/class", "0x020000\n");
    set(&h, "sys/bus/pci/devices/b/vendor", "0x15b3\n");
    set(&h, "sys/bus/pci/devices/b/numa_node", "0\n");
    set(&h, "sys/bus/pci/devices/b/msi_irqs/", "12\n");
    set(&h, "sys/bus/pci/devices/b/msi_irqs/12", "msix\n");
    set(&h, "sys/bus/pci/devices/b/drm/", "card0\nrenderD128\n"); /* folders: names alone */
    set(&h, "sys/bus/pci/devices/c/class", "0x010802\n");
    set(&h, "sys/bus/pci/devices/c/drm/", "card1\n");
    set(&h, "sys/bus/pci/devices/d/drm/", "card2\n");
    set(&h, "dev/dri/", "by-path\ncard0\nrenderD128\n");
    set(&h, "dev/dri/renderD128", "226:128\n");
    set(&h, "sys/bus/pci/devices/c/vendor", "0x144d\n");
    set(&h, "sys/bus/pci/devices/d/class", "0x020000\n");
    set(&h, "sys/bus/pci/devices/d/vendor", "0x19e5\n");
    set(&h, "proc/driver/nvidia/gpus/", "0000:17:00.0\n");
    set(&h, "proc/driver/nvidia/gpus/0000:17:00.0/information", "Model: x\n");
    expect_visits(&h, "sys/bus/pci/devices/d/vendor sys/bus/pci/devices/a/class "
                      "sys/bus/pci/devices/a/vendor "
                      "sys/bus/pci/devices/a/secondary_bus_number "
                      "sys/bus/pci/devices/b/class sys/bus/pci/devices/b/vendor "
                      "sys/bus/pci/devices/b/numa_node sys/bus/pci/devices/d/class "
                      "proc/driver/nvidia/gpus/0000:17:00.0/information "
                      "sys/bus/pci/devices/b/drm/card0 sys/bus/pci/devices/b/drm/renderD128 "
                      "dev/dri/renderD128 ");
}

TEST(names_that_no_folder_holds_are_skipped)
{
    memory_host h;
    memset(&h, 0, sizeof h);
    set(&h, "sys/devices/system/node/",
        "\nnode\nnode-1\nnode00\nnode0/..\nnode0x1\nnode1 \nnode3\x01\nnode65536\n"
        "node99999999999999999999\nNODE1\n node2\nxnode2\nnode2");
    set(&h, "sys/devices/system/node/node2/cpulist", "0\n");
    set(&h, "sys/bus/pci/devices/", ".\n..\n/\na/b\n\tc\n\nd e \n");
    set(&h, "sys/bus/pci/devices/d e /device", "0xd802\n");
    expect_visits(&h, "sys/devices/system/node/node2/cpulist "
                      "sys/bus/pci/devices/d e /device ");
    static const char before[] =
        "sys/devices/system/node/node2/cpulist sys/devices/system/node/node2/distance "
        "sys/bus/pci/devices/d e /vendor sys/bus/pci/devices/d e /vendor "
        "sys/bus/pci/devices/d e /device sys/bus/pci/devices/d e /numa_node "
        "sys/bus/pci/devices/d e /local_cpulist sys/bus/pci/devices/d e /physfn "
        "sys/bus/pci/devices/d e /dev_id sys/bus/pci/devices/d e /davinci_dev_num "
        "sys/bus/pci/devices/d e /devdrv_sysfs_bdf_to_devid ";
    static const char class_of[] = "sys/bus/pci/devices/d e /class ";
    const char *seen = strstr(h.seen, "sys/devices/system/node/node");
    assert_memory_equal(seen, before, sizeof before - 1);
    seen += sizeof before - 1;
    while (strncmp(seen, class_of, sizeof class_of - 1) == 0) /* for each kind of files */
        seen += sizeof class_of - 1;
    assert_string_equal(seen, "proc/self/cgroup cmd/npu-smi-info-m.txt cmd/npu-smi-info.txt "
                              "cmd/npu-smi-info-t-topo.txt ");
}

/* A source whose one listing holds a name of some length, and which has every file. */
static char *long_listing;

static cpubind_input list_long(void *ctx, const char *name)
{
    cpubind_input input;
    (void)ctx;
    memset(&input, 0, sizeof input);
    if (strcmp(name, "sys/bus/pci/devices") != 0)
        return input;
    input.state = CPUBIND_INPUT_PRESENT;
    input.data = long_listing;
    input.len = (int32_t)strlen(long_listing);
    return input;
}

static cpubind_input read_long(void *ctx, const char *name)
{
    cpubind_input input;
    (void)ctx;
    memset(&input, 0, sizeof input);
    input.state =
        strncmp(name, "sys/bus", 7) == 0 ? CPUBIND_INPUT_FAILED : CPUBIND_INPUT_ABSENT;
    return input;
}

static int count_visits(void *ctx, const char *name, cpubind_input answer)
{
    (void)answer;
    assert_true(cpubind_input_is_name(name) && cpubind_input_list_has(name));
    ++*(int32_t *)ctx;
    return 0;
}

/* class has 5 bytes, vendor, device, physfn and dev_id have 6, numa_node 9, sriov_numvfs 12,
 * local_cpulist 13, davinci_dev_num 15, secondary_bus_number 20, devdrv_sysfs_bdf_to_devid
 * 25. */
TEST(a_name_that_becomes_too_long_is_skipped)
{
    static const struct {
        int32_t leaf;   /* the longest that fits after the folder */
        int32_t visits; /* of the eleven */
    } cases[] = {{25, 11}, {24, 10}, {20, 10}, {19, 9}, {15, 9}, {14, 8}, {13, 8}, {12, 7},
                 {11, 6},  {9, 6},   {8, 5},   {6, 5},  {5, 1},  {0, 0},  {-1, 0}, {-2, 0}};
    const cpubind_source source = {NULL, read_long, list_long};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int32_t folder = (int32_t)strlen("sys/bus/pci/devices/");
        const int32_t len = CPUBIND_INPUT_NAME_MAX - folder - 1 - cases[i].leaf;
        int32_t n = 0;
        long_listing = (char *)malloc((size_t)len + 1);
        assert_non_null(long_listing);
        memset(long_listing, 'f', (size_t)len);
        long_listing[len] = '\0';
        assert_int_equal(cpubind_input_list_each(&source, count_visits, &n), 0);
        assert_int_equal(n, cases[i].visits);
        free(long_listing);
    }
}

/* == The driver's files and the cgroup ====================================== */

#define PCI_C1 "sys/bus/pci/devices/0000:c1:00.0/"

TEST(the_files_of_the_driver_are_visited)
{
    memory_host h;
    memset(&h, 0, sizeof h);
    set(&h, "proc/uda/namespace_node", "n");
    set(&h, "sys/bus/pci/devices/", "0000:c1:00.0\n");
    set(&h, PCI_C1 "vendor", "0x19e5\n");
    set(&h, PCI_C1 "physfn", "");
    set(&h, PCI_C1 "dev_id", "0\n");
    set(&h, PCI_C1 "davinci_dev_num", "1\n");
    set(&h, PCI_C1 "devdrv_sysfs_bdf_to_devid", "b");
    set(&h, PCI_C1 "hotreset_flag", "x");
    set(&h, PCI_C1 "davinci_dev_id", "x");
    set(&h, "proc/trs_core/proc/", "10-0-dev-0\n11-1-dev-0\n");
    set(&h, "proc/trs_core/proc/10-0-dev-0/summary", "pid 10(python)\n");
    set(&h, "sys/class/devdrv-class/", "davinci0\ndavinci_manager\n");
    set(&h, "sys/class/devdrv-class/davinci0/dev", "236:0\n");
    set(&h, "sys/class/devdrv-class/davinci_manager/dev", "10:1\n");
    set(&h, "dev/", "davinci0\ndavinci_manager\nnull\n");
    set(&h, "dev/davinci0", "236:0\n");
    set(&h, "dev/null", "x");
    expect_visits(&h, "proc/uda/namespace_node " PCI_C1 "vendor " PCI_C1 "physfn " PCI_C1
                      "dev_id " PCI_C1 "davinci_dev_num " PCI_C1 "devdrv_sysfs_bdf_to_devid "
                      "proc/trs_core/proc/10-0-dev-0/summary "
                      "sys/class/devdrv-class/davinci0/dev dev/davinci0 ");
    assert_null(strstr(h.seen, "hotreset_flag"));
    assert_null(strstr(h.seen, "davinci_dev_id"));
    assert_null(strstr(h.seen, "dev/null"));
    set(&h, "proc/trs_core/proc/", "");
    set(&h, "dev/", "");
    expect_visits(&h, "proc/uda/namespace_node " PCI_C1 "vendor " PCI_C1 "physfn " PCI_C1
                      "dev_id " PCI_C1 "davinci_dev_num " PCI_C1 "devdrv_sysfs_bdf_to_devid "
                      "proc/trs_core/proc sys/class/devdrv-class/davinci0/dev ");
}

/* Two files that only root may read, and one for all. */
static cpubind_input read_refused(void *ctx, const char *name)
{
    cpubind_input input;
    memset(&input, 0, sizeof input);
    if (!strcmp(name, "proc/uda/namespace_node") || !strcmp(name, PCI_C1 "dev_id") ||
        !strcmp(name, PCI_C1 "vendor")) {
        input.state = CPUBIND_INPUT_FAILED;
        input.error = *(const int32_t *)ctx;
    }
    return input;
}

static cpubind_input list_refused(void *ctx, const char *name)
{
    static const char text[] = "0000:c1:00.0\n";
    cpubind_input input;
    (void)ctx;
    memset(&input, 0, sizeof input);
    if (!strcmp(name, "sys/bus/pci/devices")) {
        input.state = CPUBIND_INPUT_PRESENT;
        input.data = text;
        input.len = (int32_t)sizeof text - 1;
    }
    return input;
}

TEST(a_file_of_root_is_no_failure_for_another_user)
{
    static const struct {
        int32_t error, visits;
    } cases[] = {{13, 1}, {1, 1}, {5, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t error = cases[i].error;
        visited v;
        const cpubind_source source = {&error, read_refused, list_refused};
        memset(&v, 0, sizeof v);
        assert_int_equal(cpubind_input_list_each(&source, visit, &v), 0);
        assert_int_equal(v.n, cases[i].visits);
        assert_non_null(strstr(v.names, PCI_C1 "vendor "));
    }
}

TEST(the_cpus_of_the_own_cgroup_and_those_above_it_are_visited)
{
    memory_host h;
    memset(&h, 0, sizeof h);
    set(&h, "proc/self/cgroup", "0::/pod/a b\n");
    set(&h, "sys/fs/cgroup/pod/a b/cpuset.cpus.effective", "0-3\n");
    set(&h, "sys/fs/cgroup/pod/cpuset.cpus.effective", "0-7\n");
    set(&h, "sys/fs/cgroup/cpuset.cpus.effective", "0-9\n");
    set(&h, "sys/fs/cgroup/other/cpuset.cpus.effective", "9\n");
    expect_visits(&h, "proc/self/cgroup sys/fs/cgroup/pod/a b/cpuset.cpus.effective "
                      "sys/fs/cgroup/pod/cpuset.cpus.effective "
                      "sys/fs/cgroup/cpuset.cpus.effective ");
    memset(&h, 0, sizeof h);
    set(&h, "proc/self/cgroup",
        "junk\n7:memory:/x\n3:cpu,cpuset:/docker/y\n2:cpusetx:/z\n0::/\n");
    set(&h, "sys/fs/cgroup/cpuset/docker/y/cpuset.effective_cpus", "0-3\n");
    set(&h, "sys/fs/cgroup/cpuset/docker/y/cpuset.cpus", "0-5\n");
    set(&h, "sys/fs/cgroup/cpuset/z/cpuset.cpus", "1\n");
    set(&h, "sys/fs/cgroup/x/cpuset.cpus", "1\n");
    expect_visits(&h, "proc/self/cgroup "
                      "sys/fs/cgroup/cpuset/docker/y/cpuset.effective_cpus "
                      "sys/fs/cgroup/cpuset/docker/y/cpuset.cpus ");
    set(&h, "proc/self/cgroup", "0::/../../up\n3:cpuset:\n4:cpuset\n:\n\n5:cpuset:/a//b/\n");
    expect_visits(&h, "proc/self/cgroup ");
}

/* == Failures =============================================================== */

static const cpubind_input_state failures[] = {CPUBIND_INPUT_FAILED, CPUBIND_INPUT_TIMEOUT,
                                               CPUBIND_INPUT_TOO_LONG};

/* Each file in turn fails: it is visited with that answer, and so are all other files. */
TEST(an_input_that_fails_is_visited_with_its_answer)
{
    memory_host h;
    visited v;
    char *names, *name;
    make_host(&h);
    assert_int_equal(walk(&h, &v), 0);
    names = strdup(v.names);
    for (name = strtok(names, " "); name; name = strtok(NULL, " "))
        for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
            char *at;
            visited u;
            h.failing = name;
            h.state = failures[i];
            assert_int_equal(walk(&h, &u), 0);
            assert_string_equal(u.names, FILES COMMANDS);
            at = strstr(u.names, name); /* stop there to check the answer */
            assert_non_null(at);
            u.stop_at = 0;
            for (const char *c = u.names; c <= at; c++)
                u.stop_at += c == u.names || c[-1] == ' ';
            {
                const cpubind_source source = {&h, read_input, list_inputs};
                const int32_t stop_at = u.stop_at;
                memset(&u, 0, sizeof u);
                u.stop_at = stop_at;
                u.result = 7;
                h.seen[0] = '\0';
                assert_int_equal(cpubind_input_list_each(&source, visit, &u), 7);
                assert_int_equal(u.last.state, failures[i]);
                assert_int_equal(u.n, stop_at);
            }
        }
    free(names);
}

TEST(a_folder_that_cannot_be_listed_is_visited_itself)
{
    static const struct {
        const char *folder, *names;
    } cases[] = {
        {"sys/devices/system/cpu",
         FILES_OF_CPUS "sys/devices/system/cpu " FILES_OF_NODES FILES_OF_PCI COMMANDS},
        {"sys/devices/system/node",
         FILES_OF_CPUS FILES_OF_TOPOLOGY "sys/devices/system/node " FILES_OF_PCI COMMANDS},
        {"sys/bus/pci/devices",
         FILES_OF_CPUS FILES_OF_TOPOLOGY FILES_OF_NODES "sys/bus/pci/devices " COMMANDS},
        {"sys/bus/pci/devices/0000:c1:00.0/msi_irqs",
         FILES_OF_CPUS FILES_OF_TOPOLOGY FILES_OF_NODES
         "sys/bus/pci/devices/0000:c1:00.0/vendor sys/bus/pci/devices/0000:c1:00.0/device "
         "sys/bus/pci/devices/0000:c1:00.0/numa_node "
         "sys/bus/pci/devices/0000:c1:00.0/msi_irqs " COMMANDS},
        {"cmd", FILES "cmd "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < sizeof failures / sizeof *failures; k++) {
            memory_host h;
            make_host(&h);
            h.failing = cases[i].folder;
            h.state = failures[k];
            expect_visits(&h, cases[i].names);
        }
}

TEST(the_result_of_a_visit_can_end_the_walk)
{
    memory_host h;
    visited all;
    make_host(&h);
    assert_int_equal(walk(&h, &all), 0);
    for (int32_t stop = 1; stop <= all.n; stop++) {
        const cpubind_source source = {&h, read_input, list_inputs};
        visited v;
        memset(&v, 0, sizeof v);
        v.stop_at = stop;
        v.result = stop % 2 ? 42 : -1;
        h.seen[0] = '\0';
        assert_int_equal(cpubind_input_list_each(&source, visit, &v), v.result);
        assert_int_equal(v.n, stop);
        assert_memory_equal(v.names, all.names, strlen(v.names));
    }
}

/* Folders that fail end the walk as well when their visit says so. */
TEST(the_walk_ends_at_a_folder_that_fails)
{
    static const char *const folders[] = {"sys/devices/system/cpu", "sys/devices/system/node",
                                          "sys/bus/pci/devices",
                                          "sys/bus/pci/devices/0000:c1:00.0/msi_irqs", "cmd"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        memory_host h;
        visited v;
        char *at;
        make_host(&h);
        h.failing = folders[i];
        h.state = CPUBIND_INPUT_FAILED;
        assert_int_equal(walk(&h, &v), 0);
        at = strstr(v.names, folders[i]);
        for (int32_t stop = 1; stop <= v.n && at; stop++) {
            const cpubind_source source = {&h, read_input, list_inputs};
            visited u;
            memset(&u, 0, sizeof u);
            u.stop_at = stop;
            u.result = 5;
            h.seen[0] = '\0';
            assert_int_equal(cpubind_input_list_each(&source, visit, &u), 5);
            assert_int_equal(u.n, stop);
        }
    }
}

/* == The fixture hosts ====================================================== */

typedef struct found {
    char *names[MAX_FILES];
    int32_t n;
} found;

static int note(void *ctx, const char *name, cpubind_input answer)
{
    found *f = (found *)ctx;
    assert_int_equal(answer.state, CPUBIND_INPUT_PRESENT);
    assert_true(is_known(name));
    assert_true(f->n < MAX_FILES);
    f->names[f->n++] = strdup(name);
    return 0;
}

static int by_order(const void *a, const void *b)
{
    return cpubind_host_file_order(*(char *const *)a, *(char *const *)b);
}

static int ends_with(const char *text, const char *end)
{
    return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

/* Of a fixture everything is visited but exit codes and stderr. */
static void check_fixture(fixture_host *h, const char *name)
{
    const cpubind_source source = source_of_fixture(h);
    static found visits;
    int32_t n = 0;
    visits.n = 0;
    assert_int_equal(cpubind_input_list_each(&source, note, &visits), 0);
    qsort(visits.names, (size_t)visits.n, sizeof *visits.names, by_order);
    for (int32_t i = 0; i < h->n; i++) {
        const char *file = fixture_name(h, i);
        if (strcmp(file, "host.txt") == 0 || strncmp(file, "expect/", 7) == 0 ||
            ends_with(file, ".exit") || ends_with(file, ".err"))
            continue;
        if (n >= visits.n || strcmp(visits.names[n], file) != 0)
            fail_msg("%s: %s is not visited", name, file);
        n++;
    }
    assert_int_equal(n, visits.n);
    for (int32_t i = 0; i < visits.n; i++)
        free(visits.names[i]);
}

TEST(every_input_of_a_fixture_is_visited)
{
    assert_true(each_fixture(check_fixture) >= 30);
}

int main(void)
{
    return run_registered("inputs", NULL, NULL);
}
