/* test_service.c - the loop of the service: signals, manager, clients, lock, with a fake engine
 * SPDX-License-Identifier: MIT
 *
 * The service runs in a child of the test, with a folder of its own in place of "/". The engine
 * writes what the loop asks of it to a file, a word a line.
 */
#include <signal.h>
#include <sys/un.h>

#include "../../adapters/service/claims.h"
#include "../../adapters/service/rights.h"
#include "../../adapters/service/server.h"
#include "../../adapters/service/service.h"
#include "../linux/fault_table.h"
#include "../linux/temp_dir.h"

#define WAIT_MS 10000

static scratch s;
static char notify[SCRATCH_PATH * 2], asked[SCRATCH_PATH * 2], textfile[SCRATCH_PATH * 2],
    log_path[SCRATCH_PATH * 2];
static int manager = -1;

/* == The engine ============================================================= */

static struct {
    int is_bad;        /* reload refuses */
    int is_restored;   /* at the end */
    int64_t answer;    /* bytes of an answer */
    int look_ms;       /* a look takes so long */
    int answer_ms;     /* the same of an answer */
    int is_counting;   /* notes each full count */
    const char *other; /* the socket after a reload */
    cpubind_service_device npu;
    cpubind_service_counts counts;
    const char *socket;
} fake;

static void note(const char *word)
{
    const int fd = open(log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    scratch_need(fd >= 0 && dprintf(fd, "%s\n", word) > 0, log_path);
    close(fd);
}

static void fake_start(void *ctx)
{
    (void)ctx;
    note("start");
}

static void fake_look(void *ctx, int wake_fd)
{
    struct pollfd wait = {wake_fd, POLLIN, 0};
    (void)ctx;
    (void)poll(&wait, 1, 60000);
    if (fake.look_ms)
        (void)poll(NULL, 0, fake.look_ms);
    fake.counts.moves++;
}

static int fake_reload(void *ctx)
{
    (void)ctx;
    note("reload");
    if (fake.other)
        fake.socket = fake.other;
    return !fake.is_bad;
}

static cpubind_service_settings fake_settings(void *ctx)
{
    (void)ctx;
    return (cpubind_service_settings){fake.socket, textfile, fake.is_restored};
}

static const cpubind_service_counts *fake_count(void *ctx, int is_full)
{
    (void)ctx;
    if (is_full && fake.is_counting)
        note("figures");
    fake.npu = (cpubind_service_device){.number = 3, .processes = 1, .right = 7};
    fake.counts.device = &fake.npu;
    fake.counts.n_device = 1;
    fake.counts.workers = 1;
    return &fake.counts;
}

static int fake_answer(void *ctx, const cpubind_asked *wish, const cpubind_peer *peer,
                       cpubind_linux_fault refused, cpubind_bytes *out)
{
    const int32_t n = (int32_t)fake.answer;
    char line[96];
    (void)ctx;
    if (wish->ask >= CPUBIND_ASK_LEAVE) {
        (void)snprintf(line, sizeof line, "%s %d of %u: %s %d", cpubind_ask_word(wish->ask),
                       (int)wish->pid, (unsigned)peer->uid, refused.error ? refused.what : "",
                       refused.error);
        note(line);
    }
    if (fake.answer_ms)
        (void)poll(NULL, 0, fake.answer_ms);
    if (cpubind_bytes_reserve(out, &cpubind_sys_real, n).error)
        return 0;
    memset(out->data + out->len, 'a', (size_t)n);
    out->len += n;
    out->data[out->len - 1] = '\n';
    return 1;
}

static void fake_restore(void *ctx)
{
    (void)ctx;
    note("restore");
}

static void fake_say(void *ctx, int priority, const char *text, cpubind_linux_fault why)
{
    char line[256];
    (void)ctx;
    (void)snprintf(line, sizeof line, "<%d>%s: %s %d", priority, text,
                   why.error ? why.what : "", why.error);
    note(line);
}

static const cpubind_service_engine engine = {NULL,        fake_start,    fake_look,
                                              fake_reload, fake_settings, fake_count,
                                              fake_answer, fake_restore,  fake_say};

/* == The service in a child ================================================= */

SETUP(set_up)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    char path[80];
    scratch_make(&s);
    (void)snprintf(path, sizeof path,
                   geteuid() == 0 ? "run/cpubind/x" : "run/user/%u/cpubind/x",
                   (unsigned)geteuid());
    scratch_path(&s, path, asked); /* makes the folders */
    (void)snprintf(strrchr(asked, '/'), 16, "/service.sock");
    scratch_path(&s, "notify", notify);
    scratch_path(&s, "metrics/cpubind.prom", textfile);
    scratch_path(&s, "log", log_path);
    memset(&fake, 0, sizeof fake);
    fake.socket = asked;
    fake.answer = 16;
    manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    memcpy(at.sun_path, notify, strlen(notify) + 1);
    scratch_need(bind(manager, (struct sockaddr *)&at, (socklen_t)sizeof at) == 0, notify);
    fault_clear();
    return 0;
}

