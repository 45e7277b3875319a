#!/bin/sh
# places.sh - where the service says that a container belongs, by its devices; prints TAP
# SPDX-License-Identifier: MIT
# runs: check
# shellcheck disable=SC2086 # lists are split on purpose
#
# The hosts are fixtures, with the numbers of device files; cpubind-nri asks so for each container.
. tests/scenes/lib.sh

use_host() { # fixture, setting ...
    host=$out/$1
    [ -d "$host" ] || "$CPUBIND" fixture export "$1" "$host" --quiet || exit 1
    mkdir -p "$host/proc" &&
        printf 'Character devices:\n  1 mem\n195 nvidia\n236 devdrv-cdev\n\n' >"$host/proc/devices"
    shift
    settings "$@" && start_service || exit 1
}

# CPUS|NODES|DEVICES|ANSWER, of the standard input: the CPUs, nodes and threads, or the error.
are_told() {
    sed 's/|/ /g; s/^\([^ ]*\) \([^ ]*\) \([^ ]*\) .*/place \1 \2 \3/' >"$out/asked.all" <"$1" || return 1
    cut -d '|' -f 4 <"$1" >"$out/want"
    python3 tests/scenes/programs/client.py ask $socket <"$out/asked.all" |
        sed 's/.*"text": "\(.*\)".*/\1/; s/^.*"cpus": "*\([^",]*[^"]*\)"*, "mems": "*\([^"]*\)"*, "omp": \(.*\)}/\1 \2 \3/' \
            >"$out/is"
    diff "$out/want" "$out/is"
}

cat >"$out/numbered" <<'TABLE'
-|-|236:0|24-29,36-41 null 8
0-47|0-3|236:0|24-29,36-41 2-3 8
0-47|0-3|ascend=0|24-29,36-41 2-3 8
0-47|0,2|ascend=Ascend910-0|24-29,36-41 2 8
0-47|0|ascend=0|24-29,36-41 null 8
24-47|-|ascend=0|24-29,36-41 null 8
0-47|-|ascend=2-3|0-23 null 8
0-47|-|ascend=3,ascend=2,236:2|0-23 null 8
0-40|-|ascend=2-3|0-23 null 8
24-28|-|236:0|24-28 null 1
0-47|0-3|1:3,10:229,236:99|null null 0
0-47|0-3|1:3,236:0|24-29,36-41 2-3 8
0-47|0-3|-|null null 0
0-47|-|236:0,|24-29,36-41 null 8
24-27|-|236:0|npu0 has 4 of its CPUs among those that the container may have (24-27), and needs 5
0-2|-|236:2|npu2 has 3 of its CPUs among those that the container may have (0-2), and needs 5
0-47|-|ascend=4|this host has no device ascend=4
0-47|-|ascend=3-4|this host has no device ascend=3-4
0-47|-|ascend=3-2|this host has no device ascend=3-2
0-47|-|ascend=|this host has no device ascend=
0-47|-|nvidia=0|this host has no device nvidia=0
0-47|-|huawei=0|this host has no device huawei=0
0-47|-|236|this host has no device 236
-|-|236:2,ascend=7,236:1|this host has no device ascend=7
0-|-|236:0|the CPUs are no list
0-47|a|236:0|the memory nodes are no list
TABLE

cat >"$out/bus" <<'TABLE'
-|0-1|nvidia=0|0-71 0 72
-|0-1|195:1|72-143 1 72
-|0-3|nvidia=GPU-1a2b3c41-0000-4000-8000-000000000001|72-143 1 72
70-80|0-1|nvidia=0-1|70-80 0-1 2
-|-|195:255,195:0|0-71 null 72
-|-|nvidia=GPU-1a2b3c41|this host has no device nvidia=GPU-1a2b3c41
-|-|nvidia=MIG-1a2b3c41-0000-4000-8000-000000000001|this host has no device nvidia=MIG-1a2b3c41-0000-4000-8000-000000000001
-|-|nvidia=2|this host has no device nvidia=2
TABLE

cat >"$out/poor" <<'TABLE'
-|-|nvidia=1|2 null 1
-|-|nvidia=6|gpu6 has 0 of its CPUs among those that the container may have (all), and needs 1
-|-|nvidia=7|gpu7 has 0 of its CPUs among those that the container may have (all), and needs 1
TABLE

# What could not be read is not taken for a device that is not there.
unread_numbers_are_no_absent_device() {
    rm "$host/proc/devices" && mkdir "$host/proc/devices" || return 1
    python3 tests/scenes/programs/client.py ask $socket 'place - - 236:2\n' >"$out/is"
    rmdir "$host/proc/devices"
    cat "$out/is"
    grep -q "the numbers of device files could not be read" "$out/is"
}

settings_choose_the_cpus() {
    echo '-|-|ascend=0-3|0-23 null 2' >"$out/few" && echo '-|-|236:2|0-5 null 2' >>"$out/few"
    kill_service
    use_host a2-driver-host "rules = near" "allowed = 0-23"
    are_told "$out/few"
}

use_host a2-driver-host "rules = near"
check "devices whose driver lists their users" are_told "$out/numbered"
check "numbers that cannot be read are no absent device" unread_numbers_are_no_absent_device
check "the settings choose the CPUs" settings_choose_the_cpus
kill_service
use_host gpu-grace-2gh200 "rules = near"
check "devices of the bus" are_told "$out/bus"
kill_service
use_host gpu-2socket-8h100 "rules = near" "allowed = 0-5"
check "devices for which there are too few CPUs" are_told "$out/poor"
end_service TERM
finish
