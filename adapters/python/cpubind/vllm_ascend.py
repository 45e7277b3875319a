# SPDX-License-Identifier: MIT
"""vllm_ascend.py - bind_cpus of cpubind in the place of that of vllm_ascend/cpu_binding.py

  CPUBIND_ENABLE=1 vllm serve ...

Behaves as bind_cpus of vllm-ascend 182b75ea to its callers: bind_cpus(rank_id), with npu_id= as
later versions call it, and the log lines to the character. The plan and the binding come from
libcpubind. Starts no process but npu-smi, and that only if the files of the driver do not name
the NPUs and no other worker has asked within five seconds. bind_cpus must not raise, but for
CPUBIND_STRICT=1. All else of that module stays as it is.

register() is an entry point of vllm.general_plugins. The variables of _engine.py, and
  CPUBIND_WHEN      warmup (default): where vllm-ascend calls bind_cpus, after the warm-up;
                    early: as soon as the worker has its device, and again after the warm-up;
                    never: nothing is bound
"""
from __future__ import annotations

import logging
import sys
from typing import Any, Optional

from cpubind import _engine
from cpubind._engine import restore  # noqa: F401

try:
    from vllm.logger import logger
except Exception:  # whatever an engine that is not complete raises
    logger = logging.getLogger("cpubind.vllm_ascend")


def register() -> None:
    """The entry point of vllm.general_plugins. vLLM calls it in each of its processes before it
    imports the worker."""
    if _engine.is_on("VLLM_PLUGINS"):
        take_place()


def take_place() -> None:
    """Makes bind_cpus the one that `from vllm_ascend.cpu_binding import bind_cpus` finds."""
    try:
        from vllm_ascend import cpu_binding
    except ImportError:
        return
    worker = sys.modules.get("vllm_ascend.worker.worker")
    for module in filter(None, (cpu_binding, worker)):
        module.bind_cpus = bind_cpus
    if _engine.when() == "early":
        _bind_with_device()


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
    if _engine.when() == "never":
        logger.info("CPU binding skipped: CPUBIND_WHEN=never.")
    else:
        _engine.try_to_bind(logger, rank_id, npu_id)
