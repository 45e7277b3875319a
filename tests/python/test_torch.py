# SPDX-License-Identifier: MIT
"""test_torch.py - cpubind.torch in place of torch.numa.binding

There is no torch here: one is made that has the functions of some versions, each of which fails
if it is called, and a torch.distributed.run that calls them as torchrun does. The ranks are
processes of this machine, on a made host of two nodes of one CPU each with a GPU on each.
"""
import os
import subprocess
import sys
import tempfile
import unittest

CPUS = sorted(os.sched_getaffinity(0))[:2]

BINDING = """
import dataclasses, enum
class AffinityMode(str, enum.Enum):
    NODE = "node"
    SOCKET = "socket"
    EXCLUSIVE = "exclusive"
    CORE_COMPLEX = "core-complex"
@dataclasses.dataclass(frozen=True)
class NumaOptions:
    affinity_mode: AffinityMode
    should_fall_back_if_binding_fails: bool = False
def %s(*args, **keywords):
    raise RuntimeError("numactl CLI is required for NUMA binding")
"""

# torchrun: python -m torch.distributed.run --numa-binding=MODE SCRIPT
RUN = """
import os, subprocess, sys
from torch.numa.binding import AffinityMode, NumaOptions, NAME
mode = sys.argv[1].partition("=")[2]
options = NumaOptions(AffinityMode(mode)) if mode else None
for rank in range(2):
    command = (sys.executable, "-u", sys.argv[2])
    environment = dict(os.environ, LOCAL_RANK=str(rank), LOCAL_WORLD_SIZE="2")
    CALL
"""

CALLS = {
    "_maybe_wrap_command_args_with_numa_binding":
        "command = NAME(command, gpu_index=rank, numa_options=options)\n"
        "    subprocess.check_call(command, env=environment)",
    "maybe_wrap_command_with_numa_bindings":
        "command = NAME(command_args=command, gpu_index=rank, numa_options=options) or command\n"
        "    subprocess.check_call(command, env=environment)",
    "_maybe_wrap_with_numa_binding":
        "pid = os.fork()\n"
        "    if pid == 0:\n"
        "        os.environ.update(environment)\n"
        "        run = NAME(os.execv, gpu_index=rank, numa_options=options)\n"
        "        run(command[0], command)\n"
        "    assert os.waitpid(pid, 0)[1] == 0",
    "_maybe_apply_numa_binding_to_current_process":
        "pid = os.fork()\n"
        "    if pid == 0:\n"
        "        NAME(device_index=rank, numa_options=options)\n"
        "        os.execve(command[0], command, environment)\n"
        "    assert os.waitpid(pid, 0)[1] == 0",
    "maybe_temporarily_apply_numa_binding_to_current_process":
        "with NAME(gpu_index=rank, numa_options=options):\n"
        "        child = subprocess.Popen(command, env=environment)\n"
        "    assert child.wait() == 0",
}

SCRIPT = """
import os
print(os.environ["LOCAL_RANK"], sorted(os.sched_getaffinity(0)))
"""

# The host of the test in place of this one, in each process.
HOST = """
import os
import cpubind, cpubind._engine
cpubind._engine.open_host = lambda: cpubind.Host.folder(os.environ["TEST_HOST"])
"""


