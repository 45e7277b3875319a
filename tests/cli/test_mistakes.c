/* test_mistakes.c - the mistakes of a newcomer, and what the command says of each
 * SPDX-License-Identifier: MIT
 *
 * A table: a line of the shell, its exit status, and parts of the message. $C is the command
 * and $H a host; @ is nothing in a first run, which must print the message on stderr, and
 * --json in a second run, which must print it in a JSON object on stdout, or in its warnings.
 * Changes no process: each line is refused, or plans.
 */
#include <jansson.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "../support/test.h"
#include "answer.h"

#define H "fixtures/hosts/"

typedef struct mistake {
    const char *line;
    int status;
    const char *part[3];
} mistake;

static char folder[] = "/tmp/cpubind-mistakes-XXXXXX";

static const mistake mistakes[] = {
    /* Commands and options */
    {"$C plna @", 2, {"no command \"plna\"", "did you mean \"plan\"?"}},
    {"$C Apply @", 2, {"no command \"Apply\"", "did you mean \"apply\"?"}},
    {"$C @ --root $H plan", 2, {"the command is the first word"}},
    {"$C fixture lst @", 2, {"\"fixture lst\"", "did you mean \"list\"?"}},
    {"$C fixture --db x list @", 2, {"the command is the first word"}},
    {"$C plan @ --device_type a2", 2, {"--device_type", "did you mean \"--device-type\"?"}},
    {"$C plan @ --fixtrue x", 2, {"did you mean \"--fixture\"?"}},
    {"$C plan @ --strat topo_affinity", 2, {"written in full: --strategy"}},
    {"$C plan @ --watch", 2, {"it is an option of cpubind apply"}},
    {"$C plan @ --np 3", 2, {"written in full: --npus"}},
    {"$C apply @ --npus 3-4", 2, {"--npu names several devices"}},
    {"LOCAL_RANK=01 $C run @ --root $H --auto -- true",
     125,
     {"LOCAL_RANK=01 is not the number"}},
    {"$C run @ --root $H --rank 01 -- true", 125, {"--rank \"01\" is not a number from 0 on"}},
    {"$C plan @ -c 0-3", 2, {"cpubind calls it --allowed"}},
    {"$C apply @ -p 1", 2, {"cpubind calls it --pid"}},
    {"$C plan @ --physcpubind=0-3", 2, {"cpubind calls it --allowed"}},
    {"$C run @ --cpunodebind=0 -- true", 125, {"cpubind calls it --device"}},
    {"$C run @ --numa-node 0 -- true",
     125,
     {"cpubind calls it --device, such as --device gpu0, or --numa-bind-nodes"}},
    {"$C run @ --membind=0 -- true", 125, {"cpubind calls it --memory"}},
    {"$C plan @ --local-rank 0", 2, {"cpubind calls it --rank"}},
    {"$C plan @ --device-ids 0,1", 2, {"cpubind calls it --devices"}},
    {"$C plan @ --gpus 0,1", 2, {"cpubind calls it --devices"}},
    {"$C plan @ --devices npu0-",
     2,
     {"--devices \"npu0-\", character 6: a number belongs here"}},
    {"$C plan @ --devices 'npu0, tpu1'", 2, {"character 7: a number belongs here"}},
    {"$C plan @ --npus gpu0", 2, {"--npus \"gpu0\", character 1"}},
    {"$C run @ --npu0 -- true", 125, {"named with --device npu0"}},
    {"$C run @ --device npu0,npu1 -- true", 125, {"--device names several devices"}},
    {"$C run @ --device npu0 --rank 1 -- true", 125, {"name the device", "give one"}},
    {"$C plan @ --root $H --devices gpu0", 1, {"there is no gpu0 here", "npu0-7"}},
    {"$C plan @ --root $H --devices npu8", 1, {"NPU 8", "this host has NPUs 0-7"}},
    {"$C run @ --root " H "gpu-2socket-8h100.host --device gpu8 -- true",
     125,
     {"there is no gpu8 here; this process sees gpu0-7"}},
    {"$C plan @ --root " H "gpu-beside-npu.host --devices 0",
     1,
     {"device 0 may be npu0, gpu0 (0000:61:00.0)", "name it in full"}},
    {"$C plan @ --root " H "gpu-mixed-vendors.host --visible 0",
     2,
     {"this host has devices of several"}},
    {"$C plan @ --root " H "gpu-2socket-8h100.host --running", 1, {"leave out --running"}},
    {"$C apply @ --root " H "gpu-2socket-8h100.host --rank 0 --running",
     1,
     {"leave out --running"}},
    {"$C run @ --root " H "gpu-2socket-8h100.host --device gpu0 --processes 2 -- true",
     125,
     {"--index I"}},
    {"$C plan @ --root " H "gpu-beside-npu.host --devices gpu0 --total 2",
     2,
     {"--total is about NPUs"}},
    {"$C doctor @ --root " H "gpu-beside-npu.host --devices npu0,gpu0", 2, {"of one kind"}},
    {"$C plan @ --root " H "gpu-mixed-vendors.host --devices gpu0",
     1,
     {"gpu0 may be gpu0 (0000:65:00.0), gpu0 (0000:98:00.0)"}},
    {"$C plan @ a2-192cpu-8npu", 2, {"\"a2-192cpu-8npu\" is no option", "plan --help"}},
    {"$C plan @ --quiet=yes", 2, {"takes no value"}},
    {"$C plan @ --npus", 2, {"requires an argument"}},
    {"$C plan @ --root $H --fixture x", 2, {"each name a host; give one"}},
    {"$C plan @ --db x", 2, {"needs the name of a host"}},
    /* Words and lists */
    {"$C plan @ --root $H --strategy topology", 2, {"it knows auto, global_slice"}},
    {"$C plan @ --root $H --strategy topo", 2, {"did you mean \"topo_affinity\"?"}},
    {"$C plan @ --root $H --device-type a4", 2, {"it knows auto, a2, a3", "did you mean"}},
    {"$C plan @ --root $H --device-type 910", 2, {"a chip of a2 and of a3"}},
    {"$C plan @ --root $H --scope container", 2, {"it knows auto, cpuset, host, own"}},
    {"$C plan @ --root $H --rules nearest", 2, {"it knows near, reference"}},
    {"$C plan @ --root $H --overlap no", 2, {"it knows resolve, keep, refuse"}},
    {"$C plan @ --root $H --npus a,b", 2, {"character 1: a number belongs here"}},
    {"$C plan @ --root $H --npus 0-", 2, {"--npus \"0-\", character 3"}},
    {"$C plan @ --root $H --npus 3-1", 2, {"--npus \"3-1\""}},
    {"$C plan @ --root $H --npus ''", 2, {"names no device"}},
    {"$C plan @ --root $H --npus 8", 1, {"NPU 8", "this host has NPUs 0-7"}},
    {"$C plan @ --root $H --allowed 0..7", 2, {"--allowed \"0..7\", character 2"}},
    {"$C plan @ --root $H --allowed 0xff", 2, {"--allowed \"0xff\", character 2"}},
    {"$C plan @ --root $H --allowed 300-400", 1, {"allowed 300-400, online 0-191"}},
    {"$C plan @ --root $H --allowed 0-3", 1, {"its pool is too small", "allowed 0-3"}},
    {"$C plan @ --root $H --allowed 0-3 --rules reference",
     1,
     {"near it is allowed", "allowed 0-3"}},
    {"$C plan @ --root $H --exclude 500", 0, {"not online on this host"}},
    {"$C plan @ --root $H --exclude 0-191", 1, {"is excluded"}},
    {"$C plan @ --root $H --keep all", 2, {"neither a number of CPUs of each node"}},
    {"$C plan @ --root $H --rank -1", 2, {"the launcher has not set the rank"}},
    {"$C plan @ --root $H --rank ''", 2, {"the launcher has not set the rank"}},
    {"$C plan @ --root $H --rank 8", 1, {"rank 8", "this host has NPUs 0-7"}},
    {"$C plan @ --root $H --processes 2 --index 2", 2, {"none of --processes 2", "0 to 1"}},
    {"$C plan @ --root $H --index 1", 2, {"--processes N"}},
    {"$C plan @ --root $H --explain npu", 2, {"--explain"}},
    {"$C plan @ --root " H "gpu-mixed-vendors.host --explain gpu0",
     1,
     {"gpu0 may be 0000:65:00.0 or 0000:98:00.0: name it by its address"}},
    {"$C plan @ --compare --rules near --root $H", 2, {"plans by both rules"}},
    /* Visible devices */
    {"$C plan @ --root $H --visible 0-3", 1, {"with commas between them: 0,1,2,3"}},
    {"$C plan @ --root $H --visible 3,1", 1, {"with commas between them: 1,3"}},
    {"$C plan @ --root $H --visible '0, 1'", 0, {"only the first entries", "0,1"}},
    {"ASCEND_RT_VISIBLE_DEVICES=' 0' $C plan @ --npus 0 --device-type a2 --total 8",
     1,
     {"visible devices: \" 0\""}},
    {"$C plan @ --root $H --visible 9", 1, {"visible devices: \"9\""}},
    {"$C plan @ --root $H --visible 0,1 --npus 5", 1, {"name visible NPUs"}},
    {"CPUBIND_RULES=nearest $C plan @ --npus 0 --device-type a2 --total 1",
     3,
     {"CPUBIND_RULES", "--rules reference or --rules near"}},
    /* Hosts */
    {"$C plan @ --root /no/such/folder", 3, {"/no/such/folder", "No such file"}},
    {"$C plan @ --root /etc/passwd",
     3,
     {"line 1, column 1: its first line is not", "Not a dir"}},
    {"$C plan @ --root $D/bad.host", 3, {"bad.host\", line 3, column 3: a control character"}},
    {"$C plan @ --root $D/bad.host.gz", 3, {"bad.host.gz\", line 3, column 3: "}},
    {"$C plan @ --root $D", 3, {"no input names a CPU of the host", "is \"", "--allowed LIST"}},
    {"$C plan @ --root $D/no-sys --npus 0 --device-type a2", 1, {"say it with --total"}},
    {"$C plan @ --root $D/empty-cpuset", 1, {"no allowed CPU is online", "online 0-191"}},
    {"$C plan @ --root $D/cut.host.gz", 3, {"cut.host.gz", "cut off"}},
    {"$C plan @ --root " H "gpu-2socket-8h100.host --npus 1",
     1,
     {"no NPU, but accelerators of other vendors (8 nvidia): there is no npu1", "gpu0-1"}},
    {"$C plan @ --root " H "gpu-mixed-vendors.host --total 4",
     1,
     {"(2 nvidia, 1 amd, 1 intel, 1 gaudi)", "--total is about NPUs alone: leave it out"}},
    {"$C apply @ --root " H "gpu-2socket-8h100.host --npu 1",
     1,
     {"there is no npu1", "--rank N"}},
    {"$C apply @ --root " H "gpu-2socket-8h100.host --all --total 4", 1, {"--total is about"}},
    {"$C verify @ --root " H "gpu-2socket-8h100.host --npu 1",
     1,
     {"there is no npu1", "gpu0-7"}},
    {"$C status @ --root " H "gpu-2socket-8h100.host --npus 1",
     1,
     {"there is no npu1", "gpu0-1"}},
    {"$C doctor @ --root " H "gpu-2socket-8h100.host --total 4", 1, {"--total is about NPUs"}},
    {"$C run @ --root " H "gpu-2socket-8h100.host --npu 1 -- true",
     125,
     {"there is no npu1", "--device names gpu0-7", "--rank N"}},
    {"$C run @ --tree --root " H "gpu-2socket-8h100.host --total 4 -- true",
     125,
     {"--total is about NPUs alone: leave it out"}},
    {"$C plan @ --fixture a2-192cpu-8npus", 3, {"did you mean \"a2-192cpu-8npu\""}},
    {"$C plan @ --fixture A2-192CPU-8NPU", 3, {"did you mean \"a2-192cpu-8npu\"?"}},
    {"$C plan @ --fixture " H "a2-192cpu-8npu.host", 3, {"a folder is given with --root DIR"}},
    {"$C plan @ --fixture a2 --db $D/none.db", 3, {"none.db", "No such file"}},
    {"$C plan @ --fixture a2 --db /etc/passwd", 3, {"/etc/passwd"}},
    {"PATH=/nowhere; $C plan @", 3, {"npu-smi is not on this machine", "--fixture NAME"}},
    {"$C plan @ --npus 0-3", 3, {"--device-type"}},
    {"$C plan @ --npus 0-3 --device-type a2", 1, {"how many NPUs this host has", "--total"}},
    /* Processes */
    {"$C apply @ --pid 0 --npu 0", 2, {"--pid is not the number of a process"}},
    {"$C apply @ --pid python --npu 0", 2, {"--pid is not the number of a process"}},
    {"$C apply @ --pid 1,2 --npu 0", 2, {"--pid is not the number of a process"}},
    {"$C apply @ --pid 2147483646 --npu 0", 1, {"there is no process 2147483646 here"}},
    {"$C verify @ --pid $T", 1, {"is the number of a thread: name its process"}},
    {"$C apply @ --npu 0 --rank 0", 2, {"--device and --npu name the device"}},
    {"$C apply @ --npu 0 --memory prefer", 2, {"--memory prefer is for run"}},
    {"$C apply @ --npu 0 --memory-limit 200GB", 2, {"not a number of bytes, such as 200G"}},
    {"$C apply @ --npu 0 --memory-time 5s", 2, {"not a number of seconds"}},
    {"$C apply @ --npu 0 --watch=5s", 2, {"--watch takes seconds from 1 to 3600", "\"5s\""}},
    {"$C apply @ --pid 2147483646 --watch=5", 1, {"there is no process 2147483646 here"}},
    {"$C apply @ --all --pid 1", 2, {"leave out --pid, --device, --npu"}},
    {"$C apply @ --tree", 2, {"name it with --pid N"}},
    {"$C apply @ --npu 0 --thread acl_thread", 2, {"--thread wants NAME="}},
    {"$C apply @ --npu 0 --thread acl_thread=alc", 2, {"--thread wants NAME="}},
    {"$C apply @ --npu 0 --irqbalance off", 2, {"it knows leave, ban, stop"}},
    {"$C run @ --npu 0", 125, {"name the command that is to run"}},
    {"$C run @ -- python serve.py", 125, {"say which device: --device NAME"}},
    {"$C run @ --npu 0 --env OMP_NUM_THREADS -- true", 125, {"--env"}},
    {"$C run @ --npu 0 --env N={thread} -- true", 125, {"did you mean \"threads\"?"}},
    {"$C restore @ --pid 1 --all", 2, {"give it alone"}},
    {"$C restore @ --state /etc/passwd", 3, {"and /etc/passwd is a record of cpubind"}},
    {"$C verify @ --state /etc/passwd", 3, {"and /etc/passwd is a record of cpubind"}},
    /* The whole host */
    {"$C status @ --root $H --watch=0", 2, {"--watch takes seconds from 1 to 3600"}},
    {"$C status @ npu0", 2, {"\"npu0\" is no option"}},
    {"$C topo @ --root $H --pci 3", 2, {"an address such as 0000:17:00.0"}},
    {"$C topo @ --root $H --class gpu", 2, {"a class such as 0x0302"}},
    {"$C topo @ --watch", 2, {"it is an option of cpubind apply, cpubind status"}},
    {"$C doctor @ --dry-run", 2, {"--dry-run needs --fix"}},
    {"$C doctor @ --fix --restore", 2, {"exclude each other"}},
    {"$C doctor @ --fix --root $H", 2, {"with --dry-run, --fix says"}},
    {"$C service @ start", 2, {"\"start\" is no option", "service --help"}},
    {"$C service @ --chekc", 2, {"did you mean \"--check\"?"}},
    {"$C service @ --check --config /no/such/file", 3, {"/no/such/file", "No such file"}},
    /* The corpus, and captures */
    {"$C fixture show @", 2, {"name a host"}},
    {"$C capture @", 2, {"name the target"}},
    {"$C capture @ --root $H -o $D/'a b'", 2, {"cannot name a host", "--name NAME"}},
    {"$C capture @ --root $H -o $D", 1, {"is there already"}},
    {"$C capture @ --root $H -o $D/none/x.host", 4, {"could not be written"}},
    {"$C fixture replay @ no-such-host", 3, {"no host of this name"}},
    {"$C fixture list @ a2", 2, {"\"a2\" is no option"}},
    {"$C fixture import @", 2, {"name the folders of hosts"}},
    {"$C fixture import @ --repalce", 2, {"did you mean \"--replace\"?"}},
    {"$C fixture import @ $H", 2, {"a corpus of yours, --db FILE"}},
    {"$C fixture import @ --db $D/new.db /no/such/folder", 3, {"No such file"}},
    {"$C fixture import @ --db $D/new.db /etc/passwd", 3, {"its first line is not"}},
    {"$C fixture import @ --db $D/new.db tests", 3, {"this is no host folder", "-o DIR"}},
    {"$C fixture export @ a2-192cpu-8npu", 2, {"name a host and a folder"}},
    {"$C fixture export @ no-such-host $D/out", 3, {"no host of this name"}},
    {"$C fixture accept @", 2, {"name a host"}},
    {"$C fixture accept @ a2-192cpu-8npu", 2, {"a corpus of yours, --db FILE"}},
    {"$C fixture accept @ --dry-run no-such-host", 3, {"no host of this name"}},
    {"$C fixture accept @ --dry-run a2-192cpu-8npu a/b", 2, {"name of a case", "\"a/b\""}},
    {"$C fixture accept @ --dry-run a2-192cpu-8npu new", 3, {"\"new\"", "-- ARGUMENT..."}},
    {"$C fixture accept @ --dry-run a2-192cpu-8npu a b -- --rank 1", 2, {"one case only"}},
    {"$C fixture accept @ --dry-run a2-192cpu-8npu -- --rank 1", 2, {"one case only"}},
    {"$C fixture accept @ --dry-run a2-192cpu-8npu new -- --npsu 1",
     2,
     {"did you mean \"--npus\"?"}},
    {"$C fixture remove @", 2, {"name a host"}},
    {"$C fixture remove @ a2-192cpu-8npu", 2, {"a corpus of yours, --db FILE"}},
    {"$C fixture remove @ --db $D/none.db a2", 3, {"none.db", "No such file"}},
    {"$C fixture rename @ a2-192cpu-8npu", 2, {"name a host and its new name"}},
    {"$C fixture groups @ a2-192cpu-8npu", 2, {"\"a2-192cpu-8npu\" is no option"}},
    {"$C fixture groups @ --db $D/none.db", 3, {"none.db", "No such file"}},
    {"$C fixture groups @ --shapes",
     2,
     {"\"--shapes\"", "an option of cpubind fixture import"}},
    {"$C fixture groups @ --svg $D/no/such.svg", 4, {"--svg", "No such file"}},
};

