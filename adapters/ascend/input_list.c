/* input_list.c - the list of known inputs, and a visit of those that a host has
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. It must not read an input to find out
 * whether it is known, and must not name the files of the driver that act when they are written
 * or that all readers share (hotreset_flag, davinci_dev_id). One list holds the known files and
 * the order of the visits.
 */
#include "input_list.h"

#include "../model/vendor.h"
#include "../text/cgroup.h"
#include "../text/cursor.h"
#include "../text/input_name.h"
#include "ascend_reader.h"

/* == The list =============================================================== */

/* When a file is visited. */
typedef enum rule {
    RULE_ALWAYS,
    RULE_DOCTOR,    /* never: doctor reads it, of what it looks at */
    RULE_BELOW,     /* with the name before it */
    RULE_ELSE,      /* when the file before it is absent */
    RULE_NO_ONLINE, /* when sys/devices/system/cpu/online does not list the CPU: it is absent,
                       the CPU is offline, or the file is a made one (lxcfs) */
    RULE_EMPTY,     /* a folder without entries, as an empty file */
    RULE_COMMAND,   /* when the source lists the commands that it has: each costs a live host
                       a run, and it lists none */
    RULE_MAILBOX,   /* the name, when proc/interrupts does not have it: that is absent */
    RULE_NPU,       /* of a PCI function of a vendor of NPUs, or whose vendor is not known */
    RULE_ROOT,      /* the same, or of no function: when this user may read what is root's */
    RULE_CLASS,     /* of a network card, a disk, a GPU, an accelerator or a PCI bridge */
    RULE_FUNCTION,  /* of a PCI function of either kind */
    RULE_NAMES, /* of a class, and no NPU: a device, of which the name and the number count */
    RULE_CARD,  /* of a class: the name of a card */
    RULE_INTERFACE /* of a class: the same of a network card, and the bond that it is in */
} rule;

/* Files whose names fit a pattern (cpubind_input_fits). */
typedef struct known {
    const char *name;
    rule rule;
    cpubind_input_secret secret;
} known;

#define INPUT_ONLINE "sys/devices/system/cpu/online"
#define INPUT_CMD    "cmd"
#define INPUT_SMI    INPUT_CMD "/npu-smi-info"
#define INPUT_CGROUP "proc/self/cgroup"
#define CGROUP_MOUNT "sys/fs/cgroup"
#define CPU          "sys/devices/system/cpu/"
#define NODE         "sys/devices/system/node/"
#define FUNCTION     "sys/bus/pci/devices/*"
#define BOND         "/master/uevent" /* of an interface */
#define PROCESS      "proc/#/"
#define THREAD       PROCESS "task/#/"
#define BOARD        INPUT_SMI "-t-board-i"

/* What follows each other in one folder of several is visited folder by folder. Old kernels
 * have cpumap instead of cpulist, and cpu<N>/online instead of cpu/online. */
