/* fuzz_process_goal.c - fuzz target: find the interrupts of a device, and make a process's goal
 * SPDX-License-Identifier: MIT
 *
 * The first line of the input is the number of the device or "-", a blank, and the numbers in
 * msi_irqs as a CPU list; the rest is the content of /proc/interrupts. Compares
 * adapters/ascend/device_irqs.c with the rule of thread_roles.h, written a second time.
 */
#include "../fuzz.h"

#include "../../adapters/ascend/thread_roles.h"
#include "../../adapters/plan/process_goal.h"
#include "../../adapters/text/cpulist.h"

enum { MAX_MSI = 512, POOL = 8, FIRST_CPU = 20, ARENA = 1 << 20 };

typedef struct function {
    const char *text;
    int32_t len;
    int32_t device, n_msi, n_all;
    int32_t msi[MAX_MSI];
    cpubind_interrupt *all; /* NULL: /proc/interrupts is damaged */
} function;

/* == The rule a second time ================================================= */

/* Does row `i` have this name? */
static int has_name(const function *f, int32_t i, const char *name)
{
    const char *at = f->text + f->all[i].names.at, *end = at + f->all[i].names.len;
    const size_t n = strlen(name);
    while (at < end) {
        const char *stop = at;
        while (stop < end && !(end - stop >= 2 && stop[0] == ',' && stop[1] == ' '))
            stop++;
        if ((size_t)(stop - at) == n && memcmp(at, name, n) == 0)
            return 1;
        at = stop + 2;
    }
    return 0;
}

/* The device of the last mailbox of row `i`, or -1. */
static int64_t mailbox_of(const function *f, int32_t i)
{
    const char *const start = f->text + f->all[i].names.at;
    const char *const end = start + f->all[i].names.len;
    int64_t device = -1;
    for (const char *at = start; end - at > 9; at++) {
        int64_t number = 0;
        const char *digit = at + 9;
        if (memcmp(at, "trs-mbox-", 9) != 0 ||
            (at > start && !(at - start >= 2 && at[-2] == ',' && at[-1] == ' ')))
            continue;
        while (digit < end && *digit >= '0' && *digit <= '9' && number <= INT32_MAX)
            number = number * 10 + (*digit++ - '0');
        if (digit > at + 9 && digit < end && *digit == '-' && number <= INT32_MAX &&
            (at[9] != '0' || digit == at + 10))
            device = number;
    }
    return device;
}

static int is_msi(const function *f, int32_t i)
{
    for (int32_t k = 0; k < f->n_msi; k++)
        if (f->msi[k] == f->all[i].irq)
            return 1;
    return 0;
}

/* The device of row `i`: that of the last mailbox at or before the row. */
static int64_t owner_of(const function *f, int32_t i)
{
    int64_t device = -1;
    for (; i >= 0 && device < 0; i--)
        if (is_msi(f, i))
            device = mailbox_of(f, i);
    return device;
}

/* The kind of row `i` if the row belongs to the device, else -1. */
static int kind_of(const function *f, int32_t i, int32_t n_sq)
{
    if (!is_msi(f, i) || (n_sq > 1 && owner_of(f, i) != f->device))
        return -1;
    return has_name(f, i, "sq_send_trigger_irq") ? CPUBIND_IRQ_SQ
           : has_name(f, i, "cq_update_irq")     ? CPUBIND_IRQ_CQ
                                                 : -1;
}

static int32_t count_sq(const function *f)
{
    int32_t n = 0;
    for (int32_t i = 0; i < f->n_all; i++)
        n += is_msi(f, i) && has_name(f, i, "sq_send_trigger_irq");
    return n;
}

/* == Laws =================================================================== */

/* With mailboxes there are the same interrupts, and between them mailboxes of the device, or
 * the only one of the function. */
