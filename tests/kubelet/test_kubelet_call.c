/* test_kubelet_call.c - the call to kubelet: answers of a kubelet that is made here
 * SPDX-License-Identifier: MIT
 *
 * The kubelet is a thread, which sends frames of HTTP/2 as they are written here: headers are
 * literals without an index (RFC 7541, 6.2.2).
 */
#include "../support/test.h"

#include <pthread.h>
#include <sys/un.h>

#include "../../adapters/kubelet/kubelet_call.h"
#include "../linux/fault_table.h"
#include "../linux/temp_dir.h"
#include "kubelet_message.h"

enum { LIMIT_MS = 5000, SHORT_MS = 200 };

/* What the kubelet sends. */
static struct {
    char *text;
    size_t len, cap;
} reply;

static struct {
    char path[SCRATCH_PATH * 2];
    int listener;
    int ends;     /* it closes the connection after its bytes, else waits for the other end */
    int pause_ms; /* after each byte */
    pthread_t thread;
} kubelet;

static scratch s;

static void put(const void *bytes, size_t n)
{
    if (reply.len + n > reply.cap) {
        reply.cap = (reply.len + n) * 2;
        reply.text = (char *)realloc(reply.text, reply.cap);
        scratch_need(reply.text != NULL, "realloc");
    }
    memcpy(reply.text + reply.len, bytes, n);
    reply.len += n;
}

enum { DATA = 0, HEADERS = 1, RESET = 3, SETTINGS = 4, GOAWAY = 7 };
enum { END_STREAM = 1, END_HEADERS = 4 };

static void put_frame(int type, int flags, int stream, const void *payload, size_t n)
{
    const unsigned char head[9] = {(unsigned char)(n >> 16),
                                   (unsigned char)(n >> 8),
                                   (unsigned char)n,
                                   (unsigned char)type,
                                   (unsigned char)flags,
                                   0,
                                   0,
                                   0,
                                   (unsigned char)stream};
    put(head, sizeof head);
    put(payload, n);
}

/* "name=value" ... up to NULL. */
static void put_headers(int flags, const char *const *header)
{
    char block[1024];
    size_t n = 0;
    for (; *header; header++) {
        const char *equals = strchr(*header + 1, '=');
        const size_t n_name = (size_t)(equals - *header), n_value = strlen(equals + 1);
        block[n++] = 0;
        block[n++] = (char)n_name;
        memcpy(block + n, *header, n_name);
        n += n_name;
        block[n++] = (char)(n_value < 127 ? n_value : 127);
        if (n_value >= 127) /* at most 254 */
            block[n++] = (char)(n_value - 127);
        memcpy(block + n, equals + 1, n_value);
        n += n_value;
    }
    put_frame(HEADERS, flags | END_HEADERS, 1, block, n);
}

#define PUT_HEADERS(flags, ...) put_headers(flags, (const char *const[]){__VA_ARGS__, NULL})

static void put_start(void)
{
    put_frame(SETTINGS, 0, 0, "", 0);
    PUT_HEADERS(0, ":status=200", "content-type=application/grpc");
}

/* The message in frames of n bytes. */
static void put_data(const char *text, int32_t len, int32_t n)
{
    for (int32_t at = 0; at < len; at += n)
        put_frame(DATA, 0, 1, text + at, (size_t)(len - at < n ? len - at : n));
}

static void *run(void *ctx)
{
    char got[4096];
    const int fd = accept(kubelet.listener, NULL, NULL);
    (void)ctx;
    if (fd < 0)
        return NULL;
    if (kubelet.pause_ms == 0) {
        for (size_t at = 0; at < reply.len;) {
            const ssize_t n = send(fd, reply.text + at, reply.len - at, MSG_NOSIGNAL);
            if (n < 0)
                break;
            at += (size_t)n;
        }
    } else {
        for (size_t at = 0; at < reply.len; at++) {
            (void)poll(NULL, 0, kubelet.pause_ms);
            if (send(fd, reply.text + at, 1, MSG_NOSIGNAL) < 0)
                break;
        }
    }
    if (kubelet.ends)
        (void)shutdown(fd, SHUT_WR);
    while (read(fd, got, sizeof got) > 0)
        continue;
    close(fd);
    return NULL;
}

