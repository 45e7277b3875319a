/* group.c - several bindings of one caller: one stream of events, one search for each fact
 * SPDX-License-Identifier: MIT
 *
 * Gives each event to the binding that it is about, and moves nothing. Events may be lost, and
 * only hasten what the end of a period does too.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"

/* Events that come within this time are handled together: those of bound processes, and at most
 * those of others, whose waits become longer while they alone have events. */
#define GATHER_MS     2
#define MAX_GATHER_MS 64

/* How long it holds that no irqbalance runs. */
#define SEARCH_MS 1000

cpubind_linux_status cpubind_group_open(const cpubind_sys *sys, cpubind_group **out,
                                        cpubind_linux_fault *fault)
{
    sys = sys ? sys : &cpubind_sys_real;
    *out = (cpubind_group *)sys->malloc(sizeof **out);
    if (!*out)
        return cpubind_linux_fail(CPUBIND_LINUX_ERR_MEMORY, ENOMEM, "memory", fault);
    **out = (cpubind_group){.sys = sys, .wake_fd = -1, .events_fd = -1, .gather_ms = GATHER_MS};
    return CPUBIND_LINUX_OK;
}

/* == Members ================================================================ */

/* The place of the binding of a process; -1: none. */
static int32_t place_of(const cpubind_group *g, int32_t pid)
{
    for (int32_t i = 0; i < g->n; i++)
        if (g->member[i].binding->options.pid == pid)
            return i;
    return -1;
}

/* The members have changed: the kernel is to send the names of others. */
static void choose_events(cpubind_group *g)
{
    cpubind_ids pids = {0};
    cpubind_linux_fault why = cpubind_no_fault;
    if (g->events_fd < 0 || !g->is_changed)
        return;
    for (int32_t i = 0; i < g->n && !why.error; i++)
        why = cpubind_ids_add(&pids, g->sys, g->member[i].binding->options.pid);
    if (!why.error) /* else the filter of before: the next wait tries again */
        cpubind_proc_events_choose(g->sys, g->events_fd, pids.id, pids.n, !g->is_own);
    g->is_changed = why.error != 0;
    free(pids.id);
}

void cpubind_group_join(cpubind_group *group, cpubind_binding *binding)
{
    const cpubind_member member = {binding,
                                   group->sys->pidfd_open((pid_t)binding->options.pid, 0)};
    if (CPUBIND_APPEND(group->sys, group->member, group->n, group->cap, &member).error) {
        if (member.pidfd >= 0)
            group->sys->close(member.pidfd);
        return;
    }
    binding->group = group;
    group->is_changed = 1;
    choose_events(group); /* before anything of the process is looked at */
    cpubind_look_at_all(binding);
}

/* Leaves the group, if there is one. */
static void leave(cpubind_binding *b)
{
    cpubind_group *g = b->group;
    b->group = NULL;
    for (int32_t i = 0; g && i < g->n; i++) {
        if (g->member[i].binding != b)
            continue;
        if (g->member[i].pidfd >= 0)
            g->sys->close(g->member[i].pidfd);
        g->member[i] = g->member[--g->n];
        g->is_changed = 1;
        return;
    }
}

void cpubind_group_close(cpubind_group *group)
{
    if (!group)
        return;
    while (group->n > 0)
        leave(group->member[0].binding);
    if (group->events_fd >= 0)
        cpubind_proc_events_close(group->sys, group->events_fd);
    cpubind_kernel_list_free(&group->kernel);
    free(group->member);
    free(group->wait);
    free(group);
}

/* == irqbalance ============================================================= */

/* Whether the last search still holds: its process lives, or it found none a short time ago. */
static int is_search_new(cpubind_binding *b, cpubind_group *g)
{
    cpubind_proc_stat stat = {.start = 0};
    if (g->daemon.pid == 0)
        return g->next_search_ms > cpubind_now_ms();
    if (cpubind_proc_stat_read(&b->root, g->daemon.pid, 0, &stat).error ||
        stat.start != g->daemon.start)
        return 0;
    g->daemon.is_stopped = stat.state == 'T';
    return 1;
}

