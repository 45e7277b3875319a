/* proc.c - the rows of the readers of what the kernel says: /proc, /sys, its sockets
 * SPDX-License-Identifier: MIT
 *
 * What each reader promises is in its header in adapters/text.
 */
#include "../../adapters/model/engine.h"
#include "../../adapters/text/cgroup.h"
#include "../../adapters/text/counters.h"
#include "../../adapters/text/cpulist.h"
#include "../../adapters/text/interrupts.h"
#include "../../adapters/text/maps.h"
#include "../../adapters/text/numa_maps.h"
#include "../../adapters/text/proc_connector.h"
#include "../../adapters/text/procfs.h"
#include "readers.h"

/* == One process ============================================================ */

static void read_status(reading *r)
{
    cpubind_int_list *list = OUT(r, cpubind_int_list);
    ARRAY(r, list, out, cap, n);
    if (!came(r, cpubind_status_parse(r->text, r->len, CPUBIND_MAX_CPUS, given(r, list),
                                      r->fault)))
        return;
    tell_list(r, list->out, list->n, CPUBIND_MAX_CPUS);
}

/* The name is all between the first "(" and the last ")". */
static void read_stat(reading *r)
{
    cpubind_stat *s = OUT(r, cpubind_stat);
    const char *name, *rest;
    if (!READ(r, cpubind_stat_parse, s))
        return;
    tell_id(r, "pid", s->pid);
    tell_slice(r, "name", s->name);
    tell(r, " state %c", s->state);
    tell_ids(r, "parent", s->ppid, "group", s->group, "session", s->session, "threads",
             s->n_threads, "cpu", s->cpu, NULL);
    tell(r, " flags %x start %llu code %llx stack %llx faults %llu %llu\n", s->flags,
         BIG(s->start), BIG(s->code), BIG(s->stack), BIG(s->n_minor), BIG(s->n_major));
    name = r->text + s->name.at;
    rest = name + s->name.len + 1;
    CHECK(memchr(r->text, '(', (size_t)r->len) == name - 1 && rest[-1] == ')');
    CHECK(!memchr(rest, ')', (size_t)(r->text + r->len - rest)) && rest[1] == s->state);
}

static void read_number(reading *r)
{
    int32_t *number = OUT(r, int32_t);
    if (!READ(r, cpubind_number_parse, number))
        return;
    tell(r, "%d\n", *number);
    CHECK(*number >= -1);
}

/* `read env NAME` */
static void read_env(reading *r)
{
    cpubind_piece *value = OUT(r, cpubind_piece);
    if (!came_alone(r, cpubind_env_find(r->text, r->len, r->args, given(r, value))))
        return;
    CHECK(value->at + value->len == r->len || r->text[value->at + value->len] == '\n');
    CHECK(!memchr(r->text + value->at, '\n', (size_t)value->len));
    tell_slice(r, "value", *value);
}

/* `read environ NAME`: of a process, whose variables end with NUL. */
static void read_environ(reading *r)
{
    const cpubind_piece value = cpubind_environ_find(r->text, r->len, r->args);
    if (value.len < 0) {
        tell(r, "none\n");
        return;
    }
    CHECK(value.at + value.len == r->len || r->text[value.at + value.len] == '\0');
    CHECK(!memchr(r->text + value.at, '\0', (size_t)value.len));
    tell_slice(r, "value", value);
}

/* `read comm NAME`. The first 15 bytes of a name have the name; one byte less has not. */
static void read_comm(reading *r)
{
    const char *name = r->args;
    const size_t whole = strlen(name);
    const int32_t kept = whole < 15 ? (int32_t)whole : 15;
    tell(r, "%d\n", cpubind_comm_is(r->text, r->len, name));
    if (!memchr(name, '\n', whole) && kept > 0) {
        CHECK(cpubind_comm_is(name, kept, name) == 1);
        CHECK(cpubind_comm_is(name, kept - 1, name) == 0);
    }
    CHECK(cpubind_comm_is(r->text, r->len, NULL) == 0);
    CHECK(cpubind_comm_is(r->text, -1, name) == 0);
    CHECK(cpubind_comm_is(NULL, 1, name) == 0);
}

