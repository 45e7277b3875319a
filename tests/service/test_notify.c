/* test_notify.c - messages to a service manager: paths, abstract names, and none
 * SPDX-License-Identifier: MIT
 */
#include <sys/un.h>

#include "../../adapters/service/notify.h"
#include "../linux/fault_table.h"
#include "../linux/temp_dir.h"

static scratch s;

SETUP(set_up)
{
    scratch_make(&s);
    fault_clear();
    return 0;
}

SETUP(tear_down)
{
    scratch_remove(&s);
    return 0;
}

/* A manager that listens at an address of NOTIFY_SOCKET. */
static int listen_at(const char *address)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    memcpy(at.sun_path, address, strlen(address));
    if (address[0] == '@')
        at.sun_path[0] = '\0';
    scratch_need(bind(fd, (struct sockaddr *)&at,
                      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(address))) ==
                     0,
                 address);
    return fd;
}

static void expect_message(const char *address)
{
    const int fd = listen_at(address);
    char got[64] = "";
    assert_int_equal(cpubind_notify(&cpubind_sys_real, address, "READY=1\n").error, 0);
    assert_int_equal(recv(fd, got, sizeof got - 1, 0), 8);
    assert_string_equal(got, "READY=1\n");
    close(fd);
}

TEST(a_message_arrives_at_a_path_and_at_an_abstract_name)
{
    char path[SCRATCH_PATH * 2], name[SCRATCH_PATH];
    scratch_path(&s, "notify", path);
    expect_message(path);
    (void)snprintf(name, sizeof name, "@cpubind-test-%d", (int)getpid());
    expect_message(name);
}

TEST(without_an_address_nothing_is_sent)
{
    assert_int_equal(cpubind_notify(&fault_table, NULL, "READY=1\n").error, 0);
    assert_int_equal(cpubind_notify(&fault_table, "", "READY=1\n").error, 0);
    assert_int_equal(fault.count[CALL_socket], 0);
}

TEST(a_wrong_address_is_an_error)
{
    char path[256];
    memset(path, 'a', sizeof path);
    path[0] = '/';
    path[108] = '\0';
    assert_int_equal(cpubind_notify(&cpubind_sys_real, path, "A=1").error, ENAMETOOLONG);
    assert_int_equal(cpubind_notify(&cpubind_sys_real, "@", "A=1").error, ENAMETOOLONG);
    assert_int_equal(cpubind_notify(&cpubind_sys_real, "vsock:2:1234", "A=1").error,
                     EAFNOSUPPORT);
    assert_int_equal(cpubind_notify(&cpubind_sys_real, "/nowhere/notify", "A=1").error, ENOENT);
}

TEST(a_full_manager_is_not_waited_for)
{
    char path[SCRATCH_PATH * 2];
    int fd, error = 0;
    scratch_path(&s, "notify", path);
    fd = listen_at(path);
    for (int i = 0; i < 100000 && !error; i++)
        error = cpubind_notify(&cpubind_sys_real, path, "WATCHDOG=1\n").error;
    assert_int_equal(error, EAGAIN);
    close(fd);
}

TEST(each_call_may_fail)
{
    static const call calls[] = {CALL_socket, CALL_sendmsg};
    char path[SCRATCH_PATH * 2];
    const int fd = (scratch_path(&s, "notify", path), listen_at(path));
    const int before = open_descriptors();
    for (size_t i = 0; i < 2; i++) {
        fault_set(calls[i], 1, ENOBUFS);
        assert_int_equal(cpubind_notify(&fault_table, path, "A=1").error, ENOBUFS);
        fault_set(calls[i], 1, EINTR);
        assert_int_equal(cpubind_notify(&fault_table, path, "A=1").error,
                         calls[i] == CALL_sendmsg ? 0 : EINTR);
        assert_int_equal(open_descriptors(), before);
    }
    close(fd);
}

TEST(the_pause_of_the_watchdog_is_half_of_its_time)
{
    static const struct {
        const char *usec, *pid;
        int64_t pause_ms;
    } cases[] = {{"60000000", NULL, 30000},
                 {"60000000", "7", 30000},
                 {"60000000", "8", 0},
                 {NULL, NULL, 0},
                 {"", NULL, 0},
                 {"-1", NULL, 0},
                 {"1s", NULL, 0},
                 {"1999", NULL, 0},
                 {"2000", NULL, 1},
                 {"60000000", "x", 0},
                 {"99999999999999999999999", NULL, 0},
                 {"18446744073709", NULL, 3600000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(cpubind_notify_pause_ms(cases[i].usec, cases[i].pid, 7),
                         cases[i].pause_ms);
}

TEST_FILE(set_up, tear_down)
