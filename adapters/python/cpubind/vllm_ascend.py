# SPDX-License-Identifier: MIT
"""vllm_ascend.py - cpubind in the place of vllm_ascend/cpu_binding.py

  CPUBIND_ENABLE=1 vllm serve ...

Behaves as the module of vllm-ascend 182b75ea to its callers: bind_cpus(rank_id), with npu_id=
as later versions call it, DeviceInfo.get_npu_map_info(), and the log lines to the character.
The plan and the binding come from libcpubind. Starts no process but npu-smi, and that only if
the files of the driver do not name the NPUs and no other worker has asked within five seconds.
bind_cpus must not raise, but for CPUBIND_STRICT=1.

register() is an entry point of vllm.general_plugins. A copy of this file in the place of
vllm_ascend/cpu_binding.py works, too, where the package cpubind is installed.

DeviceInfo and CpuAlloc, the second half of the file, are for other callers of the module that
this one replaces: the same fields and methods, by the rules of the reference. bind_cpus has no
use for them.

The variables of _engine.py, and
  CPUBIND_WHEN      warmup (default): where vllm-ascend calls bind_cpus, after the warm-up;
                    early: as soon as the worker has its device, and again after the warm-up;
                    never: nothing is bound
"""
from __future__ import annotations

import ctypes
import logging
import os
import platform
import re
import shutil  # noqa: F401 - a name of the module that callers replace in tests
import subprocess
import sys
from collections import defaultdict
from types import SimpleNamespace
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple

from cpubind import _engine

try:
    from vllm.logger import logger
except Exception:  # whatever an engine that is not complete raises
    logger = logging.getLogger("cpubind.vllm_ascend")

try:
    import psutil
except ImportError:
    psutil = SimpleNamespace(Process=lambda: SimpleNamespace(pid=os.getpid()))

PLACE = "vllm_ascend.cpu_binding"
ASCEND_RT_VISIBLE_DEVICES = os.getenv("ASCEND_RT_VISIBLE_DEVICES")
ALLOWED_CPUS_PATH = "/proc/self/status"


def is_arm_cpu() -> bool:
    is_arm = _engine.is_arm(platform.machine())
    if is_arm is None:
        logger.warning("Unknown CPU architecture. arch=%s, action: disabling CPU binding.",
                       platform.machine().lower())
    return bool(is_arm)


# == In the place of the module ================================================


def register() -> None:
    """The entry point of vllm.general_plugins. vLLM calls it in each of its processes before it
    imports the worker."""
    if _engine.is_on("VLLM_PLUGINS"):
        take_place()


def take_place() -> None:
    """Makes this module the one that `from vllm_ascend.cpu_binding import ...` finds."""
    module = sys.modules[__name__]
    sys.modules[PLACE] = module
    try:
        import vllm_ascend
    except ImportError:
        return
    vllm_ascend.cpu_binding = module
    worker = sys.modules.get("vllm_ascend.worker.worker")
    if worker is not None:
        worker.bind_cpus = bind_cpus
    if _when() == "early":
        _bind_with_device()


def _when() -> str:
    return os.environ.get("CPUBIND_WHEN", "warmup").strip().lower()


def _bind_with_device() -> None:
    """Lets each worker bind itself when it has its device and its rank is the final one."""
    try:
        from vllm.v1.worker.worker_base import WorkerWrapperBase
    except ImportError:
        return
    init_device = WorkerWrapperBase.init_device
    if getattr(init_device, "is_of_cpubind", False):
        return

    def init_device_and_bind(self: Any, *words: Any, **named: Any) -> Any:
        result = init_device(self, *words, **named)
        if _is_enabled_in_engine():
            bind_cpus(self.worker.local_rank)
        return result

    init_device_and_bind.is_of_cpubind = True
    WorkerWrapperBase.init_device = init_device_and_bind


def _is_enabled_in_engine() -> bool:
    """additional_config.enable_cpu_binding, which vllm-ascend itself looks at after warm-up."""
    try:
        from vllm_ascend.ascend_config import get_ascend_config
        return bool(get_ascend_config().enable_cpu_binding)
    except Exception:
        return True