static void replace(char *line, size_t size, const char *by)
{
    char *at = strstr(line, " @");
    char rest[1024];
    assert_non_null(at);
    snprintf(rest, sizeof rest, "%s", at + 2);
    snprintf(at, size - (size_t)(at - line), "%s%s", by, rest);
}

static command_result shell(const char *text, const char *by)
{
    char line[1024];
    const char *words[] = {"sh", "-c", line, NULL};
    snprintf(line, sizeof line, "%s", text);
    replace(line, sizeof line, by);
    return command_run(words);
}

static void expect_parts(const mistake *m, const char *by, const command_result *r,
                         const char *said)
{
    if (r->status != m->status)
        fail_msg("%s%s: status %d, not %d: %s%s", m->line, by, r->status, m->status, r->out,
                 r->err);
    for (int i = 0; i < 3 && m->part[i]; i++)
        if (!strstr(said, m->part[i]))
            fail_msg("%s%s: no \"%s\" in: %s", m->line, by, m->part[i], said);
}

/* The text of the error, or of the warnings. */
static void text_of(const json_t *object, char *out, size_t size)
{
    const json_t *warnings = json_object_get(object, "warnings");
    const char *text =
        json_string_value(json_object_get(json_object_get(object, "error"), "text"));
    snprintf(out, size, "%s", text ? text : "");
    for (size_t i = 0; !text && i < json_array_size(warnings); i++) {
        const json_t *warning = json_array_get(warnings, i);
        snprintf(out + strlen(out), size - strlen(out), "%s\n",
                 json_string_value(json_object_get(warning, "text")));
    }
    warnings = json_object_get(object, "failures"); /* of a replay */
    for (size_t i = 0; !text && i < json_array_size(warnings); i++)
        snprintf(out + strlen(out), size - strlen(out), "%s\n",
                 json_string_value(json_object_get(json_array_get(warnings, i), "text")));
}

