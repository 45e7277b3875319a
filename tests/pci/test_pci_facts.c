/* test_pci_facts.c - devices, bridges, nodes and network cards of hosts in memory
 * SPDX-License-Identifier: MIT
 *
 * A host is a table of inputs; the listing of a folder is made of the names in the table, as in
 * a corpus.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../adapters/model/facts.h"
#include "../../adapters/pci/nvidia_files.h"
#include "../support/cmocka_test.h"

enum { MAX_FILES = 512, TEXT_SIZE = 200000 };

typedef struct host_file {
    const char *name, *text;
} host_file;

/* A host in memory, and the arena of its facts. */
typedef struct pci_host {
    host_file file[MAX_FILES];
    int32_t n;
    char text[TEXT_SIZE]; /* of names that were composed */
    size_t used;
    const char *failing; /* name of the input that fails, or NULL */
    char listing[TEXT_SIZE];
    size_t listed;
    cpubind_arena arena;
    cpubind_facts facts;
    cpubind_problem fault;
} pci_host;

static const char *compose(pci_host *h, const char *folder, const char *name, const char *leaf)
{
    char *out = h->text + h->used;
    const int n = snprintf(out, TEXT_SIZE - h->used, "%s/%s/%s", folder, name, leaf);
    assert_true(n > 0 && h->used + (size_t)n < TEXT_SIZE);
    h->used += (size_t)n + 1;
    return out;
}

static void put(pci_host *h, const char *name, const char *text)
{
    assert_true(h->n < MAX_FILES);
    h->file[h->n].name = name;
    h->file[h->n++].text = text;
}

static void put_node(pci_host *h, const char *node, const char *cpus, const char *distance)
{
    put(h, compose(h, "sys/devices/system/node", node, "cpulist"), cpus);
    if (distance)
        put(h, compose(h, "sys/devices/system/node", node, "distance"), distance);
}

static void put_leaf(pci_host *h, const char *pci, const char *leaf, const char *text)
{
    put(h, compose(h, "sys/bus/pci/devices", pci, leaf), text);
}

static void put_function(pci_host *h, const char *pci, const char *ids[3], const char *node,
                         const char *cpus)
{
    put_leaf(h, pci, "class", ids[0]);
    put_leaf(h, pci, "vendor", ids[1]);
    put_leaf(h, pci, "device", ids[2]);
    put_leaf(h, pci, "numa_node", node);
    put_leaf(h, pci, "local_cpulist", cpus);
}

static void put_bridge(pci_host *h, const char *pci, const char *secondary, const char *node)
{
    put_leaf(h, pci, "class", "0x060400\n");
    put_leaf(h, pci, "secondary_bus_number", secondary);
    put_leaf(h, pci, "numa_node", node);
}

static cpubind_input read_file(void *ctx, const char *name)
{
    const pci_host *h = (const pci_host *)ctx;
    cpubind_input answer = {.state = CPUBIND_INPUT_ABSENT};
    if (h->failing && strcmp(h->failing, name) == 0) {
        answer.state = CPUBIND_INPUT_FAILED;
        answer.error = 5;
        return answer;
    }
    for (int32_t i = 0; i < h->n; i++)
        if (strcmp(h->file[i].name, name) == 0) {
            answer.state = CPUBIND_INPUT_PRESENT;
            answer.len = (int32_t)strlen(h->file[i].text);
            answer.data = answer.len ? h->file[i].text : NULL;
        }
    return answer;
}

/* The next parts of the names below a folder, each once, in ascending order. */
static cpubind_input list_files(void *ctx, const char *name)
{
    pci_host *h = (pci_host *)ctx;
    const size_t n = strlen(name);
    cpubind_input answer = {.state = CPUBIND_INPUT_ABSENT};
    char *start = h->listing + h->listed;
    const char *last = "";
    for (;;) {
        const char *next = NULL;
        for (int32_t i = 0; i < h->n; i++) {
            const char *part = h->file[i].name + n;
            char word[64] = "";
            if (strncmp(h->file[i].name, name, n) != 0 || *part++ != '/')
                continue;
            snprintf(word, sizeof word, "%.*s", (int)strcspn(part, "/"), part);
            if (strcmp(word, last) > 0 && (!next || strcmp(word, next) < 0)) {
                char *kept = h->text + h->used;
                assert_true(h->used + strlen(word) + 1 < TEXT_SIZE);
                strcpy(kept, word);
                h->used += strlen(word) + 1;
                next = kept;
            }
        }
        if (!next)
            break;
        assert_true(h->listed + strlen(next) + 1 < TEXT_SIZE);
        h->listed += (size_t)sprintf(h->listing + h->listed, "%s\n", next);
        last = next;
    }
    answer.len = (int32_t)(h->listing + h->listed - start);
    answer.data = answer.len ? start : NULL;
    answer.state = answer.len ? CPUBIND_INPUT_PRESENT : CPUBIND_INPUT_ABSENT;
    return answer;
}

static cpubind_problem_code read_host(pci_host *h, const cpubind_pci_request *request)
{
    const cpubind_source source = {h, read_file, list_files};
    if (!h->arena.base) {
        h->arena.size = (size_t)1 << 20;
        h->arena.base = (char *)malloc(h->arena.size);
    }
    h->arena.used = 0;
    assert_non_null(h->arena.base);
    return cpubind_devices_read(&source, request, &h->arena, &h->facts, &h->fault);
}

static const cpubind_pci_request ask_all = {.wants_nics = 1};

static pci_host *new_host(void)
{
    pci_host *h = (pci_host *)calloc(1, sizeof *h);
    assert_non_null(h);
    return h;
}

static void free_host(pci_host *h)
{
    free(h->arena.base);
    free(h);
}

static const char *gpu[3] = {"0x030200\n", "0x10de\n", "0x2330\n"};
static const char *other_gpu[3] = {"0x030200\n", "0x10de\n", "0x27b8\n"};
static const char *nic[3] = {"0x020700\n", "0x15b3\n", "0x1021\n"};
static const char *npu[3] = {"0x120000\n", "0x19e5\n", "0xd802\n"};

/* Two nodes, a GPU behind a switch of two levels with numa_node -1, a card below the same
 * switch, one on the same root complex, one on the other. */
