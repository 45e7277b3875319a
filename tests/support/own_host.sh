#!/bin/sh
# own_host.sh - a function that makes a host with one NPU out of the CPUs of this machine
# SPDX-License-Identifier: MIT
#
# A process of this machine can be bound with the plan of such a host:
#   --device npu0 --scope own -o strategy=global_slice --allowed "$own_cpu" -o any-arch=yes

# Makes the folder; sets own_cpu to the first CPU that this process may use.
make_own_host() { # folder
    own_from=$1.from
    rm -rf "$1" "$own_from"
    "${BUILD:-build}/cpubind" fixture export 950-container-1npu "$own_from" --quiet || return 1
    mkdir -p "$1/cmd" "$1/proc/self" "$1/sys/devices/system/cpu" || return 1
    cp "$own_from/cmd/npu-smi-info-m.txt" "$own_from/cmd/npu-smi-info.txt" "$1/cmd" &&
        cp "$own_from/uname" "$1" &&
        cp -R "$own_from/sys/bus" "$1/sys" &&
        cat /proc/self/status >"$1/proc/self/status" || return 1
    for own_name in online present possible; do
        cat /sys/devices/system/cpu/$own_name >"$1/sys/devices/system/cpu/$own_name" ||
            return 1
    done
    own_cpu=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)
    [ -n "$own_cpu" ]
}
