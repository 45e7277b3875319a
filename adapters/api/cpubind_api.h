/* cpubind_api.h - the C ABI of libcpubind.so.1, on which other languages and plugins stand
 * SPDX-License-Identifier: MIT
 *
 *   cpb_error *error = NULL;
 *   cpb_host *host = cpb_host_live(0, &error);
 *   const char *options[] = {"npu=3", "rules=near", NULL};
 *   cpb_binding *b = host ? cpb_bind(host, 0, options, &error) : NULL;
 *   if (!b)
 *       fprintf(stderr, "%s\n", cpb_error_text(error));
 *
 * BORDER   No struct crosses it: handles are opaque, options and results are the words of the
 *     command, arrays are borrowed from a plan. A name is never removed and never changes what
 *     it means while the soname stays; cpb_abi() grows with each version that adds names.
 * OPTIONS  An array of texts "key=value" that ends with NULL, or NULL for none. A key is a long
 *     option of the command without its dashes: "scope=own", "allowed=0-31,64-95". A switch
 *     takes yes or no: "strict=yes". An unknown key or a bad value is the error "usage". What
 *     no option says, /etc/cpubind.conf of the host says, if it is there; a fault of it is one
 *     of the call that plans or binds.
 * ERRORS   A call that fails returns NULL or a negative number, and *error is a new object that
 *     the caller frees. *error is not touched by a call that succeeds. `error` may be NULL.
 * MEMORY   A host, a plan, a binding and an error belong to the caller, who frees each with the
 *     call of its kind; NULL is allowed there. What a getter returns belongs to the object, but
 *     for char *, which the caller frees with cpb_text_free.
 * THREADS  A plan and an error never change: any number of threads may read one at a time. A
 *     host locks itself: any number of threads may plan from one. A binding belongs to one
 *     thread at a time. Nothing is global: no state, no signal handler, no environment.
 * TEXTS    are UTF-8 and end with NUL. CPUs and devices are numbers from 0 on; a device is the
 *     logic id of an NPU, the number that a runtime in this container uses.
 */
#ifndef CPUBIND_API_H
#define CPUBIND_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CPB_API __attribute__((visibility("default")))
#else
#define CPB_API
#endif

/* The version of this interface: the highest number that a name below has in
 * cpubind_api.map. */
#define CPB_ABI 4

typedef struct cpb_host cpb_host;
typedef struct cpb_plan cpb_plan;
typedef struct cpb_binding cpb_binding;
typedef struct cpb_error cpb_error;

/* CPB_ABI of the library that is loaded, which may be newer than this header. */
CPB_API int32_t cpb_abi(void);

/* "0.2.0", the version of the library. */
CPB_API const char *cpb_version(void);

/* Frees a text that a call has returned. */
CPB_API void cpb_text_free(char *text);

/* == Errors ================================================================= */

/* The word of an error: "usage", "no_memory", a problem of a plan such as "too_few_cpus", or a
 * failed call such as "gone", "busy", "refused". Programs decide by it. */
CPB_API const char *cpb_error_code(const cpb_error *error);

/* The sentence that the command prints: what, where, why, and what to do. */
CPB_API const char *cpb_error_text(const cpb_error *error);

/* A number of an error: "device", "other_device" (also "npu", "other_npu"), "cpu", "need",
 * "have", "uncut", "line", "column", "errno", "exit" (the exit status that the command would
 * have). -1: it has no such number. */
CPB_API int32_t cpb_error_number(const cpb_error *error, const char *name);

/* The object that the command prints with --json. */
CPB_API const char *cpb_error_json(const cpb_error *error);

CPB_API void cpb_error_free(cpb_error *error);

/* == Hosts ================================================================== */

/* This host as process `pid` sees it; 0: as this process does.
 * errors  "gone", "unreadable", "no_memory" */
CPB_API cpb_host *cpb_host_live(int32_t pid, cpb_error **error);

/* A folder with the files of a host, or a file NAME.host, as `cpubind capture -o` writes it. */
CPB_API cpb_host *cpb_host_folder(const char *path, cpb_error **error);

/* A host without any input; cpb_host_put adds them. */
CPB_API cpb_host *cpb_host_empty(cpb_error **error);

/* Adds an input: a file by its path without the leading slash, such as "proc/self/status"; the
 * output of a command as cmd/NAME.txt, such as "cmd/npu-smi-info-m.txt". Names and contents are
 * those of the files of a capture, cmd/NAME.exit and cmd/NAME.txt.err too. A name that was put
 * before is replaced, with the exit code of that call. Plans that are made later have it.
 *   in      host: of cpb_host_empty; of another kind, since CPB_ABI 3, for "env" alone: lines
 *           NAME=value in place of the variables of the host, such as those that a launcher
 *           sets for its workers. The bytes are copied; exit_code: of a command, else 0
 *   returns 0, or -1 */