def put(top, name, text):
    path = os.path.join(top, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def put_host(top):
    put(top, "proc/self/status", "Cpus_allowed_list:\t%d,%d\n" % tuple(CPUS))
    put(top, "sys/devices/system/cpu/online", "%d,%d\n" % tuple(CPUS))
    put(top, "sys/devices/system/node/online", "0-1\n")
    for node, cpu in enumerate(CPUS):
        put(top, "sys/devices/system/node/node%d/cpulist" % node, "%d\n" % cpu)
        put(top, "sys/devices/system/node/node%d/distance" % node,
            "10 12\n" if node == 0 else "12 10\n")
        put(top, "sys/devices/system/cpu/cpu%d/topology/thread_siblings_list" % cpu, "%d\n" % cpu)
        device = "sys/bus/pci/devices/0000:0%d:00.0/" % (node + 1)
        for name, text in (("vendor", "0x10de"), ("device", "0x2330"), ("class", "0x030200"),
                           ("numa_node", str(node)), ("local_cpulist", str(cpu))):
            put(top, device + name, text + "\n")


@unittest.skipIf(len(CPUS) < 2, "this process has one CPU")
class TestInPlace(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = folder.name
        put(self.top, "sitecustomize.py", HOST)
        put(self.top, "train.py", SCRIPT)
        for name in ("torch", "torch/numa", "torch/distributed"):
            put(self.top, name + "/__init__.py", "")
        put_host(os.path.join(self.top, "host"))

    def run_ranks(self, name, mode, **environment):
        """What the ranks print, and what is on stderr."""
        put(self.top, "torch/numa/binding.py", BINDING % name)
        put(self.top, "torch/distributed/run.py",
            RUN.replace("CALL", CALLS[name]).replace("NAME", name))
        done = subprocess.run(
            [sys.executable, "-m", "cpubind.torch", "-m", "torch.distributed.run",
             "--numa-binding=" + mode, os.path.join(self.top, "train.py")],
            env=dict(os.environ, TEST_HOST=os.path.join(self.top, "host"),
                     PYTHONPATH=self.top + os.pathsep + os.environ["PYTHONPATH"], **environment),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)
        return done.stdout.splitlines(), done.stderr, done.returncode

    def test_each_version_binds_each_rank_to_its_node(self):
        own = ["%d %s" % (rank, [cpu]) for rank, cpu in enumerate(CPUS)]
        for name in CALLS:
            for mode in ("node", "exclusive"):
                with self.subTest(name=name, mode=mode):
                    self.assertEqual(self.run_ranks(name, mode), (own, "", 0))

    def test_a_socket_is_of_both(self):
        both = ["%d %s" % (rank, CPUS) for rank in range(2)]
        for name in CALLS:
            with self.subTest(name=name):
                self.assertEqual(self.run_ranks(name, "socket"), (both, "", 0))

    def test_without_the_option_nothing_is_bound(self):
        both = ["%d %s" % (rank, CPUS) for rank in range(2)]
        for name in CALLS:
            with self.subTest(name=name):
                self.assertEqual(self.run_ranks(name, ""), (both, "", 0))

    def test_a_failure_is_a_warning_unless_strict(self):
        put(self.top, "host/sys/bus/pci/devices/0000:02:00.0/vendor", "0x8086\n")
        for name in ("_maybe_wrap_command_args_with_numa_binding",
                     "maybe_temporarily_apply_numa_binding_to_current_process"):
            with self.subTest(name=name):
                said, errors, status = self.run_ranks(name, "node")
                self.assertEqual((said[1], status), ("1 %s" % CPUS, 0))
                self.assertEqual(errors.count("rank 1 is not bound: "), 1)
                _, errors, status = self.run_ranks(name, "node", CPUBIND_STRICT="1")
                self.assertNotEqual(status, 0)
                self.assertIn("cpubind", errors)

    def test_a_torch_without_these_functions_is_left_alone(self):
        name = "_maybe_wrap_command_args_with_numa_binding"
        put(self.top, "torch/numa/binding.py", "")
        done = subprocess.run([sys.executable, "-m", "cpubind.torch",
                               os.path.join(self.top, "train.py")],
                              env=dict(os.environ, LOCAL_RANK="0", PYTHONPATH=self.top +
                                       os.pathsep + os.environ["PYTHONPATH"],
                                       TEST_HOST=os.path.join(self.top, "host")),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, check=False)
        self.assertEqual((done.stdout, done.returncode), ("0 %s\n" % CPUS, 0))
        self.assertIn("none of the functions", done.stderr)
        self.assertNotIn(name, done.stderr)


if __name__ == "__main__":
    unittest.main()
