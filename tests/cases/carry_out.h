/* carry_out.h - carry out a command of cpubind doctor on a folder that is a host
 * SPDX-License-Identifier: MIT
 *
 * A shell runs the command as it is printed, with /proc, /sys and /etc in the folder. Programs
 * that change a real host are replaced by one that notes its words; each is then carried out by
 * its meaning: what it would change of the files of the folder. A program that is not known
 * fails the test.
 */
#ifndef CPUBIND_TESTS_CASES_CARRY_OUT_H
#define CPUBIND_TESTS_CASES_CARRY_OUT_H

#include <sys/stat.h>
#include <unistd.h>

#include "../support/answer.h"

enum { CARRY_WORDS = 32, CARRY_TEXT = 65536 };

/* A command that the shell has run. */
typedef struct called {
    char *word[CARRY_WORDS];
    int n;
} called;

static inline void shell(const char *folder, const char *text)
{
    const char *const words[] = {"sh", "-c", "cd \"$1\" && eval \"$2\"", "sh", folder,
                                 text, NULL};
    command_result r = command_run(words);
    if (r.status != 0)
        fail_msg("%s: status %d: %s", text, r.status, r.err);
    command_free(&r);
}

/* Writes a file below a folder, and the folders above it. "\a" stands for a NUL. */
static inline void put(const char *folder, const char *name, const char *text)
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
    for (; *text; text++)
        putc(*text == '\a' ? '\0' : *text, out);
    fclose(out);
}

/* Reads a file of a folder; "" when it is not there. A NUL becomes "\a". */
static inline void get(const char *folder, const char *name, char text[CARRY_TEXT])
{
    char path[256];
    FILE *in;
    size_t n = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    in = fopen(path, "r");
    if (in) {
        n = fread(text, 1, CARRY_TEXT - 1, in);
        fclose(in);
    }
    for (size_t i = 0; i < n; i++)
        if (!text[i])
            text[i] = '\a';
    text[n] = '\0';
}

/* The value after a word of a command; NULL: it has no such word. */
static inline const char *carry_value(const called *c, const char *word)
{
    for (int i = 1; i + 1 < c->n; i++)
        if (strcmp(c->word[i], word) == 0)
            return c->word[i + 1];
    return NULL;
}

/* Whether a command has these two words, one after the other. */
static inline int carry_has(const called *c, const char *word, const char *value)
{
    for (int i = 1; i + 1 < c->n; i++)
        if (strcmp(c->word[i], word) == 0 && strcmp(c->word[i + 1], value) == 0)
            return 1;
    return 0;
}

/* Replaces the value of a line "KEY:\tVALUE" of a text. */
static inline void carry_set(char text[CARRY_TEXT], const char *key, const char *value)
{
    char rest[CARRY_TEXT];
    char *at = strstr(text, key);
    if (!at)
        return;
    at += strlen(key);
    snprintf(rest, sizeof rest, "%s", at + strcspn(at, "\n"));
    snprintf(at, CARRY_TEXT - (size_t)(at - text), "\t%s%s", value, rest);
}

/* == Threads and memory ===================================================== */

/* Gives a thread CPUs, and lets it run on the first of them. */
static inline void carry_move(const char *folder, int pid, int tid, const char *cpus)
{
    char name[96], text[CARRY_TEXT], rest[CARRY_TEXT];
    char *at;
    snprintf(name, sizeof name, "proc/%d/task/%d/status", pid, tid);
    get(folder, name, text);
    carry_set(text, "Cpus_allowed_list:", cpus);
    put(folder, name, text);
    snprintf(name, sizeof name, "proc/%d/task/%d/stat", pid, tid);
    get(folder, name, text);
    at = strstr(text, " 17 "); /* the signal of its end; the CPU is next */
    if (!at)
        return;
    snprintf(rest, sizeof rest, "%s", at + 4 + strcspn(at + 4, " "));
    snprintf(at, CARRY_TEXT - (size_t)(at - text), " 17 %d%s", atoi(cpus), rest);
    put(folder, name, text);
}

/* Calls move for the threads of a process: CPUs by their names, or one list for all. */
static inline void carry_threads(const char *folder, int pid, const char *all,
                                 const json_t *npu)
{
    char list[160], text[CARRY_TEXT];
    snprintf(list, sizeof list, "ls proc/%d/task >../tasks", pid);
    shell(folder, list);
    snprintf(list, sizeof list, "%s/../tasks", folder);
    FILE *in = fopen(list, "r");
    assert_non_null(in);
    for (int tid; fscanf(in, "%d", &tid) == 1;) {
        char name[96];
        snprintf(name, sizeof name, "proc/%d/task/%d/status", pid, tid);
        get(folder, name, text);
        carry_move(folder, pid, tid,
                   all                                  ? all
                   : strstr(text, "\tacl_thread\n")     ? text_at(npu, "acl")
                   : strstr(text, "\trelease_thread\n") ? text_at(npu, "release")
                                                        : text_at(npu, "main"));
    }
    fclose(in);
}

