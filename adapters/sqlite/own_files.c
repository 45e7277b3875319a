/* own_files.c - a VFS that uses a database and its journal, and no other file
 * SPDX-License-Identifier: MIT
 *
 * The contracts are in own_files.h. Each function asks the default VFS once it has compared the
 * name, and the open files are those of the default VFS. No VFS tells what kind of file a name
 * has, so a journal is checked with system calls, the only ones of this folder.
 */
#include "own_files.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static own_files *files_of(sqlite3_vfs *vfs)
{
    return vfs->pAppData;
}

static int refuse(own_files *files, int result, const char *why)
{
    files->refused = why;
    return result;
}

static int refuse_other(own_files *files)
{
    return refuse(files, REFUSED_FILE, "it needs another file than itself and its journal");
}

/* Whether the name is that of the database followed by this end: "", "-journal", "-wal". */
static int is_own(const own_files *files, const char *name, const char *end)
{
    const size_t n = files->path ? strlen(files->path) : 0;
    return n > 0 && name && strncmp(name, files->path, n) == 0 && strcmp(name + n, end) == 0;
}

/* == The journal ============================================================ */

/* Checks the bytes of an open journal. That of one database ends with a page; that of several
 * ends with the name of a super-journal, its length, a sum, and this mark. *is_hot: whether
 * there is anything to roll back. */
static int check_bytes(own_files *files, int fd, const struct stat *expected, int *is_hot)
{
    static const unsigned char mark[] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    unsigned char end[sizeof mark] = {0}, first = 0;
    struct stat st;
    if (fstat(fd, &st) != 0 || st.st_ino != expected->st_ino || st.st_dev != expected->st_dev)
        return refuse(files, REFUSED_JOURNAL, "its journal has just been replaced");
    const off_t at = st.st_size - (off_t)sizeof end;
    if (at >= 0 && pread(fd, end, sizeof end, at) == (ssize_t)sizeof end &&
        memcmp(end, mark, sizeof mark) == 0)
        return refuse(files, REFUSED_JOURNAL, "its journal names another file");
    *is_hot = pread(fd, &first, 1, 0) == 1 && first != 0;
    return SQLITE_OK;
}

/* Checks the journal before SQLite opens it, and before it is opened here: opening a FIFO would
 * wait, and closing a second name of the database would drop the locks of this process. The
 * owner counts where the journal is rolled back, not while another process writes it. */
static int check_journal(own_files *files, const char *name, int is_rolled_back, int *is_hot)
{
    struct stat st, database;
    *is_hot = 0;
    if (lstat(name, &st) != 0)
        return SQLITE_OK;
    if (!S_ISREG(st.st_mode))
        return refuse(files, REFUSED_JOURNAL, "its journal is no regular file");
    if (st.st_nlink > 1)
        return refuse(files, REFUSED_JOURNAL, "its journal has a second name");
    if (is_rolled_back && st.st_uid != 0 && st.st_uid != geteuid() &&
        (lstat(files->path, &database) != 0 || st.st_uid != database.st_uid))
        return refuse(files, REFUSED_JOURNAL, "its journal belongs to another user");
    *is_hot = 1;
    const int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) /* SQLite cannot open it either */
        return SQLITE_OK;
    const int result = check_bytes(files, fd, &st, is_hot);
    close(fd);
    return result;
}

int cpubind_priv_check_journal(own_files *files)
{
    int is_hot;
    char *name = files->path ? sqlite3_mprintf("%s-journal", files->path) : NULL;
    if (!name)
        return files->path ? SQLITE_NOMEM : SQLITE_OK;
    const int result = check_journal(files, name, 1, &is_hot);
    sqlite3_free(name);
    return result;
}

/* == The VFS ================================================================ */

static int own_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                    int *out_flags)
{
    own_files *files = files_of(vfs);
    int is_hot;
    file->pMethods = NULL;
    if (flags & SQLITE_OPEN_WAL)
        return refuse(files, REFUSED_FILE,
                      "it is in WAL mode, which PRAGMA journal_mode = DELETE ends");
    if (!files->is_writer &&
        (flags & (SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_DELETEONCLOSE)))
        return refuse_other(files);
    if ((flags & SQLITE_OPEN_MAIN_DB) && is_own(files, name, ""))
        return files->real->xOpen(files->real, name, file, flags, out_flags);
    if (!(flags & SQLITE_OPEN_MAIN_JOURNAL) || !is_own(files, name, "-journal"))
        return refuse_other(files);
    /* SQLite takes that for a hot journal. Opening it as root would change its owner. */
    if (!files->is_writer)
        return SQLITE_CANTOPEN;
    const int result = check_journal(files, name, 1, &is_hot);
    return result == SQLITE_OK ? files->real->xOpen(files->real, name, file, flags, out_flags)
                               : result;
}

