/* test_advice.c - follow the advice of each refusal of cpubind plan, as long as there is advice
 * SPDX-License-Identifier: MIT
 *
 * Every fixture host is planned with several sets of options. Each option that a refusal names
 * is given in the next run. An advice that leads back to an earlier refusal is wrong.
 * A table has the advice that no fixture host leads to: the line with the mistake, and the line
 * that follows the advice. Every text of message.c, reasons.c and warnings.c that names an
 * option or a command must be followed by one of these, or by tests/cli/bind.sh on live
 * processes.
 */
#include <ctype.h>
#include <dirent.h>
#include <jansson.h>

#include "../support/test.h"
#include "answer.h"

#define HOSTS "fixtures/hosts/"

enum { MAX_STEPS = 6, MAX_WORD = 512, MAX_REFUSAL = 4096 };

/* One run of cpubind plan: its options, and the refusals of the runs before it. */
typedef struct attempt {
    char word[2 * MAX_STEPS + 8][MAX_WORD];
    int n_word;
    char refusal[MAX_STEPS][MAX_REFUSAL];
    int n_refusal;
} attempt;

static int n_followed;

static void add_word(attempt *a, const char *word, size_t len)
{
    assert_true(a->n_word < (int)(sizeof a->word / sizeof *a->word) && len < MAX_WORD);
    snprintf(a->word[a->n_word++], MAX_WORD, "%.*s", (int)len, word);
}

static void add_option(attempt *a, const char *option, const char *value)
{
    add_word(a, option, strlen(option));
    add_word(a, value, strlen(value));
}

/* Removes an option of `n` words, itself included. */
static void remove_option(attempt *a, const char *option, int n)
{
    for (int i = 0; i < a->n_word; i++) {
        if (strcmp(a->word[i], option) != 0)
            continue;
        a->n_word -= n;
        memmove(a->word[i], a->word[i + n], sizeof *a->word * (size_t)(a->n_word - i));
    }
}

static command_result run_attempt(const attempt *a)
{
    const char *words[COMMAND_WORDS] = {command_path(), "plan", "--quiet"};
    for (int i = 0; i < a->n_word; i++)
        words[3 + i] = a->word[i];
    return command_run(words);
}

/* The product of a fixture host, by its name. */
static const char *type_of(const attempt *a)
{
    static const char *const types[] = {"a3", "950", "300i"};
    const char *name = a->word[1] + strlen(HOSTS);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strncmp(name, types[i], strlen(types[i])) == 0)
            return types[i];
    return "a2";
}

static void follow(const attempt *a);

/* Gives the options that name the NPUs and their number, if the refusal asks for them. */
static void follow_names(const attempt *a, const char *refusal)
{
    attempt next = *a;
    if (strstr(refusal, "--npus LIST"))
        add_option(&next, "--npus", "0");
    if (strstr(refusal, "--device-type "))
        add_option(&next, "--device-type", type_of(a));
    if (strstr(refusal, "--total"))
        add_option(&next, "--total", "16");
    if (next.n_word > a->n_word)
        follow(&next);
}

/* Gives --visible or --scope with the word that the refusal proposes after `before`. */
static void follow_word(const attempt *a, const char *refusal, const char *before,
                        const char *option, const char *letters)
{
    const char *word = strstr(refusal, before);
    attempt next = *a;
    if (!word)
        return;
    word += strlen(before);
    if (strspn(word, letters) == 0)
        return;
    add_word(&next, option, strlen(option));
    add_word(&next, word, strspn(word, letters));
    follow(&next);
}

/* One worker that followed such an advice alone would have the CPUs of others. */
static void expect_for_all(const char *refusal)
{
    static const char *const rules[] = {"--strategy global_slice", "--strategy topo_affinity",
                                        "--overlap resolve",       "--rules reference",
                                        "--scope host would do",   "--scope cpuset or"};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strstr(refusal, rules[i]) && !strstr(refusal, "all workers of the host"))
            fail_msg("an advice for a single worker: %s", refusal);
}

