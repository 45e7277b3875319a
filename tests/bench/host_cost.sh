#!/bin/sh
# host_cost.sh - measure a watch of all workers beside 4,000 processes of 100,000 threads
# runs: by make
# SPDX-License-Identifier: MIT
#
#   tests/bench/host_cost.sh     from the top folder; BUILD has bench_host
#
# Needs root: the numbers of processes go up to 32,768 by default, so the limit of the kernel is
# raised, and put back at the end. Events and polling are measured for a minute each.
set -eu
limit=/proc/sys/kernel/pid_max
before=$(cat "$limit")
trap 'echo "$before" >"$limit"' EXIT
trap 'exit 1' INT TERM HUP
if [ "$before" -lt 400000 ]; then
    echo 400000 >"$limit"
fi
CPUBIND_BENCH_PROCESSES=${CPUBIND_BENCH_PROCESSES:-4000} \
    CPUBIND_BENCH_SECONDS=${CPUBIND_BENCH_SECONDS:-60} "${BUILD:-build}/bench_host"
