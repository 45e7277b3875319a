/* record.h - the record of what was changed for one process, and how it was before
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux/bind. The file is written, whole, before anything is changed, so
 * that `restore` can put back what it holds, after a crash too. The other way round a record
 * changes nothing: it holds facts, no commands.
 *
 * FILE   Lines of text (record_text.c has the grammar): <pid>.record in the folder of this
 *        user (../kernel/run_folder.h). Written to a temporary name next to it (O_EXCL, mode
 *        0600), synced, renamed; the folder is not synced: a host that stops takes its
 *        processes with it. Read with O_NOFOLLOW, at most 64 MiB. It must be a regular file of
 *        this user that nobody else may write to, else EPERM, "file"; for a link ELOOP.
 * FORMS  The first word of the text and a number name its form. What has another number is left
 *        alone, with "form".
 * FOLDER Made when it is not there, and checked: else EPERM, "folder". All names are looked up
 *        in the folder that was opened and checked once: nobody else can replace a file there.
 * LOCK   <file>.lock, flock(2), held from open to close, removed at close. A second cpubind is
 *        refused at once; for host.record, which all share, it waits. The kernel releases the
 *        lock of a killed process; the file that it leaves does no harm. It must be a regular
 *        file of this user with one name, else EPERM, "lock". Its text says who holds the lock:
 *        "PID START WORD", WORD being "watch", "work" or "serve", each with blanks before or
 *        after it.
 * FAULTS A function below returns its fault by value; cpubind_record_status has the status of
 *        each for the functions of bind.h.
 */
#ifndef CPUBIND_LINUX_RECORD_H
#define CPUBIND_LINUX_RECORD_H

#include "../kernel/bytes.h"
#include "../kernel/cpu_sets.h"
#include "../kernel/files.h"
#include "../kernel/process.h"
#include "../linux.h"
#include "bind.h"

/* == In memory (record.c) =================================================== */

/* Each set below is a number in `sets`, or NONE. */

typedef struct cpubind_record_thread {
    int32_t tid;
    int32_t before;
    int is_saved; /* the file has it */
} cpubind_record_thread;

typedef struct cpubind_record_irq {
    int32_t irq; /* its last number */
    cpubind_irq_id id;
    cpubind_irq_kind kind;
    int32_t cpu; /* the goal gives it this one */
} cpubind_record_irq;

typedef struct cpubind_record_rule {
    char name[CPUBIND_PATTERN_SIZE]; /* as cpubind_pattern_make writes it */
    int32_t set;                     /* NONE: its threads are left where they are */
} cpubind_record_rule;

/* A record without changes is all zero but for pid, start, boot, before and main. */
typedef struct cpubind_record {
    int32_t pid;
    uint64_t start; /* field 22 of /proc/<pid>/stat */
    char boot[64];  /* /proc/sys/kernel/random/boot_id, NUL-terminated; "" where not known */
    cpubind_namespaces space;          /* where pid and start were taken */
    int32_t device;                    /* -1: not known */
    char pci[CPUBIND_PCI_ADDRESS_MAX]; /* of a device without a number, as cpubind_pci_format
                                          writes it; else "" */
    char rules
        [CPUBIND_RULES_SIZE]; /* the word of those that its plan was cut by; "": not known */
    int32_t measurer;         /* the measurement that has made it; 0: none */
    uint64_t measurer_start;
    cpubind_cpu_sets sets;
    int32_t before; /* of the process; threads that are created later belong there, too */
    int32_t widest; /* all CPUs that its cpuset gave then; NONE: not known */
    int32_t main;
    int32_t memory_node; /* or -1 */
    int64_t memory_left; /* bytes of own memory that apply has left on other nodes */
    cpubind_memory_stay left_why;
    int32_t polling;
    cpubind_record_rule *rule;
    int32_t n_rule, cap_rule;
    int32_t *placed; /* sets that only a binding gives: of this goal, and of those before it,
                        on which a thread or an interrupt may still be */
    int32_t n_placed, cap_placed;
    cpubind_record_thread *thread; /* by ascending tid */
    int32_t n_thread, cap_thread;
    cpubind_record_irq *irq; /* by cpubind_irq_compare */
    int32_t n_irq, cap_irq;
} cpubind_record;

