/* fuzz_nri.c - fuzz target: frames and messages of a runtime, and the containers that it names
 * SPDX-License-Identifier: MIT
 *
 * The input is a trunk, by the grammar of adapters/nri/nri_frames.h, and once more the request
 * of a container. A frame that is read lies in its text, needs all of it, and a message that is
 * written is read again; the devices of a container have the form of a request to the service;
 * the path of a cgroup stays below its folder.
 */
#include "../fuzz.h"

#include "../../adapters/nri/nri_container.h"
#include "../../adapters/nri/nri_frames.h"
#include "../../adapters/service/ask.h"

/* Reads a stream to its end, or to what is no message. */
static void check_stream(const char *text, int32_t len)
{
    cpubind_nri_message m = {.at = -7};
    cpubind_text_fault fault = {-7, NULL};
    int32_t at = 0;
    cpubind_text_status status;
    while ((status = cpubind_nri_message_parse(text + at, len - at, &m, &fault)) ==
           CPUBIND_TEXT_OK) {
        const size_t size = cpubind_nri_framed_size(m.len);
        char *framed = (char *)fuzz_filled(size, FUZZ_FILL);
        cpubind_nri_frame f;
        cpubind_nri_message again;
        CHECK(m.at == CPUBIND_NRI_MESSAGE_HEAD && m.len >= 0 && m.at + m.len <= len - at);
        CHECK(m.type == CPUBIND_NRI_REQUEST || m.type == CPUBIND_NRI_RESPONSE);
        CHECK(cpubind_nri_message_parse(text + at, m.at + m.len - 1, &again, NULL) ==
              CPUBIND_TEXT_ERR_CUT);
        cpubind_nri_write(CPUBIND_NRI_PLUGIN, m.stream, m.type, text + at + m.at, m.len,
                          framed);
        CHECK(cpubind_nri_frame_parse(framed, (int32_t)size, &f, NULL) == CPUBIND_TEXT_OK);
        CHECK(f.connection == CPUBIND_NRI_PLUGIN && f.len <= CPUBIND_NRI_SENT_MAX);
        if ((size_t)f.at + (size_t)f.len == size) {
            CHECK(cpubind_nri_message_parse(framed + f.at, f.len, &again, NULL) ==
                  CPUBIND_TEXT_OK);
            CHECK(again.stream == m.stream && again.type == m.type && again.len == m.len);
            CHECK(fuzz_same(framed + f.at + again.at, text + at + m.at, (size_t)m.len));
        }
        free(framed);
        at += m.at + m.len;
    }
    CHECK(status == CPUBIND_TEXT_ERR_CUT || status == CPUBIND_TEXT_ERR_RANGE ||
          status == CPUBIND_TEXT_ERR_SYNTAX);
    fuzz_check_fault(&fault, len - at);
    CHECK(status != CPUBIND_TEXT_ERR_CUT || fault.offset == len - at);
}

/* Joins the payloads of the first connection. */
static void check_trunk(const char *text, int32_t len)
{
    char *stream = (char *)fuzz_filled((size_t)len, FUZZ_FILL);
    cpubind_nri_frame f = {.at = -7};
    cpubind_text_fault fault = {-7, NULL};
    int32_t at = 0, n = 0;
    cpubind_text_status status;
    while ((status = cpubind_nri_frame_parse(text + at, len - at, &f, &fault)) ==
           CPUBIND_TEXT_OK) {
        cpubind_nri_frame none = {.at = -7};
        CHECK(f.at == CPUBIND_NRI_FRAME_HEAD && f.len >= 0 && f.at + f.len <= len - at);
        CHECK(cpubind_nri_frame_parse(text + at, f.at + f.len - 1, &none, NULL) ==
              CPUBIND_TEXT_ERR_CUT);
        CHECK(none.at == -7);
        if (f.connection == CPUBIND_NRI_PLUGIN) {
            memcpy(stream + n, text + at + f.at, (size_t)f.len);
            n += f.len;
        }
        at += f.at + f.len;
    }
    CHECK(status == CPUBIND_TEXT_ERR_CUT || status == CPUBIND_TEXT_ERR_RANGE);
    fuzz_check_fault(&fault, len - at);
    check_stream(stream, n);
    free(stream);
}

/* A request to the service with these devices is read as what it was made of. */
static void check_devices(const char *devices)
{
    char line[CPUBIND_ASK_MAX];
    cpubind_asked asked = {.ask = CPUBIND_ASK_PLACE}, read;
    int32_t len;
    asked.list[CPUBIND_ASK_DEVICES] = (cpubind_ask_text){devices, (int32_t)strlen(devices)};
    len = cpubind_ask_format(&asked, line);
    CHECK(len < CPUBIND_ASK_MAX);
    CHECK(cpubind_ask_parse(line, len, &read, NULL) == CPUBIND_TEXT_OK);
    CHECK(read.list[CPUBIND_ASK_DEVICES].len == (int32_t)strlen(devices));
}

static void check_container(const char *text, int32_t len)
{
    Nri__CreateRequest *q =
        nri__create_request__unpack(NULL, (size_t)len, (const uint8_t *)text);
    char devices[CPUBIND_NRI_LIST_SIZE], path[CPUBIND_NRI_PATH_SIZE];
    const char *what = NULL;
    if (q && q->container) {
        if (cpubind_nri_devices(q->container, devices, &what))
            check_devices(devices);
        else
            CHECK(what && *what);
        if (cpubind_nri_cgroup(q->pod, q->container, path))
            CHECK(path[0] == '/' && !strstr(path, "/../"));
        (void)cpubind_nri_has_variable(q->container, "OMP_NUM_THREADS");
    }
    if (q)
        nri__create_request__free_unpacked(q, NULL);
}

static void check(const char *text, int32_t len)
{
    check_trunk(text, len);
    check_stream(text, len);
    check_container(text, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check);
}
