# SPDX-License-Identifier: MIT
"""fixture_hosts.py - the fixture hosts as folders, for tests that open their files"""
import atexit
import os
import subprocess
import tempfile

TOP = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
COMMAND = os.environ.get("CPUBIND", os.path.join(TOP, "build", "cpubind"))
_place = tempfile.TemporaryDirectory()
atexit.register(_place.cleanup)


def folder(name):
    """The folder of a host, with all of its files; made at the first call."""
    path = os.path.join(_place.name, name)
    if not os.path.exists(path):
        subprocess.run([COMMAND, "fixture", "export", name, path, "--quiet"], check=True)
    return path
