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
#include "doctor_inputs.h"
#include "driver_files.h"

/* == The list =============================================================== */

/* When a file is visited. */
typedef enum rule {
    RULE_ALWAYS,
    RULE_ELSE,      /* when the file before it is absent */
    RULE_NO_ONLINE, /* when sys/devices/system/cpu/online does not list the CPU: it is absent,
                       the CPU is offline, or the file is a made one (lxcfs) */
    RULE_EMPTY,     /* a folder without entries, as an empty file */
    RULE_IRQ,       /* an interrupt of such a PCI function as RULE_ROOT, and its mailboxes where
                       proc/interrupts is not */
    RULE_ROOT,      /* of no PCI function, or of one of a vendor of NPUs or whose vendor is not
                       known: when this user may read what is root's */
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
} known;

#define INPUT_ONLINE "sys/devices/system/cpu/online"
#define INPUT_CMD    "cmd"
#define INPUT_IRQ    "proc/irq"
#define INPUT_CGROUP "proc/self/cgroup"
#define CGROUP_MOUNT "sys/fs/cgroup"
#define CPU          "sys/devices/system/cpu/"
#define NODE         "sys/devices/system/node/"
#define FUNCTION     "sys/bus/pci/devices/*"
#define BOND         "/master/uevent" /* of an interface */

/* What follows each other in one folder of several is visited folder by folder. Old kernels
 * have cpumap instead of cpulist, and cpu<N>/online instead of cpu/online. */
