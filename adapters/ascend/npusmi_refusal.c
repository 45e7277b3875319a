/* npusmi_refusal.c - the messages that npu-smi prints instead of an answer
 * SPDX-License-Identifier: MIT
 *
 * Pure. The exit status is not used: npu-smi exits with 0 after some refusals. The messages are
 * those of npu-smi 21 to 26.
 */
#include "npusmi.h"

#include <string.h>

#include "../text/cursor.h"

#define LOST "Failed to get chip number of card"

/*   refusal = one of these at the start of a line, letters of either case, then anything
 *
 * The first text that fits counts, so a longer text comes before a shorter one that it starts
 * with. NONE marks a message about one card of many, which is printed before a table. */
static const struct known_start {
    const char *text;
    cpubind_npusmi_refusal refusal;
} starts[] = {
    {"There is no NPU card on this server", CPUBIND_NPUSMI_NO_NPU},
    {"There is no NPU chip on this card", CPUBIND_NPUSMI_NO_NPU},
    {"This device does not support input parameter", CPUBIND_NPUSMI_PARAMETER},
    {"This device does not support", CPUBIND_NPUSMI_NOT_SUPPORTED},
    {"NPU is working in SMP mode, does not support", CPUBIND_NPUSMI_NOT_SUPPORTED},
    {"This command cannot be executed on", CPUBIND_NPUSMI_VM},
    {"dcmi model initialized failed, because the device is used", CPUBIND_NPUSMI_BUSY},
    {"dcmi model initialize", CPUBIND_NPUSMI_DRIVER},
    {"dcmi module initialize", CPUBIND_NPUSMI_DRIVER},
    {"npu get board type failed", CPUBIND_NPUSMI_DRIVER},
    {LOST, CPUBIND_NPUSMI_NONE},
    {"Failed to get device num", CPUBIND_NPUSMI_NONE},
    {"Failed to get card(", CPUBIND_NPUSMI_NONE},
    {"Failed to get ", CPUBIND_NPUSMI_QUERY},
    {"Failed to query ", CPUBIND_NPUSMI_QUERY},
    {"Failed to execute npu-smi", CPUBIND_NPUSMI_QUERY},
    {"Failed to alloc memory", CPUBIND_NPUSMI_QUERY},
    {"Failed to malloc memory", CPUBIND_NPUSMI_QUERY},
    {"Card device info malloc failed", CPUBIND_NPUSMI_QUERY},
    {"npu_get_card_device_id failed", CPUBIND_NPUSMI_QUERY},
    {"get npu info failed", CPUBIND_NPUSMI_QUERY},
    {"show npu card info fail", CPUBIND_NPUSMI_QUERY},
    {"Error parameter of", CPUBIND_NPUSMI_PARAMETER},
    {"Invalid card id", CPUBIND_NPUSMI_PARAMETER},
    {"Invalid chip id", CPUBIND_NPUSMI_PARAMETER},
    {"Invalid phy id", CPUBIND_NPUSMI_PARAMETER},
    {"invalid chip type", CPUBIND_NPUSMI_PARAMETER},
    {"This command must input", CPUBIND_NPUSMI_PARAMETER},
    {"Must input parameter of", CPUBIND_NPUSMI_PARAMETER},
    {"This command does not support", CPUBIND_NPUSMI_PARAMETER},
    {"Command or option is not found", CPUBIND_NPUSMI_PARAMETER},
    {"Input parameter format error", CPUBIND_NPUSMI_PARAMETER},
    {"input parameter error", CPUBIND_NPUSMI_PARAMETER},
    {"The parameter is invalid", CPUBIND_NPUSMI_PARAMETER},
    {"You must select a card at first", CPUBIND_NPUSMI_PARAMETER},
    {"This command can be executed only by", CPUBIND_NPUSMI_NOT_PERMITTED},
    {"Operation not permitted", CPUBIND_NPUSMI_NOT_PERMITTED},
    {"sudo: a ", CPUBIND_NPUSMI_NOT_PERMITTED},
    {"Usage: npu-smi", CPUBIND_NPUSMI_USAGE},
    {"Segmentation fault", CPUBIND_NPUSMI_NOT_RUN},
    {"Aborted (core dumped)", CPUBIND_NPUSMI_NOT_RUN},
};

/*   not-run = a line with "npu-smi" and one of these in it, in any order; no row of a table
 *
 * Shells, loaders and wrappers print the two in many orders and quotes. The last three are the
 * first three in Chinese, for captures that were taken without LC_ALL=C. */
static const char *const not_run[] = {
    "not found",
    "No such file or directory",
    "Permission denied",
    "error while loading shared libraries",
    "symbol lookup error",
    "cannot execute",
    "Exec format error",
    "Segmentation fault",
    "Aborted",
    "Killed",
    "\xe6\x9c\xaa\xe6\x89\xbe\xe5\x88\xb0\xe5\x91\xbd\xe4\xbb\xa4",
    "\xe6\xb2\xa1\xe6\x9c\x89\xe9\x82\xa3\xe4\xb8\xaa\xe6\x96\x87\xe4\xbb\xb6",
    "\xe6\x9d\x83\xe9\x99\x90\xe4\xb8\x8d\xe5\xa4\x9f",
};

static cpubind_npusmi_refusal refusal_of(cursor line)
{
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (cursor_starts_as(&line, starts[i].text))
            return starts[i].refusal;
    if (cursor_next(&line) == '|' || !cursor_holds(line, "npu-smi"))
        return CPUBIND_NPUSMI_NONE;
    for (size_t i = 0; i < sizeof not_run / sizeof *not_run; i++)
        if (cursor_holds(line, not_run[i]))
            return CPUBIND_NPUSMI_NOT_RUN;
    return CPUBIND_NPUSMI_NONE;
}

cpubind_npusmi_refusal cpubind_npusmi_find_refusal(const char *text, int32_t len,
                                                   cpubind_piece *out_line)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, NULL, 1), line;
    while (cursor_bare_line(&c, &line)) {
        const cpubind_npusmi_refusal refusal = refusal_of(line);
        if (refusal == CPUBIND_NPUSMI_NONE)
            continue;
        if (out_line)
            *out_line = cursor_piece(line);
        return refusal;
    }
    return CPUBIND_NPUSMI_NONE;
}

int32_t cpubind_npusmi_count_lost(const char *text, int32_t len)
{
    cursor_text of;
    cursor c = cursor_open(&of, text, len, NULL, 1), line;
    int32_t n = 0;
    while (cursor_bare_line(&c, &line))
        n += cursor_starts_as(&line, LOST);
    return n;
}
