/* json.c - plans, problems and errors as JSON
 * SPDX-License-Identifier: MIT
 *
 * README.md documents the keys. New keys may be added; a key is never renamed or removed.
 */
#include <stdlib.h>
#include <string.h>

#include "../text/cpulist.h"
#include "output.h"

/* A list as the kernel prints it; null when it is empty. */
static json_t *list_json(const int32_t *list, int32_t n)
{
    json_t *value;
    char *text;
    int32_t len = 0;
    if (n == 0)
        return json_null();
    if (cpubind_cpulist_format(list, n, NULL, 0, &len) != CPUBIND_TEXT_ERR_SPACE)
        return NULL;
    text = (char *)malloc((size_t)len);
    if (!text)
        return NULL;
    value = cpubind_cpulist_format(list, n, text, len, &len) == CPUBIND_TEXT_OK
                ? json_stringn(text, (size_t)len)
                : NULL;
    free(text);
    return value;
}

json_t *cli_list_json(const int32_t *list, int32_t n)
{
    return list_json(list, n);
}

static json_t *id_json(int32_t id)
{
    return id < 0 ? json_null() : json_integer(id);
}

static json_t *nodes_json(const cpubind_facts *facts, const cli_row *row)
{
    json_t *value;
    int32_t *nodes = (int32_t *)malloc((size_t)facts->n_node * sizeof *nodes);
    if (!nodes)
        return NULL;
    value = list_json(nodes, cli_nodes_of(facts, row->cpu, row->n, nodes));
    free(nodes);
    return value;
}

static int set_number(json_t *object, const char *key, int32_t value)
{
    return json_object_set_new(object, key, json_integer(value)) == 0;
}

/* Adds the NPU, CPU, counts, input and place of a problem, where it has them. */
static int add_details(json_t *error, const cpubind_problem *p)
{
    cpubind_place place = cli_place(p);
    int good = 1;
    if (p->npu >= 0)
        good &= set_number(error, "npu", p->npu);
    if (p->other >= 0)
        good &= set_number(error, "other_npu", p->other);
    if (p->cpu >= 0)
        good &= set_number(error, "cpu", p->cpu);
    if (p->need > 0)
        good &= set_number(error, "need", p->need) && set_number(error, "have", p->have);
    if (p->uncut > 0)
        good &= set_number(error, "uncut", p->uncut);
    if (p->would_do != CPUBIND_SCOPE_AUTO)
        good &= json_object_set_new(error, "would_do",
                                    json_string(cpubind_scope_word(p->would_do))) == 0;
    if (p->input)
        good &= json_object_set_new(error, "input", json_string(p->input)) == 0;
    if (place.line > 0)
        good &=
            set_number(error, "line", place.line) && set_number(error, "column", place.column);
    return good;
}

/* {"code": ..., "text": ..., and details} */
static json_t *details_json(const cpubind_problem *problem, const char *text)
{
    json_t *error =
        json_pack("{s:s, s:s}", "code", cpubind_problem_word(problem->code), "text", text);
    if (error && add_details(error, problem))
        return error;
    json_decref(error);
    return NULL;
}

static json_t *pci_json(const cpubind_pci_address *pci)
{
    cli_text text = {"", 0};
    if (pci->domain < 0)
        return json_null();
    cli_add_pci(&text, pci);
    return json_string(text.text);
}

static json_t *running_json(const cpubind_facts *facts, const cpubind_npu *npu)
{
    return facts->has_processes ? json_boolean(npu->is_running) : json_null();
}

static json_t *npu_json(const cli_planned *p, const cli_options *options, int32_t i)
{
    const cpubind_facts *facts = &p->facts;
    cli_row row = cli_shown(facts, &p->plan, i);
    json_t *npu =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "npu", id_json(row.npu->logic), "card",
                  id_json(row.npu->card), "chip", id_json(row.npu->chip), "phy",
                  id_json(row.npu->phy), "pci", pci_json(&row.npu->pci), "running",
                  running_json(facts, row.npu), "pool", list_json(row.cpu, row.n));
    int good = npu != NULL;
    for (int32_t role = 0; role < CPUBIND_ROLE_COUNT; role++) {
        int32_t n;
        const int32_t *cpu = cli_role_of(&row, (cpubind_role)role, &n);
        good = good && json_object_set_new(npu, cpubind_role_word((cpubind_role)role),
                                           list_json(cpu, n)) == 0;
    }
    good = good && json_object_set_new(npu, "nodes", nodes_json(facts, &row)) == 0 &&
           json_object_set_new(npu, "memory_node", id_json(row.memory_node)) == 0 &&
           json_object_set_new(npu, "quality", cli_quality_json(row.figures, 1)) == 0;
    if (good && row.problem) {
        cli_text text = {"", 0};
        cli_explain_problem(row.problem, facts, options, &text);
        good = json_object_set_new(npu, "error", details_json(row.problem, text.text)) == 0;
    }
    if (good)
        return npu;
    json_decref(npu);
    return NULL;
}

json_t *cli_json_append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) == 0)
        return array;
    json_decref(array);
    return NULL;
}

static json_t *npus_json(const cli_planned *p, const cli_options *options)
{
    json_t *array = json_array();
    for (int32_t i = 0; array && i < cli_n_shown(&p->plan); i++)
        array = cli_json_append(array, npu_json(p, options, i));
    return array;
}

