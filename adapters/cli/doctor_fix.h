/* doctor_fix.h - cpubind doctor --fix and --restore: make the safe changes, put them back
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_CLI_DOCTOR_FIX_H
#define CPUBIND_CLI_DOCTOR_FIX_H

#include "../words/value.h"

#include "../doctor/doctor.h"
#include "../linux/bind/mend.h"
#include "cli.h"

/* The safe changes of a report, and their results. All zero: --fix was not given. */
typedef struct cli_fixed {
    int is_asked, is_dry;
    cpubind_change *change; /* of all findings, in their order */
    int32_t *finding;       /* of each change: the place of its finding */
    int32_t n;
    cpubind_mend *mend;            /* NULL: nothing was tried */
    const cpubind_mend_item *item; /* NULL: nothing was tried */
    cpubind_linux_status status;
    cpubind_linux_fault fault;
} cli_fixed;

/* Makes the changes of a report, or with is_dry lists them. Returns the exit status: 0,
 * API_UNWRITTEN when a change was refused or the record could not be written. */
int cli_fix(const cpubind_doctor_report *report, int is_dry, cli_fixed *out);
void cli_free_fixed(cli_fixed *fixed);

/* Whether all changes of a finding are in effect, and there are some. */
int cli_is_fixed(const cli_fixed *fixed, int32_t finding);

/* The findings of n of which that is so. */
int32_t cli_count_fixed(const cli_fixed *fixed, int32_t n_finding);

/* The columns of a table of changes of cli_fixed_json; what became of each, as text. */
#define CLI_CHANGE_KEYS "check kind file? pid? tid? irq? before after result"
void cli_add_fixed_text(const cli_fixed *fixed, words_value *changes);

/* Says on stderr why nothing was changed, if so. */
void cli_warn_fixed(const cli_fixed *fixed);

/* {"record", "is_dry", "error", "changes"}; NULL without memory. */
words_value *cli_fixed_json(const cli_fixed *fixed, const cpubind_doctor_report *report);

/* cpubind doctor --restore. Returns the exit status. */
int cli_doctor_restore(const api_options *options);

#endif /* CPUBIND_CLI_DOCTOR_FIX_H */
