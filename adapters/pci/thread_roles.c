/* thread_roles.c - the rows of all vendors for names of threads and interrupts
 * SPDX-License-Identifier: MIT
 *
 * Pure: no I/O, no malloc.
 */
#include <string.h>

#include "../model/vendor.h"
#include "../text/cpulist.h"

/* Threads that move data, by the libraries that start them beside a device of any vendor. Where
 * a pool has no CPUs for transfer they are main ones. The kernel keeps 15 bytes of a name. */
#define ROW(pattern, giver, why)                                                               \
    {                                                                                          \
        pattern, CPUBIND_NAMED_THREAD, CPUBIND_ROLE_TRANSFER, 0, 0, giver, why                 \
    }
static const cpubind_thread_role movers[] = {
    /* vllm-ascend kv_transfer, vLLM mooncake/store. Python gives its names to the kernel since
     * 3.14 */
    ROW("KVCache*", "vllm-ascend, vLLM",
        "copies KV caches: it needs CPUs near their memory, and none of the single ones"),
    ROW("KVTransfer*", "vllm-ascend", "copies KV caches, as KVCache* does"),
    /* names of thread pools in vLLM, SGLang and connectors for Mooncake and LMCache;
     * Mooncake ascend_direct_transport/utils.cpp, mooncake_connector_v1.py */
    ROW("mooncake*", "Mooncake", "copies KV caches, as KVCache* does"),
    ROW("Mooncake*", "Mooncake", "copies KV caches, as KVCache* does"),
    ROW("vllm-mooncake-s*", "Mooncake", "sends KV caches to other hosts"),
    ROW("ascend-wk-*", "Mooncake", "moves KV caches between NPUs"),
    ROW("lmcache*", "LMCache", "copies KV caches, as KVCache* does"),
    /* by the names of the products: their sources name no threads yet */
    ROW("memcache*", "MemCache", "copies KV caches, as KVCache* does"),
    ROW("hixl*", "HIXL", "copies KV caches, as KVCache* does"),
    ROW("nixl*", "NIXL", "copies KV caches, as KVCache* does"),
    /* ubs-comm (HCOM) net_rdma_driver, rdma_worker.cpp, hcom_periodic_manager.cpp,
     * net_heartbeat.cpp, net_oob.cpp; all but RDMAWkr* wake now and then */
    ROW("RDMAWkr*", "HCOM", "polls the network card for what has been sent and received"),
    ROW("RDMAEvent*", "HCOM", "waits for the network card where nothing polls it"),
    ROW("HcomPerMgr*", "HCOM", "ends transfers whose time is over"),
    ROW("HCOMHb*", "HCOM", "looks whether the other side of a transfer is alive"),
    ROW("OOBTcp*", "HCOM", "sets up connections for transfers"),
    ROW("OOBUds*", "HCOM", "sets up connections for transfers"),
    /* MemFabric hybrid: transfer adapter, hcom_reconnector, acc_store_server, tcp_config_store,
     * smem_group_manager; SGLang's fork for NPUs keeps them and HCOM's off main threads */
    ROW("adpt_lkdwn", "MemFabric", "clears up after a connection that broke"),
    ROW("host_re_conn", "MemFabric", "connects again after a connection that broke"),
    ROW("grp_listen_evt", "MemFabric", "waits for others that join or leave"),
    ROW("config_store_hb", "MemFabric", "tells its store that it is alive"),
    ROW("acc_store_timer", "MemFabric", "ends requests to its store whose time is over"),
    ROW("rank_state_ts", "MemFabric", "waits for the state of other workers"),
    ROW("store_chk_sts", "MemFabric", "looks which workers of its store are alive"),
    ROW("group_send", "MemFabric", "tells others who joins or leaves"),
    ROW("group_mgr_drv", "MemFabric", "brings connections up and down"),
    ROW("NetAsyncGrpMgr", "MemFabric", "does what others who join or leave ask for"),
    /* ucs/async/thread.c */
    ROW("async", "UCX", "waits for the network card in the background"),
    /* NCCL proxy.cc, gin_host.cc, rma_proxy.cc, net_socket.cc, with NCCL_SET_THREAD_NAME=1 */
    ROW("NCCL Progress*", "NCCL", "moves the data of collectives to the network and back"),
    ROW("NCCL GIN Progr*", "NCCL", "moves data that kernels of the GPU send by themselves"),
    ROW("NCCL RMA Proxy*", "NCCL", "moves data of one-sided transfers"),
    ROW("NCCL Sock*", "NCCL", "moves the data of collectives through sockets"),
};

