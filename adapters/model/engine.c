/* engine.c - inference engines, and what a command line says of one
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc.
 */
#include "engine.h"

#include "../../cpubind.h"
#include "../text/cursor.h"
#include "../text/procfs.h"

const cpubind_engine_kind *cpubind_engine_of(int32_t engine)
{
#define CPUBIND_X(name, word, core, core_name, base, each, coordinator, api, names)            \
    {word, core, core_name, base, each, coordinator, api, names},
    static const cpubind_engine_kind kinds[] = {CPUBIND_ENGINE_LIST(CPUBIND_X)};
#undef CPUBIND_X
    return &kinds[engine > 0 && engine < CPUBIND_ENGINE_COUNT ? engine : CPUBIND_ENGINE_NONE];
}

static int is_process_of(cursor word, const cpubind_engine_kind *kind)
{
    return *kind->names && cursor_starts(&word, kind->names);
}

static int is_program_of(cursor word, const cpubind_engine_kind *kind)
{
    cursor program = word, rest = word;
    while (cursor_left(&rest))
        if (rest.text[rest.at++] == '/')
            program = rest;
    return cursor_is(program, kind->word) ||
           (cursor_takes(&word, kind->word) && cursor_starts(&word, "."));
}

int32_t cpubind_engine_named(const char *word, int32_t len)
{
    cursor_text of;
    const cursor c = cursor_open(&of, word, len, NULL, 1);
    int32_t engine = CPUBIND_ENGINE_NONE + 1;
    while (engine < CPUBIND_ENGINE_AUTO && !is_process_of(c, cpubind_engine_of(engine)) &&
           !is_program_of(c, cpubind_engine_of(engine)))
        engine++;
    return engine < CPUBIND_ENGINE_AUTO ? engine : CPUBIND_ENGINE_NONE;
}

/* == Counts on a command line =============================================== */

/* What an option of an engine says: a count, or that it is there. */
enum {
    TENSOR,  /* devices of an engine core are the product of these three, */
    STAGES,  /* of a pipeline, */
    CONTEXT, /* of a long prompt */
    DATA,    /* engine cores of all hosts */
    HERE,    /* those of this one */
    API,
    N_COUNT,
    ONE = N_COUNT, /* this server has one of the engine cores */
    WITHIN,        /* the engine cores share the devices of one */
    FILED,         /* the counts may be in a file */
    N_OPTION
};

/* Sources: vllm/engine/arg_utils.py and vllm/entrypoints/openai/cli_args.py; sglang
 * python/sglang/srt/server_args.py. The worker of Dynamo takes the options of vLLM. */
static const struct option {
    int32_t engine;
    int32_t says;
    const char *word[3];
} options[] = {
    {CPUBIND_ENGINE_VLLM, TENSOR, {"--tensor-parallel-size", "-tp"}},
    {CPUBIND_ENGINE_VLLM, STAGES, {"--pipeline-parallel-size", "-pp"}},
    {CPUBIND_ENGINE_VLLM, CONTEXT, {"--prefill-context-parallel-size", "-pcp"}},
    {CPUBIND_ENGINE_VLLM, DATA, {"--data-parallel-size", "-dp"}},
    {CPUBIND_ENGINE_VLLM, HERE, {"--data-parallel-size-local", "-dpl"}},
    {CPUBIND_ENGINE_VLLM, ONE, {"--data-parallel-rank", "-dpn"}},
    {CPUBIND_ENGINE_VLLM, API, {"--api-server-count", "-asc"}},
    {CPUBIND_ENGINE_VLLM, FILED, {"--config"}},
    {CPUBIND_ENGINE_SGLANG, TENSOR, {"--tensor-parallel-size", "--tp-size", "--tp"}},
    {CPUBIND_ENGINE_SGLANG, STAGES, {"--pipeline-parallel-size", "--pp-size", "--pp"}},
    {CPUBIND_ENGINE_SGLANG, DATA, {"--data-parallel-size", "--dp-size", "--dp"}},
    {CPUBIND_ENGINE_SGLANG, WITHIN, {"--enable-dp-attention"}},
    {CPUBIND_ENGINE_SGLANG, FILED, {"--config"}},
};

