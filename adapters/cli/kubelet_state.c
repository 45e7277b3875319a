/* kubelet_state.c - what kubelet gave to each container, by the files that it keeps
 * SPDX-License-Identifier: MIT
 *
 * The forms are in kubelet_state.h. A value that is not as they have it has its reason in
 * *what.
 */
#include "kubelet_state.h"

#include <string.h>

#include "../text/cpulist.h"

const char *const cli_kubelet_path[CLI_KUBELET_FILES] = {
    "var/lib/kubelet/cpu_manager_state", "var/lib/kubelet/memory_manager_state",
    "var/lib/kubelet/device-plugins/kubelet_internal_checkpoint",
    "var/lib/kubelet/dra_manager_state"};

static const char bad_node[] = "the number of a node is out of range";

/* == Values ================================================================= */

/* Whether a value is of a type, or is not there: Go has null for what is empty. */
static int is_of(const words_value *value, words_kind kind, const char **what)
{
    if (!value || words_is(value, WORDS_NULL) || words_is(value, kind))
        return 1;
    *what = "a value is of another type";
    return 0;
}

/* Whether a text is a list of numbers; list->n: how many, which are not kept. */
static int is_list(const char *text, int32_t limit, cpubind_int_list *list,
                   cpubind_text_fault *fault)
{
    const cpubind_text_status status =
        cpubind_cpulist_parse(text, (int32_t)strlen(text), limit, list, fault);
    return status == CPUBIND_TEXT_OK || status == CPUBIND_TEXT_ERR_SPACE;
}

static words_value *cpus_of(words_value *value, const char **what)
{
    cpubind_int_list list = {NULL, 0, 0};
    cpubind_text_fault fault = {0, "its CPUs are no text"};
    if (words_is(value, WORDS_TEXT) &&
        is_list(words_string(value), CPUBIND_MAX_CPUS, &list, &fault))
        return words_share(value);
    *what = fault.what;
    return NULL;
}

static words_value *nodes_of(const words_value *numbers, const char **what)
{
    int32_t node[CPUBIND_MAX_NODES], n = 0;
    if (!is_of(numbers, WORDS_ARRAY, what))
        return NULL;
    for (int32_t i = 0; i < words_count(numbers); i++) {
        const words_value *number = words_at(numbers, i);
        const int64_t value = words_is(number, WORDS_NUMBER) ? words_integer(number) : -1;
        if (value < 0 || value >= CPUBIND_MAX_NODES || n == CPUBIND_MAX_NODES) {
            *what = bad_node;
            return NULL;
        }
        node[n++] = (int32_t)value;
    }
    (void)cpubind_list_sort(node, &n);
    return words_list(node, n);
}

static words_value *memory_of(words_value *value, const char **what)
{
    words_value *all = is_of(value, WORDS_ARRAY, what) ? words_array() : NULL;
    for (int32_t i = 0; i < words_count(value); i++) {
        const words_value *block = words_at(value, i), *size = words_get(block, "size");
        const char *type = words_string(words_get(block, "type"));
        const words_value *nodes = words_get(block, "numaAffinity");
        if (!type || !words_is(size, WORDS_NUMBER) || !nodes)
            *what = "its memory has no type, size or numaAffinity";
        else if (words_integer(size) < 0 || words_integer(size) >= CLI_KUBELET_BYTES_END)
            *what = "a size of memory is out of range";
        else
            words_add(all, words_make("type:s bytes:I nodes:v", type, words_integer(size),
                                      nodes_of(nodes, what)));
    }
    return all;
}

/* A copy of an array of texts. */
static words_value *texts_of(const words_value *value, const char **what)
{
    words_value *all = is_of(value, WORDS_ARRAY, what) ? words_array() : NULL;
    for (int32_t i = 0; i < words_count(value); i++) {
        const char *text = words_string(words_at(value, i));
        *what = text ? *what : "a name of a device is no text";
        words_add(all, words_text(text));
    }
    return all;
}

/* == Entries ================================================================ */

/* The value of a key, which is made where it is not there. */
static words_value *below(words_value *object, const char *key, words_value *make(void))
{
    if (!words_get(object, key))
        words_set(object, key, make());
    return words_get(object, key);
}

/* Adds an entry of a list to an object of pods. */
typedef void take_entry(words_value *out, const words_value *entry, const char **what);

/* Appends devices of one node, "-1" for none that is known. */
static void add_devices(words_value *to, const char *resource, const char *node,
                        const words_value *ids, const char **what)
{
    const char *known = strcmp(node, "-1") == 0 ? NULL : node;
    cpubind_int_list list = {NULL, 0, 0};
    if (known && (!is_list(known, CPUBIND_MAX_NODES, &list, NULL) || list.n != 1))
        *what = bad_node;
    words_add(to, words_make("resource:s ids:v nodes:s", resource, texts_of(ids, what), known));
}

/* The devices of one resource. */
static void take_devices(words_value *out, const words_value *entry, const char **what)
{
    const char *uid = words_string(words_get(entry, "PodUID"));
    const char *name = words_string(words_get(entry, "ContainerName"));
    const char *resource = words_string(words_get(entry, "ResourceName"));
    const words_value *by_node = words_get(entry, "DeviceIDs");
    words_value *to;
    if (!uid || !name || !resource || !by_node) {
        *what = "it has no PodUID, ContainerName, ResourceName or DeviceIDs";
        return;
    }
    to = below(below(out, uid, words_object), name, words_array);
    if (words_is(by_node, WORDS_ARRAY))
        add_devices(to, resource, "-1", by_node, what);
    else if (is_of(by_node, WORDS_OBJECT, what))
        for (int32_t i = 0; i < words_count(by_node); i++)
            add_devices(to, resource, words_key(by_node, i), words_at(by_node, i), what);
}

