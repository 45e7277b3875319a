/* store_fault_calls.h - an allocator and a file system for SQLite that fail at a chosen call
 * SPDX-License-Identifier: MIT
 *
 * Both count the calls of SQLite and fail at one of them, or at it and all after it. The file
 * system calls the real one, but must not sync, so that tests are quick; it counts the files
 * that are opened or deleted and that the test does not expect. Rules: the interfaces
 * sqlite3_mem_methods, sqlite3_vfs and sqlite3_io_methods of SQLite.
 */
#ifndef CPUBIND_TESTS_SQLITE_STORE_FAULT_CALLS_H
#define CPUBIND_TESTS_SQLITE_STORE_FAULT_CALLS_H

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../linux/temp_dir.h"

/* The call that fails. */
typedef struct fault_plan {
    int at;         /* the call that fails, counted from 1; 0: none does */
    int is_lasting; /* all calls after it fail too */
    int count;      /* calls so far */
    int n_failed;
} fault_plan;

static fault_plan memory_faults, file_faults;

/* How a file operation fails. */
typedef enum fault_way {
    FAULT_EIO,    /* nothing happens, and an error is reported */
    FAULT_ENOSPC, /* a write is cut short, a file is removed and its folder not synced */
    FAULT_KILL    /* the process ends in the middle of a write; only writes are counted */
} fault_way;

static fault_way file_fault_way;

static inline int fault_is_due(fault_plan *plan)
{
    plan->count++;
    if (plan->at == 0 || plan->count < plan->at ||
        (plan->count > plan->at && !plan->is_lasting))
        return 0;
    plan->n_failed++;
    return 1;
}

static inline void no_faults(void)
{
    memory_faults = file_faults = (fault_plan){0, 0, 0, 0};
    file_fault_way = FAULT_EIO;
}

/* == memory == */

static sqlite3_mem_methods real_memory;

static void *failing_malloc(int n)
{
    return fault_is_due(&memory_faults) ? NULL : real_memory.xMalloc(n);
}

static void *failing_realloc(void *old, int n)
{
    return fault_is_due(&memory_faults) ? NULL : real_memory.xRealloc(old, n);
}

/* SQLite gets no memory pools, so that the sanitizers see each allocation. */
static inline void configure_memory(void)
{
    scratch_need(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory) == SQLITE_OK,
                 "GETMALLOC");
    sqlite3_mem_methods failing = real_memory;
    failing.xMalloc = failing_malloc;
    failing.xRealloc = failing_realloc;
    scratch_need(sqlite3_config(SQLITE_CONFIG_MALLOC, &failing) == SQLITE_OK, "MALLOC");
    scratch_need(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0) == SQLITE_OK, "LOOKASIDE");
    scratch_need(sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 1) == SQLITE_OK, "MEMSTATUS");
    scratch_need(sqlite3_initialize() == SQLITE_OK, "sqlite3_initialize");
}

/* == files == */

typedef struct faulty_file {
    sqlite3_file base;
    sqlite3_file *real; /* in the memory after this struct */
} faulty_file;

static sqlite3_vfs *real_vfs;

/* The database that a test expects to be used, by its full path, or NULL: any; the number of
 * other files than it and its journal that were opened or deleted; and the last of them. */
static struct {
    const char *database;
    int n_other;
    char other[512];
} used_files;

static inline void note_use(const char *name)
{
    const char *own = used_files.database;
    const size_t n = own ? strlen(own) : 0;
    if (!own || (name && strncmp(name, own, n) == 0 &&
                 (name[n] == '\0' || strcmp(name + n, "-journal") == 0)))
        return;
    used_files.n_other++;
    snprintf(used_files.other, sizeof used_files.other, "%s", name ? name : "(temporary)");
}

static inline sqlite3_file *real_file(sqlite3_file *file)
{
    return ((faulty_file *)file)->real;
}

/* Returns SQLITE_OK, or the error that the call returns without doing its work. */
static inline int file_fault(int error)
{
    if (file_fault_way == FAULT_KILL || !fault_is_due(&file_faults))
        return SQLITE_OK;
    errno = file_fault_way == FAULT_ENOSPC ? ENOSPC : EIO;
    return error;
}

static int faulty_close(sqlite3_file *file)
{
    return real_file(file)->pMethods->xClose(real_file(file));
}

static int faulty_read(sqlite3_file *file, void *out, int n, sqlite3_int64 at)
{
    int fault = file_fault(SQLITE_IOERR_READ);
    return fault ? fault : real_file(file)->pMethods->xRead(real_file(file), out, n, at);
}

static int faulty_write(sqlite3_file *file, const void *bytes, int n, sqlite3_int64 at)
{
    sqlite3_file *real = real_file(file);
    if (!fault_is_due(&file_faults))
        return real->pMethods->xWrite(real, bytes, n, at);
    if (file_fault_way == FAULT_EIO) {
        errno = EIO;
        return SQLITE_IOERR_WRITE;
    }
    real->pMethods->xWrite(real, bytes, n / 2, at);
    if (file_fault_way == FAULT_KILL)
        _exit(9);
    return SQLITE_FULL;
}

