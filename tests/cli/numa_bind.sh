#!/bin/sh
# numa_bind.sh - test run --numa-bind, --auto and --pci on live processes; prints TAP
# SPDX-License-Identifier: MIT
#
#   tests/cli/numa_bind.sh       from the top folder; BUILD is where the command and outputs are
#
# The host is the snapshot of numa_host.sh. Masks and memory policies are read back from /proc.
# The statements of vLLM's and SGLang's own tests are in numa_statements.sh.
. tests/cli/numa_host.sh

# The command line of a worker that prints its CPUs and its memory policy.
worker='sed -n "s/^Cpus_allowed_list:[^0-9]*/cpus /p" /proc/self/status
    if [ -r /proc/self/numa_maps ]; then sed -n "1s/^[^ ]* \([^ ]*\).*/policy \1/p" /proc/self/numa_maps; fi'

# -- Lists and messages --------------------------------------------------------
#
# Each row: the statement | "same" as in vLLM, or "better" and why it differs | the exit status |
# the words | the arguments.

while IFS='|' read -r statement verdict status words arguments; do
    [ -n "$statement" ] || continue
    # The arguments are split on purpose.
    # shellcheck disable=SC2086,SC2046
    check "$statement ($verdict)" says "$status" "$(echo $words | sed "s/@a/$a/;s/@b/$b/")" \
        run $(echo "$arguments" | sed "s/@a/$a/g;s/@b/$b/g") -- sh -c "$worker"
done <<'ROWS'
a list of nodes binds the CPUs of the node|same|0|cpus @a|--numa-bind --numa-bind-nodes 0 1 --index 0
the node of the second rank is its own|same|0|cpus @b|--numa-bind --numa-bind-nodes 0 1 --index 1
nodes with commas are taken too|better: numactl users write them so|0|cpus @b|--numa-bind --numa-bind-nodes 0,1 --index 1
a list of CPUs overrides the node|same|0|cpus @b|--numa-bind --numa-bind-nodes 0 0 --numa-bind-cpus @a @b --index 1
a list of CPUs needs no nodes|better: its nodes are known|0|cpus @b|--numa-bind --numa-bind-cpus @a @b --index 1
nodes are detected|same|0|cpus @b|--numa-bind --index 1
a narrow mask is intersected|better: vLLM skips the binding and stops|0|cpus @a|--numa-bind --index 0 --allowed @a
an index past the nodes is an error|same|125|GPU index 2 exceeds numa_bind_nodes size 2. Ensure the binding lists cover every visible GPU.|--numa-bind --numa-bind-nodes 0 1 --index 2
an index past the CPU lists is an error|same|125|GPU index 2 exceeds numa_bind_cpus size 2. Ensure the binding lists cover every visible GPU.|--numa-bind --numa-bind-cpus @a @b --index 2
lists need numa_bind|same|125|numa_bind_nodes and numa_bind_cpus require numa_bind=True|--numa-bind-nodes 0 1
lists of CPUs need numa_bind|same|125|numa_bind_nodes and numa_bind_cpus require numa_bind=True|--numa-bind-cpus 0-3 --npu 0
nodes are numbers|same|125|numa_bind_nodes must contain non-negative integers|--numa-bind --numa-bind-nodes x --index 0
CPUs are lists of numactl: abc|same|125|numa_bind_cpus entries must use numactl CPU list syntax, for example '0-3' or '0,2,4-7'|--numa-bind --index 0 --numa-bind-cpus abc
CPUs are lists of numactl: 1-|same|125|entries must use numactl CPU list syntax|--numa-bind --index 0 --numa-bind-cpus 1-
CPUs are lists of numactl: 1,,2|same|125|entries must use numactl CPU list syntax|--numa-bind --index 0 --numa-bind-cpus 1,,2
CPUs are lists of numactl: 1:2|same|125|entries must use numactl CPU list syntax|--numa-bind --index 0 --numa-bind-cpus 1:2
a list of the second rank is checked too|same|125|entries must use numactl CPU list syntax|--numa-bind --index 0 --numa-bind-cpus 0 abc
ranges ascend|same|125|numa_bind_cpus ranges must be ascending, but got '4-1'|--numa-bind --index 0 --numa-bind-cpus 4-1
an unknown node is an error|better: numactl finds it when the worker starts|125|names node 7, and this host has nodes 0-1|--numa-bind --numa-bind-nodes 0 7 --index 0
CPUs that are not allowed are an error with those that are|same|125|allowed by the current affinity [@a]|--numa-bind --numa-bind-cpus @b --index 0 --allowed @a
CPUs that are not allowed are an error|better: before anything changes|125|has no CPU cores allowed by the current affinity|--numa-bind --numa-bind-cpus 1023 --index 0
ROWS

check "an empty list of CPUs is an error" says 125 "numa_bind_cpus entries must not be empty" \
    run --numa-bind --index 0 --numa-bind-cpus "" -- true