CPB_API int32_t cpb_host_put(cpb_host *host, const char *name, const void *bytes, size_t len,
                             int32_t exit_code, cpb_error **error);

/* The accelerators of a host, of any vendor: the JSON of `cpubind topo --json`. The caller
 * frees the text.
 *   options  "nics=yes", "pci=", "class="; since CPB_ABI 4 "choose=N"
 *   errors   "usage", "no_memory", "unreadable", "refused": the host has none
 *   since    CPB_ABI 2 */
CPB_API char *cpb_host_topo(cpb_host *host, const char *const *options, cpb_error **error);

/* Which device of its step a task of Slurm drives: a rank of the plans of a host whose "env"
 * has the variables of the step.
 *   in      env: lines NAME=value with SLURM_STEP_GPUS, the list of all devices of the step,
 *           and SLURMD_TRES_BIND; local: the number of the task on this node, its
 *           SLURM_LOCALID; own: SLURM_STEP_GPUS of the task itself, to be held against these;
 *           NULL: not known
 *   out     *n_process: tasks that share the device, 1 for none; *process: which of them this
 *           is, from 0
 *   returns the rank; -1: the task has no device, or several, or two variables differ
 *   errors  "refused", "no_memory"
 *   since   CPB_ABI 3 */
CPB_API int32_t cpb_slurm_rank(const char *env, int32_t local, const char *own,
                               int32_t *n_process, int32_t *process, cpb_error **error);

/* The CPUs near a device, ascending, as the kernel or the tool of its driver tells them,
 * whoever may use them. Writes the first `room` of them.
 *   in       device: a name such as "npu3" or "gpu0", or a PCI address, "0000:c1:00.0"; cpus:
 *            may be NULL where room is 0
 *   returns  how many there are; 0: not known; -1: an error
 *   errors   "usage", "no_memory", "unreadable", "refused": the host has no such device
 *   cost     reads the bus of the host at each call
 *   since    CPB_ABI 4 */
CPB_API int32_t cpb_near_cpus(cpb_host *host, const char *device, int32_t *cpus, int32_t room,
                              cpb_error **error);

/* The node of these CPUs, for memory policies and allocators of pinned memory; -1: an error, as
 * cpb_near_cpus, and "refused" where it is not known.
 *   since    CPB_ABI 4 */
CPB_API int32_t cpb_home_node(cpb_host *host, const char *device, cpb_error **error);

CPB_API void cpb_host_close(cpb_host *host);

/* == Plans ================================================================== */

/* The plan of the NPUs of a host; with "pci=" or "class=", and on a host that has other
 * accelerators and no npu-smi, that of the accelerators, where a device is a rank: its number
 * among those that the process sees. The plan keeps nothing of the host, which may be closed
 * before it.
 *   options  those of `cpubind plan` that say what is planned
 *   errors   "usage", "no_memory", and the problems of a plan
 *   cost     the inputs of a host, live ones too, are read and parsed once, by its first plan,
 *            and once more where other options need other facts; cpb_host_put forgets them.
 *            To see what has changed on a live host, open it again. Rank, overlap, kept CPUs
 *            and processes need no other facts: plans that differ in these alone are quick */
CPB_API cpb_plan *cpb_plan_make(cpb_host *host, const char *const *options, cpb_error **error);

CPB_API void cpb_plan_free(cpb_plan *plan);

/* The devices of the plan that have a pool, ascending; returns their number. */
CPB_API int32_t cpb_plan_devices(const cpb_plan *plan, const int32_t **devices);

/* The device that the rank of the options drives; -1 without a rank. */
CPB_API int32_t cpb_plan_rank_device(const cpb_plan *plan);

/* The CPUs of a device, ascending; returns their number. -1: no such device in the plan, or no
 * such word.
 *   in      role: "pool", "irq", "main", "acl" or "release"; since CPB_ABI 4 also "transfer",
 *           "near", the CPUs near the device, and "home", those of them that pools are cut
 *           from: what ranks of one node have in common, where they shall share it in place of
 *           a pool each */
CPB_API int32_t cpb_plan_cpus(const cpb_plan *plan, int32_t device, const char *role,
                              const int32_t **cpus);

/* The pools, or the CPUs of one role, of all devices at once: those of devices[i] are
 * cpus[row[i]] up to, not with, cpus[row[i + 1]]. Returns the number of devices; -1: no such
 * word. */
CPB_API int32_t cpb_plan_table(const cpb_plan *plan, const char *role, const int32_t **row,
                               const int32_t **cpus);

