/* fuzz_input_list.c - fuzz target: the list of known inputs, and the walk over those of a host
 * SPDX-License-Identifier: MIT
 *
 * The first line of the input is the name of an input; the rest is the listing of every folder
 * of the host. Compares adapters/ascend/input_list.c with a second list of patterns.
 */
#include "../fuzz.h"

#include "../../adapters/ascend/doctor_inputs.h"
#include "../../adapters/ascend/input_list.h"
#include "../../adapters/text/input_name.h"

/* == Known inputs =========================================================== */

/* "#" stands for a number less than CPUBIND_MAX_CPUS, "%" for one of 31 bits, "*" for a part of
 * a name, "~" for the rest of a part, which may be empty, "^" for any number of parts, each
 * with its slash. */
static const char *const patterns[] = {
    "proc/self/status",
    "proc/self/cgroup",
    "proc/interrupts",
    "proc/uda/namespace_node",
    "proc/trs_core/proc",
    "proc/trs_core/proc/*/summary",
    "proc/irq/%/trs-mbox-%-~",
    "dev/davinci#",
    "env",
    "uname",
    "sys/devices/system/cpu/online",
    "sys/devices/system/cpu/possible",
    "sys/devices/system/cpu/present",
    "sys/devices/system/cpu/smt/active",
    "sys/devices/system/cpu/smt/control",
    "sys/devices/system/cpu/isolated",
    "sys/devices/system/cpu/nohz_full",
    "sys/devices/system/cpu/cpu#/cpufreq/scaling_governor",
    "proc/sys/kernel/numa_balancing",
    "sys/devices/system/cpu/cpu#/online",
    "sys/devices/system/cpu/cpu#/topology/thread_siblings_list",
    "sys/devices/system/cpu/cpu#/topology/physical_package_id",
    "sys/devices/system/node/online",
    "sys/devices/system/node/possible",
    "sys/devices/system/node/has_cpu",
    "sys/devices/system/node/has_memory",
    "sys/devices/system/node/node#/cpulist",
    "sys/devices/system/node/node#/cpumap",
    "sys/devices/system/node/node#/distance",
    "sys/bus/pci/devices/*/vendor",
    "sys/bus/pci/devices/*/device",
    "sys/bus/pci/devices/*/numa_node",
    "sys/bus/pci/devices/*/local_cpulist",
    "sys/bus/pci/devices/*/physfn",
    "sys/bus/pci/devices/*/dev_id",
    "sys/bus/pci/devices/*/davinci_dev_num",
    "sys/bus/pci/devices/*/devdrv_sysfs_bdf_to_devid",
    "sys/bus/pci/devices/*/msi_irqs/*",
    "sys/bus/pci/devices/*/class",
    "sys/bus/pci/devices/*/sriov_numvfs",
    "sys/bus/pci/devices/*/secondary_bus_number",
    "sys/bus/pci/devices/*/drm/*",
    "sys/bus/pci/devices/*/accel/*",
    "sys/bus/pci/devices/*/tenstorrent/*",
    "dev/nvidia/nvidia#",
    "dev/dri/renderD#",
    "dev/accel/accel#",
    "dev/tenstorrent/#",
    "proc/driver/nvidia/gpus/*/information",
    "proc/driver/nvidia/gpus/*/numa_status",
    "sys/class/devdrv-class/davinci#/dev",
    "sys/fs/cgroup/^cpuset.cpus",
    "sys/fs/cgroup/^cpuset.cpus.effective",
    "sys/fs/cgroup/^cpuset.effective_cpus",
    "cmd/npu-smi-info-m.txt",
    "cmd/npu-smi-info.txt",
    "cmd/npu-smi-info-t-topo.txt",
    "cmd/lscpu-e.txt",
    "cmd/lscpu.txt",
};

/* The end of a number of the name, below `limit`; NULL: there is none. */
static const char *skip_number(const char *name, long long limit)
{
    const size_t n = strspn(name, "0123456789");
    if (n == 0 || (n > 1 && name[0] == '0') || n > 10 || strtoll(name, NULL, 10) >= limit)
        return NULL;
    return name + n;
}

/* The end of the text that a wildcard matches; NULL without a match. */
static const char *skip_wildcard(char wildcard, const char *name)
{
    const size_t n = strcspn(name, "/");
    switch (wildcard) {
    case '#':
        return skip_number(name, CPUBIND_MAX_CPUS);
    case '%':
        return skip_number(name, 1LL + INT32_MAX);
    case '~':
        return name + n;
    case '^':
        return strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    default:
        return n == 0 || (n == 1 && name[0] == '.') || (n == 2 && memcmp(name, "..", 2) == 0)
                   ? NULL
                   : name + n;
    }
}