check "an empty list of nodes is an error" says 125 "numa_bind_nodes must not be empty" \
    run --numa-bind --index 0 --numa-bind-nodes "" -- true

# -- Which rank ------------------------------------------------------------------

check "without a rank the variables are named" says 125 "OMPI_COMM_WORLD_LOCAL_RANK" \
    run --numa-bind -- true
for name in LOCAL_RANK SLURM_LOCALID OMPI_COMM_WORLD_LOCAL_RANK MPI_LOCALRANKID PMI_LOCAL_RANK \
    PALS_LOCAL_RANKID MV2_COMM_WORLD_LOCAL_RANK FLUX_TASK_LOCAL_ID; do
    check "--auto takes $name" says 0 "cpus $b" \
        env "$name=1" "$CPUBIND" run --root "$host" --rules near --auto -- sh -c "$worker"
done
check "a launcher in a job of Slurm counts before it" says 0 "cpus $b" env SLURM_LOCALID=0 \
    OMPI_COMM_WORLD_LOCAL_RANK=1 "$CPUBIND" run --root "$host" --rules near --auto -- sh -c "$worker"
check "the first variable counts" says 0 "cpus $b" env LOCAL_RANK=1 SLURM_LOCALID=0 \
    "$CPUBIND" run --root "$host" --rules near --auto -- sh -c "$worker"
seen=$out/seen
cp -r "$host" "$seen"
echo CUDA_VISIBLE_DEVICES=1 >"$seen/env"
check "a rank that sees one device of several takes it" says 0 "cpus $b" env SLURM_LOCALID=3 \
    "$CPUBIND" run --root "$seen" --numa-bind -- sh -c "$worker"
check "it is said" grep -q "rank 3 sees one of the 2 devices of the host" "$out/err"
check "--auto takes it, too" says 0 "cpus $b" env SLURM_LOCALID=3 \
    "$CPUBIND" run --root "$seen" --rules near --auto -- sh -c "$worker"
check "so does an index of the user" says 0 "cpus $b" \
    "$CPUBIND" run --root "$seen" --numa-bind --index 3 -- sh -c "$worker"
check "and --rank" says 0 "cpus $b" \
    "$CPUBIND" run --root "$seen" --rules near --rank 3 -- sh -c "$worker"