static const known files[] = {
    {"proc/self/status", RULE_ALWAYS, CPUBIND_SECRET_STATUS},
    {INPUT_CGROUP, RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {"proc/interrupts", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {"proc/devices", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {"sys/class/kfd/kfd/dev", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {"proc/uda/namespace_node", RULE_ROOT, CPUBIND_SECRET_NONE},
    {"env", RULE_ALWAYS, CPUBIND_SECRET_ENV},
    {"uname", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {"date", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {"etc/os-release", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {"etc/cpubind.conf", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {"usr/local/Ascend/driver/version.info", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {"proc/sys/kernel/osrelease", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {INPUT_ONLINE, RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {CPU "possible", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {CPU "present", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {CPU "smt/active", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {CPU "smt/control", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {CPU "isolated", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {CPU "nohz_full", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {"sys/devices/cpu_core/cpus", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {"sys/devices/cpu_atom/cpus", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {"proc/sys/kernel/numa_balancing", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {NODE "online", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {NODE "possible", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {NODE "has_cpu", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {NODE "has_memory", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {CPU "cpu%/online", RULE_NO_ONLINE, CPUBIND_SECRET_NONE},
    {CPU "cpu%/topology/thread_siblings_list", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {CPU "cpu%/topology/physical_package_id", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {CPU "cpu%/cpu_capacity", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {CPU "cpu%/cache/index3/shared_cpu_list", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {CPU "cpu%/cache/index2/shared_cpu_list", RULE_ELSE, CPUBIND_SECRET_NONE},
    {CPU "cpu%/cpufreq/base_frequency", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {CPU "cpu%/cpufreq/scaling_governor", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {CPU "cpuidle/current_driver", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {CPU "cpu%/cpuidle/state%/name", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {CPU "cpu%/cpuidle/state%/latency", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {CPU "cpu%/cpuidle/state%/disable", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {NODE "node%/cpulist", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {NODE "node%/cpumap", RULE_ELSE, CPUBIND_SECRET_NONE},
    {NODE "node%/distance", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {FUNCTION "/vendor", RULE_FUNCTION, CPUBIND_SECRET_NONE},
    {FUNCTION "/device", RULE_FUNCTION, CPUBIND_SECRET_NONE},
    {FUNCTION "/numa_node", RULE_FUNCTION, CPUBIND_SECRET_NONE},
    {FUNCTION "/local_cpulist", RULE_FUNCTION, CPUBIND_SECRET_NONE},
    {FUNCTION "/physfn", RULE_FUNCTION, CPUBIND_SECRET_NONE},
    {FUNCTION "/dev_id", RULE_ROOT, CPUBIND_SECRET_NONE},
    {FUNCTION "/davinci_dev_num", RULE_ROOT, CPUBIND_SECRET_NONE},
    {FUNCTION "/devdrv_sysfs_bdf_to_devid", RULE_ROOT, CPUBIND_SECRET_NONE},
    {FUNCTION "/msi_irqs/*", RULE_NPU, CPUBIND_SECRET_NONE},
    {FUNCTION "/class", RULE_CLASS, CPUBIND_SECRET_NONE},
    {FUNCTION "/sriov_numvfs", RULE_CLASS, CPUBIND_SECRET_NONE},
    {FUNCTION "/secondary_bus_number", RULE_CLASS, CPUBIND_SECRET_NONE},
    {FUNCTION "/infiniband/*", RULE_CARD, CPUBIND_SECRET_NONE},
    {FUNCTION "/net/*", RULE_INTERFACE, CPUBIND_SECRET_NONE},
    {FUNCTION "/net/*" BOND, RULE_BELOW, CPUBIND_SECRET_NONE},
    {FUNCTION "/virtio%/net/*", RULE_INTERFACE, CPUBIND_SECRET_NONE},
    {FUNCTION "/virtio%/net/*" BOND, RULE_BELOW, CPUBIND_SECRET_NONE},
    {FUNCTION "/nvme/*", RULE_CARD, CPUBIND_SECRET_NONE},
    {"proc/driver/nvidia/gpus/*/information", RULE_ALWAYS, CPUBIND_SECRET_SERIALS},
    {"proc/driver/nvidia/gpus/*/numa_status", RULE_ALWAYS, CPUBIND_SECRET_SERIALS},
    {"proc/driver/nvidia/capabilities/gpu%/mig/*", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {"proc/trs_core/proc", RULE_EMPTY, CPUBIND_SECRET_NONE},
    {"proc/trs_core/proc/*/summary", RULE_ALWAYS, CPUBIND_SECRET_SUMMARY},
    {"sys/class/devdrv-class/davinci%/dev", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {"dev/davinci%", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {"proc/irq/#/trs-mbox-#-*", RULE_MAILBOX, CPUBIND_SECRET_NONE},
    {INPUT_SMI "-m.txt", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {INPUT_SMI ".txt", RULE_ALWAYS, CPUBIND_SECRET_TABLES},
    {INPUT_SMI "-t-topo.txt", RULE_ALWAYS, CPUBIND_SECRET_NONE},
    {BOARD "#.txt", RULE_COMMAND, CPUBIND_SECRET_SERIALS},
    {BOARD "#-c#.txt", RULE_COMMAND, CPUBIND_SECRET_SERIALS},
    {INPUT_LSCPU_E, RULE_COMMAND, CPUBIND_SECRET_NONE},
    {INPUT_LSCPU, RULE_COMMAND, CPUBIND_SECRET_NONE},
    {"proc/self/mountinfo", RULE_DOCTOR, CPUBIND_SECRET_MOUNTS},
    {"proc/self/fd", RULE_DOCTOR, CPUBIND_SECRET_ALL},
    {PROCESS "fd", RULE_DOCTOR, CPUBIND_SECRET_NONE},
    {PROCESS "comm", RULE_DOCTOR, CPUBIND_SECRET_COMM},
    {PROCESS "stat", RULE_DOCTOR, CPUBIND_SECRET_STAT},
    {PROCESS "status", RULE_DOCTOR, CPUBIND_SECRET_STATUS},
    {PROCESS "cmdline", RULE_DOCTOR, CPUBIND_SECRET_CMDLINE},
    {PROCESS "environ", RULE_DOCTOR, CPUBIND_SECRET_ENVIRON},
    {PROCESS "cgroup", RULE_DOCTOR, CPUBIND_SECRET_NONE},
    {PROCESS "numa_maps", RULE_DOCTOR, CPUBIND_SECRET_NONE},
    {PROCESS "schedstat", RULE_DOCTOR, CPUBIND_SECRET_NONE},
    {THREAD "comm", RULE_DOCTOR, CPUBIND_SECRET_COMM},
    {THREAD "stat", RULE_DOCTOR, CPUBIND_SECRET_STAT},
    {THREAD "status", RULE_DOCTOR, CPUBIND_SECRET_STATUS},
    {"run/cpubind/#.record", RULE_DOCTOR, CPUBIND_SECRET_RECORD},
    {"run/user/#/cpubind/#.record", RULE_DOCTOR, CPUBIND_SECRET_RECORD},
    {"proc/irq/#/smp_affinity_list", RULE_DOCTOR, CPUBIND_SECRET_NONE},
    {"proc/irq/#/effective_affinity_list", RULE_DOCTOR, CPUBIND_SECRET_NONE},
    {"sys/class/net/*/mtu", RULE_DOCTOR, CPUBIND_SECRET_NONE},
    {"sys/class/net/*/device/msi_irqs/#", RULE_DOCTOR, CPUBIND_SECRET_NONE},
};
enum { N_FILES = (int)(sizeof files / sizeof files[0]) };

/* The patterns of the device files of a vendor: those that a process may open, and the names by
 * which the bus tells them, and the file with the number of one. */
typedef struct vendor_files {
    char nodes[128], names[128], numbers[128];
} vendor_files;

static void write_pattern(char *out, const char *folder, const char *start, const char *end)
{
    *facts_write_text(facts_write_text(facts_write_text(out, folder), start), end) = '\0';
}

static vendor_files files_of(const cpubind_vendor_nodes *nodes, const cpubind_vendor_files *bus)
{
    vendor_files of = {"", "", ""};
    write_pattern(of.nodes, nodes->input, "/", nodes->start);
    write_pattern(of.nodes + strlen(of.nodes), *nodes->start ? "%" : "*", "", "");
    if (bus) {
        write_pattern(of.names, FUNCTION "/", bus->folder, "/*");
        write_pattern(of.numbers, of.names, "/dev", "");
    }
    return of;
}

/* The files of a cgroup that bound its CPUs and its memory nodes, by version 2 and by
 * version 1, which has a hierarchy for each controller. */
enum { CGROUP_LEAVES = 6 };
static const struct {
    const char *controller, *leaf[CGROUP_LEAVES];
} cgroups[] = {
    {"cpuset",
     {"cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus", "cpuset.mems.effective",
      "cpuset.effective_mems", "cpuset.mems"}},
    {"cpu", {"cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us"}},
};
enum { N_CGROUPS = (int)(sizeof cgroups / sizeof cgroups[0]) };

/* == Names ================================================================== */

static int is_same(const char *a, const char *b)
{
    const size_t n = strlen(a);
    return n == strlen(b) && memcmp(a, b, n) == 0;
}

/* The rest of a name after `start`; NULL when the name does not start so. */
static const char *rest_after(const char *name, const char *start)
{
    const size_t n = strlen(start);
    return strlen(name) >= n && memcmp(name, start, n) == 0 ? name + n : NULL;
}

static int fits(const char *name, const char *pattern)
{
    return cpubind_input_fits(name, pattern, (int32_t)strlen(pattern));
}

/* Whether a name is that of a file that bounds a cgroup. */
static int is_cgroup(const char *name)
{
    const char *rest = rest_after(name, CGROUP_MOUNT "/");
    const char *last = rest;
    if (!rest)
        return 0;
    for (const char *c = rest; *c; c++)
        if (*c == '/')
            last = c + 1;
    for (int i = 0; i < N_CGROUPS * CGROUP_LEAVES; i++) {
        const char *last_of = cgroups[i / CGROUP_LEAVES].leaf[i % CGROUP_LEAVES];
        if (last_of && is_same(last, last_of))
            return 1;
    }
    return 0;
}

/* Whether a name, to which `ctx` points, is that of a device file of a vendor. */
static int is_of_vendor(void *ctx, const cpubind_vendor_nodes *nodes,
                        const cpubind_vendor_files *bus)
{
    const char *name = *(const char *const *)ctx;
    const vendor_files of = files_of(nodes, bus);
    return fits(name, of.nodes) || fits(name, of.names) || fits(name, of.numbers);
}

/* The row of a known file; NULL: there is none. */
static const known *find(const char *name)
{
    for (int i = 0; i < N_FILES && cpubind_input_is_name(name); i++)
        if (fits(name, files[i].name))
            return &files[i];
    return NULL;
}

int cpubind_input_list_has(const char *name)
{
    return find(name) || (cpubind_input_is_name(name) &&
                          (is_cgroup(name) || cpubind_vendor_each_nodes(is_of_vendor, &name)));
}

int cpubind_doctor_input_has(const char *name)
{
    const known *row = find(name);
    return row && row->rule == RULE_DOCTOR;
}

cpubind_input_secret cpubind_input_secret_of(const char *name)
{
    const known *row = find(name);
    return row ? row->secret : CPUBIND_SECRET_NONE;
}

/* == Names of boards ========================================================= */

int32_t cpubind_input_board_name(char *out, int32_t card, int32_t chip)
{
    char *end = facts_write_number(facts_write_text(out, BOARD), card);
    if (chip >= 0)
        end = facts_write_number(facts_write_text(end, "-c"), chip);
    end = facts_write_text(end, ".txt");
    *end = '\0';
    return (int32_t)(end - out);
}

int cpubind_input_is_board(const char *name, cpubind_piece *card, cpubind_piece *chip)
{
    cursor_text of;
    cursor c;
    if (!fits(name, BOARD "#.txt") && !fits(name, BOARD "#-c#.txt"))
        return 0;
    c = cursor_open(&of, name, (int32_t)strlen(name), NULL, 1);
    (void)cursor_takes(&c, BOARD);
    *card = cursor_piece(cursor_span(&c, cursor_is_digit));
    *chip = cursor_takes(&c, "-c") ? cursor_piece(cursor_span(&c, cursor_is_digit))
                                   : (cpubind_piece){0, 0};
    return 1;
}

/* == The walk =============================================================== */

typedef struct walk {
    const cpubind_source *source;
    cpubind_input_visit *visit;
    void *ctx;
    int is_irqs_hidden;                    /* proc/interrupts is absent */
    int has_commands;                      /* the source lists them */
    int may_be_npu, is_of_class;           /* of the PCI function */
    cpubind_input online;                  /* sys/devices/system/cpu/online */
    cpubind_input_state last;              /* of the last file that was asked for */
    int32_t len;                           /* bytes of `name` */
    char name[CPUBIND_INPUT_NAME_MAX + 1]; /* ended by NUL */
} walk;

/* Appends bytes to the name; returns 0 when it would be too long, or end at a NUL of theirs. */
static int append(walk *w, const char *bytes, int32_t n)
{
    if (n > CPUBIND_INPUT_NAME_MAX - w->len || memchr(bytes, '\0', (size_t)n))
        return 0;
    memcpy(w->name + w->len, bytes, (size_t)n);
    w->len += n;
    w->name[w->len] = '\0';
    return 1;
}

static int append_text(walk *w, const char *text)
{
    return append(w, text, (int32_t)strlen(text));
}

static void cut(walk *w, int32_t len)
{
    w->len = len;
    w->name[len] = '\0';
}

static int visit_answer(walk *w, cpubind_input answer)
{
    w->last = answer.state;
    return answer.state == CPUBIND_INPUT_ABSENT ? 0 : w->visit(w->ctx, w->name, answer);
}

static int visit_file(walk *w)
{
    return visit_answer(w, w->source->read(w->source->ctx, w->name));
}

/* Visits a file that only root may read. */
static int visit_file_of_root(walk *w)
{
    enum { LINUX_EPERM = 1, LINUX_EACCES = 13 };
    const cpubind_input answer = w->source->read(w->source->ctx, w->name);
    if (answer.state == CPUBIND_INPUT_FAILED &&
        (answer.error == LINUX_EPERM || answer.error == LINUX_EACCES))
        return 0;
    return visit_answer(w, answer);
}

/* Lists folder w->name. A folder that cannot be listed is visited itself, and its list is
 * empty. */
static int list_folder(walk *w, cpubind_input *out)
{
    *out = w->source->list(w->source->ctx, w->name);
    if (out->state == CPUBIND_INPUT_PRESENT)
        return 0;
    out->len = 0;
    return visit_answer(w, *out);
}

/* Steps to the next name of a listing; returns 0 at its end. Blanks belong to a name. */
static int next_part(cpubind_input listing, int32_t *at, cpubind_piece *out)
{
    const char *feed;
    if (*at >= listing.len)
        return 0;
    feed = (const char *)memchr(listing.data + *at, '\n', (size_t)(listing.len - *at));
    out->at = *at;
    out->len = (feed ? (int32_t)(feed - listing.data) : listing.len) - *at;
    *at += out->len + 1;
    return 1;
}

/* Visits a name of a folder: a file below it, or else the name as an empty file. */
static int visit_name(walk *w, const char *below)
{
    const int32_t len = w->len;
    cpubind_input answer = {.state = CPUBIND_INPUT_ABSENT};
    if (append_text(w, below))
        answer = w->source->read(w->source->ctx, w->name);
    if (answer.state == CPUBIND_INPUT_PRESENT)
        return visit_answer(w, answer);
    cut(w, len);
    return visit_answer(w, (cpubind_input){.state = CPUBIND_INPUT_PRESENT});
}

/* Whether cpu/online lists the CPU whose folder w->name ends with. A list that cannot be read
 * counts as one of all CPUs. */
static int is_listed_online(const walk *w)
{
    static const char before[] = INPUT_CPUS "/cpu";
    const int32_t n = (int32_t)sizeof before - 1;
    cursor_text of;
    cursor list = cursor_open(&of, w->online.data, w->online.len, NULL, 1);
    int32_t cpu, value, first = -1;
    if (w->online.state != CPUBIND_INPUT_PRESENT)
        return w->online.state != CPUBIND_INPUT_ABSENT;
    if (!cursor_bytes_are_number(w->name + n, w->len - n, CPUBIND_MAX_CPUS - 1, &cpu))
        return 1;
    while (cursor_left(&list)) {
        if (!cursor_is_number(cursor_span(&list, cursor_is_digit), CPUBIND_MAX_CPUS - 1,
                              &value) ||
            value == cpu || (first >= 0 && first < cpu && cpu < value))
            return 1;
        first = cursor_takes(&list, "-") ? value : -1;
        if (first < 0 && !cursor_takes(&list, ","))
            break;
    }
    return 0;
}

static int is_wanted(const walk *w, rule when)
{
    switch (when) {
    case RULE_ALWAYS:
    case RULE_EMPTY:
        break;
    case RULE_ELSE:
        return w->last == CPUBIND_INPUT_ABSENT;
    case RULE_NO_ONLINE:
        return !is_listed_online(w);
    case RULE_DOCTOR:
    case RULE_BELOW:
        return 0;
    case RULE_COMMAND:
        return w->has_commands;
    case RULE_MAILBOX:
        return w->is_irqs_hidden;
    case RULE_NPU:
    case RULE_ROOT:
        return w->may_be_npu;
    case RULE_CLASS:
    case RULE_CARD:
    case RULE_INTERFACE:
        return w->is_of_class;
    case RULE_FUNCTION:
        return w->may_be_npu || w->is_of_class;
    case RULE_NAMES:
        return w->is_of_class && !w->may_be_npu;
    }
    return 1;
}

/* Visits file w->name. */
static int visit_by_rule(walk *w, rule when)
{
    cpubind_input listing;
    switch (when) {
    case RULE_NAMES:
        return visit_name(w, "/dev");
    case RULE_INTERFACE:
        return visit_name(w, BOND);
    case RULE_CARD:
    case RULE_MAILBOX: /* the name alone counts */
        return visit_answer(w, (cpubind_input){.state = CPUBIND_INPUT_PRESENT});
    case RULE_ROOT:
        return visit_file_of_root(w);
    case RULE_EMPTY:
        listing = w->source->list(w->source->ctx, w->name);
        return listing.state == CPUBIND_INPUT_PRESENT && listing.len == 0
                   ? visit_answer(w, listing)
                   : 0;
    default:
        return visit_file(w);
    }
}

/* Reads a number of PCI function w->name; FAILED where that makes no sense. */
static cpubind_input_state read_number(walk *w, const char *name, int32_t *out)
{
    const int32_t len = w->len;
    cpubind_input answer;
    if (!append_text(w, name))
        return CPUBIND_INPUT_ABSENT;
    answer = w->source->read(w->source->ctx, w->name);
    cut(w, len);
    if (answer.state == CPUBIND_INPUT_PRESENT &&
        cpubind_number_parse(answer.data, answer.len, out, NULL) != CPUBIND_TEXT_OK)
        return CPUBIND_INPUT_FAILED;
    return answer.state;
}

/* Whether PCI function w->name is known to be of a vendor without NPUs. */
static int is_other_vendor(walk *w)
{
    int32_t vendor;
    return read_number(w, "/vendor", &vendor) == CPUBIND_INPUT_PRESENT &&
           !cpubind_is_npu_vendor(vendor);
}

/* Whether PCI function w->name is of a class that counts: a network card, a disk, a GPU,
 * another accelerator or a bridge to another bus. A class that cannot be read may be one. */
static int is_of_class(walk *w)
{
    int32_t number;
    const cpubind_input_state state = read_number(w, "/class", &number);
    if (state != CPUBIND_INPUT_PRESENT)
        return state != CPUBIND_INPUT_ABSENT;
    return number >> 16 == CPUBIND_CLASS_NETWORK || number >> 16 == CPUBIND_CLASS_VGA >> 8 ||
           number >> 16 == CPUBIND_CLASS_ACCELERATOR >> 8 ||
           number >> 8 == CPUBIND_CLASS_BRIDGE || number >> 8 == CPUBIND_CLASS_NVME;
}

/* One past the part of a pattern, from `at` on, that stands for several names; 0: none does. */
static int32_t end_of_several(const char *pattern, int32_t at)
{
    while (pattern[at] && pattern[at] != '#' && pattern[at] != '%' && pattern[at] != '*')
        at++;
    if (!pattern[at])
        return 0;
    while (pattern[at] && pattern[at] != '/')
        at++;
    return at;
}

static int visit_rows(walk *w, const known *row, int32_t n, int32_t at);

/* Visits what fits n patterns, which are the same up to `end`, folder by folder; w->name fits
 * them up to `at`. */
static int visit_several(walk *w, const known *row, int32_t n, int32_t at, int32_t end)
{
    const int32_t start = w->len;
    const int is_function = at == 0 && end == (int32_t)strlen(FUNCTION) &&
                            memcmp(row->name, FUNCTION, (size_t)end) == 0;
    int32_t folder = end, len, at_part = 0;
    cpubind_input listing;
    cpubind_piece part;
    int result = 0;
    while (row->name[folder - 1] != '/')
        folder--;
    if (!append(w, row->name + at, folder - 1 - at))
        return 0;
    len = w->len;
    if (row->rule == RULE_NAMES && at == 0) { /* a listing that fails was visited before */
        listing = w->source->list(w->source->ctx, w->name);
        listing.len = listing.state == CPUBIND_INPUT_PRESENT ? listing.len : 0;
    } else {
        result = list_folder(w, &listing);
    }
    while (result == 0 && next_part(listing, &at_part, &part)) {
        cut(w, len);
        if (!append(w, "/", 1) || !append(w, listing.data + part.at, part.len) ||
            !cpubind_input_fits(w->name + start, row->name + at, end - at))
            continue;
        if (is_function) {
            w->may_be_npu = !is_other_vendor(w);
            w->is_of_class = is_of_class(w);
        }
        result = visit_rows(w, row, n, end);
    }
    w->may_be_npu |= is_function; /* what is of no function is wanted */
    return result;
}

/* Whether it can be told before a folder is listed whether what fits in it is wanted. */
static int is_of_no_function(rule when)
{
    return when == RULE_DOCTOR || when == RULE_MAILBOX;
}

/* Visits what fits n patterns, in their order; w->name fits them up to `at`. */
static int visit_rows(walk *w, const known *row, int32_t n, int32_t at)
{
    const int32_t len = w->len;
    int result = 0;
    for (int32_t i = 0, k; i < n && result == 0; i = k) {
        const int32_t end = end_of_several(row[i].name, at);
        k = i + 1;
        cut(w, len);
        if ((end == 0 || at > 0 || is_of_no_function(row[i].rule)) &&
            !is_wanted(w, row[i].rule))
            continue;
        while (end > 0 && k < n && (int32_t)strlen(row[k].name) >= end &&
               memcmp(row[k].name, row[i].name, (size_t)end) == 0)
            k++;
        if (end > 0)
            result = visit_several(w, &row[i], k - i, at, end);
        else if (append_text(w, row[i].name + at))
            result = visit_by_rule(w, row[i].rule);
    }
    return result;
}

/* Visits the device files of a vendor. */
static int visit_vendor(void *ctx, const cpubind_vendor_nodes *nodes,
                        const cpubind_vendor_files *bus)
{
    walk *w = (walk *)ctx;
    const vendor_files of = files_of(nodes, bus);
    const known row[] = {{of.names, RULE_NAMES, CPUBIND_SECRET_NONE},
                         {of.nodes, RULE_ALWAYS, CPUBIND_SECRET_NONE}};
    cut(w, 0);
    return visit_rows(w, row + !bus, 2 - !bus, 0);
}

/* Visits the files of the cgroup of the process that has a controller, and of all above it, up
 * to the mount. */
static int visit_cgroups(walk *w, int which, cpubind_input text, const cpubind_cgroup *found)
{
    const char *path = text.data + found->path.at;
    int32_t len = found->path.len;
    int result = 0;
    for (;; len = cpubind_cgroup_above(path, len)) {
        for (int i = 0; result == 0 && i < CGROUP_LEAVES && cgroups[which].leaf[i]; i++) {
            cut(w, 0);
            if (append_text(w, CGROUP_MOUNT) &&
                append_text(w, found->is_version_1 ? "/" : "") &&
                append_text(w, found->is_version_1 ? cgroups[which].controller : "") &&
                append(w, path, len) && append(w, "/", 1) &&
                append_text(w, cgroups[which].leaf[i]) && cpubind_input_is_name(w->name))
                result = visit_file(w);
        }
        if (len == 0 || result != 0)
            return result;
    }
}

static int visit_all_cgroups(walk *w, const char *cgroup)
{
    const cpubind_input text = w->source->read(w->source->ctx, cgroup);
    cpubind_cgroup found;
    int result = 0;
    for (int i = 0; i < N_CGROUPS && result == 0 && text.state == CPUBIND_INPUT_PRESENT; i++)
        if (cpubind_cgroup_find(text.data, text.len, cgroups[i].controller, &found) ==
            CPUBIND_TEXT_OK)
            result = visit_cgroups(w, i, text, &found);
    return result;
}

int cpubind_input_list_each(const cpubind_source *source, cpubind_input_visit *visit, void *ctx)
{
    walk w;
    int result;
    w.source = source;
    w.visit = visit;
    w.ctx = ctx;
    w.last = CPUBIND_INPUT_ABSENT;
    w.may_be_npu = 1;
    w.is_of_class = 0;
    cut(&w, 0);
    w.is_irqs_hidden =
        source->read(source->ctx, "proc/interrupts").state == CPUBIND_INPUT_ABSENT;
    w.has_commands = source->list(source->ctx, INPUT_CMD).state == CPUBIND_INPUT_PRESENT;
    w.online = source->read(source->ctx, INPUT_ONLINE);
    result = visit_rows(&w, files, N_FILES, 0);
    if (result == 0)
        result = cpubind_vendor_each_nodes(visit_vendor, &w);
    return result == 0 ? visit_all_cgroups(&w, INPUT_CGROUP) : result;
}

int cpubind_input_list_cgroups(const cpubind_source *source, const char *cgroup,
                               cpubind_input_visit *visit, void *ctx)
{
    walk w = {.source = source, .visit = visit, .ctx = ctx};
    return visit_all_cgroups(&w, cgroup);
}
