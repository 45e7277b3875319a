/* files.h - the files below one folder: read one, list a folder of them
 * SPDX-License-Identifier: MIT
 *
 * Private to adapters/linux. Reads only; opens nothing for writing and creates nothing.
 *
 * A snapshot comes from a stranger. Whatever its symbolic links say, nothing outside of its
 * folder is opened:
 *   kernel 5.6 on   openat2(2) with RESOLVE_BENEATH: the kernel refuses a link that leaves.
 *   before, or when a container's filter forbids openat2: links are resolved here, as text,
 *                   with readlinkat(2), and the path without links that comes of it is opened
 *                   part by part with O_NOFOLLOW. A link that appears in between is refused.
 * Both follow relative links that stay inside (sys/bus/pci/devices of a real dump is made of
 * them) and refuse absolute ones and those that leave with EXDEV.
 *
 * What is no regular file is refused after it was opened, with O_NONBLOCK and O_NOCTTY: a FIFO
 * or a terminal cannot hang a reader. (A device node was opened then, though never read; only
 * root can have unpacked one. To look first would cost as much again as the opening.)
 */
#ifndef CPUBIND_LINUX_FILES_H
#define CPUBIND_LINUX_FILES_H

#include "../../source.h"
#include "../sys.h"
#include "bytes.h"

/* Longest file: /proc/interrupts of 1,152 CPUs is 13 MB. */
#define CPUBIND_FILE_MAX (64 << 20)

/* Longest listing. A folder of /sys has some hundreds of names, of /proc some ten thousand. */
#define CPUBIND_LIST_MAX_NAMES 65536
#define CPUBIND_LIST_MAX_BYTES (4 << 20)

typedef enum cpubind_reach {
    CPUBIND_REACH_ANYWHERE = 0, /* links lead where they lead: the live host */
    CPUBIND_REACH_BENEATH = 1,  /* not outside the folder, openat2 */
    CPUBIND_REACH_WALK = 2      /* not outside the folder, part by part */
} cpubind_reach;

typedef struct cpubind_root {
    const cpubind_sys *sys;
    int fd;              /* the folder, O_PATH */
    cpubind_reach reach; /* BENEATH becomes WALK when the kernel has no openat2 */
} cpubind_root;

/* Opens `name` below the folder, for reading, close-on-exec.
 *   in      a valid name; `flags` are added to the open flags
 *   out     a file descriptor, or -1 with errno; EXDEV: a link leads outside */
int cpubind_root_open(cpubind_root *tree, const char *name, int flags);

/* The content of a regular file.
 *   in      a valid name; `bytes` is empty
 *   out     PRESENT with the content in `bytes`, or another state
 *   cost    five system calls for a small file */
cpubind_input cpubind_root_read(cpubind_root *tree, const char *name, cpubind_bytes *bytes);

/* What an answer says of itself as an errno: 0 when it is there, ENOENT when it is not, EFBIG
 * when it is too long, else why it failed. */
int cpubind_input_error(cpubind_input input);

/* The names in a folder, as cpubind_source.list has them.
 *   in      a valid name; `bytes` is empty
 *   out     PRESENT with the lines in `bytes`, or another state; FAILED with EILSEQ when a name
 *           holds a byte below a blank, which a list of lines could not show
 *   cost    O(names log names) */
cpubind_input cpubind_root_list(cpubind_root *tree, const char *name, cpubind_bytes *bytes);

#endif /* CPUBIND_LINUX_FILES_H */
