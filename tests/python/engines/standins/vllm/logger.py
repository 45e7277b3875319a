# SPDX-License-Identifier: MIT
"""The interface of vllm.logger that cpu_binding.py uses."""
import logging


class _Logger(logging.Logger):
    def warning_once(self, text, *words):
        self.warning(text, *words)


logger = _Logger("vllm")
