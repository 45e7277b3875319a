# SPDX-License-Identifier: MIT
"""A stand-in of vllm-ascend for tests: what cpu_binding.py imports of it."""
