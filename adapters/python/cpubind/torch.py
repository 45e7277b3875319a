# SPDX-License-Identifier: MIT
"""torch.py - binding a script that uses torch_npu, and the ranks of torchrun --numa-binding

  import cpubind.torch
  cpubind.torch.bind()        # after the first work on the NPU, when its threads are there

  python -m cpubind.torch -m torch.distributed.run --numa-binding=node train.py

Finds the rank of this process on its host in the environment that torchrun, mpirun or srun
gives it. Does not import torch. Logs the lines of cpubind.vllm_ascend to the logger
"cpubind.torch"; a binding that fails is one warning there, unless CPUBIND_STRICT=1. _engine.py
lists the variables.
"""
from __future__ import annotations

import contextlib
import functools
import logging
import os
import re
import runpy
import sys
from typing import Any, Callable, Dict, Iterator, Optional, Sequence, Tuple

from cpubind import _engine
from cpubind._engine import restore  # noqa: F401

logger = logging.getLogger("cpubind.torch")

# The rank on this host by each launcher, as adapters/source.h has them.
RANK_VARIABLES = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK",
                  "MPI_LOCALRANKID", "PALS_LOCAL_RANKID", "PMI_LOCAL_RANK", "FLUX_TASK_LOCAL_ID",
                  "SLURM_LOCALID")


def local_rank() -> int:
    """The rank of this process on its host; 0 without a launcher."""
    for name in RANK_VARIABLES:
        value = os.environ.get(name, "")
        if value:
            if not re.fullmatch("0|[1-9][0-9]*", value, re.ASCII):
                raise ValueError("%s=%s is not a rank" % (name, value))
            return int(value)
    return 0


def bind(rank: Optional[int] = None, npu: Optional[int] = None) -> Optional[_engine.Bound]:
    """Binds this process: its threads, the interrupts of its NPU, its memory. A second call
    binds the threads that have come since.

    rank: of this process on its host, else local_rank(); it drives the visible NPU of that
    number, as torch.npu.set_device(rank) does. npu: the NPU by its number, whatever the rank.
    Returns what was done, or None where nothing was.
    """
    try:
        found = local_rank() if rank is None else rank
    except ValueError as error:
        if _engine.is_true("CPUBIND_STRICT"):
            raise
        logger.warning("Bind cpus failed: %s Skip binding cpu.", error)
        return None
    return _engine.try_to_bind(logger, found, npu)


# == In place of torch.numa.binding ============================================

# The words of AffinityMode (pytorch, torch/numa/binding.py) as settings; RULES.md has them too.
MODES: Dict[str, Dict[str, str]] = {
    "node": {"reach": "home", "share": "yes"},
    "socket": {"share": "yes"},
    "exclusive": {"reach": "home"},
    "core-complex": {"reach": "cache", "share": "yes"},
}

_kept: Any = None  # the binding of this process, which stays open


def _plan_options(mode: Any) -> Dict[str, str]:
    """The options of `cpubind plan` for a mode, a word or an AffinityMode."""
    word = str(getattr(mode, "value", mode))
    if word not in MODES:
        raise ValueError("%s is none of %s" % (word, ", ".join(MODES)))
    return {**MODES[word], **_engine.options()}


@contextlib.contextmanager
def _softly(rank: int) -> Iterator[None]:
    """A failure is one warning, and the rank goes on unbound; with CPUBIND_STRICT=1 it is
    raised."""
    try:
        yield
    except Exception as error:
        if _engine.is_true("CPUBIND_STRICT"):
            raise
        logger.warning("rank %d is not bound: %s", rank, error)


def bind_rank(rank: int, mode: Any) -> None:
    """Binds this process to the CPUs that the visible device number `rank` has by a mode of
    torch. New memory comes from their node; what is there is not moved, unless CPUBIND_MEMORY
    says so."""
    global _kept
    with _softly(rank), _engine.open_host() as host:
        options = {"memory": "none", **_plan_options(mode)}
        if not _engine.is_dry_run():
            _kept = host.bind(rank=rank, **options)


