#!/usr/bin/env python3
"""peers.py - pools of six layouts by cpubind and by others, in figures: the rows of peers.txt

    tests/quality/peers.py COMMAND FOLDER     the command cpubind, and fixtures/hosts

vllm-ascend is the rule "reference", which vectors of its own code hold. The others are rules in
our words: hwloc-distrib cuts the CPUs, node by node, into equal runs, whatever is near a device;
the modes of torchrun --numa-binding (pytorch, torch/numa/binding.py) give the CPUs of the
device's node; of its socket; those of its node, cut evenly among its devices, the first ones
having one more; or one last cache of its node, the largest first, in turns.
"""
import json
import re
import subprocess
import sys

LAYOUTS = (("a2-192cpu-8npu", "8 NPUs, 8 nodes", 8), ("a2-192cpu-4node-8npu", "8 NPUs, 4 nodes", 8),
           ("gpu-2socket-8h100", "8 H100, 2 nodes", 8),
           ("gpu-snc-8nodes-4mi300x", "4 MI300X, 8 nodes", 4),
           ("gpu-epyc-nps4-8mi300x", "8 MI300X, 8 nodes", 8), ("gpu-grace-2gh200", "2 GH200", 2))


def cpus_of(text):
    """The CPUs of "0-3,7"."""
    runs = (part.split("-") for part in text.split(",") if part.strip())
    return {cpu for run in runs for cpu in range(int(run[0]), int(run[-1]) + 1)}


def read_host(path):
    """Nodes and last caches as CPUs; by node, who is on its socket; the node of each function."""
    with open(path) as host:
        files = re.findall(r"^file sys/\S*/([^/\s]+/\S*[^/\s]+/?[^/\s]+)\n ([^\n]*)",
                           host.read(), re.M)

    def named(pattern):
        return {m[1]: text for name, text in files if (m := re.search(pattern, name))}

    nodes = {int(node): cpus_of(cpus) for node, cpus in named(r"node(\d+)/cpulist$").items()}
    caches = {cpus for name, cpus in files if name.endswith("index3/shared_cpu_list")}
    beside = {int(node): [int(steps) < 20 for steps in row.split()]
              for node, row in named(r"node(\d+)/distance$").items()}
    return nodes, sorted(map(cpus_of, caches), key=min), beside, named(r"([^/]+)/numa_node$")


def torch_pool(host, homes, at, mode):
    """The CPUs of one device; none: its node has no CPUs, and torch fails."""
    nodes, caches, beside, _ = host
    cpus, turn = sorted(nodes.get(homes[at], ())), homes[:at].count(homes[at])
    if cpus and mode == "socket":
        return set().union(*(nodes[node] for node, is_one in enumerate(beside[homes[at]])
                             if is_one))
    if mode == "exclusive":
        each, more = divmod(len(cpus), homes.count(homes[at]))
        first = turn * each + min(turn, more)
        cpus = cpus[first:first + each + (turn < more)]
    inside = sorted((c for c in caches if c & set(cpus)), key=lambda c: (-len(c), min(c)))
    return inside[turn % len(inside)] if mode == "core-complex" and inside else set(cpus)


def figures(host, near, pools):
    nodes, caches = host[:2]
    handed = sorted(cpu for pool in pools for cpu in pool)
    at_home = [len(pool & home) for pool, home in zip(pools, near)]
    sizes = sorted({len(pool) for pool in pools})
    return (100 * sum(at_home) // len(handed),
            min(100 * n // len(pool) for n, pool in zip(at_home, pools)),
            len(set().union(*nodes.values()) - set(handed)),
            sum(handed.count(cpu) > 1 for cpu in set(handed)),
            sum(sum(bool(pool & cache) for pool in pools) > 1 for cache in caches) if caches
            else "", max(sum(bool(pool & node) for node in nodes.values()) for pool in pools),
            "-".join(map(str, sizes[:1] + sizes[1:][-1:])))


def main(command, folder):
    for name, title, n in LAYOUTS:
        path = "%s/%s.host" % (folder, name)
        host = read_host(path)

        def plan(*more):
            visible = ",".join(map(str, range(n)))
            out = subprocess.run((command, "plan", "--root", path, "--json", "--visible", visible)
                                 + more, stdout=subprocess.PIPE, check=True).stdout
            return json.loads(out)["devices"]

        devices = plan()
        order = [cpu for node in sorted(host[0]) for cpu in sorted(host[0][node])]
        rows = {"**cpubind**": [cpus_of(device["pool"]) for device in devices],
                "hwloc-distrib": [set(order[len(order) * i // n:len(order) * (i + 1) // n])
                                  for i in range(n)]}
        if name.startswith("a2"):
            rows["vllm-ascend"] = [cpus_of(device["pool"])
                                   for device in plan("--rules", "reference")]
        else:
            homes = [int(host[3][device["pci"]]) for device in devices]
            for mode in ("node", "socket", "exclusive", "core-complex"):
                rows["torch " + mode] = [torch_pool(host, homes, at, mode) for at in range(n)]
        near = [host[0][device["node"]] for device in devices]
        for who, pools in rows.items():
            cells = figures(host, near, pools) if all(pools) else ("fails",) + ("",) * 6
            print("| %s |" % " | ".join(map(str, (title, who) + cells)))


main(*sys.argv[1:])
