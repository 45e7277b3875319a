/* consumer_bind.c - a runtime that binds itself to one NPU, and undoes it
 * SPDX-License-Identifier: MIT
 *
 * Compiled against what `make install` put in place:
 *     cc -std=c11 consumer_bind.c -lcpubind_linux -lcpubind_ascend -lpthread
 *     ./a.out 3
 * Exits with 0 if it was bound and restored, with 1 if no plan is possible.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cpubind/linux/cpubind_linux.h>

#define ARENA ((size_t)8 << 20)

/* Reads this host, makes a plan, and from it the goal of this process. */
static int make_goal(const cpubind_source *source, const char *npu, cpubind_arena *arena,
                     cpubind_goal *goal)
{
    static cpubind_facts facts;
    static cpubind_device_plan plan;
    const int32_t id = (int32_t)strtol(npu, NULL, 10);
    const cpubind_request request = {.is_auto_strategy = 1,
                                     .device = &id,
                                     .n_device = 1,
                                     .visible = npu,
                                     .visible_len = (int32_t)strlen(npu),
                                     .wants_pci = 1};
    cpubind_problem problem;
    cpubind_problem_code code = cpubind_facts_read(source, &request, arena, &facts, &problem);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_plan_make(&facts, &request, arena, &plan, &problem);
    if (code == CPUBIND_PROBLEM_NONE)
        code = cpubind_goal_make(
            source,
            &(cpubind_goal_request){.facts = &facts, .plan = &plan, .row = plan.rank_row},
            arena, goal, &problem);
    if (code == CPUBIND_PROBLEM_NONE)
        return 1;
    printf("%s: %s\n", cpubind_problem_word(code), problem.what ? problem.what : "");
    return 0;
}

/* NULL: CPUs that are not known. */
static const char *text_or_none(const char *cpus)
{
    return cpus ? cpus : "-";
}

static void print_report(const cpubind_binding *binding)
{
    const cpubind_outcomes *report = cpubind_bind_report(binding);
    for (int32_t i = 0; i < report->n; i++)
        printf("%d %s: %s -> %s, %s\n", (int)report->item[i].id, report->item[i].name,
               text_or_none(report->item[i].was), text_or_none(report->item[i].should),
               cpubind_item_result_word(report->item[i].result));
}

static int bind_and_restore(const cpubind_goal *goal)
{
    const cpubind_bind_options how = {.pid = (int32_t)getpid(),
                                      .memory = CPUBIND_MEMORY_PREFER};
    cpubind_linux_fault fault = {.what = ""};
    cpubind_binding *binding = NULL;
    cpubind_linux_status status = cpubind_bind_open(&how, NULL, &binding, &fault);
    if (status == CPUBIND_LINUX_OK)
        status = cpubind_bind_apply(binding, goal, &fault);
    if (status == CPUBIND_LINUX_OK) {
        print_report(binding);
        status = cpubind_bind_restore(binding, &fault);
    }
    cpubind_bind_close(binding);
    if (status == CPUBIND_LINUX_OK)
        return 1;
    printf("%s: %s: %s\n", cpubind_linux_status_text(status), fault.what,
           strerror(fault.error));
    return 0;
}

int main(int argc, char **argv)
{
    cpubind_linux_host *host = NULL;
    cpubind_arena arena = {malloc(ARENA), ARENA, 0};
    cpubind_goal goal;
    int good = argc == 2 && arena.base &&
               cpubind_linux_open_live(NULL, &host, NULL) == CPUBIND_LINUX_OK;
    if (good) {
        const cpubind_source source = cpubind_linux_source(host);
        good = make_goal(&source, argv[1], &arena, &goal) && bind_and_restore(&goal);
    }
    cpubind_linux_close(host);
    free(arena.base);
    return good ? 0 : 1;
}
