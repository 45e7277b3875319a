/* test_journals.c - a corpus of a stranger: its journal, and links in place of files
 * SPDX-License-Identifier: MIT
 *
 * The corpus is in/corpus.db below the folder of the test; beside the folder in/ are files that
 * a journal could name. Each crafted journal meets a reader and a writer. Whatever they return,
 * SQLite has opened and deleted nothing but the corpus and its journal (the record of the file
 * system of store_fault_calls.h), and the other files are what they were, down to the time of
 * their last change.
 *
 * CPUBIND_MUTATIONS=5000 tests more mutated files than the ordinary run.
 */
#define _GNU_SOURCE
#include "../support/test.h"
#include "temp_store.h"

enum { PAGE = 4096, MAX_JOURNAL = 32768 };

/* The files outside that must stay as they are. */
static const char *const outside[] = {"victim",       "zero",      "folder",
                                      "folder/inner", "corpus.db", "."};

enum { N_OUTSIDE = sizeof outside / sizeof *outside };

typedef struct fixture {
    char journal[SCRATCH_PATH * 2 + 16];
    struct stat before[N_OUTSIDE];
    whole corpus;
    cpubind_corpus_fault fault;
} fixture;

static fixture f;

static void outside_path(const char *name, char path[SCRATCH_PATH * 2])
{
    scratch_path(&temp.s, name, path);
}

/* Makes a corpus with one host, and the files outside. */
SETUP(set_up)
{
    cpubind_store *store = NULL;
    temp_store_make();
    used_files.database = NULL;
    scratch_file(&temp.s, "victim", "a file of the user\n");
    scratch_bytes(&temp.s, "zero", "\0zero", 5);
    scratch_file(&temp.s, "folder/inner", "another\n");
    scratch_file(&temp.s, "corpus.db", "beside\n");
    scratch_path(&temp.s, "in/corpus.db", temp.path);
    snprintf(f.journal, sizeof f.journal, "%s-journal", temp.path);
    assert_int_equal(cpubind_store_open(temp.path, &store, NULL), CPUBIND_CORPUS_OK);
    assert_int_equal(put_all(store, "one", 0, NULL), CPUBIND_CORPUS_OK);
    assert_int_equal(cpubind_store_commit(store, NULL), CPUBIND_CORPUS_OK);
    cpubind_store_close(store);
    f.corpus = read_whole(temp.path);
    return 0;
}

SETUP(tear_down)
{
    used_files.database = NULL;
    free(f.corpus.bytes);
    return temp_store_remove();
}

/* Notes the state of the files outside, and that SQLite may use no other file. */
static void watch(void)
{
    char path[SCRATCH_PATH * 2];
    for (int i = 0; i < N_OUTSIDE; i++) {
        outside_path(outside[i], path);
        scratch_need(lstat(path, &f.before[i]) == 0, path);
    }
    used_files.database = temp.path;
    used_files.n_other = 0;
}

static void assert_untouched(const char *when)
{
    char path[SCRATCH_PATH * 2];
    if (used_files.n_other > 0)
        print_message("%s: %s was opened or deleted\n", when, used_files.other);
    assert_int_equal(used_files.n_other, 0);
    for (int i = 0; i < N_OUTSIDE; i++) {
        struct stat now = {0};
        outside_path(outside[i], path);
        if (lstat(path, &now) != 0 || now.st_ino != f.before[i].st_ino ||
            now.st_size != f.before[i].st_size || now.st_nlink != f.before[i].st_nlink ||
            memcmp(&now.st_ctim, &f.before[i].st_ctim, sizeof now.st_ctim) != 0 ||
            memcmp(&now.st_mtim, &f.before[i].st_mtim, sizeof now.st_mtim) != 0)
            fail_msg("%s: %s has changed", when, outside[i]);
    }
}

/* == Journals =============================================================== */

/* Bytes of a journal that grows. */
typedef struct journal {
    unsigned char bytes[MAX_JOURNAL];
    size_t n;
} journal;

static void add_bytes(journal *j, const void *bytes, size_t n)
{
    scratch_need(j->n + n <= sizeof j->bytes, "the journal");
    memcpy(j->bytes + j->n, bytes, n);
    j->n += n;
}

