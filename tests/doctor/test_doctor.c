/* test_doctor.c - hosts with one fault each: cpubind doctor finds it, names it, and its command
 * mends it; a right host has no finding
 * SPDX-License-Identifier: MIT
 *
 * The right host is the fixture a2-driver-smi-host with each NPU on a node of its own, and all
 * files that the checks read. Each made host is an overlay over it: a case of
 * tests/doctor/cases, in the verbs `file`, `gone` and `finds`. The command that doctor prints
 * is carried out on the folder (carry_out.h), and doctor finds nothing then.
 */
#include "../support/cases.h"
#include "carry_out.h"

#define CPUS "sys/devices/system/cpu/"
#define PCI  "sys/bus/pci/devices/"

enum { N_CPU = 48, MAX_FILES = 12 };

static char top[] = "/tmp/cpubind-doctor-XXXXXX";
static char right[64], made[64];

/* A line of /proc/<pid>/stat, as text: the numbers are those of proc(5). */
#define STAT(pid, name, state, ppid, cpu)                                                      \
    pid " (" name ") " state " " ppid " 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0 "    \
        "18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 " cpu " 0 0 0 0 0\n"
#define STATUS(name, pid, cpus) "Name:\t" name "\nPid:\t" pid "\nCpus_allowed_list:\t" cpus "\n"

#define RECORD(pid, rules)                                                                     \
    "cpubind-record 3 0.1.0\nprocess " pid " 100\nbefore 0-47\nmain 1\nrules " rules           \
    "\nsum 00000000\n"

/* A file of a host; without a text it is removed. "\a" stands for a NUL. */
typedef struct file {
    const char *name, *text;
} file;

static void overlay(const char *folder, const file *files)
{
    for (int i = 0; i < MAX_FILES && files[i].name; i++) {
        char text[256];
        if (files[i].text) {
            put(folder, files[i].name, files[i].text);
            continue;
        }
        snprintf(text, sizeof text, "rm -r %s", files[i].name);
        shell(folder, text);
    }
}

/* == The right host ========================================================= */

/* The output of npu-smi info -t topo. */
#define TOPO(npu0, npu1, npu2, npu3)                                                           \
    "\t   NPU0       NPU1       NPU2       NPU3       CPU Affinity\n"                          \
    "NPU0       X          HCCS       HCCS       HCCS       " npu0 "\n"                        \
    "NPU1       HCCS       X          HCCS       HCCS       " npu1 "\n"                        \
    "NPU2       HCCS       HCCS       X          HCCS       " npu2 "\n"                        \
    "NPU3       HCCS       HCCS       HCCS       X          " npu3 "\n"

static const file right_files[] = {
    {"cmd/npu-smi-info-t-topo.txt", TOPO("24-35", "36-47", "0-11", "12-23")},
    {"proc/self/status", "Name:\tcpubind\nPid:\t4242\nThreads:\t1\nSeccomp:\t0\n"
                         "CapBnd:\t000001ffffffffff\nCpus_allowed_list:\t0-47\n"},
    {"proc/self/mountinfo", "22 28 0:20 / /proc rw,nosuid shared:5 - proc proc rw\n"
                            "23 28 0:21 / /sys ro,nosuid shared:6 - sysfs sysfs ro\n"},
    {"proc/1/comm", "systemd\n"},
    {"proc/1/stat", STAT("1", "systemd", "S", "0", "34")},
    {"proc/1/cmdline", "/sbin/init\a"},
    {"proc/1/task/1/stat", STAT("1", "systemd", "S", "0", "34")},
    {"proc/1/task/1/status", STATUS("systemd", "1", "0-47")},
    {"proc/40/task/40/stat", "40 (ksoftirqd/34) R 2 0 0 0 -1 69238848 0 0 0 0 0 0 0 0 20 0 1 0 "
                             "1 0 0 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 34 0 0\n"},
    {"proc/60000/comm", "vllm\n"},
    {"proc/60000/stat", STAT("60000", "vllm) S (1", "S", "1", "3")},
    {"proc/60000/cmdline", "python\a/usr/bin/vllm\aserve\amodel\a--additional-config\a"
                           "{\"enable_cpu_binding\": false}\a"},
    {"sys/class/net/lo/mtu", "65536\n"},
    {"sys/class/net/eth0/device/msi_irqs/301", "msi\n"},
    {"sys/class/net/eth0/device/msi_irqs/302", "msi\n"},
    {"proc/irq/301/smp_affinity_list", "0-1\n"},
    {"proc/irq/302/smp_affinity_list", "0-47\n"},
    {"proc/irq/302/effective_affinity_list", "1\n"},
    {"sys/fs/cgroup/kubepods/cpuset.cpus", "0-47\n"},
    {"proc/sys/kernel/numa_balancing", "0\n"},
    {CPUS "isolated", "\n"},
    {CPUS "nohz_full", "(null)\n"},
    {PCI "0000:c2:00.0/numa_node", "3\n"},
    {PCI "0000:c2:00.0/local_cpulist", "36-47\n"},
    {PCI "0000:02:00.0/numa_node", "1\n"},
    {PCI "0000:02:00.0/local_cpulist", "12-23\n"},
};

