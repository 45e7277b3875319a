/* answer.h - run cpubind with arguments, and check what it says, for tests
 * SPDX-License-Identifier: MIT
 */
#ifndef CPUBIND_TESTS_CLI_ANSWER_H
#define CPUBIND_TESTS_CLI_ANSWER_H

#include <jansson.h>

#include "../support/test.h"
#include "run_command.h"

static inline command_result run(const char *const *arguments)
{
    const char *words[COMMAND_WORDS] = {command_path()};
    size_t n = 1;
    while (*arguments)
        words[n++] = *arguments++;
    words[n] = NULL;
    return command_run(words);
}

#define RUN(...) run((const char *const[]){__VA_ARGS__, NULL})

static inline void expect_output(command_result r, const char *part)
{
    if (r.status != 0 || !strstr(r.out, part))
        fail_msg("status %d, stderr \"%s\", stdout \"%s\"; no \"%s\"", r.status, r.err, r.out,
                 part);
    command_free(&r);
}

static inline json_t *json_of(command_result r)
{
    json_t *value = json_loads(r.out, 0, NULL);
    if (!value)
        fail_msg("status %d, stderr \"%s\"", r.status, r.err);
    command_free(&r);
    return value;
}

static inline const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static inline json_t *npu_at(const json_t *plan, size_t i)
{
    return json_array_get(json_object_get(plan, "devices"), i);
}

#endif
