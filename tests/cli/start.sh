# shellcheck shell=sh
# start.sh - how the scripts of this folder start; each sources this file first
# SPDX-License-Identifier: MIT
#
# With own_run set, to options of unshare(1) such as "-m", a script starts again with mounts and a
# /run of its own where it is root, so that it touches no record of this machine; BIND_MOUNTS then
# says "own", else "shared". Sets BUILD; `out`, a new folder for outputs with the name of the
# script; CPUBIND, the command of the build that is linked to shared libraries if `wants_shim`
# is set, which the shim needs. With `keeps_out` what is in the folder stays. No variable of a launcher is left.
LC_ALL=C
export LC_ALL

BUILD=${BUILD:-build}
if [ -n "$own_run" ] && [ -z "$BIND_MOUNTS" ]; then
    BIND_MOUNTS=shared
    export BIND_MOUNTS
    # The options are split on purpose.
    # shellcheck disable=SC2086
    if [ "$(id -u)" -eq 0 ] &&
        unshare $own_run mount -t tmpfs -o mode=755 tmpfs /run 2>/dev/null; then
        BIND_MOUNTS=own exec unshare $own_run "$0" "$@"
    fi
fi
if [ -n "$own_run" ] && [ "$BIND_MOUNTS" = own ]; then
    mount -t tmpfs -o mode=755 tmpfs /run || exit 1
fi

out=$BUILD/${0##*/}
out=${out%.sh}
[ -n "$keeps_out" ] || rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
CPUBIND=$(cd "$BUILD" && pwd)/cpubind${wants_shim:+_shared}
. tests/support/tap.sh
. tests/support/waiting.sh
unset LOCAL_RANK SLURM_LOCALID OMPI_COMM_WORLD_LOCAL_RANK MPI_LOCALRANKID PMI_LOCAL_RANK \
    PALS_LOCAL_RANKID MV2_COMM_WORLD_LOCAL_RANK FLUX_TASK_LOCAL_ID CUDA_VISIBLE_DEVICES \
    CUDA_DEVICE_ORDER SLURM_STEP_GPUS SLURM_JOB_GPUS SLURM_GPUS_ON_NODE

# Builds a program of this folder.
build() { # source, file, argument of the compiler ...
    built_from=$1
    shift
    cc -std=c11 -D_DEFAULT_SOURCE -O1 -Wall -Wextra -Werror "tests/cli/$built_from" -o "$@"
}

# Builds the shim that replaces the calls which set CPUs, and a worker.
build_shim() { # file of the worker
    build affinity_shim.c "$out/shim.so" -shared -fPIC -ldl && build bound_worker.c "$1" -pthread
}

# The outputs are in $out/said and $out/err.
says() { # exit status, words that one of the outputs must hold, command ...
    want=$1
    words=$2
    shift 2
    "$@" >"$out/said" 2>"$out/err"
    got=$?
    cat "$out/said" "$out/err"
    [ "$got" -eq "$want" ] &&
        { [ -z "$words" ] || cat "$out/said" "$out/err" | grep -qF -e "$words"; } && return 0
    echo "$*: exit status $got, expected $want and \"$words\""
    return 1
}

# -- A host of two CPUs of this machine ----------------------------------------

# The CPUs of this process, one a line.
own_cpus() {
    sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status | tr ',' '\n' |
        awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }'
}

# Sets a and b, and host to a folder; without a second CPU the script ends.
take_two_cpus() { # what is skipped
    a=$(own_cpus | sed -n 1p)
    b=$(own_cpus | sed -n 2p)
    host=$out/host
    [ -z "$b" ] || return 0
    skip "$1" "this machine has one CPU"
    finish
    exit
}

put() { # file below $host, text
    mkdir -p "$host/$(dirname "$1")"
    printf '%s\n' "$2" >"$host/$1"
}

put_gpu() { # address, node [, number of its device file]
    put "sys/bus/pci/devices/$1/vendor" 0x10de
    put "sys/bus/pci/devices/$1/device" 0x2330
    put "sys/bus/pci/devices/$1/class" 0x030200
    put "sys/bus/pci/devices/$1/numa_node" "$2"
    [ -z "$3" ] || put "proc/driver/nvidia/gpus/$1/information" "Device Minor: 	 $3"
}

# Each CPU on a node of its own, and a GPU near each.
put_two_nodes() { # allowed CPUs of the process, variables, numbers of the device files
    put proc/self/status "Cpus_allowed_list:	$1"
    put sys/devices/system/cpu/online "$a,$b"
    put sys/devices/system/node/node0/cpulist "$a"
    put sys/devices/system/node/node1/cpulist "$b"
    put sys/devices/system/node/node0/distance "10 20"
    put sys/devices/system/node/node1/distance "20 10"
    put uname x86_64
    put env "$2"
    put_gpu 0000:01:00.0 0 "$3"
    put_gpu 0000:02:00.0 1 "$4"
}
