/* npusmi_refusal.c - the messages that npu-smi prints instead of an answer
 * SPDX-License-Identifier: MIT
 *
 * Pure. A refusal is known by the start of its line. When npu-smi did not run at all, the
 * message is that of the shell or the loader. The exit status is not used: npu-smi exits with 0
 * after some refusals. The messages come from npu-smi 21 to 26.
 */
#include "npusmi_scan.h"

typedef struct known_text {
    const char *text;
    int32_t len;
    cpubind_npusmi_refusal refusal;
} known_text;

#define KNOWN(text, refusal)                                                                   \
    {                                                                                          \
        (text), (int32_t)(sizeof(text) - 1), (refusal)                                         \
    }

/*   refusal = one of these at the start of a line, letters of either case, then anything
 *
 * The first text that fits counts, so a longer text comes before a shorter one that it starts
 * with. NONE marks a message about one card of many, which is printed before a table. */
static const known_text starts[] = {
    KNOWN("There is no NPU card on this server", CPUBIND_NPUSMI_NO_NPU),
    KNOWN("There is no NPU chip on this card", CPUBIND_NPUSMI_NO_NPU),
    KNOWN("This device does not support input parameter", CPUBIND_NPUSMI_PARAMETER),
    KNOWN("This device does not support", CPUBIND_NPUSMI_NOT_SUPPORTED),
    KNOWN("NPU is working in SMP mode, does not support", CPUBIND_NPUSMI_NOT_SUPPORTED),
    KNOWN("This command cannot be executed on", CPUBIND_NPUSMI_VM),
    KNOWN("dcmi model initialized failed, because the device is used", CPUBIND_NPUSMI_BUSY),
    KNOWN("dcmi model initialize", CPUBIND_NPUSMI_DRIVER),
    KNOWN("dcmi module initialize", CPUBIND_NPUSMI_DRIVER),
    KNOWN("npu get board type failed", CPUBIND_NPUSMI_DRIVER),
    KNOWN("Failed to get chip number of card", CPUBIND_NPUSMI_NONE),
    KNOWN("Failed to get device num", CPUBIND_NPUSMI_NONE),
    KNOWN("Failed to get card(", CPUBIND_NPUSMI_NONE),
    KNOWN("Failed to get ", CPUBIND_NPUSMI_QUERY),
    KNOWN("Failed to query ", CPUBIND_NPUSMI_QUERY),
    KNOWN("Failed to execute npu-smi", CPUBIND_NPUSMI_QUERY),
    KNOWN("Failed to alloc memory", CPUBIND_NPUSMI_QUERY),
    KNOWN("Failed to malloc memory", CPUBIND_NPUSMI_QUERY),
    KNOWN("Card device info malloc failed", CPUBIND_NPUSMI_QUERY),
    KNOWN("npu_get_card_device_id failed", CPUBIND_NPUSMI_QUERY),
    KNOWN("get npu info failed", CPUBIND_NPUSMI_QUERY),
    KNOWN("show npu card info fail", CPUBIND_NPUSMI_QUERY),
    KNOWN("Error parameter of", CPUBIND_NPUSMI_PARAMETER),
    KNOWN("Invalid card id", CPUBIND_NPUSMI_PARAMETER),
    KNOWN("Invalid chip id", CPUBIND_NPUSMI_PARAMETER),
    KNOWN("Invalid phy id", CPUBIND_NPUSMI_PARAMETER),
    KNOWN("invalid chip type", CPUBIND_NPUSMI_PARAMETER),
    KNOWN("This command must input", CPUBIND_NPUSMI_PARAMETER),
    KNOWN("Must input parameter of", CPUBIND_NPUSMI_PARAMETER),
    KNOWN("This command does not support", CPUBIND_NPUSMI_PARAMETER),
    KNOWN("Command or option is not found", CPUBIND_NPUSMI_PARAMETER),
    KNOWN("Input parameter format error", CPUBIND_NPUSMI_PARAMETER),
    KNOWN("input parameter error", CPUBIND_NPUSMI_PARAMETER),
    KNOWN("The parameter is invalid", CPUBIND_NPUSMI_PARAMETER),
    KNOWN("You must select a card at first", CPUBIND_NPUSMI_PARAMETER),
    KNOWN("This command can be executed only by", CPUBIND_NPUSMI_NOT_PERMITTED),
    KNOWN("Operation not permitted", CPUBIND_NPUSMI_NOT_PERMITTED),
    KNOWN("sudo: a ", CPUBIND_NPUSMI_NOT_PERMITTED),
    KNOWN("Usage: npu-smi", CPUBIND_NPUSMI_USAGE),
    KNOWN("Segmentation fault", CPUBIND_NPUSMI_NOT_RUN),
    KNOWN("Aborted (core dumped)", CPUBIND_NPUSMI_NOT_RUN),
};