/* Rewrites the lines of numa_maps that are shared or not: all pages of a line are on `node`, or
 * in equal parts on nodes 0 to 3 when it is -1; a policy in place of the old one, or NULL. */
static inline void carry_memory(const char *folder, int pid, int shared, int node,
                                const char *policy)
{
    char name[64], text[CARRY_TEXT], out[CARRY_TEXT] = "";
    size_t n = 0;
    snprintf(name, sizeof name, "proc/%d/numa_maps", pid);
    get(folder, name, text);
    for (char *save = NULL, *line = strtok_r(text, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        const int is_other = (strstr(line, "mapmax=") != NULL) != shared;
        char *inner = NULL;
        long pages = 0;
        int i = 0;
        for (char *word = strtok_r(line, " ", &inner); word;
             word = strtok_r(NULL, " ", &inner)) {
            char *equal = strchr(word, '=');
            if (!is_other && word[0] == 'N' && equal) {
                pages += atol(equal + 1);
                continue;
            }
            n += (size_t)snprintf(out + n, sizeof out - n, "%s%s", i ? " " : "",
                                  i == 1 && policy && !is_other ? policy : word);
            i++;
        }
        if (!is_other && node >= 0)
            n += (size_t)snprintf(out + n, sizeof out - n, " N%d=%ld", node, pages);
        for (int k = 0; !is_other && node < 0 && k < 4; k++)
            n += (size_t)snprintf(out + n, sizeof out - n, " N%d=%ld", k, pages / 4);
        n += (size_t)snprintf(out + n, sizeof out - n, "\n");
    }
    put(folder, name, out);
}

/* == Programs =============================================================== */

/* cpubind apply --all --exclude LIST: the worker of NPU n is process 61000 + n. Without
 * --exclude the workers stay on the pools that they have. cpubind restore --all: the records
 * go. cpubind apply --all -o engine=NAME: the engine waits no more. */
static inline void carry_all(const char *folder, const called *c)
{
    const char *excluded = carry_value(c, "--exclude");
    json_t *plan;
    if (strcmp(c->word[1], "restore") == 0)
        shell(folder, "rm -r run/cpubind");
    for (int i = 0; i < c->n; i++)
        if (strncmp(c->word[i], "engine=", 7) == 0)
            put(folder, "proc/60000/schedstat", "90000000000 0 1\n");
    if (!excluded)
        return;
    plan = json_of(RUN("plan", "--json", "--root", folder, "--exclude", excluded));
    for (size_t i = 0; i < json_array_size(json_object_get(plan, "devices")); i++) {
        const json_t *row = npu_at(plan, i);
        const int pid = 61000 + (int)json_integer_value(json_object_get(row, "npu"));
        char name[128];
        snprintf(name, sizeof name, "%s/proc/%d/task", folder, pid);
        if (access(name, F_OK) != 0)
            continue; /* nobody drives it */
        carry_threads(folder, pid, NULL, row);
        carry_memory(folder, pid, 0,
                     (int)json_integer_value(json_object_get(row, "memory_node")), NULL);
    }
    json_decref(plan);
}

/* The record of a process is of another device now, if it has one. */
static inline void carry_record(const char *folder, int pid, const char *number)
{
    char line[128];
    (void)snprintf(line, sizeof line,
                   "f=run/cpubind/%d.record; [ ! -e $f ] || sed -i 's/^npu .*/npu %s/' $f", pid,
                   number);
    shell(folder, line);
}

/* cpubind apply: threads to the roles of the plan, memory to its node; the interrupts of the
 * NPUs are where the right host has them. cpubind run: the worker is started again, bound. */
static inline void carry_cpubind(const char *folder, const called *c, int pid)
{
    const int is_run = strcmp(c->word[1], "run") == 0;
    const char *npu = carry_value(c, "--device"), *given = carry_value(c, "--pid");
    const char *scope = carry_value(c, "--scope");
    char policy[32];
    json_t *plan;
    assert_true(is_run || strcmp(c->word[1], "apply") == 0);
    assert_non_null(npu);
    assert_memory_equal(npu, "npu", 3);
    if (!is_run)
        carry_record(folder, pid, npu + 3);
    plan = json_of(RUN("plan", "--json", "--root", folder, scope ? "--scope" : NULL, scope));
    for (size_t i = 0; i < json_array_size(json_object_get(plan, "devices")); i++) {
        const json_t *row = npu_at(plan, i);
        const int node = (int)json_integer_value(json_object_get(row, "memory_node"));
        if (json_integer_value(json_object_get(row, "npu")) != atoi(npu + 3))
            continue;
        snprintf(policy, sizeof policy, "prefer:%d", node);
        carry_threads(folder, is_run ? pid : atoi(given), NULL, row);
        carry_memory(folder, is_run ? pid : atoi(given), 0, node, is_run ? policy : NULL);
    }
    json_decref(plan);
    shell(folder,
          "for i in 200 201 202 203 210 211 212 213 220 221 222 223 230 231 232 233; do "
          "cp ../right/proc/irq/$i/smp_affinity_list proc/irq/$i; done");
}

static inline void carry_docker(const char *folder, const called *c)
{
    static const struct {
        const char *word;
        unsigned long long bit;
    } caps[] = {{"SYS_NICE", 1ull << 23}, {"SYS_PTRACE", 1ull << 19}};
    static const char *const sets[] = {"CapBnd:", "CapEff:"};
    char text[CARRY_TEXT], value[32];
    assert_string_equal(c->word[1], "run");
    assert_string_equal(c->word[c->n - 1], "IMAGE");
    get(folder, "proc/self/status", text);
    for (size_t i = 0; i < 4; i++) {
        const char *set = strstr(text, sets[i / 2]);
        if (!set || !carry_has(c, "--cap-add", caps[i % 2].word))
            continue;
        snprintf(value, sizeof value, "%016llx",
                 strtoull(set + strlen(sets[i / 2]), NULL, 16) | caps[i % 2].bit);
        carry_set(text, sets[i / 2], value);
    }
    if (carry_has(c, "--security-opt", "seccomp=unconfined"))
        carry_set(text, "Seccomp:", "0");
    put(folder, "proc/self/status", text);
    if (carry_has(c, "--security-opt", "systempaths=unconfined"))
        shell(folder, "sed -i '/ \\/proc\\/irq /d' proc/self/mountinfo");
}

/* The boot line without a parameter, after the host was started again. */
static inline void carry_boot(const char *folder, const char *parameter)
{
    char name[96];
    snprintf(name, sizeof name, "sys/devices/system/cpu/%s",
             strcmp(parameter, "isolcpus") == 0 ? "isolated" : parameter);
    put(folder, name, "\n");
}

static inline void carry_update_grub(const char *folder)
{
    static const char *const parameters[] = {"isolcpus", "nohz_full"};
    char text[CARRY_TEXT];
    get(folder, "etc/default/grub", text);
    assert_non_null(strstr(text, "GRUB_CMDLINE_LINUX=\"quiet rhgb\"\n"));
    for (size_t i = 0; i < 2; i++)
        if (!strstr(text, parameters[i]))
            carry_boot(folder, parameters[i]);
}

/* vllm: its command line, word by word. */
static inline void carry_vllm(const char *folder, const called *c, int pid)
{
    char name[64], text[4096] = "python\a/usr/bin/";
    size_t n = strlen(text);
    for (int i = 0; i < c->n; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s\a", c->word[i]);
    snprintf(name, sizeof name, "proc/%d/cmdline", pid);
    put(folder, name, text);
}

/* Carries out one command that the shell has run; pid: the process of the finding. */
static inline void carry_call(const char *folder, const called *c, int pid)
{
    char text[CARRY_TEXT];
    const char *program = c->word[0];
    if (strcmp(program, "cpubind") == 0 && strcmp(c->word[2], "--all") == 0)
        carry_all(folder, c);
    else if (strcmp(program, "cpubind") == 0)
        carry_cpubind(folder, c, pid);
    else if (strcmp(program, "docker") == 0)
        carry_docker(folder, c);
    else if (strcmp(program, "vllm") == 0)
        carry_vllm(folder, c, pid);
    else if (strcmp(program, "numactl") == 0 && strcmp(c->word[1], "--interleave=all") == 0)
        carry_memory(folder, pid, 1, -1, "interleave:0-3");
    else if (strcmp(program, "taskset") == 0 && strcmp(c->word[1], "-acp") == 0)
        carry_threads(folder, atoi(c->word[3]), c->word[2], NULL);
    else if (strcmp(program, "taskset") == 0) { /* of this shell */
        get(folder, "proc/self/status", text);
        carry_set(text, "Cpus_allowed_list:", c->word[2]);
        put(folder, "proc/self/status", text);
    } else if (strcmp(program, "update-grub") == 0)
        carry_update_grub(folder);
    else if (strcmp(program, "grubby") == 0 && strncmp(c->word[2], "--remove-args=", 14) == 0)
        carry_boot(folder, c->word[2] + 14);
    else if (strcmp(program, "sudo") == 0) { /* doctor as root */
        get(folder, "proc/self/status", text);
        carry_set(text, "CapEff:", "000001ffffffffff");
        put(folder, "proc/self/status", text);
    } else
        fail_msg("nobody knows what %s means", program);
}

/* == Changes of --fix ======================================================= */

/* Makes the changes that --fix lists: values of files, CPUs of threads, bans of interrupts,
 * which the command line of irqbalance shows here. */
static inline void carry_changes(const char *folder, const json_t *changes)
{
    char name[64], text[CARRY_TEXT];
    for (size_t i = 0; i < json_array_size(changes); i++) {
        const json_t *change = json_array_get(changes, i);
        const char *kind = text_at(change, "kind");
        const int pid = (int)json_integer_value(json_object_get(change, "pid"));
        const int tid = (int)json_integer_value(json_object_get(change, "tid"));
        const int irq = (int)json_integer_value(json_object_get(change, "irq"));
        if (strcmp(kind, "file") == 0) {
            snprintf(text, sizeof text, "%s\n", text_at(change, "after"));
            put(folder, text_at(change, "file") + 1, text);
        } else if (strcmp(kind, "thread") == 0) {
            carry_move(folder, pid, tid, text_at(change, "after"));
        } else {
            assert_string_equal(kind, "ban");
            snprintf(name, sizeof name, "proc/%d/cmdline", pid);
            get(folder, name, text);
            snprintf(text + strlen(text), 32, "--banirq=%d\a", irq);
            put(folder, name, text);
        }
    }
}

/* == The shell ============================================================== */

/* Makes the programs that note their words, in a folder beside the host. */
static inline void carry_begin(const char *top)
{
    shell(top, "mkdir bin redhat; printf '#!/bin/sh\\nn=${0##*/}\\n"
               "{ printf %%s \"$n\"; printf \"\\\\037%%s\" \"$@\"; echo; } >>\"$CALLS\"\\n' "
               ">bin/note; chmod +x bin/note; "
               "for i in cpubind docker taskset numactl vllm update-grub sudo; do "
               "ln -s note bin/$i; done; ln -s ../bin/note redhat/grubby");
}

/* Carries out a command. The environment that it leaves is that of the process of the finding,
 * and of cpubind. CPUs that were set online are. grubby is where the release is no Debian. */
static inline void carry_out(const char *folder, const char *command, int pid)
{
    static const char *const places[] = {"/proc/", "/sys/", "/etc/"};
    char text[8192], calls[CARRY_TEXT];
    size_t n = (size_t)snprintf(
        text, sizeof text,
        "rm -f ../calls; CALLS=$PWD/../calls PATH=$PWD/../bin:$PATH; "
        "! grep -q '\"' etc/os-release 2>/dev/null || PATH=$PWD/../redhat:$PATH; "
        "export CALLS PATH CPUBIND_FACTS= CPUBIND_RULES=\n"
        "[ ! -e proc/%d/environ ] || export $(tr '\\0' ' ' <proc/%d/environ)\n",
        pid, pid);
    for (const char *at = command; *at; at++) {
        int is_place = 0;
        for (size_t i = 0; (at == command || strchr(" >", at[-1])) && i < 3; i++)
            is_place |= strncmp(at, places[i], strlen(places[i])) == 0;
        if (is_place)
            continue;
        text[n++] = *at;
        assert_true(n < sizeof text - 1024);
    }
    snprintf(text + n, sizeof text - n,
             "\ntouch env; sed -i -E '/^CPUBIND_(RULES|FACTS)=/d' env\n"
             "env | grep -E '^CPUBIND_(RULES|FACTS)=.' >>env\n"
             "[ ! -e proc/%d/environ ] || env -0 >proc/%d/environ\n"
             "cat sys/devices/system/cpu/cpu*/online 2>/dev/null | grep -q 1 && "
             "cp sys/devices/system/cpu/present sys/devices/system/cpu/online\n:\n",
             pid, pid);
    shell(folder, text);
    get(folder, "../calls", calls);
    for (char *save = NULL, *line = strtok_r(calls, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        called c = {.n = 0};
        char *inner = NULL;
        for (char *word = strtok_r(line, "\037", &inner); word && c.n < CARRY_WORDS - 1;
             word = strtok_r(NULL, "\037", &inner))
            c.word[c.n++] = word;
        carry_call(folder, &c, pid);
    }
}

#endif
