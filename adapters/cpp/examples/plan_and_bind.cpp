/* plan_and_bind.cpp - plans a host from its files, and binds this process
 * SPDX-License-Identifier: MIT
 *
 *   plan_and_bind FOLDER OWN CPU
 *
 * FOLDER is any host; OWN is a folder with one NPU on this machine; CPU is the CPU that this
 * process is bound to. The examples of the other languages
 * print the same lines.
 */
#include <cstdio>
#include <fstream>
#include <string>

#include "cpubind.hpp"

/* The CPUs of the calling thread, as the kernel prints them. */
static std::string own_cpus()
{
    const std::string key = "Cpus_allowed_list:\t";
    std::ifstream status("/proc/thread-self/status");
    for (std::string line; std::getline(status, line);)
        if (line.compare(0, key.size(), key) == 0)
            return line.substr(key.size());
    return "unknown";
}

static std::string joined(cpubind::span cpus)
{
    std::string text;
    for (std::int32_t cpu : cpus)
        text += (text.empty() ? "" : ",") + std::to_string(cpu);
    return text.empty() ? "none" : text;
}

static void print_plan(const char *folder)
{
    const cpubind::host host = cpubind::host::folder(folder);
    const cpubind::plan plan = host.plan({"rules=near"});
    for (std::int32_t device : plan.devices()) {
        std::string mask;
        char byte[3];
        for (unsigned char bits : plan.mask(device, "irq")) {
            std::snprintf(byte, sizeof byte, "%02x", static_cast<unsigned>(bits));
            mask += byte;
        }
        std::printf("device %d: main %s; irq mask %s; memory node %d; near %d %%\n",
                    static_cast<int>(device), joined(plan.cpus(device, "main")).c_str(),
                    mask.c_str(), static_cast<int>(plan.memory_node(device).value_or(-1)),
                    static_cast<int>(plan.quality("near_percent", device).value_or(-1)));
    }
    std::printf("%s\n%s\n", std::string(plan.json()).c_str(), plan.format("map").c_str());
    try {
        host.plan({"allowed=0", "scope=own", "rules=reference", "strategy=global_slice"});
    } catch (const cpubind::error &e) {
        std::printf("error %s, need %d, have %d: %s\n", e.code(),
                    static_cast<int>(e.number("need").value_or(-1)),
                    static_cast<int>(e.number("have").value_or(-1)), e.what());
    }
}

static void bind_this_process(const char *own, const std::string &cpu)
{
    const std::string before = own_cpus();
    const cpubind::host host = cpubind::host::folder(own);
    cpubind::binding bound = cpubind::binding::bind(host, 0,
                                                    {"npu=0", "scope=own", "rules=reference",
                                                     "strategy=global_slice", "allowed=" + cpu,
                                                     "memory=none", "any-arch=yes"});
    std::printf("bound to %s\n", own_cpus().c_str());
    std::printf("not in place: %d\n", static_cast<int>(bound.verify()));
    bound.restore();
    std::printf("restored: %s\n", own_cpus() == before ? "yes" : "no");
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        std::fprintf(stderr, "usage: plan_and_bind FOLDER OWN CPU\n");
        return 2;
    }
    try {
        print_plan(argv[1]);
        bind_this_process(argv[2], argv[3]);
    } catch (const cpubind::error &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return e.number("exit").value_or(1);
    }
    return 0;
}