static struct sockaddr_un address(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    scratch_need(strlen(kubelet.path) < sizeof at.sun_path, kubelet.path);
    memcpy(at.sun_path, kubelet.path, strlen(kubelet.path));
    return at;
}

static void start_listening(void)
{
    const struct sockaddr_un at = address();
    kubelet.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    scratch_need(bind(kubelet.listener, (const struct sockaddr *)&at, sizeof at) == 0 &&
                     listen(kubelet.listener, 1) == 0,
                 kubelet.path);
}

SETUP(set_up)
{
    scratch_make(&s);
    fault_clear();
    memset(&kubelet, 0, sizeof kubelet);
    scratch_path(&s, "kubelet.sock", kubelet.path);
    reply.len = 0;
    return 0;
}

SETUP(tear_down)
{
    scratch_remove(&s);
    free(reply.text);
    memset(&reply, 0, sizeof reply);
    return 0;
}

static cpubind_kubelet_call call_of(int32_t limit_ms)
{
    return (cpubind_kubelet_call){.path = kubelet.path,
                                  .limit_ms = limit_ms,
                                  .max = CPUBIND_KUBELET_HEAD + CPUBIND_KUBELET_ANSWER_MAX};
}

/* Asks a kubelet that sends the reply. */
static cpubind_linux_fault ask(const cpubind_sys *sys, cpubind_kubelet_call *asked,
                               cpubind_bytes *answer)
{
    cpubind_linux_fault why;
    start_listening();
    scratch_need(pthread_create(&kubelet.thread, NULL, run, NULL) == 0, "pthread_create");
    why = cpubind_kubelet_list(sys, asked, answer);
    /* Where the call has not connected, it waits in accept. */
    (void)shutdown(kubelet.listener, SHUT_RDWR);
    pthread_join(kubelet.thread, NULL);
    close(kubelet.listener);
    (void)unlink(kubelet.path);
    return why;
}

static void expect(int error, const char *what)
{
    cpubind_kubelet_call asked = call_of(LIMIT_MS);
    cpubind_bytes answer = {NULL, 0, 0};
    const cpubind_linux_fault why = ask(&cpubind_sys_real, &asked, &answer);
    assert_int_equal(why.error, error);
    if (what)
        assert_string_equal(why.what, what);
    cpubind_bytes_free(&answer);
}

static const int64_t some[] = {4, 5};

TEST(an_answer_arrives_in_frames_of_any_size)
{
    static const int32_t sizes[] = {1, 4, 5, 6, 16384};
    int32_t len;
    char *text = make_answer(some, 2, 1, 1 << 30, &len);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        cpubind_kubelet_call asked = call_of(LIMIT_MS);
        cpubind_bytes answer = {NULL, 0, 0};
        reply.len = 0;
        put_start();
        put_data(text, len, sizes[i]);
        PUT_HEADERS(END_STREAM, "grpc-status=0", "grpc-message=");
        assert_int_equal(ask(&cpubind_sys_real, &asked, &answer).error, 0);
        assert_int_equal(answer.len, len);
        assert_memory_equal(answer.data, text, (size_t)len);
        cpubind_bytes_free(&answer);
    }
    free(text);
}

TEST(a_refusal_has_its_status_and_its_reason)
{
    static const struct {
        const char *status, *message, *want;
        int32_t number;
    } cases[] = {
        {"grpc-status=12", "grpc-message=unknown service", "unknown service", 12},
        {"grpc-status=8", "grpc-message=100%25 full%0a%zz%2", "100% full\n%zz%2", 8},
        {"grpc-status=16", "grpc-message=a%00b", "a?b", 16},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cpubind_kubelet_call asked = call_of(LIMIT_MS);
        cpubind_bytes answer = {NULL, 0, 0};
        cpubind_linux_fault why;
        reply.len = 0;
        put_frame(SETTINGS, 0, 0, "", 0);
        PUT_HEADERS(END_STREAM, ":status=200", "content-type=application/grpc", cases[i].status,
                    cases[i].message);
        why = ask(&cpubind_sys_real, &asked, &answer);
        assert_int_equal(why.error, EREMOTEIO);
        assert_int_equal(asked.status, cases[i].number);
        assert_string_equal(asked.message, cases[i].want);
        cpubind_bytes_free(&answer);
    }
}

