/* small_stack.c - calls all that reads of the library in a thread with 64 KiB of stack
 * SPDX-License-Identifier: MIT
 *
 *   small_stack CPU HOST...     folders of hosts; by the last one, a host of one NPU with the
 *                               CPUs of this machine, the process is bound, and put back
 *
 * A thread that needs more ends the process.
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cpubind_api.h"

static void read_plan(cpb_host *host, cpb_plan *plan)
{
    static const char *const formats[] = {"log", "map", "svg", "env", "slurm", "table"};
    const int32_t *devices = NULL;
    const int32_t n = cpb_plan_devices(plan, &devices);
    (void)cpb_plan_json(plan);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        cpb_text_free(cpb_plan_format(plan, formats[i], NULL));
    cpb_text_free(cpb_plan_explain(plan, "all", NULL));
    cpb_text_free(cpb_plan_explain(plan, "npu77", NULL));
    cpb_text_free(cpb_host_topo(host, NULL, NULL));
    for (int32_t i = 0; i < n; i++) {
        const int32_t *cpus;
        unsigned long mask[64];
        (void)cpb_plan_cpus(plan, devices[i], "main", &cpus);
        (void)cpb_plan_mask(plan, devices[i], "main", mask, sizeof mask);
    }
}

static int read_host(cpb_host *host)
{
    cpb_error *error = NULL;
    cpb_plan *plan = cpb_plan_make(host, NULL, &error);
    const int is_made = plan != NULL;
    if (plan)
        read_plan(host, plan);
    else
        (void)cpb_error_json(error);
    cpb_plan_free(plan);
    cpb_error_free(error);
    cpb_host_close(host);
    return is_made;
}

static int bind(const char *folder, const char *cpu)
{
    char allowed[32];
    const char *const options[] = {
        "npu=0", "scope=own", "rules=reference", "strategy=global_slice", "any-arch=yes",
        allowed, NULL};
    cpb_error *error = NULL;
    cpb_host *host = cpb_host_folder(folder, NULL);
    cpb_binding *binding;
    int is_bound = 0;
    snprintf(allowed, sizeof allowed, "allowed=%s", cpu);
    binding = host ? cpb_bind(host, (int32_t)getpid(), options, &error) : NULL;
    if (binding) {
        is_bound = cpb_binding_verify(binding, NULL) == 0 &&
                   cpb_binding_again(binding, NULL) == 0 && cpb_binding_json(binding) &&
                   cpb_binding_restore(binding, NULL) > 0;
    } else {
        fprintf(stderr, "%s\n", cpb_error_text(error));
    }
    cpb_binding_close(binding);
    cpb_error_free(error);
    cpb_host_close(host);
    return is_bound;
}

/* Returns NULL when plans were made and the process was bound. */
static void *work(void *ctx)
{
    char **folder = (char **)ctx + 1;
    cpb_host *live = cpb_host_live(0, NULL);
    int n = 0, is_bound = 0;
    if (live)
        (void)read_host(live);
    for (; *folder; folder++) {
        cpb_host *host = cpb_host_folder(*folder, NULL);
        n += host && read_host(host);
        if (!folder[1])
            is_bound = bind(*folder, *(char **)ctx);
    }
    return n > 0 && is_bound ? NULL : ctx;
}

int main(int argc, char **argv)
{
    pthread_attr_t attributes;
    pthread_t thread;
    void *bad = NULL;
    if (argc < 3 || pthread_attr_init(&attributes) != 0 ||
        pthread_attr_setstacksize(&attributes, 64 << 10) != 0 ||
        pthread_create(&thread, &attributes, work, argv + 1) != 0 ||
        pthread_join(thread, &bad) != 0)
        return 1;
    pthread_attr_destroy(&attributes);
    return bad != NULL;
}
