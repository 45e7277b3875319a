/* fuzz_conf.c - fuzz target: read a configuration file, and the settings that it gives
 * SPDX-License-Identifier: MIT
 *
 * The grammar is in adapters/service/conf.c. A row, written again in the plainest form, is read
 * as the same row. The settings of a file without a fault, written again, are without a fault.
 */
#include "../fuzz.h"

#include "../../adapters/cli/settings.h"
#include "../../adapters/service/conf.h"

static void check_key(const char *text, cpubind_slice key)
{
    for (int32_t i = 0; i < key.len; i++) {
        const char c = text[key.at + i];
        CHECK((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-');
        CHECK(c != '-' || (i > 0 && i < key.len - 1 && text[key.at + i - 1] != '-'));
    }
}

/* Writes KEY = "VALUE", or without quotes where the value has one. */
static int32_t write_row(char *to, const char *text, const cpubind_conf_row *row)
{
    const char *quote = memchr(text + row->value.at, '"', (size_t)row->value.len) ? "" : "\"";
    return (int32_t)snprintf(to, (size_t)(row->key.len + row->value.len) + 8, "%.*s = %s%.*s%s",
                             (int)row->key.len, text + row->key.at, quote, (int)row->value.len,
                             text + row->value.at, quote);
}

static void check_row(const char *text, int32_t len, const cpubind_conf_row *row)
{
    const cpubind_slice *part[] = {&row->key, &row->value};
    cpubind_conf_row again;
    char *written = (char *)fuzz_filled((size_t)len + 16, 0);
    int32_t n, at = 0;
    for (int32_t i = 0; i < 2; i++)
        CHECK(part[i]->at >= 0 && part[i]->len > 0 && part[i]->at <= len - part[i]->len);
    CHECK(row->key.at + row->key.len < row->value.at);
    check_key(text, row->key);
    n = write_row(written, text, row);
    CHECK(cpubind_conf_next(written, n, &at, &again, NULL) == CPUBIND_CONF_ROW && at == n);
    CHECK(again.key.len == row->key.len && again.value.len == row->value.len);
    CHECK(fuzz_same(written + again.key.at, text + row->key.at, (size_t)row->key.len));
    CHECK(fuzz_same(written + again.value.at, text + row->value.at, (size_t)row->value.len));
    free(written);
}

/* Returns the number of lines that are no rows. */
static int32_t check_rows(const char *text, int32_t len)
{
    cpubind_conf_row row;
    cpubind_conf_step step;
    int32_t at = 0, before = 0, n = 0;
    do {
        cpubind_text_fault fault = {-7, NULL};
        memset(&row, FUZZ_FILL, sizeof row);
        step = cpubind_conf_next(text, len, &at, &row, &fault);
        CHECK(at >= before && at <= len);
        CHECK(step == CPUBIND_CONF_END ? at == len : at > before);
        CHECK(step == CPUBIND_CONF_ROW || fuzz_holds_only(&row, sizeof row, FUZZ_FILL));
        CHECK(step == CPUBIND_CONF_FAULT || (fault.offset == -7 && !fault.what));
        if (step == CPUBIND_CONF_ROW)
            check_row(text, len, &row);
        if (step == CPUBIND_CONF_FAULT) {
            fuzz_check_fault(&fault, len);
            CHECK(fault.offset >= before && fault.offset <= at);
            n++;
        }
        before = at;
    } while (step != CPUBIND_CONF_END);
    return n;
}

/* The faults that were said. */
typedef struct said {
    cpubind_place end; /* of the text */
    int32_t n;
} said;

static void hear(void *ctx, cpubind_place place, const char *text)
{
    said *s = (said *)ctx;
    CHECK(place.line >= 1 && place.column >= 1 && place.line <= s->end.line);
    CHECK(text && text[0] != '\0');
    s->n++;
}

static void check_text(const char *text, int32_t len)
{
    static cli_settings settings;
    const int32_t n_line = check_rows(text, len);
    said s = {cpubind_text_place(text, len, len), 0};
    const int32_t n = cli_settings_parse(text, len, &settings, hear, &s);
    CHECK(n == s.n && n >= n_line);
    CHECK(settings.options.watch_ms >= 1000 && settings.options.watch_ms <= 3600000);
    for (int32_t i = 0; cli_keys[i].name; i++)
        CHECK(!settings.value[i] || settings.place[i].line >= 1);
    cli_settings_free(&settings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
