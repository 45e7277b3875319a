/* fuzz_npusmi_info.c - fuzz target: parse the output of `npu-smi info`
 * SPDX-License-Identifier: MIT
 *
 * The promises of the reader are in adapters/ascend/npusmi.h.
 */
#include "../fuzz_npusmi.h"

/* extra: has_process_table, offset and length of version and of unknown. */
static cpubind_text_status read(const char *text, int32_t len, int32_t limit, fuzz_reading *r,
                                cpubind_text_fault *fault)
{
    cpubind_npusmi_info info;
    cpubind_text_status status;
    (void)limit;
    info.device = (cpubind_npusmi_device *)r->array[0].at;
    info.cap_device = r->array[0].cap;
    info.process = (cpubind_npusmi_process *)r->array[1].at;
    info.cap_process = r->array[1].cap;
    info.n_device = r->array[0].n;
    info.n_process = r->array[1].n;
    info.has_process_table = r->extra[0];
    info.version.at = r->extra[1];
    info.version.len = r->extra[2];
    info.unknown.at = r->extra[3];
    info.unknown.len = r->extra[4];
    status = cpubind_npusmi_parse_info(text, len, &info, fault);
    r->array[0].n = info.n_device;
    r->array[1].n = info.n_process;
    r->extra[0] = info.has_process_table;
    r->extra[1] = info.version.at;
    r->extra[2] = info.version.len;
    r->extra[3] = info.unknown.at;
    r->extra[4] = info.unknown.len;
    return status;
}

static void check_devices(const char *text, int32_t len, const cpubind_npusmi_device *device,
                          int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        CHECK(device[i].card >= 0 && device[i].chip >= -1);
        CHECK(device[i].logic >= -1 && device[i].phy >= -1);
        CHECK(device[i].logic == -1 || device[i].phy == -1);
        fuzz_check_name(text, len, device[i].name);
        fuzz_check_name(text, len, device[i].health);
        fuzz_check_pci(&device[i].pci);
        CHECK(i == 0 || device[i].health.at > device[i - 1].health.at);
        CHECK((device[i].chip < 0) == (device[0].chip < 0));
        for (int32_t k = 0; k < i && k < 64; k++)
            CHECK(device[i].card != device[k].card || device[i].chip != device[k].chip);
    }
}

static void check_processes(const char *text, int32_t len,
                            const cpubind_npusmi_process *process, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        CHECK(process[i].card >= 0 && process[i].chip >= -1);
        CHECK(process[i].pid >= -1 && process[i].container_pid >= -1);
        fuzz_check_name(text, len, process[i].name);
        CHECK(i == 0 || process[i].name.at > process[i - 1].name.at);
    }
}

/* The devices alone are those of both tables, where both can be read; of a text without a
 * process table that cannot be read there are none either. */
static void check_devices_alone(const char *text, int32_t len, const fuzz_reading *r)
{
    static cpubind_npusmi_device device[CPUBIND_MAX_DEVICES];
    cpubind_npusmi_info info;
    cpubind_text_fault fault;
    memset(&info, 0, sizeof info);
    info.device = device;
    info.cap_device = CPUBIND_MAX_DEVICES;
    if (cpubind_npusmi_parse_devices(text, len, &info, &fault) != CPUBIND_TEXT_OK) {
        CHECK(!r && fault.offset >= 0 && fault.offset <= len && fault.what);
        return;
    }
    CHECK(info.n_process == 0 && info.has_process_table == 0);
    CHECK(r ? info.n_device == r->array[0].n : info.n_device > 0);
    check_devices(text, len, device, info.n_device);
    CHECK(!r || info.n_device == 0 ||
          memcmp(device, r->array[0].at, (size_t)info.n_device * sizeof *device) == 0);
}

static void check_text(const char *text, int32_t len)
{
    const fuzz_reader reader = {
        read, 0, 2, {sizeof(cpubind_npusmi_device), sizeof(cpubind_npusmi_process)}};
    fuzz_reading r;
    if (fuzz_read(&reader, text, len, &r)) {
        const cpubind_slice version = {r.extra[1], r.extra[2]};
        const cpubind_slice unknown = {r.extra[3], r.extra[4]};
        check_devices(text, len, (const cpubind_npusmi_device *)r.array[0].at, r.array[0].n);
        check_processes(text, len, (const cpubind_npusmi_process *)r.array[1].at, r.array[1].n);
        CHECK(r.extra[0] == 0 || r.extra[0] == 1);
        CHECK(r.extra[0] == 1 || (r.array[1].n == 0 && r.array[0].n > 0));
        fuzz_check_name(text, len, version);
        fuzz_check_name(text, len, unknown);
        check_devices_alone(text, len, &r);
        fuzz_end(&r);
    } else if (len >= 0) {
        check_devices_alone(text, len, NULL);
    }
    CHECK(cpubind_npusmi_parse_info(text, len, NULL, NULL) == CPUBIND_TEXT_ERR_ARG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text_input(data, size, check_text);
}