/* Whether two boots are the same, as far as both are known. */
int cpubind_is_same_boot(const char *a, const char *b);

void cpubind_record_free(cpubind_record *record);

/* Each adds a fact. A fact that is in the record already keeps its first `before`: restore goes
 * back to that. A thread stays as it is, an interrupt gets the new number, kind and CPU. A rule
 * goes to the end: the first rule that fits a name counts.
 *   errors  ENOMEM, "memory"; EINVAL, "argument": a pattern that fits no name; and the record
 *           is as it was */
cpubind_linux_fault cpubind_record_add_rule(cpubind_record *record, const cpubind_sys *sys,
                                            const char *name, int32_t set);
cpubind_linux_fault cpubind_record_add_placed(cpubind_record *record, const cpubind_sys *sys,
                                              int32_t set);
cpubind_linux_fault cpubind_record_add_thread(cpubind_record *record, const cpubind_sys *sys,
                                              int32_t tid, int32_t before);
cpubind_linux_fault cpubind_record_add_irq(cpubind_record *record, const cpubind_sys *sys,
                                           const cpubind_record_irq *irq);

/* Whether a set is one that only a binding of this process gives. */
int cpubind_record_is_placed(const cpubind_record *record, int32_t set);

/* The place of a thread in a list by ascending tid, or where it would be. O(log n). */
int32_t cpubind_record_thread_place(const cpubind_record_thread *list, int32_t n, int32_t tid);

/* The thread of a list, or NULL. */
const cpubind_record_thread *cpubind_record_find_thread(const cpubind_record_thread *list,
                                                        int32_t n, int32_t tid);

/* The status of a fault of the functions below, for those of bind.h: ERR_MEMORY; ERR_ARG;
 * ERR_BUSY; ERR_DAMAGED for a line, or for a file that is too long; else ERR_STATE. */
cpubind_linux_status cpubind_record_status(cpubind_linux_fault why);

/* == As text (record_text.c) ================================================ */

/* Writes the text of a record. Reading it gives an equal record, and no other text does.
 *   out     `out`, empty before, holds it; undefined on failure, to be freed all the same
 *   errors  ENOMEM, "memory"; EINVAL, "argument": a record that could not be read back; EFBIG,
 *           "write"
 *   cost    O(length of the text) */
cpubind_linux_fault cpubind_record_format(const cpubind_record *record, const cpubind_sys *sys,
                                          cpubind_bytes *out);

/* Reads the record of a text.
 *   out     *out, all zero on failure
 *   errors  ENOMEM, "memory"; EILSEQ with the line that is wrong or missing, and `what` is its
 *           first word; "line" when it begins with no known word, "form" for a form that is not
 *           known, "end" for bytes after the sum
 *   cost    O(length x sets) */
cpubind_linux_fault cpubind_record_parse(const char *text, int32_t len, const cpubind_sys *sys,
                                         cpubind_record *out);

/* Writes "FORM VERSION" of the first line of a record, or "" if it has no such line. */
void cpubind_record_form_of(const char *text, int32_t len, char out[CPUBIND_RECORD_FORM_SIZE]);

/* == As file (record_file.c, record_folder.c) =============================== */

/* In place of a pid: the record of the host, host.record (host_record.h). */
#define CPUBIND_RECORD_HOST 0

/* The end of a record's name. */
#define CPUBIND_RECORD_SUFFIX ".record"

/* Room for "2147483647.record", with its NUL. */
#define CPUBIND_RECORD_NAME_SIZE 24

/* Writes the name of the record of a process, or of the host. */
void cpubind_record_name(int32_t pid, char out[CPUBIND_RECORD_NAME_SIZE]);

/* The pids that have a file in the folder of this user, ascending.
 *   out     *out, empty on failure; out->id is free(3)'s
 *   errors  as cpubind_run_folder_open; ENOMEM, "memory" */
cpubind_linux_fault cpubind_record_list(cpubind_root *root, cpubind_ids *out);

