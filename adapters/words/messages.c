/* messages.c - texts that are built in parts, and why a step failed: one table for all rooms
 * SPDX-License-Identifier: MIT
 */
#include "messages.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../text/character.h"
#include "../text/cpulist.h"

#define MAX_LIST  512 /* bytes of a list that is quoted in a message */
#define MAX_QUOTE 200

/* == Texts ================================================================== */

/* Replaces what a terminal would obey, and bytes that belong to no character. */
static void make_plain(char *text, int keeps_lines)
{
    for (size_t left = strlen(text); left > 0;) {
        const int32_t n = *text == '\n' && keeps_lines ? 1 : cpubind_character(text, left);
        if (n == 0)
            *text = '?';
        text += n ? n : 1;
        left -= (size_t)(n ? n : 1);
    }
}

static void add_formatted(api_text *to, const char *format, va_list arguments)
{
    const size_t start = to->len, room = sizeof to->text - to->len;
    const int n = vsnprintf(to->text + start, room, format, arguments);
    if (n > 0)
        to->len += (size_t)n < room ? (size_t)n : room - 1;
    make_plain(to->text + start, strchr(format, '\n') != NULL);
}

void api_add(api_text *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_formatted(to, format, arguments);
    va_end(arguments);
}

int words_fail(int status, api_text *why, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_formatted(why, format, arguments);
    va_end(arguments);
    return status;
}

void api_add_list(api_text *to, const int32_t *list, int32_t n)
{
    char text[MAX_LIST];
    int32_t len = 0;
    if (n <= 0)
        api_add(to, "none");
    else if (cpubind_cpulist_format(list, n, text, MAX_LIST, &len) == CPUBIND_TEXT_OK)
        api_add(to, "%.*s", (int)len, text);
    else
        api_add(to, "%d CPUs from %d to %d", (int)n, (int)list[0], (int)list[n - 1]);
}

void api_add_pci(api_text *to, const cpubind_pci_address *pci)
{
    api_add(to, "%04x:%02x:%02x.%x", (unsigned)pci->domain, (unsigned)pci->bus,
            (unsigned)pci->device, (unsigned)pci->function);
}

void words_add_quote(api_text *to, const char *text, int32_t len, int32_t max)
{
    char quote[MAX_QUOTE + 4];
    int32_t at = 0, n = 0;
    while (at < len && n < max && n < MAX_QUOTE) {
        const int32_t step = cpubind_character(text + at, (size_t)(len - at));
        for (int32_t i = 0; i < (step ? step : 1); i++)
            quote[n++] = step ? text[at + i] : '?';
        at += step ? step : 1;
    }
    quote[n] = '\0';
    if (n > 0)
        api_add(to, ": \"%s%s\"", quote, at < len ? "..." : "");
}

void words_add_bytes(api_text *to, int64_t bytes)
{
    static const char units[] = "KMGTP";
    int64_t tenths = bytes * 10 / 1024;
    int i = 0;
    while (tenths >= 10240 && units[i + 1]) {
        tenths /= 1024;
        i++;
    }
    if (tenths < 1000)
        api_add(to, "%d.%d%c", (int)(tenths / 10), (int)(tenths % 10), units[i]);
    else
        api_add(to, "%d%c", (int)(tenths / 10), units[i]);
}

void words_add_real(api_text *to, double number)
{
    api_add(to, number >= 10000 || number <= -10000 ? "%.0f" : "%.4g", number);
}

/* == Why ==================================================================== */

#define ANY         ~0u
#define ANY_THREAD  (WORDS_THREAD | WORDS_SHARED)
#define ANY_ITEM    (ANY_THREAD | WORDS_IRQ)
#define PLAN_INSIDE "; plan inside of it: --allowed LIST (cpuset.cpus.effective of its cgroup)"
#define NO_SOCKET   "its socket is not visible here; run it on the host, or stop it there"
#define OWN_FILE    "@; it must be a file, no link, owned by you and writable by nobody else"

/* The first row that fits says why, and what helps; "@" stands for the step and the text of the
 * error, which are all where no row fits. EACCES stands for the other errors of a right that is
 * missing, and ENOSPC for those of a file system that takes no file, where these have no row
 * before it. */
