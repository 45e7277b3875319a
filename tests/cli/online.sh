#!/bin/sh
# online.sh - test a container whose cpu/online is not the kernel's, as lxcfs makes it; prints TAP
# SPDX-License-Identifier: MIT
#
#   tests/cli/online.sh          from the top folder; BUILD is where the command and outputs are
#
# In a mount namespace of its own a file of numbers from 0 on is bound over
# /sys/devices/system/cpu/online, and the mask of the process is what taskset sets.
BUILD=${BUILD:-build}
CPUBIND=${CPUBIND:-$BUILD/cpubind}
out=$(mktemp -d "${TMPDIR:-/tmp}/cpubind-online-XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT
trap 'exit 1' HUP INT TERM
. tests/support/tap.sh
CPUBIND=$(realpath "$CPUBIND")
real=/sys/devices/system/cpu/online

list=$(sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status)
first=${list%%[,-]*}
last=${list##*[,-]}
kernel=$(cat "$real")

# Runs a command below a mask, with a made file over the kernel's.
made() { # file's text, CPUs, command ...
    made_text=$1
    made_cpus=$2
    shift 2
    # shellcheck disable=SC2016
    unshare -m --propagation private sh -c '
        mount -t tmpfs tmpfs /run && echo "$1" >/run/online && mount --bind /run/online "$2" ||
            exit 99
        cpus=$3
        shift 3
        exec taskset -c "$cpus" "$@"' sh "$made_text" "$real" "$made_cpus" "$@"
}

if ! made 0 "$list" true 2>"$out/why" || [ "$first" = "$last" ] ||
    [ ! -e "/sys/devices/system/node/node0/cpulist" ]; then
    for name in "run --numa-bind" "capture and plan"; do
        skip "$name with a made cpu/online" "no mount namespace, or one CPU alone"
    done
    finish
    exit
fi

cpus_of() { # file's text, mask, expected CPUs
    made "$1" "$2" "$CPUBIND" run --numa-bind --numa-bind-nodes 0 --index 0 -- \
        sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status >"$out/is" || return 1
    [ "$(cat "$out/is")" = "$3" ] || {
        echo "bound to $(cat "$out/is"), not $3"
        return 1
    }
}
nodes=$(cat /sys/devices/system/node/node0/cpulist)
check "run --numa-bind binds to a CPU that a made cpu/online lacks" cpus_of "$first" "$last" "$last"
if [ "$nodes" = "$list" ]; then
    check "run --numa-bind binds to all CPUs, not to those of the file alone" \
        cpus_of "$first" "$list" "$list"
else
    skip "run --numa-bind binds to all CPUs" "node 0 has other CPUs than this process"
fi
check "run --numa-bind with the kernel's own file" cpus_of "$kernel" "$last" "$last"

capture() {
    made "$first" "$last" "$CPUBIND" capture -o "$out/host" || return 1
    [ "$(cat "$out/host/sys/devices/system/cpu/online")" = "$first" ]
}
check "a capture has the file of the container" capture
if [ -e "/sys/devices/system/cpu/cpu$last/online" ]; then
    check "and the file of each CPU that it lacks" \
        grep -qx 1 "$out/host/sys/devices/system/cpu/cpu$last/online"
fi
refused() {
    echo aarch64 >"$out/host/uname"
    "$CPUBIND" plan --root "$out/host" --npus 0 --device-type a3 --total 1 --rules reference \
        --json >"$out/again" 2>&1
    cat "$out/again"
    # One CPU is too few for an NPU; the refusal counts the CPUs that are allowed and online.
    grep -q '"have": 1' "$out/again"
}
check "a plan of the capture counts the CPU" refused
finish
