# SPDX-License-Identifier: MIT
"""test_bind.py - bindings of live processes, threads, and closed objects

Binds only processes and threads that a test starts. The host is one 950 in memory with two of
the CPUs of this process.
"""
import json
import os
import platform
import struct
import subprocess
import sys
import threading
import unittest

import cpubind

CPUS = sorted(os.sched_getaffinity(0))[:2]
BOTH = ",".join(map(str, CPUS))
TOP = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
A2 = os.path.join(TOP, "fixtures", "hosts", "a2-192cpu-8npu.host")
WORKER = "import sys; print('ready', flush=True); sys.stdin.read()"


def small_host():
    host = cpubind.Host.empty()
    host.put("sys/devices/system/cpu/online", BOTH + "\n")
    host.put("sys/devices/system/node/online", b"0\n")
    host.put("sys/devices/system/node/node0/cpulist", bytearray(BOTH.encode() + b"\n"))
    host.put("proc/self/status", memoryview(b"Cpus_allowed_list:\t%s\n" % BOTH.encode()))
    return host


def plan_options(**more):
    return dict({"total": 1, "device_type": "950", "rules": "reference",
                 "strategy": "global_slice",
                 "allowed": CPUS[1:], "npus": [0]}, **more)


def bind_options(**more):
    return plan_options(npus=None, **more)


@unittest.skipIf(len(CPUS) < 2, "this process has one CPU")
class TestBinding(unittest.TestCase):
    def setUp(self):
        self.worker = subprocess.Popen([sys.executable, "-c", WORKER], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE)
        self.addCleanup(self.end_worker)
        self.assertEqual(self.worker.stdout.readline(), b"ready\n")
        self.pid = self.worker.pid
        os.sched_setaffinity(self.pid, CPUS)

    def end_worker(self):
        self.worker.stdin.close()
        self.worker.wait()
        self.worker.stdout.close()

    def cpus(self):
        return sorted(os.sched_getaffinity(self.pid))

    def bind(self, **more):
        with small_host() as host:
            return host.bind(self.pid, **bind_options(npu=0, memory="none", any_arch=True, **more))

    def test_a_process_is_bound_verified_bound_again_and_restored(self):
        binding = self.bind()
        self.assertEqual(self.cpus(), CPUS[1:])
        self.assertEqual(binding.verify(), 0)
        os.sched_setaffinity(self.pid, CPUS)  # the drift
        self.assertEqual(binding.verify(), 1)
        wrong = [item for item in binding.report()["items"] if item["result"] == "wrong"]
        self.assertEqual([item["id"] for item in wrong], [self.pid])
        self.assertEqual(binding.again(), 1)
        self.assertEqual(self.cpus(), CPUS[1:])
        self.assertEqual(binding.again(), 0)
        self.assertEqual(binding.restore(), 1)
        self.assertEqual(self.cpus(), CPUS)
        self.assertEqual(binding.restore(), 0)
        binding.close()
        binding.close()

    def test_a_block_restores_and_a_close_does_not(self):
        with self.bind() as binding:
            self.assertEqual(self.cpus(), CPUS[1:])
            self.assertEqual(binding.verify(), 0)
        self.assertEqual(self.cpus(), CPUS)
        with self.assertRaises(ZeroDivisionError), self.bind():
            1 // 0
        self.assertEqual(self.cpus(), CPUS)
        self.bind().close()
        self.assertEqual(self.cpus(), CPUS[1:])

    def test_a_binding_is_opened_by_its_record(self):
        self.bind().close()
        with cpubind.open_binding(self.pid) as later:
            self.assertEqual(later.verify(), 0)
            with self.assertRaises(cpubind.Error) as caught:
                later.again()
            self.assertEqual(caught.exception.code, "usage")
        self.assertEqual(self.cpus(), CPUS)

    def test_a_process_is_bound_to_an_accelerator(self):
        host = small_host()
        self.addCleanup(host.close)
        for i, cpu in enumerate(CPUS):
            device = "sys/bus/pci/devices/0000:0%d:00.0/" % (i + 1)
            for name, text in (("vendor", "0x10de"), ("device", "0x2330"),
                               ("class", "0x030200"), ("numa_node", str(i))):
                host.put(device + name, text + "\n")
            host.put("sys/devices/system/node/node%d/cpulist" % i, "%d\n" % cpu)
        for options in ({"pci": "0000:02:00.0"}, {"class_": "0302", "rank": 1}):
            with host.bind(self.pid, memory="none", **options) as binding:
                self.assertEqual(self.cpus(), CPUS[1:])
                self.assertEqual(binding.report()["pci"], "0000:02:00.0")
                os.sched_setaffinity(self.pid, CPUS)
                self.assertEqual(binding.again(), 1)
            self.assertEqual(self.cpus(), CPUS)

    def test_a_process_has_one_binding_at_a_time(self):
        with self.bind():
            with self.assertRaises(cpubind.Error) as caught:
                self.bind()
            self.assertEqual(caught.exception.code, "busy")

    def test_a_process_that_is_gone_is_an_error(self):
        ended = subprocess.Popen([sys.executable, "-c", ""])
        ended.wait()
        with self.assertRaises(cpubind.Error) as caught:
            cpubind.open_binding(ended.pid)
        self.assertEqual(caught.exception.code, "gone")
        with self.assertRaises(cpubind.Error) as caught:
            cpubind.bind(npu=0, pid=ended.pid, any_arch=True)
        self.assertEqual(caught.exception.code, "gone")

    def test_a_refusal_changes_nothing(self):
        for options, code in (({}, "usage"), ({"npu": "x"}, "usage"),
                              ({"npu": 0, "watch": 1}, "usage"),
                              ({"npu": 7, "any_arch": True}, None)):
            with self.subTest(options), small_host() as host:
                with self.assertRaises(cpubind.Error) as caught:
                    host.bind(self.pid, **bind_options(**options))
                self.assertTrue(caught.exception.text)
                if code:
                    self.assertEqual(caught.exception.code, code)
                self.assertEqual(json.loads(caught.exception.json)["error"]["code"],
                                 caught.exception.code)
                self.assertEqual(self.cpus(), CPUS)
        if not platform.machine().startswith(("aarch64", "arm")):
            with small_host() as host, self.assertRaises(cpubind.Error) as caught:
                host.bind(self.pid, **bind_options(npu=0))
            self.assertEqual(caught.exception.code, "not_arm")
        self.assertEqual(self.cpus(), CPUS)

    def test_a_thread_binds_itself_alone(self):
        found = []

        def run(plan):
            cpubind.bind_thread(plan, 0, "pool")
            found.append(sorted(os.sched_getaffinity(0)))
            try:
                cpubind.bind_thread(plan, 7, "main")
            except cpubind.Error as error:
                found.append(error.code)

        with small_host() as host, host.plan(**plan_options()) as plan:
            thread = threading.Thread(target=run, args=(plan,))
            thread.start()
            thread.join()
        self.assertEqual(found, [CPUS[1:], "usage"])
        self.assertTrue(set(CPUS) <= set(os.sched_getaffinity(0)))