/* Whether a word is an option; vLLM takes "_" for "-". */
static int is_option(cursor word, const char *option)
{
    while (cursor_left(&word) && *option &&
           (word.text[word.at] == *option || (word.text[word.at] == '_' && *option == '-'))) {
        word.at++;
        option++;
    }
    return !cursor_left(&word) && !*option;
}

/* The option that a word is, of an engine or NONE: of any; NULL: none. *value is what is behind
 * "=". */
static const struct option *find_option(cursor word, int32_t engine, cursor *value)
{
    const cursor name = cursor_cut(&word, '=');
    const int32_t whose = engine == CPUBIND_ENGINE_DYNAMO ? CPUBIND_ENGINE_VLLM : engine;
    *value = word;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        for (int k = 0; k < 3 && options[i].word[k]; k++)
            if ((whose == CPUBIND_ENGINE_NONE || options[i].engine == whose) &&
                is_option(name, options[i].word[k]))
                return &options[i];
    return NULL;
}

int32_t cpubind_engine_option(const char *word, int32_t len)
{
    cursor_text of;
    const cursor c = cursor_open(&of, word, len, NULL, 1);
    cursor value, rest;
    if (!find_option(c, CPUBIND_ENGINE_NONE, &value))
        return 0;
    rest = value;
    (void)cursor_span(&rest, cursor_is_digit);
    return cursor_left(&rest) ? value.at - 1 : len;
}

/* Reads a word, and the value of an option, which is behind "=" or the next word. Returns 0 for
 * a value that is no count. */
static int read_word(cursor word, cursor *rest, int32_t engine, int32_t said[N_OPTION])
{
    cursor value;
    const struct option *option = find_option(word, engine, &value);
    int32_t count = 1;
    if (!option)
        return 1;
    if (option->says < N_COUNT) {
        if (!cursor_left(&value))
            value = cursor_cut(rest, '\0');
        if (cpubind_number_parse(value.text + value.at, cursor_len(&value), &count, NULL) !=
                CPUBIND_TEXT_OK ||
            count < 1 || count > CPUBIND_MAX_DEVICES)
            return 0;
    }
    said[option->says] = count;
    return 1;
}

void cpubind_engine_read(const char *line, int32_t len, cpubind_engine_request *out)
{
    cursor_text of;
    cursor c = cursor_open(&of, line, len, NULL, 1);
    int32_t said[N_OPTION] = {[TENSOR] = 1, [STAGES] = 1, [CONTEXT] = 1, [DATA] = 1};
    int64_t tp;
    memset(out, 0, sizeof *out);
    while (cursor_left(&c)) {
        const cursor word = cursor_cut(&c, '\0');
        if (out->engine != CPUBIND_ENGINE_NONE) {
            out->is_unclear |= !read_word(word, &c, out->engine, said);
            continue;
        }
        out->engine = cpubind_engine_named(word.text + word.at, cursor_len(&word));
        out->is_unclear = is_process_of(word, cpubind_engine_of(out->engine));
    }
    out->is_unclear |= said[FILED];
    if (out->engine == CPUBIND_ENGINE_NONE || out->is_unclear)
        return;
    tp = (int64_t)said[TENSOR] * said[STAGES] * said[CONTEXT];
    tp /= said[WITHIN] ? said[DATA] : 1;
    out->tp = tp < 1 ? 1 : tp > CPUBIND_MAX_DEVICES ? CPUBIND_MAX_DEVICES : (int32_t)tp;
    out->dp = said[ONE] ? 1 : said[HERE] ? said[HERE] : said[DATA];
    out->n_api = said[API];
}