static int own_delete(sqlite3_vfs *vfs, const char *name, int must_sync)
{
    own_files *files = files_of(vfs);
    if (!files->is_writer || (!is_own(files, name, "") && !is_own(files, name, "-journal")))
        return refuse_other(files);
    return files->real->xDelete(files->real, name, must_sync);
}

/* SQLite asks whether there is a journal before it does anything else with a database. */
static int own_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
    own_files *files = files_of(vfs);
    int is_hot = 1;
    *out = 0;
    if (is_own(files, name, "-wal")) /* no such file: a corpus in WAL mode is refused */
        return SQLITE_OK;
    if (!is_own(files, name, "-journal"))
        return refuse_other(files);
    int result = files->real->xAccess(files->real, name, flags, out);
    if (result == SQLITE_OK && *out)
        result = check_journal(files, name, 0, &is_hot);
    *out = *out && (is_hot || files->is_writer);
    return result;
}

/* Resolves the symbolic links of the folder. Where the last part of the path is a symbolic link
 * itself, the result is SQLITE_OK_SYMLINK, which SQLITE_OPEN_NOFOLLOW makes an error. */
static int own_full_name(sqlite3_vfs *vfs, const char *name, int n, char *out)
{
    own_files *files = files_of(vfs);
    const char *slash = strrchr(name, '/');
    char *folder =
        sqlite3_mprintf("%.*s", slash ? (int)(slash - name) + 1 : 1, slash ? name : ".");
    char *path = NULL;
    int result = SQLITE_OK;
    if (!folder)
        result = SQLITE_NOMEM;
    else if (folder[strspn(folder, "/")] == '\0') /* SQLite refuses "/" as a path */
        *out = '\0';
    else
        result = files->real->xFullPathname(files->real, folder, n, out);
    if (result == SQLITE_OK || result == SQLITE_OK_SYMLINK) {
        path = sqlite3_mprintf("%s/%s", out, slash ? slash + 1 : name);
        result = path ? files->real->xFullPathname(files->real, path, n, out) : SQLITE_NOMEM;
    }
    if (result == SQLITE_OK && !files->path) {
        files->path = sqlite3_mprintf("%s", out);
        result = files->path ? SQLITE_OK : SQLITE_NOMEM;
    }
    sqlite3_free(folder);
    sqlite3_free(path);
    return result;
}

static int own_random(sqlite3_vfs *vfs, int n, char *out)
{
    sqlite3_vfs *real = files_of(vfs)->real;
    return real->xRandomness(real, n, out);
}

static int own_sleep(sqlite3_vfs *vfs, int microseconds)
{
    sqlite3_vfs *real = files_of(vfs)->real;
    return real->xSleep(real, microseconds);
}

static int own_time(sqlite3_vfs *vfs, double *out)
{
    sqlite3_vfs *real = files_of(vfs)->real;
    return real->xCurrentTime(real, out);
}

static int own_error(sqlite3_vfs *vfs, int n, char *out)
{
    sqlite3_vfs *real = files_of(vfs)->real;
    return real->xGetLastError ? real->xGetLastError(real, n, out) : 0;
}

int cpubind_priv_add_files(own_files *files, int is_writer)
{
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    if (!real)
        return SQLITE_ERROR;
    *files = (own_files){.real = real, .is_writer = is_writer};
    sqlite3_snprintf((int)sizeof files->name, files->name, "cpubind-%p", (void *)files);
    /* No xDlOpen: a connection may not load extensions. */
    files->vfs = (sqlite3_vfs){
        .iVersion = 1,
        .szOsFile = real->szOsFile,
        .mxPathname = real->mxPathname,
        .zName = files->name,
        .pAppData = files,
        .xOpen = own_open,
        .xDelete = own_delete,
        .xAccess = own_access,
        .xFullPathname = own_full_name,
        .xRandomness = own_random,
        .xSleep = own_sleep,
        .xCurrentTime = own_time,
        .xGetLastError = own_error,
    };
    return sqlite3_vfs_register(&files->vfs, 0);
}

void cpubind_priv_remove_files(own_files *files)
{
    if (files->real)
        sqlite3_vfs_unregister(&files->vfs);
    sqlite3_free(files->path);
    files->real = NULL;
    files->path = NULL;
}
