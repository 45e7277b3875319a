# SPDX-License-Identifier: MIT
"""The interface of vllm_ascend.utils that cpu_binding.py uses. STANDIN_PRODUCT names the
product: A2, A3, _310P or A5."""
import enum
import os


class AscendDeviceType(enum.Enum):
    A2 = 0
    A3 = 1
    _310P = 2
    A5 = 3


def get_ascend_device_type():
    return AscendDeviceType[os.environ.get("STANDIN_PRODUCT", "A2")]