/*   not-run = a line with "npu-smi" and one of these in it, in any order; no row of a table
 *
 * Shells, loaders and wrappers print the two in many orders and quotes. The last three are the
 * first three in Chinese, for captures that were taken without LC_ALL=C. */
static const known_text not_run[] = {
    KNOWN("not found", CPUBIND_NPUSMI_NOT_RUN),
    KNOWN("No such file or directory", CPUBIND_NPUSMI_NOT_RUN),
    KNOWN("Permission denied", CPUBIND_NPUSMI_NOT_RUN),
    KNOWN("error while loading shared libraries", CPUBIND_NPUSMI_NOT_RUN),
    KNOWN("symbol lookup error", CPUBIND_NPUSMI_NOT_RUN),
    KNOWN("cannot execute", CPUBIND_NPUSMI_NOT_RUN),
    KNOWN("Exec format error", CPUBIND_NPUSMI_NOT_RUN),
    KNOWN("Segmentation fault", CPUBIND_NPUSMI_NOT_RUN),
    KNOWN("Aborted", CPUBIND_NPUSMI_NOT_RUN),
    KNOWN("Killed", CPUBIND_NPUSMI_NOT_RUN),
    KNOWN("\xe6\x9c\xaa\xe6\x89\xbe\xe5\x88\xb0\xe5\x91\xbd\xe4\xbb\xa4",
          CPUBIND_NPUSMI_NOT_RUN),
    KNOWN("\xe6\xb2\xa1\xe6\x9c\x89\xe9\x82\xa3\xe4\xb8\xaa\xe6\x96\x87\xe4\xbb\xb6",
          CPUBIND_NPUSMI_NOT_RUN),
    KNOWN("\xe6\x9d\x83\xe9\x99\x90\xe4\xb8\x8d\xe5\xa4\x9f", CPUBIND_NPUSMI_NOT_RUN),
};

static int holds(const scan_text *in, scan_run run, const char *bytes, int32_t n)
{
    for (; run.end - run.at >= n; run.at++) {
        const char *first =
            (const char *)memchr(in->text + run.at, bytes[0], (size_t)(run.end - run.at));
        if (!first)
            return 0;
        run.at = (int32_t)(first - in->text);
        if (scan_starts(in, run, bytes, n))
            return 1;
    }
    return 0;
}

static int is_not_run(const scan_text *in, scan_run run)
{
    if (scan_is_empty(run) || in->text[run.at] == '|' || !holds(in, run, "npu-smi", 7))
        return 0;
    for (size_t i = 0; i < sizeof not_run / sizeof not_run[0]; i++)
        if (holds(in, run, not_run[i].text, not_run[i].len))
            return 1;
    return 0;
}

static cpubind_npusmi_refusal refusal_of(const scan_text *in, scan_run run)
{
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (starts_with_letters(in, run, starts[i].text, starts[i].len))
            return starts[i].refusal;
    return is_not_run(in, run) ? CPUBIND_NPUSMI_NOT_RUN : CPUBIND_NPUSMI_NONE;
}

cpubind_npusmi_refusal cpubind_npusmi_find_refusal(const char *text, int32_t len,
                                                   cpubind_piece *out_line)
{
    const scan_text in = {text, len, NULL};
    scan_line line = {{0, 0}, 0, 0};

    if (!scan_is_text(text, len))
        return CPUBIND_NPUSMI_NONE;
    while (scan_next_line(&in, &line)) {
        const cpubind_npusmi_refusal refusal = refusal_of(&in, line.run);

        if (refusal == CPUBIND_NPUSMI_NONE)
            continue;
        if (out_line)
            *out_line = scan_slice(line.run);
        return refusal;
    }
    return CPUBIND_NPUSMI_NONE;
}

int32_t cpubind_npusmi_count_lost(const char *text, int32_t len)
{
    const scan_text in = {text, len, NULL};
    scan_line line = {{0, 0}, 0, 0};
    int32_t n = 0;

    if (!scan_is_text(text, len))
        return 0;
    while (scan_next_line(&in, &line))
        n += STARTS_WITH_LETTERS(&in, line.run, "Failed to get chip number of card");
    return n;
}

/* Answers ERR_REFUSED for a text that is no table and holds a refusal. */
cpubind_text_status cpubind_priv_npusmi_refused_or(const scan_text *in,
                                                   cpubind_text_status status)
{
    cpubind_piece line = {0, 0};

    if (status != CPUBIND_TEXT_ERR_SYNTAX && status != CPUBIND_TEXT_ERR_CUT &&
        status != CPUBIND_TEXT_ERR_MISSING)
        return status;
    if (cpubind_npusmi_find_refusal(in->text, in->len, &line) == CPUBIND_NPUSMI_NONE)
        return status;
    return scan_fail(in, CPUBIND_TEXT_ERR_REFUSED, line.at, "npu-smi refused to answer");
}