TEST(a_reason_that_is_too_long_is_cut)
{
    cpubind_kubelet_call asked = call_of(LIMIT_MS);
    cpubind_bytes answer = {NULL, 0, 0};
    char message[200 + 14] = "grpc-message=";
    memset(message + 13, 'a', 200);
    put_frame(SETTINGS, 0, 0, "", 0);
    PUT_HEADERS(END_STREAM, ":status=200", "content-type=application/grpc", "grpc-status=2",
                message);
    assert_int_equal(ask(&cpubind_sys_real, &asked, &answer).error, EREMOTEIO);
    assert_int_equal(strlen(asked.message), CPUBIND_KUBELET_MESSAGE_SIZE - 1);
    cpubind_bytes_free(&answer);
}

TEST(what_is_no_grpc_is_said)
{
    put("HTTP/1.1 400 Bad Request\r\n\r\n", 28);
    expect(EPROTO, "answer");
    reply.len = 0;
    put_frame(SETTINGS, 0, 0, "", 0);
    PUT_HEADERS(END_STREAM, ":status=404", "content-type=application/grpc");
    expect(EPROTO, "answer");
    reply.len = 0;
    put_frame(SETTINGS, 0, 0, "", 0);
    PUT_HEADERS(END_STREAM, ":status=200", "content-type=text/html");
    expect(EPROTO, "answer");
    reply.len = 0;
    put_frame(SETTINGS, 0, 0, "", 0);
    put_frame(HEADERS, END_HEADERS, 1, "\xff\xff\xff\xff\xff\xff\xff", 7);
    expect(EPROTO, "answer");
}

TEST(an_answer_that_ends_too_soon_is_said)
{
    kubelet.ends = 1;
    expect(ENOMSG, "answer"); /* nothing at all */
    kubelet.ends = 1;
    put_start();
    put_data("\0\0\0\0\0", 5, 3);
    expect(ENOMSG, "answer");
    reply.len = 0;
    kubelet.ends = 0;
    put_start();
    put_frame(RESET, 0, 1, "\0\0\0\2", 4);
    expect(ENOMSG, "answer");
    reply.len = 0;
    put_start();
    put_frame(DATA, END_STREAM, 1, "\0\0\0\0\0", 5); /* without trailers */
    expect(ENOMSG, "answer");
    reply.len = 0;
    put_start();
    PUT_HEADERS(END_STREAM, "grpc-status=x");
    expect(ENOMSG, "answer");
    reply.len = 0;
    put_frame(SETTINGS, 0, 0, "", 0);
    put_frame(GOAWAY, 0, 0, "\0\0\0\0\0\0\0\0", 8);
    expect(EPROTO, "answer");
}

TEST(an_answer_that_is_too_long_is_said)
{
    char *block = (char *)calloc(1, 16384);
    scratch_need(block != NULL, "calloc");
    put_start();
    for (int32_t i = 0; i < CPUBIND_KUBELET_ANSWER_MAX / 16384 + 1; i++)
        put_frame(DATA, 0, 1, block, 16384);
    free(block);
    /* The double sends without asking for room: more than 65,535 bytes are the fault of the
     * library, and fewer are counted here. */
    cpubind_kubelet_call asked = call_of(LIMIT_MS);
    cpubind_bytes answer = {NULL, 0, 0};
    asked.max = 32768;
    const cpubind_linux_fault why = ask(&cpubind_sys_real, &asked, &answer);
    assert_int_equal(why.error, EFBIG);
    assert_string_equal(why.what, "answer");
    cpubind_bytes_free(&answer);
}

/* A kubelet that hangs, and one that sends a byte now and then. */
TEST(a_slow_answer_has_a_limit)
{
    for (int i = 0; i < 2; i++) {
        cpubind_kubelet_call asked = call_of(SHORT_MS);
        cpubind_bytes answer = {NULL, 0, 0};
        const int64_t from_ms = cpubind_now_ms();
        cpubind_linux_fault why;
        if (i == 1) {
            kubelet.pause_ms = SHORT_MS / 4;
            put_start();
        }
        why = ask(&cpubind_sys_real, &asked, &answer);
        assert_int_equal(why.error, ETIMEDOUT);
        assert_string_equal(why.what, "answer");
        assert_true(cpubind_now_ms() - from_ms >= SHORT_MS);
        cpubind_bytes_free(&answer);
    }
}

