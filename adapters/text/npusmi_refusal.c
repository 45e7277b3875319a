/* npusmi_refusal.c - what npu-smi says instead of an answer
 * SPDX-License-Identifier: MIT
 *
 * Pure. A refusal is known by how its line starts; the exit code is not asked for.
 */
#include "npusmi_scan.h"

/*   refusal = one of these at the start of a line, then anything */
static const struct refusal_text {
    const char *start;
    int32_t len;
    cpubind_npusmi_refusal refusal;
} refusal_texts[] = {
#define REFUSAL(start, refusal)                                                                \
    {                                                                                          \
        (start), (int32_t)(sizeof(start) - 1), (refusal)                                       \
    }
    REFUSAL("There is no NPU card on this server", CPUBIND_NPUSMI_NO_NPU),
    REFUSAL("This device does not support", CPUBIND_NPUSMI_NOT_SUPPORTED),
    REFUSAL("This command cannot be executed on", CPUBIND_NPUSMI_VM),
    REFUSAL("dcmi module initialize failed", CPUBIND_NPUSMI_DRIVER),
    REFUSAL("dcmi model initialized failed", CPUBIND_NPUSMI_DRIVER),
    REFUSAL("npu get board type failed", CPUBIND_NPUSMI_DRIVER),
    REFUSAL("Failed to query ", CPUBIND_NPUSMI_QUERY),
    REFUSAL("Error parameter of", CPUBIND_NPUSMI_PARAMETER),
    REFUSAL("Invalid card id", CPUBIND_NPUSMI_PARAMETER),
#undef REFUSAL
};

cpubind_npusmi_refusal cpubind_npusmi_find_refusal(const char *text, int32_t len,
                                                   cpubind_slice *out_line)
{
    const scan_text in = {text, len, NULL};
    scan_line line = {{0, 0}, 0, 0};

    if (!scan_is_text(text, len))
        return CPUBIND_NPUSMI_NONE;
    while (scan_next_line(&in, &line)) {
        for (size_t i = 0; i < sizeof refusal_texts / sizeof refusal_texts[0]; i++) {
            const struct refusal_text *known = &refusal_texts[i];

            if (!scan_starts(&in, line.run, known->start, known->len))
                continue;
            if (out_line)
                *out_line = scan_slice(line.run);
            return known->refusal;
        }
    }
    return CPUBIND_NPUSMI_NONE;
}

/* A text that is no table may be a refusal: then that is what is wrong with it. */
cpubind_text_status cpubind_priv_npusmi_refused_or(const scan_text *in,
                                                   cpubind_text_status status)
{
    cpubind_slice line = {0, 0};

    if (status != CPUBIND_TEXT_ERR_SYNTAX && status != CPUBIND_TEXT_ERR_CUT &&
        status != CPUBIND_TEXT_ERR_MISSING)
        return status;
    if (cpubind_npusmi_find_refusal(in->text, in->len, &line) == CPUBIND_NPUSMI_NONE)
        return status;
    return scan_fail(in, CPUBIND_TEXT_ERR_REFUSED, line.at, "npu-smi refused to answer");
}