/* Follows each advice of a refusal alone. */
static void follow_all(const attempt *a, const char *refusal)
{
    static const char *const advice[][3] = {
        {"--strategy global_slice", "--strategy", "global_slice"},
        {"--strategy topo_affinity", "--strategy", "topo_affinity"},
        {"--overlap resolve", "--overlap", "resolve"},
        {"--allowed LIST", "--allowed", "0-191"},
        {"--rules reference", "--rules", "reference"},
        {"--facts npu-smi", "--facts", "npu-smi"},
        {"--facts driver", "--facts", "driver"},
        {"give --visible LIST", "--visible", "0"}};
    expect_for_all(refusal);
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++) {
        attempt next = *a;
        if (!strstr(refusal, advice[i][0]))
            continue;
        add_option(&next, advice[i][1], advice[i][2]);
        follow(&next);
    }
    for (int i = 2; strstr(refusal, "is about NPUs alone: leave it out") && i < a->n_word;
         i++) {
        attempt next = *a;
        char named[MAX_WORD + 16];
        snprintf(named, sizeof named, "and %s is about", a->word[i]);
        if (!strstr(refusal, named))
            continue;
        remove_option(&next, a->word[i], strcmp(a->word[i], "--running") == 0 ? 1 : 2);
        follow(&next);
    }
    if (strstr(refusal, "leave out --running")) {
        attempt next = *a;
        remove_option(&next, "--running", 1);
        follow(&next);
    }
    if (strstr(refusal, "keep fewer for the host") || strstr(refusal, "leave out --keep")) {
        attempt next = *a;
        remove_option(&next, "--keep", 2);
        follow(&next);
    }
    if (strstr(refusal, "let fewer processes drive an NPU")) {
        attempt next = *a;
        remove_option(&next, "--processes", 2);
        remove_option(&next, "--index", 2);
        follow(&next);
    }
    follow_names(a, refusal);
    follow_word(a, refusal, "--scope ", "--scope",
                "cpuset"
                "host"
                "own");
    follow_word(a, refusal, "commas between them: ", "--visible", "0123456789,");
}

static void fail_with(const attempt *a, const char *refusal)
{
    char line[MAX_REFUSAL] = "";
    for (int i = 0; i < a->n_word; i++)
        snprintf(line + strlen(line), sizeof line - strlen(line), " %s", a->word[i]);
    fail_msg("cpubind plan%s: this refusal came back: %s", line, refusal);
}

/* Runs an attempt. After a refusal, follows its advice. */
static void follow(const attempt *a)
{
    command_result r = run_attempt(a);
    n_followed++;
    if (r.status != 0) {
        attempt next = *a;
        if (r.status > 3)
            fail_with(a, r.err);
        for (int i = 0; i < a->n_refusal; i++)
            if (strcmp(a->refusal[i], r.err) == 0)
                fail_with(a, r.err);
        if (a->n_refusal == MAX_STEPS)
            fail_with(a, r.err);
        snprintf(next.refusal[next.n_refusal++], MAX_REFUSAL, "%s", r.err);
        follow_all(&next, r.err);
    }
    command_free(&r);
}

TEST(the_advice_of_every_refusal_leads_on)
{
    static const char *const options[][5] = {{NULL},
                                             {"--running", NULL},
                                             {"--visible", "0-1", NULL},
                                             {"--scope", "host", NULL},
                                             {"--facts", "driver", NULL},
                                             {"--allowed", "0-7", NULL},
                                             {"--rules", "near", NULL},
                                             {"--keep", "20", NULL},
                                             {"--processes", "7", "--index", "6", NULL}};
    struct dirent **host;
    const int n = scandir(HOSTS, &host, NULL, alphasort);
    assert_true(n > 80);
    for (int i = 0; i < n; i++) {
        for (size_t k = 0; host[i]->d_name[0] != '.' && k < sizeof options / sizeof *options;
             k++) {
            static attempt first;
            char path[MAX_WORD];
            memset(&first, 0, sizeof first);
            snprintf(path, sizeof path, HOSTS "%s", host[i]->d_name);
            add_option(&first, "--root", path);
            for (int j = 0; options[k][j]; j++)
                add_word(&first, options[k][j], strlen(options[k][j]));
            follow(&first);
        }
        free(host[i]);
    }
    free(host);
    assert_true(n_followed > n);
}

/* Runs cpubind plan for a host, by near or by the reference. */
static json_t *plan_of(const char *host, int is_near)
{
    const char *words[] = {command_path(),
                           "plan",
                           "--json",
                           "--root",
                           host,
                           "--rules",
                           is_near ? "near" : "reference",
                           NULL};
    command_result r = command_run(words);
    json_t *plan = json_loads(r.out, 0, NULL);
    assert_non_null(plan);
    command_free(&r);
    return plan;
}

