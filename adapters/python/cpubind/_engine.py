# SPDX-License-Identifier: MIT
"""_engine.py - binding the calling process for the engine that it belongs to

Used by cpubind.vllm_ascend, cpubind.sglang and cpubind.torch. Reads the environment (the library
reads none of it but what belongs to the host), finds the device of this process, binds the
process once, and keeps the binding until restore(). Must not import an engine, start a process
or write a log line: the callers know the lines of their engines.

  CPUBIND_ENABLE    1: the plugins of this package are active; 0: they are not. Without it they
                    are active where the list of plugins of the engine names cpubind
  CPUBIND_RULES     reference (default) or near; the same value for all workers of a host
  CPUBIND_SCOPE     auto (default), cpuset, host or own: whose the allowed CPUs are
  CPUBIND_MEMORY    migrate (default: own pages, for five seconds at most), all, or none
  CPUBIND_OPTIONS   further options of `cpubind apply`, "key=value" with blanks between them
  CPUBIND_STRICT    1: a binding that fails raises
  CPUBIND_ANY_ARCH  1: bind on a machine that is not ARM, too
  CPUBIND_ROOT      the folder of a captured host: a dry run, which plans that host and binds
                    nothing
"""
from __future__ import annotations

import os
import platform
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple

import cpubind

# Options of `cpubind apply` that `cpubind plan` has not.
_OF_BIND = {"memory", "memory-limit", "memory-time", "irqbalance", "thread", "threads", "state",
            "strict", "force", "any-arch"}
_NAMED = {"CPUBIND_RULES": "rules", "CPUBIND_SCOPE": "scope", "CPUBIND_MEMORY": "memory"}


class Bound(NamedTuple):
    """The binding of this process."""
    plan: Any               # cpubind.Plan
    device: int             # the logic id of its NPU
    binding: Any            # cpubind.Binding; None: a dry run
    report: Dict[str, Any]  # what the binding did; {}: a dry run
    is_again: bool          # it was bound before, and its new threads are bound now


_bound: Optional[Bound] = None


def is_true(name: str, environment: Mapping[str, str] = os.environ) -> bool:
    return environment.get(name, "").strip().lower() in ("1", "yes", "true", "on")


def is_on(list_of_plugins: str) -> bool:
    """Whether the plugin is switched on; list_of_plugins: the variable of the engine."""
    if os.environ.get("CPUBIND_ENABLE"):
        return is_true("CPUBIND_ENABLE")
    return "cpubind" in [name.strip() for name in os.environ.get(list_of_plugins, "").split(",")]


def is_arm(machine: str) -> Optional[bool]:
    """Whether this is the name of an ARM machine; None: an unknown name."""
    machine = machine.lower()
    if machine in ("x86_64", "amd64", "i386", "i686"):
        return False
    return True if machine.startswith(("aarch64", "arm")) else None


def may_bind() -> bool:
    """Whether the processor is one that the engines bind on, or the user wants it anyway."""
    return bool(is_arm(platform.machine()) or is_true("CPUBIND_ANY_ARCH") or is_dry_run())


def is_dry_run() -> bool:
    return bool(os.environ.get("CPUBIND_ROOT"))


def options() -> Dict[str, str]:
    """The options that the environment asks for, by their names in the command."""
    found = {key: os.environ[name] for name, key in _NAMED.items() if os.environ.get(name)}
    for word in os.environ.get("CPUBIND_OPTIONS", "").split():
        key, is_pair, value = word.partition("=")
        found[key.lstrip("-")] = value if is_pair else "yes"
    if is_true("CPUBIND_ANY_ARCH"):
        found["any-arch"] = "yes"
    return found


def _keywords(found: Mapping[str, str], is_of_plan: bool) -> Dict[str, str]:
    return {key.replace("-", "_"): value for key, value in found.items()
            if not (is_of_plan and key in _OF_BIND)}


def open_host() -> Any:
    """This host, or the captured one of a dry run."""
    root = os.environ.get("CPUBIND_ROOT")
    return cpubind.Host.folder(root) if root else cpubind.Host.live()


def device_of_id(rows: List[Mapping[str, Any]], number: int, own: Optional[int]) -> int:
    """The logic id of the NPU that an engine names by a number, its physical id.

    Older engines take the number from ASCEND_RT_VISIBLE_DEVICES, which is a logic id; newer ones ask
    the runtime, which answers with the phy id. Where the two name different NPUs, the one that
    the rank drives counts (`own`, or None), else the phy id.
    """
    by_phy = [row["npu"] for row in rows if row.get("phy") == number]
    by_logic = [row["npu"] for row in rows if row["npu"] == number]
    found = by_phy + by_logic
    if not found:
        raise RuntimeError("Invalid NPU id %d, visible NPUs: %s."
                           % (number, [row["npu"] for row in rows]))
    return own if own in found else found[0]


def make_plan(host: Any, rank: Optional[int], npu_id: Optional[int]) -> Tuple[Any, int]:
    """The plan of the host, and the logic id of the NPU of this process."""
    keywords = _keywords(options(), is_of_plan=True)
    if npu_id is None:
        plan = host.plan(rank=rank or 0, **keywords)
        return plan, plan.rank_device
    plan = host.plan(**keywords)
    rows = plan.dict()["npus"]
    in_order = sorted(row["npu"] for row in rows)
    own = None
    if rank is not None and 0 <= rank < len(in_order):
        own = in_order[rank]
    return plan, device_of_id(rows, npu_id, own)


def bind(rank: Optional[int], npu_id: Optional[int] = None,
         planned: Callable[[Any, int], None] = lambda plan, device: None) -> Bound:
    """Binds this process; of a process that is bound, the threads that are not where they
    belong. Calls planned(plan, device) before anything changes. Raises what the library raises.
    """
    global _bound
    if _bound is not None and _bound.binding is not None:
        _bound.binding.again()
        _bound = _bound._replace(report=_bound.binding.report(), is_again=True)
        return _bound
    with open_host() as host:
        plan, device = make_plan(host, rank, npu_id)
    planned(plan, device)
    if is_dry_run():
        _bound = Bound(plan, device, None, {}, False)
        return _bound
    binding = cpubind.bind(npu=device, pid=0, **_keywords(options(), is_of_plan=False))
    _bound = Bound(plan, device, binding, binding.report(), False)
    return _bound


def current() -> Optional[Bound]:
    return _bound


def restore() -> int:
    """Puts this process back to where it was before it was bound; returns how many threads and
    interrupts were moved. Without a binding: 0."""
    global _bound
    if _bound is None or _bound.binding is None:
        _bound = None
        return 0
    moved = _bound.binding.restore()
    _bound.binding.close()
    _bound = None
    return moved