/* The answer of a pattern from a table: whether the rest of it fits the rest of the name. */
static int fits(const char *pattern, const char *name)
{
    char rest[CPUBIND_PATTERN_SIZE + 1][17] = {{0}};
    const size_t n = strlen(name);
    size_t i = strlen(pattern);
    rest[i][n] = 1;
    while (i-- > 0)
        for (size_t k = n + 1; k-- > 0;) {
            const int is_same_byte = k < n && (pattern[i] == '?' || pattern[i] == name[k]);
            if (pattern[i] == '*')
                rest[i][k] = rest[i + 1][k] || (k < n && rest[i][k + 1]);
            else
                rest[i][k] = is_same_byte && rest[i + 1][k + 1];
        }
    return rest[0][0];
}

/* `read pattern PATTERN`: the pattern as it is kept, and whether the text, a name, fits. */
static void read_pattern(reading *r)
{
    char pattern[CPUBIND_PATTERN_SIZE], again[CPUBIND_PATTERN_SIZE], comm[16] = "";
    memcpy(comm, r->text, r->len < 15 ? (size_t)r->len : 15);
    if (!cpubind_pattern_make(r->args, pattern)) {
        CHECK(!*r->args || strchr(r->args, '*'));
        tell(r, "no pattern\n");
        return;
    }
    tell(r, "%s %d\n", pattern, cpubind_pattern_matches(pattern, comm));
    CHECK(strncmp(pattern, r->args, strlen(pattern)) == 0);
    CHECK(cpubind_pattern_make(pattern, again) && strcmp(pattern, again) == 0);
    CHECK(cpubind_pattern_matches(pattern, comm) == fits(pattern, comm));
}

/* == Counters =============================================================== */

static void read_schedstat(reading *r)
{
    cpubind_schedstat *s = OUT(r, cpubind_schedstat);
    if (!READ(r, cpubind_schedstat_parse, s))
        return;
    tell(r, "%llu %llu %llu\n", BIG(s->run_ns), BIG(s->wait_ns), BIG(s->slices));
    CHECK(r->said.len == r->len && is_same(r->said.text, r->text, (size_t)r->len));
}

/* `read engine`: a command line. */
static void read_engine(reading *r)
{
    cpubind_engine_request said;
    memset(&said, r->len & 0xff, sizeof said);
    cpubind_engine_read(r->text, r->len, &said);
    tell(r, "%s", cpubind_engine_of(said.engine)->word);
    if (said.is_unclear)
        tell(r, ", unclear\n");
    else
        tell(r, ", tp %d, dp %d, api %d\n", (int)said.tp, (int)said.dp, (int)said.n_api);
    CHECK(said.engine != CPUBIND_ENGINE_NONE ? said.is_unclear || (said.tp > 0 && said.dp > 0)
                                             : !said.is_unclear && said.tp == 0);
}

/* The CPUs of the arguments, a list. */
static int32_t cpu_args(const reading *r, int32_t *cpu, int32_t cap)
{
    cpubind_int_list list = {cpu, cap, 0};
    CHECK(cpubind_cpulist_parse(r->args, (int32_t)strlen(r->args), CPUBIND_MAX_CPUS, &list,
                                NULL) == CPUBIND_TEXT_OK);
    return list.n;
}

/* `read cpu_times CPUS` */
static void read_cpu_times(reading *r)
{
    int32_t cpu[64];
    const int32_t n = cpu_args(r, cpu, 64);
    cpubind_cpu_times *t = OUT(r, cpubind_cpu_times);
    if (!came(r, cpubind_cpu_times_parse(r->text, r->len, cpu, n, given(r, t), r->fault)))
        return;
    tell(r, "all %llu irq %llu softirq %llu steal %llu\n", BIG(t->all), BIG(t->irq),
         BIG(t->softirq), BIG(t->steal));
    CHECK(n != 1 || t->irq + t->softirq + t->steal <= t->all);
}

/* `read cpu_events CPUS`. Fewer CPUs have no more events. */
static void read_cpu_events(reading *r)
{
    int32_t cpu[64];
    const int32_t n = cpu_args(r, cpu, 64);
    cpubind_cpu_events *e = OUT(r, cpubind_cpu_events), part;
    if (!came(r, cpubind_cpu_events_parse(r->text, r->len, cpu, n, given(r, e), r->fault)))
        return;
    tell(r, "numbered %llu named %llu\n", BIG(e->numbered), BIG(e->named));
    CHECK(cpubind_cpu_events_parse(r->text, r->len, cpu, n > 0, &part, NULL) ==
          CPUBIND_TEXT_OK);
    CHECK(part.numbered <= e->numbered && part.named <= e->named);
}

