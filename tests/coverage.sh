#!/bin/sh
# coverage.sh - how much of each room the tests reach, in lines and branches
# SPDX-License-Identifier: MIT
# runs: by make
#
#   tests/coverage.sh [WORD]      by `make coverage`, with a BUILD whose programs count; WORD: the
#                                 tests with it in their names
#
# Runs the tests of check and check-all that start programs of this build; not counted are the
# virtual machines, and what loads the library into another program. Prints a row for each room,
# and BUILD/coverage.txt has one for each file.
set -eu
BUILD=$(cd "${BUILD:-build}" && pwd)
rm -rf "$BUILD/raw"
mkdir -p "$BUILD/raw"
# Programs that run side by side count in one of four files, as they go: one that a signal ends, as
# a watch, has counted, too.
export LLVM_PROFILE_FILE="$BUILD/raw/%4m%c.profraw"
ln -sfn . "$BUILD/san"
BUILD=$BUILD SHARED=${SHARED:-../shared} tests/run check-sanitized "$@" || echo "some tests failed"

version=$(clang --version | sed -n 's/.*version \([0-9]*\).*/\1/p')
tool() { # name, arguments
    name=$1
    shift
    if command -v "$name" >/dev/null; then "$name" "$@"; else "$name-$version" "$@"; fi
}
tool llvm-profdata merge -o "$BUILD/all.profdata" "$BUILD"/raw/*.profraw
tool llvm-cov export -summary-only -instr-profile="$BUILD/all.profdata" "$BUILD/test" \
    -object "$BUILD/cpubind" -object "$BUILD/cpubind-nri" >"$BUILD/coverage.json"
python3 - "$BUILD" <<'END'
import json, os, sys
build = sys.argv[1]
files = json.load(open(build + "/coverage.json"))["data"][0]["files"]
rooms, rows = {}, []
for file in files:
    name = os.path.relpath(file["filename"])
    if not (name == "cpubind.h" or name.startswith("adapters/")):
        continue
    part = [file["summary"][kind][what] for kind in ("lines", "branches")
            for what in ("covered", "count")]
    rows.append((name, part))
    room = "/".join(name.split("/")[:2])
    for key in (room, "all"):
        rooms[key] = [a + b for a, b in zip(rooms.get(key, [0] * 4), part)]

def row(name, part):
    share = [100 * part[i] / max(part[i + 1], 1) for i in (0, 2)]
    return "%-40s %7d lines %5.1f %%  %7d branches %5.1f %%" % (
        name, part[1], share[0], part[3], share[1])

with open(build + "/coverage.txt", "w") as out:
    for name, part in sorted(rows):
        print(row(name, part), file=out)
for room in sorted(rooms, key=lambda r: (r == "all", r)):
    print(row(room, rooms[room]))
END