/* A worker whose pool starts at CPU `first`, of which it uses the roles, and its node. */
static void put_worker(int pid, int first, int node)
{
    static const char *const names[] = {"python3.11", "acl_thread", "release_thread"};
    char folder[96], text[256];
    snprintf(folder, sizeof folder, "%s/proc/%d", right, pid);
    mkdir(folder, 0755);
    snprintf(text, sizeof text, STAT("%d", "python3.11", "S", "60000", "%d"), pid, first + 2);
    put(folder, "stat", text);
    put(folder, "comm", "python3.11\n");
    put(folder, "cmdline", "VLLM::Worker_TP0\a");
    put(folder, "environ", "OMP_NUM_THREADS=8\aOMP_PROC_BIND=false\aHOME=/root\a");
    put(folder, "cgroup", "0::/kubepods/a\n");
    put(folder, "status", "Name:\tpython3.11\nVmLck:\t       0 kB\nVmPin:\t     128 kB\n");
    snprintf(text, sizeof text,
             "7f0000000000 default anon=262144 dirty=262144 N%d=262144 kernelpagesize_kB=4\n"
             "7f8000000000 default file=/usr/lib/libc.so mapped=300 mapmax=90 N0=300 "
             "kernelpagesize_kB=4\n",
             node);
    put(folder, "numa_maps", text);
    for (int i = 0; i < 5; i++) {
        const int name = i < 3 ? i : 0;
        char file_name[64], cpus[16];
        snprintf(cpus, sizeof cpus, name ? "%d" : "%d-%d", first + (name ? 9 + i : 2),
                 first + 9);
        snprintf(file_name, sizeof file_name, "task/%d/status", pid + 10 * i);
        snprintf(text, sizeof text, STATUS("%.15s", "%d", "%s"), names[name], pid + 10 * i,
                 cpus);
        put(folder, file_name, text);
        snprintf(file_name, sizeof file_name, "task/%d/stat", pid + 10 * i);
        snprintf(text, sizeof text, STAT("%d", "%.15s", "R", "60000", "%d"), pid + 10 * i,
                 names[name], first + (name ? 9 + i : 2));
        put(folder, file_name, text);
    }
}

static int make_right(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(top));
    snprintf(right, sizeof right, "%s/right", top);
    snprintf(made, sizeof made, "%s/made", top);
    command_unpack("a2-driver-smi-host", right);
    for (size_t i = 0; i < sizeof right_files / sizeof *right_files; i++)
        put(right, right_files[i].name, right_files[i].text);
    put_worker(61000, 24, 2);
    put_worker(61003, 12, 1);
    for (int npu = 0; npu < 4; npu++) {
        static const int first[] = {24, 36, 0, 12}; /* CPU of the pool */
        for (int k = 0; k < 4; k++) {
            char name[64], text[16];
            snprintf(name, sizeof name, "proc/irq/%d/smp_affinity_list", 200 + 10 * npu + k);
            snprintf(text, sizeof text, "%d\n", first[npu] + (k == 2));
            put(right, name, text);
        }
    }
    for (int cpu = 0; cpu < N_CPU; cpu++) {
        char name[128], text[32];
        snprintf(name, sizeof name, CPUS "cpu%d/cpufreq/scaling_governor", cpu);
        put(right, name, "performance\n");
        snprintf(name, sizeof name, CPUS "cpu%d/topology/thread_siblings_list", cpu);
        snprintf(text, sizeof text, "%d\n", cpu);
        put(right, name, text);
    }
    shell(top, "cp -R right made");
    carry_begin(top);
    return 0;
}