static int has_warning(const json_t *plan, const char *code)
{
    const json_t *warnings = json_object_get(plan, "warnings");
    for (size_t i = 0; i < json_array_size(warnings); i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(warnings, i), "code")),
                   code) == 0)
            return 1;
    return 0;
}

/* Whether an NPU has a pool without near CPUs (1), or with such (2); 0: no pool, not known. */
static int nearness(const json_t *plan, size_t i)
{
    const json_t *npu = json_array_get(json_object_get(plan, "devices"), i);
    const json_t *percent = json_object_get(json_object_get(npu, "quality"), "near_percent");
    return !json_is_integer(percent) ? 0 : json_integer_value(percent) == 0 ? 1 : 2;
}

/* By near, which the warning advises, each of these pools has near CPUs. */
TEST(the_advice_of_poor_locality_helps)
{
    struct dirent **host;
    const int n = scandir(HOSTS, &host, NULL, alphasort);
    int n_warned = 0;
    for (int i = 0; i < n; i++) {
        char path[MAX_WORD];
        json_t *plan, *by_near;
        snprintf(path, sizeof path, HOSTS "%s", host[i]->d_name);
        free(host[i]);
        if (strstr(path, "/."))
            continue;
        plan = plan_of(path, 0);
        if (has_warning(plan, "poor_locality")) {
            by_near = plan_of(path, 1);
            assert_false(has_warning(by_near, "poor_locality"));
            for (size_t k = 0; k < json_array_size(json_object_get(plan, "devices")); k++)
                assert_true(nearness(plan, k) != 1 || nearness(by_near, k) == 2);
            json_decref(by_near);
            n_warned++;
        }
        json_decref(plan);
    }
    free(host);
    assert_true(n_warned > 20);
}

/* == A table of advice ====================================================== */

