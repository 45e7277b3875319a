/* cmd_doctor.c - cpubind doctor: examine a host, print what is to be mended
 * SPDX-License-Identifier: MIT
 *
 * Changes nothing itself: --fix and --restore are those of doctor_fix.c. The checks and their
 * sentences are those of adapters/doctor.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../api/device_plan.h"
#include "../doctor/doctor.h"
#include "capture_doctor.h"
#include "doctor_fix.h"
#include "find_device.h"
#include "host_call.h"
#include "measure_result.h"
#include "output.h"
#include "service_ask.h"

/* == What is not known ====================================================== */

/* Whether a check could not be made since the host has no NPU. */
static int lacks_npus(const cpubind_doctor_unknown *u, const cli_examined *bus)
{
    return bus->is_alone && u->input && strncmp(u->input, "cmd/npu-smi", 11) == 0;
}

/* Whether a check could not be made since the snapshot does not say who uses devices. */
static int lacks_users(const cpubind_doctor_unknown *u, const cli_examined *bus)
{
    return bus->is_there && u->input && strcmp(u->input, "proc/*/fd") == 0;
}

/* Appends why a check could not be made. */
static void add_why(const cpubind_doctor_unknown *u, const cli_examined *bus, api_text *to)
{
    static const char *const why[] = {[CPUBIND_INPUT_ABSENT] = "is not there",
                                      [CPUBIND_INPUT_PRESENT] = "is damaged",
                                      [CPUBIND_INPUT_TIMEOUT] = "did not end in time",
                                      [CPUBIND_INPUT_TOO_LONG] = "is too long"};
    if (lacks_npus(u, bus) || lacks_users(u, bus)) {
        api_add(to, lacks_npus(u, bus)
                        ? "this host has no NPU"
                        : "this snapshot does not say who has files of devices open");
        return;
    }
    if (!u->input) {
        api_add(to, "there is no plan");
        return;
    }
    api_add_input(to, u->input);
    if (u->state == CPUBIND_INPUT_FAILED)
        api_add(to, " could not be read: %s", strerror(u->error));
    else
        api_add(to, " %s", why[u->state]);
}

/* == JSON =================================================================== */

static words_value *finding_json(const cpubind_doctor_finding *f)
{
    words_value *numbers = words_object();
    for (int i = 0; i < CPUBIND_DOCTOR_NUMBERS && f->number[i].key; i++)
        words_set(numbers, f->number[i].key, words_number((int64_t)f->number[i].value));
    return words_make(
        "check:s severity:s evidence:s input:s value:s device:w pci:s pid:v tid:v "
        "cpus:v numbers:v cost:s command:s mends:b safe_changes:i then:s",
        f->check->word, cpubind_severity_word(f->check->severity), f->evidence, f->input,
        f->value, f->device, f->pci && *f->pci ? f->pci : NULL, words_id(f->pid),
        words_id(f->tid), words_list(f->cpu, f->n_cpu), numbers, f->check->cost, f->command,
        !f->is_look, (int)f->n_change, f->check->then);
}

/* Appends that devices are without CPUs. */
static void add_poolless(const cli_examined *bus, api_text *to)
{
    api_add(to, "near %d of the %d devices this process may use no CPU", (int)bus->n_poolless,
            (int)bus->bus.facts.n_bus);
}

/* {"code", "text"} of the reason why there is no plan; null when there is one. */
static words_value *no_plan_json(const api_planned *planned, const cli_examined *bus,
                                 const api_options *options)
{
    api_text text = {"", 0};
    if (planned->code == CPUBIND_PROBLEM_NONE || (bus->is_alone && bus->n_poolless == 0))
        return words_null();
    if (bus->is_alone)
        add_poolless(bus, &text);
    else
        api_explain(planned, options, &text);
    return words_make(
        "code:s text:s",
        cpubind_problem_word(bus->is_alone ? CPUBIND_PROBLEM_NO_LOCAL_CPUS : planned->code),
        text.text);
}