/* == Cgroups ================================================================ */

static void read_container(reading *r)
{
    cpubind_piece id = {-1, -1};
    const int is_there = cpubind_cgroup_container(r->text, r->len, &id);
    CHECK(is_there ? id.len == 64 : id.at == 0 && id.len == 0);
    tell_slice(r, "", id);
    tell(r, "\n");
    for (int32_t i = id.at; i < id.at + id.len; i++)
        CHECK(r->text[i] && strchr("0123456789abcdef", r->text[i]));
}

static void read_cpuset(reading *r)
{
    cpubind_cgroup *set = OUT(r, cpubind_cgroup);
    if (!came_alone(r, cpubind_cgroup_find(r->text, r->len, "cpuset", given(r, set))))
        return;
    tell(r, "version %d", set->is_version_1 ? 1 : 2);
    tell_slice(r, "", set->path);
    tell(r, "\n");
    CHECK(set->path.at >= 2 && r->text[set->path.at - 1] == ':');
    CHECK(!memchr(r->text + set->path.at, '\n', (size_t)set->path.len));
}

static void read_quota(reading *r)
{
    int32_t number[2] = {0, 0};
    const int32_t n = cpubind_cgroup_quota(r->text, r->len, number, 0);
    CHECK(n >= 0 && n <= 2 && number[0] >= 0 && number[1] >= 0);
    for (int32_t i = 0; i < n; i++)
        tell(r, "number %d\n", number[i]);
}

static void read_pod(reading *r)
{
    cpubind_cgroup_pod pod;
    memset(&pod, r->fill, sizeof pod);
    CHECK(cpubind_cgroup_find_pod(r->text, r->len, &pod) == (*pod.uid != '\0'));
    tell(r, "uid %s", pod.uid);
    tell_name(r, "container", pod.container);
    tell(r, " runtime %s qos %s\n", pod.runtime ? pod.runtime : "-", cpubind_qos_word(pod.qos));
    CHECK(strlen(pod.uid) < CPUBIND_POD_UID_SIZE && !strpbrk(pod.uid, "_/:\n"));
    CHECK(pod.container.len == 64 || (pod.container.len == 0 && !pod.runtime));
}

static void read_pod_log(reading *r)
{
    cpubind_pod_log *log = OUT(r, cpubind_pod_log);
    if (!READ(r, cpubind_pod_log_parse, log))
        return;
    tell_slice(r, "pod", log->pod);
    tell_slice(r, "namespace", log->space);
    tell_slice(r, "container", log->container);
    tell_slice(r, "id", log->id);
    tell(r, "\n");
    CHECK(log->pod.at == 0 && log->pod.len > 0 && log->pod.len < CPUBIND_POD_NAME_SIZE);
    CHECK(log->space.at == log->pod.len + 1);
    CHECK(log->space.len > 0 && log->space.len < CPUBIND_POD_LABEL_SIZE);
    CHECK(log->container.at == log->space.at + log->space.len + 1);
    CHECK(log->container.len > 0 && log->container.len < CPUBIND_POD_LABEL_SIZE);
    CHECK(log->id.at == log->container.at + log->container.len + 1);
    CHECK(log->id.at + 68 == r->len);
}

/* == Interrupts ============================================================= */

/* Nothing but commas and blanks. */
static void check_between(const reading *r, int32_t at, int32_t end)
{
    for (; at < end; at++)
        CHECK(strchr(", \t\r", r->text[at]));
}

/* The names of a row, apart. */
static void tell_names(reading *r, cpubind_piece names)
{
    cpubind_piece name = {0, 0};
    int32_t at = 0, next = names.at;
    while (cpubind_interrupts_next_name(r->text, names, &at, &name)) {
        check_between(r, next, name.at);
        tell_slice(r, "", name);
        next = name.at + name.len;
        CHECK(name.len > 0 && next <= names.at + names.len);
    }
    check_between(r, next, names.at + names.len);
}