static int faulty_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int fault = file_fault(SQLITE_IOERR_TRUNCATE);
    return fault ? fault : real_file(file)->pMethods->xTruncate(real_file(file), size);
}

static int faulty_sync(sqlite3_file *file, int flags)
{
    (void)file, (void)flags;
    return file_fault(SQLITE_IOERR_FSYNC);
}

static int faulty_size(sqlite3_file *file, sqlite3_int64 *out)
{
    int fault = file_fault(SQLITE_IOERR_FSTAT);
    return fault ? fault : real_file(file)->pMethods->xFileSize(real_file(file), out);
}

static int n_shared_locks; /* requests for one */

static int faulty_lock(sqlite3_file *file, int level)
{
    n_shared_locks += level == SQLITE_LOCK_SHARED;
    int fault = file_fault(SQLITE_IOERR_LOCK);
    return fault ? fault : real_file(file)->pMethods->xLock(real_file(file), level);
}

/* The lock is dropped although the call fails, as in the kernel. */
static int faulty_unlock(sqlite3_file *file, int level)
{
    int result = real_file(file)->pMethods->xUnlock(real_file(file), level);
    int fault = file_fault(SQLITE_IOERR_UNLOCK);
    return fault ? fault : result;
}

static int faulty_check_lock(sqlite3_file *file, int *out)
{
    int fault = file_fault(SQLITE_IOERR_CHECKRESERVEDLOCK);
    return fault ? fault : real_file(file)->pMethods->xCheckReservedLock(real_file(file), out);
}

static int faulty_control(sqlite3_file *file, int what, void *argument)
{
    return real_file(file)->pMethods->xFileControl(real_file(file), what, argument);
}

static int faulty_sector_size(sqlite3_file *file)
{
    return real_file(file)->pMethods->xSectorSize(real_file(file));
}

static int faulty_device(sqlite3_file *file)
{
    return real_file(file)->pMethods->xDeviceCharacteristics(real_file(file));
}

static int faulty_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                       int *out_flags)
{
    static const sqlite3_io_methods methods = {
        .iVersion = 1,
        .xClose = faulty_close,
        .xRead = faulty_read,
        .xWrite = faulty_write,
        .xTruncate = faulty_truncate,
        .xSync = faulty_sync,
        .xFileSize = faulty_size,
        .xLock = faulty_lock,
        .xUnlock = faulty_unlock,
        .xCheckReservedLock = faulty_check_lock,
        .xFileControl = faulty_control,
        .xSectorSize = faulty_sector_size,
        .xDeviceCharacteristics = faulty_device,
    };
    faulty_file *f = (faulty_file *)file;
    (void)vfs;
    file->pMethods = NULL;
    f->real = (sqlite3_file *)(f + 1);
    note_use(name);
    int result = file_fault(SQLITE_CANTOPEN);
    if (result == SQLITE_OK)
        result = real_vfs->xOpen(real_vfs, name, f->real, flags, out_flags);
    if (result == SQLITE_OK)
        file->pMethods = &methods;
    return result;
}

static int faulty_delete(sqlite3_vfs *vfs, const char *name, int must_sync)
{
    (void)vfs, (void)must_sync;
    note_use(name);
    int fault = file_fault(SQLITE_IOERR_DELETE);
    if (fault && file_fault_way == FAULT_EIO)
        return fault;
    int result = real_vfs->xDelete(real_vfs, name, 0);
    return fault && result == SQLITE_OK ? SQLITE_IOERR_DIR_FSYNC : result;
}

static int faulty_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
    (void)vfs;
    int fault = file_fault(SQLITE_IOERR_ACCESS);
    return fault ? fault : real_vfs->xAccess(real_vfs, name, flags, out);
}

static int faulty_full_name(sqlite3_vfs *vfs, const char *name, int n, char *out)
{
    (void)vfs;
    return real_vfs->xFullPathname(real_vfs, name, n, out);
}

/* Registers the file system as the default of SQLite ("unix" is the real one). */
static inline void configure_files(void)
{
    static sqlite3_vfs faulty;
    real_vfs = sqlite3_vfs_find("unix");
    scratch_need(real_vfs != NULL, "sqlite3_vfs_find");
    faulty = *real_vfs;
    faulty.iVersion = 1;
    faulty.szOsFile = (int)sizeof(faulty_file) + real_vfs->szOsFile;
    faulty.zName = "faulty";
    faulty.pNext = NULL;
    faulty.xOpen = faulty_open;
    faulty.xDelete = faulty_delete;
    faulty.xAccess = faulty_access;
    faulty.xFullPathname = faulty_full_name;
    scratch_need(sqlite3_vfs_register(&faulty, 1) == SQLITE_OK, "sqlite3_vfs_register");
}

static inline void configure_sqlite(void)
{
    configure_memory();
    configure_files();
}

#endif /* CPUBIND_TESTS_SQLITE_STORE_FAULT_CALLS_H */
