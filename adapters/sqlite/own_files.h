/* own_files.h - private to adapters/sqlite: the files that SQLite may use for one corpus
 * SPDX-License-Identifier: MIT
 *
 * SQLite believes what it finds beside a database: the journal that an interrupted write has
 * left may name further files, which SQLite then opens and deletes; it may be a link to a file
 * of the user. A corpus may come from a stranger. Therefore each connection has a VFS of its
 * own: the default VFS of SQLite, which opens, writes and deletes two files alone, the database
 * and its journal. There is no write-ahead log, no super-journal, no temporary file and no
 * extension. A reader creates, writes and deletes nothing.
 *
 * A journal is refused before SQLite reads it if it
 *      names another file (it ends as a journal of several databases does)
 *      is no regular file (a symbolic link, a FIFO, a folder)
 *      has a second name (a hard link)
 *      belongs neither to the owner of the database nor to root nor to the writer. A reader
 *      need not refuse it: a reader rolls nothing back
 *
 * Rules: https://sqlite.org/fileformat2.html#the_rollback_journal, "SQLite VFS" of sqlite3.h.
 */
#ifndef CPUBIND_SQLITE_OWN_FILES_H
#define CPUBIND_SQLITE_OWN_FILES_H

#include <sqlite3.h>

typedef struct own_files {
    sqlite3_vfs vfs; /* registered while the connection is open */
    sqlite3_vfs *real;
    char *path;          /* of the database, without symbolic links; NULL: not asked for yet */
    const char *refused; /* why the last call failed that returned a code below */
    int is_writer;
    char name[40];
} own_files;

/* What a refused call returns. SQLite itself returns neither of them. */
#define REFUSED_JOURNAL SQLITE_PERM
#define REFUSED_FILE    SQLITE_AUTH

/* Registers the VFS under files->name. SQLITE_OK, or a result of SQLite; on failure there is
 * nothing to remove. *files must not move until it is removed. */
int cpubind_priv_add_files(own_files *files, int is_writer);

/* Whether a writer may make the database that SQLite has not found: a result as above if it has
 * a journal that is refused. */
int cpubind_priv_check_journal(own_files *files);

/* Removes the VFS, after the connection was closed. */
void cpubind_priv_remove_files(own_files *files);

#endif /* CPUBIND_SQLITE_OWN_FILES_H */