static void add_number(journal *j, uint32_t number)
{
    const unsigned char big_endian[] = {(unsigned char)(number >> 24),
                                        (unsigned char)(number >> 16),
                                        (unsigned char)(number >> 8), (unsigned char)number};
    add_bytes(j, big_endian, 4);
}

static const unsigned char mark[] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};

/* A header, with 512 bytes for itself. */
static void add_header(journal *j, uint32_t n_record, uint32_t n_page, uint32_t sector,
                       uint32_t page)
{
    static const unsigned char zeros[512];
    const size_t begin = j->n;
    add_bytes(j, mark, sizeof mark);
    add_number(j, n_record);
    add_number(j, 7); /* the sums begin with it */
    add_number(j, n_page);
    add_number(j, sector);
    add_number(j, page);
    add_bytes(j, zeros, 512 - (j->n - begin));
}

/* The first page of the corpus, as it was before the write. */
static void add_page(journal *j, uint32_t wrong)
{
    uint32_t sum = 7 + wrong;
    for (int i = PAGE - 200; i > 0; i -= 200)
        sum += (unsigned char)f.corpus.bytes[i];
    add_number(j, 1);
    add_bytes(j, f.corpus.bytes, PAGE);
    add_number(j, sum);
}

/* The end of a journal of several databases: the name of the super-journal. */
static void add_name(journal *j, const char *name, size_t n, uint32_t stated, uint32_t wrong)
{
    uint32_t sum = wrong;
    for (size_t i = 0; i < n; i++)
        sum += (unsigned char)name[i];
    add_number(j, 0x40000000 / PAGE + 1);
    add_bytes(j, name, n);
    add_number(j, stated);
    add_number(j, sum);
    add_bytes(j, mark, sizeof mark);
}

/* A journal of this corpus that SQLite would roll back: one page, then the name of `name`. */
static void make_journal(journal *j)
{
    j->n = 0;
    add_header(j, 1, (uint32_t)(f.corpus.n / PAGE), 512, PAGE);
    add_page(j, 0);
}

static void make_naming(journal *j, const char *name, size_t n)
{
    make_journal(j);
    add_name(j, name, n, (uint32_t)n, 0);
}

static void write_journal(journal *j)
{
    write_whole(f.journal, &(whole){(char *)j->bytes, j->n});
}

/* == What a reader and a writer do ========================================== */

