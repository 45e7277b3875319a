/* api_plans.c - plans hosts through the C ABI, in one thread or in many, and prints the plans
 * SPDX-License-Identifier: MIT
 *
 *   api_plans THREADS FOLDER...
 *
 * Prints for each host and each row of options the JSON of the plan, or of the error with its
 * numbers; and the CPUs, masks and figures of each device as the getters have them. With more
 * than one thread, all threads plan from the same open hosts, and each text is compared with
 * that of the first thread. Exit 1 when a text differs or a getter contradicts another one.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpubind_api.h"

static const char *const row_reference[] = {"rank=0", NULL};
static const char *const row_near[] = {"rules=near", NULL};
static const char *const row_few[] = {"allowed=0-3", "scope=own", NULL};
static const char *const row_bad[] = {"rules=far", NULL};
static const char *const row_last[] = {"rank=3", NULL};
static const char *const row_kept[] = {"rules=near", "keep=2", NULL};
static const char *const row_visible[] = {"visible=0,1", NULL};
static const char *const row_without[] = {"exclude=8-11", NULL};
static const char *const *const rows[] = {NULL,        row_reference, row_near, row_few,
                                          row_bad,     row_last,      row_kept, NULL,
                                          row_visible, row_without};
static const char *const roles[] = {"pool", "irq", "main", "acl", "release"};
static const char *const figures[] = {"near_percent", "far",      "irq_off_node",
                                      "split_caches", "nodes",    "split_cores",
                                      "idle",         "smallest", "largest"};
static const char *const numbers[] = {"npu",   "other_npu", "cpu",    "need",  "have",
                                      "uncut", "line",      "column", "errno", "exit"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct text {
    char *bytes;
    size_t len, size;
} text;

__attribute__((format(printf, 2, 3))) static void put(text *to, const char *format, ...)
{
    va_list values;
    int n;
    va_start(values, format);
    n = vsnprintf(NULL, 0, format, values);
    va_end(values);
    if (to->len + (size_t)n + 1 > to->size) {
        to->size = 2 * to->size + (size_t)n + 1;
        to->bytes = realloc(to->bytes, to->size);
        if (!to->bytes)
            abort();
    }
    va_start(values, format);
    vsnprintf(to->bytes + to->len, (size_t)n + 1, format, values);
    va_end(values);
    to->len += (size_t)n;
}

/* Whether bit c of the words of a mask is set, as the kernel of this machine reads it. */
static int has_bit(const unsigned long *mask, int32_t c)
{
    const int32_t bits = 8 * (int32_t)sizeof *mask;
    return (int)(mask[c / bits] >> (c % bits) & 1);
}

/* Appends the CPUs of a role. Returns 0 when its mask, or its row of the table, is another
 * one. */
static int put_role(text *to, const cpb_plan *plan, int32_t row, int32_t device,
                    const char *role)
{
    static const size_t room = 65536 / 8;
    const int32_t *cpu, *offset, *all;
    const int32_t n = cpb_plan_cpus(plan, device, role, &cpu);
    const int32_t n_row = cpb_plan_table(plan, role, &offset, &all);
    unsigned long *mask = malloc(room);
    int32_t n_set = 0, size;
    int same;
    if (!mask)
        abort();
    size = cpb_plan_mask(plan, device, role, mask, room);
    same = n >= 0 && size >= 0 && size % (int32_t)sizeof(long) == 0 && n_row > row &&
           offset[row + 1] - offset[row] == n;
    put(to, " %s", role);
    for (int32_t i = 0; i < n; i++) {
        put(to, ",%d", (int)cpu[i]);
        same = same && all[offset[row] + i] == cpu[i] && has_bit(mask, cpu[i]);
    }
    for (int32_t c = 0; c < 65536; c++)
        n_set += has_bit(mask, c);
    free(mask);
    return same && n_set == n;
}

