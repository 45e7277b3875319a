/* procfs.h - small files of /proc and /sys, and the environment of a snapshot
 * SPDX-License-Identifier: MIT
 *
 * Pure: see text.h.
 *
 * GRAMMAR
 *   status = *( line LF )            a line "Cpus_allowed_list:" TAB list; exactly one
 *   number = "-1" / "0" / "1".."9" *DIGIT / "0x" 1*HEXDIG   [ LF ] *NUL
 *   lines  = *( [ "Node" number ] name ":" number [ "kB" ] LF )   blanks between the words
 *   env    = *( NAME "=" value LF )  the last line may lack its LF; the first NAME counts
 *   ids    = id *( "," id )          ASCEND_RT_VISIBLE_DEVICES: decimal digits only; reading
 *                                    stops at the first token that is not all digits or is not
 *                                    below the number of devices, as the Ascend runtime does
 *   stat   = number " (" name ") " letter 1*( " " integer ) LF
 *   name   = *BYTE                   blanks, parentheses and line feeds too: it starts after
 *                                    the first "(" and ends before the last ")"
 *   integer = [ "-" ] ( "0" / "1".."9" *DIGIT )     at least 19 after the letter; later kernels
 *                                    print more
 */
#ifndef CPUBIND_PROCFS_H
#define CPUBIND_PROCFS_H

#include "text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the CPUs of the line "Cpus_allowed_list:" of /proc/<pid>/status.
 *   out     list->out[0 .. list->n - 1], ascending; list->n may be 0
 *   errors  as cpubind_cpulist_parse, offsets counted in the whole
 *           text; ERR_MISSING without the line; ERR_SYNTAX with two such lines; ERR_CUT
 *           without the line feed after the list
 *   cost    O(len) */
cpubind_text_status cpubind_status_parse(const char *text, int32_t len, int32_t limit,
                                         cpubind_int_list *list, cpubind_text_fault *fault);

/* Reads a value of /sys/devices/system/node/node<n>/meminfo or /proc/<pid>/status, such as
 * "MemFree" or "VmLck" (NUL-terminated): of the first line that has the name. Other lines are
 * not checked.
 *   out     *out_kb, 0 .. INT64_MAX
 *   errors  ERR_ARG; ERR_MISSING when no line has the name; ERR_SYNTAX, ERR_RANGE, ERR_CUT for
 *           its line
 *   cost    O(len) */
cpubind_text_status cpubind_kb_find(const char *text, int32_t len, const char *name,
                                    int64_t *out_kb, cpubind_text_fault *fault);

/* Reads the number of a small file of /sys: "-1\n", "0x19e5\n", "128\n".
 *   out     *out, in -1 .. 2147483647 (the only number with a sign is -1)
 *   errors  ERR_ARG, ERR_SYNTAX, ERR_RANGE */
cpubind_text_status cpubind_number_parse(const char *text, int32_t len, int32_t *out,
                                         cpubind_text_fault *fault);

/* Finds the value of the variable `name` (NUL-terminated) in an environment.
 *   out     *out_value, a slice of the text; the value may be empty
 *   errors  ERR_ARG, ERR_MISSING */
cpubind_text_status cpubind_env_find(const char *text, int32_t len, const char *name,
                                     cpubind_piece *out_value);

/* Finds the value of a variable in the environment of a process, as /proc/<pid>/environ has it:
 * strings, each ended by NUL but perhaps the last one.
 *   returns a slice of the text, perhaps empty; len -1: it is not set */
cpubind_piece cpubind_environ_find(const char *text, int32_t len, const char *name);

/* The devices that a list makes visible. */
typedef struct cpubind_visible {
    int32_t *id;  /* the caller's array */
    int32_t cap;  /* its length */
    int32_t n;    /* out: ids */
    int32_t used; /* out: bytes before the first bad token; all bytes when there is none */
} cpubind_visible;

