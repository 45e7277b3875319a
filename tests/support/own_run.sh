#!/bin/sh
# own_run.sh - runs the script that sources it in mounts, processes and a /run of its own
# SPDX-License-Identifier: MIT
#
# Without root, or where the kernel refuses, the script is skipped. It is sourced first: the
# script starts again. Then `out` is a new folder for its outputs, CPUBIND is the command, and
# the functions of tap.sh are there.

if [ -z "$OWN_RUN" ]; then
    own='unshare -m -p -f --mount-proc'
    # The words are split on purpose.
    # shellcheck disable=SC2086
    if [ "$(id -u)" -ne 0 ] || ! $own mount -t tmpfs -o mode=755 tmpfs /run 2>/dev/null; then
        echo "1..0 # SKIP a /run of its own needs root"
        exit 0
    fi
    # shellcheck disable=SC2086
    OWN_RUN=yes exec $own "$0" "$@"
fi
mount -t tmpfs -o mode=755 tmpfs /run || exit 1

out=$(cd "$BUILD" && pwd)/service_$(basename "$0" .sh)
rm -rf "$out"
mkdir -p "$out" || exit 1
CPUBIND=$(cd "$BUILD" && pwd)/cpubind
. tests/support/tap.sh