static int put_plan(text *to, const cpb_plan *plan)
{
    const int32_t *device;
    const int32_t n = cpb_plan_devices(plan, &device);
    int good = 1;
    char *map;
    put(to, "%s\nrank %d\n", cpb_plan_json(plan), (int)cpb_plan_rank_device(plan));
    for (int32_t i = 0; i < n; i++) {
        put(to, "%d node %d", (int)device[i], (int)cpb_plan_memory_node(plan, device[i]));
        for (size_t r = 0; r < COUNT(roles); r++)
            good = put_role(to, plan, i, device[i], roles[r]) && good;
        for (size_t f = 0; f < COUNT(figures); f++)
            put(to, " %s %d", figures[f], (int)cpb_plan_quality(plan, device[i], figures[f]));
        put(to, "\n");
    }
    map = cpb_plan_format(plan, "map", NULL);
    put(to, "%s", map ? map : "no map\n");
    cpb_text_free(map);
    return good;
}

static void put_error(text *to, const cpb_error *error)
{
    put(to, "%s: %s\n%s\n", cpb_error_code(error), cpb_error_text(error),
        cpb_error_json(error));
    for (size_t i = 0; i < COUNT(numbers); i++)
        put(to, " %s %d", numbers[i], (int)cpb_error_number(error, numbers[i]));
    put(to, "\n");
}

/* Appends all plans of a host. */
static int put_host(text *to, cpb_host *host)
{
    int good = 1;
    for (size_t i = 0; i < COUNT(rows); i++) {
        cpb_error *error = NULL;
        cpb_plan *plan = cpb_plan_make(host, rows[i], &error);
        if (plan)
            good = put_plan(to, plan) && good;
        else
            put_error(to, error);
        cpb_error_free(error);
        cpb_plan_free(plan);
    }
    return good;
}

typedef struct job {
    cpb_host **host;
    int n_host;
    text said;
    int is_good;
} job;

static void *plan_all(void *argument)
{
    job *j = argument;
    j->is_good = 1;
    for (int i = 0; i < j->n_host; i++)
        j->is_good = put_host(&j->said, j->host[i]) && j->is_good;
    return NULL;
}

int main(int argc, char **argv)
{
    const int n_thread = argc > 2 ? (int)strtol(argv[1], NULL, 10) : 0;
    const int n_host = argc - 2;
    pthread_t *thread;
    cpb_host **host;
    job *jobs;
    int is_good = 1;
    if (n_thread < 1)
        return 2;
    thread = calloc((size_t)n_thread, sizeof *thread);
    host = calloc((size_t)n_host, sizeof(cpb_host *));
    jobs = calloc((size_t)n_thread, sizeof *jobs);
    if (!thread || !host || !jobs)
        return 2;
    for (int i = 0; i < n_host; i++) {
        cpb_error *error = NULL;
        host[i] = cpb_host_folder(argv[i + 2], &error);
        if (!host[i]) {
            fprintf(stderr, "%s\n", cpb_error_text(error));
            return 2;
        }
    }
    for (int i = 0; i < n_thread; i++) {
        jobs[i].host = host;
        jobs[i].n_host = n_host;
        if (pthread_create(&thread[i], NULL, plan_all, &jobs[i]) != 0)
            return 2;
    }
    for (int i = 0; i < n_thread; i++) {
        pthread_join(thread[i], NULL);
        is_good = is_good && jobs[i].is_good && jobs[i].said.len == jobs[0].said.len &&
                  memcmp(jobs[i].said.bytes, jobs[0].said.bytes, jobs[0].said.len) == 0;
    }
    fputs(jobs[0].said.bytes, stdout);
    for (int i = 0; i < n_thread; i++)
        free(jobs[i].said.bytes);
    for (int i = 0; i < n_host; i++)
        cpb_host_close(host[i]);
    free(jobs);
    free(host);
    free(thread);
    return is_good ? 0 : 1;
}
