#!/bin/sh
# python.sh - the tests of the Python package: each test_*.py below this folder
# SPDX-License-Identifier: MIT
# runs: check-all
# build: plain
#
#   tests/python/python.sh            from the top folder, after `make all lib`
#
# Prints TAP. Skipped without python3, or without the library. Writes below BUILD alone.
# As root it runs with mounts of its own, and does not touch the records of this machine.
LC_ALL=C.UTF-8
export LC_ALL

BUILD=${BUILD:-build}
out=$BUILD/python
rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
. tests/support/tap.sh

if ! command -v python3 >/dev/null; then
    skip "the Python package" "no python3"
elif [ ! -e "$BUILD/libcpubind.so.1" ]; then
    skip "the Python package" "no libcpubind.so.1: make lib"
else
    CPUBIND_LIBRARY=$(cd "$BUILD" && pwd)/libcpubind.so.1
    CPUBIND=$(cd "$BUILD" && pwd)/cpubind
    PYTHONPATH=$(pwd)/adapters/python
    PYTHONDONTWRITEBYTECODE=1
    PYTHONWARNINGS=error
    export CPUBIND_LIBRARY CPUBIND PYTHONPATH PYTHONDONTWRITEBYTECODE PYTHONWARNINGS
    for file in $(find tests/python -name 'test_*.py' | sort); do
        check "$file" python3 "$file"
    done
    . tests/python/wheel.sh
fi
finish
