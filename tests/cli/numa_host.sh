# shellcheck shell=sh
# numa_host.sh - a host of two nodes for scripts that run --numa-bind, which source this file
# SPDX-License-Identifier: MIT
#
# The host is the snapshot $host: two CPUs of this machine, $a and $b, each on a node of its own,
# and two GPUs. $placeless has a GPU without a node. $out is a folder for outputs, $out/deny a
# command that refuses system calls.
own_run=-m
. tests/support/start.sh
build deny.c "$out/deny" || exit 1
take_two_cpus "run --numa-bind"
put_two_nodes "$a,$b"
put env ""
placeless=$out/placeless
cp -r "$host" "$placeless"
echo -1 >"$placeless/sys/bus/pci/devices/0000:02:00.0/numa_node"

run() { # argument ...
    "$CPUBIND" run --root "$host" "$@"
}

