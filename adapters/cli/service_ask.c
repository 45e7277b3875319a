/* service_ask.c - ask the service, and show its state
 * SPDX-License-Identifier: MIT
 *
 * The socket is that of the settings. No failure is said: a command that cannot ask works by
 * itself.
 */
#include "service_ask.h"

#include <time.h>

#include "service_engine.h"

json_t *cli_ask_service(const api_options *options, cpubind_ask ask)
{
    static cli_settings settings;
    cpubind_bytes answer = {NULL, 0, 0};
    json_t *json = NULL;
    const char *path;
    api_text why = {"", 0};
    if (options->root || options->fixture)
        return NULL;
    if (cli_settings_load(NULL, &settings, &path, NULL, NULL, &why) != API_DONE)
        settings.options.socket = CLI_SOCKET_PATH;
    if (settings.options.socket &&
        !cpubind_service_ask(&cpubind_sys_real, settings.options.socket, ask, &answer).error)
        json = json_loadb(answer.data, (size_t)answer.len, 0, NULL);
    cpubind_bytes_free(&answer);
    cli_settings_free(&settings);
    return json;
}

json_t *cli_service_json(const api_options *options)
{
    json_t *answer = cli_ask_service(options, CPUBIND_ASK_STATUS);
    json_t *service = json_object_get(answer, "service");
    service = json_is_object(service) ? json_incref(service) : json_null();
    json_decref(answer);
    return service;
}

void cli_print_service(FILE *out, const api_options *options)
{
    json_t *service = cli_service_json(options);
    const long long look = json_integer_value(json_object_get(service, "last_look"));
    const char *problem = json_string_value(json_object_get(service, "problem"));
    api_text text = {"", 0};
    api_add(&text, "the service (process %d) looked %lld s ago; %lld moved, %lld faults%s%s",
            (int)json_integer_value(json_object_get(service, "pid")),
            (long long)time(NULL) - look,
            (long long)json_integer_value(json_object_get(service, "moves")),
            (long long)json_integer_value(json_object_get(service, "errors")),
            problem ? "; " : "", problem ? problem : "");
    if (json_is_object(service))
        fprintf(out, "%s\n", text.text);
    json_decref(service);
}