/* The checks that found nothing and lacked nothing. */
static words_value *right_json(const cpubind_doctor_report *report)
{
    words_value *words = words_array();
    for (int32_t i = 0; i < report->n_check; i++) {
        const cpubind_doctor_check *check = cpubind_doctor_check_at(i);
        int is_right = 1;
        for (int32_t k = 0; k < report->n_finding; k++)
            is_right &= report->finding[k].check != check;
        for (int32_t k = 0; k < report->n_unknown; k++)
            is_right &= report->unknown[k].check != check;
        if (is_right)
            words_add(words, words_text(check->word));
    }
    return words;
}

static words_value *doctor_json(const cpubind_doctor_report *report, const api_planned *planned,
                                const cli_fixed *fixed, const cli_examined *bus,
                                const api_options *options)
{
    words_value *findings = words_array(), *unknown = words_array();
    for (int32_t i = 0; i < report->n_finding; i++)
        words_add(findings, finding_json(&report->finding[i]));
    for (int32_t i = 0; i < report->n_unknown; i++) {
        const cpubind_doctor_unknown *u = &report->unknown[i];
        api_text why = {"", 0};
        add_why(u, bus, &why);
        words_add(unknown,
                  words_make("check:s input:s why:s", u->check->word, u->input, why.text));
    }
    return words_make(
        "cpubind:s findings:v more:i unknown:v right:v no_plan:v fix:v measured:v",
        CPUBIND_VERSION, findings, (int)report->n_more, unknown, right_json(report),
        no_plan_json(planned, bus, options),
        fixed->is_asked ? cli_fixed_json(fixed, report) : words_null(),
        cli_last_measure_json(options));
}

/* == Text =================================================================== */

static const words_view text_view[] = {
    {WORDS_NOTE, "verdict", "{verdict}"},
    {WORDS_BLOCK, "findings", "fault found costs inspect! mend! then"},
    {WORDS_COUNTED, "fix.changes", CLI_CHANGE_KEYS},
    {WORDS_BLOCK, "notes", ""},
    {0}};

/* Adds what the text says of a finding: what was found, by which input, and one command, unless
 * --fix has done what it does. */
static void add_finding_text(words_value *row, const cpubind_doctor_finding *f, int is_fixed)
{
    api_text fault = {"", 0}, where = {"", 0};
    api_out found = {0};
    api_add(&fault, "%s: %s", f->check->word, cpubind_severity_word(f->check->severity));
    if (f->input && f->value) {
        api_add(&where, " (");
        api_add_input(&where, f->input);
        api_add_quote(&where, f->value, (int32_t)strlen(f->value));
        api_add(&where, ")");
    }
    api_put(&found, "%s%s", f->evidence, where.text);
    words_set(row, "fault", words_text(fault.text));
    words_set(row, "found", found.is_short ? NULL : words_text_of(found.text, found.len));
    free(found.text);
    words_set(row, "costs", words_text(f->check->cost));
    if (is_fixed)
        words_remove(row, "then");
    else
        words_set(row, f->is_look ? "inspect" : "mend", words_text(f->command));
}

/* "5 to mend: 3 severe, 2 moderate; 23 of 32 checks are right" */
static words_value *verdict_of(const cpubind_doctor_report *report, const cli_fixed *fixed,
                               int32_t n_right)
{
    api_text text = {"", 0};
    const char *between = ": ";
    const int32_t n_fixed = cli_count_fixed(fixed, report->n_finding);
    const int32_t n = report->n_finding + report->n_more - n_fixed;
    if (n_fixed > 0)
        api_add(&text, "%d mended, ", (int)n_fixed);
    if (n > 0)
        api_add(&text, "%d to mend", (int)n);
    else
        api_add(&text, "nothing to mend");
    for (int severity = 0; severity < CPUBIND_SEVERITY_COUNT; severity++) {
        int32_t n_such = 0;
        for (int32_t i = 0; i < report->n_finding; i++)
            n_such +=
                (int)report->finding[i].check->severity == severity && !cli_is_fixed(fixed, i);
        if (n_such == 0)
            continue;
        api_add(&text, "%s%d %s", between, (int)n_such,
                cpubind_severity_word((cpubind_severity)severity));
        between = ", ";
    }
    if (report->n_more > 0)
        api_add(&text, "%s%d more of the same checks", between, (int)report->n_more);
    api_add(&text, "; %d of %d checks are right", (int)n_right, (int)report->n_check);
    return words_text(text.text);
}