static void check_mailboxes(const function *f, cpubind_irq_search search, cpubind_no_irq why,
                            const cpubind_irq_goal *irq, int32_t n)
{
    cpubind_irq_goal *out =
        (cpubind_irq_goal *)fuzz_filled(((size_t)f->n_msi + 1) * sizeof *out, FUZZ_FILL);
    int32_t n_out, k = 0;
    search.wants_mailbox = 1;
    CHECK(cpubind_ascend_irqs(&search, out, &n_out) == why);
    for (int32_t i = 0; i < n_out; i++) {
        CHECK(i == 0 || out[i - 1].irq < out[i].irq);
        if (out[i].kind == CPUBIND_IRQ_MAILBOX) {
            CHECK(strncmp(out[i].id.name, "trs-mbox-", 9) == 0 && out[i].id.index >= 0);
            continue;
        }
        CHECK(k < n && memcmp(&out[i], &irq[k], sizeof out[i]) == 0);
        k++;
    }
    CHECK(k == n);
    free(out);
}

static cpubind_no_irq check_irqs(const function *f, cpubind_irq_goal *out, int32_t *n)
{
    const int32_t n_sq = count_sq(f);
    int32_t k = 0, found = 0;
    const cpubind_irq_search search = {f->text,  f->all,    f->n_all, f->msi,
                                       f->n_msi, f->device, 0};
    const cpubind_no_irq why = cpubind_ascend_irqs(&search, out, n);
    CHECK((why == CPUBIND_IRQ_NO_SQ) == (n_sq == 0));
    CHECK((why == CPUBIND_IRQ_FOUND) == (*n > 0));
    for (int32_t i = 0; i < f->n_all; i++) {
        const int kind = n_sq > 1 && f->device < 0 ? -1 : kind_of(f, i, n_sq);
        found += kind == CPUBIND_IRQ_SQ;
        if (kind < 0 || why != CPUBIND_IRQ_FOUND)
            continue;
        CHECK(k < *n && out[k].irq == f->all[i].irq);
        CHECK((int)out[k].kind == kind && out[k].cpu == -1);
        k++;
    }
    CHECK(k == *n);
    CHECK((why == CPUBIND_IRQ_FOUND) == (found == 1));
    check_mailboxes(f, search, why, out, *n);
    return why;
}

/* == The goal, read from a source =========================================== */

static cpubind_input present(const char *data, int32_t len)
{
    cpubind_input input;
    memset(&input, 0, sizeof input);
    input.state = CPUBIND_INPUT_PRESENT;
    input.data = len ? data : NULL;
    input.len = len;
    return input;
}

static cpubind_input read_text(void *ctx, const char *name)
{
    const function *f = (const function *)ctx;
    CHECK(strcmp(name, "proc/interrupts") == 0);
    return present(f->text, f->len);
}

static int compare_words(const void *a, const void *b)
{
    return strcmp((const char *)a, (const char *)b);
}

static cpubind_input list_msi(void *ctx, const char *name)
{
    static char words[MAX_MSI][12], text[sizeof words];
    const function *f = (const function *)ctx;
    int32_t len = 0;
    CHECK(strcmp(name, "sys/bus/pci/devices/0000:01:00.0/msi_irqs") == 0);
    for (int32_t i = 0; i < f->n_msi; i++)
        (void)snprintf(words[i], sizeof words[i], "%d", (int)f->msi[i]);
    qsort(words, (size_t)f->n_msi, sizeof words[0], compare_words);
    for (int32_t i = 0; i < f->n_msi; i++)
        len += snprintf(text + len, sizeof text - (size_t)len, "%s\n", words[i]);
    return present(text, len);
}

