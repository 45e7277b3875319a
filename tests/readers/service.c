/* service.c - the rows of the readers of rooms that stay: records, settings, requests, messages
 * SPDX-License-Identifier: MIT
 *
 * What each reader promises is in its header. A record is read as it is, and with the right sum
 * where its last line begins with "sum ", for no fuzzer finds a sum. An allocation that fails
 * fails the whole reading.
 */
#include <errno.h>
#include <stdio.h>

#include "../../adapters/api/settings.h"
#include "../../adapters/cli/kubelet_state.h"
#include "../../adapters/linux/bind/host_record.h"
#include "../../adapters/linux/bind/record.h"
#include "../../adapters/nri/nri_container.h"
#include "../../adapters/nri/nri_frames.h"
#include "../../adapters/service/ask.h"
#include "../../adapters/text/conf_reader.h"
#include "readers.h"

/* == Records ================================================================ */

static int n_call, n_parse; /* allocations so far, and those of the last reading */
static int fail_at;         /* number of the one that fails; 0: none */

static void *counted_malloc(size_t size)
{
    return ++n_call == fail_at ? NULL : malloc(size);
}

static void *counted_realloc(void *old, size_t size)
{
    return ++n_call == fail_at ? NULL : realloc(old, size);
}

static const cpubind_sys calls = {.malloc = counted_malloc, .realloc = counted_realloc};