static const struct {
    unsigned about;
    int error;        /* 0: any */
    const char *step; /* NULL: any */
    const char *text;
} rows[] = {
    {WORDS_COMMAND, EAGAIN, NULL,
     "@; this user or this cgroup may have no more processes: raise ulimit -u, or pids.max of "
     "the cgroup (TasksMax of the unit)"},
    {WORDS_COMMAND, ENOMEM, NULL, "@; free some memory, or raise memory.max of the cgroup"},
    {WORDS_COMMAND, EPERM, NULL, "@; see the log of the kernel (dmesg) for the policy"},
    {WORDS_COMMAND, EACCES, NULL,
     "@; set the mode of the file and of its folders, or mount it without noexec"},
    {WORDS_COMMAND, ENOEXEC, NULL, "@; install the one of the architecture of this machine"},
    {WORDS_COMMAND, ETXTBSY, NULL, "@; it is being written: try again"},
    {WORDS_COMMAND, ENOENT, NULL, "@; is the name right, and its folder on PATH?"},
    {WORDS_COMMAND, E2BIG, NULL, "@; unset the longest variables of the environment"},
    {ANY, ENFILE, NULL, "@; raise the limit of the host: sysctl fs.file-max"},
    {ANY, EMFILE, NULL, "@; raise the limit of open files: ulimit -n 1024"},
    {WORDS_COMMAND, 0, NULL, "@; run the command by hand to see why"},

    {ANY, 0, "another namespace",
     "its number is of another pid or time namespace: put it back there"},
    {ANY_ITEM, 0, "offline", "some of its CPUs are offline"},
    {ANY_ITEM, 0, "cpuset", "its cpuset allows some of them only" PLAN_INSIDE},
    {ANY_ITEM, 0, "kernel thread", "the kernel allows nobody to move it"},
    {ANY_ITEM, 0, "gone", "its PCI function has no such interrupt now; is its driver loaded?"},
    {ANY_ITEM, 0, "filter",
     "a filter of system calls (seccomp) forbids sched_setaffinity here"},
    {ANY_ITEM, 0, "security module",
     "a security module (SELinux, AppArmor) forbids sched_setaffinity here"},
    {ANY_ITEM, 0, "another user",
     "it belongs to another user: run it as root, with the capability SYS_NICE"},
    {ANY_THREAD, EAGAIN, NULL, "the thread itself or another program keeps moving it"},
    {ANY_THREAD, EBUSY, NULL, "a thread of SCHED_DEADLINE cannot be moved"},
    {WORDS_SHARED, EINVAL, NULL, "the kernel allows nobody to move it"},
    {WORDS_THREAD, EINVAL, NULL, "none of its CPUs is online and in its cpuset" PLAN_INSIDE},
    {WORDS_IRQ, EACCES, NULL,
     "/proc/irq may not be written from here (@); run it as root, on the host or in a "
     "privileged container"},
    {WORDS_IRQ, ENOENT, NULL, "there is no such file below /proc/irq here"},
    {WORDS_IRQ, EIO, NULL, "the kernel manages this interrupt itself and refuses to move it"},
    {WORDS_IRQ, ENOSPC, NULL, "no free interrupt vector"},
    {WORDS_IRQBALANCE, ENOENT, NULL, NO_SOCKET},
    {WORDS_IRQBALANCE, ECONNREFUSED, NULL, NO_SOCKET},

    {WORDS_MEMORY, EACCES, "move_pages",
     "@; another user's process needs root; in a container the seccomp profile must allow it "
     "too: SYS_NICE is not enough"},
    {WORDS_MEMORY, 0, "set_mempolicy", "@; a container needs the capability SYS_NICE"},
    {WORDS_MEMORY, EACCES, NULL,
     "@; another user's process needs root; -o memory=none skips the memory"},
    {WORDS_EVENTS, EACCES, NULL, "@; run it as root, or with the capability NET_ADMIN"},
    {WORDS_EVENTS, ECONNREFUSED, NULL, "@; they need the network namespace of the host"},
    {WORDS_EVENTS, 0, NULL,
     "@; they need the pid and user namespaces of the host, and a kernel with "
     "CONFIG_PROC_EVENTS"},

    {WORDS_PROCESS, EPERM, NULL,
     "it is hidden from this user (/proc is mounted with hidepid): run it as root"},
    {WORDS_PROCESS, ENOENT, NULL,
     "/proc is not mounted here, or is empty: no process can be read"},
    {WORDS_PROCESS, ESRCH, NULL,
     "there is no such process here; a process of a container has another number outside of "
     "it"},
    {WORDS_PROCESS, EINVAL, NULL,
     "this is the number of a thread: name its process (Tgid in its status below /proc)"},
    {WORDS_FORCE, 0, "init", "all later processes inherit the CPUs of the init process"},
    {WORDS_FORCE, 0, "zombie", "it has ended and waits for its parent (a zombie)"},
    {WORDS_FORCE, 0, NULL, "it is a thread of the kernel"},
    {WORDS_RECORD, ENOSPC, NULL, "@; its file system must be writable and have room"},
    {WORDS_RECORD, 0, "folder",
     "@; its folder must exist, be owned by you and writable by nobody else"},
    {WORDS_RECORD, 0, "lock",
     "@; its lock, beside it, must be a file owned by you, no link, with one name"},
    {WORDS_RECORD, 0, "open", OWN_FILE},
    {WORDS_RECORD, 0, "file", OWN_FILE},
    {WORDS_RECORD, 0, "read", OWN_FILE},
    {WORDS_DAMAGE, 0, "length", "it is too long"},
    {WORDS_DAMAGE, 0, "line", "it begins with no word of a record"},
    {WORDS_DAMAGE, 0, "end", "it follows the last line, \"sum\""},
    {WORDS_DAMAGE, 0, "pid", "it names another process"},

    {WORDS_SETTINGS, 0, "owner",
     "it belongs to another user than root: give it to root, with chown"},
    {WORDS_SETTINGS, 0, "mode", "others than its owner may write to it; try chmod go-w"},
    {WORDS_SETTINGS, 0, "length", "it is too long for a file of settings"},
    {WORDS_SETTINGS, 0, "kind", "it is no regular file"},
    {WORDS_SETTINGS, 0, "writer", "it is being written to; try again when it is complete"},
    {WORDS_SETTINGS, 0, "empty",
     "it is empty; for the usual settings write a line \"# usual\", or remove it"},
    {WORDS_SETTINGS, 0, NULL, "it could not be read: @"},
    {WORDS_FILE, EINVAL, NULL, "it is no regular file"},
    {WORDS_FILE, ELOOP, NULL, "it is a symbolic link; name another with --db FILE"},
    {WORDS_FILE, ENOENT, NULL,
     "@; a corpus is made by cpubind fixture import DIR... --db FILE"},
    {WORDS_FILE, EFBIG, NULL, "it is larger than 256 MiB"},
    {WORDS_FILE | WORDS_CORPUS, EBUSY, "journal",
     "SQLite has a -journal or -wal beside it: another program writes it, or was interrupted; "
     "try again, or if you trust the file, use a copy without it"},
    {WORDS_FILE | WORDS_CORPUS, EBUSY, NULL, "another process has changed it; try again"},
    {WORDS_SERVICE, ECONNREFUSED, NULL,
     "has ended and left its socket; it binds again when it starts"},
    {WORDS_SERVICE, ETIMEDOUT, "work", "has been at work for longer than an answer may take"},
    {WORDS_SERVICE, ETIMEDOUT, NULL, "does not answer: it is stopped or hangs"},
    {WORDS_SERVICE, ENOMSG, NULL,
     "gives no answer: it has just ended, has clients enough, or is of an older version that "
     "does not know the request: restart it"},
    {WORDS_SERVICE, EPERM, NULL,
     "is not asked: others than its user could have made the socket"},
    {WORDS_SERVICE, 0, NULL, "could not be asked: @"},
    {WORDS_ASKED, EPERM, "user", "the service does this for root alone: try sudo"},
    {WORDS_ASKED, EPERM, "namespace",
     "the service is of another pid namespace, and process numbers of this one are others "
     "there: ask it from the host"},
    {WORDS_ASKED, EPERM, "process", "belongs to another user: run it as root"},
    {WORDS_ASKED, ESRCH, NULL, "has ended"},
    {WORDS_ASKED, ESTALE, NULL, "has ended"},
    {WORDS_WORKER, 0, "pid namespace",
     "its number is of another pid namespace; run cpubind on the host"},
    {WORDS_WORKER, 0, "hidden", "/proc hides this process from this user"},
    {WORDS_WORKER, 0, "plan", "it is not bound, and there is no pool to compare it with"},

    {ANY_ITEM | WORDS_IRQBALANCE | WORDS_OTHER, EACCES, NULL, "@; run it as root, on the host"},
    {ANY, 0, NULL, "@"}};

int words_is_right_missing(int error)
{
    return error == EACCES || error == EPERM || error == EROFS;
}

int words_is_out_of_files(int error)
{
    return error == EMFILE || error == ENFILE;
}

/* Whether an error is one that a row is about. */
static int is_of(int error, int row)
{
    return row == 0 || row == error || (row == EACCES && words_is_right_missing(error)) ||
           (row == ENOSPC && (error == EDQUOT || error == EROFS));
}

void words_add_why(api_text *to, unsigned about, const char *step, int error)
{
    const char *text;
    size_t i = 0, n;
    while (!(rows[i].about & about) || !is_of(error, rows[i].error) ||
           (rows[i].step && !(step && strcmp(rows[i].step, step) == 0)))
        i++; /* the last one fits all */
    text = rows[i].text;
    n = strcspn(text, "@");
    api_add(to, "%.*s", (int)n, text);
    if (text[n] == '@')
        api_add(to, "%s%s%s%s", step ? step : "", step ? ": " : "", strerror(error),
                text + n + 1);
}
