# SPDX-License-Identifier: MIT
"""cpubind - which CPUs belong to which NPU of a host, and binding processes to them

    import cpubind
    with cpubind.Host.live() as host:
        plan = host.plan(rules="near", rank=3)
        print(plan.rank_device, list(plan.cpus(plan.rank_device, "main")))
    with cpubind.bind(npu=3) as binding:     # this process; back at the end of the block
        ...

Options are the long options of the command `cpubind`, with "_" for "-": scope="own",
allowed=range(0, 32), strict=True. A call that fails raises Error. Needs libcpubind.so.1 and
nothing else; _library.py says where it is looked for.
"""
from __future__ import annotations

import ctypes
import os
import sqlite3
from array import array
from typing import Any, Dict, List, Optional, Tuple

from . import _library
from ._library import Error

__all__ = ["Binding", "Error", "Host", "Plan", "bind", "bind_thread", "cpu_budget", "next_pool",
           "open_binding", "plan", "version"]


def version() -> str:
    """The version of the library, such as "0.2.0"."""
    return _library.load().cpb_version().decode()


class _Handle:
    """An object of the library; close(), a `with` statement or its end frees it."""

    _free = ""

    def __init__(self, handle: int) -> None:
        self._handle: Optional[int] = handle

    @property
    def _open(self) -> int:
        if not self._handle:
            raise ValueError("this %s is closed" % type(self).__name__)
        return self._handle

    def close(self) -> None:
        """Frees the object; a second time: nothing."""
        handle, self._handle = self._handle, None
        if handle:
            getattr(_library.load(), self._free)(handle)

    def __enter__(self) -> Any:
        self._open  # raises when it is closed
        return self

    def __exit__(self, *raised: Any) -> None:
        self.close()

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:
            pass  # the interpreter ends


class Host(_Handle):
    """A host that plans are made for."""

    _free = "cpb_host_close"

    @classmethod
    def live(cls, pid: int = 0) -> Host:
        """This host as a process sees it; pid 0: as this process does."""
        return cls(_library.call("cpb_host_live", pid))

    @classmethod
    def folder(cls, path: str) -> Host:
        """A captured host: the folder, or NAME.host, that `cpubind capture` writes."""
        return cls(_library.call("cpb_host_folder", os.fsencode(path)))

    @classmethod
    def empty(cls) -> Host:
        """A host without any input; put() adds them."""
        return cls(_library.call("cpb_host_empty"))

    @classmethod
    def corpus(cls, name: str, db: Optional[str] = None) -> Host:
        """A host of a corpus; db: a database that `cpubind fixture` writes, else that of
        CPUBIND_DB, or the one that is installed with the library or the command."""
        path = db or os.environ.get("CPUBIND_DB") or _library.find_corpus()
        host = cls.empty()
        # as_uri() of pathlib quotes what a URI may not hold
        from pathlib import Path
        found = sqlite3.connect(Path(path).resolve().as_uri() + "?mode=ro", uri=True)
        try:
            rows = found.execute(
                "SELECT name, bytes, exit_code FROM inputs JOIN contents ON sha256 = content "
                "WHERE host = ?", (name,)).fetchall()
        finally:
            found.close()
        if not rows:
            raise KeyError("%s has no host %s" % (path, name))
        for input_name, data, exit_code in rows:
            host.put(input_name, data, exit_code or 0)
            if exit_code is None:  # the command did not end in time
                host.put(input_name[:-len(".txt")] + ".exit", b"timeout\n")
        return host

    def put(self, name: str, data: Any, exit_code: int = 0) -> None:
        """Adds an input to an empty host: a file by its path without the first slash, such as
        "proc/self/status", or the output of a command, such as "cmd/npu-smi-info-m.txt", with
        its exit code. An input of the same name is replaced."""
        data = data.encode() if isinstance(data, str) else bytes(data)
        _library.call("cpb_host_put", self._open, name.encode(), data, len(data), exit_code)

    def topo(self, **options: Any) -> Dict[str, Any]:
        """The accelerators of this host, of any vendor: the JSON of `cpubind topo --json`, as a
        dict; options: nics, pci, class_."""
        text = _library.call("cpb_host_topo", self._open, _library.options_of(options))
        return _library.parse(_library.text_of(text))

    def near_cpus(self, device: str) -> array:
        """The CPUs near a device ("npu3", "gpu0", a PCI address), whoever may use them; empty
        where that is not known."""
        name = device.encode()
        n = _library.call("cpb_near_cpus", self._open, name, None, 0)
        cpus = (ctypes.c_int32 * n)()
        _library.call("cpb_near_cpus", self._open, name, cpus, n)
        return array("i", cpus)

    def home_node(self, device: str) -> int:
        """The node of a device, for its memory."""
        return _library.call("cpb_home_node", self._open, device.encode())

    def plan(self, **options: Any) -> Plan:
        """The plan of this host; options: those of `cpubind plan`."""
        return Plan(_library.call("cpb_plan_make", self._open, _library.options_of(options)))

    def bind(self, pid: int = 0, **options: Any) -> Binding:
        """Binds a process of this machine by the facts of this host; options: those of `cpubind
        apply`, with device= ("npu3", "gpu0", a PCI address) or rank=. pid 0: this process."""
        return Binding(_library.call("cpb_bind", self._open, pid, _library.options_of(options)))