SETUP(tear_down)
{
    close(manager);
    scratch_remove(&s);
    return 0;
}

static int run_with(const cpubind_sys *sys, int64_t watchdog_ms)
{
    cpubind_service_options options = {sys, -1, notify, watchdog_ms};
    cpubind_linux_fault why = {0, "", 0};
    int status;
    options.root_fd = open(s.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    status = (int)cpubind_service_run(&options, &engine, &why);
    close(options.root_fd);
    return status == CPUBIND_LINUX_OK ? 0 : status == CPUBIND_LINUX_ERR_BUSY ? 1 : 2;
}

static pid_t start(int64_t watchdog_ms)
{
    const pid_t pid = fork();
    if (pid == 0)
        _exit(run_with(&cpubind_sys_real, watchdog_ms));
    return pid;
}

static int end(pid_t pid, int number)
{
    int status = 0;
    if (number)
        kill(pid, number);
    scratch_need(waitpid(pid, &status, 0) == pid, "waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Waits for a message of the manager that begins so; others are passed over. */
static const char *expect(const char *begin)
{
    static char message[512];
    const int64_t until = clock_ms() + WAIT_MS;
    while (clock_ms() < until) {
        struct pollfd wait = {manager, POLLIN, 0};
        ssize_t n;
        if (poll(&wait, 1, 100) <= 0)
            continue;
        n = recv(manager, message, sizeof message - 1, 0);
        message[n > 0 ? n : 0] = '\0';
        if (strncmp(message, begin, strlen(begin)) == 0)
            return message;
    }
    fail_msg("no message %s", begin);
    return "";
}

static char *logged(const char *path)
{
    static char text[8192];
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        (void)fclose(file);
    text[n] = '\0';
    return text;
}

static void wait_for_text(const char *path, const char *text)
{
    const int64_t until = clock_ms() + WAIT_MS;
    while (!strstr(logged(path), text)) {
        if (clock_ms() > until)
            fail_msg("%s lacks %s: %s", path, text, logged(path));
        (void)poll(NULL, 0, 5);
    }
}

static int n_at_work;

static void count_work(void *ctx)
{
    (void)ctx;
    n_at_work++;
}

static int ask_about(const cpubind_asked *about, int32_t *len)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    cpubind_asking asking = {.asked = *about, .path = asked, .at_work = count_work};
    const cpubind_linux_fault why = cpubind_service_ask(&cpubind_sys_real, &asking, &bytes);
    *len = bytes.len;
    cpubind_bytes_free(&bytes);
    return why.error;
}

static int ask(cpubind_ask what, int32_t *len)
{
    return ask_about(&(cpubind_asked){.ask = what}, len);
}

/* A connection that nobody has written to. */
static int connect_to(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    memcpy(at.sun_path, path, strlen(path) + 1);
    scratch_need(connect(fd, (struct sockaddr *)&at, (socklen_t)sizeof at) == 0, path);
    return fd;
}

/* == Tests ================================================================== */

TEST(a_manager_hears_each_state)
{
    const pid_t pid = start(0);
    int64_t usec;
    expect("STATUS=1 workers");
    expect("READY=1");
    kill(pid, SIGHUP);
    usec = (int64_t)strtoll(strrchr(expect("RELOADING=1\nMONOTONIC_USEC="), '=') + 1, NULL, 10);
    assert_true(usec / 1000 <= clock_ms() && usec / 1000 > clock_ms() - WAIT_MS);
    expect("READY=1");
    kill(pid, SIGTERM);
    expect("STOPPING=1");
    assert_int_equal(end(pid, 0), 0);
    assert_memory_equal(logged(log_path), "start\nreload\n<6>signal 15 of process ", 37);
    assert_non_null(strstr(logged(log_path), " ends the service"));
    assert_int_equal(access(asked, F_OK), -1);
}

TEST(bindings_are_undone_at_the_end_if_the_settings_say_so)
{
    fake.is_restored = 1;
    const pid_t pid = start(0);
    expect("READY=1");
    assert_int_equal(end(pid, SIGINT), 0);
    assert_non_null(strstr(logged(log_path), " ends the service:  0\nrestore\n"));
}

TEST(the_watchdog_is_fed_in_time)
{
    const int64_t begin = clock_ms();
    const pid_t pid = start(50);
    for (int i = 0; i < 6; i++)
        expect("WATCHDOG=1");
    assert_in_range(clock_ms() - begin, 200, WAIT_MS);
    assert_int_equal(end(pid, SIGTERM), 0);
}

TEST(nothing_to_do_wakes_nobody)
{
    char path[64];
    const pid_t pid = start(0);
    expect("READY=1");
    (void)poll(NULL, 0, 300);
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    const char *first = strstr(logged(path), "\nvoluntary_ctxt_switches:");
    char before[64];
    (void)snprintf(before, sizeof before, "%.40s", first);
    (void)poll(NULL, 0, 1500);
    assert_memory_equal(strstr(logged(path), "\nvoluntary_ctxt_switches:"), before,
                        strcspn(before + 1, "\n"));
    assert_int_equal(end(pid, SIGTERM), 0);
}

TEST(one_service_runs_on_a_host)
{
    const pid_t pid = start(0);
    expect("READY=1");
    assert_int_equal(run_with(&cpubind_sys_real, 0), 1);
    assert_int_equal(end(pid, SIGKILL), 128 + SIGKILL);
    /* The socket of the killed service is replaced. */
    const pid_t again = start(0);
    int32_t len;
    expect("READY=1");
    assert_int_equal(ask(CPUBIND_ASK_STATUS, &len), 0);
    assert_int_equal(end(again, SIGTERM), 0);
}

TEST(the_textfile_is_written)
{
    const pid_t pid = start(0);
    wait_for_text(textfile, "cpubind_threads{npu=\"3\",place=\"right\"} 7\n");
    assert_int_equal(end(pid, SIGTERM), 0);
}

/* Each question makes the service look, and each look has moved something. */
TEST(moves_without_end_are_not_counted_without_end)
{
    int32_t len;
    int n = 0;
    fake.is_counting = 1;
    const pid_t pid = start(0);
    expect("READY=1");
    for (int i = 0; i < 25; i++) {
        assert_int_equal(ask(CPUBIND_ASK_STATUS, &len), 0);
        (void)poll(NULL, 0, 100);
    }
    assert_int_equal(end(pid, SIGTERM), 0);
    for (const char *at = logged(log_path); (at = strstr(at, "figures")); at++)
        n++;
    assert_in_range(n, 1, 2);
}

TEST(a_client_is_answered)
{
    const pid_t pid = start(0);
    int32_t len;
    expect("READY=1");
    assert_int_equal(ask(CPUBIND_ASK_STATUS, &len), 0);
    assert_int_equal(len, 15); /* without the line feed */
    assert_int_equal(ask(CPUBIND_ASK_RELOAD, &len), 0);
    assert_int_equal(len, (int32_t)strlen("{\"reloaded\": true}"));
    expect("RELOADING=1");
    assert_int_equal(end(pid, SIGTERM), 0);
    assert_int_equal(ask(CPUBIND_ASK_STATUS, &len), ENOENT);
}

TEST(an_answer_of_any_length_arrives)
{
    fake.answer = 9000000;
    const pid_t pid = start(0);
    int32_t len;
    expect("READY=1");
    assert_int_equal(ask(CPUBIND_ASK_VERIFY, &len), 0);
    assert_int_equal(len, 8999999);
    assert_int_equal(end(pid, SIGTERM), 0);
}

TEST(slow_and_silent_clients_stall_nobody)
{
    fake.answer = 9000000;
    const pid_t pid = start(0);
    int fds[56], n_closed = 0;
    int32_t len;
    expect("READY=1");
    for (int i = 0; i < 8; i++) { /* silent, or ask and read nothing */
        fds[i] = connect_to(asked);
        if (i % 2)
            scratch_need(write(fds[i], "verify\n", 7) == 7, "write");
    }
    assert_int_equal(ask(CPUBIND_ASK_STATUS, &len), 0);
    for (int i = 8; i < 56; i++) /* more than the service takes */
        fds[i] = connect_to(asked);
    kill(pid, SIGHUP);
    expect("RELOADING=1");
    for (int i = 32; i < 56; i++) {
        struct pollfd wait = {fds[i], POLLIN, 0};
        n_closed += poll(&wait, 1, 1000) == 1;
    }
    assert_int_equal(n_closed, 24);
    for (int i = 0; i < 32; i += i < 8 ? 2 : 1) { /* the time of a silent client ends */
        struct pollfd wait = {fds[i], POLLIN, 0};
        assert_int_equal(poll(&wait, 1, WAIT_MS), 1);
    }
    assert_int_equal(ask(CPUBIND_ASK_STATUS, &len), 0);
    for (int i = 0; i < 56; i++)
        close(fds[i]);
    assert_int_equal(end(pid, SIGTERM), 0);
}

/* Asks in a child, as a user, at a socket. Returns the child, whose status is 0 for an answer,
 * 1 for none. */
static pid_t ask_as(uid_t uid, const char *path, const char *request)
{
    const pid_t pid = fork();
    if (pid == 0) {
        char got[64];
        int fd;
        ssize_t n;
        (void)signal(SIGPIPE, SIG_IGN);
        if (uid != geteuid() && (setgid(uid) != 0 || setuid(uid) != 0))
            _exit(2);
        fd = connect_to(path);
        n = write(fd, request, strlen(request));
        _exit(n > 0 && read(fd, got, sizeof got) > 0 ? 0 : 1);
    }
    return pid;
}

/* While the service makes an answer, others hear at once that it is at work. */
TEST(a_service_at_work_says_so_within_a_second)
{
    cpubind_bytes bytes = {NULL, 0, 0};
    cpubind_asking asking = {
        .asked = {CPUBIND_ASK_ADOPT, 4711, 1, {{NULL, 0}}}, .path = asked, .is_enough = 1};
    fake.answer_ms = 1500;
    const pid_t pid = start(0);
    int32_t len;
    expect("READY=1");
    const pid_t first = ask_as(geteuid(), asked, "status\n");
    (void)poll(NULL, 0, 100);
    n_at_work = 0;
    assert_int_equal(ask(CPUBIND_ASK_STATUS, &len), 0);
    assert_int_equal(n_at_work, 1);
    assert_int_equal(len, 15);
    assert_int_equal(end(first, 0), 0);
    /* That it was accepted is enough, and it is done all the same. */
    const int64_t begin = clock_ms();
    assert_int_equal(cpubind_service_ask(&cpubind_sys_real, &asking, &bytes).error, 0);
    assert_true(clock_ms() - begin < 1200 && asking.is_accepted && bytes.len == 0);
    cpubind_bytes_free(&bytes);
    wait_for_text(log_path, "adopt 4711 of ");
    assert_int_equal(end(pid, SIGTERM), 0);
}

/* A probe is answered beside the loop, which says how long that has been at work. */
TEST(a_probe_does_not_wait_for_the_loop)
{
    cpubind_asking asking = {.asked = {CPUBIND_ASK_ALIVE, 0, 0}, .path = asked};
    long long idle[2];
    fake.answer_ms = 1500;
    const pid_t pid = start(0);
    expect("READY=1");
    const pid_t first = ask_as(geteuid(), asked, "status\n");
    for (int i = 0; i < 2; i++) {
        cpubind_bytes bytes = {NULL, 0, 0};
        char rest[32] = "";
        (void)poll(NULL, 0, 400);
        const int64_t begin = clock_ms();
        assert_int_equal(cpubind_service_ask(&cpubind_sys_real, &asking, &bytes).error, 0);
        assert_true(clock_ms() - begin < 900);
        assert_false(asking.is_accepted);
        assert_int_equal(cpubind_bytes_reserve(&bytes, &cpubind_sys_real, 1).error, 0);
        bytes.data[bytes.len] = '\0';
        assert_int_equal(sscanf(bytes.data, "{\"idle_ms\": %lld, %31[^\n]", &idle[i], rest), 2);
        assert_string_equal(rest,
                            fake.counts.last_look ? "\"ready\": true}" : "\"ready\": false}");
        cpubind_bytes_free(&bytes);
    }
    assert_true(idle[0] >= 0 && idle[1] >= idle[0] + 300);
    assert_int_equal(end(first, 0), 0);
    assert_int_equal(end(pid, SIGTERM), 0);
}

/* A stopped service is found out within a second, and what it is asked then is not done. */
TEST(a_stopped_service_is_found_out)
{
    const pid_t pid = start(0);
    int32_t len;
    expect("READY=1");
    assert_int_equal(kill(pid, SIGSTOP), 0);
    const int64_t begin = clock_ms();
    assert_int_equal(ask_about(&(cpubind_asked){CPUBIND_ASK_LEAVE, 4711, 1, {{NULL, 0}}}, &len),
                     ETIMEDOUT);
    assert_in_range(clock_ms() - begin, 900, WAIT_MS);
    assert_int_equal(kill(pid, SIGCONT), 0);
    assert_int_equal(ask(CPUBIND_ASK_STATUS, &len), 0);
    assert_null(strstr(logged(log_path), "leave"));
    assert_int_equal(end(pid, SIGTERM), 0);
}

/* Other users have a socket of their own, four places each, and nothing of the owner. */
TEST(users_have_places_of_their_own)
{
    char users[SCRATCH_PATH * 2];
    pid_t silent[20];
    struct stat st;
    int32_t len;
    if (geteuid() != 0)
        skip();
    const pid_t pid = start(0);
    expect("READY=1");
    (void)snprintf(users, sizeof users, "%.*s/users.sock", (int)(strrchr(asked, '/') - asked),
                   asked);
    assert_true(stat(users, &st) == 0 && (st.st_mode & 0777) == 0666);
    assert_true(stat(asked, &st) == 0 && (st.st_mode & 0777) == 0600);
    assert_int_equal(end(ask_as(4711, users, "status\n"), 0), 0);
    assert_int_equal(end(ask_as(4711, users, "leave all\n"), 0), 0);
    wait_for_text(log_path, "leave 0 of 4711: user 1\n");
    assert_int_equal(end(ask_as(4711, users, "reload\n"), 0), 0);
    assert_null(strstr(logged(log_path), "\nreload\n"));
    for (int i = 0; i < 20; i++) /* five users, four places each: the last one has none */
        silent[i] = ask_as((uid_t)(4711 + i / 4), users, "stat");
    (void)poll(NULL, 0, 500);
    assert_int_equal(end(ask_as(4711, users, "status\n"), 0), 1);
    for (int i = 0; i < 20; i++)
        assert_int_equal(ask(CPUBIND_ASK_STATUS, &len), 0);
    for (int i = 0; i < 20; i++)
        (void)end(silent[i], SIGKILL);
    (void)poll(NULL, 0, 200);
    assert_int_equal(end(ask_as(4711, users, "status\n"), 0), 0);
    assert_int_equal(end(pid, SIGTERM), 0);
    assert_int_equal(access(users, F_OK), -1);
}

TEST(a_client_that_talks_nonsense_is_dropped)
{
    static const char *const texts[] = {"hello\n", "status\nstatus\n", "statusx", "\n"};
    const pid_t pid = start(0);
    expect("READY=1");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char got[8];
        const int fd = connect_to(asked);
        scratch_need(write(fd, texts[i], strlen(texts[i])) > 0, "write");
        assert_true(read(fd, got, sizeof got) <= 0);
        close(fd);
    }
    assert_int_equal(end(pid, SIGTERM), 0);
}

TEST(a_client_of_another_user_is_dropped)
{
    if (geteuid() != 0)
        skip();
    const pid_t pid = start(0);
    int status = 0;
    expect("READY=1");
    assert_int_equal(chmod(asked, 0666), 0); /* the mode alone would keep it out */
    const pid_t other = fork();
    if (other == 0) {
        char got[8];
        int fd;
        if (setgid(4711) != 0 || setuid(4711) != 0)
            _exit(1);
        fd = connect_to(asked);
        _exit(write(fd, "status\n", 7) == 7 && read(fd, got, sizeof got) > 0 ? 2 : 0);
    }
    scratch_need(waitpid(other, &status, 0) == other, "waitpid");
    assert_true(WIFEXITED(status) ? WEXITSTATUS(status) == 0 : WTERMSIG(status) == SIGPIPE);
    assert_int_equal(end(pid, SIGTERM), 0);
}

TEST(a_socket_that_others_could_have_made_is_not_believed)
{
    char folder[SCRATCH_PATH * 2];
    const pid_t pid = start(0);
    int32_t len;
    expect("READY=1");
    (void)snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(asked, '/') - asked), asked);
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(ask(CPUBIND_ASK_STATUS, &len), EPERM);
    assert_int_equal(chmod(folder, 0755), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(asked, 4711, 4711), 0);
        assert_int_equal(ask(CPUBIND_ASK_STATUS, &len), EPERM);
    }
    assert_int_equal(end(pid, SIGTERM), 0);
}

