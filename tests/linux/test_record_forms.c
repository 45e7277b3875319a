/* test_record_forms.c - records of earlier forms are read, verified and put back
 * SPDX-License-Identifier: MIT
 *
 * tests/linux/records has records as earlier programs wrote them. A record of form 1 that has
 * interrupts and threads of the host is bound to real processes on a fake host (fake_host.h).
 */
#define _GNU_SOURCE
#include <sys/file.h>

#include "../../adapters/linux/bind/host_record.h"
#include "../../adapters/linux/kernel/process.h"
#include "../support/test.h"
#include "fake_host.h"
#include "record_samples.h"
#include "two_cpus.h"

#define FUNCTION "0000:0b:00.0"

/* == The texts of earlier programs ========================================== */

static char *read_sample(const char *name, int32_t *len)
{
    const char *tests = getenv("CPUBIND_TESTS");
    char path[512];
    char *text;
    FILE *file;
    snprintf(path, sizeof path, "%s/linux/records/%s", tests ? tests : "tests", name);
    file = fopen(path, "r");
    scratch_need(file != NULL, path);
    text = (char *)malloc(65536);
    scratch_need(text != NULL, "memory");
    *len = (int32_t)fread(text, 1, 65536, file);
    fclose(file);
    return text;
}

static void check_sample(const char *name, int32_t n_rule, const char *rules)
{
    int32_t len;
    char *text = read_sample(name, &len);
    cpubind_record r;
    assert_int_equal(
        sample_status(cpubind_record_parse(text, len, &cpubind_sys_real, &r), NULL),
        CPUBIND_LINUX_OK);
    assert_int_equal(r.device, 0);
    assert_int_equal(r.n_thread, 4);
    assert_int_equal(r.n_rule, n_rule);
    assert_string_equal(r.rules, rules);
    assert_int_equal(r.pid, r.thread[0].tid);
    assert_int_equal(r.thread[3].tid, r.pid + 3);
    for (int32_t i = 0; i < r.n_thread; i++)
        assert_string_equal(cpubind_cpu_sets_text(&r.sets, r.thread[i].before), "0-191");
    assert_string_equal(cpubind_cpu_sets_text(&r.sets, r.before), "0-191");
    assert_string_equal(cpubind_cpu_sets_text(&r.sets, r.main), "146-165");
    assert_string_equal(r.rule[0].name, "acl_thread");
    assert_string_equal(cpubind_cpu_sets_text(&r.sets, r.rule[0].set), "166");
    assert_int_equal(r.n_placed, 3);
    cpubind_record_free(&r);
    /* Cut anywhere but at a blank end, it is damage. */
    for (int32_t n = 0; n < len - 1; n++) {
        cpubind_linux_fault why = cpubind_record_parse(text, n, &cpubind_sys_real, &r);
        assert_int_equal(why.error, EILSEQ);
        assert_null(r.host);
    }
    free(text);
}

TEST(records_of_all_forms_are_read)
{
    check_sample("d4c2e50.json", 2, "");
    check_sample("11bd74f.record", 5, "");
    check_sample("form4.record", 5, "reference");
    check_sample("form5.record", 5, "reference");
}

