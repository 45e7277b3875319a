#!/bin/sh
# nri.sh - test cpubind-nri with a runtime that is made here, and a real service; prints TAP
# SPDX-License-Identifier: MIT
# runs: check
#
# The service plans for a captured host of 192 CPUs and 8 NPUs, on which nothing runs. What counts
# memory, and makes a package, needs the plugin without sanitizers, which make check-all builds.
. tests/scenes/lib.sh
[ -x "$BUILD/cpubind-nri" ] || skip_all "the plugin is not built: there was no protobuf-c-compiler"
"$CPUBIND" fixture export a2-192cpu-8npu "$out/root" --quiet || exit 1
mkdir -p "$out/root/proc" /run/nri
printf 'Character devices:\n  1 mem\n236 devdrv-cdev\n\nBlock devices:\n' >"$out/root/proc/devices"
settings 'any-arch = yes'
NRI_PLUGIN=$BUILD/cpubind-nri
NRI_LEAN=${BUILD%/san}/cpubind-nri
[ "$NRI_LEAN" != "$NRI_PLUGIN" ] && [ -x "$NRI_LEAN" ] || NRI_LEAN=
NRI_OUT=$out
PYTHONDONTWRITEBYTECODE=1
export NRI_LEAN NRI_PLUGIN NRI_OUT CPUBIND PYTHONDONTWRITEBYTECODE
exec python3 tests/nri/nri_cases.py
