/* gres.c - gres.conf of Slurm: the device file of an accelerator, and the cores near it
 * SPDX-License-Identifier: MIT
 *
 * Pure but for the source: no I/O of its own, no malloc.
 */
#include "gres.h"

#include "nvidia_files.h"
#include "pci_reader.h"

/* == Device files =========================================================== */

/* Appends to a text that ends with NUL. Returns 0 when it is too long. */
static int append(char *text, size_t size, const char *more, size_t n)
{
    const size_t len = strlen(text);
    if (n >= size - len)
        return 0;
    memcpy(text + len, more, n);
    text[len + n] = '\0';
    return 1;
}

/* The name "folder/ADDRESS/leaf". */
static int make_path(char *out, size_t size, const char *folder,
                     const cpubind_pci_function *function, const char *leaf)
{
    char address[CPUBIND_PCI_ADDRESS_MAX];
    (void)cpubind_pci_format(address, &function->pci);
    out[0] = '\0';
    return append(out, size, folder, strlen(folder)) && append(out, size, "/", 1) &&
           append(out, size, address, strlen(address)) && append(out, size, "/", 1) &&
           append(out, size, leaf, strlen(leaf));
}

/* Takes the minor number of an NVIDIA GPU. */
static int find_nvidia(const cpubind_source *source, const cpubind_pci_function *function,
                       char *out)
{
    char path[128];
    cpubind_input answer;
    cpubind_slice minor;
    if (!make_path(path, sizeof path, INPUT_NVIDIA, function, "information"))
        return 0;
    answer = source->read(source->ctx, path);
    return facts_is_present(answer) &&
           cpubind_nvidia_find(answer.data, answer.len, "Device Minor", &minor, NULL) ==
               CPUBIND_TEXT_OK &&
           minor.len > 0 && append(out, CPUBIND_DEVICE_FILE_SIZE, "/dev/nvidia", 11) &&
           append(out, CPUBIND_DEVICE_FILE_SIZE, answer.data + minor.at, (size_t)minor.len);
}

/* Takes the first name that starts with `prefix` in a folder of the function. */
static int find_named(const cpubind_source *source, const cpubind_pci_function *function,
                      const char *folder, const char *prefix, const char *dev, char *out)
{
    char path[128];
    cpubind_input listing;
    cpubind_slice name;
    int32_t at = 0;
    if (!make_path(path, sizeof path, INPUT_PCI, function, folder))
        return 0;
    listing = source->list(source->ctx, path);
    while (facts_next_name(listing, &at, &name))
        if ((size_t)name.len > strlen(prefix) &&
            memcmp(listing.data + name.at, prefix, strlen(prefix)) == 0)
            return append(out, CPUBIND_DEVICE_FILE_SIZE, dev, strlen(dev)) &&
                   append(out, CPUBIND_DEVICE_FILE_SIZE, listing.data + name.at,
                          (size_t)name.len);
    return 0;
}

int cpubind_device_file(const cpubind_source *source, const cpubind_pci_function *function,
                        char out[CPUBIND_DEVICE_FILE_SIZE])
{
    int is_found = 0;
    out[0] = '\0';
    if (function->accelerator.family == CPUBIND_FAMILY_NVIDIA)
        is_found = find_nvidia(source, function, out);
    else if (function->accelerator.family == CPUBIND_FAMILY_GAUDI)
        is_found = find_named(source, function, "accel", "accel", "/dev/accel/", out);
    else if (function->accelerator.family != CPUBIND_FAMILY_ASCEND)
        is_found = find_named(source, function, "drm", "renderD", "/dev/dri/", out);
    if (!is_found)
        out[0] = '\0';
    return is_found;
}

/* == Cores ================================================================== */

/* The lowest CPU of the core of allowed CPU i, or of its node. */
static int32_t lowest(const cpubind_host *host, int32_t i, int of_node)
{
    for (int32_t k = 0; k < host->n_cpu; k++)
        if (of_node      ? host->node[k] == host->node[i]
            : host->core ? host->core[k] == host->core[i]
                         : k == i)
            return host->cpu[k];
    return host->cpu[i];
}

/* Whether the core of allowed CPU a comes before that of b; each is the lowest of its core. */
static int is_before(const cpubind_host *host, int32_t a, int32_t b)
{
    const int32_t node_a = lowest(host, a, 1), node_b = lowest(host, b, 1);
    return node_a != node_b ? node_a < node_b : host->cpu[a] < host->cpu[b];
}

static int32_t number_of_core(const cpubind_host *host, int32_t i)
{
    int32_t n = 0;
    for (int32_t k = 0; k < host->n_cpu; k++)
        n += lowest(host, k, 0) == host->cpu[k] && is_before(host, k, i);
    return n;
}

static int is_near(const cpubind_pci_function *device, int32_t cpu)
{
    for (int32_t k = 0; k < device->n_cpu; k++)
        if (device->cpu[k] == cpu)
            return 1;
    return 0;
}

int32_t cpubind_gres_cores(const cpubind_facts *facts, int32_t device, int32_t *out)
{
    const cpubind_host *host = &facts->host;
    int32_t n = 0, n_online = 0;
    for (int32_t cpu = 0; cpu < facts->n_cpu_id; cpu++)
        n_online += facts->node_of[cpu] >= 0;
    for (int32_t i = 0; n_online == host->n_cpu && i < host->n_cpu; i++) {
        int32_t number, at = n;
        if (!is_near(&facts->device[device], host->cpu[i]) ||
            lowest(host, i, 0) != host->cpu[i])
            continue;
        number = number_of_core(host, i);
        for (; at > 0 && out[at - 1] > number; at--)
            out[at] = out[at - 1];
        out[at] = number;
        n++;
    }
    return n;
}
