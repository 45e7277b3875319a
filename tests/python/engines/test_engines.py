# SPDX-License-Identifier: MIT
"""test_engines.py - cpubind.vllm_ascend, cpubind.sglang and cpubind.torch, without an engine

Hosts are those of fixtures/hosts. Tests that bind run in a lab (lab.sh), which needs a
compiler and root that may mount. Tests that need libcpubind.so.1 are skipped without it.
"""
import contextlib
import json
import logging
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.normpath(os.path.join(HERE, "..", "..", ".."))
PYTHON = os.path.join(TOP, "adapters", "python")
sys.path[:0] = [os.path.join(HERE, "standins"), PYTHON, os.path.dirname(HERE)]

from cpubind import _engine  # noqa: E402
import cpubind.sglang  # noqa: E402
import cpubind.torch  # noqa: E402
import cpubind.vllm_ascend as drop_in  # noqa: E402
from fixture_hosts import folder as folder_of  # noqa: E402


def has_library():
    try:
        with cpubind.Host.empty():
            return True
    except Exception:
        return False


HAS_LIBRARY = has_library()
VARIABLES = [name for name in os.environ if name.startswith(("CPUBIND_", "SLURM_", "OMPI_"))
             and name != "CPUBIND_LIBRARY"]


class Case(unittest.TestCase):
    """A test with an environment of its own, and no binding before or after it."""

    def setUp(self):
        self.environment = mock.patch.dict(os.environ)
        self.environment.start()
        self.addCleanup(self.environment.stop)
        for name in VARIABLES + ["LOCAL_RANK", "ASCEND_RT_VISIBLE_DEVICES", "VLLM_PLUGINS"]:
            os.environ.pop(name, None)
        _engine._bound = None
        self.addCleanup(setattr, _engine, "_bound", None)

    @contextlib.contextmanager
    def lines(self, logger):
        """The lines that are logged, with their levels."""
        heard = []
        handler = logging.Handler()
        handler.emit = lambda record: heard.append((record.levelname, record.getMessage()))
        logger.addHandler(handler)
        level, logger.propagate = logger.level, False
        logger.setLevel(logging.INFO)
        try:
            yield heard
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)


class TestSettings(Case):
    def test_a_plugin_is_on_by_the_switch_or_by_the_list_of_the_engine(self):
        for switch, plugins, is_on in (
                (None, None, False), ("1", None, True), ("true", None, True),
                ("0", None, False), (None, "cpubind", True), (None, "ascend", False),
                (None, "ascend, cpubind", True), ("0", "cpubind", False),
                ("", "cpubind", True)):
            with self.subTest(switch=switch, plugins=plugins), mock.patch.dict(os.environ):
                if switch is not None:
                    os.environ["CPUBIND_ENABLE"] = switch
                if plugins is not None:
                    os.environ["VLLM_PLUGINS"] = plugins
                self.assertEqual(_engine.is_on("VLLM_PLUGINS"), is_on)

    def test_variables_become_options_of_the_command(self):
        os.environ.update(CPUBIND_RULES="near", CPUBIND_SCOPE="own", CPUBIND_MEMORY="none",
                          CPUBIND_ANY_ARCH="1", CPUBIND_OPTIONS="overlap=keep --strict")
        self.assertEqual(_engine.options(), {
            "rules": "near", "scope": "own", "memory": "none", "any-arch": "yes",
            "overlap": "keep", "strict": "yes"})
        self.assertEqual(_engine._keywords(None, None, is_of_plan=True),
                         {"rules": "near", "scope": "own", "overlap": "keep"})

    def test_the_rank_is_that_of_the_launcher(self):
        for environment, rank in (
                ({}, 0), ({"LOCAL_RANK": "3"}, 3), ({"OMPI_COMM_WORLD_LOCAL_RANK": "2"}, 2),
                ({"SLURM_LOCALID": "5"}, 5), ({"SLURM_LOCALID": "5", "LOCAL_RANK": "1"}, 1)):
            with self.subTest(environment), mock.patch.dict(os.environ, environment):
                self.assertEqual(cpubind.torch.local_rank(), rank)
        for text in ("a", "01", "-1", " 1"):
            with mock.patch.dict(os.environ, {"LOCAL_RANK": text}):
                with self.assertRaises(ValueError):
                    cpubind.torch.local_rank()

    def test_the_number_of_an_engine_is_a_logic_id_or_a_phy_id(self):
        renumbered = [{"npu": i, "phy": phy} for i, phy in enumerate((3, 4, 5, 6, 7))]
        plain = [{"npu": i, "phy": None} for i in range(4)]
        for rows, number, own, npu in (
                (plain, 2, 0, 2), (plain, 2, None, 2),
                (renumbered, 7, None, 4),  # a phy id alone
                (renumbered, 0, None, 0),  # a logic id alone
                (renumbered, 3, 0, 0), (renumbered, 3, 3, 3),  # both: as the rank says
                (renumbered, 3, 2, 0), (renumbered, 4, None, 1)):  # else the phy id
            with self.subTest(rows=rows, number=number, own=own):
                self.assertEqual(_engine.device_of_id(rows, number, own), npu)
        with self.assertRaisesRegex(RuntimeError, "Invalid NPU id 9"):
            _engine.device_of_id(plain, 9, None)


