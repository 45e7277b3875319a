/* test_proc_events.c - events of the kernel about the threads of one process
 * SPDX-License-Identifier: MIT
 *
 * Most tests give the messages themselves (messages_of). Those of the kernel are skipped where
 * this process may not get them.
 */
#define _GNU_SOURCE
#include <linux/netlink.h>

#include "../../adapters/linux/kernel/proc_events.h"
#include "../support/proc_message.h"
#include "fault_table.h"
#include "test_process.h"

enum { PID = 4711 };

/* == Messages of the test =================================================== */

enum { MAX_MESSAGES = 16 };

typedef struct sent {
    int error; /* of recvfrom; or a message of this length from this sender */
    ssize_t len;
    uint32_t from;
    proc_message message;
} sent;

static struct {
    sent sent[MAX_MESSAGES];
    int n, at;
} line;

static ssize_t receive(int fd, void *data, size_t cap, int flags, struct sockaddr *from,
                       socklen_t *len)
{
    struct sockaddr_nl sender = {.nl_family = AF_NETLINK};
    const sent *s = &line.sent[line.at];
    (void)fd;
    assert_int_equal(flags, MSG_DONTWAIT | MSG_TRUNC);
    if (line.at == line.n) {
        errno = EAGAIN;
        return -1;
    }
    line.at++;
    if (s->error) {
        errno = s->error;
        return -1;
    }
    sender.nl_pid = s->from;
    assert_int_equal(*len, sizeof sender);
    memcpy(from, &sender, sizeof sender);
    assert_true(cap >= PROC_MESSAGE_SIZE);
    memcpy(data, s->message.as.bytes, PROC_MESSAGE_SIZE);
    return s->len;
}

static void say(uint32_t what, int32_t pid, int32_t tid)
{
    line.sent[line.n++] =
        (sent){.len = PROC_MESSAGE_SIZE, .message = proc_message_of(what, pid, tid)};
}

static cpubind_linux_fault read_line(cpubind_proc_news *news)
{
    cpubind_sys sys = cpubind_sys_real;
    sys.recvfrom = receive;
    *news = (cpubind_proc_news){.is_all = 0};
    return cpubind_proc_events_read(&sys, 7, PID, news);
}

static void begin_line(void)
{
    memset(&line, 0, sizeof line);
}

TEST(births_and_names_of_the_process_are_news)
{
    static const int32_t expected[] = {11, 11, 12, PID};
    cpubind_proc_news news;
    begin_line();
    say(PROC_MESSAGE_FORK, PID, 11);
    say(PROC_MESSAGE_FORK, PID + 1, PID + 1);
    say(PROC_MESSAGE_COMM, PID, 11);
    say(PROC_MESSAGE_COMM, 1, 1);
    say(PROC_MESSAGE_EXIT, PID, 11);
    say(PROC_MESSAGE_UID, PID, PID);
    say(PROC_MESSAGE_ANSWER, 0, 0);
    line.sent[line.n++] = (sent){.error = EINTR};
    say(PROC_MESSAGE_FORK, PID, 12);
    say(PROC_MESSAGE_COMM, PID, PID);
    assert_int_equal(read_line(&news).error, 0);
    assert_int_equal(news.is_all, 0);
    assert_int_equal(news.tids.n, 4);
    assert_memory_equal(news.tids.id, expected, sizeof expected);
    free(news.tids.id);
}

/* A lost event leaves no thread unplaced: all of them are looked at. */
TEST(what_may_hide_an_event_asks_for_all_threads)
{
    for (int which = 0; which < 6; which++) {
        cpubind_proc_news news;
        begin_line();
        say(which == 5 ? PROC_MESSAGE_EXEC : PROC_MESSAGE_FORK, PID, 11);
        if (which == 0)
            line.sent[0].error = ENOBUFS;
        if (which == 1)
            line.sent[0].error = ENOMEM;
        if (which == 2)
            line.sent[0].len = 4096; /* cut by recvfrom */
        if (which == 3)
            line.sent[0].len = 50;
        if (which == 4)
            line.sent[0].message.as.half[2] = NLMSG_OVERRUN;
        say(PROC_MESSAGE_COMM, PID, 12);
        assert_int_equal(read_line(&news).error, 0);
        assert_int_equal(news.is_all, 1);
        assert_int_equal(news.tids.n, 1);
        assert_int_equal(news.tids.id[0], 12);
        free(news.tids.id);
    }
}

TEST(messages_of_other_senders_are_ignored)
{
    cpubind_proc_news news;
    begin_line();
    say(PROC_MESSAGE_FORK, PID, 11);
    line.sent[0].from = 99;
    say(PROC_MESSAGE_FORK, PID, 12);
    line.sent[1].from = 99;
    line.sent[1].len = 10; /* makes no sense */
    assert_int_equal(read_line(&news).error, 0);
    assert_int_equal(news.is_all, 0);
    assert_int_equal(news.tids.n, 0);
}

