/* kubelet_state.c - what kubelet gave to each container, by the files that it keeps
 * SPDX-License-Identifier: MIT
 *
 * The forms are in kubelet_state.h. A value that is not as they have it has its reason in
 * *what, which before says that there is no memory.
 */
#include "kubelet_state.h"

#include <string.h>

#include "../text/cpulist.h"

const char *const cli_kubelet_path[CLI_KUBELET_FILES] = {
    "var/lib/kubelet/cpu_manager_state", "var/lib/kubelet/memory_manager_state",
    "var/lib/kubelet/device-plugins/kubelet_internal_checkpoint",
    "var/lib/kubelet/dra_manager_state"};

static const char no_memory[] = "there is no memory left";
static const char bad_node[] = "the number of a node is out of range";

/* == Values ================================================================= */

/* Whether a value is of a type, or is not there: Go has null for what is empty. */
static int is_of(const json_t *value, json_type type, const char **what)
{
    if (!value || json_is_null(value) || json_typeof(value) == type)
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

static json_t *cpus_of(json_t *value, const char **what)
{
    cpubind_int_list list = {NULL, 0, 0};
    cpubind_text_fault fault = {0, "its CPUs are no text"};
    if (json_is_string(value) &&
        is_list(json_string_value(value), CPUBIND_MAX_CPUS, &list, &fault))
        return json_incref(value);
    *what = fault.what;
    return NULL;
}

static json_t *nodes_of(const json_t *numbers, const char **what)
{
    int32_t node[CPUBIND_MAX_NODES], n = 0;
    const json_t *number;
    size_t i;
    if (!is_of(numbers, JSON_ARRAY, what))
        return NULL;
    json_array_foreach(numbers, i, number)
    {
        const json_int_t value = json_is_integer(number) ? json_integer_value(number) : -1;
        if (value < 0 || value >= CPUBIND_MAX_NODES || n == CPUBIND_MAX_NODES) {
            *what = bad_node;
            return NULL;
        }
        node[n++] = (int32_t)value;
    }
    (void)cpubind_list_sort(node, &n);
    return cli_list_json(node, n);
}

static json_t *memory_of(json_t *value, const char **what)
{
    json_t *all = is_of(value, JSON_ARRAY, what) ? json_array() : NULL;
    for (size_t i = 0; all && i < json_array_size(value); i++) {
        const char *type;
        json_int_t bytes = -1;
        json_t *nodes, *block = NULL;
        if (json_unpack(json_array_get(value, i), "{s:s, s:I, s:o}", "type", &type, "size",
                        &bytes, "numaAffinity", &nodes) != 0)
            *what = "its memory has no type, size or numaAffinity";
        else if (bytes < 0 || bytes >= CLI_KUBELET_BYTES_END)
            *what = "a size of memory is out of range";
        else
            block = json_pack("{s:o, s:I, s:o}", "type", cli_json_text(type), "bytes", bytes,
                              "nodes", nodes_of(nodes, what));
        all = cli_json_append(all, block);
    }
    return all;
}

/* A copy of an array of texts; NULL: it has something else. */
static json_t *texts_of(const json_t *value, const char **what)
{
    json_t *all = is_of(value, JSON_ARRAY, what) ? json_array() : NULL;
    for (size_t i = 0; all && i < json_array_size(value); i++) {
        const char *text = json_string_value(json_array_get(value, i));
        *what = text ? *what : "a name of a device is no text";
        all = cli_json_append(all, text ? cli_json_text(text) : NULL);
    }
    return all;
}

/* == Entries ================================================================ */

/* The value of a key, which is made where it is not there. */
static json_t *below(json_t *object, const char *key, json_t *make(void))
{
    json_t *value = json_object_get(object, key);
    if (!value && json_object_set_new(object, key, make()) == 0)
        value = json_object_get(object, key);
    return value;
}

/* Adds an entry of a list to an object of pods. Returns 0 when it could not. */
typedef int take_entry(json_t *out, json_t *entry, const char **what);

/* Appends devices of one node, "-1" for none that is known. */
static int add_devices(json_t *to, const char *resource, const char *node, json_t *ids,
                       const char **what)
{
    const char *known = strcmp(node, "-1") == 0 ? NULL : node;
    cpubind_int_list list = {NULL, 0, 0};
    if (known && (!is_list(known, CPUBIND_MAX_NODES, &list, NULL) || list.n != 1)) {
        *what = bad_node;
        return 0;
    }
    return json_array_append_new(to, json_pack("{s:o, s:o, s:s?}", "resource",
                                               cli_json_text(resource), "ids",
                                               texts_of(ids, what), "nodes", known)) == 0;
}

/* The devices of one resource. */
static int take_devices(json_t *out, json_t *entry, const char **what)
{
    const char *uid, *name, *resource, *node;
    json_t *by_node, *ids, *to;
    int is_taken;
    if (json_unpack(entry, "{s:s, s:s, s:s, s:o}", "PodUID", &uid, "ContainerName", &name,
                    "ResourceName", &resource, "DeviceIDs", &by_node) != 0) {
        *what = "it has no PodUID, ContainerName, ResourceName or DeviceIDs";
        return 0;
    }
    to = below(below(out, uid, json_object), name, json_array);
    if (json_is_array(by_node))
        return add_devices(to, resource, "-1", by_node, what);
    is_taken = is_of(by_node, JSON_OBJECT, what);
    json_object_foreach(by_node, node, ids)
    {
        is_taken = is_taken && add_devices(to, resource, node, ids, what);
    }
    return is_taken;
}

/* The devices of a claim, by their drivers. */
static json_t *claimed_of(json_t *drivers, const char **what)
{
    json_t *all = is_of(drivers, JSON_OBJECT, what) ? json_array() : NULL, *state;
    const char *driver;
    json_object_foreach(drivers, driver, state)
    {
        const json_t *devices = json_object_get(state, "Devices");
        if (!is_of(devices, JSON_ARRAY, what))
            all = cli_json_append(all, NULL);
        for (size_t i = 0; all && i < json_array_size(devices); i++) {
            const json_t *device = json_array_get(devices, i);
            const char *name = json_string_value(json_object_get(device, "DeviceName"));
            *what = name ? *what : "a device of a claim has no DeviceName";
            all = cli_json_append(
                all, json_pack("{s:o, s:o, s:o}", "driver", cli_json_text(driver), "device",
                               name ? cli_json_text(name) : NULL, "cdi",
                               texts_of(json_object_get(device, "CDIDeviceIDs"), what)));
        }
    }
    return all;
}

/* A claim, for each of its pods. */
static int take_claim(json_t *out, json_t *entry, const char **what)
{
    const char *name, *space, *uid;
    json_t *pods, *claim, *unused;
    int is_taken;
    if (json_unpack(entry, "{s:s, s:s, s:o}", "ClaimName", &name, "Namespace", &space,
                    "PodUIDs", &pods) != 0) {
        *what = "it has no ClaimName, Namespace or PodUIDs";
        return 0;
    }
    claim = json_pack("{s:o, s:o, s:o}", "namespace", cli_json_text(space), "name",
                      cli_json_text(name), "devices",
                      claimed_of(json_object_get(entry, "DriverState"), what));
    is_taken = claim && is_of(pods, JSON_OBJECT, what);
    json_object_foreach(pods, uid, unused)
    {
        (void)unused;
        is_taken = is_taken && json_array_append(below(out, uid, json_array), claim) == 0;
    }
    json_decref(claim);
    return is_taken;
}

/* == Files ================================================================== */

/* The pods of entries {UID: {CONTAINER: value}}; NULL, with the place in *why. */
static json_t *read_pods(json_t *entries, json_t *take(json_t *value, const char **what),
                         api_text *why)
{
    json_t *out = json_object(), *pod, *value;
    const char *uid, *name;
    json_object_foreach(entries, uid, pod)
    {
        json_t *own = below(out, uid, json_object);
        if (!json_is_object(pod))
            api_add(why, "pod %s: it is no object of containers", uid);
        json_object_foreach(pod, name, value)
        {
            const char *what = no_memory;
            if (why->len == 0 && json_object_set_new(own, name, take(value, &what)) != 0)
                api_add(why, "pod %s, container %s: %s", uid, name, what);
        }
    }
    return out;
}

/* The pods of a list of entries; the same. */
static json_t *read_list(const json_t *entries, take_entry *take, api_text *why)
{
    json_t *out = json_object(), *entry;
    size_t i;
    json_array_foreach(entries, i, entry)
    {
        const char *what = no_memory;
        if (why->len == 0 && !take(out, entry, &what))
            api_add(why, "entry %d: %s", (int)i + 1, what);
    }
    return out;
}

/* The value of a text of JSON; NULL, with the byte in *why. */
static json_t *load(const char *text, size_t len, const char *where, api_text *why)
{
    json_error_t error;
    json_t *value = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
    char *near = value ? NULL : strstr(error.text, " near ");
    if (near) /* bytes of the file follow */
        *near = '\0';
    if (!value)
        api_add(why, "byte %d%s: %s", error.position, where, error.text);
    return value;
}

/* The entries of a file, NULL where it has none, or with the reason in *why. */
static json_t *load_entries(const char *text, int32_t len, api_text *why)
{
    static const char *const keys[] = {"entries", "Entries", "ClaimInfoStateList",
                                       "PodDeviceEntries"};
    json_t *whole = load(len ? text : "", (size_t)len, "", why), *entries = NULL;
    json_t *data = json_object_get(whole, "data");
    if (whole && !json_object_get(whole, "checksum") && !json_object_get(whole, "Checksum"))
        api_add(why, "it has no checksum, which files of kubelet have");
    data = data ? data : json_object_get(whole, "Data");
    if (json_is_string(data))
        data = load(json_string_value(data), json_string_length(data), " of its data", why);
    else
        data = json_incref(data ? data : whole);
    for (size_t i = 0; !entries && i < sizeof keys / sizeof *keys; i++)
        entries = json_incref(json_object_get(data, keys[i]));
    json_decref(whole);
    json_decref(data);
    return entries;
}

json_t *cli_kubelet_read(cli_kubelet_file file, const char *text, int32_t len, api_text *why)
{
    const int is_by_pod = file == CLI_KUBELET_CPUS || file == CLI_KUBELET_MEMORY;
    json_t *entries = NULL, *out = NULL;
    if (len > CLI_KUBELET_STATE_MAX)
        api_add(why, "it is longer than %d MiB", CLI_KUBELET_STATE_MAX >> 20);
    else
        entries = load_entries(text, len, why);
    if (entries && !json_is_null(entries) &&
        !(is_by_pod ? json_is_object(entries) : json_is_array(entries)))
        api_add(why, "its entries are no %s", is_by_pod ? "object of pods" : "array");
    if (why->len == 0)
        out = is_by_pod
                  ? read_pods(entries, file == CLI_KUBELET_CPUS ? cpus_of : memory_of, why)
                  : read_list(entries, file == CLI_KUBELET_DEVICES ? take_devices : take_claim,
                              why);
    json_decref(entries);
    if (!out && why->len == 0)
        api_add(why, "%s", no_memory);
    if (why->len == 0)
        return out;
    json_decref(out);
    return NULL;
}
