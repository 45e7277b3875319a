#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make_wheel.py - a wheel of the package, with the library for one architecture or several

    make_wheel.py VERSION OUTPUT_DIR MACHINE=LIBRARY [MACHINE=LIBRARY ...]

Writes cpubind-VERSION-py3-none-PLATFORMS.whl and prints its path. The same files give the same
bytes. Needs Python alone. The format is that of the packaging specification "Binary
distribution format".
"""
import base64
import hashlib
import os
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can have

METADATA = """Metadata-Version: 2.1
Name: cpubind
Version: %s
Summary: Which CPUs belong to which NPU, and to its interrupts and threads
License: MIT
Classifier: Programming Language :: Python :: 3
Classifier: Operating System :: POSIX :: Linux
Requires-Python: >=3.8
Description-Content-Type: text/markdown

%s"""

ENTRY_POINTS = """[vllm.general_plugins]
cpubind = cpubind.vllm_ascend:register

[sglang.srt.plugins]
cpubind = cpubind.sglang:register
"""


def digest(data):
    hashed = hashlib.sha256(data).digest()
    return "sha256=" + base64.urlsafe_b64encode(hashed).rstrip(b"=").decode()


def package_files():
    for name in sorted(os.listdir(os.path.join(HERE, "cpubind"))):
        if name.endswith(".py") or name == "py.typed":
            with open(os.path.join(HERE, "cpubind", name), "rb") as file:
                yield "cpubind/" + name, file.read()


def main(version, folder, libraries):
    tag = "py3-none-" + ".".join("manylinux_2_28_" + machine for machine in sorted(libraries))
    info = "cpubind-%s.dist-info/" % version
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as file:
        readme = file.read()
    with open(os.path.join(HERE, "..", "..", "LICENSE"), "rb") as file:
        licence = file.read()
    files = list(package_files())
    for machine, path in sorted(libraries.items()):
        with open(path, "rb") as file:
            files.append(("cpubind/lib/%s/libcpubind.so.1" % machine, file.read()))
    wheel = "Wheel-Version: 1.0\nGenerator: cpubind\nRoot-Is-Purelib: false\n"
    wheel += "".join("Tag: py3-none-%s\n" % platform for platform in tag[9:].split("."))
    files += [(info + "METADATA", (METADATA % (version, readme)).encode()),
              (info + "WHEEL", wheel.encode()),
              (info + "entry_points.txt", ENTRY_POINTS.encode()),
              (info + "top_level.txt", b"cpubind\n"),
              (info + "LICENSE", licence)]
    record = "".join("%s,%s,%d\n" % (name, digest(data), len(data)) for name, data in files)
    files.append((info + "RECORD", (record + info + "RECORD,,\n").encode()))
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "cpubind-%s-%s.whl" % (version, tag))
    with zipfile.ZipFile(path + ".new", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name.endswith(".so.1") else 0o100644) << 16
            archive.writestr(entry, data)
    os.replace(path + ".new", path)
    print(path)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit((__doc__ or "").strip())
    main(sys.argv[1], sys.argv[2], dict(word.split("=", 1) for word in sys.argv[3:]))
