# SPDX-License-Identifier: MIT
"""re has what cpu_binding.py uses of regex, for a machine without regex."""
from re import *  # noqa: F401,F403