TEST(each_mistake_has_its_message)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        command_result r = shell(mistakes[i].line, "");
        char both[16384];
        snprintf(both, sizeof both, "%s%s", r.err,
                 strstr(mistakes[i].line, "replay") ? r.out : "");
        expect_parts(&mistakes[i], "", &r, both);
        command_free(&r);
    }
}

TEST(with_json_each_message_is_in_an_object)
{
    const size_t n = sizeof mistakes / sizeof *mistakes;
    assert_true(n >= 60);
    for (size_t i = 0; i < n; i++) {
        command_result r = shell(mistakes[i].line, " --json");
        json_t *object = json_loads(r.out, 0, NULL);
        static char text[16384];
        if (!object || r.err[0])
            fail_msg("%s, --json: %s%s", mistakes[i].line, r.out, r.err);
        text_of(object, text, sizeof text);
        expect_parts(&mistakes[i], " --json", &r, text);
        json_decref(object);
        command_free(&r);
    }
}

/* No message has a word that is abbreviated, a tab, or a second line. */
TEST(each_message_is_one_line)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        command_result r = shell(mistakes[i].line, "");
        const char *feed = strchr(r.err, '\n');
        if (mistakes[i].status != 0 && r.err[0] && (!feed || feed[1]))
            fail_msg("%s: not one line: %s", mistakes[i].line, r.err);
        command_free(&r);
    }
}

