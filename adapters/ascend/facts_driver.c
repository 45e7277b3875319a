/* facts_driver.c - the NPUs of a host by the files of its driver, without npu-smi
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. Reading these files claims no device
 * and needs no right. The facts about them are those of the driver's source; the grammars are
 * in driver_files.c. It must not guess: what is missing is a gap, what disagrees is a
 * contradiction, and the caller then asks npu-smi.
 *
 *   phy ids    the name of a mailbox interrupt, "trs-mbox-<phy>-<scheduler>", is the device's;
 *              its number is in msi_irqs of the device's PCI function. One device a function,
 *              or two on a 300I Duo. Container runtimes hide /proc/interrupts; the kernel shows
 *              the same names as folders of /proc/irq/<number>. The driver's own files of a
 *              function (dev_id, davinci_dev_num, devdrv_sysfs_bdf_to_devid) are not asked:
 *              root alone may read them, so that a plan would depend on who makes it.
 *   logic ids  the driver numbers the devices that a process may open, by ascending udevid.
 *              The udevid is the minor number of a device node; the number in its name may be
 *              another one. For root, the own table of namespace_node says the same once more.
 *   running    an entry of trs_core/proc is a process that uses a device. Its pid is one of the
 *              host, so that a container cannot check whether the process is still there.
 */
#include "driver_files.h"
#include "driver_reader.h"

#define INPUT_DEV        "dev"
#define INPUT_CLASS      "sys/class/devdrv-class"
#define INPUT_NAMESPACES "proc/uda/namespace_node"
#define INPUT_PROCESSES  "proc/trs_core/proc"

cpubind_problem_code cpubind_priv_stop(facts_reader *r, driver_outcome outcome,
                                       const char *input, const char *what)
{
    r->ascend->outcome = outcome;
    r->problem->input = input;
    return facts_fail(r, CPUBIND_PROBLEM_UNREADABLE, what);
}

static cpubind_problem_code stop_gap(facts_reader *r, const char *input, const char *what)
{
    return cpubind_priv_stop(r, DRIVER_GAP, input, what);
}

static cpubind_problem_code stop_contradiction(facts_reader *r, const char *input,
                                               const char *what)
{
    return cpubind_priv_stop(r, DRIVER_CONTRADICTION, input, what);
}

/* Error numbers of Linux, the same on every architecture. */
enum { LINUX_EPERM = 1, LINUX_EACCES = 13 };

/* Asks for a file that only root may read: a refusal counts as absent. */
static cpubind_problem_code ask_as_any_user(facts_reader *r, const char *name,
                                            cpubind_input *out)
{
    if (!name)
        return facts_fail_memory(r);
    *out = r->source->read(r->source->ctx, name);
    if (out->state == CPUBIND_INPUT_FAILED &&
        (out->error == LINUX_EPERM || out->error == LINUX_EACCES))
        out->state = CPUBIND_INPUT_ABSENT;
    return facts_judge(r, name, *out);
}

/* The devices that a function has by its mailboxes. */
static int32_t count_phys(const cpubind_host_device *function)
{
    int32_t n = 0;
    while (n < CPUBIND_FUNCTION_DEVICES && function->phys[n] >= 0)
        n++;
    return n;
}

/* The row of the function of a device by the mailboxes, or -1. */
static int32_t function_of(const cpubind_facts *f, int32_t phy)
{
    for (int32_t i = 0; i < f->n_census; i++)
        if (facts_has_phy(facts_npu(f, i), phy))
            return f->counted[i];
    return -1;
}

/* == Phy ids ================================================================ */

/* Gives a device to the function of a row. A device has a mailbox for each scheduler. */
static cpubind_problem_code add_device(facts_reader *r, int32_t function, int32_t phy)
{
    int32_t *phys = r->facts->bus[function].phys;
    const int32_t known = function_of(r->facts, phy);
    int32_t i = count_phys(&r->facts->bus[function]);
    if (known == function)
        return CPUBIND_PROBLEM_NONE;
    if (known >= 0)
        return stop_contradiction(r, INPUT_INTERRUPTS,
                                  "two PCI functions have a mailbox of the same NPU");
    if (i == CPUBIND_FUNCTION_DEVICES)
        return stop_contradiction(r, INPUT_INTERRUPTS,
                                  "a PCI function has mailboxes of more NPUs than it can have");
    for (; i > 0 && phys[i - 1] > phy; i--)
        phys[i] = phys[i - 1];
    phys[i] = phy;
    return CPUBIND_PROBLEM_NONE;
}