static cpubind_corpus_status read_all(void)
{
    cpubind_corpus *corpus = NULL;
    cpubind_corpus_about *list = NULL;
    int32_t n = 0;
    cpubind_corpus_status status = cpubind_corpus_open(temp.path, &corpus, &f.fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_corpus_list(corpus, &list, &n, &f.fault);
    for (int32_t i = 0; i < n && i < 3; i++) {
        cpubind_corpus_host *host = NULL;
        cpubind_corpus_open_host(corpus, list[i].name, &host, NULL);
        cpubind_corpus_close_host(host);
    }
    cpubind_corpus_free_list(list);
    cpubind_corpus_close(corpus);
    return status;
}

static cpubind_corpus_status write_more(void)
{
    cpubind_store *store = NULL;
    cpubind_corpus_status status = cpubind_store_open(temp.path, &store, &f.fault);
    if (status == CPUBIND_CORPUS_OK)
        status = put_all(store, "two", 1, &f.fault);
    if (status == CPUBIND_CORPUS_OK)
        status = cpubind_store_commit(store, &f.fault);
    cpubind_store_close(store);
    return status;
}

/* Whether the journal, and a link in its place, is the same as in `st`. */
static int journal_is(const struct stat *st)
{
    struct stat now;
    return lstat(f.journal, &now) == 0 && now.st_ino == st->st_ino &&
           now.st_size == st->st_size && now.st_mode == st->st_mode &&
           now.st_uid == st->st_uid &&
           memcmp(&now.st_ctim, &st->st_ctim, sizeof now.st_ctim) == 0;
}

/* A reader and a writer refuse the journal, and change neither it nor the corpus. */
static void both_refuse(const char *text, const char *what)
{
    struct stat st;
    scratch_need(lstat(f.journal, &st) == 0, f.journal);
    watch();
    for (int is_writer = 0; is_writer < 2; is_writer++) {
        memset(&f.fault, 0x55, sizeof f.fault);
        cpubind_corpus_status status = is_writer ? write_more() : read_all();
        assert_untouched(text);
        if (status != CPUBIND_CORPUS_ERR_JOURNAL)
            print_message("%s: %s, %s\n", text, cpubind_corpus_status_name(status),
                          f.fault.what);
        assert_int_equal(status, CPUBIND_CORPUS_ERR_JOURNAL);
        assert_string_equal(f.fault.what, what);
        assert_true(is_printable(&f.fault));
        assert_true(journal_is(&st));
        assert_true(file_is(temp.path, &f.corpus));
    }
    used_files.database = NULL;
    remove(f.journal);
}

/* A reader reports the interrupted write and changes nothing; a writer rolls it back, if it is
 * a write of this corpus at all. */
static void reader_waits_for_writer(const char *text, int is_read, int is_written)
{
    struct stat st;
    scratch_need(lstat(f.journal, &st) == 0, f.journal);
    watch();
    cpubind_corpus_status status = read_all();
    assert_int_equal(status, is_read ? CPUBIND_CORPUS_OK : CPUBIND_CORPUS_ERR_READ);
    assert_untouched(text);
    assert_true(journal_is(&st));
    assert_true(file_is(temp.path, &f.corpus));
    const int64_t start = clock_ms();
    status = write_more();
    assert_in_range(clock_ms() - start, 0, 20000);
    assert_untouched(text);
    if (is_written) {
        assert_int_equal(status, CPUBIND_CORPUS_OK);
        assert_false(there_is(temp.path, "-journal"));
        assert_true(is_sound(temp.path));
    }
    used_files.database = NULL;
    remove(f.journal);
    write_whole(temp.path, &f.corpus);
}

/* == Journals that name other files (live.md 7) ============================= */

static void named(const char *text, const char *name, size_t n)
{
    journal j;
    make_naming(&j, name, n);
    write_journal(&j);
    both_refuse(text, "its journal names another file");
}

TEST(a_journal_that_names_another_file_is_refused)
{
    char path[SCRATCH_PATH * 2], text[600];
    outside_path("victim", path);
    named("an absolute name", path, strlen(path));
    named("an absolute name with NUL", path, strlen(path) + 1);
    memset(text, 0, sizeof text);
    snprintf(text, sizeof text, "%.500s", path);
    named("a name and bytes after its NUL", text, strlen(text) + 20);
    outside_path("folder", path);
    named("a folder", path, strlen(path));
    outside_path("folder/inner", path);
    named("a file below a folder", path, strlen(path));
    outside_path("corpus.db", path);
    named("a database of the same name elsewhere", path, strlen(path));
    outside_path("missing", path);
    named("a file that does not exist", path, strlen(path));
    named("the corpus itself", temp.path, strlen(temp.path));
    named("the journal itself", f.journal, strlen(f.journal));
    snprintf(text, sizeof text, "%.400s-mj0123456789", temp.path);
    named("a super-journal as SQLite names it", text, strlen(text));
    memset(text, 'a', sizeof text);
    named("a name of 600 bytes", text, sizeof text);
}

/* SQLite looks for the name below the current folder. */
TEST(a_journal_that_names_a_relative_path_is_refused)
{
    char old[1024];
    scratch_need(getcwd(old, sizeof old) != NULL, "getcwd");
    scratch_need(chdir(temp.s.dir) == 0, temp.s.dir);
    named("a name in the current folder", "victim", 6);
    named("a name with ./", "./victim", 8);
    scratch_need(chdir("in") == 0, "in");
    named("a name with ../", "../victim", 9);
    scratch_need(chdir(old) == 0, old);
}

/* SQLite itself ignores these names. They are refused too: no journal of cpubind ends so. */
TEST(a_journal_with_a_damaged_name_is_refused)
{
    char path[SCRATCH_PATH * 2];
    journal j;
    outside_path("victim", path);
    make_journal(&j);
    add_name(&j, path, strlen(path), (uint32_t)strlen(path), 1);
    write_journal(&j);
    both_refuse("a wrong sum of the name", "its journal names another file");
    make_journal(&j);
    add_name(&j, path, strlen(path), 0xffffffff, 0);
    write_journal(&j);
    both_refuse("a length of 4 GiB", "its journal names another file");
    make_journal(&j);
    add_name(&j, "", 0, 0, 0);
    write_journal(&j);
    both_refuse("a name of no byte", "its journal names another file");
    make_naming(&j, path, strlen(path));
    j.bytes[0] = 0;
    write_journal(&j);
    both_refuse("a header that SQLite ignores", "its journal names another file");
    j.n = 0;
    add_header(&j, 0xffffffff, 0xffffffff, 512, PAGE);
    add_name(&j, path, strlen(path), (uint32_t)strlen(path), 0);
    write_journal(&j);
    both_refuse("four billion pages", "its journal names another file");
    j.n = 0;
    add_bytes(&j, mark, sizeof mark);
    add_bytes(&j, mark, sizeof mark);
    write_journal(&j);
    both_refuse("marks alone", "its journal names another file");
}

/* The corpus is empty or missing: SQLite would remove such a journal at once. */
TEST(a_journal_of_no_corpus_is_refused_too)
{
    char path[SCRATCH_PATH * 2];
    journal j;
    struct stat st;
    outside_path("victim", path);
    make_naming(&j, path, strlen(path));
    write_journal(&j);
    scratch_need(lstat(f.journal, &st) == 0, f.journal);
    scratch_need(truncate(temp.path, 0) == 0, temp.path);
    watch();
    assert_int_equal(read_all(), CPUBIND_CORPUS_ERR_JOURNAL);
    assert_int_equal(write_more(), CPUBIND_CORPUS_ERR_JOURNAL);
    assert_untouched("an empty corpus");
    assert_true(journal_is(&st));
    scratch_need(unlink(temp.path) == 0, temp.path);
    assert_int_equal(write_more(), CPUBIND_CORPUS_ERR_JOURNAL);
    assert_untouched("no corpus");
    assert_true(journal_is(&st));
    assert_false(there_is(temp.path, ""));
}

/* The advice of the command: a copy of the file alone can be used. */
TEST(a_copy_without_the_journal_is_read_and_written)
{
    char path[SCRATCH_PATH * 2];
    journal j;
    outside_path("victim", path);
    make_naming(&j, path, strlen(path));
    write_journal(&j);
    snprintf(temp.path, sizeof temp.path, "%s/in/copy.db", temp.s.dir);
    write_whole(temp.path, &f.corpus);
    watch();
    assert_int_equal(read_all(), CPUBIND_CORPUS_OK);
    assert_int_equal(write_more(), CPUBIND_CORPUS_OK);
    assert_untouched("a copy");
    used_files.database = NULL;
    assert_true(is_sound(temp.path));
}

/* == Journals that are other files (live.md 7) ============================== */

TEST(a_journal_that_is_no_regular_file_is_refused)
{
    char path[SCRATCH_PATH * 2];
    outside_path("victim", path);
    scratch_need(symlink(path, f.journal) == 0, f.journal);
    both_refuse("a symbolic link to a file", "its journal is no regular file");
    outside_path("folder", path);
    scratch_need(symlink(path, f.journal) == 0, f.journal);
    both_refuse("a symbolic link to a folder", "its journal is no regular file");
    scratch_need(symlink("/dev/zero", f.journal) == 0, f.journal);
    both_refuse("a symbolic link to a device", "its journal is no regular file");
    scratch_need(mkfifo(f.journal, 0644) == 0, f.journal);
    alarm(30); /* opening it would wait for ever */
    both_refuse("a FIFO", "its journal is no regular file");
    alarm(0);
    scratch_need(mkdir(f.journal, 0755) == 0, f.journal);
    both_refuse("a folder", "its journal is no regular file");
}

/* SQLite sees no journal there. A writer makes one of its own, which must not make the target
 * of the link. */
TEST(a_journal_that_is_a_link_to_nothing_makes_nothing)
{
    char path[SCRATCH_PATH * 2];
    outside_path("missing", path);
    scratch_need(symlink(path, f.journal) == 0, f.journal);
    watch();
    assert_int_equal(read_all(), CPUBIND_CORPUS_OK);
    assert_int_equal(write_more(), CPUBIND_CORPUS_ERR_JOURNAL);
    assert_string_equal(f.fault.what, "its journal is no regular file");
    assert_untouched("a link to nothing");
    assert_true(file_is(temp.path, &f.corpus));
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(unlink(f.journal), 0);
}

/* A writer would write its own journal over the bytes of the other name. */
TEST(a_journal_that_is_a_hard_link_is_refused)
{
    static const char *const targets[] = {"victim", "zero"};
    char path[SCRATCH_PATH * 2];
    journal j;
    for (size_t i = 0; i < 2; i++) {
        outside_path(targets[i], path);
        scratch_need(link(path, f.journal) == 0, f.journal);
        both_refuse(targets[i], "its journal has a second name");
    }
    make_journal(&j);
    write_journal(&j);
    outside_path("folder/second", path);
    scratch_need(link(f.journal, path) == 0, path);
    both_refuse("a journal with a second name", "its journal has a second name");
}

/* In a folder where everybody may write, such as /tmp, anybody can put a journal beside the
 * corpus of somebody else. */
TEST(a_journal_of_another_user_is_not_rolled_back)
{
    journal j;
    struct stat st;
    if (geteuid() != 0)
        skip();
    make_journal(&j);
    write_journal(&j);
    scratch_need(chown(f.journal, 65534, 65534) == 0, f.journal);
    scratch_need(lstat(f.journal, &st) == 0, f.journal);
    watch();
    assert_int_equal(read_all(), CPUBIND_CORPUS_ERR_READ);
    assert_int_equal(write_more(), CPUBIND_CORPUS_ERR_JOURNAL);
    assert_string_equal(f.fault.what, "its journal belongs to another user");
    assert_untouched("another owner");
    assert_true(journal_is(&st));
    assert_true(file_is(temp.path, &f.corpus));
    scratch_need(chown(temp.path, 65534, 65534) == 0, temp.path);
    reader_waits_for_writer("the owner of the corpus", 0, 1);
}

/* == Journals of this corpus ================================================ */

TEST(a_journal_of_one_file_is_rolled_back_whatever_its_bytes_are)
{
    const struct {
        const char *text;
        uint32_t n_record, n_page, sector, page;
        int is_hot, is_written;
    } odd[] = {
        {"a sound one", 1, 0, 512, PAGE, 1, 1},
        {"no record", 0, 0, 512, PAGE, 1, 1},
        {"a count of 4 G records", 0xffffffff, 0, 512, PAGE, 1, 1},
        {"more records than bytes", 99, 0, 512, PAGE, 1, 1},
        {"2 GiB before the write", 1, 1 << 19, 512, PAGE, 1, 0},
        {"16 TiB before the write", 1, 0xffffffff, 512, PAGE, 1, 0},
        {"nothing before the write", 1, 0xffff0000, 512, PAGE, 1, 0},
        {"pages of 512 bytes", 1, 0, 512, 512, 1, 0},
        {"pages of 64 KiB", 1, 0, 512, 65536, 1, 0},
        {"pages of 1000 bytes", 1, 0, 512, 1000, 1, 1},
        {"pages of no byte", 1, 0, 512, 0, 1, 1},
        {"sectors of 2 GiB", 1, 0, 1u << 31, PAGE, 1, 1},
        {"sectors of no byte", 1, 0, 0, PAGE, 1, 1},
    };
    journal j;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        const uint32_t n_page = odd[i].n_page == 0            ? (uint32_t)(f.corpus.n / PAGE)
                                : odd[i].n_page == 0xffff0000 ? 0
                                                              : odd[i].n_page;
        j.n = 0;
        add_header(&j, odd[i].n_record, n_page, odd[i].sector, odd[i].page);
        add_page(&j, 0);
        write_journal(&j);
        reader_waits_for_writer(odd[i].text, !odd[i].is_hot, odd[i].is_written);
    }
    make_journal(&j);
    j.n -= 4100;
    write_journal(&j);
    reader_waits_for_writer("a record that is cut", 0, 1);
    j.n = 0;
    add_header(&j, 1, (uint32_t)(f.corpus.n / PAGE), 512, PAGE);
    add_page(&j, 1);
    write_journal(&j);
    reader_waits_for_writer("a wrong sum of a page", 0, 1);
    write_journal(&(journal){.bytes = {0xd9}, .n = 1});
    reader_waits_for_writer("one byte", 0, 1);
    write_journal(&(journal){.n = 0});
    reader_waits_for_writer("an empty one", 1, 1);
}

