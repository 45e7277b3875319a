/* nri_place.c - where a container belongs: asks the service, and holds it to the grant
 * SPDX-License-Identifier: MIT
 */
#include "nri_place.h"

#include "../words/value.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../service/ask.h"
#include "../text/cpulist.h"

__attribute__((format(printf, 3, 4))) static void
fail(cpubind_nri_place *out, cpubind_nri_state state, const char *format, ...)
{
    va_list args;
    out->state = state;
    va_start(args, format);
    (void)vsnprintf(out->why, sizeof out->why, format, args); /* NOLINT: va_start is above */
    va_end(args);
}

/* == The grant ============================================================== */

/* Sets what the container may have. Returns 0 where that is not known. */
static int read_grant(const cpubind_nri_options *o, const Nri__Pod *pod,
                      const Nri__Container *container, const char *cpus, const char *mems,
                      cpubind_nri_place *out)
{
    const char *const given[] = {cpus, mems}, *const word[] = {"cpus", "mems"};
    char *const list[] = {out->granted_cpus, out->granted_mems};
    char cgroup[CPUBIND_NRI_PATH_SIZE];
    for (int i = 0; i < (o->keeps_mems ? 1 : 2); i++) {
        int error = 0;
        if (*given[i]) {
            if (strlen(given[i]) >= CPUBIND_NRI_LIST_SIZE)
                error = EFBIG;
            else
                memcpy(list[i], given[i], strlen(given[i]) + 1);
        } else if (!cpubind_nri_cgroup(pod, container, cgroup)) {
            error = ENAMETOOLONG;
        } else {
            error = cpubind_nri_read_effective(o->cgroups, cgroup, word[i], list[i]);
        }
        if (error) {
            fail(out, CPUBIND_NRI_REFUSED, "the %s that it may have are not known: %s", word[i],
                 strerror(error));
            return 0;
        }
    }
    return 1;
}

/* Whether each number of a list is in another one, which may be "": all. */
static int is_within(const char *list, const char *all)
{
    static int32_t inner[CPUBIND_MAX_CPUS], outer[CPUBIND_MAX_CPUS];
    cpubind_int_list a = {inner, CPUBIND_MAX_CPUS, 0}, b = {outer, CPUBIND_MAX_CPUS, 0};
    if (cpubind_cpulist_parse(list, (int32_t)strlen(list), CPUBIND_MAX_CPUS, &a, NULL) !=
            CPUBIND_TEXT_OK ||
        cpubind_cpulist_parse(all, (int32_t)strlen(all), CPUBIND_MAX_CPUS, &b, NULL) !=
            CPUBIND_TEXT_OK)
        return 0;
    return !*all || cpubind_list_common(inner, a.n, outer, b.n) == a.n;
}

/* == The service ============================================================ */

static void explain_silence(cpubind_linux_fault why, cpubind_nri_place *out)
{
    const char *text = why.error == ENOENT         ? "no service runs"
                       : why.error == ECONNREFUSED ? "the service has ended"
                       : why.error == ETIMEDOUT    ? "the service is at work or hangs"
                       : why.error == ENOMSG
                           ? "the service is of a version that gives no answer"
                           : NULL;
    if (text)
        fail(out, CPUBIND_NRI_SILENT, "%s", text);
    else
        fail(out, CPUBIND_NRI_SILENT, "the service was not asked: %s: %s", why.what,
             strerror(why.error));
}

/* Takes a list of an answer: a part of the grant, or nothing where it is all of that. */
static int take_list(const words_value *value, const char *granted, char *out)
{
    const char *text = words_string(value);
    *out = '\0';
    if (!text)
        return words_is(value, WORDS_NULL);
    if (strlen(text) >= CPUBIND_NRI_LIST_SIZE || !is_within(text, granted))
        return 0;
    if (strcmp(text, granted) != 0)
        memcpy(out, text, strlen(text) + 1);
    return 1;
}

static void take_answer(const cpubind_bytes *bytes, cpubind_nri_place *out)
{
    words_value *json = words_read(bytes->data, (size_t)bytes->len, NULL);
    const char *refusal = words_string(words_get(words_get(json, "error"), "text"));
    const int64_t n_device = words_integer_of(json, "devices");
    const int64_t omp = words_integer_of(json, "omp");
    if (refusal)
        fail(out, CPUBIND_NRI_REFUSED, "%s", refusal);
    else if (!words_is(words_get(json, "devices"), WORDS_NUMBER))
        fail(out, CPUBIND_NRI_REFUSED, "the answer of the service makes no sense");
    else if (n_device > 0 &&
             (!take_list(words_get(json, "cpus"), out->granted_cpus, out->cpus) ||
              !take_list(words_get(json, "mems"), out->granted_mems, out->mems)))
        fail(out, CPUBIND_NRI_REFUSED, "the service answers with more than it may have");
    else
        out->state = n_device > 0 ? CPUBIND_NRI_PLACED : CPUBIND_NRI_NO_DEVICE;
    out->omp = omp > 0 && omp <= CPUBIND_MAX_CPUS ? (int)omp : 0;
    words_free(json);
}

static cpubind_ask_text text_of(const char *list)
{
    return (cpubind_ask_text){list, (int32_t)strlen(list)};
}

void cpubind_nri_find_place(const cpubind_nri_options *options, const Nri__Pod *pod,
                            const Nri__Container *container, const char *cpus, const char *mems,
                            cpubind_nri_place *out)
{
    char devices[CPUBIND_NRI_LIST_SIZE];
    const char *what;
    cpubind_asking asking = {.asked = {.ask = CPUBIND_ASK_PLACE},
                             .path = options->service,
                             .limit_ms = CPUBIND_NRI_ASK_MS};
    cpubind_bytes answer = {NULL, 0, 0};
    cpubind_linux_fault why;
    char cgroup[CPUBIND_NRI_PATH_SIZE];
    const Nri__Resources *own = container->linux ? container->linux->resources : NULL;
    *out = (cpubind_nri_place){.state = CPUBIND_NRI_NO_DEVICE};
    if (!cpubind_nri_devices(container, devices, &what)) {
        fail(out, CPUBIND_NRI_REFUSED, "%s", what);
        return;
    }
    if (!*devices || !read_grant(options, pod, container, cpus, mems, out))
        return;
    if (!is_within(out->granted_cpus, "") || !is_within(out->granted_mems, "")) {
        fail(out, CPUBIND_NRI_REFUSED, "what it may have is no list of numbers");
        return;
    }
    asking.asked.list[CPUBIND_ASK_CPUS] = text_of(out->granted_cpus);
    asking.asked.list[CPUBIND_ASK_MEMS] = text_of(out->granted_mems);
    asking.asked.list[CPUBIND_ASK_DEVICES] = text_of(devices);
    why = cpubind_service_ask(&cpubind_sys_real, &asking, &answer);
    if (why.error)
        explain_silence(why, out);
    else
        take_answer(&answer, out);
    cpubind_bytes_free(&answer);
    out->omp = cpubind_nri_threads(options->cgroups,
                                   cpubind_nri_cgroup(pod, container, cgroup) ? cgroup : "",
                                   own ? own->cpu : NULL, out->omp);
}
