#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_python.py - plans of the Python package beside the same work in Python, in one run

    BUILD=build tests/bench/bench_python.py     from the top folder, after `make all lib`

Each time is the best of many batches, in microseconds of CPU time. Beside a plan: json.loads of
the JSON of that plan, and the arithmetic of vllm_ascend/cpu_binding.py with sets and lists of
Python, whose CPUs and NPUs are known already. Beside a host that is opened, read and planned:
os.walk and open() of its files. Nothing is asserted.
"""
import json
import os
import sys
import time

TOP = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path[:0] = [os.path.join(TOP, "adapters", "python"), os.path.join(TOP, "tests", "python")]
sys.dont_write_bytecode = True
os.environ.setdefault("CPUBIND_LIBRARY", os.path.join(
    os.path.abspath(os.environ.get("BUILD", "build")), "libcpubind.so.1"))

import cpubind  # noqa: E402  the library of BUILD
import fixture_hosts  # noqa: E402

ROLES = ("pool", "irq", "main", "acl", "release")
HOSTS = (("a3-640cpu-16npu", "640 CPUs, 16 NPUs"), ("a2-192cpu-8npu", "192 CPUs, 8 NPUs"))
BATCHES, BATCH_SECONDS = 15, 0.01


def time_of(work):
    """Microseconds of one call: the best batch."""
    times, best = 1, None
    while True:
        start = time.process_time()
        for _ in range(times):
            work()
        spent = time.process_time() - start
        if spent >= BATCH_SECONDS:
            break
        times *= 2
    for _ in range(BATCHES):
        start = time.process_time()
        for _ in range(times):
            work()
        spent = (time.process_time() - start) / times
        best = spent if best is None else min(best, spent)
    return best * 1e6


def numbers(text):
    """The CPUs of a list such as "0-3,8"."""
    found = []
    for part in (text or "").split(","):
        first, _, last = part.partition("-")
        if first:
            found += range(int(first), int(last or first) + 1)
    return found


def plan_with_sets(allowed, homes):
    """The pools and roles of each NPU as the reference makes them, without its inputs: the home
    cut to the allowed CPUs, shared by the NPUs with the same home, then the roles."""
    shared = {}
    for npu, home in homes.items():
        cpus = sorted(set(home) & set(allowed))
        shared.setdefault(tuple(cpus), []).append(npu)
    roles = {}
    for cpus, npus in shared.items():
        size = len(cpus) // len(npus)
        for i, npu in enumerate(npus):
            end = len(cpus) if i == len(npus) - 1 else (i + 1) * size
            pool = list(cpus[i * size:end])
            roles[npu] = {"pool": pool, "irq": pool[:2], "main": pool[2:-2],
                          "acl": [pool[-2]], "release": [pool[-1]]}
    return roles


def read_all(folder):
    for place, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(place, name), "rb") as file:
                file.read()


def plan_and_lists(host, **options):
    with host.plan(**options) as plan:
        return [plan.table(role) for role in ROLES], plan.devices


def open_and_plan(folder):
    with cpubind.Host.folder(folder) as host, host.plan() as plan:
        return plan.table("main")


def bench(name, title):
    folder = fixture_hosts.folder(name)
    with cpubind.Host.folder(folder) as host:
        with host.plan() as plan:
            text, known = plan.json(), plan.dict()
        allowed = numbers(known["allowed"])
        homes = {npu["npu"]: numbers(npu["pool"]) for npu in known["devices"]}
        rows = [("plan, with the lists of all roles", time_of(lambda: plan_and_lists(host))),
                ("  rules near", time_of(lambda: plan_and_lists(host, rules="near"))),
                ("  and its JSON as a dict", time_of(lambda: host.plan().dict())),
                ("json.loads of that JSON", time_of(lambda: json.loads(text))),
                ("sets and lists of Python", time_of(lambda: plan_with_sets(allowed, homes))),
                ("open, read and plan", time_of(lambda: open_and_plan(folder))),
                ("os.walk, open and read", time_of(lambda: read_all(folder)))]
    beside = dict(rows)
    print("\n%-38s %9s %14s %14s" % (title, "us", "of json.loads", "of the reading"))
    for word, spent in rows:
        print("%-38s %9.1f %14.2f %14.2f" % (word, spent, spent / beside["json.loads of that JSON"],
                                             spent / beside["os.walk, open and read"]))


def main():
    print("Python %s, %s" % (sys.version.split()[0], os.environ["CPUBIND_LIBRARY"]))
    for name, title in HOSTS:
        bench(name, title)


if __name__ == "__main__":
    main()
