/* proc_message.h - messages of the proc connector, as the kernel writes them
 * SPDX-License-Identifier: MIT
 *
 * Rules: linux/netlink.h, linux/connector.h, linux/cn_proc.h; their sizes, and not their
 * structs, so that the tests do not share a mistake with the reader.
 */
#ifndef CPUBIND_TESTS_SUPPORT_PROC_MESSAGE_H
#define CPUBIND_TESTS_SUPPORT_PROC_MESSAGE_H

#include <stdint.h>
#include <string.h>

#define PROC_MESSAGE_SIZE 76

enum {
    PROC_MESSAGE_ANSWER = 0,
    PROC_MESSAGE_FORK = 1,
    PROC_MESSAGE_EXEC = 2,
    PROC_MESSAGE_UID = 4,
    PROC_MESSAGE_COMM = 0x200
};
#define PROC_MESSAGE_EXIT 0x80000000u

typedef struct proc_message {
    union {
        char bytes[PROC_MESSAGE_SIZE];
        uint32_t word[PROC_MESSAGE_SIZE / 4];
        uint16_t half[PROC_MESSAGE_SIZE / 2];
    } as;
} proc_message;

/* Words of a message: 0 length, 4 idx, 5 val, 6 seq, 7 ack, 9 what, 13 to 18 data. Halves: 2
 * type, 16 size of the event. */
static inline proc_message proc_message_of(uint32_t what, int32_t pid, int32_t tid)
{
    const int at = what == PROC_MESSAGE_FORK ? 15 : 13;
    proc_message m;
    memset(&m, 0, sizeof m);
    m.as.word[0] = PROC_MESSAGE_SIZE;
    m.as.half[2] = 3; /* NLMSG_DONE */
    m.as.word[4] = 1;
    m.as.word[5] = 1;
    m.as.half[16] = 40;
    m.as.word[9] = what;
    m.as.word[at] = (uint32_t)tid;
    m.as.word[at + 1] = (uint32_t)pid;
    return m;
}

#endif
