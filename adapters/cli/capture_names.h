/* capture_names.h - other words for the names of containers, jobs and users in a capture
 * SPDX-License-Identifier: MIT
 *
 * What cpubind_redact does not know: names that several inputs have, and the paths of inputs.
 * A name gets the same word everywhere, of its length and kind (digits, hexadecimal digits,
 * letters), so that paths lead to the same files, and tables and plans are the same. Two names
 * get two words. Words of the kernel, of systemd and of the known container runtimes and
 * launchers stay, and so do numbers of one or two digits and single letters.
 *
 *   proc/N/cgroup               the paths
 *   sys/fs/cgroup/PATH/FILE     the path, which is in the name of the input
 *   proc/self/mountinfo         what is mounted, and from where
 *   proc/N/status               the numbers of users and groups
 *   proc/N/numa_maps            the paths of files, overwritten with "x"
 *   env, proc/N/environ         the name of a claim, after DRA_CPUSET_
 *   cmd/NAME.err                words that are not those of an error message
 */
#ifndef CPUBIND_CLI_CAPTURE_NAMES_H
#define CPUBIND_CLI_CAPTURE_NAMES_H

#include <stdint.h>

/* All zero before the first call. */
typedef struct cli_names {
    struct cli_name {
        char *text;
        int32_t len, kind, number;
    } * name;
    int32_t n, cap;
    int32_t n_place;  /* where a name was replaced */
    int32_t is_short; /* there is no memory, or no other word of this length */
} cli_names;

/* Replaces the names in an input, in place.
 *   in      input: its name; cmd/NAME.txt.err for the stderr of a command */
void cli_names_replace(cli_names *names, const char *input, char *text, int32_t len);

/* Replaces them in the name of an input. */
void cli_names_replace_path(cli_names *names, char *input);

void cli_names_free(cli_names *names);

#endif /* CPUBIND_CLI_CAPTURE_NAMES_H */
