/* doctor.c - hosts with one fault each: doctor finds it, and its command mends it
 * SPDX-License-Identifier: MIT
 *
 * The cases are tests/cases/doctor_*.txt. The host "right" of such a file is a fixture with the
 * files that it has: no fault is found there. The host of a case has those of the case as well:
 * `file` and `gone`, and last one of these:
 *   finds [OPTION VALUE]   doctor has one finding, a redacted capture has the same, and the
 *                          command that it prints (carry_out.h), and what --fix would do, mend
 *                          the host; doctor then finds nothing, with this option too
 *   findings               all findings
 *   captured               those of a capture of the same host are the same
 *   silent                 doctor finds nothing, and knows all
 *   unknown                doctor finds nothing, and says what it does not know
 */
#include "../support/cases.h"
#include "carry_out.h"

#define CPUS "sys/devices/system/cpu/"

enum { MAX_FILES = 64 };

/* A file of a host; without a text it is removed. "\a" stands for a NUL. */
typedef struct file {
    const char *name, *text;
} file;

static char top[] = "/tmp/cpubind-doctor-XXXXXX";
static char right[64], made[64];

/* Makes the right host, of the file of the first case, and one like it. */
static void begin(const script *s)
{
    int32_t i = 0;
    if (*right)
        return;
    assert_non_null(mkdtemp(top));
    snprintf(right, sizeof right, "%s/right", top);
    snprintf(made, sizeof made, "%s/made", top);
    command_unpack("a2-driver-smi-host", right);
    while (strcmp(s->step[i].verb, "host") != 0)
        i++;
    for (i++; !is_head(&s->step[i]); i++) {
        split_file(&s->step[i]);
        put(right, s->step[i].rest, s->step[i].data);
    }
    shell(top, "cp -R right made");
    carry_begin(top);
}

static int remove_all(void **state)
{
    const char *const words[] = {"rm", "-rf", top, NULL};
    command_result r = command_run(words);
    (void)state;
    command_free(&r);
    return 0;
}

/* == Reports ================================================================ */

/* doctor --json of a folder, with further options. */
static json_t *examine(const char *folder, const char *const *option, int status)
{
    command_result r = RUN("doctor", "--json", "--root", folder, option ? option[0] : NULL,
                           option ? option[1] : NULL);
    if (r.status != status)
        fail_msg("%s: status %d, not %d: %s%s", folder, r.status, status, r.out, r.err);
    return json_of(r);
}

/* No finding, and each check could be made but for n. */
static void expect_right(const char *folder, const char *const *option, size_t n)
{
    json_t *report = examine(folder, option, 0);
    assert_int_equal(json_array_size(json_object_get(report, "findings")), 0);
    if (!option || !option[0])
        assert_int_equal(json_array_size(json_object_get(report, "unknown")), n);
    assert_true(json_is_null(json_object_get(report, "no_plan")));
    json_decref(report);
}

/* A line of the shell, with the files that are removed at "$@". */
static void shell_removed(const char *folder, const char *line, const file *files)
{
    char text[8192];
    int n = snprintf(text, sizeof text, "set --");
    for (int i = 0; i < MAX_FILES && files[i].name; i++)
        if (!files[i].text)
            n += snprintf(text + n, sizeof text - (size_t)n, " %s", files[i].name);
    assert_in_range(n + snprintf(text + n, sizeof text - (size_t)n, "; %s", line), 1,
                    sizeof text - 1);
    shell(folder, text);
}

static void make_host(const file *files)
{
    shell_removed(made, "touch -d '0.05 seconds ago' ../stamp; [ $# -eq 0 ] || rm -r $*",
                  files);
    for (int i = 0; i < MAX_FILES && files[i].name; i++)
        if (files[i].text)
            put(made, files[i].name, files[i].text);
}

/* Makes the made host right again: puts back the files that have changed since make_host, and
 * those that were removed. */
static void unmake_host(const file *files)
{
    shell_removed(made,
                  "for f in $(find . -newer ../stamp -type f -print -delete); do\n"
                  "[ ! -e ../right/$f ] || set -- \"$@\" $f; done\n"
                  "cd ../right && { [ $# -eq 0 ] || cp -R --parents \"$@\" ../made; } &&\n"
                  "cd ../made && find . -depth -type d -empty -delete",
                  files);
}

/* == One fault ============================================================== */

static file fault[MAX_FILES]; /* what makes the host of the case wrong */
static int n_fault;
static char known_checks[2048]; /* those that have a case, each with a blank before it */

static void mend_host(void)
{
    unmake_host(fault);
    memset(fault, 0, sizeof fault);
    n_fault = 0;
}

