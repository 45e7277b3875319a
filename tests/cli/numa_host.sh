# shellcheck shell=sh
# numa_host.sh - a host of two nodes for scripts that run --numa-bind, which source this file
# SPDX-License-Identifier: MIT
#
# The host is the snapshot $host: two CPUs of this machine, $a and $b, each on a node of its own,
# and two GPUs. $placeless has a GPU without a node. $out is a folder for outputs, $out/deny a
# command that refuses system calls. As root the script runs with a /run of its own and does not
# touch the records of this machine.
LC_ALL=C
export LC_ALL

BUILD=${BUILD:-build}
if [ -z "$BIND_MOUNTS" ]; then
    BIND_MOUNTS=shared
    export BIND_MOUNTS
    if [ "$(id -u)" -eq 0 ] && unshare -m mount -t tmpfs -o mode=755 tmpfs /run 2>/dev/null; then
        BIND_MOUNTS=own exec unshare -m "$0" "$@"
    fi
fi
[ "$BIND_MOUNTS" = shared ] || mount -t tmpfs -o mode=755 tmpfs /run || exit 1

out=$BUILD/${0##*/}
out=${out%.sh}
rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
CPUBIND=$(cd "$BUILD" && pwd)/cpubind
. tests/support/tap.sh
. tests/support/waiting.sh
unset LOCAL_RANK SLURM_LOCALID OMPI_COMM_WORLD_LOCAL_RANK MPI_LOCALRANKID PMI_LOCAL_RANK \
    PALS_LOCAL_RANKID MV2_COMM_WORLD_LOCAL_RANK FLUX_TASK_LOCAL_ID

cc -std=c11 -D_DEFAULT_SOURCE -O1 -Wall -Wextra -Werror tests/cli/deny.c -o "$out/deny" || exit 1

# The CPUs of this process, one a line.
own_cpus() {
    sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status | tr ',' '\n' |
        awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }'
}

a=$(own_cpus | sed -n 1p)
b=$(own_cpus | sed -n 2p)
if [ -z "$b" ]; then
    skip "run --numa-bind" "this machine has one CPU"
    finish
    exit
fi

put() { # file, text
    mkdir -p "$host/$(dirname "$1")"
    printf '%s\n' "$2" >"$host/$1"
}

put_gpu() { # address, node
    put "sys/bus/pci/devices/$1/vendor" 0x10de
    put "sys/bus/pci/devices/$1/device" 0x2330
    put "sys/bus/pci/devices/$1/class" 0x030200
    put "sys/bus/pci/devices/$1/numa_node" "$2"
}

host=$out/host
put proc/self/status "Cpus_allowed_list:	$a,$b"
put sys/devices/system/cpu/online "$a,$b"
put sys/devices/system/node/node0/cpulist "$a"
put sys/devices/system/node/node1/cpulist "$b"
put sys/devices/system/node/node0/distance "10 20"
put sys/devices/system/node/node1/distance "20 10"
put uname x86_64
put env ""
put_gpu 0000:01:00.0 0
put_gpu 0000:02:00.0 1
placeless=$out/placeless
cp -r "$host" "$placeless"
echo -1 >"$placeless/sys/bus/pci/devices/0000:02:00.0/numa_node"

# Exits with a status, and says these words.
says() { # status, words, command ...
    want=$1
    words=$2
    shift 2
    "$@" >"$out/said" 2>&1
    got=$?
    cat "$out/said"
    echo "exit status $got"
    [ "$got" -eq "$want" ] && grep -qF -e "$words" "$out/said"
}

run() { # argument ...
    "$CPUBIND" run --root "$host" "$@"
}

