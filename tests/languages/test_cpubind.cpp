/* test_cpubind.cpp - tests of cpubind.hpp on fixture hosts; prints what failed
 * SPDX-License-Identifier: MIT
 *
 *   test_cpubind fixtures/hosts
 */
#include <cstdio>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#if __cplusplus >= 202002L
#include <span>
#endif

#include "cpubind.hpp"

static int failures;

#define CHECK(condition)                                                                       \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            failures++;                                                                        \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
        }                                                                                      \
    } while (0)

/* The code of the error that a call throws; "" when it throws none. */
template <typename Call> static std::string code_of(Call call)
{
    try {
        call();
    } catch (const cpubind::error &e) {
        return e.code();
    }
    return "";
}

template <typename Call> static bool is_out_of_range(Call call)
{
    try {
        call();
    } catch (const std::out_of_range &) {
        return true;
    }
    return false;
}

static_assert(!std::is_copy_constructible_v<cpubind::host>);
static_assert(!std::is_copy_constructible_v<cpubind::binding>);
static_assert(std::is_nothrow_move_constructible_v<cpubind::plan>);
static_assert(std::is_nothrow_copy_constructible_v<cpubind::error>);
static_assert(std::is_trivially_copyable_v<cpubind::span>);

static void values(const cpubind::plan &plan)
{
    CHECK(plan.devices().size() == 8);
    CHECK(plan.cpus(0, "irq").size() == 2 && plan.cpus(0, "irq").front() == 144);
    CHECK(plan.cpus(0).size() == 24 && plan.cpus(0).back() == 179);
    CHECK(!plan.cpus(0).empty());
    CHECK(plan.memory_node(0) == 6);
    CHECK(!plan.memory_node(99));
    CHECK(plan.quality("near_percent", 0) == 50);
    CHECK(!plan.quality("nothing"));
    CHECK(!plan.rank_device());
    CHECK(plan.json().substr(0, 12) == "{\"cpubind\": ");
    CHECK(!plan.explain("npu3").empty());
    CHECK(is_out_of_range([&] { (void)plan.cpus(99); }));
    CHECK(is_out_of_range([&] { (void)plan.cpus(0, "nothing"); }));
    CHECK(is_out_of_range([&] { (void)plan.mask(99); }));
    CHECK(is_out_of_range([&] { (void)plan.table("nothing"); }));
    CHECK(code_of([&] { (void)plan.format("nothing"); }) == "usage");
}

static void tables(const cpubind::plan &plan)
{
    for (const char *role : {"pool", "irq", "main", "acl", "release"}) {
        const cpubind::table table = plan.table(role);
        CHECK(table.size() == plan.devices().size());
        for (std::size_t i = 0; i < table.size(); i++) {
            const cpubind::span cpus = plan.cpus(table.device(i), role);
            const std::vector<unsigned char> mask = plan.mask(table.device(i), role);
            std::vector<std::int32_t> set;
            for (std::size_t cpu = 0; cpu < 8 * mask.size(); cpu++)
                if (mask[cpu / 8] >> (cpu % 8) & 1)
                    set.push_back(static_cast<std::int32_t>(cpu));
            CHECK(set == std::vector<std::int32_t>(cpus.begin(), cpus.end()));
            CHECK(set == std::vector<std::int32_t>(table[i].begin(), table[i].end()));
            CHECK(set.empty() || set.back() == *cpus.rbegin());
        }
    }
#if __cplusplus >= 202002L
    const std::span<const std::int32_t> standard = plan.cpus(0);
    CHECK(standard.size() == plan.cpus(0).size() && standard.data() == plan.cpus(0).data());
#endif
}

static void errors(const cpubind::host &host)
{
    try {
        (void)host.plan({"allowed=0", "scope=own", "rules=reference", "strategy=global_slice"});
        CHECK(false);
    } catch (const cpubind::error &e) {
        const cpubind::error copy = e;
        CHECK(copy.code() == std::string("too_few_cpus"));
        CHECK(copy.number("need") == 5 && copy.number("have") == 0 && copy.number("exit") == 1);
        CHECK(!copy.number("line"));
        CHECK(std::string(copy.what()).find("needs 5 CPUs") != std::string::npos);
        CHECK(std::string(copy.json()).find("\"too_few_cpus\"") != std::string::npos);
    }
    CHECK(code_of([&] { (void)host.plan({"colour=red"}); }) == "usage");
    CHECK(code_of([&] { (void)host.plan({"allowed"}); }) == "usage");
    CHECK(code_of([&] { cpubind::host::folder("/nowhere/at/all"); }) != "");
    cpubind::host empty = cpubind::host::empty();
    CHECK(code_of([&] { (void)empty.plan(); }) != "");
    empty.put("uname", "aarch64\n");
    CHECK(code_of([&] { cpubind::binding::open(0, {"state=/nowhere/at/all"}); }) != "");
}

static void threads(const cpubind::host &host, const cpubind::plan &plan)
{
    std::vector<std::thread> all;
    int same[8] = {0};
    for (int &n : same)
        all.emplace_back([&host, &plan, &n] {
            for (int i = 0; i < 8; i++)
                n += host.plan({"rules=near"}).json() == plan.json();
        });
    for (std::thread &thread : all)
        thread.join();
    for (int n : same)
        CHECK(n == 8);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    cpubind::host host = cpubind::host::folder(std::string(argv[1]) + "/a2-192cpu-8npu.host");
    CHECK(cpubind::abi() >= CPB_ABI);
    CHECK(*cpubind::version() != '\0');
    CHECK(host.plan({"rank=3"}).rank_device() == 3);
    values(host.plan());
    tables(host.plan({"rules=near"}));
    errors(host);
    threads(host, host.plan({"rules=near"}));
    CHECK(host.topo().rfind("{\"cpubind\": ", 0) == 0);
    CHECK(cpubind::next_pool(0, 0, 1, 1) == std::string("device"));
    CHECK(cpubind::next_pool(0, 0, 0, 0) == std::string("nobody"));
    CHECK(cpubind::next_pool(64, 3, 8, 4, 8) == std::string("cpu"));
    CHECK(cpubind::cpu_budget(64, 8, 4, 8) == 4);
    CHECK(cpubind::cpu_budget(64, 8, 4) == 4);
    CHECK(cpubind::cpu_budget(64, 8, 0) == 0);
    return failures ? 1 : 0;
}