static uint32_t sum_of(const char *text, int32_t len)
{
    uint32_t crc = 0xffffffffu;
    for (int32_t i = 0; i < len; i++) {
        crc ^= (unsigned char)text[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return ~crc;
}

/* The text with the right sum in its last line, or NULL. */
static char *sealed_copy(const reading *r, int32_t *len)
{
    char *text;
    int32_t start = r->len > 0 ? r->len - 1 : 0;
    while (start > 0 && r->text[start - 1] != '\n')
        start--;
    if (r->len - start < 4 || memcmp(r->text + start, "sum ", 4) != 0)
        return NULL;
    text = (char *)filled((size_t)start + 14, 0);
    memcpy(text, r->text, (size_t)start);
    (void)snprintf(text + start, 14, "sum %08lx\n", (unsigned long)sum_of(text, start));
    *len = start + 13;
    return text;
}

/* A record that is read and written is the same text, but for the version in its first line,
 * and so but for the sum. */
static void check_round(const char *text, int32_t len, cpubind_bytes *again)
{
    const char *a = memchr(text, '\n', (size_t)len);
    const char *b = memchr(again->data, '\n', (size_t)again->len);
    const int32_t n = len - (int32_t)(a - text) - (int32_t)strlen("sum 00000000\n");
    CHECK(a && b && text + len - a == again->data + again->len - b);
    CHECK(is_same(a, b, (size_t)n));
    cpubind_bytes_free(again);
}

/* Reads a record; one that is refused leaves an empty record. */
static cpubind_linux_fault parse_record(reading *r, const char *text, int32_t len,
                                        cpubind_record *record)
{
    cpubind_linux_fault why;
    memset(record, r->fill, sizeof *record);
    n_call = 0;
    why = cpubind_record_parse(text, len, &calls, record);
    n_parse = n_call;
    CHECK(!why.error || holds_only(record, sizeof *record, 0));
    return why;
}

static cpubind_linux_fault tell_record_text(reading *r, const char *text, int32_t len)
{
    cpubind_record record;
    cpubind_bytes again = {NULL, 0, 0};
    const cpubind_linux_fault why = parse_record(r, text, len, &record);
    if (why.error)
        return why;
    if (!fail_at) {
        CHECK(!cpubind_record_format(&record, &calls, &again).error);
        check_round(text, len, &again);
    }
    cpubind_record_free(&record);
    return why;
}

static cpubind_linux_fault tell_host_text(reading *r, const char *text, int32_t len)
{
    cpubind_shared_record host;
    cpubind_cpu_sets sets = {0};
    cpubind_bytes again = {NULL, 0, 0};
    cpubind_linux_fault why;
    memset(&host, r->fill, sizeof host);
    n_call = 0;
    why = cpubind_shared_parse(text, len, &calls, &sets, &host);
    n_parse = n_call;
    if (why.error) {
        CHECK(holds_only(&host, sizeof host, 0));
        cpubind_cpu_sets_free(&sets);
        return why;
    }
    for (int32_t i = 0; i < host.n_entry; i++) {
        CHECK(host.entry[i].n_user > 0 && host.entry[i].before < sets.n);
        CHECK(i == 0 || cpubind_shared_compare(&host.entry[i - 1], &host.entry[i]) < 0);
        CHECK(cpubind_shared_find(&host, &host.entry[i]) == i);
    }
    CHECK(!cpubind_shared_format(&host, &sets, &calls, &again).error);
    check_round(text, len, &again);
    cpubind_shared_free(&host);
    cpubind_cpu_sets_free(&sets);
    return why;
}

typedef cpubind_linux_fault tell_text(reading *r, const char *text, int32_t len);

/* Says what is read, or the line of the fault; and that one allocation may fail, which depends
 * on the text, for failing each takes too long. */
static void read_sealed(reading *r, const char *text, int32_t len, tell_text *read_it)
{
    cpubind_linux_fault why;
    fail_at = 0;
    why = read_it(r, text, len);
    CHECK(!why.error || (why.what && why.what[0] && why.error == EILSEQ));
    CHECK(!why.error || (why.line >= 1 && why.line <= len + 1));
    tell(r, why.error ? "line %d: %s\n" : "a record\n", why.line, why.what);
    if (n_parse > 0) {
        reading quiet = *r;
        quiet.said = (words){NULL, 0, 0};
        fail_at = 1 + (int)(sum_of(text, len) % (unsigned)n_parse);
        CHECK(read_it(&quiet, text, len).error == ENOMEM);
        free(quiet.said.text);
        fail_at = 0;
    }
}

static void read_both(reading *r, tell_text *read_it)
{
    int32_t len;
    char *sealed = sealed_copy(r, &len);
    read_sealed(r, r->text, r->len, read_it);
    if (sealed && (len != r->len || !is_same(sealed, r->text, (size_t)len))) {
        tell(r, "with the right sum:\n");
        read_sealed(r, sealed, len, read_it);
    }
    free(sealed);
}

static void read_record(reading *r)
{
    read_both(r, tell_record_text);
}

static void read_host_record(reading *r)
{
    read_both(r, tell_host_text);
}

/* == Settings =============================================================== */

/* A row, written again in the plainest form, is read as the same row. */
static void check_row(const reading *r, const cpubind_conf_row *row)
{
    const char *key = r->text + row->key.at, *value = r->text + row->value.at;
    const char *quote = memchr(value, '"', (size_t)row->value.len) ? "" : "\"";
    cpubind_conf_row again;
    words written = {NULL, 0, 0};
    int32_t at = 0;
    CHECK(row->key.len > 0 && row->value.len > 0);
    CHECK(row->key.at + row->key.len < row->value.at);
    add_words(&written, "%.*s = %s%.*s%s", row->key.len, key, quote, row->value.len, value,
              quote);
    CHECK(cpubind_conf_next(written.text, written.len, &at, &again, NULL) == CPUBIND_CONF_ROW);
    CHECK(at == written.len);
    CHECK(again.key.len == row->key.len && again.value.len == row->value.len);
    CHECK(is_same(written.text + again.key.at, key, (size_t)row->key.len));
    CHECK(is_same(written.text + again.value.at, value, (size_t)row->value.len));
    free(written.text);
}

static void read_conf(reading *r)
{
    cpubind_conf_row row;
    cpubind_conf_step step;
    int32_t at = 0;
    do {
        const int32_t before = at;
        cpubind_text_fault fault = {-7, NULL};
        memset(&row, r->fill, sizeof row);
        step = cpubind_conf_next(r->text, r->len, &at, &row, &fault);
        CHECK(at >= before && at <= r->len);
        CHECK(step == CPUBIND_CONF_END ? at == r->len : at > before);
        CHECK(step == CPUBIND_CONF_ROW || holds_only(&row, sizeof row, r->fill));
        CHECK(step == CPUBIND_CONF_FAULT || !fault.what);
        if (step == CPUBIND_CONF_ROW) {
            tell_slice(r, "", row.key);
            tell_slice(r, "=", row.value);
            tell(r, "\n");
            check_row(r, &row);
        } else if (step == CPUBIND_CONF_FAULT) {
            CHECK(fault.offset >= before && fault.offset <= at);
            tell_fault(r, CPUBIND_TEXT_ERR_SYNTAX, &fault, 0);
        }
    } while (step != CPUBIND_CONF_END);
}

static void hear(void *ctx, cpubind_position place, const char *text)
{
    reading *r = (reading *)ctx;
    const cpubind_position end = cpubind_text_place(r->text, r->len, r->len);
    CHECK(place.line >= 1 && place.column >= 1 && place.line <= end.line);
    CHECK(text && text[0] != '\0');
    tell(r, "%d:%d: %s\n", place.line, place.column, text);
}

/* The settings of the file, and what is said of its faults. */
static void read_settings(reading *r)
{
    static api_settings settings;
    const int32_t n = api_settings_parse(r->text, r->len, &settings, hear, r);
    tell(r, "%d faults\n", n);
    CHECK(settings.options.watch_ms >= 1000 && settings.options.watch_ms <= 3600000);
    for (int32_t i = 0; api_keys[i].name; i++) {
        CHECK(!settings.options.conf_value[i] || settings.place[i].line >= 1);
        if (settings.options.conf_value[i])
            tell(r, "%s is %s\n", api_keys[i].name, settings.options.conf_value[i]);
    }
    api_free_options(&settings.options);
}

/* == Requests to the service ================================================ */

/* What is read is written as the same bytes, and each beginning of it is cut. */
static void read_ask(reading *r)
{
    cpubind_asked asked;
    cpubind_text_fault fault = {-7, NULL};
    char line[CPUBIND_ASK_MAX];
    cpubind_text_status status;
    memset(&asked, r->fill, sizeof asked);
    status = cpubind_ask_parse(r->text, r->len, &asked, &fault);
    if (status != CPUBIND_TEXT_OK) {
        CHECK(is_refusal(status));
        CHECK(status != CPUBIND_TEXT_ERR_CUT ||
              (fault.offset == r->len && r->len < CPUBIND_ASK_MAX));
        CHECK(holds_only(&asked, sizeof asked, r->fill));
        tell_fault(r, status, &fault, 0);
        return;
    }
    CHECK(asked.ask < CPUBIND_ASK_COUNT && asked.pid >= 0 && r->len < CPUBIND_ASK_MAX);
    CHECK(cpubind_ask_format(&asked, line) == r->len && is_same(line, r->text, (size_t)r->len));
    tell(r, "%s pid %d start %llu", cpubind_ask_word(asked.ask), asked.pid,
         (unsigned long long)asked.start);
    for (int i = 0; i < CPUBIND_ASK_N_LIST; i++)
        tell(r, " \"%.*s\"", asked.list[i].len, asked.list[i].len ? asked.list[i].text : "");
    tell(r, "\n");
    for (int32_t n = 0; n < r->len; n++)
        CHECK(cpubind_ask_parse(r->text, n, &asked, NULL) == CPUBIND_TEXT_ERR_CUT);
}

/* == Messages of a container runtime ======================================== */

/* A message that is written in a frame is read again. */
static void check_framed(const cpubind_nri_message *m, const char *data)
{
    const size_t size = cpubind_nri_framed_size(m->len);
    char *framed = (char *)filled(size, 0);
    cpubind_nri_frame f;
    cpubind_nri_message again;
    cpubind_nri_write(CPUBIND_NRI_PLUGIN, m->stream, m->type, data, m->len, framed);
    CHECK(cpubind_nri_frame_parse(framed, (int32_t)size, &f, NULL) == CPUBIND_TEXT_OK);
    CHECK(f.connection == CPUBIND_NRI_PLUGIN && f.len <= CPUBIND_NRI_SENT_MAX);
    if ((size_t)f.at + (size_t)f.len == size) {
        CHECK(cpubind_nri_message_parse(framed + f.at, f.len, &again, NULL) == CPUBIND_TEXT_OK);
        CHECK(again.stream == m->stream && again.type == m->type && again.len == m->len);
        CHECK(is_same(framed + f.at + again.at, data, (size_t)m->len));
    }
    free(framed);
}

/* Reads a stream to its end, or to what is no message. */
static void tell_stream(reading *r, const char *text, int32_t len)
{
    cpubind_nri_message m = {.at = -7}, again;
    cpubind_text_fault fault = {-7, NULL};
    cpubind_text_status status;
    while ((status = cpubind_nri_message_parse(text, len, &m, &fault)) == CPUBIND_TEXT_OK) {
        CHECK(m.at == CPUBIND_NRI_MESSAGE_HEAD && m.len >= 0 && m.at + m.len <= len);
        CHECK(m.type == CPUBIND_NRI_REQUEST || m.type == CPUBIND_NRI_RESPONSE);
        CHECK(cpubind_nri_message_parse(text, m.at + m.len - 1, &again, NULL) ==
              CPUBIND_TEXT_ERR_CUT);
        tell(r, "message %d of stream %u, %d bytes\n", (int)m.type, (unsigned)m.stream, m.len);
        check_framed(&m, text + m.at);
        text += m.at + m.len;
        len -= m.at + m.len;
    }
    CHECK(is_refusal(status) && fault.what && fault.offset >= 0 && fault.offset <= len);
    CHECK(status != CPUBIND_TEXT_ERR_CUT || fault.offset == len);
    tell(r, "%s\n", cpubind_text_status_name(status));
}

/* Frames of a trunk, and the messages of the first connection, which are in their payloads. */
static void read_nri(reading *r)
{
    char *stream = (char *)filled((size_t)r->len, r->fill);
    cpubind_nri_frame f = {.at = -7}, none;
    cpubind_text_fault fault = {-7, NULL};
    int32_t at = 0, n = 0;
    cpubind_text_status status;
    while ((status = cpubind_nri_frame_parse(r->text + at, r->len - at, &f, &fault)) ==
           CPUBIND_TEXT_OK) {
        CHECK(f.at == CPUBIND_NRI_FRAME_HEAD && f.len >= 0 && f.at + f.len <= r->len - at);
        none = (cpubind_nri_frame){.at = -7};
        CHECK(cpubind_nri_frame_parse(r->text + at, f.at + f.len - 1, &none, NULL) ==
              CPUBIND_TEXT_ERR_CUT);
        CHECK(none.at == -7);
        tell(r, "frame of connection %u, %d bytes\n", (unsigned)f.connection, f.len);
        if (f.connection == CPUBIND_NRI_PLUGIN) {
            memcpy(stream + n, r->text + at + f.at, (size_t)f.len);
            n += f.len;
        }
        at += f.at + f.len;
    }
    CHECK(status == CPUBIND_TEXT_ERR_CUT || status == CPUBIND_TEXT_ERR_RANGE);
    tell_fault(r, status, &fault, at);
    tell_stream(r, stream, n);
    free(stream);
}

static void read_nri_stream(reading *r)
{
    tell_stream(r, r->text, r->len);
}

/* The request of a container. Its devices have the form of a request to the service, and the
 * path of its cgroup stays below its folder. */
static void read_nri_container(reading *r)
{
    Nri__CreateRequest *q =
        nri__create_request__unpack(NULL, (size_t)r->len, (const uint8_t *)r->text);
    char devices[CPUBIND_NRI_LIST_SIZE], path[CPUBIND_NRI_PATH_SIZE], line[CPUBIND_ASK_MAX];
    cpubind_asked asked = {.ask = CPUBIND_ASK_PLACE}, back;
    const char *what = NULL;
    if (q && q->container) {
        if (cpubind_nri_devices(q->container, devices, &what)) {
            const int32_t n = (int32_t)strlen(devices);
            int32_t len;
            asked.list[CPUBIND_ASK_DEVICES] = (cpubind_ask_text){devices, n};
            len = cpubind_ask_format(&asked, line);
            CHECK(len < CPUBIND_ASK_MAX);
            CHECK(cpubind_ask_parse(line, len, &back, NULL) == CPUBIND_TEXT_OK);
            CHECK(back.list[CPUBIND_ASK_DEVICES].len == n);
            tell(r, "devices \"%s\"\n", devices);
        } else {
            CHECK(what && *what);
            tell(r, "%s\n", what);
        }
        if (cpubind_nri_cgroup(q->pod, q->container, path)) {
            CHECK(path[0] == '/' && !strstr(path, "/../"));
            tell(r, "cgroup %s\n", path);
        }
        tell(r, "%s",
             tell_if(cpubind_nri_has_variable(q->container, "OMP_NUM_THREADS"),
                     "OMP_NUM_THREADS is set\n"));
    }
    if (q)
        nri__create_request__free_unpacked(q, NULL);
}

/* == Files of kubelet ======================================================= */

/* The arguments are the word of the file. */
static void read_kubelet(reading *r)
{
    static const char *const words_of[CLI_KUBELET_FILES] = {"cpus", "memory", "devices",
                                                            "claims"};
    api_text why = {"", 0};
    words_value *state;
    api_out said = {0};
    int file = 0;
    while (file < CLI_KUBELET_CLAIMS && strcmp(r->args, words_of[file]) != 0)
        file++;
    state = cli_kubelet_read((cli_kubelet_file)file, r->text, r->len, &why);
    CHECK((state != NULL) == (why.len == 0) && (!state || words_is(state, WORDS_OBJECT)));
    if (state)
        words_put(&said, state, WORDS_COMPACT);
    tell(r, "%s\n", state ? said.text : why.text);
    free(said.text);
    words_free(state);
}

static const reader rows[] = {
    {"record", read_record, "", NULL, "record", 2048},
    {"host_record", read_host_record, "", NULL, "host_record", 2048},
    {"conf", read_conf, "", NULL, "conf", 2048},
    {"settings", read_settings, "", "conf", "conf", 2048},
    {"ask", read_ask, "", NULL, "ask", 160},
    {"nri", read_nri, "", NULL, "nri", 1024},
    {"nri_stream", read_nri_stream, "", "nri", "nri", 1024},
    {"nri_container", read_nri_container, "", "nri", "nri", 1024},
    {"kubelet", read_kubelet, "cpus|memory|devices|claims", NULL, "kubelet", 1024},
};

READERS(rows)