/* Appends the devices of a claim that one driver has. */
static void add_claimed(words_value *all, const char *driver, const words_value *devices,
                        const char **what)
{
    if (!is_of(devices, WORDS_ARRAY, what))
        return;
    for (int32_t i = 0; i < words_count(devices); i++) {
        const words_value *device = words_at(devices, i);
        const char *name = words_string(words_get(device, "DeviceName"));
        *what = name ? *what : "a device of a claim has no DeviceName";
        words_add(all, words_make("driver:s device:s cdi:v", driver, name,
                                  texts_of(words_get(device, "CDIDeviceIDs"), what)));
    }
}

/* A claim, for each of its pods. */
static void take_claim(words_value *out, const words_value *entry, const char **what)
{
    const char *name = words_string(words_get(entry, "ClaimName"));
    const char *space = words_string(words_get(entry, "Namespace"));
    const words_value *pods = words_get(entry, "PodUIDs");
    const words_value *drivers = words_get(entry, "DriverState");
    words_value *claim, *all = words_array();
    if (!name || !space || !pods)
        *what = "it has no ClaimName, Namespace or PodUIDs";
    if (is_of(drivers, WORDS_OBJECT, what))
        for (int32_t i = 0; i < words_count(drivers); i++)
            add_claimed(all, words_key(drivers, i), words_get(words_at(drivers, i), "Devices"),
                        what);
    claim = words_make("namespace:s name:s devices:v", space, name, all);
    if (is_of(pods, WORDS_OBJECT, what))
        for (int32_t i = 0; i < words_count(pods); i++)
            words_add(below(out, words_key(pods, i), words_array), words_share(claim));
    words_free(claim);
}

/* == Files ================================================================== */

/* The pods of entries {UID: {CONTAINER: value}}, or with the place of a fault in *why. */
static words_value *read_pods(const words_value *entries,
                              words_value *take(words_value *value, const char **what),
                              api_text *why)
{
    words_value *out = words_object();
    for (int32_t i = 0; i < words_count(entries); i++) {
        const words_value *pod = words_at(entries, i);
        const char *uid = words_key(entries, i);
        words_value *own = below(out, uid, words_object);
        if (!words_is(pod, WORDS_OBJECT))
            api_add(why, "pod %s: it is no object of containers", uid);
        for (int32_t k = 0; k < words_count(pod) && why->len == 0; k++) {
            const char *what = NULL;
            words_set(own, words_key(pod, k), take(words_at(pod, k), &what));
            if (what)
                api_add(why, "pod %s, container %s: %s", uid, words_key(pod, k), what);
        }
    }
    return out;
}

/* The pods of a list of entries; the same. */
static words_value *read_list(const words_value *entries, take_entry *take, api_text *why)
{
    words_value *out = words_object();
    for (int32_t i = 0; i < words_count(entries) && why->len == 0; i++) {
        const char *what = NULL;
        take(out, words_at(entries, i), &what);
        if (what)
            api_add(why, "entry %d: %s", (int)i + 1, what);
    }
    return out;
}

/* The value of a text of JSON; NULL, with the byte in *why. */
static words_value *load(const char *text, size_t len, const char *where, api_text *why)
{
    words_fault fault;
    words_value *value = words_read(text, len, &fault);
    if (!value)
        api_add(why, "byte %zu%s: %s", fault.at, where, fault.what);
    return value;
}

/* The entries of a file, NULL where it has none, or with the reason in *why. */
static words_value *load_entries(const char *text, int32_t len, api_text *why)
{
    static const char *const keys[] = {"entries", "Entries", "ClaimInfoStateList",
                                       "PodDeviceEntries"};
    words_value *whole = load(len ? text : "", (size_t)len, "", why), *entries = NULL;
    words_value *data = words_get(whole, "data");
    if (whole && !words_get(whole, "checksum") && !words_get(whole, "Checksum"))
        api_add(why, "it has no checksum, which files of kubelet have");
    data = data ? data : words_get(whole, "Data");
    if (words_is(data, WORDS_TEXT))
        data = load(words_string(data), strlen(words_string(data)), " of its data", why);
    else
        data = words_share(data ? data : whole);
    for (size_t i = 0; !entries && i < sizeof keys / sizeof *keys; i++)
        entries = words_share(words_get(data, keys[i]));
    words_free(whole);
    words_free(data);
    return entries;
}

words_value *cli_kubelet_read(cli_kubelet_file file, const char *text, int32_t len,
                              api_text *why)
{
    const int is_by_pod = file == CLI_KUBELET_CPUS || file == CLI_KUBELET_MEMORY;
    words_value *entries = NULL, *out = NULL;
    if (len > CLI_KUBELET_STATE_MAX)
        api_add(why, "it is longer than %d MiB", CLI_KUBELET_STATE_MAX >> 20);
    else
        entries = load_entries(text, len, why);
    if (entries && !words_is(entries, WORDS_NULL) &&
        !(is_by_pod ? words_is(entries, WORDS_OBJECT) : words_is(entries, WORDS_ARRAY)))
        api_add(why, "its entries are no %s", is_by_pod ? "object of pods" : "array");
    if (why->len == 0)
        out = is_by_pod
                  ? read_pods(entries, file == CLI_KUBELET_CPUS ? cpus_of : memory_of, why)
                  : read_list(entries, file == CLI_KUBELET_DEVICES ? take_devices : take_claim,
                              why);
    words_free(entries);
    if (why->len == 0 && !words_is_whole(out))
        api_add(why, "there is no memory left");
    if (why->len == 0)
        return out;
    words_free(out);
    return NULL;
}