def _wrap_command(command_args: Sequence[str], *, numa_options: Any, **index: int
                  ) -> Tuple[str, ...]:
    """The command of a rank behind one that binds itself, and then becomes it."""
    if numa_options is None:
        return tuple(command_args)
    mode = numa_options.affinity_mode
    word = "%s:%d" % (getattr(mode, "value", mode), *index.values())
    return (sys.executable, "-m", "cpubind.torch", "--bind", word, "--", *command_args)


def _wrap_function(func: Callable[..., Any], *, numa_options: Any, **index: int
                   ) -> Callable[..., Any]:
    @functools.wraps(func)
    def bound(*args: Any, **keywords: Any) -> Any:
        _apply(numa_options=numa_options, **index)
        return func(*args, **keywords)
    return func if numa_options is None else bound


def _apply(*, numa_options: Any, **index: int) -> None:
    if numa_options is not None:
        bind_rank(*index.values(), numa_options.affinity_mode)


@contextlib.contextmanager
def _apply_for_a_while(*, numa_options: Any, **index: int) -> Iterator[None]:
    """Children that this thread starts meanwhile are on the CPUs of their rank."""
    before = os.sched_getaffinity(0)
    rank, = index.values()
    if numa_options is not None:
        with _softly(rank), _engine.open_host() as host:
            plan = host.plan(rank=rank, **_plan_options(numa_options.affinity_mode))
            if not _engine.is_dry_run():
                os.sched_setaffinity(0, plan.cpus(plan.rank_device))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


# What torchrun and others call, by its names from torch 2.8 on. The number of the device is
# gpu_index, and device_index in newer ones.
_IN_PLACE: Dict[str, Callable[..., Any]] = {
    "maybe_wrap_command_with_numa_bindings": _wrap_command,
    "maybe_wrap_command_args_with_numa_binding": _wrap_command,
    "_maybe_wrap_command_args_with_numa_binding": _wrap_command,
    "maybe_wrap_with_numa_binding": _wrap_function,
    "_maybe_wrap_with_numa_binding": _wrap_function,
    "_maybe_apply_numa_binding_to_current_process": _apply,
    "maybe_temporarily_apply_numa_binding_to_current_process": _apply_for_a_while,
}


def take_place() -> int:
    """Takes the place of the functions of torch.numa.binding, in the modules that have them
    already, too. Returns how many it has found."""
    try:
        from torch.numa import binding  # type: ignore[import-not-found]
    except ImportError as error:
        if _engine.is_true("CPUBIND_STRICT"):
            raise
        logger.warning("torch.numa.binding is left as it is: %s", error)
        return 0
    found = {name: vars(binding)[name] for name in _IN_PLACE if name in vars(binding)}
    for module in list(sys.modules.values()):
        for name, function in found.items():
            if getattr(module, "__dict__", {}).get(name) is function:
                setattr(module, name, _IN_PLACE[name])
    if not found:
        logger.warning("torch.numa.binding has none of the functions that cpubind knows")
    return len(found)


def main(words: Sequence[str]) -> None:
    """Runs a script, or -m and a module, where cpubind has the place of torch.numa.binding."""
    if words[:1] == ["--bind"] and words[2:3] == ["--"] and len(words) > 3:
        mode, _, rank = words[1].partition(":")
        bind_rank(int(rank), mode)
        os.execvp(words[3], words[3:])
    is_module = words[:1] == ["-m"]
    sys.argv = list(words[is_module:])
    if not sys.argv:
        sys.exit("python -m cpubind.torch [-m MODULE | SCRIPT] ARGUMENT...")
    take_place()
    if is_module:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
        runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    import cpubind.torch  # not this copy of it, which runpy will replace
    cpubind.torch.main(sys.argv[1:])
