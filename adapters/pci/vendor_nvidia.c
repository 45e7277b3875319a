/* vendor_nvidia.c - the row of NVIDIA
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc. SOURCES: the NVIDIA driver's README
 * (/proc/driver/nvidia, "nvidia-uvm"; cuInit fails without it, and nvidia-smi and
 * nvidia-persistenced do without: open-gpu-kernel-modules, issue 689); nv-caps.c there, and
 * /proc/driver/nvidia-caps/mig-minors (the numbers of /dev/nvidia-caps: gpu3/gi3/ci3/access is
 * 439); CUDA's programming guide (CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER).
 */
#include "../model/facts_reader.h"
#include "../text/cursor.h"
#include "visible_devices.h"

#define DRIVER_FOLDER "proc/driver/nvidia/gpus"
#define CAPABILITIES  "proc/driver/nvidia/capabilities"

/* The device files of MIG instances: the first number, and how many each GPU has: of 15
 * instances, and 8 parts of each. */
enum { CAP_FIRST = 3, CAPS_OF_GPU = 15 * (1 + 8) };

static const cpubind_vendor_product products[] = {
    {{0x15f7, 0x15f8}, 0, "P100 PCIe", 1},
    {{0x15f9}, 0, "P100 SXM2", 1},
    {{0x1b38}, 0, "P40", 1},
    {{0x1db1, 0x1db5}, 0, "V100 SXM2", 1},
    {{0x1db4, 0x1db6}, 0, "V100 PCIe", 1},
    {{0x1db8}, 0, "V100 SXM3", 1},
    {{0x1df6}, 0, "V100S PCIe", 1},
    {{0x1eb8}, 0, "T4", 1},
    {{0x20b0, 0x20b2}, 0, "A100 SXM4", 1},
    {{0x20b1, 0x20b5, 0x20f1}, 0, "A100 PCIe", 1},
    {{0x20b7}, 0, "A30", 1},
    {{0x20f3}, 0, "A800 SXM4", 1},
    {{0x20f5}, 0, "A800 PCIe", 1},
    {{0x2235}, 0, "A40", 1},
    {{0x2236}, 0, "A10", 1},
    {{0x25b6}, 0, "A2 / A16", 1},
    {{0x2322}, 0, "H800 PCIe", 1},
    {{0x2324}, 0, "H800", 1},
    {{0x2329}, 0, "H20", 1},
    {{0x2330}, 0, "H100 SXM5", 1},
    {{0x2331}, 0, "H100 PCIe", 1},
    {{0x2335}, 0, "H200 SXM", 1},
    {{0x2342}, 0, "GH200", 1},
    {{0x26b5}, 0, "L40", 1},
    {{0x26b9}, 0, "L40S", 1},
    {{0x26ba}, 0, "L20", 1},
    {{0x27b8}, 0, "L4", 1},
    {{0x2901}, 0, "B200", 1},
    {{0x2941}, 0, "GB200", 1},
    {{0}, CPUBIND_CLASS_3D, NULL, 1},
    {{0}, CPUBIND_CLASS_VGA, NULL, 1},
};

/* == What the driver tells ================================================== */

/* Takes the value of a line "KEY value" of a file of the NVIDIA driver, which adds lines with
 * each release. An empty one counts as none. */
static cpubind_problem_code take_value(facts_reader *r, const char *name, cpubind_input answer,
                                       const char *key, const char **out, int32_t *out_len)
{
    cursor_text of;
    cursor all = cursor_open(&of, answer.data, answer.len, NULL, 1), value;
    if (!cursor_find(&all, key, &value))
        return CPUBIND_PROBLEM_NONE;
    value = cursor_trim(value);
    for (int32_t at = value.at; at < value.end; at++)
        if ((unsigned char)value.text[at] < ' ')
            return facts_fail_input(r, name, answer, at, "a value holds a control character");
    *out = cursor_left(&value) ? value.text + value.at : *out;
    *out_len = cursor_left(&value) ? cursor_len(&value) : *out_len;
    return CPUBIND_PROBLEM_NONE;
}

/* Takes the number that a key has; -1: the key is not there. */
static cpubind_problem_code take_number(facts_reader *r, const char *name, cpubind_input answer,
                                        const char *key, int32_t *out)
{
    const char *text = NULL;
    int32_t len = 0;
    cpubind_text_fault fault;
    const cpubind_problem_code code = take_value(r, name, answer, key, &text, &len);
    *out = -1;
    if (code == CPUBIND_PROBLEM_NONE && text &&
        cpubind_number_parse(text, len, out, &fault) != CPUBIND_TEXT_OK)
        return facts_fail_input(r, name, answer, (int32_t)(text - answer.data) + fault.offset,
                                fault.what);
    return code;
}