class TestPlace(Case):
    def setUp(self):
        super().setUp()
        modules = mock.patch.dict(sys.modules)
        modules.start()
        self.addCleanup(modules.stop)
        import vllm_ascend
        self.module = types.ModuleType("vllm_ascend.cpu_binding")
        self.module.bind_cpus = self.module.DeviceInfo = "theirs"
        sys.modules[self.module.__name__] = vllm_ascend.cpu_binding = self.module
        self.addCleanup(vllm_ascend.__dict__.pop, "cpu_binding")

    def test_the_plugin_leaves_the_place_alone_unless_it_is_switched_on(self):
        drop_in.register()
        self.assertEqual(self.module.bind_cpus, "theirs")

    def test_the_plugin_takes_the_place_of_one_function(self):
        worker = types.ModuleType("vllm_ascend.worker.worker")
        worker.bind_cpus = None
        sys.modules[worker.__name__] = worker
        os.environ["CPUBIND_ENABLE"] = "1"
        drop_in.register()
        drop_in.register()
        from vllm_ascend.cpu_binding import DeviceInfo, bind_cpus
        self.assertIs(bind_cpus, drop_in.bind_cpus)
        self.assertEqual(DeviceInfo, "theirs")
        self.assertIs(worker.bind_cpus, drop_in.bind_cpus)

    def test_a_worker_binds_with_its_device_when_it_shall_bind_early(self):
        calls = []
        base = types.ModuleType("vllm.v1.worker.worker_base")

        class WorkerWrapperBase:
            worker = types.SimpleNamespace(local_rank=0)

            def init_device(self):
                self.worker.local_rank = 5
                calls.append("init_device")
        base.WorkerWrapperBase = WorkerWrapperBase
        for name in ("vllm.v1", "vllm.v1.worker"):
            sys.modules[name] = types.ModuleType(name)
        sys.modules[base.__name__] = base
        os.environ.update(CPUBIND_ENABLE="1", CPUBIND_WHEN="early")
        drop_in.register()
        drop_in.register()
        with mock.patch.object(drop_in, "bind_cpus", calls.append):
            WorkerWrapperBase().init_device()
        self.assertEqual(calls, ["init_device", 5])

    def test_sglang_gets_its_hooks_or_a_function_in_the_place_of_its_own(self):
        registry = types.ModuleType("sglang.srt.plugins.hook_registry")
        registry.HookRegistry = mock.Mock()
        registry.HookType = mock.Mock()
        utils = types.ModuleType("sglang.srt.utils")
        theirs = mock.Mock(is_of_cpubind=False)
        utils.numa_utils = types.SimpleNamespace(configure_subprocess=theirs)
        for name in ("sglang", "sglang.srt", "sglang.srt.plugins"):
            sys.modules[name] = types.ModuleType(name)
        sys.modules[utils.__name__] = utils
        os.environ["SGLANG_PLUGINS"] = "cpubind"
        cpubind.sglang.register()  # there are no plugins
        self.assertIsNot(utils.numa_utils.configure_subprocess, theirs)
        named = types.SimpleNamespace(numa_node=[0, 1])
        utils.numa_utils.configure_subprocess(named, 1)
        theirs.assert_called_once_with(named, 1)
        sys.modules[registry.__name__] = registry
        cpubind.sglang.register()
        self.assertEqual([call.args[0] for call in registry.HookRegistry.register.mock_calls],
                         [cpubind.sglang.START, cpubind.sglang.LOOP])