/* Gives the device whose mailbox a name of an interrupt is to the function of a row, or -1. */
static cpubind_problem_code take_name(facts_reader *r, const char *input, int32_t function,
                                      const char *name, int32_t len)
{
    int32_t phy;
    if (cpubind_driver_parse_mailbox(name, len, &phy, NULL) != CPUBIND_TEXT_OK)
        return CPUBIND_PROBLEM_NONE;
    if (phy >= CPUBIND_DRIVER_VIRTUAL)
        return stop_gap(r, input, "a mailbox belongs to a virtual NPU");
    if (function < 0)
        return stop_gap(r, input,
                        "a mailbox belongs to no PCI function with an NPU of this product");
    return add_device(r, function, phy);
}

/* Reads the numbers of the interrupts of a function. */
static cpubind_problem_code read_irqs(facts_reader *r, const cpubind_host_device *function,
                                      const char **input, int32_t **msi, int32_t *n)
{
    cpubind_input listing;
    cpubind_problem_code code;
    *input = facts_function_path(r, &function->pci, "msi_irqs");
    if (!*input)
        return facts_fail_memory(r);
    listing = r->source->list(r->source->ctx, *input);
    code = facts_judge(r, *input, listing);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    if (!facts_is_present(listing))
        return stop_gap(r, *input, "the kernel lists no interrupts of an NPU's PCI function");
    return cpubind_priv_read_msi(r, listing, msi, n);
}

/* Finds the row of the function of each interrupt: function[i], -1: it is of none. */
static cpubind_problem_code join_irqs(facts_reader *r, const cpubind_interrupt_list *list,
                                      int32_t *function)
{
    for (int32_t i = 0; i < list->n; i++)
        function[i] = -1;
    for (int32_t i = 0; i < r->facts->n_census; i++) {
        const char *input;
        int32_t *msi, n, at = 0;
        const cpubind_problem_code code =
            read_irqs(r, facts_npu(r->facts, i), &input, &msi, &n);
        if (code != CPUBIND_PROBLEM_NONE)
            return code;
        for (int32_t k = 0; k < list->n; k++) {
            if (!cpubind_list_has(msi, n, list->irq[k].irq, &at))
                continue;
            if (function[k] >= 0)
                return stop_contradiction(r, input,
                                          "two PCI functions have the same interrupt");
            function[k] = r->facts->counted[i];
        }
    }
    return CPUBIND_PROBLEM_NONE;
}

/* Finds the devices of all functions by the names of their interrupts. */
static cpubind_problem_code read_names(facts_reader *r, cpubind_input answer)
{
    cpubind_interrupt_list list;
    int32_t *function;
    cpubind_problem_code code = cpubind_priv_read_interrupts(r, answer, &list);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    function = cpubind_arena_ints(r->arena, list.n);
    if (!function)
        return facts_fail_memory(r);
    code = join_irqs(r, &list, function);
    for (int32_t i = 0; i < list.n; i++) {
        cpubind_piece name;
        int32_t at = 0;
        while (code == CPUBIND_PROBLEM_NONE &&
               cpubind_interrupts_next_name(answer.data, list.irq[i].names, &at, &name))
            code = take_name(r, INPUT_INTERRUPTS, function[i], answer.data + name.at, name.len);
    }
    return code;
}

/* Adds the devices whose mailboxes the kernel lists in the folder of one interrupt. */
static cpubind_problem_code read_folder(facts_reader *r, int32_t function, int32_t irq,
                                        int *is_there)
{
    const char *name = facts_numbered_path(r, "proc", "irq/", irq, "");
    cpubind_problem_code code;
    cpubind_input listing;
    cpubind_piece part;
    int32_t at = 0;
    if (!name)
        return facts_fail_memory(r);
    listing = r->source->list(r->source->ctx, name);
    code = facts_judge(r, name, listing);
    *is_there |= facts_is_present(listing);
    while (code == CPUBIND_PROBLEM_NONE && facts_next_name(listing, &at, &part))
        code = take_name(r, name, function, listing.data + part.at, part.len);
    return code;
}

/* Finds the devices of all functions where /proc/interrupts is hidden, by the folders of their
 * interrupts. The first interrupt is a mailbox, so that one folder is enough where a function
 * has one device. */