check "plan --rank does" says 0 "$b" "$CPUBIND" plan --root "$seen" --rank 3 --format cpuset
alone=$out/alone
cp -r "$host" "$alone"
rm -r "$alone/sys/bus/pci/devices/0000:02:00.0"
for way in "run --numa-bind --index 3" "run --rank 3" "plan --format cpuset --rank 3"; do
    status=125
    [ "${way#plan}" = "$way" ] || status=1
    # shellcheck disable=SC2086
    check "$way on a host of one device is refused" says "$status" \
        "its ranks would have the same CPUs" "$CPUBIND" $way --root "$alone" \
        $([ "$status" = 1 ] || echo -- true)
    # shellcheck disable=SC2086
    check "$way with --pci shares its CPUs" says 0 "$a" "$CPUBIND" $way --root "$alone" \
        --pci 0000:01:00.0 $([ "$status" = 1 ] || echo -- sed -n s/^Cpus_allowed_list://p /proc/self/status)
done
check "rank 0 of a host of one device has it" says 0 "cpus $a" \
    "$CPUBIND" run --root "$alone" --numa-bind --index 0 -- sh -c "$worker"
check "a variable that is no number is an error" says 125 "LOCAL_RANK=x is not the number" \
    env LOCAL_RANK=x "$CPUBIND" run --root "$host" --auto -- true
check "--rank binds to the pool of the device" says 0 "cpus $b" \
    run --rank 1 --rules near -- sh -c "$worker"
check "--pci names the device" says 0 "cpus $b" \
    run --rank 0 --rules near --pci 0000:02:00.0 --allowed "$b" -- sh -c "$worker"
# shellcheck disable=SC2016
check "--env has the CPUs of the device" says 0 "$b/$b/1/1/1" run --rank 1 --rules near \
    --env "X={main}/{pool}/{threads}/{node}/{npu}" -- sh -c 'echo "$X"'

check "an option of NPUs is refused beside lists, with the devices of the host" says 125 \
    "no NPU, but accelerators of other vendors (2 nvidia), and --total is about NPUs alone" \
    run --numa-bind --numa-bind-nodes 0 1 --index 1 --total 4 -- true
check "without it the lists bind" says 0 "cpus $b" \
    run --numa-bind --numa-bind-nodes 0 1 --index 1 -- sh -c "$worker"

# -- One device without a node ---------------------------------------------------

placeless() { "$CPUBIND" run --root "$placeless" "$@"; }
check "a device without a node starts unbound" says 0 "Could not detect NUMA node for GPU 1" \
    placeless --numa-bind --index 1 -- sh -c "$worker"
check "with --strict it does not start" says 125 "Could not detect NUMA node for GPU 1" \
    placeless --numa-bind --index 1 --strict -- sh -c "$worker"
check "the other device is bound" says 0 "cpus $a" \
    placeless --numa-bind --index 0 -- sh -c "$worker"

# -- NPUs ----------------------------------------------------------------------

npus() { "$CPUBIND" run --root fixtures/hosts/a2-192cpu-8npu.host --any-arch "$@"; }
check "on a host with NPUs lists are refused" says 125 "--force-lists" \
    npus --numa-bind --numa-bind-nodes 0 0 1 1 --index 0 -- true
check "with --force-lists they are taken" says 0 "cpus $a" npus --numa-bind --force-lists \
    --numa-bind-cpus "$a" "$b" --index 0 -- sh -c "$worker"
check "without lists --numa-bind is the plan" says 125 "NPU" \
    npus --numa-bind --index 40 -- true

# -- Memory --------------------------------------------------------------------

if [ -r /proc/self/numa_maps ]; then
    check "memory is bound to the node" says 0 "policy bind:0" \
        run --numa-bind --index 0 -- sh -c "$worker"
    check "--memory prefer prefers the node" says 0 "policy prefer:0" \
        run --numa-bind --index 0 --memory prefer -- sh -c "$worker"
    check "--memory none sets no policy" says 0 "policy default" \
        run --numa-bind --index 0 --memory none -- sh -c "$worker"
fi
if "$out/deny" set_mempolicy true 2>/dev/null; then
    check "a refused policy falls back to the next" says 0 \
        "falling back to soft preferred policy. Add --cap-add SYS_NICE for full NUMA binding." \
        "$out/deny" set_mempolicy "$CPUBIND" run --root "$host" --numa-bind --index 0 -- true
    check "then to CPUs alone" says 0 "falling back to CPU-only binding" \
        "$out/deny" set_mempolicy "$CPUBIND" run --root "$host" --numa-bind --index 0 -- true
    check "the CPUs are bound all the same" says 0 "cpus $a" "$out/deny" set_mempolicy \
        "$CPUBIND" run --root "$host" --numa-bind --index 0 -- sh -c "$worker"
    check "with --strict the command does not start" says 125 "rejected hard memory binding" \
        "$out/deny" set_mempolicy "$CPUBIND" run --root "$host" --numa-bind --index 0 --strict \
        -- true
else
    skip "a refused policy falls back to the next" "no filter of system calls can be set"
fi

# -- The record ------------------------------------------------------------------

verifies_and_restores() {
    "$CPUBIND" run --root "$host" --numa-bind --index 0 -- sleep 30 2>"$out/err" &
    pid=$!
    becomes 100 is_program "$pid" sleep && "$CPUBIND" verify --pid "$pid" && "$CPUBIND" restore --pid "$pid" &&
        grep -q "Cpus_allowed_list:	.*$b" "/proc/$pid/status"
    result=$?
    kill "$pid"
    return "$result"
}
check "verify and restore work from the record" verifies_and_restores

# -- Lists on this machine itself --------------------------------------------------

node=$(find /sys/devices/system/node -maxdepth 1 -name 'node[0-9]*' 2>/dev/null | head -n 1)
node=${node##*/node}
live() { # argument ...
    "$CPUBIND" run --numa-bind --index 0 --numa-bind-nodes "${node:-0}" "$@"
}

ends_leave_few_records() {
    for _ in $(seq 96); do
        live --numa-bind-cpus "$a" -- true || return 1
    done
    [ "$(find /run/cpubind -name '*.record' | wc -l)" -lt 64 ]
}

check "CPUs and a node of this machine are bound" says 0 "cpus $a" \
    live --numa-bind-cpus "$a" -- sh -c "$worker"
check "CPUs that this process may not use are refused" says 125 \
    "has no CPU cores allowed by the current affinity [" live --numa-bind-cpus 65535 -- true
check "of CPUs those that are allowed are bound" says 0 "cpus $a" \
    live --numa-bind-cpus "$a,65535" -- sh -c "$worker"
check "a node that this machine has not is refused" says 125 "names node 255, and this host has" \
    "$CPUBIND" run --numa-bind --index 0 --numa-bind-nodes 255 --numa-bind-cpus "$a" -- true
if [ -n "$node" ] && [ -r /proc/self/numa_maps ]; then
    check "memory is bound to the node of the list" says 0 "policy bind:$node" \
        live --numa-bind-cpus "$a" -- sh -c "$worker"
fi
if [ "$BIND_MOUNTS" = own ]; then
    check "commands that have ended leave few records" ends_leave_few_records
else
    skip "commands that have ended leave few records" "not root: the records are those of a user"
fi
finish