TEST(a_file_in_place_of_the_socket_is_said_and_kept)
{
    FILE *file = fopen(asked, "we");
    scratch_need(file && fclose(file) == 0, asked);
    const pid_t pid = start(0);
    expect("READY=1");
    assert_int_equal(end(pid, SIGTERM), 0);
    assert_non_null(strstr(logged(log_path), "<4>no command can ask the service: socket 17"));
    assert_int_equal(access(asked, F_OK), 0);
}

TEST(a_reload_moves_the_socket)
{
    char other[SCRATCH_PATH * 2 + 8];
    (void)snprintf(other, sizeof other, "%s.2", asked);
    fake.other = other;
    const pid_t pid = start(0);
    int32_t len;
    expect("READY=1");
    assert_int_equal(ask(CPUBIND_ASK_RELOAD, &len), 0);
    expect("READY=1");
    const int64_t until = clock_ms() + WAIT_MS;
    while (access(other, F_OK) != 0 && clock_ms() < until)
        (void)poll(NULL, 0, 5);
    close(connect_to(other));
    assert_int_equal(access(asked, F_OK), -1);
    assert_int_equal(end(pid, SIGTERM), 0);
}

TEST(a_full_disk_is_said_once)
{
    fake.look_ms = 0;
    (void)snprintf(textfile, sizeof textfile, "/dev/full/cpubind.prom");
    const pid_t pid = start(20);
    for (int i = 0; i < 60; i++)
        expect("WATCHDOG=1");
    assert_int_equal(end(pid, SIGTERM), 0);
    const char *said = strstr(logged(log_path), "<4>the textfile could not be written");
    assert_non_null(said);
    assert_null(strstr(said + 1, "<4>the textfile"));
}