static void check_goal(function *f, cpubind_no_irq why, const cpubind_irq_goal *irq, int32_t n)
{
    const cpubind_source source = {f, read_text, list_msi};
    int32_t node_of[FIRST_CPU + POOL] = {0}, cpu[POOL], row[2] = {0, POOL}, want[1] = {0};
    int32_t memory_node[1] = {0};
    cpubind_roles roles;
    cpubind_device npu = {.logic = f->device,
                          .phy = -1,
                          .pci = {0, 1, 0, 0},
                          .bus = -1,
                          .vendor = CPUBIND_VENDOR_ASCEND};
    cpubind_facts facts = {.node_of = node_of, .device = &npu, .n_device = 1};
    cpubind_device_plan plan = {.want = want, .n_want = 1, .roles = {{2, 1, 1, 1}}};
    const cpubind_goal_request request = {.facts = &facts, .plan = &plan};
    cpubind_arena arena = {(char *)fuzz_filled(ARENA, FUZZ_FILL), ARENA, 0};
    cpubind_goal goal;
    cpubind_problem problem;
    cpubind_problem_code code;
    for (int32_t i = 0; i < POOL; i++)
        cpu[i] = FIRST_CPU + i;
    CHECK(cpubind_split_roles(POOL, &plan.roles, &roles, NULL) == CPUBIND_OK);
    plan.role_cpu = cpu;
    plan.role_row = row;
    plan.role_span = &roles;
    plan.memory_node = memory_node;
    code = cpubind_goal_make(&source, &request, &arena, &goal, &problem);
    CHECK((code == CPUBIND_PROBLEM_UNREADABLE) == (f->n_msi > 0 && !f->all));
    CHECK(code == problem.code && goal.device == f->device && goal.main.n == POOL - 4);
    if (code == CPUBIND_PROBLEM_UNREADABLE)
        CHECK(problem.what && problem.offset >= 0 && problem.offset <= f->len);
    CHECK(goal.n_irq == (f->n_msi > 0 ? n : 0));
    CHECK(f->all == NULL || goal.no_irq == (f->n_msi > 0 ? why : CPUBIND_IRQ_NO_MSI));
    for (int32_t i = 0; i < goal.n_irq; i++) {
        CHECK(goal.irq[i].irq == irq[i].irq && goal.irq[i].kind == irq[i].kind);
        CHECK(goal.irq[i].cpu == FIRST_CPU + (irq[i].kind == CPUBIND_IRQ_CQ));
    }
    free(arena.base);
}

/* == The input ============================================================== */

static void take_name(function *f, const char *name)
{
    const char *blank = strchr(name, ' ');
    const char *list = blank ? blank + 1 : "";
    cpubind_int_list msi = {f->msi, MAX_MSI, 0};
    f->device = *name >= '0' && *name <= '9' ? 0 : -1;
    for (; *name >= '0' && *name <= '9' && f->device < 1 << 24; name++)
        f->device = f->device * 10 + (*name - '0');
    if (cpubind_cpulist_parse(list, (int32_t)strlen(list), CPUBIND_MAX_CPUS, &msi, NULL) ==
        CPUBIND_TEXT_OK)
        f->n_msi = msi.n;
}

static void check_text(const char *text, int32_t len, const char *name)
{
    static function f;
    cpubind_irq_goal *irq;
    cpubind_no_irq why = CPUBIND_IRQ_NO_INTERRUPTS;
    cpubind_interrupt_list all = {NULL, 0, 0, 0};
    int32_t n = 0;
    cpubind_text_status status;
    memset(&f, 0, sizeof f);
    f.text = text;
    f.len = len;
    take_name(&f, name);
    irq = (cpubind_irq_goal *)fuzz_filled((size_t)f.n_msi * sizeof *irq, FUZZ_FILL);
    status = cpubind_interrupts_parse(text, len, &all, NULL);
    if (status == CPUBIND_TEXT_OK || status == CPUBIND_TEXT_ERR_SPACE) {
        all.cap = all.n;
        all.irq =
            (cpubind_interrupt *)fuzz_filled((size_t)all.cap * sizeof *all.irq, FUZZ_FILL);
        CHECK(cpubind_interrupts_parse(text, len, &all, NULL) == CPUBIND_TEXT_OK);
        f.all = all.irq;
        f.n_all = all.n;
        why = check_irqs(&f, irq, &n);
    }
    check_goal(&f, why, irq, n);
    free(f.all);
    free(irq);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_named_input(data, size, check_text);
}