/* "not known: nic_interrupts (sys/class/net is not there), 2 checks (this host has no NPU)":
 * a reason that several checks share is said once. */
static void note_unknown(words_value *notes, const words_value *unknown)
{
    api_out text = {0};
    for (int32_t i = 0; i < words_count(unknown); i++) {
        const words_value *u = words_at(unknown, i), *why = words_get(u, "why");
        int32_t n = 0, n_before = 0;
        for (int32_t k = 0; k < words_count(unknown); k++)
            if (words_equal(words_get(words_at(unknown, k), "why"), why)) {
                n++;
                n_before += k < i;
            }
        if (n_before > 0)
            continue;
        api_put_text(&text, text.len > 0 ? ", " : "not known: ");
        if (n > 1)
            api_put(&text, "%d checks", (int)n);
        else
            api_put_text(&text, words_string_of(u, "check"));
        api_put(&text, " (%s)", words_string(why));
    }
    if (text.len > 0)
        words_add(notes, text.is_short ? NULL : words_text_of(text.text, text.len));
    free(text.text);
}

static words_value *notes_of(const cpubind_doctor_report *report, const cli_fixed *fixed,
                             const api_options *options)
{
    words_value *notes = words_array();
    api_text record = {"", 0}, workers = {"", 0};
    if (cli_count_fixed(fixed, report->n_finding) > 0) {
        api_add(&record, "on record in %s; put back with: cpubind doctor --restore",
                cpubind_mend_path(fixed->mend));
        words_add(notes, words_text(record.text));
    }
    if (report->n_worker > 0 && !options->root && !options->fixture) {
        api_add(&workers,
                "%d worker%s: cpubind status shows which are bound, cpubind apply --all binds "
                "them",
                (int)report->n_worker, report->n_worker == 1 ? "" : "s");
        words_add(notes, words_text(workers.text));
    }
    cli_note_service(notes, options);
    cli_note_last_measure(notes, options);
    return notes;
}

/* Adds what the text has beside the keys of the JSON. --quiet shows the findings alone. */
static void add_text(words_value *json, const cpubind_doctor_report *report,
                     const cli_fixed *fixed, const api_options *options)
{
    words_value *findings = words_get(json, "findings"), *notes;
    for (int32_t i = 0; i < report->n_finding; i++)
        add_finding_text(words_at(findings, i), &report->finding[i], cli_is_fixed(fixed, i));
    cli_add_fixed_text(fixed, words_get(words_get(json, "fix"), "changes"));
    if (options->quiet)
        return;
    notes = notes_of(report, fixed, options);
    note_unknown(notes, words_get(json, "unknown"));
    words_set(json, "notes", notes);
    words_set(json, "verdict",
              verdict_of(report, fixed, words_count(words_get(json, "right"))));
}

/* == The command ============================================================ */

/* How long the source takes to answer for npu-smi, which is asked here for the first time. */
static int32_t time_npu_smi(const cpubind_source *source)
{
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    (void)source->read(source->ctx, "cmd/npu-smi-info-m.txt");
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (int32_t)((end.tv_sec - start.tv_sec) * 1000 +
                     (end.tv_nsec - start.tv_nsec) / 1000000);
}

/* Prints the report. Returns the exit status: that of a host without a plan, unless there is
 * something to mend. */