/* The CPUs as sched_setaffinity(2) takes them: an array of unsigned long. Writes at most `size`
 * bytes, and zeros after the last CPU.
 *   returns the bytes that the mask needs, a multiple of sizeof(long); -1 as cpb_plan_cpus */
CPB_API int32_t cpb_plan_mask(const cpb_plan *plan, int32_t device, const char *role,
                              void *bits, size_t size);

/* The node for the memory of a device; -1: none, or no such device. */
CPB_API int32_t cpb_plan_memory_node(const cpb_plan *plan, int32_t device);

/* A figure of a device, or of the whole plan where device is -1: "near_percent", "far",
 * "irq_off_node", "split_cores", "split_caches", "nodes", "idle", "smallest", "largest". -1:
 * not known, or no such word. */
CPB_API int32_t cpb_plan_quality(const cpb_plan *plan, int32_t device, const char *figure);

/* The JSON of `cpubind plan --json`, without a line feed at its end; made at the first call.
 * Without memory for it: the JSON of the error "no_memory". */
CPB_API const char *cpb_plan_json(const cpb_plan *plan);

/* The plan in a format of `cpubind plan --format`, such as "map", or "log": the lines that
 * operators search their logs for. The caller frees the text.
 *   errors  "usage", "no_memory" */
CPB_API char *cpb_plan_format(const cpb_plan *plan, const char *format, cpb_error **error);

/* The sentences of `cpubind plan --explain TARGET`, such as "cpu5", "npu3" or "device3". The
 * caller frees the text.
 *   errors  "usage", "no_memory"; "refused": the plan has no such target */
CPB_API char *cpb_plan_explain(const cpb_plan *plan, const char *target, cpb_error **error);

/* == Binding ================================================================ */

/* Binds a process to the CPUs of one device, as `cpubind apply` does: its threads, the
 * interrupts of its device, its memory.
 *   in       host: that the facts are read from, as with --root; NULL or a live one: this host,
 *            as the process sees it, unless an environment was put: then as the host has it
 *            pid: 0 for this process
 *   options  those of `cpubind apply`, with device=NAME, such as npu3, gpu0 or a PCI address,
 *            or with rank=N; "any-arch=yes" where the machine is not ARM
 *   returns  a binding, to be closed; what was changed stays changed then
 *   errors   as cpb_plan_make; "gone", "busy", "bound", "state", "damaged", "unwritten" (what
 *            was done is undone) */
CPB_API cpb_binding *cpb_bind(cpb_host *host, int32_t pid, const char *const *options,
                              cpb_error **error);

/* Opens a process that is bound, by its record, to verify or to restore it; also from another
 * process than the one that has bound it.
 *   options  none, for now */
CPB_API cpb_binding *cpb_binding_open(int32_t pid, const char *const *options,
                                      cpb_error **error);

/* The number of threads and interrupts that are not where they belong; -1: an error. */
CPB_API int32_t cpb_binding_verify(cpb_binding *binding, cpb_error **error);

/* Moves back what is not where it belongs, and binds new threads; returns how many threads and
 * interrupts it moved; -1: an error. A binding of cpb_bind alone. */
CPB_API int32_t cpb_binding_again(cpb_binding *binding, cpb_error **error);

/* Puts all back as it was before the process was bound; returns how many threads and
 * interrupts it moved; -1: an error. */
CPB_API int32_t cpb_binding_restore(cpb_binding *binding, cpb_error **error);

/* What the last call did, as the command prints it with --json; valid until the next call. */
CPB_API const char *cpb_binding_json(const cpb_binding *binding);

/* Forgets a binding; the process stays as it is. */
CPB_API void cpb_binding_close(cpb_binding *binding);

/* Binds the calling thread alone to the CPUs of a role, and nothing else; there is no record.
 *   returns 0; -1: an error, "usage" or "unwritten" */
CPB_API int32_t cpb_bind_thread(const cpb_plan *plan, int32_t device, const char *role,
                                cpb_error **error);

/* == A pool of accelerators and CPU workers ================================= */

/* The requests that all CPU workers together may have in flight, so that a request ends there
 * about as soon as on an accelerator: the rule of NVIDIA Dynamo. A ratio of 0 is 8. */
CPB_API int32_t cpb_cpu_budget(int32_t device_load, int32_t n_device, int32_t n_cpu_worker,
                               int32_t ratio);

/* Who serves the next request: "device", "cpu" or "nobody". */
CPB_API const char *cpb_next_pool(int32_t device_load, int32_t cpu_load, int32_t n_device,
                                  int32_t n_cpu_worker, int32_t ratio);

#ifdef __cplusplus
}
#endif

#endif /* CPUBIND_API_H */