/* Words that do not exist, and how the command line that the answer names is tried: with these
 * words after it, where it changes nothing, else with --help. */
static const struct {
    const char *typed, *answer, *more;
} words[] = {
    {"explain", "plan --explain all", "--root $H"},
    {"why", "plan --explain all", "--root $H"},
    {"map", "plan --format map", "--root $H"},
    {"compare", "plan --compare", "--root $H"},
    {"diff", "plan --compare", "--root $H"},
    {"simulate", "plan", "--root $H"},
    {"dry-run", "plan", "--root $H"},
    {"top", "status --watch", "--help"},
    {"watch", "status --watch", "--help"},
    {"monitor", "status --watch", "--help"},
    {"ps", "status", "--root $H"},
    {"info", "status", "--root $H"},
    {"who", "status", "--root $H"},
    {"show", "topo", "--root $H"},
    {"list", "topo", "--root $H"},
    {"ls", "topo", "--root $H"},
    {"devices", "topo", "--root $H"},
    {"GPUs", "topo", "--root $H"},
    {"npus", "topo", "--root $H"},
    {"lstopo", "topo", "--root $H"},
    {"check", "doctor", "--root $H"},
    {"diagnose", "doctor", "--root $H"},
    {"fix", "doctor --fix --dry-run", "--root $H"},
    {"bind", "apply --all", "--help"},
    {"pin", "apply --all", "--help"},
    {"set", "apply --all", "--help"},
    {"unbind", "restore --all", "--help"},
    {"unpin", "restore --all", "--help"},
    {"undo", "restore --all", "--help"},
    {"reset", "restore --all", "--help"},
    {"exec", "run --tree -- COMMAND", NULL},
    {"launch", "run --tree -- COMMAND", NULL},
    {"daemon", "service", "--help"},
    {"start", "service", "--help"},
    {"config", "service --check", "--help"},
    {"dump", "capture -o NAME.host", "--help"},
    {"snapshot", "capture -o NAME.host", "--help"},
    {"save", "capture -o NAME.host", "--help"},
    {"replay", "fixture replay", "a2-192cpu-8npu"},
    {"test", "fixture replay", "a2-192cpu-8npu"},
    {"fixtures", "fixture list", ""},
    {"hosts", "fixture list", ""},
    {"fixture ls", "fixture list", ""},
    {"fixture run", "fixture replay", "a2-192cpu-8npu"},
    {"fixture test", "fixture replay", "a2-192cpu-8npu"},
    {"fixture check", "fixture replay", "a2-192cpu-8npu"},
    {"fixture add", "fixture import --help", ""},
    {"fixture delete", "fixture remove --help", ""},
    {"fixture rm", "fixture remove --help", ""},
    {"apply --dry-run", "plan", "--root $H"},
    {"run --dry-run", "plan", "--root $H"},
    {"apply --simulate", "plan", "--root $H"},
    {"apply --undo", "restore --all", "--help"},
    {"status --fix", "doctor --fix --dry-run", "--root $H"},
    {"plan --list", "topo", "--root $H"},
    {"status --pid", "verify --all", "--help"},
    /* Options */
    {"plan --gpu", "plan --devices gpu0", "--root $G"},
    {"plan --gpus", "plan --devices gpu0-1", "--root $G"},
    {"run --gpu", "run --device gpu0", "--help"},
    {"run --gpus", "run --device gpu0", "--help"},
    {"apply --device-id", "apply --device npu0", "--help"},
    {"plan --device-ids", "plan --devices npu0-3", "--root $H"},
    {"verify -i", "verify --device gpu0", "--help"},
    {"topo -i", "topo --devices gpu0", "--root $G"},
    {"run -n", "run --device npu0", "--help"},
    {"plan --cpus", "plan --allowed 0-95", "--root $H"},
    {"plan --cpuset-cpus", "plan --allowed 0-95", "--root $H"},
    {"plan --cpu-list", "plan --allowed 0-95", "--root $H"},
    {"plan --physcpubind", "plan --allowed 0-95", "--root $H"},
    {"plan --isolated", "plan --exclude 0-3", "--root $H"},
    {"plan --reserved-cpus", "plan --keep 0-3", "--root $H"},
    {"run --cpunodebind", "run --device gpu0", "--help"},
    {"run --numa-node", "run --device gpu0", "--help"},
    {"apply --numa-bind-nodes", "apply --device gpu0", "--help"},
    {"plan --numa-bind-cpus", "plan --allowed 0-95", "--root $H"},
    {"plan --host", "plan --root NAME.host", NULL},
    {"plan --snapshot", "plan --root NAME.host", NULL},
    {"doctor --file", "doctor --root NAME.host", NULL},
    {"topo --sysroot", "topo --root DIR", NULL},
    {"plan --why", "plan --explain npu0", "--root $H"},
    {"plan --reason", "plan --explain npu0", "--root $H"},
    {"plan --policy", "plan --rules near", "--root $H"},
    {"plan --mode", "plan --rules near", "--root $H"},
    {"apply --interval", "apply --watch 5", "--help"},
};