def mask_of_child(answers):
    answers.put(sorted(os.sched_getaffinity(0)))


class TestStart(Case):
    def test_a_process_of_sglang_starts_on_the_cpus_of_its_npu(self):
        before = os.sched_getaffinity(0)
        first = min(before)
        os.environ["CPUBIND_ANY_ARCH"] = "1"

        def bind_thread(plan, device, role):
            self.assertEqual((plan, device, role), ("plan", 6, "main"))
            os.sched_setaffinity(0, {first})
        context = multiprocessing.get_context("fork")
        answers = context.SimpleQueue()
        with mock.patch.object(_engine, "open_host", mock.MagicMock()), \
                mock.patch.object(_engine, "make_plan", lambda *words: ("plan", 6)), \
                mock.patch.object(cpubind, "bind_thread", bind_thread, create=True):
            server = types.SimpleNamespace(numa_node=None)
            with cpubind.sglang.configure_around(None, server, 2):
                self.assertEqual(os.environ[_engine.STARTED_ON],
                                 ",".join(map(str, sorted(before))))
                child = context.Process(target=mask_of_child, args=(answers,))
                child.start()
        child.join()
        self.assertEqual(answers.get(), [first])
        self.assertEqual(os.sched_getaffinity(0), before)
        self.assertNotIn(_engine.STARTED_ON, os.environ)

    def test_a_process_of_sglang_starts_unbound_with_one_warning(self):
        os.environ["CPUBIND_ANY_ARCH"] = "1"
        server = types.SimpleNamespace(numa_node=None)
        failing = mock.Mock(side_effect=RuntimeError("no plan"))
        with mock.patch.object(_engine, "open_host", failing):
            with self.lines(cpubind.sglang.logger) as lines:
                with cpubind.sglang.configure_around(None, server, 2):
                    pass
            self.assertEqual(
                lines, [("WARNING", "The process for GPU 2 starts unbound: no plan")])
            os.environ["CPUBIND_STRICT"] = "1"
            with self.assertRaises(RuntimeError):
                with cpubind.sglang.configure_around(None, server, 2):
                    pass


class TestLoop(Case):
    def test_a_process_of_sglang_binds_itself_before_it_serves(self):
        calls = []
        old = types.SimpleNamespace(gpu_id=3)
        new = types.SimpleNamespace(ps=types.SimpleNamespace(gpu_id=5))
        named = types.SimpleNamespace(gpu_id=1, server_args=types.SimpleNamespace(numa_node=[0]))
        with mock.patch.object(cpubind.sglang, "bind", calls.append):
            for scheduler in (old, new, named):
                cpubind.sglang.run_event_loop_around(calls.append, scheduler)
            os.environ["CPUBIND_WHEN"] = "early"
            cpubind.sglang.run_event_loop_around(calls.append, old)
        self.assertEqual(calls, [3, old, 5, new, named, old])