static void read_interrupts(reading *r)
{
    cpubind_interrupt_list *list = OUT(r, cpubind_interrupt_list);
    ARRAY(r, list, irq, cap, n);
    if (!READ(r, cpubind_interrupts_parse, list))
        return;
    CHECK(list->n_cpu >= 1);
    tell(r, "%d CPUs\n", list->n_cpu);
    for (int32_t i = 0; i < list->n; i++) {
        const cpubind_interrupt *irq = &list->irq[i];
        CHECK(irq->irq > (i ? irq[-1].irq : -1));
        tell(r, "%d", irq->irq);
        tell_names(r, irq->names);
        tell(r, "\n");
    }
}

/* == The proc connector ===================================================== */

static void read_proc_events(reading *r)
{
    static const char *const kinds[] = {"answer", "lost", "birth", "exec", "name", "end"};
    cpubind_proc_event_list *list = OUT(r, cpubind_proc_event_list);
    ARRAY(r, list, out, cap, n);
    if (!READ(r, cpubind_proc_connector_parse, list))
        return;
    CHECK(list->n <= r->len / 16);
    for (int32_t i = 0; i < list->n; i++) {
        const cpubind_proc_event *e = &list->out[i];
        const int is_answer = e->kind == CPUBIND_PROC_EVENT_ANSWER;
        const int is_thread = !is_answer && e->kind != CPUBIND_PROC_EVENT_LOST;
        CHECK(is_thread ? e->pid > 0 && e->tid > 0 : e->pid == 0 && e->tid == 0);
        CHECK(is_answer || (e->ack | e->error) == 0);
        tell(r, "%s pid %d tid %d ack %d error %d\n", kinds[e->kind], e->pid, e->tid, e->ack,
             e->error);
    }
}

/* == Memory ================================================================= */

enum { N_NODE = 9 };

static void tell_line(reading *r, const cpubind_numa_line *line)
{
    tell(r, "start %llx", BIG(line->start));
    tell_id(r, "total", line->total);
    tell_id(r, "home", line->home);
    tell_id(r, "page", line->page_bytes);
    tell_id(r, "mapmax", line->mapmax);
    tell(r, "%s, %d bytes\n", tell_if(line->is_huge, " huge"), line->len);
    CHECK(line->mapmax >= 1 && line->page_bytes > 0);
    CHECK(line->home >= 0 && line->home <= line->total);
}

/* `read numa_maps PAGE_KB`: the bytes on nodes 0 to 8, up to a line that is refused. In double,
 * for its range: the lines, one by one, have the same sums. */
static void read_numa_maps(reading *r)
{
    const int32_t page_kb = number_arg(&r->args, 4);
    int64_t sums[N_NODE] = {0};
    const cpubind_numa_nodes to = {sums, N_NODE, 1};
    double home = 0, total = 0, expected = 0;
    cpubind_numa_line line;
    for (int32_t at = 0; at < r->len; at += line.len) {
        const char *text = r->text + at;
        cpubind_text_fault fault = {-7, NULL};
        const cpubind_text_status status =
            cpubind_numa_maps_line_parse(text, r->len - at, page_kb, &to, &line, &fault);
        if (status != CPUBIND_TEXT_OK) {
            tell_fault(r, status, &fault, at);
            return;
        }
        CHECK(line.len > 0 && text[line.len - 1] == '\n');
        CHECK(line.start == strtoull(text, NULL, 16));
        home += (double)line.home;
        total += (double)line.total;
    }
    for (int node = 0; node < N_NODE; node++) {
        tell_id(r, "", sums[node]);
        expected += (double)sums[node];
    }
    tell(r, "\n");
    CHECK(home >= 9e15 || (double)sums[1] == home);
    CHECK(total >= 9e15 || total == expected);
}

/* `read numa_line PAGE_KB NODE`: the first line. */
static void read_numa_line(reading *r)
{
    static int64_t sums[1 << 12];
    const int32_t page_kb = number_arg(&r->args, 4), node = number_arg(&r->args, 1);
    const cpubind_numa_nodes to = {sums, 1 << 12, node};
    cpubind_numa_line *line = OUT(r, cpubind_numa_line);
    memset(sums, 0, sizeof sums);
    if (came(r, cpubind_numa_maps_line_parse(r->text, r->len, page_kb, &to, given(r, line),
                                             r->fault)))
        tell_line(r, line);
}