/* Each answer names what does it, and that works. */
TEST(words_that_people_type_are_answered_with_those_that_work)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char line[256];
        const char *option = strstr(words[i].answer, " --");
        command_result r;
        snprintf(line, sizeof line, "$C %s @", words[i].typed);
        r = shell(line, "");
        if (r.status != (strncmp(words[i].typed, "run", 3) ? 2 : 125))
            fail_msg("%s: status %d: %s", words[i].typed, r.status, r.err);
        if (strstr(r.err, "calls it"))
            snprintf(line, sizeof line, ", such as%s", option);
        else
            snprintf(line, sizeof line, "; that is: cpubind %s", words[i].answer);
        if (!strstr(r.err, line))
            fail_msg("%s: no \"%s\" in %s", words[i].typed, line, r.err);
        command_free(&r);
        if (!words[i].more)
            continue;
        snprintf(line, sizeof line, "$C %s %s @", words[i].answer, words[i].more);
        r = shell(line, "");
        if (r.status > 1 || r.out[0] == '\0')
            fail_msg("%s: status %d: %s", line, r.status, r.err);
        command_free(&r);
    }
}

static pthread_t thread;
static pthread_barrier_t started, ended;

static void *wait_for_end(void *unused)
{
    char text[16];
    (void)unused;
    snprintf(text, sizeof text, "%d", (int)syscall(SYS_gettid));
    setenv("T", text, 1);
    pthread_barrier_wait(&started);
    pthread_barrier_wait(&ended);
    return NULL;
}