/* Waits for a child until it ends or `ms` are over. Returns its exit status, or -1. */
static int wait_for_end(pid_t pid, int ms)
{
    const int64_t until = clock_ms() + ms;
    int status = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (clock_ms() > until)
            return -1;
        (void)poll(NULL, 0, 2);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Lets a service run for a moment, and ends it if it has not ended by itself. */
static int wait_and_end(pid_t pid)
{
    int status = wait_for_end(pid, 60);
    if (status != -1)
        return status;
    kill(pid, SIGTERM);
    status = wait_for_end(pid, WAIT_MS);
    if (status == -1)
        (void)end(pid, SIGKILL);
    return status;
}

/* A service of which one call fails. Its status is 9 where descriptors stay open at the end. A
 * signal that comes before it reads its signals must not kill it. */
static pid_t start_failing(call which, int nth, int error, int64_t watchdog_ms)
{
    sigset_t term, old;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &term, &old);
    const pid_t pid = fork();
    if (pid == 0) {
        const int before = open_descriptors();
        fault_set(which, nth, error);
        fault.forever = which == CALL_sendmsg || which == CALL_timer_set;
        const int result = run_with(&fault_table, watchdog_ms);
        _exit(open_descriptors() != before ? 9 : result);
    }
    (void)sigprocmask(SIG_SETMASK, &old, NULL);
    return pid;
}

