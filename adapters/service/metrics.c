/* metrics.c - write the figures of the service for the Prometheus node exporter
 * SPDX-License-Identifier: MIT
 *
 * Counts nothing: the engine does. No value of another program is in the text but names of
 * Kubernetes, which have letters, digits, "-" and "." alone: nothing needs escapes.
 */
#define _GNU_SOURCE
#include "metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../cpubind.h"
#include "../linux/kernel/files.h"

typedef struct writer {
    const cpubind_sys *sys;
    cpubind_bytes *out;
    cpubind_linux_fault why;
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...)
{
    char line[256 + CPUBIND_POD_LABELS_SIZE];
    va_list args;
    int n;
    va_start(args, format);
    n = vsnprintf(line, sizeof line, format, args); /* NOLINT: va_start is above */
    va_end(args);
    if (!w->why.error)
        w->why = cpubind_bytes_add(w->out, w->sys, line, n);
}

static void put_head(writer *w, const char *name, const char *type, const char *help)
{
    put(w, "# HELP cpubind_%s %s\n# TYPE cpubind_%s %s\n", name, help, name, type);
}

static void put_one(writer *w, const char *name, const char *type, const char *help,
                    int64_t value)
{
    put_head(w, name, type, help);
    put(w, "cpubind_%s %lld\n", name, (long long)value);
}

#define MEMBER(name) offsetof(cpubind_service_device, name)

/* Metrics of each NPU or device, with up to three values of one label. */
static const struct {
    const char *name, *help, *device_help, *label;
    struct {
        const char *word;
        size_t member;
    } value[3];
} families[] = {
    {"threads",
     "Threads of workers, by whether they are where the plan puts them.",
     "Threads of workers, by whether they are where the plan puts them.",
     "place",
     {{"right", MEMBER(right)},
      {"elsewhere", MEMBER(elsewhere)},
      {"unbound", MEMBER(unbound)}}},
    {"memory_bytes",
     "Memory of workers, by whether it is on the node of their NPU.",
     "Memory of workers, by whether it is on the node of their device.",
     "place",
     {{"near", MEMBER(near_bytes)}, {"far", MEMBER(far_bytes)}, {NULL, 0}}},
    {"interrupts",
     "Interrupts of NPUs, by whether the planned CPU serves them.",
     NULL, /* cpubind binds none of other devices */
     "place",
     {{"right", MEMBER(irqs_right)}, {"elsewhere", MEMBER(irqs_elsewhere)}, {NULL, 0}}},
};

/* Puts the name of a metric and its first labels: npu="3", device="0000:c1:00.0", and those of
 * a pod. */
static void put_name(writer *w, const char *name, const cpubind_service_device *device)
{
    if (device->number < 0)
        put(w, "cpubind_%s{device=\"%s\"", name, *device->pci ? device->pci : "several");
    else
        put(w, "cpubind_%s{npu=\"%d\"", name, (int)device->number);
    if (*device->pod)
        put(w, ",%s", device->pod);
}

/* Puts the number of workers of each device with a logic id, or without. */
static void put_workers(writer *w, const cpubind_service_counts *c, int has_id,
                        const char *name, const char *help)
{
    put_head(w, name, "gauge", help);
    for (int32_t i = 0; i < c->n_device; i++) {
        if ((c->device[i].number >= 0) != has_id)
            continue;
        put_name(w, name, &c->device[i]);
        put(w, "} %d\n", (int)c->device[i].processes);
    }
}

static void put_families(writer *w, const cpubind_service_counts *c)
{
    for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
        const char *help = c->has_numbered ? families[f].help : families[f].device_help;
        if (!help)
            continue;
        put_head(w, families[f].name, "gauge", help);
        for (int32_t i = 0; i < c->n_device; i++)
            for (int v = 0; v < 3 && families[f].value[v].word; v++) {
                int64_t value;
                memcpy(&value, (const char *)&c->device[i] + families[f].value[v].member,
                       sizeof value);
                if (value < 0 || (!families[f].device_help && c->device[i].number < 0))
                    continue;
                put_name(w, families[f].name, &c->device[i]);
                put(w, ",%s=\"%s\"} %lld\n", families[f].label, families[f].value[v].word,
                    (long long)value);
            }
    }
    if (c->has_numbered)
        put_workers(w, c, 1, "npu_workers", "Processes that use an NPU.");
    if (c->has_others)
        put_workers(w, c, 0, "device_workers", "Processes that use a device.");
}

cpubind_linux_fault cpubind_metrics_format(const cpubind_service_counts *counts,
                                           const cpubind_sys *sys, cpubind_bytes *out)
{
    writer w = {sys, out, cpubind_no_fault};
    put_families(&w, counts);
    put_one(&w, "workers", "gauge",
            counts->has_others ? "Processes that use a device of this host."
                               : "Processes that use an NPU of this host.",
            counts->workers);
    put_one(&w, "all_left", "gauge", "Whether all workers are left alone, those to come too.",
            counts->is_all_left);
    put_one(&w, "moves_total", "counter", "Threads and interrupts that were moved.",
            counts->moves);
    put_one(&w, "errors_total", "counter", "Faults that the service has met.", counts->errors);
    put_one(&w, "reloads_total", "counter", "Times that the settings were read again.",
            counts->reloads);
    put_one(&w, "last_look_timestamp_seconds", "gauge",
            "When the service last looked at the workers.", counts->last_look);
    if (counts->measured_at) {
        put_one(&w, "measured_timestamp_seconds", "gauge",
                "When cpubind measure last had a result.", counts->measured_at);
        put_head(&w, "measured", "gauge", "The verdict of that measurement.");
        put(&w, "cpubind_measured{verdict=\"%s\"} 1\n", counts->measured);
    }
    put_head(&w, "build_info", "gauge", "The version of cpubind.");
    put(&w, "cpubind_build_info{version=\"" CPUBIND_VERSION "\"} 1\n");
    return w.why;
}

cpubind_linux_fault cpubind_metrics_write(const cpubind_service_counts *counts,
                                          const cpubind_sys *sys, const char *path)
{
    const char *base = strrchr(path, '/') + 1;
    const int32_t n = (int32_t)(base - path);
    cpubind_bytes text = {NULL, 0, 0};
    char folder[PATH_MAX];
    int fd;
    cpubind_linux_fault why;
    if (n >= (int32_t)sizeof folder)
        return cpubind_fault_of(ENAMETOOLONG, "folder");
    memcpy(folder, path, (size_t)n);
    folder[n] = '\0';
    why = cpubind_open(sys, AT_FDCWD, folder, O_PATH | O_DIRECTORY | O_CLOEXEC, &fd);
    if (why.error)
        return cpubind_fault_of(why.error, "folder");
    why = cpubind_metrics_format(counts, sys, &text);
    if (!why.error)
        why = cpubind_replace(sys, fd, base, 0644, text.data, text.len);
    (void)sys->close(fd);
    cpubind_bytes_free(&text);
    return why;
}
