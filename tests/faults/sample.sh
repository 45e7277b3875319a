#!/bin/sh
# sample.sh - a sample of the uses of each system call of the command fails; prints TAP
# SPDX-License-Identifier: MIT
# runs: by hand
#
# With --all each of them does; faults.py says what, and runs one scene, or one fault, by name.
skip_all() { # reason
    echo "1..0 # SKIP $1"
    exit 0
}

[ "$(id -u)" -eq 0 ] && unshare -m -p -f --mount-proc true 2>/dev/null ||
    skip_all "namespaces of its own need root"
command -v python3 >/dev/null || skip_all "there is no python3"
if [ "$1" = --all ]; then set --; else set -- --sample; fi
exec python3 tests/faults/faults.py "$@"