def bind_cpus(rank_id: int, npu_id: Optional[int] = None) -> None:
    """Binds this worker: its threads, the interrupts of its NPU, its memory. Whatever fails is
    one warning, in the words of the worker of vllm-ascend; CPUBIND_STRICT=1 lets it raise."""
    if _when() == "never":
        logger.info("CPU binding skipped: CPUBIND_WHEN=never.")
        return
    if not (_engine.may_bind() or is_arm_cpu()):
        logger.info("CPU binding skipped: non-ARM CPU detected.")
        return
    _engine.try_to_bind(logger, rank_id, npu_id)


def restore() -> int:
    """Puts this process back to where it was before bind_cpus."""
    return _engine.restore()


# == Answers in place of other programs ========================================


def execute_command(cmd: List[str]) -> Tuple[str, int]:
    """The output of a command, and its exit status. ps, lscpu, taskset and migratepages are not
    started: the answer comes from the kernel. npu-smi info -m is answered by the library where
    it can. Another command is run, in the C locale."""
    answer = _ANSWERS.get(cmd[0])
    if answer:
        answered = answer(cmd)
        if answered is not None:
            return answered
    names = ("LC_ALL", "LANG", "LC_MESSAGES")
    environment = dict(os.environ, **dict.fromkeys(names, "C"))
    with subprocess.Popen(cmd, shell=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=environment) as process:
        try:
            text, _ = process.communicate(timeout=1000)
        except subprocess.TimeoutExpired:
            process.kill()
            text, _ = process.communicate()
    return text.decode(), process.returncode


def _answer_npu_smi(cmd: List[str]) -> Optional[Tuple[str, int]]:
    if cmd[1:] != ["info", "-m"] or ASCEND_RT_VISIBLE_DEVICES:
        return None  # a plan has the visible NPUs alone
    try:
        with _engine.open_host() as host:
            rows = _engine.npus_of(host.plan())
    except Exception:
        return None
    lines = ["NPU ID  Chip ID  Chip Logic ID"]
    lines += ["%d  %d  %d" % (row["card"], row["chip"], row["npu"]) for row in rows]
    return "\n".join(lines), 0


def _threads_of(pid: str) -> List[str]:
    try:
        return sorted(os.listdir("/proc/%s/task" % pid), key=int)
    except OSError:
        return []


def _answer_ps(cmd: List[str]) -> Tuple[str, int]:
    lines = ["PID SPID TTY TIME CMD"]
    for pid in sorted(filter(str.isdigit, os.listdir("/proc")), key=int):
        for tid in _threads_of(pid):
            try:
                with open("/proc/%s/task/%s/comm" % (pid, tid)) as file:
                    lines.append("%s %s ? 00:00:00 %s" % (pid, tid, file.read().strip()))
            except OSError:
                pass  # the thread has ended
    return "\n".join(lines), 0


def _list_of(path: str) -> List[int]:
    """The list of numbers in a file of /sys; [] where there is none."""
    try:
        with open(path) as file:
            text = file.read().strip()
    except OSError:
        return []
    return DeviceInfo.expand_cpu_list(text) if text else []


def _answer_lscpu(cmd: List[str]) -> Tuple[str, int]:
    if len(cmd) == 1:
        siblings = _list_of("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list")
        return "Thread(s) per core: %d\n" % len(siblings) if siblings else "", 0
    node_of = {}
    for node in _list_of("/sys/devices/system/node/online"):
        for cpu in _list_of("/sys/devices/system/node/node%d/cpulist" % node):
            node_of[cpu] = node
    if not node_of:
        node_of = dict.fromkeys(_list_of("/sys/devices/system/cpu/online"), 0)
    return "\n".join("%d %d" % pair for pair in sorted(node_of.items())), 0


def _answer_taskset(cmd: List[str]) -> Tuple[str, int]:
    _, way, cpus, pid = cmd
    moved = 0
    for tid in _threads_of(pid) if "a" in way else [pid]:
        try:
            os.sched_setaffinity(int(tid), DeviceInfo.expand_cpu_list(cpus))
            moved += 1
        except ProcessLookupError:
            pass  # the thread has ended
        except (OSError, ValueError) as error:
            return str(error), 1
    return "", 0 if moved else 1


def _answer_migratepages(cmd: List[str]) -> Tuple[str, int]:
    number = {"aarch64": 238, "x86_64": 256}.get(platform.machine())
    if number is None or os.environ.get("CPUBIND_MEMORY") == "none":
        return "", 1
    n_long = 16  # 1024 nodes, the most that Linux is built for
    bits = (sum(1 << node for node in DeviceInfo.expand_cpu_list(word)) for word in cmd[2:4])
    masks = [ctypes.create_string_buffer(number_of.to_bytes(8 * n_long, sys.byteorder), 8 * n_long)
             for number_of in bits]
    left = ctypes.CDLL(None, use_errno=True).syscall(
        ctypes.c_long(number), ctypes.c_long(int(cmd[1])), ctypes.c_ulong(64 * n_long + 1),
        masks[0], masks[1])
    return "", 0 if left >= 0 else 1