/* $C is the command, $H a host, $D a folder of the test, with copies of hosts. */
static const struct {
    const char *advice, *wrong, *right;
} table[] = {
    {"name the NPUs with --npus LIST and their type", "PATH=/nowhere; $C plan --root $D/none",
     "$C plan --root $D/none --npus 0 --device-type a2 --total 8"},
    {"plan a captured host with --root DIR", "PATH=/nowhere; $C plan", "$C plan --root $H"},
    {"has CPU workers: --cpu-workers N", "$C plan --root fixtures/hosts/gpu-none.host",
     "$C plan --root fixtures/hosts/gpu-none.host --cpu-workers 2"},
    {"fixture host with --fixture NAME", "PATH=/nowhere; $C plan",
     "$C plan --fixture a2-192cpu-8npu"},
    {"name CPUs that are online with --allowed LIST", "$C plan --root $H --allowed 300-400",
     "$C plan --root $H --allowed 0-191"},
    {"name the CPUs with --allowed LIST", "$C plan --root $D/empty",
     "$C plan --root $D/empty --allowed 0-63 --npus 0 --device-type a3 --total 1"},
    {"make fewer NPUs visible (--visible)",
     "$C plan --root $H --visible 0,2 --scope own --allowed 144-152",
     "$C plan --root $H --visible 0 --scope own --allowed 144-152"},
    {"give --visible LIST with those that are named",
     "$C plan --root $H --visible 0,1 --npus 5", "$C plan --root $H --visible 0,1,5 --npus 5"},
    {"with --rules reference", "$C plan --root $D/rules",
     "$C plan --root $D/rules --rules near"},
    {"--rules reference or --rules near", "$C plan --root $D/rules",
     "$C plan --root $D/rules --rules reference"},
    {"it with --visible LIST, by logic ids", "$C plan --root $D/physical",
     "$C plan --root $D/physical --visible 0,1"},
    {"name the NPUs of the step with --visible LIST", "$C plan --root $D/step",
     "$C plan --root $D/step --visible 0"},
    {"or name those of the step with --visible LIST", "$C plan --root $D/unlisted",
     "$C plan --root $D/unlisted --visible 0"},
    {"leave out --running", "$C plan --root fixtures/hosts/idle-a2.host --running",
     "$C plan --root fixtures/hosts/idle-a2.host"},
    {"use --overlap resolve, for all workers of the host",
     "$C plan --rules reference --root fixtures/hosts/a2-192cpu-4node-8npu.host --overlap "
     "refuse",
     "$C plan --rules reference --root fixtures/hosts/a2-192cpu-4node-8npu.host --overlap "
     "resolve"},
    {"--overlap resolve, for all workers of the host, gives each CPU to one",
     "$C plan --rules reference --root fixtures/hosts/a2-192cpu-4node-8npu.host --overlap keep",
     "$C plan --rules reference --root fixtures/hosts/a2-192cpu-4node-8npu.host --overlap "
     "resolve"},
    {"--scope own, of this process alone", "$C plan --root $H --allowed 0-95,144-191 --npus 0",
     "$C plan --root $H --allowed 0-95,144-191 --npus 0 --scope own"},
    {"--scope cpuset, of all workers", "$C plan --root $H --allowed 0-95,144-191 --npus 0",
     "$C plan --root $H --allowed 0-95,144-191 --npus 0 --scope cpuset"},
    {"--scope host, the cpusets", "$C plan --root $H --allowed 0-95,144-191 --npus 0",
     "$C plan --root $H --allowed 0-95,144-191 --npus 0 --scope host"},
    {"--exclude names CPUs that are not online", "$C plan --root $H --exclude 0,500",
     "$C plan --root $H --exclude 0"},
    {"by --rules near, for all workers", "$C plan --root $H --rules reference",
     "$C plan --root $H --rules near"},
    {"--rules near, for all workers of the host, gives it others",
     "$C plan --root fixtures/hosts/gpu-cpuset-far-2l20.host --rules reference",
     "$C plan --root fixtures/hosts/gpu-cpuset-far-2l20.host --rules near"},
    {"--scope own when the allowed CPUs are",
     "$C plan --root fixtures/hosts/a3-container-no-census.host",
     "$C plan --root fixtures/hosts/a3-container-no-census.host --scope own"},
    {"--scope own when the allowed CPUs are",
     "$C plan --root fixtures/hosts/950-container-1npu.host",
     "$C plan --root fixtures/hosts/950-container-1npu.host --scope own"},
    {"--total is about NPUs alone: leave it out",
     "$C plan --root fixtures/hosts/gpu-vm-2l4.host --total 4",
     "$C plan --root fixtures/hosts/gpu-vm-2l4.host"},
    {"; --device names gpu0-1", "$C plan --root fixtures/hosts/gpu-2socket-8h100.host --npus 1",
     "$C plan --root fixtures/hosts/gpu-2socket-8h100.host --device gpu0"},
    {"--rank N is one of those that the process sees",
     "$C plan --root fixtures/hosts/gpu-vm-2l4.host --npus 1",
     "$C plan --root fixtures/hosts/gpu-switches-4a100.host --rank 1"},
    {"name the device with --device ADDRESS",
     "$C plan --root fixtures/hosts/gpu-vm-2l4.host --rank 1",
     "$C plan --root fixtures/hosts/gpu-vm-2l4.host --device 0000:00:06.0"},
    {"leave out --state: the usual record", "$C restore --state /etc/passwd", NULL},
    {"leave CPUs near these to them with --exclude LIST",
     "$C plan --rules reference --root fixtures/hosts/gpu-beside-npu.host --allowed 0-4,72-76",
     "$C plan --rules reference --root fixtures/hosts/gpu-beside-npu.host --allowed 0-4,72-76 "
     "--exclude 48"},
    {"give all workers of the NPUs --exclude",
     "$C plan --rules reference --root fixtures/hosts/gpu-beside-npu.host",
     "$C plan --rules reference --root fixtures/hosts/gpu-beside-npu.host --exclude 48-71"},
    {", and all workers of the others --exclude",
     "$C plan --rules reference --root fixtures/hosts/gpu-beside-npu.host",
     "$C plan --root fixtures/hosts/gpu-beside-npu.host --class 0302 --exclude 0-47,72-95"},
};

/* Texts that follow() follows: each is in a refusal of some host above. */
static const char *const followed[] = {"--strategy global_slice",
                                       "--strategy topo_affinity",
                                       "--allowed LIST",
                                       "--rules reference",
                                       "--facts npu-smi",
                                       "--device-type TYPE",
                                       "--device-type ",
                                       "--scope %s would do",
                                       "leave out --keep",
                                       "(--keep, alike for all workers)",
                                       "(--processes)",
                                       "--scope cpuset",
                                       "--npus"};