/* The name of a victim, cut: no longer the end of a journal of several databases. */
TEST(a_journal_whose_end_is_cut_is_rolled_back)
{
    char path[SCRATCH_PATH * 2];
    journal j;
    outside_path("victim", path);
    for (size_t cut = 1; cut < 24; cut += 3) {
        make_naming(&j, path, strlen(path));
        j.n -= cut;
        write_journal(&j);
        reader_waits_for_writer("a name that is cut", 0, 1);
    }
}

/* == A reader changes nothing =============================================== */

/* Runs a call as an ordinary user. Returns its status. */
static int as_nobody(cpubind_corpus_status (*call)(void))
{
    int status = 0;
    pid_t pid = fork();
    scratch_need(pid >= 0, "fork");
    if (pid == 0) {
        if (geteuid() == 0 && setuid(65534) != 0)
            _exit(255);
        _exit(-(int)call() - 290);
    }
    scratch_need(waitpid(pid, &status, 0) == pid, "waitpid");
    return -WEXITSTATUS(status) - 290;
}

/* A hot journal in a folder that may not be written: the reader and the writer report it. */
TEST(a_journal_in_a_read_only_folder_stays)
{
    char folder[SCRATCH_PATH * 2];
    journal j;
    struct stat st;
    scratch_path(&temp.s, "in", folder);
    make_journal(&j);
    write_journal(&j);
    scratch_need(lstat(f.journal, &st) == 0, f.journal);
    scratch_need(chmod(folder, 0555) == 0 && chmod(temp.path, 0444) == 0, folder);
    watch();
    assert_int_equal(as_nobody(read_all), CPUBIND_CORPUS_ERR_READ);
    assert_int_equal(as_nobody(write_more), CPUBIND_CORPUS_ERR_WRITE);
    assert_untouched("a read-only folder");
    assert_true(journal_is(&st));
    assert_true(file_is(temp.path, &f.corpus));
    scratch_need(chmod(folder, 0755) == 0, folder);
}