_ANSWERS: Dict[str, Callable[[List[str]], Optional[Tuple[str, int]]]] = {
    "npu-smi": _answer_npu_smi, "ps": _answer_ps, "lscpu": _answer_lscpu,
    "taskset": _answer_taskset, "migratepages": _answer_migratepages}


# == The classes of the module =================================================


def get_ascend_device_type() -> Any:
    from vllm_ascend import utils
    return utils.get_ascend_device_type()


def _product() -> str:
    """A2, A3, A5 or _310P: the name of a member of vllm_ascend.utils.AscendDeviceType."""
    found = get_ascend_device_type()
    return str(getattr(found, "name", found))


class DeviceInfo:
    """The NPUs of the host by npu-smi, and the CPUs of this process."""

    def __init__(self) -> None:
        self.npu_map_info: Dict[str, Dict[str, str]] = self.get_npu_map_info()
        self.allowed_cpus: List[int] = self.parse_allowed_cpus()
        self.running_npu_list: List[int] = self.get_running_npus()
        self.npu_affinity: Dict[int, List[int]] = self.parse_topo_affinity()
        self.all_logic_npus: List[int] = self.get_all_logic_npus()
        self.total_logic_npus: int = len(self.all_logic_npus)

    @staticmethod
    def split_npu_smi_header(line: str) -> List[str]:
        return re.split(r"\s{2,}", line.strip())

    @staticmethod
    def is_cpu_list(cpu_list_str: str) -> bool:
        return re.fullmatch(r"\d+(-\d+)?(,\s*\d+(-\d+)?)*", cpu_list_str) is not None

    @staticmethod
    def expand_cpu_list(allowed_list_str: str) -> List[int]:
        return _engine.cpus_of_list(allowed_list_str)

    @staticmethod
    def get_npu_map_info() -> Dict[str, Dict[str, str]]:
        """{card: {chip: logic id}}, each number as text, by npu-smi info -m. A table without
        logic ids numbers the NPUs by card."""
        text, _ = execute_command(["npu-smi", "info", "-m"])
        lines = [line for line in text.splitlines() if line.strip()]
        if not lines:
            raise RuntimeError("npu-smi info -m prints nothing.")
        head = DeviceInfo.split_npu_smi_header(lines[0])
        card_at = head.index("NPU ID")
        logic_at = head.index("Chip Logic ID") if "Chip Logic ID" in head else card_at
        found: Dict[str, Dict[str, str]] = {}
        for line in lines[1:]:
            cells = line.split()
            if cells[logic_at].isdigit():
                chip = cells[head.index("Chip ID")] if "Chip ID" in head else "0"
                found.setdefault(cells[card_at], {})[chip] = cells[logic_at]
        return found

    def get_all_logic_npus(self) -> List[int]:
        return sorted({int(logic) for chips in self.npu_map_info.values()
                       for logic in chips.values() if logic.isdigit()})

    def resolve_logic_id(self, npu_id: str, chip_id: Optional[str]) -> int:
        chips = self.npu_map_info.get(npu_id, {})
        if chip_id is None and len(chips) != 1:
            raise RuntimeError("The process table names NPU %s without a chip, and that NPU "
                               "has %d chips." % (npu_id, len(chips)))
        logic = chips.get(chip_id) if chip_id is not None else next(iter(chips.values()))
        if not logic or not logic.isdigit():
            raise RuntimeError("npu-smi info -m has no logic id for chip %s of NPU %s."
                               % (chip_id, npu_id))
        return int(logic)

    def get_running_npus(self) -> List[int]:
        """The visible NPUs in the process table of npu-smi info."""
        text, _ = execute_command(["npu-smi", "info"])
        has_chips = None  # not in the process table yet
        running: Set[int] = set()
        for line in map(str.strip, text.splitlines()):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if line.startswith("| NPU") and "Process id" in line:
                has_chips = cells[0].split() == ["NPU", "Chip"]
            elif has_chips is not None and line.startswith("| ") and len(cells) > 1:
                ids = cells[0].split()[:2 if has_chips else 1]
                if ids and all(map(str.isdigit, ids)):
                    running.add(self.resolve_logic_id(ids[0], ids[1] if has_chips else None))
        if ASCEND_RT_VISIBLE_DEVICES:
            running &= set(map(int, ASCEND_RT_VISIBLE_DEVICES.split(",")))
        if not running:
            raise RuntimeError("Can not get running npu info.")
        return sorted(running)

    def parse_allowed_cpus(self) -> List[int]:
        if not os.path.exists(ALLOWED_CPUS_PATH):
            return []
        with open(ALLOWED_CPUS_PATH) as file:
            for line in file:
                if line.startswith("Cpus_allowed_list"):
                    return self.expand_cpu_list(line.split()[1])
        raise RuntimeError("%s has no line Cpus_allowed_list." % ALLOWED_CPUS_PATH)

    def parse_topo_affinity(self) -> Dict[int, List[int]]:
        text, _ = execute_command(["npu-smi", "info", "-t", "topo"])
        found: Dict[int, List[int]] = {}
        for line in text.splitlines():
            row = re.match(r"NPU(\d+)\s.*\s(\S+)\s*$", line)
            if row and self.is_cpu_list(row.group(2)):
                found[int(row.group(1))] = self.expand_cpu_list(row.group(2))
        return found