TEST(a_later_form_is_named)
{
    static const struct {
        const char *text, *form;
    } heads[] = {
        {"cpubind-record 6 0.3.0\n", "6 0.3.0"},
        {"cpubind-record 6 0.3.0 more\nprocess", "6 0.3.0 more"},
        {"cpubind-record 6", "6"},
        {"cpubind-record 6 a\001b\n", ""},
        {"cpubind-record 6 0123456789012345678901234567890123456789\n", ""},
        {"cpubind-record", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        char form[CPUBIND_RECORD_FORM_SIZE];
        memset(form, '?', sizeof form);
        cpubind_record_form_of(heads[i].text, (int32_t)strlen(heads[i].text), form);
        assert_string_equal(form, heads[i].form);
    }
}

/* == Form 1 on a host ======================================================= */

static struct {
    cpubind_sys sys;
    worker w, second;
    char main_cpu[16], other_cpu[16];
    int fails_at; /* the number of the call that fails; 0: none */
    int n_call;
} f;

static int is_to_fail(void)
{
    if (++f.n_call != f.fails_at)
        return 0;
    errno = EIO;
    return 1;
}

static int failing_openat(int dir, const char *path, int flags)
{
    return is_to_fail() ? -1 : stage_openat(dir, path, flags);
}

static int failing_accessat(int dir, const char *path, int mode)
{
    return is_to_fail() ? -1 : stage_accessat(dir, path, mode);
}

static ssize_t failing_write(int fd, const void *data, size_t len)
{
    return is_to_fail() ? -1 : stage_write(fd, data, len);
}

static int failing_rename(int dir, const char *from, const char *to, int flags)
{
    return is_to_fail() ? -1 : cpubind_sys_real.rename(dir, from, to, flags);
}

static int failing_unlinkat(int dir, const char *path, int flags)
{
    return is_to_fail() ? -1 : cpubind_sys_real.unlinkat(dir, path, flags);
}

static unsigned long long start_of(const worker *w)
{
    cpubind_root root = {&cpubind_sys_real, open("/", O_PATH | O_CLOEXEC),
                         CPUBIND_REACH_ANYWHERE};
    cpubind_proc_stat stat = {.start = 0};
    scratch_need(!cpubind_proc_stat_read(&root, (int32_t)w->pid, 0, &stat).error, "stat");
    close(root.fd);
    return (unsigned long long)stat.start;
}

static const char *record_name(const worker *w, int is_form1)
{
    static char path[CPUBIND_RECORD_PATH_SIZE];
    cpubind_bind_usual_path(geteuid(), (int32_t)w->pid, is_form1, path);
    return path + 1;
}

static int is_there(const char *name)
{
    return faccessat(on_stage.dir, name, F_OK, 0) == 0;
}

static void irq_add(int irq, const char *action, const char *cpus)
{
    char name[96], list[80];
    snprintf(name, sizeof name, "sys/bus/pci/devices/%s/msi_irqs/%d", FUNCTION, irq);
    scratch_file(&on_stage.s, name, "msix\n");
    snprintf(name, sizeof name, "proc/irq/%d/%s", irq, action);
    if (!is_there(name))
        scratch_folder(&on_stage.s, name); /* as in the kernel */
    snprintf(name, sizeof name, "proc/irq/%d/smp_affinity_list", irq);
    snprintf(list, sizeof list, "%s\n", cpus);
    scratch_file(&on_stage.s, name, list);
}

/* What the first version wrote of a worker whose NPU has two interrupts, of which it moved the
 * first; and the masks and the interrupt as it left them. */
static void bind_as_form1(const worker *w, const char *before, const char *cpu)
{
    char text[2048];
    cpu_set_t set;
    snprintf(
        text, sizeof text,
        "{\"cpubind\": \"0.1.0\", \"format\": 1,\n \"boot\": \"\", \"pid\": %d, \"start\": "
        "%llu,\n \"npu\": 1, \"before\": \"%s\",\n \"goal\": {\"main\": \"%s\", "
        "\"memory_node\": null, \"uvb\": null, \"rules\": []},\n \"ours\": [\"%s\"],\n "
        "\"threads\": [\n  {\"before\": \"%s\", \"tids\": [%d]}],\n \"others\": [],\n "
        "\"irqs\": [\n  {\"irq\": 56, \"kind\": \"sq\", \"cpu\": %s, \"before\": \"%s\", "
        "\"banned\": 0},\n  {\"irq\": 57, \"kind\": \"cq\", \"cpu\": %s, \"before\": null, "
        "\"banned\": 0}],\n \"irqbalance\": null}\n",
        (int)w->pid, start_of(w), on_stage.before, f.main_cpu, f.main_cpu, on_stage.before,
        (int)w->pid, cpu, before, f.other_cpu);
    scratch_file(&on_stage.s, record_name(w, 1), text);
    CPU_ZERO(&set);
    CPU_SET((size_t)on_stage.cpu[0], &set);
    scratch_need(sched_setaffinity(w->pid, sizeof set, &set) == 0, "sched_setaffinity");
    irq_add(56, "sq_send_trigger_irq", cpu);
}

static cpubind_linux_status open_binding(const worker *w, int is_reading, cpubind_binding **out)
{
    const cpubind_bind_options options = {
        .pid = (int32_t)w->pid, .is_reading = is_reading, .memory = CPUBIND_MEMORY_NONE};
    return cpubind_bind_open(&options, &f.sys, out, NULL);
}

static cpubind_linux_status restore(const worker *w)
{
    cpubind_binding *b;
    cpubind_linux_status status = open_binding(w, 0, &b);
    if (status == CPUBIND_LINUX_OK)
        status = cpubind_bind_restore(b, NULL);
    cpubind_bind_close(b);
    return status;
}

static int is_as_before(const worker *w)
{
    cpu_set_t set;
    scratch_need(sched_getaffinity(w->pid, sizeof set, &set) == 0, "sched_getaffinity");
    return CPU_COUNT(&set) == 2;
}

static void assert_irq_on(const char *cpus)
{
    char text[64];
    assert_string_equal(stage_irq_text(56, text, sizeof text), cpus);
}

TEST(a_record_of_form_1_is_verified_and_not_changed_by_it)
{
    cpubind_binding *b;
    const cpubind_report *r;
    int32_t n_irq = 0;
    bind_as_form1(&f.w, on_stage.before, f.main_cpu);
    assert_int_equal(open_binding(&f.w, 1, &b), CPUBIND_LINUX_OK);
    assert_int_equal(cpubind_bind_verify(b, NULL, NULL), CPUBIND_LINUX_OK);
    r = cpubind_bind_report(b);
    assert_int_equal(r->device, 1);
    for (int32_t i = 0; i < r->n; i++) {
        const int is_first = r->item[i].id == 56;
        if (r->item[i].kind != CPUBIND_ITEM_IRQ)
            continue;
        n_irq++;
        assert_int_equal(r->item[i].result, is_first ? CPUBIND_ITEM_RIGHT : CPUBIND_ITEM_WRONG);
        assert_string_equal(r->item[i].name, is_first ? "sq" : "cq");
    }
    assert_int_equal(n_irq, 2);
    cpubind_bind_close(b);
    assert_true(is_there(record_name(&f.w, 1)));
    assert_false(is_there(record_name(&f.w, 0)));
}

TEST(a_record_of_form_1_is_put_back)
{
    bind_as_form1(&f.w, on_stage.before, f.main_cpu);
    assert_int_equal(restore(&f.w), CPUBIND_LINUX_OK);
    assert_true(is_as_before(&f.w));
    assert_irq_on(on_stage.before);
    assert_false(is_there(record_name(&f.w, 1)));
    assert_false(is_there(record_name(&f.w, 0)));
}

/* Two processes of an NPU, the second of which found the interrupt where the first had put
 * it. */
TEST(the_first_place_of_an_interrupt_is_known_in_any_order)
{
    for (int order = 0; order < 4; order++) {
        const worker *const by[2] = {order & 1 ? &f.w : &f.second,
                                     order & 1 ? &f.second : &f.w};
        bind_as_form1(&f.w, on_stage.before, f.main_cpu);
        bind_as_form1(&f.second, f.main_cpu, f.other_cpu);
        for (int i = 0; i < 2; i++) { /* each is taken over when it is opened */
            cpubind_binding *b;
            assert_int_equal(open_binding(by[i], 0, &b), CPUBIND_LINUX_OK);
            cpubind_bind_close(b);
            assert_false(is_there(record_name(by[i], 1)));
            assert_true(is_there(record_name(by[i], 0)));
        }
        assert_int_equal(restore(by[order >> 1]), CPUBIND_LINUX_OK);
        assert_int_equal(restore(by[!(order >> 1)]), CPUBIND_LINUX_OK);
        assert_true(is_as_before(&f.w) && is_as_before(&f.second));
        assert_irq_on(on_stage.before);
    }
}

TEST(an_interrupt_that_is_gone_is_no_hindrance)
{
    char name[96];
    bind_as_form1(&f.w, on_stage.before, f.main_cpu);
    snprintf(name, sizeof name, "sys/bus/pci/devices/%s/msi_irqs/56", FUNCTION);
    scratch_need(unlinkat(on_stage.dir, name, 0) == 0, name);
    assert_int_equal(restore(&f.w), CPUBIND_LINUX_OK);
    assert_true(is_as_before(&f.w));
    assert_irq_on(f.main_cpu); /* whose it is now is not known */
}

/* A cpubind that writes form 1 works on the process. */
TEST(the_lock_of_form_1_is_respected)
{
    char name[128];
    int fd;
    bind_as_form1(&f.w, on_stage.before, f.main_cpu);
    snprintf(name, sizeof name, "%s.lock", record_name(&f.w, 1));
    fd = openat(on_stage.dir, name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    scratch_need(fd >= 0 && flock(fd, LOCK_EX) == 0, name);
    assert_int_equal(restore(&f.w), CPUBIND_LINUX_ERR_BUSY);
    assert_true(is_there(record_name(&f.w, 1)));
    close(fd);
    assert_int_equal(restore(&f.w), CPUBIND_LINUX_OK);
    assert_true(is_as_before(&f.w));
}

/* Whatever fails, a record of one of the two forms is left, and restores all. */
TEST(each_call_may_fail)
{
    int n_failed = 0;
    f.sys.openat = failing_openat;
    f.sys.accessat = failing_accessat;
    f.sys.write = failing_write;
    f.sys.rename = failing_rename;
    f.sys.unlinkat = failing_unlinkat;
    for (f.fails_at = 1;; f.fails_at++) {
        int is_over;
        bind_as_form1(&f.w, on_stage.before, f.main_cpu);
        f.n_call = 0;
        const cpubind_linux_status status = restore(&f.w);
        is_over = f.n_call < f.fails_at;
        if (status != CPUBIND_LINUX_OK) {
            n_failed++;
            assert_true(is_there(record_name(&f.w, 0)) || is_there(record_name(&f.w, 1)));
            f.n_call = INT32_MAX / 2;
            assert_int_equal(restore(&f.w), CPUBIND_LINUX_OK);
        }
        assert_true(is_as_before(&f.w));
        assert_irq_on(on_stage.before);
        if (is_over)
            break;
    }
    assert_true(n_failed > 20);
}

SETUP(set_up)
{
    memset(&f, 0, sizeof f);
    if (!stage_make())
        return -1;
    f.sys = stage_table();
    snprintf(f.main_cpu, sizeof f.main_cpu, "%d", (int)on_stage.cpu[0]);
    snprintf(f.other_cpu, sizeof f.other_cpu, "%d", (int)on_stage.cpu[1]);
    worker_start(&f.w, "worker");
    worker_start(&f.second, "second");
    stage_list(f.w.pid);
    stage_list(f.second.pid);
    irq_add(57, "cq_update_irq", on_stage.before);
    return 0;
}

SETUP(tear_down)
{
    worker_end(&f.w);
    worker_end(&f.second);
    stage_remove();
    return has_child() ? -1 : 0;
}

static int run_all(void)
{
    return run_on_two_cpus("record_forms", set_up, tear_down);
}

TEST_PROGRAM(run_all)
