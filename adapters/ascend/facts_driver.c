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
 *              function (dev_id, davinci_dev_num, devdrv_sysfs_bdf_to_devid) are not asked: root
 *              alone may read them, so that a plan would depend on who makes it.
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

/* One reading. The phy ids go onto the functions. */
typedef struct reading {
    facts_reader *r;
    driver_view *view;
} reading;

typedef cpubind_problem_code step_fn(reading *d);

/* Ends the reading with a gap or a contradiction. */
static cpubind_problem_code stop(reading *d, driver_outcome outcome, const char *input,
                                 const char *what)
{
    cpubind_problem *why = &d->view->why;
    d->view->outcome = outcome;
    why->code = CPUBIND_PROBLEM_UNREADABLE;
    why->input = input;
    why->what = what;
    return CPUBIND_PROBLEM_NONE;
}

static cpubind_problem_code stop_gap(reading *d, const char *input, const char *what)
{
    return stop(d, DRIVER_GAP, input, what);
}

static cpubind_problem_code stop_contradiction(reading *d, const char *input, const char *what)
{
    return stop(d, DRIVER_CONTRADICTION, input, what);
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
static int32_t count_phys(const reading *d, int32_t function)
{
    int32_t n = 0;
    while (n < CPUBIND_FUNCTION_DEVICES && facts_npu(d->r->facts, function)->phys[n] >= 0)
        n++;
    return n;
}

/* The function of a device by the mailboxes, or -1. */
static int32_t function_of(const reading *d, int32_t phy)
{
    for (int32_t i = 0; i < d->r->facts->n_census; i++)
        if (facts_has_phy(facts_npu(d->r->facts, i), phy))
            return i;
    return -1;
}

/* == Phy ids ================================================================ */

/* Gives a device to a function. A device has a mailbox for each scheduler. */
static cpubind_problem_code add_device(reading *d, int32_t function, int32_t phy)
{
    int32_t *phys = facts_npu(d->r->facts, function)->phys;
    const int32_t known = function_of(d, phy);
    int32_t i = count_phys(d, function);
    if (known == function)
        return CPUBIND_PROBLEM_NONE;
    if (known >= 0)
        return stop_contradiction(d, INPUT_INTERRUPTS,
                                  "two PCI functions have a mailbox of the same NPU");
    if (i == CPUBIND_FUNCTION_DEVICES)
        return stop_contradiction(d, INPUT_INTERRUPTS,
                                  "a PCI function has mailboxes of more NPUs than it can have");
    for (; i > 0 && phys[i - 1] > phy; i--)
        phys[i] = phys[i - 1];
    phys[i] = phy;
    return CPUBIND_PROBLEM_NONE;
}

/* Gives the device whose mailbox a name of an interrupt is to its function, or -1. */
static cpubind_problem_code take_name(reading *d, const char *input, int32_t function,
                                      const char *name, int32_t len)
{
    int32_t phy;
    if (cpubind_driver_parse_mailbox(name, len, &phy, NULL) != CPUBIND_TEXT_OK)
        return CPUBIND_PROBLEM_NONE;
    if (phy >= CPUBIND_DRIVER_VIRTUAL)
        return stop_gap(d, input, "a mailbox belongs to a virtual NPU");
    if (function < 0)
        return stop_gap(d, input,
                        "a mailbox belongs to no PCI function with an NPU of this product");
    return add_device(d, function, phy);
}

/* Reads the numbers of the interrupts of a function. */
static cpubind_problem_code read_irqs(reading *d, int32_t function, const char **input,
                                      int32_t **msi, int32_t *n)
{
    facts_reader *r = d->r;
    cpubind_input listing;
    cpubind_problem_code code;
    *input = facts_function_path(r, &facts_npu(r->facts, function)->pci, "msi_irqs");
    if (!*input)
        return facts_fail_memory(r);
    listing = r->source->list(r->source->ctx, *input);
    code = facts_judge(r, *input, listing);
    *n = 0;
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    if (!facts_is_present(listing))
        return stop_gap(d, *input, "the kernel lists no interrupts of an NPU's PCI function");
    return cpubind_priv_read_msi(r, listing, msi, n);
}

/* Finds the function of each interrupt: function[row], -1: it is of none. */
static cpubind_problem_code join_irqs(reading *d, const cpubind_interrupt_list *list,
                                      int32_t *function)
{
    cpubind_problem_code code = CPUBIND_PROBLEM_NONE;
    for (int32_t row = 0; row < list->n; row++)
        function[row] = -1;
    for (int32_t i = 0; i < d->r->facts->n_census && code == CPUBIND_PROBLEM_NONE &&
                        d->view->outcome == DRIVER_COMPLETE;
         i++) {
        const char *input;
        int32_t *msi, n, k = 0;
        code = read_irqs(d, i, &input, &msi, &n);
        for (int32_t row = 0; n > 0 && row < list->n; row++) {
            if (!cpubind_list_has(msi, n, list->irq[row].irq, &k))
                continue;
            if (function[row] >= 0)
                return stop_contradiction(d, input,
                                          "two PCI functions have the same interrupt");
            function[row] = i;
        }
    }
    return code;
}

/* Finds the devices of all functions by the names of their interrupts. */
static cpubind_problem_code read_names(reading *d, cpubind_input answer)
{
    facts_reader *r = d->r;
    cpubind_interrupt_list list;
    int32_t *function;
    cpubind_problem_code code = cpubind_priv_read_interrupts(r, answer, &list);
    if (code != CPUBIND_PROBLEM_NONE)
        return code;
    function = cpubind_arena_ints(r->arena, list.n);
    if (!function)
        return facts_fail_memory(r);
    code = join_irqs(d, &list, function);
    for (int32_t row = 0; row < list.n && code == CPUBIND_PROBLEM_NONE; row++) {
        cpubind_piece name;
        int32_t at = 0;
        while (d->view->outcome == DRIVER_COMPLETE &&
               cpubind_interrupts_next_name(answer.data, list.irq[row].names, &at, &name))
            code =
                take_name(d, INPUT_INTERRUPTS, function[row], answer.data + name.at, name.len);
    }
    return code;
}

/* Adds the devices whose mailboxes the kernel lists in the folder of one interrupt. */
static cpubind_problem_code read_folder(reading *d, int32_t function, int32_t irq,
                                        int *is_there)
{
    facts_reader *r = d->r;
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
    while (code == CPUBIND_PROBLEM_NONE && d->view->outcome == DRIVER_COMPLETE &&
           facts_next_name(listing, &at, &part))
        code = take_name(d, name, function, listing.data + part.at, part.len);
    return code;
}

/* Finds the devices of all functions where /proc/interrupts is hidden, by the folders of their
 * interrupts. The first interrupt is a mailbox, so that one folder is enough where a function
 * has one device. */
static cpubind_problem_code read_folders(reading *d)
{
    const int32_t wanted =
        cpubind_product_of(d->r->facts->type)->has_pairs ? CPUBIND_FUNCTION_DEVICES : 1;
    int is_there = 0;
    for (int32_t i = 0; i < d->r->facts->n_census && d->view->outcome == DRIVER_COMPLETE; i++) {
        const char *input;
        int32_t *msi, n;
        cpubind_problem_code code = read_irqs(d, i, &input, &msi, &n);
        for (int32_t k = 0; code == CPUBIND_PROBLEM_NONE && k < n &&
                            count_phys(d, i) < wanted && d->view->outcome == DRIVER_COMPLETE;
             k++)
            code = read_folder(d, i, msi[k], &is_there);
        if (code != CPUBIND_PROBLEM_NONE)
            return code;
        if (!is_there && d->view->outcome == DRIVER_COMPLETE)
            return stop_gap(d, INPUT_INTERRUPTS, "it is not there");
    }
    return CPUBIND_PROBLEM_NONE;
}

/* Finds the devices of all functions. Every function must have one, and as many as the
 * others. */
static cpubind_problem_code read_mailboxes(reading *d)
{
    facts_reader *r = d->r;
    const int32_t n_census = r->facts->n_census;
    cpubind_input answer;
    cpubind_problem_code code;
    if (n_census == 0)
        return stop_gap(d, INPUT_PCI, "it lists no NPU");
    code = facts_ask(r, INPUT_INTERRUPTS, &answer);
    if (code == CPUBIND_PROBLEM_NONE)
        code = facts_is_present(answer) ? read_names(d, answer) : read_folders(d);
    for (int32_t i = 0;
         code == CPUBIND_PROBLEM_NONE && i < n_census && d->view->outcome == DRIVER_COMPLETE;
         i++) {
        if (count_phys(d, i) == 0)
            return stop_gap(d, INPUT_INTERRUPTS, "an NPU's PCI function has no mailbox");
        if (count_phys(d, i) != count_phys(d, 0))
            return stop_gap(d, INPUT_INTERRUPTS,
                            "some PCI functions have mailboxes of more NPUs than others");
    }
    return code;
}

/* Says how many devices each function has, which is known now. */
static cpubind_problem_code count_all(reading *d)
{
    for (int32_t i = 0; i < d->r->facts->n_census; i++)
        facts_npu(d->r->facts, i)->n_device = count_phys(d, i);
    return CPUBIND_PROBLEM_NONE;
}

/* Forgets phy ids that are not known to be right. */
static void forget_phys(reading *d)
{
    for (int32_t i = 0; i < d->r->facts->n_census; i++)
        for (int32_t k = 0; k < CPUBIND_FUNCTION_DEVICES; k++)
            facts_npu(d->r->facts, i)->phys[k] = -1;
}

/* == Logic ids ============================================================== */

/* Adds an NPU in view, by its logic id. */
static cpubind_problem_code add_npu(reading *d, const char *input, int32_t logic,
                                    int32_t udevid)
{
    driver_view *v = d->view;
    const cpubind_facts *f = d->r->facts;
    cpubind_host_device npu = cpubind_priv_new_npu(logic, -1, -1, udevid);
    if (udevid >= CPUBIND_DRIVER_VIRTUAL)
        return stop_gap(d, input, "it is a virtual NPU");
    if (function_of(d, udevid) < 0)
        return stop_contradiction(d, input, "no mailbox is of this NPU");
    npu.function = f->counted[function_of(d, udevid)];
    npu.pci = f->bus[npu.function].pci;
    (void)cpubind_priv_insert_npu(v->npu, &v->n_npu, &npu);
    return CPUBIND_PROBLEM_NONE;
}

/* The number of NPUs with a mailbox; no process has more in view. */
static int32_t count_devices(const reading *d)
{
    int32_t n = 0;
    for (int32_t i = 0; i < d->r->facts->n_census; i++)
        n += count_phys(d, i);
    return n;
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
    if (cpubind_driver_parse_number(answer.data, answer.len, out, &fault) != CPUBIND_TEXT_OK)
        return facts_fail_text(r, name, answer, &fault);
    return facts_check_end(r, name, answer);
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
static cpubind_problem_code read_nodes(reading *d, int32_t **out, int32_t *n, int *is_there)
{
    facts_reader *r = d->r;
    const cpubind_input listing = r->source->list(r->source->ctx, INPUT_DEV);
    cpubind_problem_code code = facts_judge(r, INPUT_DEV, listing);
    cpubind_driver_number number = {-1, -1};
    cpubind_piece name;
    int32_t at = 0, cap = 0, major = -1;
    *is_there = facts_is_present(listing);
    *n = 0;
    while (facts_next_name(listing, &at, &name))
        cap++;
    *out = cpubind_arena_ints(r->arena, cap);
    if (!*out)
        return facts_fail_memory(r);
    for (at = 0; code == CPUBIND_PROBLEM_NONE && facts_next_name(listing, &at, &name);) {
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
            return stop_contradiction(d, path, "it is of another driver than other nodes");
        major = number.major;
        insert_number(*out, n, number.minor);
    }
    if (cap > 0 && *n == 0)
        *is_there = 0; /* a capture has the nodes of other accelerators in folders below it */
    return code;
}

/* Reads the own table of namespace_node; *is_there is 0 when this process may not read it, or
 * its namespace has not used the driver yet. */
static cpubind_problem_code read_own_table(reading *d, cpubind_driver_logics *out,
                                           int *is_there)
{
    facts_reader *r = d->r;
    cpubind_text_fault fault;
    cpubind_input answer;
    cpubind_text_status status;
    cpubind_problem_code code = ask_as_any_user(r, INPUT_NAMESPACES, &answer);
    memset(out, 0, sizeof *out);
    *is_there = 0;
    if (code != CPUBIND_PROBLEM_NONE || !facts_is_present(answer))
        return code;
    status = cpubind_driver_parse_namespaces(answer.data, answer.len, r->arena, out, &fault);
    if (status == CPUBIND_TEXT_ERR_SPACE)
        return facts_fail_memory(r);
    if (status == CPUBIND_TEXT_ERR_MISSING)
        return CPUBIND_PROBLEM_NONE;
    if (status != CPUBIND_TEXT_OK)
        return facts_fail_text(r, INPUT_NAMESPACES, answer, &fault);
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

/* Takes the logic ids of the own table, or of the device nodes. */
static cpubind_problem_code read_logics(reading *d)
{
    facts_reader *r = d->r;
    driver_view *v = d->view;
    cpubind_driver_logics table;
    int32_t *node, n_node, n;
    int has_nodes, has_table;
    cpubind_problem_code code = read_nodes(d, &node, &n_node, &has_nodes);
    if (code == CPUBIND_PROBLEM_NONE && v->outcome == DRIVER_COMPLETE)
        code = read_own_table(d, &table, &has_table);
    if (code != CPUBIND_PROBLEM_NONE || v->outcome != DRIVER_COMPLETE)
        return code;
    if (!has_nodes && !has_table)
        return stop_gap(d, INPUT_DEV, "it is not there, nor does the driver list logic ids");
    if (has_nodes && has_table && !is_same(&table, node, n_node))
        return stop_contradiction(d, INPUT_NAMESPACES,
                                  "it lists other NPUs than this process may open");
    n = has_nodes ? n_node : table.n;
    if (n == 0)
        return stop_gap(d, INPUT_DEV, "this process may open no NPU");
    v->npu = cpubind_priv_take_npus(r, count_devices(d));
    if (!v->npu)
        return facts_fail_memory(r);
    for (int32_t i = 0; i < n && v->outcome == DRIVER_COMPLETE; i++) {
        const int32_t udevid = has_nodes ? node[i] : table.row[i].udevid;
        const int32_t logic = has_nodes ? i : table.row[i].logic;
        code = add_npu(d, has_nodes ? INPUT_DEV : INPUT_NAMESPACES, logic, udevid);
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
    driver_view view;
    reading d = {r, &view};
    cpubind_facts *f = r->facts;
    int32_t *node, n_node;
    int has_nodes;
    cpubind_problem_code code;
    memset(&view, 0, sizeof view);
    code = read_nodes(&d, &node, &n_node, &has_nodes);
    if (code != CPUBIND_PROBLEM_NONE || view.outcome != DRIVER_COMPLETE)
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
    return code;
}

/* == Running ================================================================ */

/* Marks the NPUs that a process uses; processes of NPUs that are not in view are passed over.
 * An old driver has no such folder. No pool depends on it: a failure is a problem only of a
 * request for running NPUs. */
static cpubind_problem_code read_running(reading *d)
{
    facts_reader *r = d->r;
    driver_view *v = d->view;
    const cpubind_input listing = r->source->list(r->source->ctx, INPUT_PROCESSES);
    cpubind_problem_code code = facts_judge(r, INPUT_PROCESSES, listing);
    cpubind_piece name;
    int32_t at = 0;
    v->has_processes = facts_is_present(listing);
    while (facts_next_name(listing, &at, &name)) {
        cpubind_driver_process process;
        if (cpubind_driver_parse_process(listing.data + name.at, name.len, &process, NULL) !=
            CPUBIND_TEXT_OK) {
            facts_note_unknown(r, INPUT_PROCESSES, listing, name);
            continue;
        }
        for (int32_t i = 0; i < v->n_npu; i++)
            v->npu[i]->is_running |= v->npu[i]->phy == process.udevid;
    }
    if (code == CPUBIND_PROBLEM_NONE || r->request->only_running)
        return code;
    cpubind_problem_clear(r->problem);
    return CPUBIND_PROBLEM_NONE;
}

/* == All ==================================================================== */

cpubind_problem_code cpubind_priv_read_driver(facts_reader *r, driver_view *out)
{
    static step_fn *const steps[] = {read_mailboxes, count_all, read_logics, read_running};
    reading d = {r, out};
    memset(out, 0, sizeof *out);
    cpubind_problem_clear(&out->why);
    forget_phys(&d);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        const cpubind_problem_code code = steps[i](&d);
        if (code == CPUBIND_PROBLEM_NONE && out->outcome == DRIVER_COMPLETE)
            continue;
        if (i == 0)
            forget_phys(&d);
        return code;
    }
    return CPUBIND_PROBLEM_NONE;
}