class TestLogOfBinding(Case):
    def lines_of(self, report, product="a2"):
        plan = mock.Mock()
        plan.dict.return_value = {"device_type": product,
                                  "devices": [{"npu": 3, "pci": "0000:86:00.0"}]}
        with self.lines(drop_in.logger) as lines:
            _engine.log_binding(drop_in.logger, _engine.Bound(plan, 3, None, report, False))
        return lines

    def test_interrupts_and_memory(self):
        irqs = [{"kind": "irq", "name": name, "id": number, "should": cpu, "result": "moved"}
                for name, number, cpu in (("sq", 1200, "120"), ("cq", 1207, "121"))]
        self.assertEqual(self.lines_of({"items": irqs, "memory": {"node": 5}}), [
            ("INFO", "[migrate] NPU:3 -> NUMA [5]"),
            ("INFO", "NPU3(PCI 0000:86:00.0): sq_send_trigger_irq IRQ_ID=1200 -> CPU120, "
             "cq_update_irq IRQ_ID=1207 -> CPU121")])
        irqs[0]["result"] = "skipped"
        self.assertEqual(self.lines_of({"items": irqs, "memory": None}), [
            ("WARNING", "/proc/irq is not writable. If running in Docker, start the container "
             "with '--privileged=true'.")])

    def test_threads_of_an_ascend_950(self):
        threads = [{"kind": "uvb", "name": "uvb_poll_window", "id": tid, "should": "1-3",
                    "result": "moved"} for tid in (101, 201)]
        self.assertEqual(self.lines_of({"items": threads}, "950"), [
            ("INFO", "[cpu_bind_ascend_950] uvb_poll_window_thread tids=[101 201] cpus=[1 2 3]")])
        self.assertEqual(self.lines_of({"items": []}, "950"), [
            ("WARNING", "[cpu_bind_ascend_950] uvb_poll_window_thread not found. If running in "
             "Docker, start the container with '--pid=host'.")])

    def test_warnings(self):
        warnings = [{"code": "irqbalance", "text": "irqbalance runs"}]
        self.assertEqual(self.lines_of({"items": [], "warnings": warnings}),
                         [("WARNING", "[cpubind] irqbalance runs")])


class TestFailure(Case):
    def test_a_failure_is_one_warning(self):
        os.environ["CPUBIND_ROOT"] = "/nonexistent"
        with self.lines(drop_in.logger) as lines:
            drop_in.bind_cpus(3)
        self.assertEqual([level for level, _ in lines], ["WARNING"])
        self.assertRegex(lines[0][1], "^Bind cpus failed in rank3: .* Skip binding cpu\\.$")

    def test_a_failure_raises_when_asked_to(self):
        os.environ.update(CPUBIND_ROOT="/nonexistent", CPUBIND_STRICT="1")
        with self.assertRaises(Exception):
            drop_in.bind_cpus(3)

    def test_another_machine_is_skipped_as_the_reference_skips_it(self):
        with mock.patch.object(_engine, "may_bind", return_value=False), \
                self.lines(drop_in.logger) as lines:
            drop_in.bind_cpus(0)
        self.assertEqual(lines, [("INFO", "CPU binding skipped: non-ARM CPU detected.")])

    def test_the_reference_alone_asks_for_the_machine(self):
        for machine, environment, may in (
                ("x86_64", {}, True), ("x86_64", {"CPUBIND_RULES": "near"}, True),
                ("x86_64", {"CPUBIND_RULES": "reference"}, False),
                ("x86_64", {"CPUBIND_OPTIONS": "rules=reference"}, False),
                ("x86_64", {"CPUBIND_RULES": "reference", "CPUBIND_ANY_ARCH": "1"}, True),
                ("riscv64", {"CPUBIND_RULES": "reference"}, False),
                ("aarch64", {"CPUBIND_RULES": "reference"}, True)):
            with self.subTest(machine, environment=environment), \
                    mock.patch.dict(os.environ, environment), \
                    mock.patch.object(_engine.platform, "machine", return_value=machine):
                self.assertEqual(_engine.may_bind(), may)

    def test_never_is_never(self):
        os.environ.update(CPUBIND_WHEN="never", CPUBIND_ROOT="/nonexistent")
        with self.lines(drop_in.logger) as lines:
            drop_in.bind_cpus(0)
        self.assertEqual([level for level, _ in lines], ["INFO"])


