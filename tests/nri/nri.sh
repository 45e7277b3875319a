#!/bin/sh
# nri.sh - test cpubind-nri with a runtime that is made here, and a real service; prints TAP
# SPDX-License-Identifier: MIT
#
#   tests/nri/nri.sh     from the top folder; BUILD is where the command and the plugin are
#
# The service plans for a captured host of 192 CPUs and 8 NPUs, on which nothing runs. Runs in
# mounts, processes and a /run of its own, and touches no service or runtime of this machine.
LC_ALL=C
export LC_ALL

BUILD=${BUILD:-build}
if [ ! -x "$BUILD/cpubind-nri" ]; then
    echo "1..0 # SKIP the plugin is not built: there was no protoc-c (protobuf-c-compiler)"
    exit 0
fi
needs_own_run=yes
. tests/support/start.sh

"$CPUBIND" fixture export a2-192cpu-8npu "$out/root" --quiet || exit 1
mkdir -p "$out/root/proc" /run/nri
printf 'Character devices:\n  1 mem\n236 devdrv-cdev\n\nBlock devices:\n' >"$out/root/proc/devices"
printf 'memory = none\nany-arch = yes\n' >"$out/conf"
chmod 644 "$out/conf"
NRI_LEAN=$(cd "$BUILD" && pwd)/cpubind-nri # whose memory is counted
NRI_PLUGIN=$NRI_LEAN
[ ! -x "$BUILD/san/cpubind-nri" ] || NRI_PLUGIN=$(cd "$BUILD" && pwd)/san/cpubind-nri
NRI_OUT=$out
export NRI_LEAN NRI_PLUGIN NRI_OUT CPUBIND
PYTHONDONTWRITEBYTECODE=1 exec python3 tests/nri/nri_cases.py