class Plan(_Handle):
    """Which CPUs each NPU has. A plan never changes, and any number of threads may read it."""

    _free = "cpb_plan_free"

    @property
    def devices(self) -> Tuple[int, ...]:
        """The logic ids of the NPUs that have a pool, ascending."""
        return tuple(_library.ints(_library.load().cpb_plan_devices, self._open))

    @property
    def rank_device(self) -> Optional[int]:
        """The NPU that the rank of the options drives; None without a rank."""
        device = _library.load().cpb_plan_rank_device(self._open)
        return None if device < 0 else device

    def cpus(self, device: int, role: str = "pool") -> array:
        """The CPUs of an NPU, ascending; role: "pool", "irq", "main", "acl",
        "release" or "transfer"."""
        found = _library.ints(_library.load().cpb_plan_cpus, self._open, device, role.encode())
        if found is None:
            raise KeyError("the plan has no %s of NPU %d" % (role, device))
        return found

    def table(self, role: str = "pool") -> Tuple[array, array]:
        """The CPUs of a role of all NPUs at once, as (row, cpus): those of devices[i] are
        cpus[row[i]:row[i + 1]]."""
        row, cpus = _library._INTS(), _library._INTS()
        n = _library.load().cpb_plan_table(self._open, role.encode(), ctypes.byref(row),
                                           ctypes.byref(cpus))
        if n < 0:
            raise KeyError("there is no role %s" % role)
        rows = _library.copy(row, n + 1)
        return rows, _library.copy(cpus, rows[n])

    def mask(self, device: int, role: str = "pool") -> bytes:
        """The CPUs as sched_setaffinity(2) takes them."""
        get = _library.load().cpb_plan_mask
        size = get(self._open, device, role.encode(), None, 0)
        if size < 0:
            raise KeyError("the plan has no %s of NPU %d" % (role, device))
        bits = ctypes.create_string_buffer(size)
        get(self._open, device, role.encode(), bits, size)
        return bits.raw

    def memory_node(self, device: int) -> Optional[int]:
        """The node for the memory of an NPU; None: there is none."""
        node = _library.load().cpb_plan_memory_node(self._open, device)
        return None if node < 0 else node

    def quality(self, figure: str, device: int = -1) -> Optional[int]:
        """A figure of an NPU, or of the whole plan, such as "near_percent"; None: not known."""
        value = _library.load().cpb_plan_quality(self._open, device, figure.encode())
        return None if value < 0 else value

    def json(self) -> str:
        """The JSON of `cpubind plan --json`."""
        return _library.load().cpb_plan_json(self._open).decode()

    def dict(self) -> Dict[str, Any]:
        """That JSON as a dict."""
        return _library.parse(_library.load().cpb_plan_json(self._open))

    @property
    def warnings(self) -> List[Dict[str, str]]:
        """The warnings of the plan, each with its code and its text."""
        return self.dict()["warnings"]

    def format(self, name: str = "text") -> str:
        """The plan in a format of `cpubind plan --format`, such as "map" or "log"."""
        return _library.text_of(_library.call("cpb_plan_format", self._open, name.encode()))

    def explain(self, target: str) -> str:
        """Why an NPU or a CPU has what it has: `cpubind plan --explain`, such as "cpu5"."""
        return _library.text_of(_library.call("cpb_plan_explain", self._open, target.encode()))

    def __str__(self) -> str:
        return self.format("text")


class Binding(_Handle):
    """A process that is bound. A `with` statement puts the process back at its end."""

    _free = "cpb_binding_close"

    def verify(self) -> int:
        """How many threads and interrupts are not where they belong."""
        return _library.call("cpb_binding_verify", self._open)

    def again(self) -> int:
        """Moves back what is not where it belongs, and binds new threads; how many."""
        return _library.call("cpb_binding_again", self._open)

    def restore(self) -> int:
        """Puts all back as it was before; how many threads and interrupts were moved."""
        return _library.call("cpb_binding_restore", self._open)

    def report(self) -> Dict[str, Any]:
        """What the last call did: the JSON of the command, as a dict."""
        return _library.parse(_library.load().cpb_binding_json(self._open))

    def __exit__(self, *raised: Any) -> None:
        try:
            self.restore()
        finally:
            self.close()


def plan(**options: Any) -> Plan:
    """The plan of this host."""
    with Host.live() as host:
        return host.plan(**options)


def bind(pid: int = 0, **options: Any) -> Binding:
    """Binds a process to the CPUs of one device, device= ("npu3", "gpu0", a PCI address) or
    rank=: its threads, the interrupts of an NPU, its memory. pid 0: this process."""
    with Host.live(pid) as host:
        return host.bind(pid, **options)


def open_binding(pid: int, **options: Any) -> Binding:
    """Opens a process that is bound, by its record, to verify or to restore it."""
    return Binding(_library.call("cpb_binding_open", pid, _library.options_of(options)))


def bind_thread(plan: Plan, device: int, role: str = "main") -> None:
    """Binds the calling thread alone to the CPUs of a role; there is no record."""
    _library.call("cpb_bind_thread", plan._open, device, role.encode())


def cpu_budget(device_load: int, n_device: int, n_cpu_worker: int, ratio: int = 0) -> int:
    """How many requests all CPU workers together may have in flight, where an accelerator is
    `ratio` times as fast as one; 0: 8 times."""
    return _library.load().cpb_cpu_budget(device_load, n_device, n_cpu_worker, ratio)


def next_pool(device_load: int, cpu_load: int, n_device: int, n_cpu_worker: int,
              ratio: int = 0) -> str:
    """Who serves the next request: "device", "cpu" or "nobody"."""
    return _library.load().cpb_next_pool(device_load, cpu_load, n_device, n_cpu_worker,
                                         ratio).decode()
