/* test_doctor.c - hosts with one fault each: cpubind doctor finds it, names it, and its command
 * mends it; a right host has no finding
 * SPDX-License-Identifier: MIT
 *
 * The right host is the fixture a2-driver-smi-host with each NPU on a node of its own, and all
 * files that the checks read. Each made host is an overlay over it: one row of a table. The
 * command that doctor prints is run on the folder, with /proc and /sys in it, where files are all
 * that it writes. Else the row has its text, and the files as they are after it.
 */
#include <sys/stat.h>

#include "../cli/answer.h"

#define FIXTURE "fixtures/hosts/a2-driver-smi-host"
#define CPUS    "sys/devices/system/cpu/"
#define PCI     "sys/bus/pci/devices/"

enum { N_CPU = 48, MAX_FILES = 12 };

static char top[] = "/tmp/cpubind-doctor-XXXXXX";
static char right[64], made[64];

/* A file of a host; without a text it is removed. */
typedef struct file {
    const char *name, *text;
} file;

typedef struct made_host {
    const char *check;            /* the word of the fault */
    file overlay[MAX_FILES];      /* what makes it wrong */
    const char *evidence, *value; /* parts of what is said; value NULL: there is none */
    const char *command;          /* the whole command */
    file mended[MAX_FILES];       /* after it; none: the command is run on the folder */
    const char *option[3];        /* of doctor after it */
} made_host;

static void shell(const char *folder, const char *text)
{
    const char *const words[] = {"sh", "-c", "cd \"$1\" && eval \"$2\"", "sh", folder,
                                 text, NULL};
    command_result r = command_run(words);
    if (r.status != 0)
        fail_msg("%s: status %d: %s", text, r.status, r.err);
    command_free(&r);
}

/* Writes a file below a folder, and the folders above it. */
static void put(const char *folder, const char *name, const char *text)
{
    char path[256];
    FILE *out;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *at = path + strlen(folder) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(path, 0755);
        *at = '/';
    }
    out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

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

static const file right_files[MAX_FILES] = {
    {"proc/sys/kernel/numa_balancing", "0\n"},
    {CPUS "isolated", "\n"},
    {CPUS "nohz_full", "(null)\n"},
    {PCI "0000:c2:00.0/numa_node", "3\n"},
    {PCI "0000:c2:00.0/local_cpulist", "36-47\n"},
    {PCI "0000:02:00.0/numa_node", "1\n"},
    {PCI "0000:02:00.0/local_cpulist", "12-23\n"},
};

static int make_right(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(top));
    snprintf(right, sizeof right, "%s/right", top);
    snprintf(made, sizeof made, "%s/made", top);
    const char *const copy[] = {"cp", "-R", FIXTURE, right, NULL};
    command_result r = command_run(copy);
    assert_int_equal(r.status, 0);
    command_free(&r);
    overlay(right, right_files);
    shell(right, "sed -i 's/^\\(NPU1 .*\\)24-35/\\136-47/; s/^\\(NPU3 .*\\)0-11/\\112-23/' "
                 "cmd/npu-smi-info-t-topo.txt");
    for (int cpu = 0; cpu < N_CPU; cpu++) {
        char name[128], text[32];
        snprintf(name, sizeof name, CPUS "cpu%d/cpufreq/scaling_governor", cpu);
        put(right, name, "performance\n");
        snprintf(name, sizeof name, CPUS "cpu%d/topology/thread_siblings_list", cpu);
        snprintf(text, sizeof text, "%d\n", cpu);
        put(right, name, text);
    }
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

/* == The made hosts ========================================================= */

static const made_host hosts[] = {
    {"autonuma",
     {{"proc/sys/kernel/numa_balancing", "1\n"}},
     "automatic NUMA balancing is on",
     "1",
     "echo 0 >/proc/sys/kernel/numa_balancing",
     {{0}},
     {0}},
    {"offline",
     {{CPUS "online", "0-45\n"}, {CPUS "cpu46/online", "0\n"}, {CPUS "cpu47/online", "0\n"}},
     "CPUs 46-47 are offline",
     "0-45",
     "for i in 46 47; do echo 1 >/sys/devices/system/cpu/cpu$i/online; done",
     {{0}},
     {0}},
    {"governor",
     {{CPUS "cpu3/cpufreq/scaling_governor", "powersave\n"},
      {CPUS "cpu17/cpufreq/scaling_governor", "ondemand\n"}},
     "CPUs 3,17 is not performance, but powersave",
     "powersave",
     "for i in 3 17; do echo performance >/sys/devices/system/cpu/cpu$i/cpufreq/"
     "scaling_governor; done",
     {{0}},
     {0}},
    {"isolated",
     {{CPUS "isolated", "2-5,10-11\n"}},
     "CPUs 2-5 are in isolcpus=",
     "2-5,10-11",
     "grubby --update-kernel=ALL --remove-args=isolcpus",
     {{CPUS "isolated", "\n"}},
     {0}},
    {"nohz_full",
     {{CPUS "nohz_full", "24-35\n"}},
     "CPUs 24-33 are in nohz_full=",
     "24-35",
     "grubby --update-kernel=ALL --remove-args=nohz_full",
     {{CPUS "nohz_full", "(null)\n"}},
     {0}},
    {"split_cores",
     {{"sys/devices/system/node/node0/cpulist", "0-23\n"},
      {"sys/devices/system/node/node1", NULL},
      {PCI "0000:01:00.0/local_cpulist", "0-23\n"},
      {PCI "0000:02:00.0/local_cpulist", "0-23\n"},
      {PCI "0000:02:00.0/numa_node", "0\n"},
      {CPUS "cpu11/topology/thread_siblings_list", "11-12\n"},
      {CPUS "cpu12/topology/thread_siblings_list", "11-12\n"}},
     "cores split between NPUs by the rules reference: 1",
     NULL,
     "export CPUBIND_RULES=near",
     {{0}},
     {0}},
    {"poor_locality",
     {{PCI "0000:c2:00.0/numa_node", "2\n"},
      {PCI "0000:c2:00.0/local_cpulist", "24-35\n"},
      {PCI "0000:02:00.0/numa_node", "0\n"},
      {PCI "0000:02:00.0/local_cpulist", "0-11\n"}},
     "2 of 4 pools have no CPU near their NPU by the rules reference: NPU 1,3",
     NULL,
     "export CPUBIND_RULES=near",
     {{0}},
     {0}},
};