static cpubind_problem_code read_folders(facts_reader *r)
{
    const cpubind_facts *f = r->facts;
    const int32_t wanted =
        cpubind_product_of(f->type)->has_pairs ? CPUBIND_FUNCTION_DEVICES : 1;
    int is_there = 0;
    for (int32_t i = 0; i < f->n_census; i++) {
        const char *input;
        int32_t *msi, n = 0;
        cpubind_problem_code code = read_irqs(r, facts_npu(f, i), &input, &msi, &n);
        for (int32_t k = 0;
             code == CPUBIND_PROBLEM_NONE && k < n && count_phys(facts_npu(f, i)) < wanted; k++)
            code = read_folder(r, f->counted[i], msi[k], &is_there);
        if (code != CPUBIND_PROBLEM_NONE)
            return code;
        if (!is_there)
            return stop_gap(r, INPUT_INTERRUPTS, "it is not there");
    }
    return CPUBIND_PROBLEM_NONE;
}

/* Every function must have a device, and as many as the others; their number is known then. */
static cpubind_problem_code count_all(facts_reader *r)
{
    const cpubind_facts *f = r->facts;
    for (int32_t i = 0; i < f->n_census; i++) {
        const int32_t n = count_phys(facts_npu(f, i));
        if (n == 0)
            return stop_gap(r, INPUT_INTERRUPTS, "an NPU's PCI function has no mailbox");
        if (n != count_phys(facts_npu(f, 0)))
            return stop_gap(r, INPUT_INTERRUPTS,
                            "some PCI functions have mailboxes of more NPUs than others");
    }
    for (int32_t i = 0; i < f->n_census; i++)
        facts_npu(f, i)->n_device = count_phys(facts_npu(f, i));
    return CPUBIND_PROBLEM_NONE;
}

static void forget_phys(const cpubind_facts *f)
{
    for (int32_t i = 0; i < f->n_census; i++)
        for (int32_t k = 0; k < CPUBIND_FUNCTION_DEVICES; k++)
            facts_npu(f, i)->phys[k] = -1;
}

cpubind_problem_code cpubind_priv_read_mailboxes(facts_reader *r)
{
    cpubind_input answer;
    cpubind_problem_code code;
    forget_phys(r->facts);
    if (r->facts->n_census == 0)
        return stop_gap(r, INPUT_PCI, "it lists no NPU");
    code = facts_ask(r, INPUT_INTERRUPTS, &answer);
    if (code == CPUBIND_PROBLEM_NONE)
        code = facts_is_present(answer) ? read_names(r, answer) : read_folders(r);
    if (code == CPUBIND_PROBLEM_NONE)
        code = count_all(r);
    if (code != CPUBIND_PROBLEM_NONE) /* not known to be right */
        forget_phys(r->facts);
    return code;
}

/* == Logic ids ============================================================== */

/* Adds an NPU in view, by its logic id. */
static cpubind_problem_code add_npu(facts_reader *r, const char *input, int32_t logic,
                                    int32_t udevid)
{
    cpubind_facts *f = r->facts;
    cpubind_host_device npu = cpubind_priv_new_npu(logic, -1, -1, udevid);
    if (udevid >= CPUBIND_DRIVER_VIRTUAL)
        return stop_gap(r, input, "it is a virtual NPU");
    npu.function = function_of(f, udevid);
    if (npu.function < 0)
        return stop_contradiction(r, input, "no mailbox is of this NPU");
    npu.pci = f->bus[npu.function].pci;
    (void)cpubind_priv_insert_npu(f->device, &f->n_device, &npu);
    return CPUBIND_PROBLEM_NONE;
}

/* Reads the number of a device node. */
static cpubind_problem_code read_node(facts_reader *r, const char *name,
                                      cpubind_driver_number *out)
{
    cpubind_text_fault fault;
    cpubind_input answer;
    cpubind_problem_code code = facts_ask(r, name, &answer);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    if (!facts_is_present(answer))
        return facts_fail_input(r, name, answer, -1, "it is listed and not there");
    code = facts_judge_text(r, name, answer,
                            cpubind_driver_parse_number(answer.data, answer.len, out, &fault),
                            &fault);
    return code == CPUBIND_PROBLEM_NONE ? facts_check_end(r, name, answer) : code;
}

/* Inserts a number into an ascending list that has room; a number that is there is left out. */
static void insert_number(int32_t *list, int32_t *n, int32_t number)
{
    int32_t at = *n;
    while (at > 0 && list[at - 1] >= number)
        at--;
    if (at < *n && list[at] == number)
        return;
    for (int32_t i = *n; i > at; i--)
        list[i] = list[i - 1];
    list[at] = number;
    ++*n;
}