TEST(another_failure_ends_the_events)
{
    cpubind_proc_news news;
    begin_line();
    say(PROC_MESSAGE_FORK, PID, 11);
    line.sent[0].error = EBADF;
    assert_int_equal(read_line(&news).error, EBADF);
    assert_int_equal(news.tids.n, 0);
}

/* == Messages of the kernel ================================================= */

static int open_or_skip(void)
{
    int fd;
    const cpubind_linux_fault why =
        cpubind_proc_events_open(&cpubind_sys_real, (int32_t)getpid(), &fd);
    if (why.error) {
        print_message("no events here: %s: %s\n", why.what, strerror(why.error));
        skip();
    }
    return fd;
}

/* Whether `tid` becomes news within a second. */
static int is_news(int fd, int32_t pid, int32_t tid)
{
    int is_found = 0;
    for (int i = 0; i < 100 && !is_found; i++) {
        struct pollfd wait = {fd, POLLIN, 0};
        cpubind_proc_news news = {.is_all = 0};
        (void)poll(&wait, 1, 10);
        assert_int_equal(cpubind_proc_events_read(&cpubind_sys_real, fd, pid, &news).error, 0);
        is_found |= news.is_all;
        for (int32_t k = 0; k < news.tids.n; k++)
            is_found |= news.tids.id[k] == tid;
        free(news.tids.id);
    }
    return is_found;
}

TEST(the_kernel_reports_threads_and_names_of_this_process_alone)
{
    worker w, other;
    int fd;
    close(open_or_skip());
    worker_start(&w, "events");
    worker_start(&other, "others");
    assert_int_equal(cpubind_proc_events_open(&cpubind_sys_real, (int32_t)w.pid, &fd).error, 0);
    const int32_t foreign = worker_thread_add(&other, "acl_thread");
    const int32_t own = worker_thread_add(&w, "acl_thread");
    struct pollfd wait = {fd, POLLIN, 0};
    cpubind_proc_news news = {.is_all = 0};
    assert_int_equal(poll(&wait, 1, 1000), 1);
    assert_int_equal(
        cpubind_proc_events_read(&cpubind_sys_real, fd, (int32_t)w.pid, &news).error, 0);
    assert_int_equal(news.is_all, 0);
    assert_int_equal(news.tids.n, 2); /* its birth and its name */
    assert_int_equal(news.tids.id[0], own);
    assert_int_equal(news.tids.id[1], own);
    assert_int_not_equal(own, foreign);
    free(news.tids.id);
    cpubind_proc_events_close(&cpubind_sys_real, fd);
    worker_end(&w);
    worker_end(&other);
}

static cpubind_sys without_filter;

static int no_filter(int fd, int level, int option, const void *value, socklen_t len)
{
    (void)fd, (void)level, (void)option, (void)value, (void)len;
    errno = EPERM;
    return -1;
}

TEST(events_come_without_the_filter_of_the_kernel_too)
{
    worker w, other;
    int fd;
    close(open_or_skip());
    worker_start(&w, "events");
    worker_start(&other, "others");
    without_filter = cpubind_sys_real;
    without_filter.setsockopt = no_filter;
    assert_int_equal(cpubind_proc_events_open(&without_filter, (int32_t)w.pid, &fd).error, 0);
    (void)worker_thread_add(&other, "acl_thread");
    assert_true(is_news(fd, (int32_t)w.pid, worker_thread_add(&w, "acl_thread")));
    cpubind_proc_events_close(&without_filter, fd);
    worker_end(&w);
    worker_end(&other);
}

TEST(a_failure_of_each_call_is_a_fault_and_leaves_no_descriptor)
{
    static const struct {
        call which;
        int error, expected;
        const char *what;
    } cases[] = {
        {CALL_socket, EPROTONOSUPPORT, EPROTONOSUPPORT, "socket"},
        {CALL_bind, EPERM, EPERM, "bind"},
        {CALL_sendmsg, ECONNREFUSED, ECONNREFUSED, "sendmsg"},
        {CALL_recvfrom, EAGAIN, ENOMSG, "answer"}, /* another pid namespace: no answer */
        {CALL_recvfrom, EBADF, EBADF, "recvfrom"},
    };
    close(open_or_skip());
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cpubind_linux_fault why;
        int fd = 7;
        fault_set(cases[i].which, 1, cases[i].error);
        why = cpubind_proc_events_open(&fault_table, (int32_t)getpid(), &fd);
        assert_int_equal(why.error, cases[i].expected);
        assert_string_equal(why.what, cases[i].what);
        assert_int_equal(fd, -1);
        assert_int_equal(fault.count[CALL_close], cases[i].which != CALL_socket);
    }
    fault_clear();
}

TEST_FILE(NULL, NULL)