/* `read kb NAME`: a value. */
static void read_kb(reading *r)
{
    int64_t *kb = OUT(r, int64_t);
    if (!came(r, cpubind_kb_find(r->text, r->len, r->args, given(r, kb), r->fault)))
        return;
    tell_id(r, "", *kb);
}

/* Lines of maps and smaps, up to one that is refused. */
static void read_maps(reading *r)
{
    for (int32_t at = 0; at < r->len;) {
        cpubind_text_fault fault = {-7, NULL};
        cpubind_maps_line line;
        const char *text = r->text + at;
        cpubind_text_status status;
        memset(&line, r->fill, sizeof line);
        CHECK(cpubind_maps_line_parse(text, r->len - at, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
        status = cpubind_maps_line_parse(text, r->len - at, &line, &fault);
        if (status != CPUBIND_TEXT_OK) {
            CHECK(holds_only(&line, sizeof line, r->fill));
            tell_fault(r, status, &fault, at);
            return;
        }
        CHECK(line.len > 0 && line.len <= r->len - at);
        CHECK(memchr(text, '\n', (size_t)line.len) == text + line.len - 1);
        at += line.len;
        if (line.kind == CPUBIND_MAPS_RANGE)
            tell(r, "%llx-%llx\n", BIG(line.start), BIG(line.end));
        else if (line.kind == CPUBIND_MAPS_FLAGS)
            tell(r, "flags%s\n", tell_if(line.is_locked, ", locked"));
        else
            tell(r, "other\n");
        CHECK(line.kind != CPUBIND_MAPS_RANGE || line.start < line.end);
    }
}

/* Entries of 8 bytes. */
static void read_pagemap(reading *r)
{
    const int32_t n = r->len / CPUBIND_PAGEMAP_ENTRY;
    for (int32_t i = 0; i < n; i++) {
        const cpubind_page page = cpubind_pagemap_entry(r->text, i);
        CHECK(page.is_present || (!page.is_own && !page.frame));
        tell(r, "%s%s frame %llu\n", page.is_present ? "present" : "absent",
             tell_if(page.is_own, " own"), BIG(page.frame));
    }
    if (n > 0 && cpubind_pagemap_may_be_huge(r->text, 0, n))
        tell(r, "may be one huge page\n");
}

static const reader rows[] = {
    {"status", read_status, "", NULL, "proc", 1400},
    {"stat", read_stat, "", NULL, "proc", 512},
    {"number", read_number, "", NULL, "number", 32},
    {"env", read_env, NULL, NULL, "proc", 1400},
    {"environ", read_environ, NULL, "env", "proc", 1400},
    {"engine", read_engine, "", NULL, "proc", 512},
    {"comm", read_comm, NULL, NULL, "proc", 64},
    {"pattern", read_pattern, NULL, "comm", "proc", 64},
    {"schedstat", read_schedstat, "", "counters", "proc", 1024},
    {"cpu_times", read_cpu_times, "0-1,3|0", "counters", "proc", 1024},
    {"cpu_events", read_cpu_events, "0-1,3|0", "counters", "proc", 1024},
    {"cgroup", read_container, "", NULL, "cgroup", 512},
    {"cgroup_cpuset", read_cpuset, "", "cgroup", "cgroup", 512},
    {"cgroup_quota", read_quota, "", "cgroup", "cgroup", 64},
    {"cgroup_pod", read_pod, "", "cgroup", "cgroup", 512},
    {"pod_log", read_pod_log, "", "cgroup", "cgroup", 512},
    {"interrupts", read_interrupts, "", NULL, "proc", 4096},
    {"proc_connector", read_proc_events, "", NULL, "proc_connector", 512},
    {"numa_maps", read_numa_maps, "4|64", NULL, "numa_maps", 2048},
    {"numa_line", read_numa_line, "4 0|64 1", "numa_maps", "numa_maps", 2048},
    {"kb", read_kb, NULL, NULL, "maps", 256},
    {"maps", read_maps, "", NULL, "maps", 1024},
    {"pagemap", read_pagemap, "", "maps", "maps", 1024},
};

READERS(rows)