typedef enum cpubind_record_mode {
    CPUBIND_RECORD_WRITE, /* takes the lock */
    CPUBIND_RECORD_MAKE,  /* the same; makes the folder when it is not there */
    CPUBIND_RECORD_READ   /* takes no lock and can save nothing */
} cpubind_record_mode;

/* The file of one process. */
typedef struct cpubind_record_file cpubind_record_file;

/* The cpubind that has written its number to a lock file. */
typedef struct cpubind_record_holder {
    int32_t pid;         /* 0: not known */
    uint64_t start;      /* field 22 of its stat */
    int32_t is_watching; /* another cpubind may end it */
    int32_t is_service;
} cpubind_record_holder;

/* How long a lock is waited for, and what is known of it when that is over. */
typedef struct cpubind_record_wait {
    /* in */
    int64_t limit_ms;             /* for as long as the lock may be with the same cpubind */
    cpubind_bind_wait_hear *hear; /* or NULL */
    void *hear_ctx;
    int (*stop)(void *ctx); /* or NULL; 1 ends the wait */
    void *stop_ctx;
    /* out */
    cpubind_record_holder holder; /* who has the lock; pid 0: not known, or nobody had it */
    /* of the wait itself; 0 at first */
    int64_t begin_ms, since_ms, look_ms, word_ms;
} cpubind_record_wait;

/* Opens the folder and takes the lock, which it waits for unless `wait` is NULL. Reads nothing.
 *   in      pid: the file is that of this process
 *   errors  EWOULDBLOCK, "lock": another cpubind holds it, or the limit is over, or `stop` has
 *           ended the wait; "folder"; "lock"; EINVAL, "argument"; ENOMEM, "memory" */
cpubind_linux_fault cpubind_record_open(cpubind_root *root, int32_t pid,
                                        cpubind_record_mode mode, cpubind_record_wait *wait,
                                        cpubind_record_file **out);

/* Writes who holds the lock of `file`. Without the lock, or on failure, it names nobody. */
void cpubind_record_sign(const cpubind_record_file *file, const cpubind_record_holder *holder);

/* Reads who was the last to write to the lock file: the process may have ended since. */
cpubind_record_holder cpubind_record_read_holder(const cpubind_record_file *file);

/* The path, for messages; valid until close. */
const char *cpubind_record_path(const cpubind_record_file *file);

/* Reads the file, or replaces it, as bytes.
 *   errors  as cpubind_record_load, cpubind_record_save, but those of the text */
cpubind_linux_fault cpubind_record_read(cpubind_record_file *file, cpubind_bytes *out);
cpubind_linux_fault cpubind_record_write(cpubind_record_file *file, const cpubind_bytes *bytes);

/* "FORM VERSION" of a record whose loading failed with "form"; valid until close. */
const char *cpubind_record_form(const cpubind_record_file *file);

/* Reads the file; it must be of the process that it is named by.
 *   out     *out, all zero on failure
 *   errors  ENOENT, "open": there is none; "open"; "file"; "read"; EFBIG, "length"; those of
 *           cpubind_record_parse, and EILSEQ, "pid": the record is of another process */
cpubind_linux_fault cpubind_record_load(cpubind_record_file *file, cpubind_record *out);

/* Replaces the file. On failure the old one stays.
 *   errors  "create"; "write"; "sync"; "close"; "rename"; those of cpubind_record_format
 *   cost    one write and one fsync; of 258 threads well under 0.1 ms on a tmpfs */
cpubind_linux_fault cpubind_record_save(cpubind_record_file *file,
                                        const cpubind_record *record);

/* Removes the file if it is there, and the temporary files of killed processes.
 *   errors  "remove" */
cpubind_linux_fault cpubind_record_remove(cpubind_record_file *file);

/* Removes the temporary files of killed processes. */
void cpubind_record_remove_temps(cpubind_record_file *file);

/* Releases the lock. NULL is allowed. */
void cpubind_record_close(cpubind_record_file *file);

#endif /* CPUBIND_LINUX_RECORD_H */