#define BIND    "tests/cli/bind.sh"
#define OWNER   "tests/service/owner.sh"
#define BALANCE "tests/linux/test_irqbalance.c"

/* Texts that another test follows on a live process: the test, and a part of it. */
static const char *const live[][3] = {
    {"--npu N", BIND, "--npu 0"},
    {"--pid N", BIND, "--pid \"$worker\""},
    {"--any-arch", BIND, "--any-arch"},
    {"use --irqbalance stop", BALANCE, "cpubind_irqbalance_stop("},
    {"use --irqbalance ban or", BALANCE, "cpubind_irqbalance_ban("},
    {"apply --watch", BIND, "--watch 1"},
    {"--memory none skips", BIND, "--memory none"},
    {"plan inside of it: --allowed", BIND, "plan inside of it: --allowed LIST"},
    {"--state FILE", BIND, "\"--state FILE\""},
    {"restore --ended", BIND, "restore --ended"},
    {"cpubind restore --pid", BIND, "cpubind restore --pid"},
    {"run its cpubind restore", BIND, "written by an older cpubind"},
    {"bind it with --force", BIND, "--force"},
    {"leave out --state,", BIND, "--state \"$state.other\""},
    {"found with --state alone", BIND, "--state \"$state\""},
    {"ps -L -o comm= -p", BIND, "ps -L -o comm= -p"},
    {"export CPUBIND_RULES=%s or", BIND, "apply_usual --npu 0 --rules near"},
    {"cpubind restore --all --service", OWNER, "restore --all --service"},
};

/* Texts that name an option and advise nothing. */
static const char *const no_advice[] = {"--strict skips nothing", "would exceed --memory-limit",
                                        "--memory-time allows",   "--state is not the name",
                                        "--scope HOST",           "--rules and --keep"};

static command_result shell(const char *line)
{
    const char *words[] = {"sh", "-c", line, NULL};
    return command_run(words);
}

SETUP(make_hosts)
{
    static char folder[] = "/tmp/cpubind-advice-XXXXXX";
    char path[4096];
    command_result r;
    assert_non_null(realpath(command_path(), path));
    setenv("C", path, 1);
    setenv("H", HOSTS "a2-192cpu-8npu.host", 1);
    assert_non_null(mkdtemp(folder));
    setenv("D", folder, 1);
    /* The search for leaks takes a third of each of three thousand runs; test_hosts and
     * test_plan have it. */
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    r = shell("mkdir $D/empty && $C fixture export a2-192cpu-8npu $D/a2 --quiet && "
              "$C fixture export gpu-beside-npu $D/gpu --quiet && "
              "cp -r $D/a2 $D/rules && echo CPUBIND_RULES=x >$D/rules/env && "
              "for n in step unlisted; do cp -r $D/a2 $D/$n && printf "
              "'SLURM_CPUS_ON_NODE=192\\nSLURM_GPUS_ON_NODE=2\\nSLURM_STEP_GPUS=0,' "
              ">$D/$n/env; done && "
              "printf '1\\nASCEND_RT_VISIBLE_DEVICES=0\\n' >>$D/step/env && "
              "echo 99 >>$D/unlisted/env && "
              "cp -r $D/a2 $D/physical && echo ASCEND_VISIBLE_DEVICES=4,x >$D/physical/env && "
              "cp -r $D/a2 $D/none && rm -r $D/none/cmd $D/none/sys/bus");
    if (r.status != 0)
        fail_msg("%s", r.err);
    command_free(&r);
    return 0;
}

SETUP(remove_hosts)
{
    command_result r = shell("rm -rf $D");
    command_free(&r);
    return 0;
}

/* == NPUs and other accelerators on one host ================================ */

/* A host $D/mixed, made by a shell from a fixture, whose function $G is a GPU; $P is the folder
 * of PCI functions. */
static void make_mixed(const char *host, const char *change)
{
    char line[1024];
    command_result r;
    snprintf(line, sizeof line,
             "P=$D/mixed/sys/bus/pci/devices; G=$P/0000:61:00.0; rm -rf $D/mixed && "
             "$C fixture export %s $D/mixed --quiet && mkdir -p $P && "
             "cp -r $D/gpu/sys/bus/pci/devices/0000:61:00.0 $P/ && { %s; }",
             host, change);
    r = shell(line);
    if (r.status != 0)
        fail_msg("%s: %s", line, r.err);
    command_free(&r);
}

