/* engine.h - inference engines: the processes that one has beside those that drive devices
 * SPDX-License-Identifier: MIT
 *
 * An engine core schedules the work of some devices: it spins, and each of its delays is a
 * pause of all of them. A server has one or more engine cores and, beside these, processes that
 * take requests and answer them.
 */
#ifndef CPUBIND_MODEL_ENGINE_H
#define CPUBIND_MODEL_ENGINE_H

#include <stdint.h>

/* One row for each engine: (name, word, cores of an engine core beside its workers, the name of
 * its process as the kernel keeps it or "", cores of a server: always, for each engine core,
 * for a coordinator of several engine cores; API servers where they are not said, 0: one for
 * each engine core; what the names that its processes take begin with). The word is also its
 * program, and the first part of its modules.
 *   vllm    API servers, an EngineCore for each data-parallel rank, a coordinator of several:
 *           docs/design/arch_overview.md, A + DP + N + (1 if DP > 1) with N workers
 *   sglang  the schedulers drive the devices themselves; the server, a detokenizer, a
 *           controller of several ranks: python/sglang/srt/entrypoints/engine.py,
 *           managers/data_parallel_controller.py
 *   dynamo  a frontend; each worker of components/src/dynamo/vllm is a process with the client
 *           of an EngineCore of vLLM */
#define CPUBIND_ENGINE_LIST(X)                                                                 \
    X(NONE, "none", 0, "", 0, 0, 0, 1, "")                                                     \
    X(VLLM, "vllm", 1, "VLLM::EngineCor*", 0, 0, 1, 0, "VLLM::")                               \
    X(SGLANG, "sglang", 0, "", 1, 0, 1, 1, "sglang::")                                         \
    X(DYNAMO, "dynamo", 1, "VLLM::EngineCor*", 0, 1, 0, 1, "VLLM::")                           \
    X(AUTO, "auto", 0, "", 0, 0, 0, 0, "") /* that of the workers that run: not known yet */

typedef enum cpubind_engine {
#define CPUBIND_X(name, word, core, core_name, base, each, coordinator, api, names)            \
    CPUBIND_ENGINE_##name,
    CPUBIND_ENGINE_LIST(CPUBIND_X)
#undef CPUBIND_X
        CPUBIND_ENGINE_COUNT
} cpubind_engine;

/* A row of the list. */
typedef struct cpubind_engine_kind {
    const char *word;
    int32_t core;          /* cores of each engine core; 0: its workers do its work */
    const char *core_name; /* a pattern for cpubind_pattern_make */
    int32_t base, each_core, coordinator; /* cores of a server, beside its API servers */
    int32_t n_api;                        /* API servers; 0: as many as engine cores */
    const char *names;                    /* what those of its processes begin with */
} cpubind_engine_kind;

/* What a plan is asked to have CPUs for. */
typedef struct cpubind_engine_request {
    int32_t engine; /* a cpubind_engine */
    int32_t tp;     /* devices of an engine core; 0: all that there are */
    int32_t dp;     /* engine cores of a server on this host; 0: 1 */
    int32_t n_api;  /* API servers of a server; 0: as the row says */
    /* The engine is to be that of the workers that run, and these have several, or one that
     * does not say its counts: the plan is for none, with a warning. */
    int32_t is_unclear;
} cpubind_engine_request;

/* Workers that drive no device. */
typedef struct cpubind_workers_asked {
    int32_t is_asked;
    int32_t n_worker;    /* 0: one for each node that has a free CPU */
    const int32_t *node; /* ids of the nodes whose CPUs count, ascending; NULL: all */
    int32_t n_node;
    int32_t reserve;      /* CPUs of each worker that are left free */
    int32_t reserve_host; /* CPUs that are left free once */
} cpubind_workers_asked;

/* The row of an engine. Static storage. */
const cpubind_engine_kind *cpubind_engine_of(int32_t engine);

/* The engine that a word of a command line is of: its program, with a folder or without, a
 * module, or a name that a process of it has taken. NONE: of none. */
int32_t cpubind_engine_named(const char *word, int32_t len);

/* How much of a word of a command line is an option that says a count: with its value, where
 * that is behind "="; 0: it is none. */
int32_t cpubind_engine_option(const char *word, int32_t len);

/* Reads what the command line of a process says of an engine, as /proc/PID/cmdline has it.
 *   out     *out: engine NONE: nothing. is_unclear: it is of that engine, and does not say how
 *           many devices that takes; else tp and dp are 1 or more
 *   cost    O(len) */
void cpubind_engine_read(const char *line, int32_t len, cpubind_engine_request *out);

#endif /* CPUBIND_MODEL_ENGINE_H */
