# SPDX-License-Identifier: MIT
"""The one class of psutil that cpu_binding.py uses, for a machine without psutil."""
import os


class Process:
    def __init__(self):
        self.pid = os.getpid()