/* live.md P3: a reader of a corpus in WAL mode left two files. */
TEST(a_corpus_in_wal_mode_is_refused_and_no_file_is_made)
{
    sqlite3_vfs *faulty =
        sqlite3_vfs_find("faulty"); /* without shared memory, so without WAL */
    plain_sql(temp.path, "PRAGMA journal_mode = WAL");
    scratch_need(sqlite3_vfs_register(real_vfs, 1) == SQLITE_OK, "sqlite3_vfs_register");
    whole in_wal = read_whole(temp.path);
    watch();
    for (int i = 0; i < 2; i++) {
        assert_int_equal(i ? write_more() : read_all(), CPUBIND_CORPUS_ERR_OPEN);
        assert_string_equal(f.fault.what,
                            "it is in WAL mode, which PRAGMA journal_mode = DELETE ends");
        assert_untouched("WAL mode");
        assert_false(there_is(temp.path, "-wal"));
        assert_false(there_is(temp.path, "-shm"));
        assert_true(file_is(temp.path, &in_wal));
    }
    scratch_need(sqlite3_vfs_register(faulty, 1) == SQLITE_OK, "sqlite3_vfs_register");
    used_files.database = NULL;
    free(in_wal.bytes);
    plain_sql(temp.path, "PRAGMA journal_mode = DELETE"); /* as the message advises */
    assert_int_equal(read_all(), CPUBIND_CORPUS_OK);
}