@unittest.skipUnless(HAS_LIBRARY, "there is no libcpubind.so.1")
class TestPlans(Case):
    def bind(self, name, *words, **named):
        os.environ["CPUBIND_ROOT"] = folder_of(name)
        with self.lines(drop_in.logger) as lines:
            drop_in.bind_cpus(*words, **named)
        return [line for _, line in lines]

    def test_the_log_lines_are_those_of_the_reference(self):
        os.environ["CPUBIND_RULES"] = "reference"
        main = " ".join(map(str, range(146, 166)))
        self.assertEqual(self.bind("a2-192cpu-8npu", 0), [
            "[cpu_bind_mode] mode=topo_affinity rank=0 visible_npus=[0, 1, 2, 3, 4, 5, 6, 7]",
            "The CPU allocation plan is as follows:",
            "NPU0: main=[%s]  acl=[166]  release=[[167]]" % main,
            "[cpubind] CPUBIND_ROOT is set: nothing is bound."])
        self.assertEqual(self.bind("950-smt1-256cpu", 0)[:3], [
            "[cpu_bind_mode] mode=topo_affinity rank=0 visible_npus=[0, 1, 2, 3]",
            "The CPU allocation plan is as follows:",
            "Ascend 950 NPU0: worker=[64 65 66 67 68 69 70 71]"])

    def test_an_engine_names_the_npu_by_a_number(self):
        for number, npu in ((2, 0), (3, 3), (13, 3), (12, 2)):
            with self.subTest(number):
                line = self.bind("a3-container-renumbered", npu, npu_id=number)[2]
                self.assertTrue(line.startswith("NPU%d: " % npu), line)

    def test_torch_and_sglang_plan_the_same(self):
        folder = folder_of("a2-192cpu-8npu")
        os.environ.update(CPUBIND_ROOT=folder, LOCAL_RANK="3")
        with cpubind.Host.folder(folder) as host:
            main = list(host.plan(rules="near").cpus(3, "main"))
        with self.lines(cpubind.torch.logger), self.lines(cpubind.sglang.logger):
            for bound in (cpubind.torch.bind(), cpubind.torch.bind(rank=3),
                          cpubind.torch.bind(npu=3), cpubind.sglang.bind(3)):
                self.assertEqual(bound.device, 3)
                self.assertEqual(list(bound.plan.cpus(3, "main")), main)

    def test_the_devices_of_the_job_are_as_many_as_the_engine_has_ranks(self):
        group = mock.Mock(**{"is_initialized.return_value": True,
                             "get_world_size.return_value": 2})
        os.environ["CPUBIND_ROOT"] = folder_of("a2-192cpu-8npu")
        with mock.patch.dict(sys.modules, torch=mock.Mock(distributed=group)), \
                self.lines(cpubind.torch.logger):
            for rank, npu, devices in ((1, None, 2), (3, None, 8), (None, 3, 8)):
                bound = cpubind.torch.bind(rank=rank, npu=npu)
                self.assertEqual(len(bound.plan.dict()["devices"]), devices)
                _engine.restore()


WORKER = """
import ctypes, json, logging, sys, threading
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
end = threading.Event()
tids = {"main": threading.get_native_id()}
def run(name):
    ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)
    tids[name] = threading.get_native_id()
    end.wait()
def start(name):
    threading.Thread(target=run, args=(name,), daemon=True).start()
    while name not in tids:
        pass
start("acl_thread")
start("release_thread")
"""