static pci_host *host_with_switches(void)
{
    pci_host *h = new_host();
    put(h, "sys/devices/system/cpu/online", "0-15\n");
    put_node(h, "node0", "0-7\n", "10 21\n");
    put_node(h, "node1", "8-15\n", "21 10\n");
    put_bridge(h, "0000:80:01.0", "129\n", "1\n");
    put_bridge(h, "0000:81:00.0", "130\n", "-1\n");
    put_bridge(h, "0000:82:00.0", "131\n", "-1\n");
    put_bridge(h, "0000:82:01.0", "132\n", "-1\n");
    put_bridge(h, "0000:80:02.0", "140\n", "1\n");
    put_bridge(h, "0000:10:01.0", "17\n", "0\n");
    put_function(h, "0000:83:00.0", gpu, "-1\n", "0-15\n");
    put_function(h, "0000:84:00.0", nic, "-1\n", "0-15\n");
    put_function(h, "0000:8c:00.0", nic, "1\n", "8-15\n");
    put_function(h, "0000:11:00.0", nic, "0\n", "0-7\n");
    return h;
}

TEST(a_node_that_a_device_does_not_tell_is_that_of_a_bridge_above)
{
    pci_host *h = host_with_switches();
    const cpubind_pci_function *device;
    assert_int_equal(read_host(h, &ask_all), CPUBIND_PROBLEM_NONE);
    assert_int_equal(h->facts.n_device, 1);
    device = &h->facts.device[0];
    assert_int_equal(device->numa_node, -1);
    assert_int_equal(device->node, 1);
    assert_int_equal(device->origin, CPUBIND_NODE_ORIGIN_BRIDGE);
    assert_int_equal(device->via.bus, 0x80);
    assert_int_equal(device->via.device, 1);
    assert_int_equal(device->n_bridge, 3);
    assert_int_equal(h->facts.bridge[device->bridge[0]].pci.bus, 0x82);
    assert_int_equal(device->root_bus, 0x80);
    assert_int_equal(device->n_cpu, 8);
    assert_int_equal(device->cpu[0], 8);
    assert_string_equal(device->accelerator.product, "H100 SXM5");
    free_host(h);
}

TEST(network_cards_are_as_near_as_the_bridges_between_say)
{
    pci_host *h = host_with_switches();
    assert_int_equal(read_host(h, &ask_all), CPUBIND_PROBLEM_NONE);
    assert_int_equal(h->facts.n_nic, 3);
    assert_int_equal(h->facts.nearness[0], CPUBIND_NEARNESS_SYS); /* 11:00.0 */
    assert_int_equal(h->facts.nearness[1], CPUBIND_NEARNESS_PIX); /* 84:00.0 */
    assert_int_equal(h->facts.nearness[2], CPUBIND_NEARNESS_PHB); /* 8c:00.0 */
    free_host(h);
}

TEST(a_card_below_another_switch_of_the_same_port_is_farther)
{
    pci_host *h = host_with_switches();
    put_bridge(h, "0000:82:02.0", "133\n", "-1\n");
    put_bridge(h, "0000:85:00.0", "134\n", "-1\n");
    put_function(h, "0000:86:00.0", nic, "-1\n", "0-15\n");
    assert_int_equal(read_host(h, &ask_all), CPUBIND_PROBLEM_NONE);
    assert_int_equal(h->facts.nic[2].pci.bus, 0x86);
    assert_int_equal(h->facts.nearness[2], CPUBIND_NEARNESS_PXB);
    free_host(h);
}

TEST(without_secondary_bus_numbers_the_folders_of_bridges_tell_them)
{
    pci_host *h = host_with_switches();
    for (int32_t i = 0; i < h->n; i++)
        if (strstr(h->file[i].name, "secondary_bus_number"))
            h->file[i].name = "unused/file";
    put_leaf(h, "0000:80:01.0", "0000:81:00.0/class", "0x060400\n");
    put_leaf(h, "0000:81:00.0", "0000:82:00.0/class", "0x060400\n");
    put_leaf(h, "0000:82:00.0", "0000:83:00.0/class", "0x030200\n");
    assert_int_equal(read_host(h, &ask_all), CPUBIND_PROBLEM_NONE);
    assert_int_equal(h->facts.device[0].node, 1);
    assert_int_equal(h->facts.device[0].n_bridge, 3);
    free_host(h);
}

TEST(bridges_that_name_each_other_end_the_way_up)
{
    pci_host *h = new_host();
    put(h, "sys/devices/system/cpu/online", "0-3\n");
    put_node(h, "node0", "0-1\n", "10 20\n");
    put_node(h, "node1", "2-3\n", "20 10\n");
    put_bridge(h, "0000:05:00.0", "6\n", "-1\n");
    put_bridge(h, "0000:06:00.0", "5\n", "-1\n");
    put_function(h, "0000:06:01.0", gpu, "-1\n", "0-3\n");
    assert_int_equal(read_host(h, &ask_all), CPUBIND_PROBLEM_NONE);
    assert_int_equal(h->facts.device[0].n_bridge, 1);
    assert_int_equal(h->facts.device[0].origin, CPUBIND_NODE_ORIGIN_UNKNOWN);
    assert_int_equal(h->facts.device[0].n_cpu, 0);
    free_host(h);
}

TEST(a_node_without_cpus_is_near_the_nearest_that_has_some)
{
    pci_host *h = new_host();
    put(h, "sys/devices/system/cpu/online", "0-7\n");
    put_node(h, "node0", "0-3\n", "10 40 80 120\n");
    put_node(h, "node1", "4-7\n", "40 10 120 80\n");
    put_node(h, "node2", "\n", "80 120 10 160\n");
    put_node(h, "node10", "\n", "120 80 160 10\n");
    put_function(h, "0009:01:00.0", gpu, "2\n", "\n");
    put_function(h, "0019:01:00.0", gpu, "10\n", "\n");
    put(h, "proc/driver/nvidia/gpus/0019:01:00.0/numa_status",
        "Node:      10\nStatus:    online\n");
    put(h, "proc/driver/nvidia/gpus/0009:01:00.0/information", "Model: \t\t NVIDIA GH200\n");
    assert_int_equal(read_host(h, &ask_all), CPUBIND_PROBLEM_NONE);
    assert_int_equal(h->facts.device[0].numa_node, 2);
    assert_int_equal(h->facts.device[0].node, 0);
    assert_int_equal(h->facts.device[1].node, 1);
    assert_int_equal(h->facts.device[1].n_cpu, 4);
    assert_int_equal(h->facts.device[1].memory_node, 10);
    assert_int_equal(h->facts.host.n_node, 2);
    assert_int_equal(h->facts.host.distance[1], 40);
    assert_memory_equal(h->facts.device[0].model, "NVIDIA GH200", 12);
    free_host(h);
}

