/* consumer_corpus.c - a program of another project that plans a host of a corpus
 * SPDX-License-Identifier: MIT
 *
 *   cc consumer_corpus.c -lcpubind_corpus -lcpubind_ascend -lsqlite3 -lmd
 *   ./a.out FIXTURES_DB HOST
 *
 * Prints the pool of each NPU of a host. The same code plans a live host: only the source
 * differs.
 */
#include <cpubind/plan/plan.h>
#include <cpubind/sqlite/corpus.h>
#include <stdio.h>
#include <stdlib.h>

#define ARENA ((size_t)16 << 20)

static int plan(const cpubind_source *source, cpubind_arena *arena)
{
    cpubind_request request = {.is_auto_strategy = 1};
    cpubind_facts facts;
    cpubind_problem problem;
    cpubind_device_plan made;
    cpubind_problem_code code = cpubind_facts_read(source, &request, arena, &facts, &problem);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_plan_make(&facts, &request, arena, &made, &problem);
    if (code != CPUBIND_PROBLEM_NONE) {
        printf("%s\n", cpubind_problem_word(code));
        return 1;
    }
    for (int32_t i = 0; i < made.n_want; i++) {
        const int32_t *pool = made.core.cpu + made.core.row[i];
        const int32_t n = made.core.row[i + 1] - made.core.row[i];
        printf("NPU %d: %d CPUs, %d to %d\n", (int)facts.device[made.want[i]]->logic, (int)n,
               (int)pool[0], (int)pool[n - 1]);
    }
    return 0;
}

static int failed(cpubind_corpus_fault fault)
{
    fprintf(stderr, "%s: %s\n", cpubind_corpus_status_text(fault.status), fault.what);
    return 3;
}

static int plan_host(cpubind_corpus *corpus, const char *name)
{
    cpubind_corpus_host *host = NULL;
    cpubind_arena arena = {malloc(ARENA), ARENA, 0};
    int status = 1;
    cpubind_corpus_fault fault = cpubind_corpus_open_host(corpus, name, &host);
    if (fault.status) {
        status = failed(fault);
    } else if (arena.base) {
        cpubind_source source = cpubind_corpus_source(host);
        status = plan(&source, &arena);
    }
    cpubind_corpus_close_host(host);
    free(arena.base);
    return status;
}

int main(int argc, char **argv)
{
    static char bytes[64 << 20];
    cpubind_corpus *corpus = NULL;
    cpubind_corpus_fault fault;
    int status;
    FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
    if (!file)
        return 2;
    fault =
        cpubind_corpus_open(bytes, (int32_t)fread(bytes, 1, sizeof bytes, file), 0, &corpus);
    fclose(file);
    status = fault.status ? failed(fault) : plan_host(corpus, argv[2]);
    cpubind_corpus_close(corpus);
    return status;
}