/* Makes the hosts of the table, and a thread of this process. */
SETUP(make_all)
{
    static const char make[] =
        "$C fixture export a2-192cpu-8npu $D/empty-cpuset --quiet && cd $D/empty-cpuset && "
        "mkdir -p $D/no-sys/proc/self && cp proc/self/status $D/no-sys/proc/self && "
        "printf 'Cpus_allowed_list:\\t\\n' >proc/self/status && "
        "gzip <cmd/npu-smi-info.txt | head -c 60 >$D/cut.host.gz && "
        "printf 'cpubind host 1\\nfile a\\n 1\\r\\nend\\n' >$D/bad.host && "
        "gzip <$D/bad.host >$D/bad.host.gz @";
    command_result r;
    char path[4096];
    assert_non_null(realpath(command_path(), path));
    setenv("C", path, 1);
    setenv("H", H "a2-192cpu-8npu.host", 1);
    setenv("G", H "gpu-2socket-8h100.host", 1);
    assert_non_null(mkdtemp(folder));
    setenv("D", folder, 1);
    unsetenv("ASCEND_RT_VISIBLE_DEVICES");
    unsetenv("CPUBIND_RULES");
    r = shell(make, "");
    assert_int_equal(r.status, 0);
    command_free(&r);
    pthread_barrier_init(&started, NULL, 2);
    pthread_barrier_init(&ended, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_end, NULL), 0);
    pthread_barrier_wait(&started);
    return 0;
}

SETUP(remove_all)
{
    command_result r = shell("rm -rf $D @", "");
    pthread_barrier_wait(&ended);
    pthread_join(thread, NULL);
    command_free(&r);
    return 0;
}

static int run_all(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mistake_has_its_message),
        cmocka_unit_test(with_json_each_message_is_in_an_object),
        cmocka_unit_test(each_message_is_one_line),
        cmocka_unit_test(words_that_people_type_are_answered_with_those_that_work),
    };
    return cmocka_run_group_tests_name("mistakes", tests, make_all, remove_all);
}

TEST_PROGRAM(run_all)
