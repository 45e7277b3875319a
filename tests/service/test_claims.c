/* test_claims.c - requests, who may ask for what, and what is kept of it over a restart
 * SPDX-License-Identifier: MIT
 */
#include <signal.h>
#include <sys/wait.h>

#include "../../adapters/linux/bind/bind.h"
#include "../../adapters/service/claims.h"
#include "../../adapters/service/rights.h"
#include "../linux/fault_table.h"
#include "../linux/temp_dir.h"

static scratch s;
static char path[SCRATCH_PATH * 2];
static int root_fd = -1;

SETUP(set_up)
{
    char name[80];
    scratch_make(&s);
    (void)snprintf(name, sizeof name,
                   geteuid() == 0 ? "run/cpubind/service.claims"
                                  : "run/user/%u/cpubind/service.claims",
                   (unsigned)geteuid());
    scratch_path(&s, name, path);
    root_fd = open(s.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    scratch_need(root_fd >= 0, s.dir);
    fault_clear();
    return 0;
}

SETUP(tear_down)
{
    close(root_fd);
    scratch_remove(&s);
    return 0;
}

static pid_t start_child(void)
{
    const pid_t pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    return pid;
}

static void end_child(pid_t pid)
{
    kill(pid, SIGKILL);
    scratch_need(waitpid(pid, NULL, 0) == pid, "waitpid");
}

/* == Requests =============================================================== */

TEST(requests_are_read_and_written)
{
    static const struct {
        const char *text;
        cpubind_text_status status;
        int offset;
        cpubind_asked asked;
    } rows[] = {
        {"status\n", CPUBIND_TEXT_OK, 0, {CPUBIND_ASK_STATUS, 0, 0, {{NULL, 0}}}},
        {"leave 4711 99\n", CPUBIND_TEXT_OK, 0, {CPUBIND_ASK_LEAVE, 4711, 99, {{NULL, 0}}}},
        {"leave all\n", CPUBIND_TEXT_OK, 0, {CPUBIND_ASK_LEAVE, 0, 0, {{NULL, 0}}}},
        {"take all\n", CPUBIND_TEXT_OK, 0, {CPUBIND_ASK_TAKE, 0, 0, {{NULL, 0}}}},
        {"adopt 2147483647 18446744073709551615\n",
         CPUBIND_TEXT_OK,
         0,
         {CPUBIND_ASK_ADOPT, INT32_MAX, UINT64_MAX, {{NULL, 0}}}},
        {"", CPUBIND_TEXT_ERR_CUT, 0, {0}},
        {"leave", CPUBIND_TEXT_ERR_CUT, 5, {0}},
        {"leave ", CPUBIND_TEXT_ERR_CUT, 6, {0}},
        {"leave al", CPUBIND_TEXT_ERR_CUT, 8, {0}},
        {"leave 4711", CPUBIND_TEXT_ERR_CUT, 10, {0}},
        {"leave 4711 9", CPUBIND_TEXT_ERR_CUT, 12, {0}},
        {"adopt all\n", CPUBIND_TEXT_ERR_SYNTAX, 6, {0}},
        {"leave\n", CPUBIND_TEXT_ERR_SYNTAX, 5, {0}},
        {"leave 0 1\n", CPUBIND_TEXT_ERR_SYNTAX, 6, {0}},
        {"leave 01 1\n", CPUBIND_TEXT_ERR_SYNTAX, 6, {0}},
        {"leave 2147483648 1\n", CPUBIND_TEXT_ERR_SYNTAX, 6, {0}},
        {"leave 1 18446744073709551616\n", CPUBIND_TEXT_ERR_SYNTAX, 8, {0}},
        {"leave 1 2 3\n", CPUBIND_TEXT_ERR_SYNTAX, 9, {0}},
        {"leave 1 2\nx", CPUBIND_TEXT_ERR_SYNTAX, 10, {0}},
        {"stop\n", CPUBIND_TEXT_ERR_SYNTAX, 0, {0}},
        {"place 0-3 - 1:5,nvidia=GPU-1\n",
         CPUBIND_TEXT_OK,
         0,
         {CPUBIND_ASK_PLACE, 0, 0, {{"0-3", 3}, {NULL, 0}, {"1:5,nvidia=GPU-1", 16}}}},
        {"place", CPUBIND_TEXT_ERR_CUT, 5, {0}},
        {"place 0", CPUBIND_TEXT_ERR_CUT, 7, {0}},
        {"place 0 1 2", CPUBIND_TEXT_ERR_CUT, 11, {0}},
        {"place 0 1\n", CPUBIND_TEXT_ERR_SYNTAX, 9, {0}},
        {"place 0  1:5\n", CPUBIND_TEXT_ERR_SYNTAX, 8, {0}},
        {"place 0 1 a;b\n", CPUBIND_TEXT_ERR_SYNTAX, 11, {0}},
        {"place 0 1 2 3\n", CPUBIND_TEXT_ERR_SYNTAX, 11, {0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int32_t len = (int32_t)strlen(rows[i].text);
        cpubind_asked asked = {CPUBIND_ASK_COUNT, 0, 0, {{NULL, 0}}};
        cpubind_text_fault where = {-1, NULL};
        char line[CPUBIND_ASK_MAX];
        if (cpubind_ask_parse(rows[i].text, len, &asked, &where) != rows[i].status)
            fail_msg("%s", rows[i].text);
        if (rows[i].status != CPUBIND_TEXT_OK) {
            if (where.offset != rows[i].offset || asked.ask != CPUBIND_ASK_COUNT)
                fail_msg("%s: byte %d", rows[i].text, (int)where.offset);
            continue;
        }
        assert_int_equal(asked.ask, rows[i].asked.ask);
        assert_int_equal(asked.pid, rows[i].asked.pid);
        assert_true(asked.start == rows[i].asked.start);
        for (int k = 0; k < CPUBIND_ASK_N_LIST; k++) {
            const cpubind_ask_text *list = &asked.list[k], *want = &rows[i].asked.list[k];
            assert_int_equal(list->len, want->len);
            if (want->len > 0)
                assert_memory_equal(list->text, want->text, (size_t)want->len);
        }
        assert_int_equal(cpubind_ask_format(&asked, line), len);
        assert_string_equal(line, rows[i].text);
    }
}

/* A request that is as long as none may be is neither written nor read. */
TEST(a_request_that_is_too_long_is_refused)
{
    static char list[CPUBIND_ASK_MAX + 8], line[CPUBIND_ASK_MAX];
    const int32_t most = CPUBIND_ASK_MAX - 1 - (int32_t)sizeof "place - - \n" + 1;
    cpubind_asked asked = {.ask = CPUBIND_ASK_PLACE}, read;
    cpubind_text_fault where = {-1, NULL};
    memset(list, '1', sizeof list);
    asked.list[CPUBIND_ASK_DEVICES] = (cpubind_ask_text){list, most};
    assert_int_equal(cpubind_ask_format(&asked, line), CPUBIND_ASK_MAX - 1);
    assert_int_equal(cpubind_ask_parse(line, CPUBIND_ASK_MAX - 1, &read, NULL),
                     CPUBIND_TEXT_OK);
    assert_int_equal(read.list[CPUBIND_ASK_DEVICES].len, most);
    asked.list[CPUBIND_ASK_DEVICES].len++;
    assert_true(cpubind_ask_format(&asked, line) >= CPUBIND_ASK_MAX);
    memcpy(list, "place - - ", 10);
    assert_int_equal(cpubind_ask_parse(list, CPUBIND_ASK_MAX, &read, &where),
                     CPUBIND_TEXT_ERR_SYNTAX);
    assert_int_equal(where.offset, CPUBIND_ASK_MAX);
}

/* == Rights ================================================================= */

static int check(const cpubind_sys *sys, cpubind_ask ask, int32_t pid, uint64_t start,
                 const cpubind_peer *peer)
{
    const cpubind_asked asked = {.ask = ask, .pid = pid, .start = start};
    return cpubind_rights_check(sys, &asked, peer).error;
}

static uint64_t start_of(pid_t pid)
{
    uint64_t start = 0;
    assert_int_equal(cpubind_rights_start(&cpubind_sys_real, pid, &start).error, 0);
    return start;
}

TEST(each_peer_may_ask_for_what_it_could_do)
{
    const cpubind_sys *sys = &cpubind_sys_real;
    const cpubind_peer owner = {(int32_t)getpid(), geteuid(), 1};
    const cpubind_peer user = {(int32_t)getpid(), geteuid(), 0};
    const cpubind_peer other = {(int32_t)getpid(), geteuid() + 1, 0};
    const cpubind_peer unseen = {0, geteuid(), 1};
    const pid_t child = start_child();
    const uint64_t start = start_of(child);
    assert_int_equal(check(sys, CPUBIND_ASK_STATUS, 0, 0, &other), 0);
    assert_int_equal(check(sys, CPUBIND_ASK_VERIFY, 0, 0, &other), 0);
    assert_int_equal(check(sys, CPUBIND_ASK_RELOAD, 0, 0, &owner), 0);
    assert_int_equal(check(sys, CPUBIND_ASK_RELOAD, 0, 0, &user), EPERM);
    assert_int_equal(check(sys, CPUBIND_ASK_PLACE, 0, 0, &owner), 0);
    assert_int_equal(check(sys, CPUBIND_ASK_PLACE, 0, 0, &unseen), 0);
    assert_int_equal(check(sys, CPUBIND_ASK_PLACE, 0, 0, &user), EPERM);
    assert_int_equal(check(sys, CPUBIND_ASK_LEAVE, 0, 0, &owner), 0);
    assert_int_equal(check(sys, CPUBIND_ASK_LEAVE, 0, 0, &user), EPERM);
    assert_int_equal(check(sys, CPUBIND_ASK_LEAVE, 0, 0, &unseen), EPERM);
    assert_int_equal(check(sys, CPUBIND_ASK_TAKE, 0, 0, &user), EPERM);
    assert_int_equal(check(sys, CPUBIND_ASK_ADOPT, child, start, &owner), 0);
    assert_int_equal(check(sys, CPUBIND_ASK_ADOPT, child, start, &user), EPERM);
    for (int ask = CPUBIND_ASK_LEAVE; ask <= CPUBIND_ASK_TAKE; ask += 2) {
        assert_int_equal(check(sys, (cpubind_ask)ask, child, start, &owner), 0);
        assert_int_equal(check(sys, (cpubind_ask)ask, child, start, &user), 0);
        assert_int_equal(check(sys, (cpubind_ask)ask, child, start, &other), EPERM);
        assert_int_equal(check(sys, (cpubind_ask)ask, child, start, &unseen), EPERM);
        assert_int_equal(check(sys, (cpubind_ask)ask, child, start + 1, &owner), ESTALE);
        assert_int_equal(check(sys, (cpubind_ask)ask, child, start + 1, &user), ESTALE);
    }
    end_child(child);
    assert_int_equal(check(sys, CPUBIND_ASK_LEAVE, child, start, &owner), ESRCH);
    assert_int_equal(check(sys, CPUBIND_ASK_LEAVE, child, start, &user), ESRCH);
}

/* Whatever cannot be read refuses, and leaves nothing open. */
TEST(rights_that_cannot_be_read_are_none)
{
    static const call calls[] = {CALL_open, CALL_openat, CALL_read, CALL_statat};
    const cpubind_peer user = {(int32_t)getpid(), geteuid(), 0};
    const pid_t child = start_child();
    const uint64_t start = start_of(child);
    int n_met = 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (int nth = 1; nth < 20; nth++) {
            const int before = open_descriptors();
            int error;
            fault_set(calls[i], nth, EIO);
            error = check(&fault_table, CPUBIND_ASK_LEAVE, child, start, &user);
            assert_int_equal(open_descriptors(), before);
            if (fault.n_met && !error)
                fail_msg("%s, use %d: it may", call_name[calls[i]], nth);
            n_met += fault.n_met;
            if (!fault.n_met)
                break;
        }
    assert_true(n_met >= 5);
    end_child(child);
}

/* == Claims ================================================================= */

static cpubind_claims open_claims(const cpubind_sys *sys)
{
    return (cpubind_claims){.sys = sys, .root_fd = root_fd};
}

static void note(cpubind_claims *c, cpubind_ask ask, int32_t pid, uint64_t start)
{
    assert_int_equal(
        cpubind_claims_note(c, &(cpubind_asked){.ask = ask, .pid = pid, .start = start}).error,
        0);
}

TEST(claims_last_over_a_restart)
{
    cpubind_claims c = open_claims(&cpubind_sys_real);
    const pid_t child = start_child(), ended = start_child();
    const int32_t self = (int32_t)getpid();
    const uint64_t own = start_of(self), start = start_of(child), gone = start_of(ended);
    assert_int_equal(cpubind_claims_read(&c).error, 0); /* there is no file */
    note(&c, CPUBIND_ASK_LEAVE, 0, 0);
    note(&c, CPUBIND_ASK_ADOPT, self, own);
    note(&c, CPUBIND_ASK_TAKE, child, start);
    note(&c, CPUBIND_ASK_TAKE, ended, gone);
    note(&c, CPUBIND_ASK_LEAVE, child, start);
    end_child(ended);
    assert_int_equal(cpubind_claims_save(&c).error, 0);
    cpubind_claims_free(&c);
    c = open_claims(&cpubind_sys_real);
    assert_int_equal(cpubind_claims_read(&c).error, 0);
    assert_int_equal(c.n, 2);
    assert_int_equal(cpubind_claims_find(&c, self, own), CPUBIND_ASK_ADOPT);
    assert_int_equal(cpubind_claims_find(&c, child, start), CPUBIND_ASK_LEAVE);
    assert_int_equal(cpubind_claims_find(&c, ended, gone), CPUBIND_ASK_LEAVE); /* as all */
    assert_int_equal(cpubind_claims_find(&c, self, own + 1), CPUBIND_ASK_LEAVE);
    note(&c, CPUBIND_ASK_TAKE, 0, 0);
    assert_int_equal(cpubind_claims_find(&c, child, start), CPUBIND_ASK_COUNT);
    assert_int_equal(cpubind_claims_save(&c).error, 0);
    cpubind_claims_free(&c);
    c = open_claims(&cpubind_sys_real);
    assert_int_equal(cpubind_claims_read(&c).error, 0);
    assert_true(c.n == 0 && !c.is_all_left);
    end_child(child);
}

TEST(damage_is_said_and_the_rest_is_kept)
{
    static const char *const texts[] = {"leave 4711 1\nhello\ntake 4712 2\n",
                                        "leave 4711 1\ntake 4712 2\ntake 47",
                                        "\nleave 4711 1\ntake 4712 2\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        cpubind_claims c = open_claims(&cpubind_sys_real);
        FILE *file = fopen(path, "we");
        scratch_need(file && fputs(texts[i], file) >= 0 && fclose(file) == 0, path);
        assert_int_equal(cpubind_claims_read(&c).error, EILSEQ);
        assert_int_equal(cpubind_claims_find(&c, 4711, 1), CPUBIND_ASK_LEAVE);
        assert_int_equal(cpubind_claims_find(&c, 4712, 2), CPUBIND_ASK_TAKE);
        cpubind_claims_free(&c);
    }
    cpubind_claims c = open_claims(&cpubind_sys_real);
    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(cpubind_claims_read(&c).error, EPERM);
    assert_int_equal(c.n, 0);
}

/* Temporary files that a save has left. */
static int n_temporary(void)
{
    char folder[sizeof path];
    int n = 0;
    (void)snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    DIR *names = opendir(folder);
    scratch_need(names != NULL, folder);
    for (const struct dirent *e; (e = readdir(names)) != NULL;)
        n += strstr(e->d_name, ".tmp") != NULL;
    closedir(names);
    return n;
}

/* A service that was killed while it saved leaves a file; the next one removes it. */
TEST(what_a_killed_service_left_is_removed)
{
    cpubind_claims c = open_claims(&cpubind_sys_real);
    char left[sizeof path + 40];
    FILE *file;
    note(&c, CPUBIND_ASK_LEAVE, (int32_t)getpid(), start_of(getpid()));
    assert_int_equal(cpubind_claims_save(&c).error, 0);
    (void)snprintf(left, sizeof left, "%.*s/.service.claims.4711.0.tmp",
                   (int)(strrchr(path, '/') - path), path);
    file = fopen(left, "we");
    scratch_need(file && fclose(file) == 0, left);
    assert_int_equal(n_temporary(), 1);
    cpubind_claims_free(&c);
    c = open_claims(&cpubind_sys_real);
    assert_int_equal(cpubind_claims_read(&c).error, 0);
    assert_int_equal(c.n, 1);
    assert_int_equal(n_temporary(), 0);
    cpubind_claims_free(&c);
}

/* Saves with one call that fails: the file is as before, or as it should be, as is said; the
 * next try saves. Then reads with one: what cannot be read is not nothing. Nothing is left, nor
 * stays open. Returns whether either failed. */
static int fail_once(call which, int nth)
{
    const int32_t self = (int32_t)getpid();
    const uint64_t own = start_of(self);
    cpubind_claims c = open_claims(&fault_table), again = open_claims(&cpubind_sys_real);
    const int before = open_descriptors();
    int error, is_met;
    fault_clear();
    note(&c, CPUBIND_ASK_TAKE, self, own);
    assert_int_equal(cpubind_claims_save(&c).error, 0);
    note(&c, CPUBIND_ASK_LEAVE, self, own);
    fault_set(which, nth, EIO);
    error = cpubind_claims_save(&c).error;
    is_met = fault.n_met;
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(n_temporary(), 0);
    assert_int_equal(cpubind_claims_read(&again).error, 0);
    assert_int_equal(again.n, 1);
    if (!error || cpubind_claims_find(&again, self, own) != CPUBIND_ASK_TAKE)
        assert_int_equal(cpubind_claims_find(&again, self, own), CPUBIND_ASK_LEAVE);
    cpubind_claims_free(&again);
    fault_clear();
    assert_int_equal(cpubind_claims_save(&c).error, 0);
    cpubind_claims_free(&c);
    c = open_claims(&fault_table);
    fault_set(which, nth, EIO);
    error = cpubind_claims_read(&c).error;
    assert_int_equal(open_descriptors(), before);
    if (!error)
        assert_int_equal(cpubind_claims_find(&c, self, own), CPUBIND_ASK_LEAVE);
    cpubind_claims_free(&c);
    return is_met || fault.n_met;
}

TEST(each_call_may_fail)
{
    int n_failed = 0;
    for (int which = 1; which < N_CALLS; which++)
        for (int nth = 1; which != CALL_geteuid && fail_once((call)which, nth); nth++)
            n_failed++;
    assert_true(n_failed > 10);
}

/* == The end of the service ================================================= */

TEST(the_service_is_ended_or_it_is_said)
{
    static const call calls[] = {
        CALL_open, CALL_openat, CALL_pidfd_open, CALL_pidfd_send_signal,
        CALL_kill, CALL_poll,   CALL_read,       CALL_close};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (int nth = 1; nth < 4; nth++) {
            const pid_t child = start_child();
            const int before = open_descriptors();
            cpubind_linux_fault why = {0};
            int status;
            kill(child, SIGSTOP); /* it is continued, too */
            fault_set(calls[i], nth, EIO);
            status = (int)cpubind_bind_end_service(child, &fault_table, &why);
            assert_int_equal(open_descriptors(), before);
            if (status == CPUBIND_LINUX_OK && waitpid(child, NULL, WNOHANG) != child)
                fail_msg("%s, use %d: it lives", call_name[calls[i]], nth);
            if (status != CPUBIND_LINUX_OK)
                end_child(child);
        }
}

TEST_FILE(set_up, tear_down)
