# SPDX-License-Identifier: MIT
"""test_package.py - the package answers as the command does, on every fixture host"""
import glob
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import cpubind
import fixture_hosts

TOP = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
HOSTS = sorted(glob.glob(os.path.join(TOP, "fixtures", "hosts", "*.host")))
COMMAND = fixture_hosts.COMMAND


def without_advice(text):
    """Advice where a host has no accelerators is for a library, or for the command; other
    advice is the same but for how options are written."""
    text = re.sub("-o |--", "", text).replace("=", " ")
    return text.partition("; ")[0] if '"no_npu_smi"' in text else text


def ask_command(folder, *words):
    """What the command says; what -o has said is no setting of a library."""
    done = subprocess.run([COMMAND, "plan", "--root", folder, "--json"] + list(words),
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    said = re.sub(r'"settings": \[[^]]*\], ', "", done.stdout.decode().rstrip("\n"))
    return done.returncode, without_advice(said)


def ask_host(host, **options):
    try:
        with host.plan(**options) as plan:
            return 0, without_advice(plan.json())
    except cpubind.Error as error:
        return error.numbers["exit"], without_advice(error.json)


def ask_package(folder, **options):
    with cpubind.Host.folder(folder) as host:
        return ask_host(host, **options)


class TestPlans(unittest.TestCase):
    def test_a_plan_or_an_error_is_that_of_the_command(self):
        self.assertGreater(len(HOSTS), 100)
        for folder in HOSTS:
            for words, options in (([], {}), (["--rules", "near"], {"rules": "near"}),
                                   (["--rank", "1"], {"rank": 1}),
                                   (["--exclude", "0", "-o", "roles=1,1,0,0"],
                                    {"exclude": "0", "roles": "1,1,0,0"})):
                with self.subTest(os.path.basename(folder), options=options):
                    self.assertEqual(ask_package(folder, **options),
                                     ask_command(folder, *words))

    def test_the_accelerators_are_those_of_the_command(self):
        for name in ("gpu-2socket-8h100", "a2-192cpu-8npu"):
            folder = os.path.join(TOP, "fixtures/hosts", name + ".host")
            done = subprocess.run([COMMAND, "topo", "--root", folder, "--json", "--nics"],
                                  stdout=subprocess.PIPE)
            with cpubind.Host.folder(folder) as host:
                self.assertEqual(host.topo(nics=True), json.loads(done.stdout))
                one = json.loads(done.stdout)["devices"][0]
                self.assertEqual(host.near_cpus(one["pci"])[0], int(one["cpus"].split("-")[0]))
                self.assertEqual(host.home_node(one["pci"]), one["node"])
                with self.assertRaises(cpubind.Error):
                    host.topo(class_="ffff")

    def test_a_host_that_has_planned_plans_as_a_new_one(self):
        # More rows than the facts that a host keeps; each of them twice, in both orders.
        by = {"rules": "reference"}
        rows = [{}, {"rules": "near"}, by, {"rank": 1}, {"rules": "near", "keep": "2"},
                dict(by, overlap="keep"), dict(by, overlap="refuse"),
                {"processes": 2, "index": 1},
                {"visible": "0,1"}, {"visible": "1,0"}, {"visible": "x"}, {"npus": [0]},
                {"npus": [0, 1]}, {"npus": [99]}, {"running": True}, {"allowed": range(40)},
                {"allowed": range(2, 42)}, {"allowed": [0]}, {"exclude": [0]}, {"exclude": [1]},
                {"scope": "own"}, {"scope": "host"}, {"facts": "driver"}, {"total": 16},
                {"facts": "npu-smi"}, {"device_type": "a3"}, dict(by, strategy="global_slice"),
                {"keep": "0-3"}, {"scope": "cpuset", "rank": 0}, {"type": "a2"},
                {"rank": 900}]
        for folder in HOSTS:
            with cpubind.Host.folder(folder) as host:
                for options in rows + rows[::-1]:
                    with self.subTest(os.path.basename(folder), options=options):
                        self.assertEqual(ask_host(host, **options),
                                         ask_package(folder, **options))

    def test_a_plan_outlives_its_host_and_the_facts_of_the_host(self):
        with cpubind.Host.folder(os.path.join(TOP, "fixtures/hosts/a2-192cpu-8npu.host")) as host:
            plan = host.plan(visible="0,1")
            text = plan.json(), plan.format(), plan.explain("all")
            for cpu in range(40):
                host.plan(exclude=[cpu]).close()
            self.assertEqual((plan.json(), plan.format(), plan.explain("all")), text)
        self.assertEqual((plan.json(), plan.format(), plan.explain("all")), text)

    def test_getters_agree_with_the_json(self):
        with cpubind.Host.folder(os.path.join(TOP, "fixtures/hosts/a2-192cpu-8npu.host")) as host:
            plan = host.plan(rank=3)
        facts = plan.dict()
        self.assertEqual(plan.devices, tuple(row["npu"] for row in facts["devices"]))
        self.assertEqual(plan.rank_device, 3)
        self.assertIsNone(host_plan_without_rank().rank_device)
        row, cpus = plan.table("main")
        for i, device in enumerate(plan.devices):
            main = list(plan.cpus(device, "main"))
            self.assertEqual(list(cpus[row[i]:row[i + 1]]), main)
            spans = [span.split("-") for span in facts["devices"][i]["main"].split(",")]
            self.assertEqual(main, [cpu for span in spans
                                    for cpu in range(int(span[0]), int(span[-1]) + 1)])
            bits = int.from_bytes(plan.mask(device, "main"), sys.byteorder)
            self.assertEqual(bits, sum(1 << cpu for cpu in main))
            self.assertEqual(plan.memory_node(device), facts["devices"][i]["memory_node"])
        self.assertEqual(plan.quality("near_percent"), facts["quality"]["near_percent"])
        self.assertEqual(plan.warnings, facts["warnings"])
        self.assertIn("node 0 |", plan.format("map"))
        self.assertIn("CPU 142 is on node 5", plan.explain("cpu142"))
        with self.assertRaises(KeyError):
            plan.cpus(99)
        with self.assertRaises(KeyError):
            plan.cpus(3, "no role")

    def test_options_take_lists_and_switches(self):
        folder = os.path.join(TOP, "fixtures/hosts/a2-192cpu-8npu.host")
        self.assertEqual(ask_package(folder, allowed=range(96), exclude=[0, 1]),
                         ask_command(folder, "--allowed", "0-95", "--exclude", "0,1"))
        code, text = ask_package(folder, no_such_option=1)
        self.assertEqual((code, json.loads(text)["error"]["code"]), (2, "usage"))

    def test_an_error_has_its_numbers(self):
        with cpubind.Host.folder(os.path.join(TOP, "fixtures/hosts/too-few.host")) as host:
            with self.assertRaises(cpubind.Error) as caught:
                host.plan()
        error = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((error.code, error.numbers["need"], error.numbers["have"]),
                         ("too_few_cpus", 5, 0))
        self.assertEqual(str(error), error.text)

    def test_a_host_in_memory_is_the_host_of_the_folder(self):
        folder = fixture_hosts.folder("a3-container-renumbered")
        with cpubind.Host.empty() as host:
            for place, _, names in os.walk(folder):
                for name in names:
                    path = os.path.join(place, name)
                    with open(path, "rb") as file:
                        host.put(os.path.relpath(path, folder), file.read())
            self.assertEqual(ask_host(host), ask_package(folder))

    def test_a_host_of_a_corpus_is_the_host_of_the_folder(self):
        with tempfile.TemporaryDirectory() as place:
            db = os.path.join(place, "corpus.db")
            names = ["a2-192cpu-8npu", "a2-info-hangs", "driver-broken"]
            folders = [os.path.join(TOP, "fixtures", "hosts", name + ".host") for name in names]
            done = subprocess.run([COMMAND, "fixture", "import", "--db", db] + folders,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 0, done.stdout)
            for name, folder in zip(names, folders):
                with self.subTest(name), cpubind.Host.corpus(name, db) as host:
                    self.assertEqual(ask_host(host), ask_package(folder))
            with self.assertRaises(KeyError):
                cpubind.Host.corpus("no-such-host", db)

    def test_the_corpus_is_found_in_the_prefix_of_the_library(self):
        with tempfile.TemporaryDirectory() as place:
            library = os.path.join(place, "usr", "lib", "x86_64-linux-gnu", "libcpubind.so.1")
            db = os.path.join(place, "usr", "share", "cpubind", "fixtures.db")
            for file in (library, db):
                os.makedirs(os.path.dirname(file))
                open(file, "w").close()
            with unittest.mock.patch.dict(os.environ, {"CPUBIND_LIBRARY": library}):
                self.assertEqual(cpubind._library.find_corpus(), os.path.realpath(db))
            with unittest.mock.patch.dict(os.environ, {"CPUBIND_LIBRARY": "libcpubind.so.1"}), \
                    unittest.mock.patch("os.path.isfile", lambda path: path[:6] == "/usr/s"):
                self.assertEqual(cpubind._library.find_corpus(),
                                 "/usr/share/cpubind/fixtures.db")
            with unittest.mock.patch("os.path.isfile", lambda path: False):
                with self.assertRaises(FileNotFoundError):
                    cpubind.Host.corpus("a2-192cpu-8npu")

    def test_an_input_that_is_put_again_loses_its_exit_code(self):
        folder = fixture_hosts.folder("a2-192cpu-8npu")
        name = "cmd/npu-smi-info.txt"
        with cpubind.Host.empty() as host:
            for place, _, names in os.walk(folder):
                for file in names:
                    path = os.path.join(place, file)
                    with open(path, "rb") as bytes_of:
                        host.put(os.path.relpath(path, folder), bytes_of.read())
            plan = host.plan().json()
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
            host.put(name, data, 3)
            self.assertIn("exit_code", host.plan().json())
            host.put(name, data)
            self.assertEqual(host.plan().json(), plan)
            host.put(name[:-len("txt")] + "exit", b"3\n")  # a file of a capture stays
            host.put(name, data)
            self.assertIn("exit_code", host.plan().json())

    def test_the_module_is_a_command(self):
        folder = os.path.join(TOP, "fixtures/hosts/a2-192cpu-8npu.host")
        done = subprocess.run([sys.executable, "-m", "cpubind", "--root", folder, "--json",
                               "--rank=2"], stdout=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stdout.decode().rstrip("\n")),
                         ask_command(folder, "--rank", "2"))

    def test_a_closed_object_is_closed_once(self):
        host = cpubind.Host.empty()
        host.close()
        host.close()

    def test_work_is_shared_out(self):
        self.assertEqual(cpubind.next_pool(0, 0, 1, 0), "device")
        self.assertEqual(cpubind.next_pool(64, 3, 8, 4, 8), "cpu")
        self.assertEqual(cpubind.cpu_budget(64, 8, 4), 4)
        self.assertEqual(cpubind.cpu_budget(64, 8, 0), 0)


def host_plan_without_rank():
    with cpubind.Host.folder(os.path.join(TOP, "fixtures/hosts/a2-192cpu-8npu.host")) as host:
        return host.plan()


if __name__ == "__main__":
    unittest.main()