enum { N_HOSTS = (int)(sizeof hosts / sizeof *hosts) };

/* doctor --json of a folder, with further options. */
static json_t *examine(const char *folder, const char *const *option, int status)
{
    command_result r = RUN("doctor", "--json", "--root", folder, option ? option[0] : NULL,
                           option ? option[1] : NULL);
    if (r.status != status)
        fail_msg("%s: status %d, not %d: %s%s", folder, r.status, status, r.out, r.err);
    return json_of(r);
}

/* No finding, and each check could be made. */
static void expect_right(const char *folder, const char *const *option)
{
    json_t *report = examine(folder, option, 0);
    assert_int_equal(json_array_size(json_object_get(report, "findings")), 0);
    if (!option || !option[0])
        assert_int_equal(json_array_size(json_object_get(report, "unknown")), 0);
    assert_true(json_is_null(json_object_get(report, "no_plan")));
    json_decref(report);
}

/* Runs a command of doctor on a folder: /proc and /sys are in it; a variable of the environment
 * of all workers becomes one of the snapshot; CPUs that were set online are. */
static void mend(const char *folder, const char *command)
{
    char text[8192] = "";
    size_t n = 0;
    for (const char *at = command; *at; at++) {
        const int is_start = at == command || strchr(" >", at[-1]) != NULL;
        if (is_start && (strncmp(at, "/proc/", 6) == 0 || strncmp(at, "/sys/", 5) == 0))
            continue;
        text[n++] = *at;
        assert_true(n < sizeof text - 512);
    }
    snprintf(text + n, sizeof text - n,
             "\n[ -z \"${CPUBIND_RULES-}\" ] || echo CPUBIND_RULES=\"$CPUBIND_RULES\" >>env\n"
             "cat " CPUS "cpu*/online 2>/dev/null | grep -q 1 && cp " CPUS "present " CPUS
             "online\n:\n");
    shell(folder, text);
}

static void check_host(const made_host *h)
{
    const char *const copy[] = {"cp", "-R", right, made, NULL};
    command_result r = command_run(copy);
    json_t *report, *finding;
    assert_int_equal(r.status, 0);
    command_free(&r);
    overlay(made, h->overlay);

    report = examine(made, NULL, 1);
    finding = json_array_get(json_object_get(report, "findings"), 0);
    if (json_array_size(json_object_get(report, "findings")) != 1 ||
        strcmp(text_at(finding, "check"), h->check) != 0 ||
        !strstr(text_at(finding, "evidence"), h->evidence) ||
        strcmp(text_at(finding, "command"), h->command) != 0 ||
        strcmp(text_at(finding, "value"), h->value ? h->value : "") != 0)
        fail_msg("%s: %s", h->check, json_dumps(report, JSON_INDENT(1)));
    assert_int_equal(json_array_size(json_object_get(report, "unknown")), 0);
    assert_true(*text_at(finding, "cost") && *text_at(finding, "severity"));

    if (h->mended[0].name)
        overlay(made, h->mended);
    else
        mend(made, text_at(finding, "command"));
    json_decref(report);
    expect_right(made, h->option);
    shell(top, "rm -r made");
}

static void finds_names_and_mends_one_fault_of_each_host(void **state)
{
    (void)state;
    for (int i = 0; i < N_HOSTS; i++)
        check_host(&hosts[i]);
}

static void is_silent_on_a_right_host(void **state)
{
    (void)state;
    expect_right(right, NULL);
    expect_output(RUN("doctor", "--root", right), " right, 0 not known; 0 to mend\n");
    command_result r = RUN("doctor", "--quiet", "--root", right);
    assert_int_equal(r.status, 0);
    assert_string_equal(r.out, "");
    assert_string_equal(r.err, "");
    command_free(&r);
}

/* Every check has a made host, so that none is without a test. */
static void has_a_made_host_for_each_check(void **state)
{
    json_t *report = examine(right, NULL, 0);
    json_t *words = json_object_get(report, "right");
    (void)state;
    for (size_t i = 0; i < json_array_size(words); i++) {
        const char *word = json_string_value(json_array_get(words, i));
        int n = 0;
        for (int k = 0; k < N_HOSTS; k++)
            n += strcmp(hosts[k].check, word) == 0;
        if (n == 0)
            fail_msg("no made host has the fault %s", word);
    }
    json_decref(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_silent_on_a_right_host),
        cmocka_unit_test(finds_names_and_mends_one_fault_of_each_host),
        cmocka_unit_test(has_a_made_host_for_each_check),
    };
    return cmocka_run_group_tests(tests, make_right, remove_all);
}
