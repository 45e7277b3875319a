/* nvidia_files.c - the files that the NVIDIA driver adds to /proc
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc. The grammar is in nvidia_files.h.
 */
#include "nvidia_files.h"

#include "../text/scan.h"

cpubind_text_status cpubind_nvidia_find(const char *text, int32_t len, const char *key,
                                        cpubind_piece *out, cpubind_text_fault *fault)
{
    const scan_text in = {text, len, fault};
    const int32_t n = key ? (int32_t)strlen(key) : 0;
    scan_line line = {{0, 0}, 0, 0};
    if (!scan_is_text(text, len) || !out || n == 0 || memchr(key, ':', (size_t)n))
        return scan_fail_arg(fault);
    while (scan_next_line(&in, &line)) {
        scan_run value = {line.run.at + n + 1, line.run.end};
        if (!scan_starts(&in, line.run, key, n) || line.run.end - line.run.at <= n ||
            text[line.run.at + n] != ':')
            continue;
        value = scan_trim(&in, value);
        if (scan_find_control(&in, value) < value.end)
            return scan_fail(&in, CPUBIND_TEXT_ERR_SYNTAX, scan_find_control(&in, value),
                             "a value holds a control character");
        *out = scan_slice(value);
        return CPUBIND_TEXT_OK;
    }
    return scan_fail(&in, CPUBIND_TEXT_ERR_MISSING, len, "the key is not there");
}