TEST(a_network_card_has_the_name_of_its_interface)
{
    pci_host *h = host_with_switches();
    put_leaf(h, "0000:84:00.0", "net/ib0/mtu", "2044\n");
    put_leaf(h, "0000:84:00.0", "infiniband/mlx5_1/node_type", "1: CA\n");
    put_leaf(h, "0000:8c:00.0", "net/eth0/mtu", "1500\n");
    put_leaf(h, "0000:83:00.0", "net/none/mtu", "1500\n");
    assert_int_equal(read_host(h, &ask_all), CPUBIND_PROBLEM_NONE);
    assert_null(h->facts.nic[0].interface);
    assert_int_equal(h->facts.nic[1].interface_len, 6);
    assert_memory_equal(h->facts.nic[1].interface, "mlx5_1", 6);
    assert_memory_equal(h->facts.nic[2].interface, "eth0", 4);
    assert_null(h->facts.device[0].interface);
    free_host(h);
}

TEST(a_machine_without_nodes_has_one)
{
    pci_host *h = new_host();
    put(h, "sys/devices/system/cpu/online", "0-7\n");
    put_function(h, "0000:00:05.0", gpu, "-1\n", "0-7\n");
    assert_int_equal(read_host(h, &ask_all), CPUBIND_PROBLEM_NONE);
    assert_false(h->facts.has_nodes);
    assert_int_equal(h->facts.device[0].node, 0);
    assert_int_equal(h->facts.device[0].origin, CPUBIND_NODE_ORIGIN_ONLY_NODE);
    assert_int_equal(h->facts.device[0].n_cpu, 8);
    free_host(h);
}

TEST(cpus_that_the_caller_knows_need_the_ids_of_nodes_alone)
{
    pci_host *h = host_with_switches();
    const int32_t own[] = {3, 9};
    cpubind_pci_request request = {.no_bus = 1, .own_cpu = own, .n_own_cpu = 2};
    put(h, "sys/devices/system/node/node0/cpulist", "damaged\n");
    put(h, "sys/devices/system/cpu/online", "damaged\n");
    put(h, "proc/self/status", "damaged\n");
    assert_int_equal(read_host(h, &request), CPUBIND_PROBLEM_NONE);
    assert_true(h->facts.has_nodes);
    assert_int_equal(h->facts.n_all_node, 2);
    assert_int_equal(h->facts.host.n_cpu, 2);
    assert_memory_equal(h->facts.host.cpu, own, sizeof own);
    assert_int_equal(h->facts.host.node[1], h->facts.all_node[0]);
    request.no_bus = 0; /* a device needs the CPUs of its node */
    assert_int_equal(read_host(h, &request), CPUBIND_PROBLEM_UNREADABLE);
    free_host(h);
}

TEST(functions_that_are_named_count_whatever_they_are)
{
    pci_host *h = host_with_switches();
    const cpubind_pci_address card = {0, 0x8c, 0, 0}, none = {0, 0x8d, 0, 0};
    cpubind_pci_request request = {.named = &card, .n_named = 1};
    assert_int_equal(read_host(h, &request), CPUBIND_PROBLEM_NONE);
    assert_int_equal(h->facts.n_device, 1);
    assert_int_equal(h->facts.device[0].accelerator.vendor, CPUBIND_VENDOR_OTHER);
    request = (cpubind_pci_request){.class_code = 0x0207, .class_digits = 4};
    assert_int_equal(read_host(h, &request), CPUBIND_PROBLEM_NONE);
    assert_int_equal(h->facts.n_device, 3);
    request = (cpubind_pci_request){.named = &none, .n_named = 1};
    assert_int_equal(read_host(h, &request), CPUBIND_PROBLEM_UNKNOWN_NPU);
    assert_int_equal(h->fault.pci.bus, 0x8d);
    free_host(h);
}

