# SPDX-License-Identifier: MIT
"""torch.py - binding a training or inference script that uses torch_npu

  import cpubind.torch
  cpubind.torch.bind()        # after the first work on the NPU, when its threads are there

Finds the rank of this process on its host in the environment that torchrun, mpirun or srun
gives it. Does not import torch. Logs the lines of cpubind.vllm_ascend to the logger
"cpubind.torch"; a binding that fails is one warning there, unless CPUBIND_STRICT=1. _engine.py
lists the variables.
"""
from __future__ import annotations

import logging
import os
import re
from typing import Optional

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