static const int32_t n_mover = (int32_t)(sizeof movers / sizeof *movers);

const cpubind_thread_role *cpubind_thread_mover_at(int32_t place)
{
    return place < n_mover ? &movers[place] : NULL;
}

const cpubind_thread_role *cpubind_thread_role_at(int32_t place)
{
    for (int i = 0; i < CPUBIND_VENDOR_COUNT && place >= 0; i++) {
        const cpubind_vendor *row = cpubind_vendor_of((cpubind_vendor_id)i);
        if (place < row->n_thread)
            return &row->thread[place];
        place -= row->n_thread;
    }
    return place < 0 ? NULL : cpubind_thread_mover_at(place);
}

const cpubind_thread_role *cpubind_thread_role_of(const char *name, cpubind_threads threads)
{
    const cpubind_thread_role *row;
    for (int32_t i = 0; (row = cpubind_thread_role_at(i)) != NULL; i++)
        if (row->named == CPUBIND_NAMED_THREAD &&
            (row->is_reference || threads == CPUBIND_THREADS_PRODUCT) &&
            cpubind_pattern_matches(row->pattern, name))
            return row;
    return NULL;
}

/* DPDK, on which SPDK stands, leaves its caller on the first CPU of a core mask, which is CPU 0
 * where nobody has set one (Mooncake, issue 3865); its names are those of 23.03, those before,
 * and SPDK's. NCCL has left the CPUs near the GPU (nccl, issue 2033); torch names its threads
 * always, NCCL its own with NCCL_SET_THREAD_NAME alone. */
const char *cpubind_mask_changer_of(const char *name, int32_t len)
{
    static const char dpdk[] =
        "DPDK, whose start leaves its thread so (SPDK's core_mask says where)";
    static const char spdk[] =
        "SPDK, whose start leaves its thread so (its core_mask says where)";
    static const char nccl[] =
        "NCCL, of which 2.29.2 to 2.29.7 leave the thread that starts it so: 2.30 does not";
    static const struct {
        const char *start, *of;
    } rows[] = {{"dpdk-", dpdk},    {"eal-intr-", dpdk}, {"lcore-worker-", dpdk},
                {"reactor_", spdk}, {"pt_nccl_", nccl},  {"NCCL ", nccl}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int32_t n = (int32_t)strlen(rows[i].start);
        if (len >= n && memcmp(name, rows[i].start, (size_t)n) == 0)
            return rows[i].of;
    }
    return NULL;
}

void cpubind_thread_role_name(const cpubind_thread_role *role, int32_t device, char *out,
                              int32_t size)
{
    char digits[12] = "";
    int32_t n = 0, n_digit = 0;
    (void)cpubind_cpulist_format(&device, 1, digits, sizeof digits, &n_digit);
    for (const char *c = role->pattern; *c && n < size - 1; c++) {
        if (*c != *CPUBIND_DEVICE_MARK) {
            out[n++] = *c;
            continue;
        }
        for (int32_t i = 0; i < n_digit && n < size - 1; i++)
            out[n++] = digits[i];
        c += sizeof CPUBIND_DEVICE_MARK - 2;
    }
    out[n] = '\0';
}

const char *cpubind_threads_word(cpubind_threads threads)
{
    static const char *const words[] = {
#define CPUBIND_X(name, word) word,
        CPUBIND_THREADS_LIST(CPUBIND_X)
#undef CPUBIND_X
    };
    return words[threads == CPUBIND_THREADS_PRODUCT];
}

const char *cpubind_named_word(cpubind_named named)
{
    static const char *const words[] = {
#define CPUBIND_X(name, word) word,
        CPUBIND_NAMED_LIST(CPUBIND_X)
#undef CPUBIND_X
    };
    return words[(size_t)named < sizeof words / sizeof words[0] ? named : 0];
}