class CpuAlloc:
    """The pools and roles of the NPUs of a process by the rules of the reference."""

    def __init__(self, rank_id: int, npu_id: Optional[int] = None) -> None:
        self.rank_id = rank_id
        self.npu_id = npu_id
        self.device_info: DeviceInfo = DeviceInfo()
        self.cpu_node: Dict[int, int] = {}
        self.numa_to_cpu_map: Dict[int, List[int]] = defaultdict(list)
        self.npu_cpu_pool: Dict[int, List[int]] = {}
        self.assign_main: Dict[int, List[int]] = {}
        self.assign_acl: Dict[int, List[int]] = {}
        self.assign_rel: Dict[int, List[int]] = {}
        self.uvb_cpu_pool: List[int] = []

    def _own_npu(self) -> int:
        named = getattr(self, "npu_id", None)
        return self.device_info.running_npu_list[self.rank_id] if named is None else named

    def _allowed_of(self, cpus: Sequence[int]) -> List[int]:
        allowed = set(self.device_info.allowed_cpus)
        return [cpu for cpu in cpus if cpu in allowed]

    # -- Values -------------------------------------------------------------------

    @staticmethod
    def cpu_to_mask(cpu: int) -> str:
        """The CPU as a mask of /proc/irq/N/smp_affinity: words of 32 bits, highest first."""
        return "%08x" % (1 << cpu % 32) + ",00000000" * (cpu // 32)

    @staticmethod
    def get_threads_map(thread_message: str) -> Dict[str, Dict[str, List[str]]]:
        found: Dict[str, Dict[str, List[str]]] = {}
        for line in thread_message.splitlines():
            words = line.split()
            names = [name for name in ("acl_thread", "release_thread") if name in line]
            if names and len(words) > 1:
                empty: Dict[str, List[str]] = {"acl_thread": [], "release_thread": []}
                found.setdefault(words[0], empty)[names[0]].append(words[1])
        return found

    @staticmethod
    def get_uvb_poll_window_threads(thread_message: str) -> List[str]:
        rows = [line.split() for line in thread_message.splitlines()
                if "uvb_poll_window_thread" in line]
        return [row[1] for row in rows if len(row) > 1 and row[1].isdigit()]

    @staticmethod
    def parse_threads_per_core(lscpu_message: str) -> Optional[int]:
        found = re.search(r"Thread\(s\) per core:\s*(\d+)\s*$", lscpu_message, re.MULTILINE)
        return int(found.group(1)) if found else None

    @staticmethod
    def _binding_mode() -> str:
        return "global_slice" if _product() == "A3" else "topo_affinity"

    @staticmethod
    def _is_ascend_950() -> bool:
        return _product() == "A5"

    @staticmethod
    def _reserve_irq_cpus() -> bool:
        return not CpuAlloc._is_ascend_950()

    @staticmethod
    def _min_cpus_per_npu() -> int:
        return 5 if CpuAlloc._reserve_irq_cpus() else 3

    # -- Pools --------------------------------------------------------------------

    def build_cpu_node_map(self) -> None:
        text, _ = execute_command(["lscpu", "-e=CPU,NODE"])
        for line in text.splitlines():
            words = line.split()
            if words and words[0].isdigit():
                cpu, node = map(int, words)
                self.cpu_node[cpu] = node
                self.numa_to_cpu_map[node].append(cpu)
        if not self.numa_to_cpu_map:
            raise RuntimeError("No NUMA node of this host has a CPU.")

    def get_single_numa_node(self, cpu_list: Sequence[int]) -> Optional[int]:
        nodes = {self.cpu_node[cpu] for cpu in cpu_list}
        return nodes.pop() if len(nodes) == 1 else None

    def extend_numa(self, cpu_list: List[int]) -> List[int]:
        """Adds the allowed CPUs of the next node to a list that is on one node."""
        node = self.get_single_numa_node(cpu_list)
        if node is None:
            return cpu_list
        next_node = (node + 1) % len(self.numa_to_cpu_map)
        return sorted(set(cpu_list).union(self._allowed_of(self.numa_to_cpu_map[next_node])))

    def average_distribute(self, groups: Dict[str, List[int]]) -> Dict[int, List[int]]:
        """Cuts each pool that several NPUs have; the last part gets the rest."""
        found: Dict[int, List[int]] = {}
        for npus in groups.values():
            pool = sorted(self.npu_cpu_pool[npus[0]])
            size = len(pool) // len(npus)
            for i, npu in enumerate(npus):
                found[npu] = pool[i * size:(i + 1) * size]
            found[npus[-1]] = pool[(len(npus) - 1) * size:]
        return found

    def build_global_slice_cpu_pool(self) -> None:
        """Cuts the allowed CPUs into one slice for each NPU of the host."""
        info = self.device_info
        cpus = sorted(set(info.allowed_cpus))
        if not cpus or not info.running_npu_list:
            return
        total = info.total_logic_npus or len(info.npu_affinity) or len(info.running_npu_list)
        size, rest = divmod(len(cpus), total)
        need = self._min_cpus_per_npu()
        if size < need:
            raise RuntimeError(
                "Insufficient CPUs for binding with CPU role reservations: total_allowed=%d, "
                "total_npus=%d, min_per_npu=%d (<%d). Need at least %d CPUs in cpuset."
                % (len(cpus), total, size, need, total * need))
        for npu in info.running_npu_list:
            if not 0 <= npu < total:
                raise RuntimeError("Invalid NPU id %d, total_npus=%d." % (npu, total))
            first = npu * size + min(npu, rest)
            self.npu_cpu_pool[npu] = cpus[first:first + size + (npu < rest)]

    def _candidates(self) -> List[int]:
        """The running NPUs, and those whose CPUs this process may use."""
        info = self.device_info
        return [npu for npu in info.all_logic_npus if npu in info.running_npu_list
                or self._allowed_of(info.npu_affinity.get(npu, []))]

    def _build_topo_affinity_cpu_pool(self) -> None:
        info = self.device_info
        if not info.npu_affinity:
            logger.warning("NPU topo affinity not found. action: fallback to global-slice CPU "
                           "binding.")
            self.build_global_slice_cpu_pool()
            return
        groups: Dict[str, List[int]] = defaultdict(list)
        for npu in self._candidates():
            home = self._allowed_of(info.npu_affinity.get(npu, []))
            if not home:
                raise RuntimeError("CPUs available in 'Cpus_allowed_list' conflict with NUMA "
                                   "affinity.")
            self.npu_cpu_pool[npu] = self.extend_numa(home)
            groups[str(self.npu_cpu_pool[npu])].append(npu)
        pools = self.average_distribute(groups)
        self.npu_cpu_pool = {npu: pools[npu] for npu in info.running_npu_list}

    def get_ascend_950_cluster_size(self) -> Optional[int]:
        text, _ = execute_command(["lscpu"])
        threads = self.parse_threads_per_core(text)
        if threads in (1, 2):
            return 8 * threads
        logger.warning("[cpu_bind_ascend_950] unsupported Thread(s) per core: %s. action: skip "
                       "worker CPU binding.", threads)
        return None

    def build_ascend_950_cpu_pools(self) -> bool:
        """Gives each NPU one cluster of its node; False: there is none for each."""
        info = self.device_info
        skip = "action: skip worker CPU binding."
        if not info.npu_affinity:
            logger.warning("[cpu_bind_ascend_950] NPU topo affinity not found. " + skip)
            return False
        size = self.get_ascend_950_cluster_size()
        if size is None:
            return False
        of_node: Dict[int, List[int]] = defaultdict(list)
        for npu in self._candidates():
            home = self._allowed_of(info.npu_affinity.get(npu, []))
            node = self.get_single_numa_node(home)
            if node is None:
                logger.warning("[cpu_bind_ascend_950] invalid topo affinity. npu=%s, cpus=%s. "
                               + skip, npu, home)
                return False
            of_node[node].append(npu)
        pools: Dict[int, List[int]] = {}
        for node, npus in of_node.items():
            cpus = [cpu for cpu in self._allowed_of(sorted(self.numa_to_cpu_map.get(node, [])))
                    if cpu not in self.uvb_cpu_pool]
            if len(cpus) // size < len(npus):
                logger.warning("[cpu_bind_ascend_950] insufficient CPU clusters. numa=%s, "
                               "clusters=%s, npus=%s. " + skip, node, len(cpus) // size,
                               sorted(npus))
                return False
            for i, npu in enumerate(sorted(npus)):
                pools[npu] = cpus[i * size:(i + 1) * size]
        missing = [npu for npu in info.running_npu_list if npu not in pools]
        if missing:
            logger.warning("[cpu_bind_ascend_950] failed to build CPU pool for visible NPU %s. "
                           + skip, missing[0])
            return False
        self.npu_cpu_pool = {npu: pools[npu] for npu in info.running_npu_list}
        return True

    def build_cpu_pools(self) -> bool:
        self.build_cpu_node_map()
        mode = self._binding_mode()
        logger.info("[cpu_bind_mode] mode=%s rank=%s visible_npus=%s", mode, self.rank_id,
                    self.device_info.running_npu_list)
        if self._is_ascend_950():
            self.bind_uvb_poll_window_threads()
            return self.build_ascend_950_cpu_pools()
        if mode == "global_slice":
            self.build_global_slice_cpu_pool()
        else:
            self._build_topo_affinity_cpu_pool()
        return True

    # -- Roles --------------------------------------------------------------------

    def allocate(self) -> None:
        is_950 = self._is_ascend_950()
        need = self._min_cpus_per_npu()
        for npu, pool in self.npu_cpu_pool.items():
            if is_950:
                main, acl, release = pool, pool[:0], pool[:0]
            elif len(pool) < need:
                raise RuntimeError("The number of CPUs is insufficient. Each NPU requires at "
                                   "least %d CPUs." % need)
            else:
                main, acl, release = pool[2:-2], pool[-2:-1], pool[-1:]
            self.assign_main[npu] = main
            self.assign_acl[npu] = acl
            self.assign_rel[npu] = release

    def print_plan(self) -> None:
        npu = self._own_npu()
        logger.info("The CPU allocation plan is as follows:")
        _engine.log_roles(logger, npu, self._is_ascend_950(), self.assign_main[npu],
                          self.assign_acl[npu], self.assign_rel[npu])

    # -- Threads, memory, interrupts ----------------------------------------------

    @staticmethod
    def bind(pid: str, cpus: List[int], bind_sub_thread: bool) -> None:
        if not cpus:
            return
        text = ",".join(map(str, cpus))
        way = "-acp" if bind_sub_thread else "-cp"
        if execute_command(["taskset", way, text, pid])[1] != 0:
            raise RuntimeError("Failed to bind %s to CPU %s." % (pid, text))

    def bind_uvb_poll_window_threads(self) -> None:
        of_node = self.numa_to_cpu_map.get(0, [])
        self.uvb_cpu_pool = [cpu for cpu in self._allowed_of(of_node) if cpu != 0]
        if not self.uvb_cpu_pool:
            logger.info("[cpu_bind_ascend_950] no available NUMA0 CPUs for "
                        "uvb_poll_window_thread.")
            return
        in_docker = "If running in Docker, start the container with '--pid=host'."
        text, _ = execute_command(["ps", "-Te"])
        tids = self.get_uvb_poll_window_threads(text)
        if not tids:
            logger.warning("[cpu_bind_ascend_950] uvb_poll_window_thread not found. "
                           + in_docker)
            return
        bound = []
        for tid in tids:
            try:
                self.bind(tid, self.uvb_cpu_pool, False)
                bound.append(tid)
            except RuntimeError as error:
                logger.warning("[cpu_bind_ascend_950] failed to bind uvb_poll_window_thread "
                               "%s: %s. " + in_docker, tid, error)
        if bound:
            logger.info("[cpu_bind_ascend_950] uvb_poll_window_thread tids=[%s] cpus=[%s]",
                        " ".join(bound), " ".join(map(str, self.uvb_cpu_pool)))

    def bind_threads(self) -> None:
        if self._is_ascend_950():
            self.bind_ascend_950_threads()
            return
        text, _ = execute_command(["ps", "-Te"])
        pid = str(psutil.Process().pid)
        npu = self._own_npu()
        named = self.get_threads_map(text).get(pid, {})
        self.bind(pid, self.assign_main[npu], True)
        for name, assigned in (("acl_thread", self.assign_acl),
                               ("release_thread", self.assign_rel)):
            for tid in named.get(name, []):
                self.bind(tid, assigned[npu], False)
        self.bind_memory(pid, npu)

    def bind_ascend_950_threads(self) -> None:
        pid = str(psutil.Process().pid)
        npu = self._own_npu()
        self.bind(pid, self.assign_main[npu], True)
        self.bind_memory(pid, npu)

    def bind_memory(self, pid: str, npu: int) -> None:
        """Moves the pages of a process to the node of the first CPU of the pool."""
        pool = self.npu_cpu_pool.get(npu)
        node = self.cpu_node.get(pool[0]) if pool else None
        if node is None:
            logger.warning("[migrate] NPU has no CPU pool. rank=%s, npu=%s.", self.rank_id, npu)
            return
        if node not in self.numa_to_cpu_map:
            logger.warning("[migrate] NUMA node not found. npu=%s, numa=%s. ", npu, node)
            return
        logger.info("[migrate] NPU:%s -> NUMA [%s]", npu, node)
        nodes = ",".join(map(str, sorted(self.numa_to_cpu_map)))
        execute_command(["migratepages", pid, nodes, str(node)])

    def _pci_address(self, npu: int) -> str:
        place = ["-i", str(npu)]
        if _product() == "A3":
            place = ["-i", str(npu // 2), "-c", str(npu % 2)]
        text, _ = execute_command(["npu-smi", "info", "-t", "board"] + place)
        found = re.search(r"PCIe Bus Info.*?(\S+)\s*$", text, re.MULTILINE)
        return found.group(1).lower() if found else ""

    def bind_npu_irq(self) -> None:
        """Moves the two interrupts of the NPU, each found by its name. irqbalance is left as it
        is: bind_cpus warns when it runs."""
        if not self._reserve_irq_cpus():
            logger.info("[irq] IRQ binding skipped on Ascend 950.")
            return
        if not os.access("/proc/irq", os.W_OK):
            _engine.warn_not_writable(logger)
            return
        npu = self._own_npu()
        pool = self.npu_cpu_pool.get(npu)
        if pool is None:
            logger.warning("[irq] NPU has no CPU pool. rank=%s, npu=%s. ", self.rank_id, npu)
            return
        if len(pool) < 2:
            logger.warning("[irq] CPU pool too small. npu=%s, cpu_count=%d, min_required=2. ",
                           npu, len(pool))
            return
        pci = self._pci_address(npu)
        if not pci:
            logger.warning("Can't find PCI address. npu=%s. ", npu)
            return
        try:
            own = os.listdir("/sys/bus/pci/devices/%s/msi_irqs/" % pci)
        except FileNotFoundError:
            logger.warning("The msi_irqs folder cannot be found. pci_addr=%s. ", pci)
            return
        with open("/proc/interrupts") as file:
            rows = [(line.split(":")[0].strip(), line) for line in file]
        sq, cq = ([irq for irq, line in rows if irq in own and name in line]
                  for name in ("sq_send_trigger_irq", "cq_update_irq"))
        if not sq or not cq:
            logger.warning("The sq_send_trigger_irq is not found. npu=%s. ", npu)
            return
        _engine.log_interrupts(logger, npu, pci, (sq[0], pool[0]), (cq[0], pool[1]))
        for irq, cpu in ((sq[0], pool[0]), (cq[0], pool[1])):
            with open("/proc/irq/%s/smp_affinity" % irq, "w") as file:
                file.write(self.cpu_to_mask(cpu))

    def run_all(self) -> None:
        if self.build_cpu_pools():
            self.allocate()
            self.print_plan()
            self.bind_threads()
            self.bind_npu_irq()