/* Whether a name is "davinci" and a number: the name of an NPU's device node. */
static int is_node_name(cpubind_input listing, cpubind_piece name)
{
    static const char word[] = "davinci";
    const int32_t n = (int32_t)sizeof word - 1;
    int32_t number;
    return name.len > n && memcmp(listing.data + name.at, word, (size_t)n) == 0 &&
           cursor_bytes_are_number(listing.data + name.at + n, name.len - n, INT32_MAX,
                                   &number);
}

int cpubind_priv_lists_no_node(const facts_reader *r)
{
    const cpubind_input listing = r->source->list(r->source->ctx, INPUT_DEV);
    cpubind_piece name;
    int32_t at = 0;
    while (facts_next_name(listing, &at, &name))
        if (is_node_name(listing, name))
            return 0;
    return 1;
}

/* Reads the udevids of the device nodes that this process may open, ascending. Two names may
 * lead to one device; *is_there is 0 without such a folder, or such a node in it. */
static cpubind_problem_code read_nodes(facts_reader *r, int32_t **out, int32_t *n,
                                       int *is_there)
{
    const cpubind_input listing = r->source->list(r->source->ctx, INPUT_DEV);
    cpubind_problem_code code = facts_judge(r, INPUT_DEV, listing);
    cpubind_driver_number number = {-1, -1};
    cpubind_piece name;
    const int32_t cap = facts_count_names(listing);
    int32_t at = 0, major = -1;
    *is_there = facts_is_present(listing);
    *n = 0;
    *out = cpubind_arena_ints(r->arena, cap);
    if (!*out)
        return facts_fail_memory(r);
    while (code == CPUBIND_PROBLEM_NONE && facts_next_name(listing, &at, &name)) {
        const char *path;
        if (!is_node_name(listing, name))
            continue;
        path = facts_path(r, INPUT_DEV, listing.data, name, "");
        if (!path)
            return facts_fail_memory(r);
        code = read_node(r, path, &number);
        if (code != CPUBIND_PROBLEM_NONE)
            return code;
        if (major >= 0 && number.major != major)
            return stop_contradiction(r, path, "it is of another driver than other nodes");
        major = number.major;
        insert_number(*out, n, number.minor);
    }
    if (cap > 0 && *n == 0)
        *is_there = 0; /* a capture has the nodes of other accelerators in folders below it */
    return code;
}

/* Reads the own table of namespace_node; *is_there is 0 when this process may not read it, or
 * its namespace has not used the driver yet. */
static cpubind_problem_code read_own_table(facts_reader *r, cpubind_driver_logics *out,
                                           int *is_there)
{
    cpubind_text_fault fault;
    cpubind_input answer;
    cpubind_text_status status;
    cpubind_problem_code code = ask_as_any_user(r, INPUT_NAMESPACES, &answer);
    memset(out, 0, sizeof *out);
    *is_there = 0;
    if (code != CPUBIND_PROBLEM_NONE || !facts_is_present(answer))
        return code;
    status = cpubind_driver_parse_namespaces(answer.data, answer.len, r->arena, out, &fault);
    if (status == CPUBIND_TEXT_ERR_MISSING)
        return CPUBIND_PROBLEM_NONE;
    code = facts_judge_text(r, INPUT_NAMESPACES, answer, status, &fault);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    facts_note_unknown(r, INPUT_NAMESPACES, answer, out->unknown);
    *is_there = 1;
    return CPUBIND_PROBLEM_NONE;
}

/* Whether the table numbers the devices as their nodes do. */
static int is_same(const cpubind_driver_logics *table, const int32_t *node, int32_t n_node)
{
    if (table->n != n_node)
        return 0;
    for (int32_t i = 0; i < table->n; i++)
        if (table->row[i].logic >= n_node || node[table->row[i].logic] != table->row[i].udevid)
            return 0;
    return 1;
}

/* Takes the logic ids of the own table, or of the device nodes. No process has more NPUs in
 * view than have mailboxes. */
static cpubind_problem_code read_logics(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    cpubind_driver_logics table;
    int32_t *node, n_node, n;
    int has_nodes, has_table;
    cpubind_problem_code code = read_nodes(r, &node, &n_node, &has_nodes);
    if (code == CPUBIND_PROBLEM_NONE)
        code = read_own_table(r, &table, &has_table);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    if (!has_nodes && !has_table)
        return stop_gap(r, INPUT_DEV, "it is not there, nor does the driver list logic ids");
    if (has_nodes && has_table && !is_same(&table, node, n_node))
        return stop_contradiction(r, INPUT_NAMESPACES,
                                  "it lists other NPUs than this process may open");
    n = has_nodes ? n_node : table.n;
    if (n == 0)
        return stop_gap(r, INPUT_DEV, "this process may open no NPU");
    f->device = cpubind_priv_take_npus(r, facts_count_on_bus(f));
    if (!f->device)
        return facts_fail_memory(r);
    for (int32_t i = 0; i < n && code == CPUBIND_PROBLEM_NONE; i++) {
        const int32_t udevid = has_nodes ? node[i] : table.row[i].udevid;
        const int32_t logic = has_nodes ? i : table.row[i].logic;
        code = add_npu(r, has_nodes ? INPUT_DEV : INPUT_NAMESPACES, logic, udevid);
    }
    return code;
}