static const known files[] = {
    {"proc/self/status", RULE_ALWAYS},
    {INPUT_CGROUP, RULE_ALWAYS},
    {"proc/interrupts", RULE_ALWAYS},
    {"proc/devices", RULE_ALWAYS},
    {"sys/class/kfd/kfd/dev", RULE_ALWAYS},
    {"proc/uda/namespace_node", RULE_ROOT},
    {"env", RULE_ALWAYS},
    {"uname", RULE_ALWAYS},
    {"date", RULE_ALWAYS},
    {"etc/os-release", RULE_ALWAYS},
    {"etc/cpubind.conf", RULE_ALWAYS},
    {"usr/local/Ascend/driver/version.info", RULE_ALWAYS},
    {"proc/sys/kernel/osrelease", RULE_ALWAYS},
    {INPUT_ONLINE, RULE_ALWAYS},
    {CPU "possible", RULE_ALWAYS},
    {CPU "present", RULE_ALWAYS},
    {CPU "smt/active", RULE_ALWAYS},
    {CPU "smt/control", RULE_ALWAYS},
    {CPU "isolated", RULE_ALWAYS},
    {CPU "nohz_full", RULE_ALWAYS},
    {"sys/devices/cpu_core/cpus", RULE_ALWAYS},
    {"sys/devices/cpu_atom/cpus", RULE_ALWAYS},
    {"proc/sys/kernel/numa_balancing", RULE_ALWAYS},
    {NODE "online", RULE_ALWAYS},
    {NODE "possible", RULE_ALWAYS},
    {NODE "has_cpu", RULE_ALWAYS},
    {NODE "has_memory", RULE_ALWAYS},
    {CPU "cpu%/online", RULE_NO_ONLINE},
    {CPU "cpu%/topology/thread_siblings_list", RULE_ALWAYS},
    {CPU "cpu%/topology/physical_package_id", RULE_ALWAYS},
    {CPU "cpu%/cpu_capacity", RULE_ALWAYS},
    {CPU "cpu%/cache/index3/shared_cpu_list", RULE_ALWAYS},
    {CPU "cpu%/cache/index2/shared_cpu_list", RULE_ELSE},
    {CPU "cpu%/cpufreq/base_frequency", RULE_ALWAYS},
    {CPU "cpu%/cpufreq/scaling_governor", RULE_ALWAYS},
    {CPU "cpuidle/current_driver", RULE_ALWAYS},
    {CPU "cpu%/cpuidle/state%/name", RULE_ALWAYS},
    {CPU "cpu%/cpuidle/state%/latency", RULE_ALWAYS},
    {CPU "cpu%/cpuidle/state%/disable", RULE_ALWAYS},
    {NODE "node%/cpulist", RULE_ALWAYS},
    {NODE "node%/cpumap", RULE_ELSE},
    {NODE "node%/distance", RULE_ALWAYS},
    {FUNCTION "/vendor", RULE_FUNCTION},
    {FUNCTION "/device", RULE_FUNCTION},
    {FUNCTION "/numa_node", RULE_FUNCTION},
    {FUNCTION "/local_cpulist", RULE_FUNCTION},
    {FUNCTION "/physfn", RULE_FUNCTION},
    {FUNCTION "/dev_id", RULE_ROOT},
    {FUNCTION "/davinci_dev_num", RULE_ROOT},
    {FUNCTION "/devdrv_sysfs_bdf_to_devid", RULE_ROOT},
    {FUNCTION "/msi_irqs/*", RULE_IRQ},
    {FUNCTION "/class", RULE_CLASS},
    {FUNCTION "/sriov_numvfs", RULE_CLASS},
    {FUNCTION "/secondary_bus_number", RULE_CLASS},
    {FUNCTION "/infiniband/*", RULE_CARD},
    {FUNCTION "/net/*", RULE_INTERFACE},
    {FUNCTION "/nvme/*", RULE_CARD},
    {"proc/driver/nvidia/gpus/*/information", RULE_ALWAYS},
    {"proc/driver/nvidia/gpus/*/numa_status", RULE_ALWAYS},
    {"proc/driver/nvidia/capabilities/gpu%/mig/*", RULE_ALWAYS},
    {"proc/trs_core/proc", RULE_EMPTY},
    {"proc/trs_core/proc/*/summary", RULE_ALWAYS},
    {"sys/class/devdrv-class/davinci%/dev", RULE_ALWAYS},
    {"dev/davinci%", RULE_ALWAYS},
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

static const char *const commands[] = {
#define CPUBIND_X(name, ...) name,
    CPUBIND_COMMAND_LIST(CPUBIND_X)
#undef CPUBIND_X
};

/* The commands that are asked for when the source cannot list them; each costs a run. */
static const char *const asked_commands[] = {
    "cmd/npu-smi-info-m.txt",
    "cmd/npu-smi-info.txt",
    "cmd/npu-smi-info-t-topo.txt",
};

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

static int is_command(const char *name)
{
    cpubind_piece card, chip;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (is_same(name, commands[i]))
            return 1;
    return cpubind_input_is_board(name, &card, &chip);
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

/* Whether a name is that of a mailbox in the folder of an interrupt. */
static int is_mailbox(const char *name)
{
    const char *number = rest_after(name, INPUT_IRQ "/");
    const char *slash = number ? (const char *)memchr(number, '/', strlen(number)) : NULL;
    int32_t value;
    return slash && !memchr(slash + 1, '/', strlen(slash + 1)) &&
           cursor_bytes_are_number(number, (int32_t)(slash - number), INT32_MAX, &value) &&
           cpubind_driver_parse_mailbox(slash + 1, (int32_t)strlen(slash + 1), &value, NULL) ==
               CPUBIND_TEXT_OK;
}

/* Whether a name, to which `ctx` points, is that of a device file of a vendor. */
static int is_of_vendor(void *ctx, const cpubind_vendor_nodes *nodes,
                        const cpubind_vendor_files *bus)
{
    const char *name = *(const char *const *)ctx;
    const vendor_files of = files_of(nodes, bus);
    return fits(name, of.nodes) || fits(name, of.names) || fits(name, of.numbers);
}

int cpubind_input_list_has(const char *name)
{
    if (!cpubind_input_is_name(name))
        return 0;
    if (is_cgroup(name) || is_mailbox(name) || cpubind_doctor_input_has(name) ||
        fits(name, FUNCTION "/net/*" BOND))
        return 1;
    for (int i = 0; i < N_FILES; i++)
        if (fits(name, files[i].name))
            return 1;
    return cpubind_vendor_each_nodes(is_of_vendor, &name) || is_command(name);
}

/* == Names of boards ========================================================= */

static const char board_start[] = "cmd/npu-smi-info-t-board-i";
static const char board_chip[] = "-c";
static const char board_end[] = ".txt";

int32_t cpubind_input_board_name(char *out, int32_t card, int32_t chip)
{
    char *end = facts_write_number(facts_write_text(out, board_start), card);
    if (chip >= 0)
        end = facts_write_number(facts_write_text(end, board_chip), chip);
    end = facts_write_text(end, board_end);
    *end = '\0';
    return (int32_t)(end - out);
}

/* The digits of a number. */
static cpubind_piece read_digits(cursor *c)
{
    cursor digits = *c;
    (void)cursor_number(c, INT32_MAX);
    digits.end = c->at;
    return cursor_piece(digits);
}

int cpubind_input_is_board(const char *name, cpubind_piece *card, cpubind_piece *chip)
{
    cpubind_piece read_card, read_chip = {0, 0};
    cursor_text of;
    cursor c = cursor_open(&of, name, cpubind_input_is_name(name) ? (int32_t)strlen(name) : 0,
                           NULL, 1);
    if (!cursor_takes(&c, board_start))
        return 0;
    read_card = read_digits(&c);
    if (cursor_takes(&c, board_chip))
        read_chip = read_digits(&c);
    if (!cursor_takes(&c, board_end) || c.at != c.end)
        return 0;
    *card = read_card;
    *chip = read_chip;
    return 1;
}

/* == The walk =============================================================== */

typedef struct walk {
    const cpubind_source *source;
    cpubind_input_visit *visit;
    void *ctx;
    int is_irqs_hidden;                    /* proc/interrupts is absent */
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

/* Visits the mailboxes in the folder of an interrupt, as empty files, where proc/interrupts
 * does not name them.
 *   in      irq: the folder's name, a part of the listing of msi_irqs: no slash, no ".." */
static int visit_mailboxes(const walk *outer, const char *irq, int32_t n)
{
    walk copy = *outer;
    walk *w = &copy;
    cpubind_input listing, empty;
    cpubind_piece part;
    int32_t at = 0, len;
    int result;
    cut(w, 0);
    if (!append_text(w, INPUT_IRQ "/") || !append(w, irq, n))
        return 0;
    len = w->len;
    result = list_folder(w, &listing);
    memset(&empty, 0, sizeof empty);
    empty.state = CPUBIND_INPUT_PRESENT;
    while (result == 0 && next_part(listing, &at, &part)) {
        cut(w, len);
        if (append(w, "/", 1) && append(w, listing.data + part.at, part.len) &&
            is_mailbox(w->name))
            result = visit_answer(w, empty);
    }
    return result;
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
    case RULE_IRQ:
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
    int32_t slash = w->len;
    int result;
    if (when == RULE_NAMES || when == RULE_INTERFACE)
        return visit_name(w, when == RULE_NAMES ? "/dev" : BOND);
    if (when == RULE_CARD) /* the name alone counts */
        return visit_answer(w, (cpubind_input){.state = CPUBIND_INPUT_PRESENT});
    if (when == RULE_ROOT)
        return visit_file_of_root(w);
    if (when == RULE_EMPTY) {
        listing = w->source->list(w->source->ctx, w->name);
        return listing.state == CPUBIND_INPUT_PRESENT && listing.len == 0
                   ? visit_answer(w, listing)
                   : 0;
    }
    result = visit_file(w);
    if (result != 0 || when != RULE_IRQ || !w->is_irqs_hidden)
        return result;
    while (w->name[slash - 1] != '/')
        slash--;
    return visit_mailboxes(w, w->name + slash, w->len - slash);
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
    return number >> 16 == 0x02 || number >> 16 == 0x03 || number >> 16 == 0x12 ||
           number >> 8 == 0x0604 || number >> 8 == 0x0108;
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

/* Visits what fits n patterns, in their order; w->name fits them up to `at`. */
static int visit_rows(walk *w, const known *row, int32_t n, int32_t at)
{
    const int32_t len = w->len;
    int result = 0;
    for (int32_t i = 0, k; i < n && result == 0; i = k) {
        const int32_t end = end_of_several(row[i].name, at);
        k = i + 1;
        cut(w, len);
        if ((end == 0 || at > 0) && !is_wanted(w, row[i].rule))
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
    const known row[] = {{of.names, RULE_NAMES}, {of.nodes, RULE_ALWAYS}};
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

static int visit_listed_commands(walk *w, cpubind_input listing)
{
    cpubind_piece part;
    int32_t at = 0;
    int result = 0;
    while (result == 0 && next_part(listing, &at, &part)) {
        cut(w, (int32_t)strlen(INPUT_CMD));
        if (append(w, "/", 1) && append(w, listing.data + part.at, part.len) &&
            is_command(w->name))
            result = visit_file(w);
    }
    return result;
}

static int visit_commands(walk *w)
{
    cpubind_input listing;
    int result;
    cut(w, 0);
    (void)append_text(w, INPUT_CMD);
    result = list_folder(w, &listing);
    if (listing.state != CPUBIND_INPUT_ABSENT)
        return result == 0 ? visit_listed_commands(w, listing) : result;
    for (size_t i = 0; result == 0 && i < sizeof asked_commands / sizeof asked_commands[0];
         i++) {
        cut(w, 0);
        (void)append_text(w, asked_commands[i]);
        result = visit_file(w);
    }
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
    w.online = source->read(source->ctx, INPUT_ONLINE);
    result = visit_rows(&w, files, N_FILES, 0);
    if (result == 0)
        result = cpubind_vendor_each_nodes(visit_vendor, &w);
    if (result == 0)
        result = visit_all_cgroups(&w, INPUT_CGROUP);
    return result == 0 ? visit_commands(&w) : result;
}

int cpubind_input_list_cgroups(const cpubind_source *source, const char *cgroup,
                               cpubind_input_visit *visit, void *ctx)
{
    walk w = {.source = source, .visit = visit, .ctx = ctx};
    return visit_all_cgroups(&w, cgroup);
}