static int remove_all(void **state)
{
    (void)state;
    shell("/", "true");
    const char *const words[] = {"rm", "-r", top, NULL};
    command_result r = command_run(words);
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

static void make_host(const file *files)
{
    shell(top, "touch -d '0.05 seconds ago' stamp");
    overlay(made, files);
}

/* Makes the made host right again: puts back the files that have changed since make_host, and
 * those that were removed. */
static void unmake_host(const file *files)
{
    for (int i = 0; i < MAX_FILES && files[i].name; i++) {
        char text[512];
        if (files[i].text)
            continue;
        snprintf(text, sizeof text,
                 "mkdir -p $(dirname made/%s) && cp -R right/%s $(dirname made/%s)",
                 files[i].name, files[i].name, files[i].name);
        shell(top, text);
    }
    shell(made, "find . -newer ../stamp -type f | while read -r f; do\n"
                "if [ -e ../right/$f ]; then cp ../right/$f $f; else rm $f; fi; done\n"
                "find . -depth -type d -empty -delete");
}

/* == One fault ============================================================== */

static file fault[MAX_FILES]; /* what makes the host of the case wrong */
static int n_fault;
static char known_checks[2048]; /* those that have a case, each with a blank before it */

/* A case that failed has left its fault. */
static void forget_fault(void)
{
    if (n_fault > 0)
        unmake_host(fault);
    memset(fault, 0, sizeof fault);
    n_fault = 0;
}

static void add_file(step *now)
{
    assert_true(n_fault < MAX_FILES);
    split_file(now);
    fault[n_fault++] = (file){now->rest, *now->verb == 'g' ? NULL : now->data ? now->data : ""};
}

static void say_report(said *s, const json_t *report)
{
    const json_t *finding = json_array_get(json_object_get(report, "findings"), 0);
    const json_t *unknown = json_object_get(report, "unknown");
    assert_int_equal(json_array_size(json_object_get(report, "findings")), 1);
    say(s, "> %s: %s\n", text_at(finding, "check"), text_at(finding, "evidence"));
    if (*text_at(finding, "value"))
        say(s, "> value %s\n", text_at(finding, "value"));
    say(s, "> command %s\n", text_at(finding, "command"));
    for (size_t i = 0; i < json_array_size(unknown); i++)
        say(s, "> not known: %s\n", text_at(json_array_get(unknown, i), "check"));
    assert_true(*text_at(finding, "cost") && *text_at(finding, "severity"));
}

/* A redacted capture of the made host has the same fault with the same command. */
static void expect_in_capture(const json_t *wanted)
{
    char captured[64];
    const json_t *finding;
    json_t *report;
    snprintf(captured, sizeof captured, "%s/captured", top);
    command_result r =
        RUN("capture", "--quiet", "--replace", "--redact", "--root", made, "-o", captured);
    if (r.status != 0)
        fail_msg("status %d: %s", r.status, r.err);
    command_free(&r);
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

/* Finds, names and mends the fault; `finds OPTION VALUE`: doctor has this option after it. */
static void find_fault(step *now)
{
    static said s;
    char *option[3] = {NULL, NULL, NULL}, *rest = now->rest;
    json_t *report;
    const json_t *finding;
    option[0] = strtok_r(rest, " ", &rest);
    option[1] = option[0] ? strtok_r(rest, " ", &rest) : NULL;
    make_host(fault);
    report = examine(made, NULL, 1);
    finding = json_array_get(json_object_get(report, "findings"), 0);
    s.len = 0;
    say_report(&s, report);
    expect(now, &s);
    strcat(strcat(known_checks, " "), text_at(finding, "check"));
    expect_in_capture(finding);
    expect_fixed(text_at(finding, "check"));
    carry_out(made, text_at(finding, "command"),
              (int)json_integer_value(json_object_get(finding, "pid")));
    /* The two checks of npu-smi cannot be made where it is not asked. */
    expect_right(made, (const char *const *)option,
                 strstr(text_at(finding, "command"), "CPUBIND_FACTS") ? 2 : 0);
    json_decref(report);
    unmake_host(fault);
    n_fault = 0;
}

/* == Other hosts ============================================================ */

TEST(is_silent_on_a_right_host)
{
    expect_right(right, NULL, 0);
    expect_output(RUN("doctor", "--root", right), " right, 0 not known; 0 to mend\n");
    command_result r = RUN("doctor", "--quiet", "--root", right);
    assert_int_equal(r.status, 0);
    assert_string_equal(r.out, "");
    assert_string_equal(r.err, "");
    command_free(&r);
}

/* cpubind capture keeps the settings of the kernel, so that a snapshot has the same faults. */
TEST(finds_the_settings_of_a_captured_host)
{
    static const file files[MAX_FILES] = {{"proc/sys/kernel/numa_balancing", "1\n"},
                                          {CPUS "isolated", "2-5\n"},
                                          {CPUS "nohz_full", "2-5\n"},
                                          {CPUS "cpu9/cpufreq/scaling_governor", "ondemand\n"}};
    static const char *const checks[] = {"autonuma", "governor", "isolated", "nohz_full"};
    char captured[64];
    json_t *report;
    make_host(files);
    snprintf(captured, sizeof captured, "%s/captured", top);
    command_result r = RUN("capture", "--quiet", "--replace", "--root", made, "-o", captured);
    if (r.status != 0)
        fail_msg("status %d: %s", r.status, r.err);
    command_free(&r);
    report = examine(captured, NULL, 1);
    assert_int_equal(json_array_size(json_object_get(report, "findings")), 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(
            text_at(json_array_get(json_object_get(report, "findings"), i), "check"),
            checks[i]);
    json_decref(report);
    unmake_host(files);
}

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
    snprintf(db, sizeof db, "%s/hosts.db", top);
    expect_output(RUN("capture", "--replace", "--root", made, "-o", captured), "the same");
    expect_right(captured, NULL, 0);
    shell(captured, "! grep -r secret .");
    expect_output(RUN("fixture", "import", "--db", db, captured), "");
    expect_output(RUN("doctor", "--db", db, "--fixture", "captured"),
                  " 0 not known; 0 to mend");
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

/* 20 processes that are no worker, on the acl CPU of NPU 0: 16 are in the report. */
TEST(counts_the_findings_that_it_does_not_keep)
{
    command_result r;
    json_t *report;
    make_host((const file[MAX_FILES]){{0}});
    for (int pid = 700; pid < 720; pid++) {
        char name[64], text[256];
        snprintf(name, sizeof name, "proc/%d/task/%d/stat", pid, pid);
        snprintf(text, sizeof text, STAT("%d", "a", "R", "1", "34"), pid);
        put(made, name, text);
        snprintf(name, sizeof name, "proc/%d/task/%d/status", pid, pid);
        snprintf(text, sizeof text, STATUS("a", "%d", "0-47"), pid);
        put(made, name, text);
    }
    report = examine(made, NULL, 1);
    assert_int_equal(json_array_size(json_object_get(report, "findings")), 16);
    assert_int_equal(json_integer_value(json_object_get(report, "more")), 4);
    json_decref(report);
    r = RUN("doctor", "--root", made);
    assert_non_null(strstr(r.out, "and 4 more findings"));
    assert_non_null(strstr(r.out, "; 20 to mend\n"));
    command_free(&r);
    unmake_host((const file[MAX_FILES]){{0}});
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

/* What only looks like a fault. */
TEST(finds_nothing_where_nothing_is_wrong)
{
    static const file files[][MAX_FILES] = {
        {{"proc/60000/cmdline", "/opt/vllm-tools/bin/python\atrain.py\a"},
         {"proc/61000/cmdline", "python3.11\a"},
         {"proc/61003/cmdline", "python3.11\a"}},
        {{"proc/60000/cmdline", "vllm\aserve\am\a"}, {"uname", "x86_64\n"}},
        {{CPUS "online", "0-45\n"}, {CPUS "smt/control", "off\n"}},
        {{CPUS "isolated", "10-11,22-23,34-35,46-47\n"}, {"env", "CPUBIND_RULES=reference\n"}},
        {{"proc/61000/environ", "OMP_PROC_BIND=FALSE\aKMP_AFFINITY=disabled\a"}},
        {{"proc/61003/cgroup", "0::/kubepods/b\n"},
         {"sys/fs/cgroup/kubepods/b/cpuset.cpus.effective", "12-23\n"},
         {"sys/fs/cgroup/kubepods/a/cpuset.cpus.effective", "24-35\n"}},
        {{"proc/900/comm", "irqbalance\n"}, {"proc/900/cmdline", "/usr/sbin/irqbalance\a"}},
        {{"proc/700/task/700/stat", STAT("700", "a", "S", "1", "34")},
         {"proc/700/task/700/status", STATUS("a", "700", "0-47")}},
        /* A thread that sleeps since its mask was narrowed */
        {{"proc/700/task/700/stat", STAT("700", "a", "S", "1", "34")},
         {"proc/700/task/700/status", STATUS("a", "700", "24")}},
        /* The process that examines */
        {{"proc/4242/task/4242/stat", STAT("4242", "cpubind", "R", "1", "34")},
         {"proc/4242/task/4242/status", STATUS("cpubind", "4242", "0-47")}},
        {{"proc/self/status", "Seccomp:\t2\nCapBnd:\t000001ffffffffff\n"
                              "Cpus_allowed_list:\t0-47\n"}},
        {{"proc/self/mountinfo", "22 28 0:20 / /proc rw - proc proc rw,hidepid=0\n"}},
        {{"proc/self/mountinfo", "22 28 0:20 / /proc rw - proc proc rw,gid=24,hidepid=2\n"},
         {"proc/self/status", "Gid:\t7\t7\t7\t7\nGroups:\t4 24 \nSeccomp:\t0\n"
                              "CapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\n"
                              "Cpus_allowed_list:\t0-47\n"}},
        {{"proc/self/mountinfo", "22 28 0:20 / /proc rw - proc proc rw,hidepid=2\n"
                                 "23 28 0:20 / /proc rw - proc proc rw\n"}},
        {{"proc/61000/numa_maps",
          "7f0000000000 prefer (many):1-2 anon=99999 N2=99999 kernelpagesize_kB=4\n"
          "7f1000000000 bind:0 anon=99 N0=99 kernelpagesize_kB=4\n"
          "7f2000000000 interleave:2 anon=99999 N2=99999 kernelpagesize_kB=4\n"
          "7f3000000000 default file=/bind:0 anon=99999 N2=99999 kernelpagesize_kB=4\n"
          "7f4000000000 prefer anon=99999 N2=99999 kernelpagesize_kB=4\n"}},
        {{"proc/self/mountinfo", "29 22 0:20 /irq /proc/irq ro,nosuid - proc proc rw\n"
                                 "30 22 0:20 /irq /proc/irq rw,nosuid - proc proc rw\n"}},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        make_host(files[i]);
        expect_right(made, NULL, 0);
        unmake_host(files[i]);
    }
}

/* A file that a check needs: without it the check is unknown, and never right. */
TEST(says_what_is_not_known)
{
    static const char *const needs[][2] = {
        {"one_cpu", "proc/61000/task/61010/status"},
        {"omp_proc_bind", "proc/61000/environ"},
        {"cpuset_far", "proc/61003/cgroup"},
        {"engine_binds", "proc/61003/stat"},
        {"far_memory", "proc/61000/numa_maps"},
        {"autonuma", "proc/sys/kernel/numa_balancing"},
        {"offline", CPUS "present"},
        {"governor", CPUS "cpu7/cpufreq/scaling_governor"},
        {"isolated", CPUS "isolated"},
        {"nohz_full", CPUS "nohz_full"},
        {"nic_interrupts", "proc/irq/301/smp_affinity_list"},
        {"proc_irq", "proc/self/mountinfo"},
        {"hidepid", "proc/self/mountinfo"},
        {"memory_policy", "proc/61003/numa_maps"},
        {"inputs_differ", "cmd/npu-smi-info-m.txt"},
    };
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        const json_t *unknown;
        json_t *report;
        int n = 0;
        make_host((const file[MAX_FILES]){{needs[i][1], NULL}});
        report = examine(made, NULL, 0);
        unknown = json_object_get(report, "unknown");
        for (size_t k = 0; k < json_array_size(unknown); k++)
            n += strcmp(text_at(json_array_get(unknown, k), "check"), needs[i][0]) == 0 &&
                 strcmp(text_at(json_array_get(unknown, k), "input"), needs[i][1]) == 0;
        if (n != 1)
            fail_msg("%s without %s: %s", needs[i][0], needs[i][1],
                     json_dumps(report, JSON_INDENT(1)));
        json_decref(report);
        unmake_host((const file[MAX_FILES]){{needs[i][1], NULL}});
    }
}

static int run_all(void)
{
    static const verb of_program[] = {
        {"file", add_file}, {"gone", add_file}, {"finds", find_fault}, {NULL, NULL}};
    before_all = make_right;
    after_all = remove_all;
    return run_cases("doctor", "doctor/cases", of_program, forget_fault);
}

TEST_PROGRAM(run_all)