/* Reads the ids of ASCEND_RT_VISIBLE_DEVICES.
 *   in      n_device: the first id that is not below it ends the reading, as a bad token does
 *           (0 .. CPUBIND_MAX_DEVICES)
 *   in/out  out, as above; the ids ascend strictly, at least one is there
 *   errors  ERR_ARG; ERR_MISSING without a good id; ERR_ORDER when ids do not ascend or
 *           repeat; ERR_SPACE with out->n
 *   source  the CANN runtime, which counts no device when a list is out of order */
cpubind_text_status cpubind_visible_parse(const char *text, int32_t len, int32_t n_device,
                                          cpubind_visible *out, cpubind_text_fault *fault);

/* PF_KTHREAD of Linux: a thread of the kernel itself. */
#define CPUBIND_STAT_KTHREAD 0x200000u

/* PF_FORKNOEXEC of Linux: forked, and has executed no program since. */
#define CPUBIND_STAT_FORKED 0x40u

/* Fields of /proc/<pid>/stat; their numbers are those of proc(5). */
typedef struct cpubind_stat {
    int32_t pid;        /* 1: id of the process or the thread */
    cpubind_piece name; /* 2: without the parentheses; may be empty */
    char state;         /* 3: a letter, 'R' or 'S' or 'T' ... */
    int32_t ppid;       /* 4: 0 when the parent is in another namespace */
    int32_t group;      /* 5: of processes; 0: in another namespace, or not known */
    int32_t session;    /* 6: the same */
    uint32_t flags;     /* 9: of the kernel; CPUBIND_STAT_KTHREAD, _FORKED */
    int32_t n_threads;  /* 20: 0 when the process has just ended */
    uint64_t start;     /* 22: clock ticks from the start of the host */
    uint64_t code;      /* 26: where its program starts; 0 or 1: not there, or hidden */
    uint64_t stack;     /* 28: where its stack starts; the same */
    uint64_t n_minor;   /* 10: faults that needed no reading */
    uint64_t n_major;   /* 12: faults that did */
    int32_t cpu;        /* 39: that it ran on last; -1: the line ends before it */
} cpubind_stat;

/* Reads the line of /proc/<pid>/stat or /proc/<pid>/task/<tid>/stat.
 *   out     *out
 *   errors  ERR_ARG, ERR_SYNTAX; ERR_RANGE for a number that its field cannot hold; ERR_CUT
 *           when the text does not end in a line feed
 *   cost    O(len) */
cpubind_text_status cpubind_stat_parse(const char *text, int32_t len, cpubind_stat *out,
                                       cpubind_text_fault *fault);

/* Whether a thread has this name, by the bytes of its /proc/<pid>/task/<tid>/comm. The kernel
 * keeps 15 bytes of a name, so the first 15 bytes of a longer name are equal to it. Of a kernel
 * thread, Linux 5.17 and later print the whole name, which is equal too.
 *   in      comm with or without its line feed; name ended by NUL
 *   returns 1 or 0; 0 for arguments that are no text or no name */
int cpubind_comm_is(const char *comm, int32_t len, const char *name);

/* Room for a pattern of thread names, with its NUL. */
#define CPUBIND_PATTERN_SIZE 32

/* Brings a pattern of thread names into the form that cpubind_pattern_matches takes. In a
 * pattern `*` stands for any bytes, none too, and `?` for one byte; all other bytes, `[` and
 * `\` too, stand for themselves. A pattern without `*` among its first 15 bytes is cut to
 * these, as the kernel cuts names.
 *   in      text ended by NUL
 *   out     *out, on success only
 *   returns 1; 0: the pattern is empty, fits no name of at most 15 bytes, or is longer than 31
 *           bytes */
int cpubind_pattern_make(const char *text, char out[CPUBIND_PATTERN_SIZE]);

/* Whether a name, ended by NUL and cut to 15 bytes, fits a pattern.
 *   cost    O(length of the name x length of the pattern) */
int cpubind_pattern_matches(const char *pattern, const char *name);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_PROCFS_H */