@unittest.skipUnless(HAS_LIBRARY, "there is no libcpubind.so.1")
class TestLive(Case):
    """Workers that bind themselves in a lab."""

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.place)
        cls.shim = os.path.join(cls.place, "shim.so")
        if not shutil.which("cc"):
            raise unittest.SkipTest("there is no compiler")
        subprocess.run(["cc", "-std=c11", "-D_DEFAULT_SOURCE", "-shared", "-fPIC", "-o",
                        cls.shim, os.path.join(TOP, "tests/scenes/programs/affinity_shim.c"), "-ldl"],
                       check=True)

    def run_worker(self, text, name="a2-192cpu-8npu", **environment):
        """What a worker on this host prints, its log, where its threads are, and what it has
        started."""
        place = tempfile.mkdtemp(dir=self.place)
        path = os.pathsep.join([os.path.join(HERE, "standins"), PYTHON])
        worker = WORKER + "import importlib\n" + text
        done = subprocess.run(
            [os.path.join(HERE, "lab.sh"), folder_of(name), place, sys.executable,
             "-c", worker], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, SHIM=self.shim, PYTHONPATH=path, **environment))
        if done.returncode == 77:
            self.skipTest("needs root that may mount")
        self.assertEqual(done.returncode, 0, done.stderr)
        masks = {}
        for entry in os.listdir(place):
            if entry.isdigit():
                with open(os.path.join(place, entry)) as file:
                    masks[int(entry)] = file.read().strip()
        started = []
        if os.path.exists(place + "/started"):
            with open(place + "/started") as file:
                started = file.read().splitlines()
        return done.stdout, done.stderr.splitlines(), masks, started

    def test_a_worker_of_vllm_binds_itself_and_goes_back(self):
        said, log, masks, started = self.run_worker("""
from cpubind import vllm_ascend as m
m.logger.addHandler(logging.StreamHandler()); m.logger.setLevel(logging.INFO)
m.bind_cpus(3)
start("late")
m.bind_cpus(3)
place = __import__("os").environ["CPUBIND_SHIM"]
print(json.dumps({n: open("%s/%d" % (place, t)).read().strip() for n, t in tids.items()}))
print(m.restore())
""")
        lines = said.splitlines()
        self.assertEqual(json.loads(lines[0]), {
            "main": "110-117,132-143", "acl_thread": "118", "release_thread": "119",
            "late": "110-117,132-143"})
        self.assertGreaterEqual(int(lines[1]), 4)
        self.assertEqual(set(masks.values()), {"0-191"})
        self.assertIn("The CPU allocation plan is as follows:", log)
        self.assertEqual(log.count("The CPU allocation plan is as follows:"), 1)
        self.assertTrue(all(line.startswith("npu-smi ") for line in started), started)
        self.assertEqual(len(set(started)), len(started))

    def test_a_script_with_torch_binds_itself(self):
        said, _, _, _ = self.run_worker("""
import cpubind.torch
bound = cpubind.torch.bind()
place = __import__("os").environ["CPUBIND_SHIM"]
print(bound.device, open("%s/%d" % (place, tids["main"])).read().strip())
assert "torch" not in sys.modules
""", LOCAL_RANK="5")
        self.assertEqual(said.split(), ["5", "2-9,24-35"])

    def test_sixteen_workers_ask_npu_smi_once(self):
        _, _, masks, started = self.run_worker("""
import os
ranks = []
for rank in range(16):
    pid = os.fork()
    if pid == 0:
        from cpubind import vllm_ascend as m
        m.bind_cpus(rank)
        os._exit(0)
    ranks.append(pid)
print([os.waitpid(pid, 0)[1] for pid in ranks])
""", name="a3-640cpu-16npu", LAB_NPU_SMI_SECONDS="0.2")
        self.assertEqual(len(set(masks.values())), 16, masks)
        self.assertEqual(len(started), len(set(started)), started)


if __name__ == "__main__":
    unittest.main()