/* A call that the loop needs fails: the service ends. Another one: it says so and goes on. */
TEST(each_call_may_fail)
{
    static const call calls[] = {
        CALL_openat,    CALL_fstat,      CALL_create,     CALL_flock,       CALL_epoll_open,
        CALL_epoll_set, CALL_epoll_wait, CALL_timer_open, CALL_timer_set,   CALL_signal_open,
        CALL_socket,    CALL_bind,       CALL_listen,     CALL_fchmod,      CALL_statat,
        CALL_unlinkat,  CALL_sendmsg,    CALL_read,       CALL_write,       CALL_fsync,
        CALL_rename,    CALL_close,      CALL_malloc,     CALL_realloc,     CALL_open,
        CALL_pipe,      CALL_chmodat,    CALL_poll,       CALL_thread_start};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (int nth = 1; nth <= 3; nth++) {
            const call which = calls[i];
            const int status = wait_and_end(start_failing(which, nth, EIO, 20));
            if (status == -1)
                fail_msg("%s, use %d: the service hangs", call_name[which], nth);
            if (status == 9 || status >= 128)
                fail_msg("%s, use %d: status %x", call_name[which], nth, (unsigned)status);
        }
}

/* A call fails while a client is served: that one has an answer or an error, the next one has
 * an answer, and nothing stays open. */
