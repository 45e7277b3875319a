#!/bin/sh
# python.sh - the tests of the Python package: each test_*.py below this folder
# SPDX-License-Identifier: MIT
#
#   tests/python/python.sh            from the top folder, after `make all lib`
#   tests/python/python.sh --files    the package on fixture hosts and its wheel alone, whose
#                                     result is kept
#
# Prints TAP. Skipped without python3, or without the library. Writes below BUILD alone.
# As root it runs with mounts of its own, and does not touch the records of this machine.
LC_ALL=C.UTF-8
export LC_ALL

BUILD=${BUILD:-build}
. tests/support/kept.sh
[ "$1" != --files ] ||
    keep_by "cpubind.h adapters/python LICENSE fixtures tests/python $BUILD/cpubind $BUILD/libcpubind.so.1" \
        python3 "$@"
if [ -z "$PYTHON_MOUNTS" ] && [ "$(id -u)" -eq 0 ] &&
    unshare -m mount -t tmpfs -o mode=755 tmpfs /run 2>/dev/null; then
    PYTHON_MOUNTS=own
    export PYTHON_MOUNTS
    exec unshare -m "$0" "$@"
fi
[ -z "$PYTHON_MOUNTS" ] || mount -t tmpfs -o mode=755 tmpfs /run || exit 1
out=$BUILD/python$1
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
    files=tests/python/test_package.py
    [ "$1" = --files ] || files=$(find tests/python -name 'test_*.py' ! -path "$files" | sort)
    for file in $files; do
        check "$file" python3 "$file"
    done
    if [ "$1" = --files ]; then
        . tests/python/wheel.sh
    else
        add_kept --files
    fi
fi
finish
