# SPDX-License-Identifier: MIT
"""sglang.py - binding the scheduler processes of SGLang, one for each NPU

  CPUBIND_ENABLE=1 python -m sglang.launch_server --device npu ...

register() is an entry point of sglang.srt.plugins. It takes two places:
  configure_subprocess of sglang.srt.utils.numa_utils, around the start of a scheduler process:
      the process starts on the CPUs of its NPU, so that its threads and the memory that it
      touches first are there from its first instruction. Needs no numactl and writes no file;
  Scheduler.run_event_loop, in the process, when the model is loaded and its graphs are there:
      threads, interrupts and memory are bound as cpubind.vllm_ascend does it.
A server with --numa-node, which names the nodes by hand, is left as it is. A binding that fails
is one warning, unless CPUBIND_STRICT=1.

The variables of _engine.py, and
  CPUBIND_WHEN      warmup (default): both places; early: the start alone; never: neither
"""
from __future__ import annotations

import contextlib
import logging
import os
from multiprocessing import resource_tracker
from typing import Any, Callable, Iterator, Optional

import cpubind
from cpubind import _engine
from cpubind._engine import restore  # noqa: F401

logger = logging.getLogger("cpubind.sglang")

START = "sglang.srt.utils.numa_utils.configure_subprocess"
LOOP = "sglang.srt.managers.scheduler.Scheduler.run_event_loop"


def register() -> None:
    """The entry point of sglang.srt.plugins, which SGLang calls in each of its processes."""
    if not _engine.is_on("SGLANG_PLUGINS") or _engine.when() == "never":
        return
    try:
        from sglang.srt.plugins.hook_registry import HookRegistry, HookType
    except ImportError:
        take_place()
        return
    HookRegistry.register(START, configure_around, HookType.AROUND)
    HookRegistry.register(LOOP, run_event_loop_around, HookType.AROUND)


def take_place() -> None:
    """Takes the first of the two places in an SGLang that has no plugins. A script that starts
    the server calls it before that."""
    from sglang.srt.utils import numa_utils
    original = numa_utils.configure_subprocess
    if getattr(original, "is_of_cpubind", False):
        return

    def configure(server_args: Any, gpu_id: int) -> Any:
        return configure_around(original, server_args, gpu_id)

    configure.is_of_cpubind = True
    numa_utils.configure_subprocess = configure


def configure_around(original: Callable[..., Any], server_args: Any, gpu_id: int) -> Any:
    """The context in which SGLang starts the process that drives this NPU."""
    if getattr(server_args, "numa_node", None) is not None or not _engine.may_bind():
        return original(server_args, gpu_id)
    return configure_subprocess(server_args, gpu_id)


@contextlib.contextmanager
def configure_subprocess(server_args: Any, gpu_id: int) -> Iterator[None]:
    """A process that is started in this context starts on the main CPUs of its NPU. The calling
    thread is there for as long; the other threads of this process stay where they are."""
    before = os.sched_getaffinity(0)
    # The process that multiprocessing starts beside the first child belongs to none of them.
    resource_tracker.ensure_running()
    is_moved = _move_this_thread(gpu_id)
    if is_moved:
        # The child plans by what this process may use, not by the few CPUs that it starts on.
        os.environ.setdefault(_engine.STARTED_ON, ",".join(map(str, sorted(before))))
    try:
        yield
    finally:
        if is_moved:
            os.environ.pop(_engine.STARTED_ON, None)
            os.sched_setaffinity(0, before)


def _move_this_thread(gpu_id: int) -> bool:
    try:
        with _engine.open_host() as host:
            plan, device = _engine.make_plan(host, gpu_id, None)
        logger.info("[cpubind] The process for GPU %s starts on the main CPUs of NPU %s.",
                    gpu_id, device)
        if _engine.is_dry_run():
            return False
        cpubind.bind_thread(plan, device, "main")
        return True
    except Exception as error:
        if _engine.is_true("CPUBIND_STRICT"):
            raise
        logger.warning("The process for GPU %s starts unbound: %s", gpu_id, error)
        return False


def run_event_loop_around(original: Callable[..., Any], scheduler: Any, *words: Any,
                          **named: Any) -> Any:
    if _engine.when() != "early" and not _names_nodes(scheduler):
        bind(_gpu_id(scheduler))
    return original(scheduler, *words, **named)


def _gpu_id(scheduler: Any) -> Optional[int]:
    """A field of the scheduler, or in newer versions of its parallel state."""
    state = getattr(scheduler, "ps", None)
    return getattr(scheduler, "gpu_id", getattr(state, "gpu_id", None))


def _names_nodes(scheduler: Any) -> bool:
    return getattr(getattr(scheduler, "server_args", None), "numa_node", None) is not None


def bind(gpu_id: Optional[int]) -> Optional[_engine.Bound]:
    """Binds this process, which drives the visible NPU of this number; for a worker that SGLang
    starts without configure_subprocess (Ray), too. Returns what was done, or None where nothing
    was."""
    return _engine.try_to_bind(logger, gpu_id)