/* A write-ahead log beside a corpus that is not in WAL mode: SQLite would use it. */
TEST(a_file_named_as_a_write_ahead_log_is_not_opened)
{
    char path[SCRATCH_PATH * 2 + 16];
    snprintf(path, sizeof path, "%s-wal", temp.path);
    scratch_need(mkfifo(path, 0644) == 0, path);
    watch();
    alarm(30);
    assert_int_equal(read_all(), CPUBIND_CORPUS_OK);
    assert_int_equal(write_more(), CPUBIND_CORPUS_OK);
    alarm(0);
    assert_untouched("a FIFO named -wal");
    assert_true(there_is(temp.path, "-wal"));
    assert_false(there_is(temp.path, "-shm"));
}

/* == Links in place of the corpus (live.md 7) =============================== */

TEST(a_symbolic_link_is_no_corpus_and_its_target_is_not_made)
{
    char target[SCRATCH_PATH * 2];
    scratch_path(&temp.s, "in/link.db", temp.path);
    outside_path("missing", target);
    scratch_need(symlink(target, temp.path) == 0, temp.path);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(i ? write_more() : read_all(), CPUBIND_CORPUS_ERR_OPEN);
        assert_string_equal(f.fault.what, "it is a symbolic link");
        assert_int_equal(access(target, F_OK), -1);
    }
    scratch_need(unlink(temp.path) == 0, temp.path);
    scratch_need(symlink("corpus.db", temp.path) == 0, temp.path);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(i ? write_more() : read_all(), CPUBIND_CORPUS_ERR_OPEN);
        assert_string_equal(f.fault.what, "it is a symbolic link");
    }
}