/* plan --json of $D/mixed. */
static json_t *plan_mixed(const char *options, int status)
{
    char line[4096];
    command_result r;
    json_t *plan;
    snprintf(line, sizeof line, "$C plan --json --root $D/mixed %s", options);
    r = shell(line);
    if (r.status != status)
        fail_msg("%s: %d, %s%s", line, r.status, r.out, r.err);
    plan = json_loads(r.out, 0, NULL);
    command_free(&r);
    return plan;
}

/* Marks the CPUs of all pools; each must be free. */
static void mark_pools(const json_t *plan, char *is_used)
{
    const json_t *rows = json_object_get(plan, "devices");
    assert_true(json_array_size(rows) > 0);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *at = json_string_value(json_object_get(json_array_get(rows, i), "pool"));
        assert_non_null(at);
        while (*at) {
            char *end;
            const long first = strtol(at, &end, 10);
            const long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
            for (long cpu = first; cpu <= last; cpu++)
                if (is_used[cpu]++)
                    fail_msg("CPU %ld is in two pools", cpu);
            at = *end ? end + 1 : end;
        }
    }
}

/* The text of the warning; NULL: there is none. */
static const char *mixed_text(const json_t *plan)
{
    const json_t *warnings = json_object_get(plan, "warnings");
    for (size_t i = 0; i < json_array_size(warnings); i++) {
        const json_t *one = json_array_get(warnings, i);
        if (strcmp(json_string_value(json_object_get(one, "code")), "other_accelerators") == 0)
            return json_string_value(json_object_get(one, "text"));
    }
    return NULL;
}

/* Gives both kinds of workers the options of the warning, which the plan of each kind has. */
static void expect_parted(const char *options, const char *devices)
{
    static char is_used[65536];
    char line[3000], npus[1024], others[1024], of_devices[64];
    json_t *plan = plan_mixed(options, 0), *other;
    const char *text = mixed_text(plan);
    assert_non_null(text);
    if (sscanf(strstr(text, "give all"),
               "give all workers of the NPUs --exclude %1000[^ ] and all workers of the others "
               "--exclude %1000[0-9,-]",
               npus, others) != 2)
        fail_msg("%s", text);
    npus[strlen(npus) - 1] = '\0'; /* the comma after it */
    snprintf(of_devices, sizeof of_devices, "%s %s", devices, options);
    other = plan_mixed(of_devices, 0);
    assert_non_null(mixed_text(other)); /* it sends to the plan of the NPUs */
    json_decref(other);
    json_decref(plan);
    memset(is_used, 0, sizeof is_used);
    snprintf(line, sizeof line, "%s --exclude %s", options, npus);
    plan = plan_mixed(line, 0);
    assert_null(mixed_text(plan));
    mark_pools(plan, is_used);
    json_decref(plan);
    snprintf(line, sizeof line, "%s --exclude %s", of_devices, others);
    plan = plan_mixed(line, 0);
    assert_null(mixed_text(plan));
    mark_pools(plan, is_used);
    json_decref(plan);
}

/* The plan of all devices, and that of the others alone, give these the same CPUs, which no NPU
 * has. */
static void expect_one_plan(const char *options, const char *devices)
{
    static char is_used[65536];
    char line[256];
    json_t *plan = plan_mixed(options, 0), *other;
    snprintf(line, sizeof line, "%s %s", devices, options);
    other = plan_mixed(line, 0);
    assert_null(mixed_text(plan));
    assert_null(mixed_text(other));
    memset(is_used, 0, sizeof is_used);
    mark_pools(plan, is_used);
    for (size_t i = 0; i < json_array_size(json_object_get(other, "devices")); i++) {
        const json_t *one = npu_at(other, i);
        size_t k = 0;
        while (
            k < json_array_size(json_object_get(plan, "devices")) &&
            !json_equal(json_object_get(one, "pci"), json_object_get(npu_at(plan, k), "pci")))
            k++;
        assert_true(json_is_string(json_object_get(one, "pool")));
        assert_true(
            json_equal(json_object_get(one, "pool"), json_object_get(npu_at(plan, k), "pool")));
    }
    json_decref(plan);
    json_decref(other);
}