/* A case that failed has left its fault. */
static void forget_fault(void)
{
    if (n_fault > 0)
        mend_host();
}

static void add_file(step *now)
{
    begin(now->script);
    assert_true(n_fault < MAX_FILES);
    split_file(now);
    fault[n_fault++] = (file){now->rest, *now->verb == 'g' ? NULL : now->data ? now->data : ""};
}

static void say_unknown(said *s, const json_t *report)
{
    const json_t *unknown = json_object_get(report, "unknown");
    for (size_t i = 0; i < json_array_size(unknown); i++)
        say(s, "> not known: %s, by %s\n", text_at(json_array_get(unknown, i), "check"),
            text_at(json_array_get(unknown, i), "input"));
}

static void say_report(said *s, const json_t *report)
{
    const json_t *finding = json_array_get(json_object_get(report, "findings"), 0);
    assert_int_equal(json_array_size(json_object_get(report, "findings")), 1);
    say(s, "> %s: %s\n", text_at(finding, "check"), text_at(finding, "evidence"));
    if (*text_at(finding, "value"))
        say(s, "> value %s\n", text_at(finding, "value"));
    say(s, "> command %s\n", text_at(finding, "command"));
    say_unknown(s, report);
    assert_true(*text_at(finding, "cost") && *text_at(finding, "severity"));
}

/* Writes a capture of the made host. */
static void capture(char captured[64], const char *option)
{
    snprintf(captured, 64, "%s/captured", top);
    shell(top, "rm -rf captured");
    command_result r = RUN("capture", "--quiet", "--root", made, "-o", captured, option);
    if (r.status != 0)
        fail_msg("status %d: %s", r.status, r.err);
    command_free(&r);
}

/* A redacted capture of the made host has the same fault with the same command. */
static void expect_in_capture(const json_t *wanted)
{
    char captured[64];
    const json_t *finding;
    json_t *report;
    capture(captured, "--redact");
    report = examine(captured, NULL, 1);
    finding = json_array_get(json_object_get(report, "findings"), 0);
    assert_int_equal(json_array_size(json_object_get(report, "findings")), 1);
    assert_string_equal(text_at(finding, "check"), text_at(wanted, "check"));
    assert_string_equal(text_at(finding, "command"), text_at(wanted, "command"));
    json_decref(report);
}

/* The changes that --fix lists mend as well, and are of these checks alone. */
static void expect_fixed(const char *check)
{
    static const char *const safe[] = {"one_cpu", "irqbalance", "nic_interrupts", "autonuma",
                                       "governor"};
    json_t *report = json_of(RUN("doctor", "--json", "--fix", "--dry-run", "--root", made));
    const json_t *changes = json_object_get(json_object_get(report, "fix"), "changes");
    int is_safe = 0;
    for (size_t i = 0; i < sizeof safe / sizeof *safe; i++)
        is_safe |= strcmp(check, safe[i]) == 0;
    assert_int_equal(json_array_size(changes) > 0, is_safe);
    for (size_t i = 0; i < json_array_size(changes); i++)
        assert_string_equal(text_at(json_array_get(changes, i), "check"), check);
    if (is_safe) {
        carry_changes(made, changes);
        expect_right(made, NULL, 0);
        unmake_host(fault);
        make_host(fault);
    }
    json_decref(report);
}

static int n_found;

/* Finds and names the fault, and mends it, or one in four. `finds OPTION VALUE`: doctor has
 * this option after it. */
static void find_fault(step *now)
{
    static said s;
    char *option[3] = {NULL, NULL, NULL}, *rest = now->rest;
    json_t *report;
    const json_t *finding;
    option[0] = strtok_r(rest, " ", &rest);
    begin(now->script);
    option[1] = option[0] ? strtok_r(rest, " ", &rest) : NULL;
    make_host(fault);
    report = examine(made, NULL, 1);
    finding = json_array_get(json_object_get(report, "findings"), 0);
    s.len = 0;
    say_report(&s, report);
    expect(now, &s);
    strcat(strcat(known_checks, " "), text_at(finding, "check"));
    if (n_found++ % one_in(4) == 0) {
        expect_in_capture(finding);
        expect_fixed(text_at(finding, "check"));
        carry_out(made, text_at(finding, "command"),
                  (int)json_integer_value(json_object_get(finding, "pid")));
        /* The two checks of npu-smi cannot be made where it is not asked. */
        expect_right(made, (const char *const *)option,
                     strstr(text_at(finding, "command"), "CPUBIND_FACTS") ? 2 : 0);
    }
    json_decref(report);
    mend_host();
}

/* == Several, or none ======================================================= */