TEST(files_that_fail_or_are_damaged_are_no_absent_files)
{
    static const struct {
        const char *name, *text;
    } cases[] = {{"sys/bus/pci/devices/0000:83:00.0/numa_node", "one\n"},
                 {"sys/bus/pci/devices/0000:83:00.0/numa_node", "1"},
                 {"sys/bus/pci/devices/0000:83:00.0/local_cpulist", "0-7,3\n"},
                 {"sys/bus/pci/devices/0000:83:00.0/vendor", ""},
                 {"sys/devices/system/node/node1/cpulist", "8-\n"},
                 {"sys/devices/system/node/node0/distance", "10\n"},
                 {"sys/devices/system/node/node0/distance", "10 21 30\n"},
                 {"sys/devices/system/node/node0/distance", "10 0\n"},
                 {"sys/devices/system/node/node0/distance", "22 21\n"},
                 {"sys/devices/system/node/node1/cpulist", "7-15\n"},
                 {"sys/devices/system/node/node0/distance", NULL},
                 {"sys/devices/system/node/node1/cpulist", NULL},
                 {"proc/self/status", NULL},
                 {"sys/bus/pci/devices/0000:80:01.0/numa_node", NULL},
                 {"sys/bus/pci/devices/0000:83:00.0/class", NULL},
                 {"sys/devices/system/cpu/online", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pci_host *h = host_with_switches();
        h->failing = cases[i].text ? NULL : cases[i].name;
        for (int32_t k = 0; k < h->n && cases[i].text; k++)
            if (strcmp(h->file[k].name, cases[i].name) == 0)
                h->file[k].text = cases[i].text;
        assert_int_equal(read_host(h, &ask_all), CPUBIND_PROBLEM_UNREADABLE);
        assert_string_equal(h->fault.input, cases[i].name);
        assert_non_null(h->fault.what);
        free_host(h);
    }
}

/* == Inputs of a plan ======================================================= */

#define CPU(n, leaf) "sys/devices/system/cpu/cpu" #n "/" leaf
#define SIBLINGS     "topology/thread_siblings_list"
#define SOCKET       "topology/physical_package_id"
#define NODE(n)      "sys/devices/system/node/node" #n "/"
#define ONLINE       "sys/devices/system/cpu/online"
#define STATUS       "proc/self/status"
#define ALLOW(list)  "Cpus_allowed_list:\t" list "\n"

/* The facts in a word: "allowed CPUs/cores/sockets/distance of two nodes/what is lacking". */
static void write_facts(const cpubind_facts *f, char *out, size_t size)
{
    const cpubind_host *host = &f->host;
    size_t n = 0;
    for (int32_t i = 0; i < host->n_cpu; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%d", i ? "," : "", (int)host->cpu[i]);
    n += (size_t)snprintf(out + n, size - n, "/");
    for (int32_t i = 0; host->core && i < host->n_cpu; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%d", i ? "," : "", (int)host->core[i]);
    n += (size_t)snprintf(out + n, size - n, "/");
    for (int32_t i = 0; host->socket && i < host->n_node; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%d", i ? "," : "", (int)host->socket[i]);
    (void)snprintf(out + n, size - n, "/%d/%s%s%s%s",
                   host->distance && host->n_node > 1 ? (int)host->distance[1] : 0,
                   f->warnings & 1u << CPUBIND_WARNING_NO_STATUS ? "s" : "",
                   f->n_node > 1 && !f->distance ? "d" : "", f->core_of ? "" : "c",
                   f->warnings & 1u << CPUBIND_WARNING_ONLINE_DIFFERS ? "o" : "");
}

/* Two nodes of two cores with two CPUs; text NULL: there is no such file. */
TEST(each_input_of_a_plan_has_its_rule)
{
    static const struct {
        const char *name;
        const char *file[8][2];
        const char *expected; /* as write_facts, or a part of the fault's clause */
    } cases[] = {
        {"as it should be", {{NULL, NULL}}, "0,1,2,3,4,5,6,7/0,0,2,2,4,4,6,6/0,1/21/"},
        {"no status", {{STATUS, NULL}}, "0,1,2,3,4,5,6,7/0,0,2,2,4,4,6,6/0,1/21/s"},
        {"no distances",
         {{NODE(0) "distance", NULL}, {NODE(1) "distance", NULL}},
         "0,1,2,3,4,5,6,7/0,0,2,2,4,4,6,6/0,1/0/d"},
        {"the distances of one node", {{NODE(1) "distance", NULL}}, "other nodes have"},
        {"farther in one direction",
         {{NODE(1) "distance", "30 10\n"}},
         "0,1,2,3,4,5,6,7/0,0,2,2,4,4,6,6/0,1/21/"},
        {"nodes unlike each other", {{NODE(1) "distance", "30 20\n"}}, "to itself"},
        {"a node nearer than itself", {{NODE(1) "distance", "9 10\n"}}, "nearer than itself"},
        {"no list of a node", {{NODE(1) "cpulist", NULL}}, "the list of its CPUs is not"},
        {"a mask of a node in place of a list",
         {{NODE(1) "cpulist", NULL}, {NODE(1) "cpumap", "000000f0\n"}},
         "0,1,2,3,4,5,6,7/0,0,2,2,4,4,6,6/0,1/21/"},
        {"a CPU on two nodes", {{NODE(1) "cpulist", "3-7\n"}}, "another node, too"},
        {"no socket of a node",
         {{CPU(4, SOCKET), NULL}},
         "0,1,2,3,4,5,6,7/0,0,2,2,4,4,6,6//21/"},
        {"a socket that the kernel does not know",
         {{CPU(4, SOCKET), "-1\n"}},
         "0,1,2,3,4,5,6,7/0,0,2,2,4,4,6,6//21/"},
        {"a damaged socket", {{CPU(4, SOCKET), "x\n"}}, ""},
        {"no siblings of the second CPU of a core",
         {{CPU(5, SIBLINGS), NULL}},
         "0,1,2,3,4,5,6,7/0,0,2,2,4,4,6,6/0,1/21/"},
        {"no siblings of a core",
         {{CPU(4, SIBLINGS), NULL}, {CPU(5, SIBLINGS), NULL}},
         "0,1,2,3,4,5,6,7//0,1/21/c"},
        {"no siblings of another CPU",
         {{CPU(5, SIBLINGS), NULL}, {STATUS, ALLOW("0-3")}},
         "0,1,2,3/0,0,2,2/0,1/21/"},
        {"siblings that disagree", {{CPU(2, SIBLINGS), "1-2\n"}}, "another core"},
        {"siblings without the CPU", {{CPU(2, SIBLINGS), "3\n"}}, "lacks the CPU"},
        {"a core on two nodes", {{CPU(0, SIBLINGS), "0-1,4\n"}}, "on two nodes"},
        {"no CPU in the list", {{CPU(2, SIBLINGS), "\n"}}, "lacks the CPU"},
        {"cpu/online lacks allowed CPUs",
         {{ONLINE, "0-3\n"}, {STATUS, ALLOW("4-7")}},
         "4,5,6,7/4,4,6,6/0,1/21/o"},
        {"cpu/online lacks CPUs whose files say that they are online",
         {{ONLINE, "0-3\n"}, {STATUS, ALLOW("0-3")}, {CPU(6, "online"), "1\n"}},
         "0,1,2,3/0,0,2,2/0,1/21/o"},
        {"an old kernel lists an offline CPU",
         {{ONLINE, "0-6\n"}, {CPU(7, "online"), "0\n"}, {CPU(6, SIBLINGS), "6\n"}},
         "0,1,2,3,4,5,6/0,0,2,2,4,4,6/0,1/21/"},
        {"a file of a CPU that is neither 0 nor 1",
         {{ONLINE, "0-6\n"}, {CPU(7, "online"), "2\n"}},
         "neither 0 nor 1"},
        {"a CPU that nothing but its node lists",
         {{ONLINE, "0-6\n"}, {STATUS, ALLOW("0-3")}},
         "0,1,2,3/0,0,2,2/0,1/21/"},
    };
    static const cpubind_pci_request asked = {.wants_cores = 1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pci_host *h = new_host();
        char text[512] = "";
        put(h, ONLINE, "0-7\n");
        put(h, STATUS, ALLOW("0-7"));
        put_node(h, "node0", "0-3\n", "10 21\n");
        put_node(h, "node1", "4-7\n", "21 10\n");
        for (int cpu = 0; cpu < 8; cpu++) {
            static const char *const lists[] = {"0-1\n", "2-3\n", "4-5\n", "6-7\n"};
            char folder[16];
            (void)snprintf(folder, sizeof folder, "cpu%d", cpu);
            put(h, compose(h, "sys/devices/system/cpu", folder, SIBLINGS), lists[cpu / 2]);
            put(h, compose(h, "sys/devices/system/cpu", folder, SOCKET),
                cpu < 4 ? "0\n" : "1\n");
        }
        for (int k = 0; k < 8 && cases[i].file[k][0]; k++) {
            int is_there = 0;
            for (int32_t m = 0; m < h->n; m++)
                if (strcmp(h->file[m].name, cases[i].file[k][0]) == 0) {
                    h->file[m].name = cases[i].file[k][1] ? h->file[m].name : "gone";
                    h->file[m].text = cases[i].file[k][1] ? cases[i].file[k][1] : "";
                    is_there = 1;
                }
            if (!is_there)
                put(h, cases[i].file[k][0], cases[i].file[k][1]);
        }
        if (read_host(h, &asked) == CPUBIND_PROBLEM_NONE) {
            write_facts(&h->facts, text, sizeof text);
            if (strcmp(text, cases[i].expected) != 0)
                fail_msg("%s: %s, not %s", cases[i].name, text, cases[i].expected);
        } else if (strchr(cases[i].expected, '/') ||
                   !strstr(h->fault.what, cases[i].expected)) {
            fail_msg("%s: %s: %s", cases[i].name, h->fault.input, h->fault.what);
        }
        free_host(h);
    }
}

TEST(every_arena_that_is_too_small_says_so)
{
    pci_host *h = host_with_switches();
    const cpubind_source source = {h, read_file, list_files};
    const int32_t own[1024] = {0};
    const cpubind_pci_request ids = {.no_bus = 1, .own_cpu = own, .n_own_cpu = 1024};
    const struct {
        const cpubind_pci_request *request;
        size_t step, least, most;
    } cases[] = {{&ask_all, 4096, 4096, 1 << 20}, {&ids, 256, 8192, 16384}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cpubind_problem_code status = CPUBIND_PROBLEM_NO_MEMORY;
        size_t size = 0;
        for (; status == CPUBIND_PROBLEM_NO_MEMORY; size += cases[i].step) {
            cpubind_arena arena = {(char *)malloc(size + 1), size, 0};
            h->listed = 0;
            h->used = h->used > TEXT_SIZE / 2 ? TEXT_SIZE / 2 : h->used;
            status =
                cpubind_devices_read(&source, cases[i].request, &arena, &h->facts, &h->fault);
            free(arena.base);
        }
        assert_int_equal(status, CPUBIND_PROBLEM_NONE);
        assert_in_range(size, cases[i].least, cases[i].most);
    }
    free_host(h);
}

/* == What the process sees ================================================== */

static pci_host *host_of(int32_t n, const char *const *pci, const char **ids[])
{
    pci_host *h = new_host();
    put(h, "sys/devices/system/cpu/online", "0-7\n");
    for (int32_t i = 0; i < n; i++)
        put_function(h, pci[i], ids[i], "-1\n", "0-7\n");
    return h;
}

static const char *const four[] = {"0000:01:00.0", "0000:02:00.0", "0000:03:00.0",
                                   "0000:04:00.0"};

/* "0", "-" hidden, "?" not known, "." visible without a number; a character a device. */
static void assert_sight(const pci_host *h, const char *expected)
{
    for (int32_t i = 0; i < h->facts.n_device; i++) {
        const cpubind_pci_function *device = &h->facts.device[i];
        const char got = device->sight == CPUBIND_SIGHT_HIDDEN    ? '-'
                         : device->sight == CPUBIND_SIGHT_UNKNOWN ? '?'
                         : device->n_number > 0 ? (char)('0' + device->number[0])
                                                : '.';
        assert_int_equal(got, expected[i]);
    }
    assert_int_equal(h->facts.n_device, strlen(expected));
}

TEST(cuda_shows_equal_gpus_by_address_and_others_by_speed)
{
    const char **alike[] = {gpu, gpu, gpu, npu}, **mixed[] = {gpu, other_gpu, gpu, npu};
    static const struct {
        int is_mixed;
        const char *env, *expected;
    } cases[] = {{0, "CUDA_VISIBLE_DEVICES=2,0\n", "1-0?"},
                 {0, "", "012?"},
                 {0, "CUDA_VISIBLE_DEVICES=\n", "---?"},
                 {0, "CUDA_VISIBLE_DEVICES=MIG-1\n", "????"},
                 {1, "", "...?"},
                 {1, "CUDA_VISIBLE_DEVICES=1\n", "????"},
                 {1, "CUDA_DEVICE_ORDER=PCI_BUS_ID\nCUDA_VISIBLE_DEVICES=1\n", "-0-?"},
                 {1, "CUDA_DEVICE_ORDER=FASTEST_FIRST\n", "...?"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pci_host *h = host_of(4, four, cases[i].is_mixed ? mixed : alike);
        put(h, "env", cases[i].env);
        assert_int_equal(read_host(h, &ask_all), CPUBIND_PROBLEM_NONE);
        assert_sight(h, cases[i].expected);
        free_host(h);
    }
}

TEST(gpus_that_the_driver_does_not_list_are_no_devices_of_cuda)
{
    const char **alike[] = {gpu, gpu, gpu, gpu};
    pci_host *h = host_of(4, four, alike);
    put(h, "proc/driver/nvidia/gpus/0000:02:00.0/information",
        "GPU UUID: \t GPU-8932f937-d72c-4106-c12f-20bd9faed9f6\n");
    put(h, "proc/driver/nvidia/gpus/0000:04:00.0/information",
        "GPU UUID: \t GPU-8932aaaa-d72c-4106-c12f-20bd9faed9f6\n");
    assert_int_equal(read_host(h, &ask_all), CPUBIND_PROBLEM_NONE);
    assert_sight(h, "-0-1");
    put(h, "env", "CUDA_VISIBLE_DEVICES=GPU-8932a,GPU-8932f\n");
    assert_int_equal(read_host(h, &ask_all), CPUBIND_PROBLEM_NONE);
    assert_sight(h, "-1-0");
    free_host(h);
}

/* A container has the files of some devices; the bus shows all of them. */
TEST(devices_without_a_file_of_this_process_are_hidden)
{
    const char *mi300x[3] = {"0x120000\n", "0x1002\n", "0x74a1\n"};
    const char *gaudi[3] = {"0x120000\n", "0x1da3\n", "0x1020\n"};
    const char **amd[] = {mi300x, mi300x, mi300x, mi300x};
    const char **nvidia[] = {gpu, gpu, gpu, gpu}, **habana[] = {gaudi, gaudi, gaudi, gaudi};
    const struct {
        const char ***ids;
        const char *leaf, *folder, *env, *all, *two, *one;
    } cases[] = {
        {amd, "drm/renderD12", "dev/dri/renderD12", "", "0123", "-0-1", "---0"},
        {amd, "drm/renderD12", "dev/dri/renderD12", "HIP_VISIBLE_DEVICES=1\n", "-0--", "---0",
         "----"},
        {nvidia, NULL, "dev/nvidia/nvidia", "", "0123", "-0-1", "---0"},
        {habana, "accel/accel", "dev/accel/accel", "", "????", "-?-?", "---?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pci_host *h = host_of(4, four, cases[i].ids);
        char name[4][80], leaf[4][40], node[4][40];
        put(h, "env", cases[i].env);
        for (int k = 0; k < 4; k++) {
            if (cases[i].leaf) {
                snprintf(leaf[k], sizeof leaf[k], "%s%d", cases[i].leaf, k);
                put_leaf(h, four[k], leaf[k], "");
                put_leaf(h, four[k], "drm/card0", "");
            } else {
                snprintf(name[k], sizeof name[k], "proc/driver/nvidia/gpus/%s/information",
                         four[k]);
                snprintf(leaf[k], sizeof leaf[k], "Device Minor: \t %d\n", k);
                put(h, name[k], leaf[k]);
            }
        }
        assert_int_equal(read_host(h, &ask_all), CPUBIND_PROBLEM_NONE);
        assert_sight(h, cases[i].all);
        for (int k = 3; k > 0; k -= 2) {
            snprintf(node[k], sizeof node[k], "%s%d", cases[i].folder, k);
            put(h, node[k], "1:1\n");
            assert_int_equal(read_host(h, &ask_all), CPUBIND_PROBLEM_NONE);
            assert_sight(h, k == 3 ? cases[i].one : cases[i].two);
        }
        free_host(h);
    }
}

/* One GPU has another driver, such as vfio-pci, and no folder drm. */
TEST(devices_without_the_driver_of_the_others_are_hidden)
{
    const char *max[3] = {"0x038000\n", "0x8086\n", "0x0bda\n"};
    const char **alike[] = {max, max, max, max};
    pci_host *h = host_of(4, four, alike);
    put_leaf(h, four[0], "drm/renderD128", "");
    put_leaf(h, four[1], "drm/renderD129", "");
    put_leaf(h, four[3], "drm/renderD130", "");
    put(h, "dev/dri/renderD128", "226:128\n");
    put(h, "dev/dri/renderD129", "226:129\n");
    put(h, "dev/dri/renderD130", "226:130\n");
    assert_int_equal(read_host(h, &ask_all), CPUBIND_PROBLEM_NONE);
    assert_sight(h, "01-2");
    free_host(h);
}

/* Without nodes the variables of Slurm tell nothing but that all GPUs are there. */
TEST(under_slurm_a_part_of_the_gpus_is_not_known_without_their_files)
{
    const char **alike[] = {gpu, gpu, gpu, gpu};
    static const struct {
        const char *env, *expected;
    } cases[] = {
        {"CUDA_VISIBLE_DEVICES=0\nSLURM_GPUS_ON_NODE=3\nSLURM_STEP_GPUS=2\n", "????"},
        {"CUDA_VISIBLE_DEVICES=3\nSLURM_GPUS_ON_NODE=4\nSLURM_STEP_GPUS=3\n", "????"},
        {"CUDA_VISIBLE_DEVICES=0,1\nSLURM_GPUS_ON_NODE=2\nSLURM_JOB_GPUS=2,3\n", "????"},
        {"CUDA_VISIBLE_DEVICES=0,1\nSLURM_JOB_GPUS=2,3\n", "????"},
        {"SLURM_GPUS_ON_NODE=3\n", "????"},
        {"SLURM_GPUS_ON_NODE=all\n", "????"},
        {"SLURM_GPUS_ON_NODE=4\n", "0123"},
        {"CUDA_VISIBLE_DEVICES=2\nSLURM_GPUS_ON_NODE=4\nSLURM_JOB_GPUS=0,1,2,3\n", "--0-"},
        {"CUDA_VISIBLE_DEVICES=1,2\nSLURM_GPUS_ON_NODE=4\nSLURM_STEP_GPUS=0,1,2,3\n", "-01-"},
        {"CUDA_VISIBLE_DEVICES=0\nSLURM_GPUS_ON_NODE=4\nSLURM_JOB_GPUS=0,1,2,3\n"
         "SLURM_STEP_GPUS=0\n",
         "????"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pci_host *h = host_of(4, four, alike);
        put(h, "env", cases[i].env);
        assert_int_equal(read_host(h, &ask_all), CPUBIND_PROBLEM_NONE);
        assert_sight(h, cases[i].expected);
        assert_int_equal(h->facts.runtime[CPUBIND_VENDOR_NVIDIA].why != NULL,
                         cases[i].expected[0] == '?');
        free_host(h);
    }
}

/* The minor numbers are not in the order of the addresses. */
TEST(under_slurm_the_files_tell_which_gpus_are_numbered)
{
    const char **alike[] = {gpu, gpu, gpu, gpu};
    static const struct {
        const char *env, *expected;
    } cases[] = {
        {"CUDA_VISIBLE_DEVICES=0\nSLURM_GPUS_ON_NODE=3\nSLURM_STEP_GPUS=0\n", "0---"},
        {"CUDA_VISIBLE_DEVICES=1\nSLURM_GPUS_ON_NODE=2\nSLURM_STEP_GPUS=1,3\n", "--0-"},
        {"CUDA_VISIBLE_DEVICES=0,1\nSLURM_GPUS_ON_NODE=2\nSLURM_STEP_GPUS=1,3\n", "0-1-"},
        {"SLURM_GPUS_ON_NODE=2\n", "0-1-"},
        {"CUDA_VISIBLE_DEVICES=GPU-89320002\nSLURM_GPUS_ON_NODE=2\nSLURM_STEP_GPUS=1\n",
         "--0-"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pci_host *h = host_of(4, four, alike);
        put(h, "proc/driver/nvidia/gpus/0000:01:00.0/information",
            "Device Minor: 3\nGPU UUID: GPU-89320000-d72c-4106-c12f-20bd9faed9f6\n");
        put(h, "proc/driver/nvidia/gpus/0000:02:00.0/information",
            "Device Minor: 2\nGPU UUID: GPU-89320001-d72c-4106-c12f-20bd9faed9f6\n");
        put(h, "proc/driver/nvidia/gpus/0000:03:00.0/information",
            "Device Minor: 1\nGPU UUID: GPU-89320002-d72c-4106-c12f-20bd9faed9f6\n");
        put(h, "proc/driver/nvidia/gpus/0000:04:00.0/information",
            "Device Minor: 0\nGPU UUID: GPU-89320003-d72c-4106-c12f-20bd9faed9f6\n");
        put(h, "env", cases[i].env);
        assert_int_equal(read_host(h, &ask_all), CPUBIND_PROBLEM_NONE);
        assert_sight(h, i == 4 ? "--0-" : "????");
        put(h, "dev/nvidia/nvidia1", "195:1\n");
        put(h, "dev/nvidia/nvidia3", "195:3\n");
        assert_int_equal(read_host(h, &ask_all), CPUBIND_PROBLEM_NONE);
        assert_sight(h, cases[i].expected);
        free_host(h);
    }
}

TEST(hip_counts_what_rocr_leaves)
{
    const char *mi300x[3] = {"0x120000\n", "0x1002\n", "0x74a1\n"};
    const char **alike[] = {mi300x, mi300x, mi300x, mi300x};
    static const struct {
        const char *env, *expected;
    } cases[] = {{"ROCR_VISIBLE_DEVICES=3,1,0\nHIP_VISIBLE_DEVICES=2,0\n", "0--1"},
                 {"ROCR_VISIBLE_DEVICES=3,1,0\n", "21-0"},
                 {"HIP_VISIBLE_DEVICES=\nCUDA_VISIBLE_DEVICES=1\n", "-0--"},
                 {"HIP_VISIBLE_DEVICES=2\nCUDA_VISIBLE_DEVICES=1\n", "--0-"},
                 {"ROCR_VISIBLE_DEVICES=\n", "----"},
                 {"ROCR_VISIBLE_DEVICES=GPU-1b\n", "????"},
                 {"", "0123"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pci_host *h = host_of(4, four, alike);
        put(h, "env", cases[i].env);
        assert_int_equal(read_host(h, &ask_all), CPUBIND_PROBLEM_NONE);
        assert_sight(h, cases[i].expected);
        free_host(h);
    }
}

TEST(level_zero_numbers_tiles_unless_devices_are_composite)
{
    const char *max[3] = {"0x038000\n", "0x8086\n", "0x0bd5\n"};
    const char **alike[] = {max, max, max, max};
    static const struct {
        const char *env, *expected;
        int32_t n_last; /* numbers of the last device */
    } cases[] = {{"", "0246", 2},
                 {"ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE\n", "0123", 1},
                 {"ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE\nZE_AFFINITY_MASK=3,0.1\n", "0--1", 1},
                 {"ZE_AFFINITY_MASK=7,0\n", "0--1", 1},
                 {"ZE_AFFINITY_MASK=0.1\n", "????", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pci_host *h = host_of(4, four, alike);
        put(h, "env", cases[i].env);
        assert_int_equal(read_host(h, &ask_all), CPUBIND_PROBLEM_NONE);
        assert_sight(h, cases[i].expected);
        assert_int_equal(h->facts.device[3].n_number, cases[i].n_last);
        free_host(h);
    }
}

TEST(virtual_functions_are_devices_where_there_are_no_physical_ones)
{
    const char **alike[] = {gpu, gpu, gpu, gpu};
    pci_host *h = host_of(4, four, alike);
    put_leaf(h, four[2], "physfn", "");
    put_leaf(h, four[3], "physfn", "");
    put_leaf(h, four[0], "sriov_numvfs", "2\n");
    assert_int_equal(read_host(h, &ask_all), CPUBIND_PROBLEM_NONE);
    assert_sight(h, "01--");
    assert_true(h->facts.device[2].is_virtual);
    assert_int_equal(h->facts.device[0].n_virtual, 2);
    put_leaf(h, four[0], "physfn", "");
    put_leaf(h, four[1], "physfn", "");
    assert_int_equal(read_host(h, &ask_all), CPUBIND_PROBLEM_NONE);
    assert_sight(h, "0123");
    free_host(h);
}

/* == A plan by the core ===================================================== */

TEST(the_facts_are_what_a_plan_by_near_is_made_of)
{
    pci_host *h = host_with_switches();
    cpubind_pci_request request = ask_all;
    const cpubind_policy policy = {
        .strategy = CPUBIND_NEAR,
        .overlap = CPUBIND_OVERLAP_RESOLVE,
        .roles = {.count = {[CPUBIND_ROLE_MAIN] = 1, [CPUBIND_ROLE_ACL] = 1}}};
    int32_t out_cpu[64], out_row[8], *work;
    cpubind_plan plan = {.cpu = out_cpu, .cap_cpu = 64, .row = out_row};
    cpubind_fault fault;
    request.wants_cores = 1;
    put_function(h, "0000:11:00.1", gpu, "0\n", "0-7\n");
    put_function(h, "0000:11:00.2", gpu, "0\n", "0-7\n");
    put(h, "proc/self/status", "Cpus_allowed_list:\t0-5,8-15\n");
    for (int32_t i = 0; i < 16; i++) {
        char name[16], *text = h->text + h->used;
        snprintf(name, sizeof name, "cpu%d", (int)i);
        h->used += (size_t)sprintf(text, "%d-%d\n", (int)(i / 2 * 2), (int)(i / 2 * 2 + 1)) + 1;
        put(h, compose(h, "sys/devices/system/cpu", name, "topology/thread_siblings_list"),
            text);
    }
    assert_int_equal(read_host(h, &request), CPUBIND_PROBLEM_NONE);
    assert_int_equal(h->facts.host.n_cpu, 14);
    assert_int_equal(h->facts.host.core[1], 0);
    assert_int_equal(h->facts.devices.affinity.n, 3);
    plan.cap_work = 1 << 16;
    plan.work = work = (int32_t *)calloc((size_t)plan.cap_work, sizeof *work);
    assert_int_equal(
        cpubind_make_plan(&h->facts.host, &h->facts.devices, &policy, &plan, &fault),
        CPUBIND_OK);
    /* The two GPUs of node 0 share its three cores, the third GPU has node 1. */
    assert_int_equal(out_row[3], 14);
    assert_int_equal(out_row[2], 6);
    for (int32_t i = 0; i < 6; i++)
        assert_true(out_cpu[i] < 6);
    for (int32_t i = 6; i < 14; i++)
        assert_int_equal(out_cpu[i], i + 2);
    assert_int_equal(out_row[1] % 2, 0);
    free(work);
    free_host(h);
}

/* == Files of the NVIDIA driver ============================================= */

TEST(values_of_the_nvidia_driver_are_found_by_their_keys)
{
    static const char text[] =
        "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 123\n"
        "GPU UUID: \t GPU-1\nnoise\nGPU UUID: second\nEmpty:\nBad: a\x01";
    static const struct {
        const char *key, *value;
        cpubind_text_status status;
    } cases[] = {{"Model", "NVIDIA H100 80GB HBM3", CPUBIND_TEXT_OK},
                 {"GPU UUID", "GPU-1", CPUBIND_TEXT_OK},
                 {"Empty", "", CPUBIND_TEXT_OK},
                 {"GPU", NULL, CPUBIND_TEXT_ERR_MISSING},
                 {"noise", NULL, CPUBIND_TEXT_ERR_MISSING},
                 {"Bad", NULL, CPUBIND_TEXT_ERR_SYNTAX},
                 {"A:B", NULL, CPUBIND_TEXT_ERR_ARG},
                 {"", NULL, CPUBIND_TEXT_ERR_ARG}};
    const int32_t len = (int32_t)sizeof text - 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cpubind_slice out = {-7, -7};
        cpubind_text_fault fault = {-1, NULL};
        assert_int_equal(cpubind_nvidia_find(text, len, cases[i].key, &out, &fault),
                         cases[i].status);
        if (!cases[i].value) {
            assert_int_equal(out.at, -7);
            assert_true(fault.offset >= 0 && fault.offset <= len && fault.what);
            continue;
        }
        assert_int_equal(out.len, strlen(cases[i].value));
        assert_memory_equal(text + out.at, cases[i].value, (size_t)out.len);
    }
    assert_int_equal(cpubind_nvidia_find(NULL, 1, "Model", NULL, NULL), CPUBIND_TEXT_ERR_ARG);
}

TEST(cards_for_displays_are_accelerators_by_their_product_alone)
{
    assert_true(cpubind_is_accelerator(0x10de, 0x26b9, CPUBIND_CLASS_3D));
    assert_true(cpubind_is_accelerator(0x10de, 0x26b9, CPUBIND_CLASS_VGA));
    assert_true(cpubind_is_accelerator(0x10de, 0x2684, CPUBIND_CLASS_3D));
    assert_false(cpubind_is_accelerator(0x10de, 0x2684, CPUBIND_CLASS_VGA));
    assert_false(cpubind_is_accelerator(0x10de, 0x22ba, 0x0403)); /* the sound of a card */
    assert_true(cpubind_is_accelerator(0x8086, 0x56c0, CPUBIND_CLASS_DISPLAY));
    assert_false(cpubind_is_accelerator(0x8086, 0x1563, 0x0200));
    assert_true(cpubind_is_accelerator(0x1da3, -1, -1));
    assert_false(cpubind_is_accelerator(0x15b3, -1, -1));
}

TEST(every_family_and_word_has_a_row)
{
    static const struct {
        cpubind_pci_ids ids;
        cpubind_vendor_id vendor;
        const char *product;
        int32_t n_tile;
    } cases[] = {{{0x10de, 0x2330, 0x0302}, CPUBIND_VENDOR_NVIDIA, "H100 SXM5", 1},
                 {{0x10de, 0x1234, 0x0302}, CPUBIND_VENDOR_NVIDIA, NULL, 1},
                 {{0x10de, 0x1234, 0x0300}, CPUBIND_VENDOR_NVIDIA, NULL, 1},
                 {{0x10de, 0x1234, 0x0403}, CPUBIND_VENDOR_OTHER, NULL, 1},
                 {{0x10de, 0x22a3, 0x0680}, CPUBIND_VENDOR_OTHER, NULL, 1}, /* NVSwitch */
                 {{0x1002, 0x74a1, 0x1200}, CPUBIND_VENDOR_AMD, "Instinct MI300X", 1},
                 {{0x1002, 0x738c, 0x0380}, CPUBIND_VENDOR_AMD, "Instinct MI100", 1},
                 {{0x1002, 0x164e, 0x0300}, CPUBIND_VENDOR_OTHER, NULL, 1},
                 {{0x8086, 0x0bd5, 0x0380}, CPUBIND_VENDOR_INTEL, "GPU Max 1550", 2},
                 {{0x8086, 0x56c0, 0x0380}, CPUBIND_VENDOR_INTEL, "GPU Flex 170", 1},
                 {{0x8086, 0x0b25, 0x0880}, CPUBIND_VENDOR_OTHER, NULL, 1},
                 {{0x1da3, 0x1020, 0x1200}, CPUBIND_VENDOR_GAUDI, "Gaudi2", 1},
                 {{0x1e52, 0xb140, 0x1200}, CPUBIND_VENDOR_TENSTORRENT, "Blackhole", 1},
                 {{0x1e52, 0x1234, 0x1200}, CPUBIND_VENDOR_TENSTORRENT, NULL, 1},
                 {{0x1e52, 0x1234, 0x0604}, CPUBIND_VENDOR_OTHER, NULL, 1},
                 {{0x19e5, 0xd802, -1}, CPUBIND_VENDOR_ASCEND, "a2", 1},
                 {{0x19e5, 0x1711, 0x0300}, CPUBIND_VENDOR_OTHER, NULL, 1},
                 {{-1, -1, 0x0302}, CPUBIND_VENDOR_OTHER, NULL, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cpubind_accelerator row = cpubind_accelerator_of(&cases[i].ids);
        assert_int_equal(row.vendor, cases[i].vendor);
        assert_int_equal(row.n_tile, cases[i].n_tile);
        if (cases[i].product)
            assert_string_equal(row.product, cases[i].product);
        else
            assert_null(row.product);
    }
    assert_string_equal(cpubind_vendor_word(CPUBIND_VENDOR_GAUDI), "gaudi");
    assert_string_equal(cpubind_vendor_word((cpubind_vendor_id)99), "other");
    assert_string_equal(cpubind_node_origin_word(CPUBIND_NODE_ORIGIN_BRIDGE), "bridge");
    assert_string_equal(cpubind_nearness_word(CPUBIND_NEARNESS_PIX), "pix");
    assert_string_equal(cpubind_nearness_word((cpubind_nearness)99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_that_a_device_does_not_tell_is_that_of_a_bridge_above),
        cmocka_unit_test(network_cards_are_as_near_as_the_bridges_between_say),
        cmocka_unit_test(a_card_below_another_switch_of_the_same_port_is_farther),
        cmocka_unit_test(without_secondary_bus_numbers_the_folders_of_bridges_tell_them),
        cmocka_unit_test(bridges_that_name_each_other_end_the_way_up),
        cmocka_unit_test(a_node_without_cpus_is_near_the_nearest_that_has_some),
        cmocka_unit_test(a_network_card_has_the_name_of_its_interface),
        cmocka_unit_test(a_machine_without_nodes_has_one),
        cmocka_unit_test(cpus_that_the_caller_knows_need_the_ids_of_nodes_alone),
        cmocka_unit_test(functions_that_are_named_count_whatever_they_are),
        cmocka_unit_test(files_that_fail_or_are_damaged_are_no_absent_files),
        cmocka_unit_test(each_input_of_a_plan_has_its_rule),
        cmocka_unit_test(every_arena_that_is_too_small_says_so),
        cmocka_unit_test(cuda_shows_equal_gpus_by_address_and_others_by_speed),
        cmocka_unit_test(gpus_that_the_driver_does_not_list_are_no_devices_of_cuda),
        cmocka_unit_test(devices_without_a_file_of_this_process_are_hidden),
        cmocka_unit_test(devices_without_the_driver_of_the_others_are_hidden),
        cmocka_unit_test(under_slurm_a_part_of_the_gpus_is_not_known_without_their_files),
        cmocka_unit_test(under_slurm_the_files_tell_which_gpus_are_numbered),
        cmocka_unit_test(hip_counts_what_rocr_leaves),
        cmocka_unit_test(level_zero_numbers_tiles_unless_devices_are_composite),
        cmocka_unit_test(virtual_functions_are_devices_where_there_are_no_physical_ones),
        cmocka_unit_test(the_facts_are_what_a_plan_by_near_is_made_of),
        cmocka_unit_test(values_of_the_nvidia_driver_are_found_by_their_keys),
        cmocka_unit_test(cards_for_displays_are_accelerators_by_their_product_alone),
        cmocka_unit_test(every_family_and_word_has_a_row),
    };
    return cmocka_run_group_tests_name("pci_facts", tests, NULL, NULL);
}