cpubind_linux_fault cpubind_group_find_daemon(cpubind_binding *b, cpubind_irqbalance *out)
{
    cpubind_group *g = b->group;
    if (!g)
        return cpubind_irqbalance_find(&b->root, out);
    if (!is_search_new(b, g)) {
        cpubind_irqbalance found = {.pid = 0};
        const cpubind_linux_fault why = cpubind_irqbalance_find(&b->root, &found);
        if (why.error)
            return why;
        g->daemon = found;
        g->next_search_ms = cpubind_now_ms() + SEARCH_MS;
    }
    *out = g->daemon;
    return cpubind_no_fault;
}

/* == Events ================================================================= */

int cpubind_has_events(const cpubind_binding *b)
{
    return b->group && b->group->events_fd >= 0;
}

cpubind_linux_fault cpubind_start_events(cpubind_binding *b)
{
    cpubind_group *own;
    cpubind_linux_fault why = cpubind_no_fault;
    if (!b->options.is_watching || b->group)
        return why;
    if (cpubind_group_open(b->sys, &own, &why) != CPUBIND_LINUX_OK)
        return why;
    own->is_own = 1;
    (void)cpubind_group_watch(own, &b->report.no_events);
    cpubind_group_join(own, b);
    if (b->group)
        return why;
    cpubind_group_close(own);
    return cpubind_fault_of(ENOMEM, "memory");
}

void cpubind_stop_events(cpubind_binding *b)
{
    cpubind_group *const own = b->group && b->group->is_own ? b->group : NULL;
    leave(b);
    cpubind_group_close(own);
    free(b->news.tids.id);
    b->news = (cpubind_proc_news){.is_all = 0};
    b->is_early = 0;
    cpubind_look_at_all(b);
}

cpubind_linux_status cpubind_group_watch(cpubind_group *group, cpubind_linux_fault *fault)
{
    cpubind_linux_fault why = cpubind_no_fault;
    if (group->events_fd < 0)
        why = cpubind_proc_events_open(group->sys, &group->events_fd);
    return cpubind_linux_end(why.error ? CPUBIND_LINUX_ERR_REFUSED : CPUBIND_LINUX_OK, why,
                             fault);
}

/* The arguments of take_event. */
typedef struct listener {
    cpubind_group *group;
    cpubind_group_news *news;
    int has_own;
} listener;

static void take_event(void *ctx, const cpubind_proc_event *event)
{
    listener *l = (listener *)ctx;
    cpubind_group *g = l->group;
    const int is_lost = event->kind == CPUBIND_PROC_EVENT_LOST;
    const int32_t place = is_lost ? -1 : place_of(g, event->pid);
    if (place >= 0)
        cpubind_proc_news_add(&g->member[place].binding->news, g->sys, event);
    for (int32_t i = 0; is_lost && i < g->n; i++)
        g->member[i].binding->news.is_all = 1;
    l->has_own |= is_lost || place >= 0;
    l->news->has_other |= is_lost || (place < 0 && event->kind != CPUBIND_PROC_EVENT_NAME);
    /* A bound process that runs another program may drive another device, or none. */
    l->news->has_other |= event->kind == CPUBIND_PROC_EVENT_EXEC;
}

/* Reads the events that have come. Without events the watch goes on by periods alone. */
static void read_events(cpubind_group *g, cpubind_group_news *news)
{
    listener l = {g, news, 0};
    if (g->events_fd < 0)
        return;
    news->why = cpubind_proc_events_each(g->sys, g->events_fd, take_event, &l);
    if (news->why.error) {
        cpubind_proc_events_close(g->sys, g->events_fd);
        g->events_fd = -1;
        for (int32_t i = 0; i < g->n; i++)
            cpubind_look_at_all(g->member[i].binding);
    }
    if (l.has_own)
        g->gather_ms = GATHER_MS;
    else if (news->has_other && g->gather_ms < MAX_GATHER_MS)
        g->gather_ms *= 2;
}