/* Reads numa_status, which the driver has where the memory of a GPU is a node. */
static cpubind_problem_code read_memory_node(facts_reader *r, cpubind_host_device *function,
                                             const char *address)
{
    const char *name = facts_named_path(r, DRIVER_FOLDER, address, "numa_status");
    cpubind_input answer;
    const cpubind_problem_code code = facts_ask(r, name, &answer);
    return code == CPUBIND_PROBLEM_NONE && facts_is_present(answer)
               ? take_number(r, name, answer, "Node:", &function->memory_node)
               : code;
}

/* Finds out whether a GPU has MIG instances: these are parts of it, and a process may have some
 * of them alone. The driver lists them ("gi1"); a container has device files of its own ones,
 * whose numbers the driver counts through: of each GPU those of its instances. */
static cpubind_problem_code read_instances(facts_reader *r, cpubind_host_device *function,
                                           int32_t minor)
{
    const char *folder = facts_numbered_path(r, CAPABILITIES, "gpu", minor, "mig");
    const cpubind_vendor_nodes *parts = &cpubind_vendor_nvidia.driver.parts;
    const cpubind_input files = r->source->list(r->source->ctx, parts->input);
    cpubind_problem_code code = facts_judge(r, parts->input, files);
    cpubind_input listing;
    cpubind_piece part;
    int32_t at = 0;
    while (facts_next_name(files, &at, &part)) {
        const int32_t number = facts_number_after(parts->start, files.data, part);
        function->is_part |= number >= CAP_FIRST && (number - CAP_FIRST) / CAPS_OF_GPU == minor;
    }
    if (!folder)
        return facts_fail_memory(r);
    listing = r->source->list(r->source->ctx, folder);
    for (at = 0; facts_next_name(listing, &at, &part);)
        function->is_part |= part.len > 2 && memcmp(listing.data + part.at, "gi", 2) == 0;
    return code == CPUBIND_PROBLEM_NONE ? facts_judge(r, folder, listing) : code;
}

/* Reads the files of the NVIDIA driver of a GPU. */
static cpubind_problem_code read_driver(facts_reader *r, cpubind_host_device *function)
{
    char address[CPUBIND_PCI_ADDRESS_MAX];
    const char *name;
    cpubind_input answer;
    cpubind_problem_code code;
    int32_t minor = -1;
    (void)cpubind_pci_format(address, &function->pci);
    name = facts_named_path(r, DRIVER_FOLDER, address, "information");
    code = facts_ask(r, name, &answer);
    if (code == CPUBIND_PROBLEM_NONE && facts_is_present(answer))
        code = take_value(r, name, answer, "Model:", &function->model, &function->model_len);
    if (code == CPUBIND_PROBLEM_NONE && facts_is_present(answer))
        code = take_value(r, name, answer, "GPU UUID:", &function->uuid, &function->uuid_len);
    if (!cpubind_is_gpu_uuid(function->uuid, function->uuid_len))
        function->uuid = NULL;
    if (code == CPUBIND_PROBLEM_NONE && facts_is_present(answer))
        code = take_number(r, name, answer, "Device Minor:", &minor);
    if (code == CPUBIND_PROBLEM_NONE && minor >= 0)
        code = read_instances(r, function, minor);
    return code == CPUBIND_PROBLEM_NONE ? read_memory_node(r, function, address) : code;
}

const cpubind_vendor cpubind_vendor_nvidia = {
    .word = "nvidia",
    .noun = "gpu",
    .runtime = "cuda",
    .product = products,
    .n_product = (int32_t)(sizeof products / sizeof *products),
    .id = 0x10de,
    .driver = {DRIVER_FOLDER,
               "information",
               "Device Minor:",
               {"dev/nvidia", "dev", "nvidia", 0},
               {"nvidia", "nvidia-frontend"}, /* the second one before release 550 */
               195,
               {"dev/nvidia-caps", "dev/nvidia-caps", "nvidia-cap", 1}},
    .file = {CPUBIND_FILES_DRM},
    .compute_file = "nvidia-uvm",
    .variable = {"CUDA_VISIBLE_DEVICES"},
    .list = {{"CUDA_VISIBLE_DEVICES", NULL, CPUBIND_LIST_CUDA}},
    .setting = {"CUDA_DEVICE_ORDER"},
    .usual = "PCI_BUS_ID",
    .container = "NVIDIA_VISIBLE_DEVICES",
    .read = read_driver,
};