/* A folder of the path may be a link. */
TEST(a_corpus_in_a_linked_folder_is_read_and_written)
{
    char path[SCRATCH_PATH * 2];
    snprintf(path, sizeof path, "%s", temp.path);
    scratch_link(&temp.s, "linked", "in");
    scratch_path(&temp.s, "linked/corpus.db", temp.path);
    assert_int_equal(read_all(), CPUBIND_CORPUS_OK);
    assert_int_equal(write_more(), CPUBIND_CORPUS_OK);
    assert_int_equal(ask(path, "SELECT count(*) FROM hosts"), 2);
}

/* == Mutated files ========================================================== */

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Changes a few bytes, or cuts the end. */
static void mutate(unsigned char *bytes, size_t *n, uint32_t *state)
{
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff, '/', 0xd9, 0xd7};
    for (uint32_t left = next_random(state) % 6; left > 0 && *n > 0; left--) {
        const size_t at = next_random(state) % (next_random(state) % 2 ? *n : *n % 600 + 1);
        bytes[at % *n] = next_random(state) % 2 ? (unsigned char)next_random(state)
                                                : values[next_random(state) % sizeof values];
    }
    if (*n > 0 && next_random(state) % 5 == 0)
        *n -= next_random(state) % *n;
}

/* A mutated corpus beside a mutated journal, with and without a name in it. */
TEST(mutated_files_touch_nothing_outside)
{
    const char *wish = getenv("CPUBIND_MUTATIONS");
    const int n = wish ? atoi(wish) : 300;
    int n_of[20] = {0};
    char path[SCRATCH_PATH * 2];
    uint32_t state = 42;
    outside_path("victim", path);
    watch();
    for (int i = 0; i < n; i++) {
        journal j;
        whole corpus = {malloc(f.corpus.n), f.corpus.n};
        memcpy(corpus.bytes, f.corpus.bytes, f.corpus.n);
        make_journal(&j);
        if (i % 3)
            add_name(&j, path, strlen(path), (uint32_t)strlen(path), 0);
        if (i % 4)
            mutate(j.bytes, &j.n, &state);
        if (i % 4 != 1)
            mutate((unsigned char *)corpus.bytes, &corpus.n, &state);
        write_whole(temp.path, &corpus);
        write_journal(&j);
        const cpubind_corpus_status read = read_all();
        assert_true(file_is(temp.path, &corpus));
        assert_true(there_is(temp.path, "-journal"));
        const cpubind_corpus_status written = write_more();
        assert_untouched("a mutated file");
        assert_in_range(-(int)read, 0, 316);
        n_of[written ? -(int)written - 300 : 19]++;
        free(corpus.bytes);
        unlink(f.journal);
    }
    print_message("#   %d mutated: %d written, %d refused for the journal, %d damaged\n", n,
                  n_of[19], n_of[16], n_of[5]);
    assert_true(n < 300 || (n_of[19] > 0 && n_of[16] > n / 4));
}

static int run_all(void)
{
    configure_sqlite();
    return run_registered("journals", set_up, tear_down);
}

TEST_PROGRAM(run_all)