void cpubind_read_events(cpubind_binding *b)
{
    cpubind_group_news news = {.is_period = 0};
    if (!b->group || !b->group->is_own)
        return;
    read_events(b->group, &news);
    cpubind_note_step(b, CPUBIND_STEP_EVENTS, news.why);
}

/* == Waiting ================================================================ */

/* The descriptors to wait for: the events, each process, the caller's; poll(2) ignores -1. */
static int list_waits(cpubind_group *g)
{
    if (g->n + 2 > g->cap_wait) {
        struct pollfd *all =
            (struct pollfd *)g->sys->realloc(g->wait, ((size_t)g->n + 2) * sizeof *all);
        if (!all)
            return 0;
        g->wait = all;
        g->cap_wait = g->n + 2;
    }
    g->wait[0] = (struct pollfd){g->events_fd, POLLIN, 0};
    for (int32_t i = 0; i < g->n; i++)
        g->wait[i + 1] = (struct pollfd){g->member[i].pidfd, POLLIN, 0};
    g->wait[g->n + 1] = (struct pollfd){g->wake_fd, POLLIN, 0};
    return 1;
}

/* Notes which processes have ended: their descriptors are not waited for any more. */
static int note_ends(cpubind_group *g)
{
    int has_ended = 0;
    for (int32_t i = 0; i < g->n; i++) {
        if (!g->wait[i + 1].revents)
            continue;
        g->sys->close(g->member[i].pidfd);
        g->member[i].pidfd = -1;
        has_ended = 1;
    }
    return has_ended;
}

/* Ends the period when its time is over; every binding looks at its threads then. */
static int is_period_over(cpubind_group *g)
{
    if (cpubind_now_ms() < g->period_end_ms)
        return 0;
    g->period_end_ms = 0;
    return 1;
}

void cpubind_group_wake_at(cpubind_group *group, int fd)
{
    group->wake_fd = fd;
}

/* Waits, and reads no event: those of a group of one are read by cpubind_bind_again. */
static cpubind_group_news wait_for_any(cpubind_group *g, int32_t timeout_ms, int32_t most_ms)
{
    cpubind_group_news news = {.is_period = 0};
    const int64_t now_ms = cpubind_now_ms();
    int64_t left_ms;
    if (g->period_end_ms == 0)
        g->period_end_ms = now_ms + timeout_ms;
    left_ms = g->period_end_ms > now_ms ? g->period_end_ms - now_ms : 0;
    if (most_ms >= 0 && left_ms > most_ms)
        left_ms = most_ms;
    choose_events(g);
    if (!list_waits(g)) {
        (void)g->sys->poll(NULL, 0, (int)left_ms);
    } else if (g->sys->poll(g->wait, (nfds_t)g->n + 2, (int)left_ms) > 0) {
        if (g->wait[0].revents)
            (void)g->sys->poll(NULL, 0, g->gather_ms);
        news.has_ended = note_ends(g);
    }
    news.is_period = is_period_over(g);
    for (int32_t i = 0; i < g->n; i++)
        g->member[i].binding->is_early = !news.is_period;
    return news;
}

cpubind_group_news cpubind_group_wait(cpubind_group *group, int32_t timeout_ms, int32_t most_ms)
{
    cpubind_group_news news = wait_for_any(group, timeout_ms, most_ms);
    read_events(group, &news);
    return news;
}

int cpubind_bind_wait(cpubind_binding *binding, int32_t timeout_ms)
{
    const cpubind_binding *b = binding;
    /* Checked after pidfd_open of the group: another process may have had the pid before. */
    int is_over = cpubind_has_ended(&binding->root, b->options.pid, b->start);
    if (!is_over && b->group)
        (void)wait_for_any(b->group, timeout_ms, -1);
    else if (!is_over)
        (void)b->sys->poll(NULL, 0, timeout_ms);
    return is_over || cpubind_has_ended(&binding->root, b->options.pid, b->start);
}

int cpubind_group_is_due(const cpubind_binding *binding)
{
    return !binding->is_early || binding->news.tids.n > 0 || binding->news.is_all;
}
