# SPDX-License-Identifier: MIT
"""A stand-in of vLLM for tests: the logger that cpu_binding.py of vllm-ascend imports."""