class TestObjects(unittest.TestCase):
    def test_eight_threads_plan_from_one_host(self):
        answers = []
        with cpubind.Host.folder(A2) as host:
            expected = {rules: host.plan(rules=rules).json() for rules in ("near", "reference")}

            def run(rules):
                for _ in range(10):
                    with host.plan(rules=rules) as plan:
                        answers.append(plan.json() == expected[rules])
            threads = [threading.Thread(target=run, args=(("near", "reference")[i % 2],))
                       for i in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(answers, [True] * 80)

    def test_a_plan_outlives_its_host(self):
        with cpubind.Host.folder(A2) as host:
            plan = host.plan()
        text = plan.format("map") + plan.explain("npu0") + str(plan)
        self.assertIn("node 0", text)

    def test_a_mask_is_of_longs(self):
        with cpubind.Host.folder(A2) as host, host.plan() as plan:
            for role in ("pool", "irq", "main", "acl", "release"):
                for device in plan.devices:
                    mask = plan.mask(device, role)
                    self.assertEqual(len(mask) % struct.calcsize("l"), 0)
                    bits = int.from_bytes(mask, sys.byteorder)
                    self.assertEqual(bits, sum(1 << cpu for cpu in plan.cpus(device, role)))
            with self.assertRaises(KeyError):
                plan.mask(99)

    def test_a_closed_object_raises(self):
        host = cpubind.Host.folder(A2)
        plan = host.plan()
        host.close()
        plan.close()
        uses = [host.plan, host.bind, lambda: host.put("proc/self/status", b""),
                lambda: plan.devices, lambda: plan.rank_device, plan.json, plan.dict,
                plan.format, lambda: plan.explain("npu0"), lambda: plan.cpus(0),
                lambda: plan.mask(0), plan.table, lambda: plan.memory_node(0),
                lambda: plan.quality("far"), lambda: cpubind.bind_thread(plan, 0)]
        for use in uses:
            with self.assertRaisesRegex(ValueError, "closed"):
                use()
        with self.assertRaisesRegex(ValueError, "closed"), host:
            pass

    def test_an_input_that_is_put_twice_is_the_last_one(self):
        with small_host() as host:
            before = host.plan(**plan_options()).json()
            host.put("proc/self/status", b"Cpus_allowed_list:\tx\n")
            options = plan_options(allowed=None)
            with self.assertRaises(cpubind.Error) as caught:
                host.plan(**options)
            self.assertIn("Cpus_allowed_list", caught.exception.text)
            host.put("proc/self/status", "Cpus_allowed_list:\t%s\n" % BOTH)
            self.assertEqual(host.plan(**plan_options()).json(), before)

    def test_a_host_that_is_not_there_is_an_error(self):
        with self.assertRaises(cpubind.Error) as caught:
            cpubind.Host.folder("/no-such-folder")
        self.assertEqual(caught.exception.code, "unreadable")
        self.assertEqual(caught.exception.numbers["errno"], 2)


if __name__ == "__main__":
    unittest.main()
