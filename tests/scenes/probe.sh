#!/bin/sh
# probe.sh - measure with made workers, beside every noise, and the memory of nodes; prints TAP
# SPDX-License-Identifier: MIT
# runs: check-all
#
# A probe takes some ten seconds, whatever its limit of time: measure.sh has the one of a change.
. tests/scenes/lib.sh
use_gpus

probe() { # argument ...
    "$CPUBIND" measure --probe --time 1 --json "$@" >"$out/said" 2>"$out/err"
    [ $? -ne 2 ] && fits measure && [ -n "$(json '.matrix.copy_mb_s[0][0]')" ] &&
        [ -n "$(json '.matrix.latency_ns[0][0]')" ]
}

made_workers_beside_every_noise() {
    probe --noise cpu,memory,irq && [ "$(figure step.p50 unit)" = us ] &&
        [ "$(figure steps better)" = higher ] &&
        [ "$(figure wake_timer.p99 better)" = lower ] && [ "$(figure step.p50 first)" != "" ]
}

# Of two nodes the second one has no memory here; with the shim its memory is elsewhere.
memory_of_another_node_is_not_measured() {
    mount --bind "$host/sys/devices/system/node" /sys/devices/system/node &&
        says 4 "set_mempolicy: Invalid argument" "$CPUBIND" measure --probe --time 1 --noise \
            none &&
        LD_PRELOAD=$programs/affinity_shim CPUBIND_SHIM=$out CPUBIND_SHIM_CPUS=2 probe --noise \
            none &&
        has '.matrix.copy_mb_s[0][1]' "" && has '.matrix.latency_ns[1][1]' ""
}

check "made workers are measured beside every noise" made_workers_beside_every_noise
check "memory that is on another node is not measured" memory_of_another_node_is_not_measured
finish
