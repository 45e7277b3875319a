#!/bin/sh
# runs: by make
# lab.sh - run a command on this machine as if it were a captured host
# SPDX-License-Identifier: MIT
#
#   SHIM=affinity_shim.so tests/python/engines/lab.sh FOLDER DIR COMMAND [ARGUMENT...]
#
# FOLDER is a captured host, DIR a new folder for what the command does. In mounts of its own
# the command sees the CPUs, nodes and PCI functions of that host in /sys, and an empty /run;
# affinity_shim.c lets every thread have the CPUs of that host, and records in DIR/NUMBER where
# a thread is bound. npu-smi, lscpu, ps, taskset and migratepages are stand-ins of bin/: they
# print what the host printed, and add a line to DIR/started. Without root that may mount: 77.
here=$(cd "$(dirname "$0")" && pwd)
if [ -z "$LAB_HOST" ]; then
    LAB_HOST=$(cd "$1" && pwd) && mkdir -p "$2" && LAB_DIR=$(cd "$2" && pwd) || exit 1
    shift 2
    export LAB_HOST LAB_DIR
    unshare -m true 2>/dev/null || exit 77
    exec unshare -m "$0" "$@"
fi
mount -t tmpfs -o mode=755 tmpfs /run || exit 77
for place in devices/system bus/pci; do
    [ ! -d "$LAB_HOST/sys/$place" ] || mount --bind "$LAB_HOST/sys/$place" "/sys/$place" ||
        exit 77
done
for node in "$LAB_HOST"/sys/devices/system/node/node*; do
    tr , '\n' <"$node/cpulist" | while IFS=- read -r first last; do
        seq "$first" "${last:-$first}" | sed "s/\$/ ${node##*node}/"
    done
done >"$LAB_DIR/lscpu"
LAB_PATH=$PATH
PATH=$here/bin:$PATH
CPUBIND_SHIM=$LAB_DIR
CPUBIND_SHIM_MACHINE=aarch64
CPUBIND_ALLOWED=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$LAB_HOST/proc/self/status")
CPUBIND_SHIM_CPUS=$((${CPUBIND_ALLOWED##*[-,]} + 1))
export LAB_PATH PATH CPUBIND_SHIM CPUBIND_SHIM_MACHINE CPUBIND_SHIM_CPUS CPUBIND_ALLOWED
LD_PRELOAD=$SHIM exec "$@"
