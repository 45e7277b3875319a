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
 * each engine core; names of the processes of a server).
 *   vllm    API servers, an EngineCore for each data-parallel rank, a coordinator of several:
 *           docs/design/arch_overview.md, A + DP + N + (1 if DP > 1) with N workers
 *   sglang  the schedulers drive the devices themselves; the server, a detokenizer, a
 *           controller of several ranks: python/sglang/srt/entrypoints/engine.py,
 *           managers/data_parallel_controller.py
 *   dynamo  a frontend; each worker of components/src/dynamo/vllm is a process with the client
 *           of an EngineCore of vLLM */
#define CPUBIND_ENGINE_LIST(X)                                                                 \
    X(NONE, "none", 0, "", 0, 0, 0, 1, "")                                                     \
    X(VLLM, "vllm", 1, "VLLM::EngineCor*", 0, 0, 1, 0, "VLLM::*")                              \
    X(SGLANG, "sglang", 0, "", 1, 0, 1, 1, "sglang::*")                                        \
    X(DYNAMO, "dynamo", 1, "VLLM::EngineCor*", 0, 1, 0, 1, "VLLM::*")

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
    const char *names;                    /* a pattern, of what is of the engine */
} cpubind_engine_kind;

/* What a plan is asked to have CPUs for. */
typedef struct cpubind_engine_request {
    int32_t engine; /* a cpubind_engine */
    int32_t tp;     /* devices of an engine core; 0: all that there are */
    int32_t dp;     /* engine cores of a server on this host; 0: 1 */
    int32_t n_api;  /* API servers of a server; 0: as the row says */
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

#endif /* CPUBIND_MODEL_ENGINE_H */
