# SPDX-License-Identifier: MIT
"""_engine.py - binding the calling process, for the modules of engines

Used by cpubind.vllm_ascend, cpubind.sglang and cpubind.torch. Reads the environment (the
library reads none of it but what belongs to the host), finds the device of this process, binds
the process once, writes the log lines that operators of vllm-ascend search for, and keeps the
binding until restore(). Must not import an engine or start a process.

  CPUBIND_ENABLE    1: the plugins of this package are active; 0: they are not. Without it they
                    are active where the list of plugins of the engine names cpubind
  CPUBIND_RULES     near (default) or reference; the same value for all workers of a host
  CPUBIND_SCOPE     auto (default), cpuset, host or own: whose the allowed CPUs are
  CPUBIND_MEMORY    migrate (default: own pages, for five seconds at most), all, or none
  CPUBIND_ALLOWED   plans for a process that may use these CPUs, such as 0-95
  CPUBIND_OPTIONS   further options of `cpubind apply`, "key=value" with blanks between them
  CPUBIND_STRICT    1: a binding that fails raises
  CPUBIND_ANY_ARCH  1: bind by the rules reference on a machine that is not ARM, too
  CPUBIND_ROOT      the folder of a captured host: a dry run, which plans that host and binds
                    nothing
"""
from __future__ import annotations

import os
import platform
import sys
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple

import cpubind

# Options of `cpubind apply` that `cpubind plan` has not.
_OF_BIND = {"memory", "memory-limit", "memory-time", "irqbalance", "thread", "threads", "strict",
            "force", "any-arch"}
# The CPUs that the parent of this process may use, where it has started it on fewer.
STARTED_ON = "CPUBIND_ALLOWED"
_NAMED = {"CPUBIND_RULES": "rules", "CPUBIND_SCOPE": "scope", "CPUBIND_MEMORY": "memory",
          STARTED_ON: "allowed"}


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
    names = os.environ.get(list_of_plugins, "").split(",")
    return "cpubind" in [name.strip() for name in names]


def when() -> str:
    return os.environ.get("CPUBIND_WHEN", "warmup").strip().lower()


def may_bind() -> bool:
    """Whether the rules bind on this processor (the reference does on ARM alone), or the user
    wants it anyway."""
    found = options()
    return bool(found.get("rules") != "reference" or found.get("any-arch") == "yes" or
                is_dry_run() or platform.machine().lower().startswith(("aarch64", "arm")))


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


def open_host() -> Any:
    """This host, or the captured one of a dry run."""
    root = os.environ.get("CPUBIND_ROOT")
    return cpubind.Host.folder(root) if root else cpubind.Host.live()


def device_of_id(rows: List[Mapping[str, Any]], number: int, own: Optional[int]) -> int:
    """The logic id of the NPU that an engine names by a number, its physical id.

    Older engines take the number from ASCEND_RT_VISIBLE_DEVICES: a logic id. Newer ones ask the
    runtime, which answers with the phy id. Where the two name different NPUs, the one that the
    rank drives counts (`own`, or None), else the phy id.
    """
    found = [row["npu"] for row in rows if row.get("phy") == number]
    found += [row["npu"] for row in rows if row["npu"] == number]
    if not found:
        raise RuntimeError("Invalid NPU id %d, visible NPUs: %s."
                           % (number, [row["npu"] for row in rows]))
    return own if own in found else found[0]


def npus_of(plan: Any) -> List[Dict[str, Any]]:
    """The NPUs of a plan: its devices that have a logic id."""
    return [row for row in plan.dict()["devices"] if "npu" in row]


def _job(rank: Optional[int], npu_id: Optional[int]) -> Dict[str, str]:
    """The devices of this job, as the engine has put its processes on them (TP x DP): those of
    the ranks of torch.distributed. Processes of other hosts count, too: that hides less. A rank
    that is not below is one of another group."""
    group: Any = getattr(sys.modules.get("torch"), "distributed", None)
    size = group.get_world_size() if group and group.is_initialized() else 0
    is_known = npu_id is None and (rank or 0) < size and options().get("rules") != "reference"
    return {"job": str(size)} if is_known else {}


def _keywords(rank: Optional[int], npu_id: Optional[int], is_of_plan: bool) -> Dict[str, str]:
    return {key.replace("-", "_"): value
            for key, value in {**_job(rank, npu_id), **options()}.items()
            if not (is_of_plan and key in _OF_BIND)}