TEST(a_host_of_npus_and_other_accelerators_has_one_plan)
{
    static const char *const hosts[][3] = {
        {"gpu-beside-npu", ":", "--pci 0000:61:00.0"},
        {"gpu-beside-npu", "echo 0 >$G/numa_node; echo 0-23 >$G/local_cpulist", "--class 0302"},
        {"gpu-beside-npu", "echo -1 >$G/numa_node; echo 0-95 >$G/local_cpulist",
         "--class 0302"},
        {"gpu-beside-npu", "cp -r $G $P/0000:63:00.0", "--class 0302"},
        {"gpu-beside-npu",
         "echo 0x1da3 >$G/vendor; echo 0x1020 >$G/device; echo 0x120000 >$G/class",
         "--class 1200"},
        {"a2-192cpu-8npu", "echo 0 >$G/numa_node; echo 0-23 >$G/local_cpulist", "--class 0302"},
        {"a2-192cpu-4node-8npu", "echo 0 >$G/numa_node; echo 0-47 >$G/local_cpulist",
         "--class 0302"},
        {"300i-duo-192cpu", "echo 1 >$G/numa_node; rm $G/local_cpulist", "--class 0302"},
        {"a3-640cpu-16npu", "echo 2 >$G/numa_node; rm $G/local_cpulist", "--class 0302"},
        {"950-smt2-640cpu",
         "mv $G $P/0000:99:00.0 && echo 1 >$P/0000:99:00.0/numa_node && rm "
         "$P/0000:99:00.0/local_cpulist",
         "--pci 0000:99:00.0"},
        {"a2-cards-container-a", "echo 0 >$G/numa_node; rm $G/local_cpulist", "--class 0302"}};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        make_mixed(hosts[i][0], hosts[i][1]);
        if (strncmp(hosts[i][0], "950", 3) == 0 || strncmp(hosts[i][0], "a3", 2) == 0)
            /* clusters and slices are for NPUs alone */
            expect_parted("", hosts[i][2]);
        else
            expect_one_plan("", hosts[i][2]);
        if (i != 2) /* by the reference a GPU without a home has no pool beside NPUs */
            expect_parted("--rules reference", hosts[i][2]);
        if (i < 3)
            expect_one_plan("--keep 1", hosts[i][2]);
    }
}

/* Both plans have these CPUs, as long as nobody parts them. */
TEST(npus_and_other_accelerators_share_cpus_without_the_lists)
{
    json_t *npus, *devices;
    make_mixed("gpu-beside-npu", ":");
    npus = plan_mixed("--rules reference", 0);
    devices = plan_mixed("--rules reference --class 0302", 0);
    assert_string_equal(text_at(npu_at(npus, 1), "pool"), "72-95");
    assert_string_equal(text_at(npu_at(devices, 0), "pool"), "48-71");
    json_decref(npus);
    json_decref(devices);
}

TEST(only_accelerators_that_workers_may_use_count_beside_npus)
{
    static const char *const changes[] = {
        /* a display card whose product no row has; a virtual function; a network card; files
         * that are not there */
        "echo 0x2684 >$G/device; echo 0x030000 >$G/class", "mkdir $G/physfn",
        "echo 0x1017 >$G/device; echo 0x020000 >$G/class", "rm $G/class", "rm $G/device"};
    /* It may be an accelerator, and its CPUs are not known. */
    static const char *const damages[] = {"echo x >$G/class", "echo x >$G/device",
                                          "rm -r $G/class && mkdir $G/class",
                                          "echo x >$G/numa_node"};
    json_t *plan;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        make_mixed("gpu-beside-npu", changes[i]);
        plan = plan_mixed("", 0);
        if (mixed_text(plan))
            fail_msg("%s: %s", changes[i], mixed_text(plan));
        json_decref(plan);
    }
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        make_mixed("gpu-beside-npu", damages[i]);
        json_decref(plan_mixed("", 3));
        json_decref(plan_mixed("--rules reference", 0));
    }
    make_mixed("gpu-beside-npu", ":");
    plan = plan_mixed("--scope own", 0); /* no file says that the GPU is this process's */
    assert_int_equal(json_array_size(json_object_get(plan, "devices")), 2);
    json_decref(plan);
    plan = plan_mixed("--rules reference --exclude 0", 0); /* not a CPU near the GPU */
    assert_non_null(mixed_text(plan));
    json_decref(plan);
}