TEST(a_fault_costs_one_client_at_most)
{
    static const call calls[] = {CALL_accept, CALL_getsockopt, CALL_recv,  CALL_poll,
                                 CALL_read,   CALL_write,      CALL_close, CALL_realloc};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (int nth = 1; nth <= 3; nth++) {
            const int64_t until = clock_ms() + WAIT_MS;
            const pid_t pid = start_failing(calls[i], nth, EMFILE, 0);
            int32_t len;
            int status;
            expect("READY=1");
            (void)ask(CPUBIND_ASK_STATUS, &len);
            while (access(asked, F_OK) == 0 && ask(CPUBIND_ASK_STATUS, &len) != 0)
                if (clock_ms() > until)
                    fail_msg("%s, use %d: no answer", call_name[calls[i]], nth);
            status = end(pid, SIGTERM);
            if (status == 9 || status >= 128)
                fail_msg("%s, use %d: status %d", call_name[calls[i]], nth, status);
        }
}

static uid_t other_user(void)
{
    return 4711;
}

/* A client, of the owner or of another user, whose call fails gets that error, takes nothing
 * for absent and leaves nothing open. */
TEST(each_call_of_a_client_may_fail)
{
    static const call calls[] = {CALL_statat,  CALL_socket, CALL_connect, CALL_getsockopt,
                                 CALL_sendmsg, CALL_poll,   CALL_recv,    CALL_realloc};
    cpubind_sys as_user = cpubind_sys_real;
    const pid_t pid = start(0);
    const int n_kind = geteuid() == 0 ? 2 : 1;
    as_user.geteuid = other_user;
    expect("READY=1");
    const int before = open_descriptors();
    for (size_t i = 0; i < (size_t)n_kind * (sizeof calls / sizeof *calls); i++) {
        const call which = calls[i / (size_t)n_kind];
        int n_met = 0;
        fault_next = i % (size_t)n_kind ? &as_user : &cpubind_sys_real;
        for (int nth = 1; nth == n_met + 1; nth++) {
            cpubind_bytes bytes = {NULL, 0, 0};
            fault_set(which, nth, EIO);
            cpubind_asking asking = {.asked = {.ask = CPUBIND_ASK_STATUS}, .path = asked};
            const int error = cpubind_service_ask(&fault_table, &asking, &bytes).error;
            n_met += fault.n_met;
            assert_int_equal(error, !fault.n_met ? 0 : which == CALL_realloc ? ENOMEM : EIO);
            cpubind_bytes_free(&bytes);
            assert_int_equal(open_descriptors(), before);
        }
        assert_true(n_met > 0);
    }
    fault_next = &cpubind_sys_real;
    assert_int_equal(end(pid, SIGTERM), 0);
}

TEST_FILE(set_up, tear_down)