def make_plan(host: Any, rank: Optional[int], npu_id: Optional[int]) -> Tuple[Any, int]:
    """The plan of the host, and the logic id of the NPU of this process."""
    keywords = _keywords(rank, npu_id, is_of_plan=True)
    if npu_id is None:
        plan = host.plan(rank=rank or 0, **keywords)
        return plan, plan.rank_device
    plan = host.plan(**keywords)
    rows = npus_of(plan)
    in_order = sorted(row["npu"] for row in rows)
    is_named = rank is not None and 0 <= rank < len(in_order)
    return plan, device_of_id(rows, npu_id, in_order[rank or 0] if is_named else None)


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
        else:
            binding = host.bind(npu=device, **_keywords(rank, npu_id, is_of_plan=False))
            _bound = Bound(plan, device, binding, binding.report(), False)
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


# == Log lines: no character of them may change ================================


def cpus_of_list(text: str) -> List[int]:
    """[0, 1, 2, 5] of "0-2,5"."""
    cpus: List[int] = []
    for piece in text.split(","):
        first, _, last = piece.partition("-")
        cpus += range(int(first), int(last or first) + 1)
    return cpus


def log_plan(logger: Any, plan: Any, npu: int, rank: Optional[int]) -> None:
    facts = plan.dict()
    product, mode = facts["device_type"], facts["strategy"]
    is_sliced_instead = (mode == "global_slice" and product not in ("a3", "950")
                         and "strategy" not in options())
    if mode == "cluster" or is_sliced_instead:
        mode = "topo_affinity"  # the word of the reference for these, too
    logger.info("[cpu_bind_mode] mode=%s rank=%s visible_npus=%s", mode, rank,
                [row["npu"] for row in npus_of(plan)])
    if is_sliced_instead:
        logger.warning("NPU topo affinity not found. action: fallback to global-slice CPU "
                       "binding.")
    logger.info("The CPU allocation plan is as follows:")
    main, acl, release = (list(plan.cpus(npu, role)) for role in ("main", "acl", "release"))
    worker = " ".join(map(str, main))
    if product == "950":
        logger.info("Ascend 950 NPU%s: worker=[%s]", npu, worker)
    else:
        logger.info("NPU%s: main=[%s]  acl=[%s]  release=[%s]", npu, worker,
                    " ".join(map(str, acl)), str(release) if release else "")


def log_binding(logger: Any, bound: Bound) -> None:
    items = bound.report.get("items", [])
    uvb = [item for item in items
           if item["kind"] == "uvb" and item["result"] in ("moved", "right")]
    if uvb:
        logger.info("[cpu_bind_ascend_950] uvb_poll_window_thread tids=[%s] cpus=[%s]",
                    " ".join(str(item["id"]) for item in uvb),
                    " ".join(map(str, cpus_of_list(uvb[0]["should"]))))
    elif bound.plan.dict()["device_type"] == "950":
        logger.warning("[cpu_bind_ascend_950] uvb_poll_window_thread not found. If running in "
                       "Docker, start the container with '--pid=host'.")
    memory = bound.report.get("memory")
    if memory:
        logger.info("[migrate] NPU:%s -> NUMA [%s]", bound.device, memory["node"])
    irqs = {item["name"]: item for item in items if item["kind"] == "irq"}
    if "sq" in irqs and irqs["sq"]["result"] in ("skipped", "failed"):
        getattr(logger, "warning_once", logger.warning)(
            "/proc/irq is not writable. If running in Docker, start the container with "
            "'--privileged=true'.")
    elif "sq" in irqs and "cq" in irqs:
        rows = npus_of(bound.plan)
        pci = [row["pci"] for row in rows if row["npu"] == bound.device][0]
        ends = [irqs[name][key] for name in ("sq", "cq") for key in ("id", "should")]
        logger.info("NPU%s(PCI %s): sq_send_trigger_irq IRQ_ID=%s -> CPU%s, "
                    "cq_update_irq IRQ_ID=%s -> CPU%s", bound.device, pci, *ends)
    for warning in bound.report.get("warnings", []):
        logger.warning("[cpubind] %s", warning["text"])


def bind_and_log(logger: Any, rank: Optional[int], npu_id: Optional[int] = None) -> Bound:
    """bind() with the log lines of vllm-ascend."""
    bound = bind(rank, npu_id, lambda plan, device: log_plan(logger, plan, device, rank))
    if bound.binding is None:
        logger.info("[cpubind] CPUBIND_ROOT is set: nothing is bound.")
    elif not bound.is_again:
        log_binding(logger, bound)
    return bound


def try_to_bind(logger: Any, rank: Optional[int], npu_id: Optional[int] = None
                ) -> Optional[Bound]:
    """bind_and_log(), where the rules bind on this processor; a failure is one warning and None,
    or is raised with CPUBIND_STRICT=1."""
    if not may_bind():
        logger.info("CPU binding skipped: non-ARM CPU detected.")
        return None
    try:
        return bind_and_log(logger, rank, npu_id)
    except Exception as error:
        if is_true("CPUBIND_STRICT"):
            raise
        logger.warning("Bind cpus failed in rank%s: %s Skip binding cpu.", rank, error)
        return None