TEST(a_full_queue_of_connections_has_a_limit)
{
    cpubind_kubelet_call asked = call_of(SHORT_MS);
    const struct sockaddr_un at = address();
    cpubind_bytes answer = {NULL, 0, 0};
    int waiting[8], n = 0;
    cpubind_linux_fault why;
    start_listening();
    while (n < 8) {
        waiting[n] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (connect(waiting[n++], (const struct sockaddr *)&at, sizeof at) < 0)
            break;
    }
    why = cpubind_kubelet_list(&cpubind_sys_real, &asked, &answer);
    assert_int_equal(why.error, ETIMEDOUT);
    assert_string_equal(why.what, "connect");
    while (n > 0)
        close(waiting[--n]);
    close(kubelet.listener);
}

TEST(no_socket_is_told_from_one_that_does_not_answer)
{
    cpubind_kubelet_call asked = call_of(LIMIT_MS);
    cpubind_bytes answer = {NULL, 0, 0};
    char path[SCRATCH_PATH * 2 + 8];
    assert_int_equal(cpubind_kubelet_list(&cpubind_sys_real, &asked, &answer).error, ENOENT);
    scratch_file(&s, "kubelet.sock", "");
    assert_int_equal(cpubind_kubelet_list(&cpubind_sys_real, &asked, &answer).error,
                     ECONNREFUSED);
    (void)snprintf(path, sizeof path, "%s/sock", kubelet.path);
    asked.path = path;
    assert_int_equal(cpubind_kubelet_list(&cpubind_sys_real, &asked, &answer).error, ENOENT);
    memset(path, 'a', sizeof path);
    path[sizeof path - 1] = '\0';
    assert_int_equal(cpubind_kubelet_list(&cpubind_sys_real, &asked, &answer).error,
                     ENAMETOOLONG);
}

/* Each system call fails at each of its uses: the fault is said, and nothing stays open. */
TEST(every_system_call_that_fails_is_said)
{
    static const struct {
        call which;
        int error, want;
        const char *what;
    } cases[] = {{CALL_socket, EMFILE, EMFILE, "socket"},
                 {CALL_connect, EACCES, EACCES, "connect"},
                 {CALL_sendmsg, EPIPE, ENOMSG, "answer"},
                 {CALL_sendmsg, ENOBUFS, ENOBUFS, "send"},
                 {CALL_recv, ECONNRESET, ENOMSG, "answer"},
                 {CALL_recv, ENOMEM, ENOMEM, "receive"},
                 {CALL_poll, ENOMEM, ENOMEM, "poll"},
                 {CALL_realloc, ENOMEM, ENOMEM, "memory"},
                 {CALL_connect, EINTR, 0, NULL},
                 {CALL_sendmsg, EINTR, 0, NULL},
                 {CALL_sendmsg, EAGAIN, 0, NULL},
                 {CALL_recv, EINTR, 0, NULL},
                 {CALL_recv, EAGAIN, 0, NULL},
                 {CALL_close, EIO, 0, NULL}};
    int32_t len;
    char *text = make_answer(some, 2, 1, 1 << 30, &len);
    put_start();
    put_data(text, len, 16);
    PUT_HEADERS(END_STREAM, "grpc-status=0");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cpubind_kubelet_call asked = call_of(LIMIT_MS);
        cpubind_bytes answer = {NULL, 0, 0};
        cpubind_linux_fault why;
        fault_set(cases[i].which, 1, cases[i].error);
        why = ask(&fault_table, &asked, &answer);
        assert_int_equal(fault.n_met, 1);
        assert_int_equal(why.error, cases[i].want);
        if (cases[i].what)
            assert_string_equal(why.what, cases[i].what);
        assert_int_equal(fault.count[CALL_close], cases[i].which != CALL_socket);
        cpubind_bytes_free(&answer);
    }
    free(text);
}

TEST_FILE(set_up, tear_down)