static int print_report(const cpubind_doctor_report *report, const api_planned *planned,
                        const cli_fixed *fixed, const cli_examined *bus,
                        const api_options *options)
{
    words_value *json = doctor_json(report, planned, fixed, bus, options);
    if (!options->json)
        add_text(json, report, fixed, options);
    const int status = cli_print_report(options, text_view, json);
    if (status != API_DONE)
        return status;
    if (!options->json) {
        api_text why = {"", 0};
        cli_warn_fixed(fixed);
        if (bus->is_alone && bus->n_poolless > 0) {
            add_poolless(bus, &why);
            fprintf(stderr, "cpubind: %s\n", why.text);
        } else if (!bus->is_alone && planned->code != CPUBIND_PROBLEM_NONE) {
            api_explain(planned, options, &why);
            fprintf(stderr, "cpubind: %s%s\n",
                    planned->code == CPUBIND_PROBLEM_NO_NPU_SMI ? "" : "there is no plan: ",
                    why.text);
        }
    }
    if (report->n_finding > cli_count_fixed(fixed, report->n_finding) || report->n_more > 0)
        return API_REFUSED;
    return planned->code == CPUBIND_PROBLEM_NONE || bus->is_alone
               ? API_DONE
               : (int)cpubind_problem_exit(planned->code);
}

/* Examines the host, makes the safe changes if that is asked for, and prints. */
static int examine_host(api_host *host, api_options *options, int is_live)
{
    cli_fixed fixed = {0};
    static api_text why;
    int fix_status = API_DONE;
    static cli_examined examined;
    cpubind_arena arena = {NULL, 0, 0};
    cli_examination e = {.request = {.source = &host->source,
                                     .request = &options->request,
                                     .is_live = is_live,
                                     .npu_smi_ms = -1}};
    int status;
    options->request.wants_pci = 1;
    if (is_live &&
        cpubind_origin_asked(&host->source, &options->request) != CPUBIND_ORIGIN_DRIVER)
        e.request.npu_smi_ms = time_npu_smi(&host->source);
    status = cli_plan_examined(&host->source, options, &examined, &e.request, &why);
    if (why.len > 0 && api_npu_option(options)) {
        cli_free_examined(&examined);
        return cli_fail(options, status, why.text);
    }
    if (cli_examine(&e, &arena)) {
        if (options->is_fix)
            fix_status = cli_fix(&e.report, options->is_dry, &fixed);
        status = print_report(&e.report, &examined.planned, &fixed, &examined, options);
        status = fix_status ? fix_status : status;
    } else {
        status = cli_no_memory();
    }
    cli_free_fixed(&fixed);
    free(arena.base);
    cli_free_examined(&examined);
    return status;
}

/* Why the options do not go together; NULL: they do. */
static const char *find_wrong_options(const api_options *options)
{
    const int is_snapshot = options->root || options->fixture;
    if (options->is_fix && options->is_restoring)
        return "--fix and --restore exclude each other";
    if (options->is_dry && !options->is_fix)
        return "--dry-run needs --fix";
    if (is_snapshot && (options->is_restoring || (options->is_fix && !options->is_dry)))
        return "--fix and --restore change this host: --root and --fixture name another (with "
               "--dry-run, --fix says what it would change)";
    return NULL;
}

int cli_doctor(int argc, char **argv)
{
    static api_options options;
    static api_text why;
    static api_host host;
    int status = cli_start(argc, argv, API_DOCTOR, &options);
    int is_live;
    if (status >= 0)
        return status;
    if (find_wrong_options(&options))
        return cli_fail(&options, API_USAGE, find_wrong_options(&options));
    if (options.is_restoring)
        return cli_doctor_restore(&options);
    status = cli_open_host(&options, &host, &why);
    if (status == API_DONE)
        status = api_find_devices(&host.source, &options, &why);
    if (status == API_DONE)
        status = cli_find_engine(&options, &why);
    if (status != API_DONE) {
        api_close_host(&host);
        return cli_fail(&options, status, why.text);
    }
    is_live = !options.root && !options.fixture;
    if (is_live)
        cli_progress(&options, "cpubind: asking npu-smi, and looking at processes ...");
    status = examine_host(&host, &options, is_live);
    api_close_host(&host);
    return status;
}