static void say_findings(said *s, const char *folder)
{
    json_t *report = examine(folder, NULL, 1);
    const json_t *findings = json_object_get(report, "findings");
    s->len = 0;
    for (size_t i = 0; i < json_array_size(findings); i++)
        say(s, "> %s: %s\n", text_at(json_array_get(findings, i), "check"),
            text_at(json_array_get(findings, i), "evidence"));
    say(s, "> and %d more\n", (int)json_integer_value(json_object_get(report, "more")));
    json_decref(report);
}

static void find_all(step *now)
{
    static said s;
    begin(now->script);
    make_host(fault);
    say_findings(&s, made);
    expect(now, &s);
}

static void find_captured(step *now)
{
    static said s;
    char captured[64];
    capture(captured, NULL);
    say_findings(&s, captured);
    expect(now, &s);
    mend_host();
}

static void find_nothing(step *now)
{
    begin(now->script);
    make_host(fault);
    expect_right(made, NULL, 0);
    mend_host();
}

static void find_unknown(step *now)
{
    static said s;
    json_t *report;
    make_host(fault);
    report = examine(made, NULL, 0);
    s.len = 0;
    say_unknown(&s, report);
    expect(now, &s);
    json_decref(report);
    mend_host();
}

/* == Tests ================================================================== */

/* A capture has what each check of a right host reads, as a folder and in a corpus, and no key
 * of an environment or a command line. */
TEST(captures_what_each_check_reads)
{
    static const file files[MAX_FILES] = {
        {"proc/61000/environ", "HF_TOKEN=secret\aOMP_PROC_BIND=false\a"},
        {"proc/60000/cmdline", "python\a/usr/bin/vllm\aserve\asecret\a--additional-config\a"
                               "{\"k\": \"secret\", \"enable_cpu_binding\": false}\a"}};
    char captured[64], db[64];
    make_host(files);
    snprintf(captured, sizeof captured, "%s/captured", top);
    shell(top, "rm -rf captured");
    snprintf(db, sizeof db, "%s/hosts.db", top);
    expect_output(RUN("capture", "--root", made, "-o", captured), "the same");
    expect_right(captured, NULL, 0);
    shell(captured, "! grep -r secret .");
    expect_output(RUN("fixture", "import", "--db", db, captured), "");
    expect_output(RUN("doctor", "--db", db, "--fixture", "captured"),
                  "nothing to mend; 35 of 35 checks are right");
    unmake_host(files);
}

/* Every check has a made host, so that none is without a test. */
TEST(has_a_made_host_for_each_check)
{
    json_t *report = examine(right, NULL, 0);
    json_t *words = json_object_get(report, "right");
    for (size_t i = 0; i < json_array_size(words); i++) {
        const char *word = json_string_value(json_array_get(words, i));
        char whole[64];
        snprintf(whole, sizeof whole, " %s", word);
        if (!strstr(known_checks, whole))
            fail_msg("no case has the fault %s", word);
    }
    json_decref(report);
}

/* The command for hundreds of CPUs is a whole one: 600 of 640 have another governor. */
TEST(prints_a_whole_command_for_many_cpus)
{
    static const char set_governors[] =
        "cd many && "
        "for i in $(seq 0 639); do mkdir -p " CPUS "cpu$i/cpufreq; g=powersave; "
        "[ $((i % 16)) -ne 5 ] || g=performance; "
        "echo $g >" CPUS "cpu$i/cpufreq/scaling_governor; done";
    char many[64], path[128];
    json_t *report;
    const json_t *findings, *finding = NULL;
    snprintf(many, sizeof many, "%s/many", top);
    command_unpack("a3-640cpu-16npu", many);
    shell(top, set_governors);
    report = json_of(RUN("doctor", "--json", "--root", many));
    findings = json_object_get(report, "findings");
    for (size_t i = 0; i < json_array_size(findings); i++)
        if (strcmp(text_at(json_array_get(findings, i), "check"), "governor") == 0)
            finding = json_array_get(findings, i);
    assert_non_null(finding);
    assert_memory_equal(text_at(finding, "cpus"), "0-4,6-20,22-36,", 15);
    carry_out(many, text_at(finding, "command"), 0);
    json_decref(report);
    snprintf(path, sizeof path,
             "[ $(cat " CPUS "cpu*/cpufreq/scaling_governor | sort -u) = "
             "performance ]");
    shell(many, path);
}

static CMFixtureFunction before_all, after_all = remove_all;

static const verb of_driver[] = {{"file", add_file},          {"gone", add_file},
                                 {"finds", find_fault},       {"findings", find_all},
                                 {"captured", find_captured}, {"silent", find_nothing},
                                 {"unknown", find_unknown},   {NULL, NULL}};

TEST_CASES("doctor_*", of_driver, forget_fault)