/* Too few CPUs for both kinds: there are no lists. */
TEST(a_host_that_is_too_small_for_both_kinds_has_no_lists)
{
    json_t *plan;
    make_mixed("gpu-beside-npu", ":");
    plan = plan_mixed("--rules reference --allowed 0-4,72-76", 0);
    assert_non_null(strstr(mixed_text(plan), "leave CPUs near these to them with --exclude"));
    json_decref(plan);
}

TEST(each_advice_of_the_table_works)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        command_result r = shell(table[i].wrong);
        if (!strstr(r.err, table[i].advice))
            fail_msg("%s: no \"%s\" in: %s", table[i].wrong, table[i].advice, r.err);
        command_free(&r);
        if (!table[i].right)
            continue;
        r = shell(table[i].right);
        if (r.status != 0 || strstr(r.err, table[i].advice))
            fail_msg("%s: %d, %s", table[i].right, r.status, r.err);
        command_free(&r);
    }
}

/* == Every text with advice has a row ======================================= */

static char *slurp(const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    return command_slurp(file);
}

/* Copies the next string of a source, neighbours joined; NULL at its end. */
static const char *next_string(const char *at, char *out, size_t size)
{
    size_t n = 0;
    while (*at && *at != '"')
        if (at[0] == '/' && at[1] == '*')
            at = strstr(at, "*/") + 2;
        else
            at += *at == '\'' && at[1] != '\0' && at[2] == '\'' ? 3 : 1;
    if (!*at)
        return NULL;
    while (*at == '"') {
        for (at++; *at != '"'; at++) {
            at += *at == '\\';
            assert_true(n < size - 1);
            out[n++] = *at;
        }
        at++;
        for (const char *next = at; isspace((unsigned char)*next); next++)
            at = next[1] == '"' ? next + 1 : at;
    }
    out[n] = '\0';
    return at;
}

static int has_advice(const char *text)
{
    if (strcmp(text, " --state ") == 0) /* a part of a command that is printed */
        return 0;
    for (const char *at = strstr(text, "--"); at; at = strstr(at + 2, "--"))
        if (islower((unsigned char)at[2]))
            return 1;
    return strstr(text, "cpubind restore") != NULL;
}

static int has_part(const char *path, const char *part)
{
    char *text = slurp(path);
    const int has = strstr(text, part) != NULL;
    free(text);
    return has;
}

static int is_covered(const char *text)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strstr(text, table[i].advice))
            return 1;
    for (size_t i = 0; i < sizeof followed / sizeof *followed; i++)
        if (strstr(text, followed[i]))
            return 1;
    for (size_t i = 0; i < sizeof no_advice / sizeof *no_advice; i++)
        if (strstr(text, no_advice[i]))
            return 1;
    for (size_t i = 0; i < sizeof live / sizeof *live; i++)
        if (strstr(text, live[i][0]) && has_part(live[i][1], live[i][2]))
            return 1;
    return 0;
}

TEST(every_text_with_advice_has_a_row)
{
    static const char *const sources[] = {"adapters/api/problem_words.c",
                                          "adapters/api/bind_words.c",
                                          "adapters/api/warning_words.c"};
    int n_text = 0, n_missing = 0;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        char *source = slurp(sources[i]);
        static char text[4096];
        for (const char *at = source; (at = next_string(at, text, sizeof text)) != NULL;) {
            if (!has_advice(text))
                continue;
            n_text++;
            if (is_covered(text))
                continue;
            print_message("%s: no test follows \"%s\"\n", sources[i], text);
            n_missing++;
        }
        free(source);
    }
    assert_true(n_text > 40);
    assert_int_equal(n_missing, 0);
}

static int run_all(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_advice_of_every_refusal_leads_on),
        cmocka_unit_test(the_advice_of_poor_locality_helps),
        cmocka_unit_test(a_host_of_npus_and_other_accelerators_has_one_plan),
        cmocka_unit_test(npus_and_other_accelerators_share_cpus_without_the_lists),
        cmocka_unit_test(only_accelerators_that_workers_may_use_count_beside_npus),
        cmocka_unit_test(a_host_that_is_too_small_for_both_kinds_has_no_lists),
        cmocka_unit_test(each_advice_of_the_table_works),
        cmocka_unit_test(every_text_with_advice_has_a_row),
    };
    return cmocka_run_group_tests_name("advice", tests, make_hosts, remove_hosts);
}

TEST_PROGRAM(run_all)