static int fits(const char *pattern, const char *name)
{
    for (; name && *pattern; pattern++) {
        if (strchr("#%*~^", *pattern))
            name = skip_wildcard(*pattern, name);
        else
            name = *pattern == *name ? name + 1 : NULL;
    }
    return name && *name == '\0';
}

static int is_known_slowly(const char *name)
{
    cpubind_slice card, chip;
    if (!cpubind_input_is_name(name))
        return 0;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (fits(patterns[i], name))
            return 1;
    return cpubind_input_is_board(name, &card, &chip) || cpubind_doctor_input_has(name);
}

/* == The walk =============================================================== */

typedef struct any_host {
    const char *listing;
    int32_t len;
    uint32_t seed;
    uint32_t hash; /* of the visited names */
    int32_t n, stop_at;
} any_host;

static uint32_t mix(uint32_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

/* The state and the text depend on the name; most vendors are known ones. */
static cpubind_input answer(const any_host *h, const char *name, int is_list)
{
    static const char *const texts[] = {"0x19e5\n", "0x20e9\n", "0x8086\n", "?", "0x020000\n"};
    const uint32_t hash = mix(h->seed + (uint32_t)is_list, name);
    cpubind_input input;
    memset(&input, 0, sizeof input);
    CHECK(cpubind_input_is_name(name));
    input.state = hash % 8 < 4 ? CPUBIND_INPUT_PRESENT : (cpubind_input_state)(hash % 5);
    if (input.state != CPUBIND_INPUT_PRESENT)
        return input;
    input.data = is_list ? h->listing : texts[hash / 8 % 5];
    input.len = is_list ? h->len : (int32_t)strlen(input.data);
    return input;
}

static cpubind_input read_any(void *ctx, const char *name)
{
    return answer((const any_host *)ctx, name, 0);
}

static cpubind_input list_any(void *ctx, const char *name)
{
    return answer((const any_host *)ctx, name, 1);
}

/* Whether an input is a name in a folder of a PCI function, of which the text is not read. */
static int is_name_alone(const char *name)
{
    return fits("sys/bus/pci/devices/*/drm/*", name) ||
           fits("sys/bus/pci/devices/*/accel/*", name) ||
           fits("sys/bus/pci/devices/*/tenstorrent/*", name);
}

/* A visited name is a known input, which may be a folder that is empty in a snapshot, or a
 * folder that could not be listed. */
static int visit(void *ctx, const char *name, cpubind_input input)
{
    any_host *h = (any_host *)ctx;
    CHECK(input.state != CPUBIND_INPUT_ABSENT);
    CHECK(cpubind_input_is_name(name));
    if (is_name_alone(name) && input.state == CPUBIND_INPUT_PRESENT)
        CHECK(cpubind_input_list_has(name) && input.len == 0);
    else if (cpubind_input_list_has(name))
        CHECK(answer(h, name, 0).state == input.state ||
              answer(h, name, 1).state == input.state);
    else
        CHECK(input.state != CPUBIND_INPUT_PRESENT && answer(h, name, 1).state == input.state);
    h->hash = mix(h->hash * 31, name);
    return ++h->n == h->stop_at ? h->n : 0;
}

static void check_walk(const char *text, int32_t len)
{
    any_host h = {text, len, (uint32_t)len, 0, 0, 0}, again;
    const cpubind_source source = {&h, read_any, list_any};
    CHECK(cpubind_input_list_each(&source, visit, &h) == 0);
    again = h;
    h.hash = 0;
    h.n = 0;
    CHECK(cpubind_input_list_each(&source, visit, &h) == 0);
    CHECK(h.hash == again.hash && h.n == again.n);
    if (h.n == 0)
        return;
    h.stop_at = 1 + len % h.n;
    h.n = 0;
    CHECK(cpubind_input_list_each(&source, visit, &h) == h.stop_at && h.n == h.stop_at);
}

static void check_text(const char *text, int32_t len, const char *name)
{
    CHECK(cpubind_input_list_has(name) == is_known_slowly(name));
    CHECK(cpubind_input_list_has(NULL) == 0);
    check_walk(text, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_named_input(data, size, check_text);
}