static json_t *visible_json(const cpubind_facts *facts, const cpubind_ascend_plan *plan)
{
    json_t *array = json_array();
    for (int32_t i = 0; array && i < cli_n_shown(plan); i++)
        array = cli_json_append(array, json_integer(cli_shown(facts, plan, i).npu->logic));
    return array;
}

/* Adds what only a plan with such an option has. */
static json_t *add_asked(json_t *json, const cpubind_request *q,
                         const cpubind_ascend_plan *plan)
{
    int good = json != NULL;
    if (good && q->exclude)
        good = json_object_set_new(json, "excluded", list_json(q->exclude, q->n_exclude)) == 0;
    if (good && (q->keep || q->keep_each > 0))
        good = json_object_set_new(json, "kept", list_json(plan->kept, plan->n_kept)) == 0;
    if (good && q->n_process > 1)
        good = set_number(json, "processes", q->n_process) &&
               set_number(json, "process", q->process);
    if (good)
        return json;
    json_decref(json);
    return NULL;
}

json_t *cli_plan_json(const cli_planned *p, const cli_options *options)
{
    const cpubind_facts *facts = &p->facts;
    const cpubind_ascend_plan *plan = &p->plan;
    json_t *json = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:o, s:o, s:i, s:i, s:i, s:o, s:o, s:o, s:o}",
        "cpubind", CPUBIND_VERSION, "device_type", cpubind_type_word(facts->type), "strategy",
        cli_strategy_word(plan->core.strategy), "rules", cpubind_rules_word(plan->rules),
        "scope", cpubind_scope_word(facts->scope), "facts", cpubind_origin_word(facts->origin),
        "overlap", cli_finding_word(plan->core.overlap), "rank", (int)options->request.rank,
        "rank_npu", id_json(cli_rank_npu(p, options)), "allowed",
        list_json(facts->cpu, facts->n_cpu), "total_npus", (int)plan->total, "hidden",
        (int)plan->n_hidden, "idle", (int)plan->n_idle, "visible_npus",
        visible_json(facts, plan), "npus", npus_json(p, options), "quality",
        cli_quality_json(cli_figures_of(plan), 0), "warnings", cli_warnings_json(p));
    return add_asked(json, &options->request, plan);
}

json_t *cli_problem_json(const cpubind_problem *problem, const char *text)
{
    return json_pack("{s:s, s:o}", "cpubind", CPUBIND_VERSION, "error",
                     details_json(problem, text));
}

json_t *cli_error_json(const char *code, const char *text)
{
    return json_pack("{s:s, s:{s:s, s:s}}", "cpubind", CPUBIND_VERSION, "error", "code", code,
                     "text", text);
}

json_t *cli_json_text(const char *text)
{
    char *plain = strdup(text);
    json_t *value;
    size_t left = plain ? strlen(plain) : 0;
    for (char *at = plain; left > 0;) {
        const int32_t n = cli_character(at, left);
        if (n == 0 && (unsigned char)*at >= 0x7f)
            *at = '?';
        at += n ? n : 1;
        left -= (size_t)(n ? n : 1);
    }
    value = plain ? json_string(plain) : NULL;
    free(plain);
    return value;
}

int cli_print_json(FILE *out, json_t *value)
{
    int done = value && json_dumpf(value, out, 0) == 0;
    json_decref(value);
    return done && fputc('\n', out) != EOF;
}

/* What has been done when an output cannot be written. */
static cli_text done;

void cli_note_done(const cli_text *text)
{
    done = *text;
}

int cli_finish(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "cpubind: the output could not be written%s%s\n", *done.text ? "; " : "",
            done.text);
    return status != CLI_DONE ? status : CLI_UNWRITTEN;
}

int cli_no_memory(void)
{
    if (ferror(stdout)) /* cli_finish says so */
        return CLI_DONE;
    fputs("cpubind: there is no memory left", stderr);
    fprintf(stderr, "%s%s\n", *done.text ? "; " : "", done.text);
    return CLI_UNREADABLE;
}

/* Appends the exit status that another command would have: that of run is 125. */
static void add_own_status(const cli_options *options, int status, cli_text *to)
{
    if (options->command == CLI_RUN && status < CLI_RUN_FAILED)
        cli_add(to, " (exit status %d of cpubind)", status);
}

int cli_refuse(const cli_options *options, const cli_planned *planned)
{
    cli_text text = {"", 0};
    cli_explain(planned, options, &text);
    add_own_status(options, (int)cpubind_problem_exit(planned->code), &text);
    if (!options->json)
        fprintf(stderr, "cpubind: %s\n", text.text);
    else if (!cli_print_json(stdout, cli_problem_json(&planned->problem, text.text)))
        return cli_no_memory();
    return (int)cpubind_problem_exit(planned->code);
}

int cli_fail(const cli_options *options, int status, const char *text)
{
    const char *code = status == CLI_REFUSED || status > CLI_RUN_FAILED ? "refused"
                       : status == CLI_USAGE                            ? "usage"
                       : status == CLI_UNWRITTEN                        ? "unwritten"
                                                                        : "unreadable";
    cli_text said = {"", 0};
    cli_add(&said, "%s", text);
    add_own_status(options, status, &said);
    text = said.text;
    if (!options->json)
        fprintf(stderr, "cpubind: %s\n", text);
    else if (!cli_print_json(stdout, cli_error_json(code, text)))
        return cli_no_memory();
    return status;
}