/* Whether the logic ids of the NPUs in view are 0 .. n - 1. */
static int are_ranks(const cpubind_facts *f)
{
    for (int32_t i = 0; i < f->n_device; i++)
        if (f->device[i]->logic != i)
            return 0;
    return 1;
}

/* The driver numbers the devices that a process may open by ascending udevid, so that the
 * device nodes name the phy ids where nothing tells the PCI function of an NPU. */
cpubind_problem_code cpubind_priv_read_node_phys(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    int32_t *node, n_node;
    int has_nodes;
    const cpubind_problem_code code = read_nodes(r, &node, &n_node, &has_nodes);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    if (n_node != f->n_device || !are_ranks(f) || n_node == 0 ||
        node[n_node - 1] >= CPUBIND_DRIVER_VIRTUAL)
        return CPUBIND_PROBLEM_NONE;
    for (int32_t i = 0; i < f->n_device; i++)
        f->device[i]->phy = node[i];
    f->has_phy = 1;
    return CPUBIND_PROBLEM_NONE;
}

cpubind_problem_code cpubind_priv_read_end_of_phys(facts_reader *r)
{
    const cpubind_input listing = r->source->list(r->source->ctx, INPUT_CLASS);
    cpubind_problem_code code = facts_judge(r, INPUT_CLASS, listing);
    cpubind_driver_number number = {-1, -1};
    cpubind_piece name;
    int32_t at = 0;
    while (code == CPUBIND_PROBLEM_NONE && facts_next_name(listing, &at, &name)) {
        const char *path;
        if (!is_node_name(listing, name))
            continue;
        path = facts_path(r, INPUT_CLASS, listing.data, name, "dev");
        if (!path)
            return facts_fail_memory(r);
        code = read_node(r, path, &number);
        if (code == CPUBIND_PROBLEM_NONE && number.minor < CPUBIND_DRIVER_VIRTUAL &&
            number.minor >= r->facts->end_phy)
            r->facts->end_phy = number.minor + 1;
    }
    for (int32_t i = 0; i < r->facts->n_device && facts_is_present(listing); i++)
        if (code == CPUBIND_PROBLEM_NONE && r->facts->device[i]->phy >= r->facts->end_phy)
            code = facts_fail_input(r, INPUT_CLASS, listing, -1,
                                    "it lacks an NPU that this process sees");
    return code;
}

/* == Running ================================================================ */

/* Marks the NPUs that a process uses; processes of NPUs that are not in view are passed over.
 * An old driver has no such folder. No pool depends on it: a failure is a problem only of a
 * request for running NPUs. */
static cpubind_problem_code read_running(facts_reader *r)
{
    cpubind_facts *f = r->facts;
    const cpubind_input listing = r->source->list(r->source->ctx, INPUT_PROCESSES);
    cpubind_problem_code code = facts_judge(r, INPUT_PROCESSES, listing);
    cpubind_piece name;
    int32_t at = 0;
    f->has_processes = facts_is_present(listing);
    while (facts_next_name(listing, &at, &name)) {
        cpubind_driver_process process;
        if (cpubind_driver_parse_process(listing.data + name.at, name.len, &process, NULL) !=
            CPUBIND_TEXT_OK) {
            facts_note_unknown(r, INPUT_PROCESSES, listing, name);
            continue;
        }
        for (int32_t i = 0; i < f->n_device; i++)
            f->device[i]->is_running |= f->device[i]->phy == process.udevid;
    }
    if (code == CPUBIND_PROBLEM_NONE || r->request->only_running)
        return code;
    cpubind_problem_clear(r->problem);
    return CPUBIND_PROBLEM_NONE;
}

cpubind_problem_code cpubind_priv_read_view(facts_reader *r)
{
    const cpubind_problem_code code = read_logics(r);
    return code == CPUBIND_PROBLEM_NONE ? read_running(r) : code;
}
