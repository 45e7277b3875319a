#!/bin/sh
# numa_bind.sh - run --numa-bind, --auto and --rank on live processes: lists, ranks, memory
# SPDX-License-Identifier: MIT
# runs: check
#
# Masks and memory policies are read back from /proc.
. tests/scenes/lib.sh
take_two_cpus
host=$out/host
put_two_nodes "$a,$b"
put env ""

run_on_host() { # argument ...
    "$CPUBIND" run --root "$host" "$@"
}

# The command line of a worker that prints its CPUs and its memory policy.
worker='sed -n "s/^Cpus_allowed_list:[^0-9]*/cpus /p" /proc/self/status
    if [ -r /proc/self/numa_maps ]; then sed -n "1s/^[^ ]* \([^ ]*\).*/policy \1/p" /proc/self/numa_maps; fi'

# -- Lists and messages ----------------------------------------------------------

# Each row: the statement | "same" as in vLLM, or "better" and why it differs | the exit status
# | the words | the arguments.
while IFS='|' read -r statement verdict status words arguments; do
    # The arguments are split on purpose.
    # shellcheck disable=SC2086,SC2046
    check "$statement ($verdict)" says "$status" "$(echo $words | sed "s/@a/$a/;s/@b/$b/")" \
        run_on_host $(echo "$arguments" | sed "s/@a/$a/g;s/@b/$b/g") -- sh -c "$worker"
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
lists of CPUs need numa_bind|same|125|numa_bind_nodes and numa_bind_cpus require numa_bind=True|--numa-bind-cpus 0-3 --device npu0
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
an option of NPUs is an error beside lists|better: it names the devices of the host|125|no NPU, but accelerators of other vendors (2 nvidia), and total is about NPUs alone|--numa-bind --numa-bind-nodes 0 1 --index 1 -o total=4
the rank is that of an engine, which --rank names|better|0|cpus @b|--rank 1 --rules near
a device can be named|better|0|cpus @b|--rules near --device 0000:02:00.0 --allowed @b
without a rank the variables are named|better|125|OMPI_COMM_WORLD_LOCAL_RANK|--numa-bind
ROWS

check "an empty list of CPUs is an error" says 125 "numa_bind_cpus entries must not be empty" \
    run_on_host --numa-bind --index 0 --numa-bind-cpus "" -- true
check "an empty list of nodes is an error" says 125 "numa_bind_nodes must not be empty" \
    run_on_host --numa-bind --index 0 --numa-bind-nodes "" -- true
# shellcheck disable=SC2016
check "--env has the CPUs of the device" says 0 "$b/$b/1/1/1" run_on_host --rank 1 --rules \
    near \
    --env "X={main}/{pool}/{threads}/{node}/{npu}" -- sh -c 'echo "$X"'

# -- Which rank ------------------------------------------------------------------

# Variables | words | the host.
seen=$out/seen
cp -r "$host" "$seen"
echo CUDA_VISIBLE_DEVICES=1 >"$seen/env"
while IFS='|' read -r variables words options; do
    status=0
    [ "${words#cpus}" != "$words" ] || status=125
    # shellcheck disable=SC2086
    check "$variables run $options: $words" says $status "$words" env $variables "$CPUBIND" \
        run \
        $options -- sh -c "$worker"
done <<ROWS
LOCAL_RANK=1|cpus $b|--root $host --rules near --auto
SLURM_LOCALID=1|cpus $b|--root $host --rules near --auto
OMPI_COMM_WORLD_LOCAL_RANK=1|cpus $b|--root $host --rules near --auto
MPI_LOCALRANKID=1|cpus $b|--root $host --rules near --auto
PMI_LOCAL_RANK=1|cpus $b|--root $host --rules near --auto
PALS_LOCAL_RANKID=1|cpus $b|--root $host --rules near --auto
MV2_COMM_WORLD_LOCAL_RANK=1|cpus $b|--root $host --rules near --auto
FLUX_TASK_LOCAL_ID=1|cpus $b|--root $host --rules near --auto
SLURM_LOCALID=0 OMPI_COMM_WORLD_LOCAL_RANK=1|cpus $b|--root $host --rules near --auto
LOCAL_RANK=1 SLURM_LOCALID=0|cpus $b|--root $host --rules near --auto
LOCAL_RANK=x|LOCAL_RANK=x is not the number|--root $host --auto
SLURM_LOCALID=3|cpus $b|--root $seen --rules near --auto
|cpus $b|--root $seen --numa-bind --index 3
|cpus $b|--root $seen --rules near --rank 3
SLURM_LOCALID=3|cpus $b|--root $seen --numa-bind
ROWS
check "it is said that a rank sees one device of several" \
    said "rank 3 sees one of the 2 devices of the host"
check "plan --rank takes it, too" says 0 "$b" "$CPUBIND" plan --root "$seen" --rank 3 --format \
    cpuset

alone=$out/alone
cp -r "$host" "$alone"
rm -r "$alone/sys/bus/pci/devices/0000:02:00.0"
for way in "run --numa-bind --index 3" "run --rank 3" "plan --format cpuset --rank 3"; do
    status=125
    tail="-- sed -n s/^Cpus_allowed_list://p /proc/self/status"
    case $way in plan*) status=1 tail= ;; esac
    # shellcheck disable=SC2086
    check "$way on a host of one device is refused" says $status \
        "its ranks would have the same CPUs" "$CPUBIND" $way --root "$alone" $tail
    # shellcheck disable=SC2086
    check "$way with --device shares its CPUs" says 0 "$a" "$CPUBIND" ${way% --rank 3} --root "$alone" \
        --device 0000:01:00.0 $tail
done
check "rank 0 of a host of one device has it" says 0 "cpus $a" \
    "$CPUBIND" run --root "$alone" --numa-bind --index 0 -- sh -c "$worker"

# -- One device without a node, NPUs ---------------------------------------------

placeless=$out/placeless
cp -r "$host" "$placeless"
echo -1 >"$placeless/sys/bus/pci/devices/0000:02:00.0/numa_node"
on_placeless() { # argument ...
    "$CPUBIND" run --root "$placeless" --numa-bind "$@" -- sh -c "$worker"
}
check "a device without a node starts unbound" says 0 "Could not detect NUMA node for GPU 1" \
    on_placeless --index 1
check "with --strict it does not start" says 125 "Could not detect NUMA node for GPU 1" \
    on_placeless --index 1 --strict
check "the other device is bound" says 0 "cpus $a" on_placeless --index 0

npus() { # argument ...
    "$CPUBIND" run --root fixtures/hosts/a2-192cpu-8npu.host -o any-arch=yes --numa-bind "$@" -- \
        sh -c "$worker"
}
check "on a host with NPUs lists are refused" says 125 "--device ADDRESS" \
    npus --numa-bind-nodes 0 0 1 1 --index 0
check "with the device by --device they are taken" says 0 "cpus $a" npus --device 0000:c5:00.0 \
    --numa-bind-cpus "$a" "$b" --index 0
check "without lists --numa-bind is the plan" says 125 "NPU" npus --index 40

# -- Memory ----------------------------------------------------------------------

if [ -r /proc/self/numa_maps ]; then
    check "memory is bound to the node" says 0 "policy bind:0" \
        run_on_host --numa-bind --index 0 -- sh -c "$worker"
    check "--memory prefer prefers the node" says 0 "policy prefer:0" \
        run_on_host --numa-bind --index 0 --memory prefer -- sh -c "$worker"
    check "--memory none sets no policy" says 0 "policy default" \
        run_on_host --numa-bind --index 0 --memory none -- sh -c "$worker"
fi

falls_back() {
    set -- "$programs/deny" set_mempolicy "$CPUBIND" run --root "$host" --numa-bind --index 0
    says 0 "falling back to soft preferred policy. Add --cap-add SYS_NICE for full NUMA binding." \
        "$@" -- sh -c "$worker" && said "falling back to CPU-only binding" && said "cpus $a" &&
        says 125 "rejected hard memory binding" "$@" --strict -- true
}
if "$programs/deny" set_mempolicy true 2>"$out/other"; then
    check "a refused policy falls back to the next, then to CPUs alone; not with --strict" \
        falls_back
else
    skip "a refused policy falls back to the next" "no filter of system calls can be set"
fi

# -- The record ------------------------------------------------------------------

goes_by_the_record() {
    "$CPUBIND" run --root "$host" --numa-bind --index 0 -- sleep 600 2>"$out/err" &
    sleeper=$!
    becomes is_program "$sleeper" sleep && is_on "$sleeper" "$a" &&
        "$CPUBIND" verify --pid "$sleeper" && "$CPUBIND" restore --pid "$sleeper" &&
        is_on "$sleeper" "$before"
}
check "verify and restore work from the record" goes_by_the_record

# -- Lists on this machine itself ------------------------------------------------

node=$(find /sys/devices/system/node -maxdepth 1 -name 'node[0-9]*' 2>/dev/null | head -n 1)
node=${node##*/node}
live() { # argument ...
    "$CPUBIND" run --numa-bind --index 0 --numa-bind-nodes "${node:-0}" "$@"
}

check "CPUs and a node of this machine are bound" says 0 "cpus $a" \
    live --numa-bind-cpus "$a" -- sh -c "$worker"
if [ -n "$node" ] && [ -r /proc/self/numa_maps ]; then
    check "memory is bound to the node of the list" said "policy bind:$node"
fi
check "CPUs that this process may not use are refused" says 125 \
    "has no CPU cores allowed by the current affinity [" live --numa-bind-cpus 65535 -- true
check "of CPUs those that are allowed are bound" says 0 "cpus $a" \
    live --numa-bind-cpus "$a,65535" -- sh -c "$worker"
check "a node that this machine has not is refused" says 125 \
    "names node 255, and this host has" \
    "$CPUBIND" run --numa-bind --index 0 --numa-bind-nodes 255 --numa-bind-cpus "$a" -- true

ends_leave_few_records() {
    for _ in $(seq 96); do
        live --numa-bind-cpus "$a" -- true || return 1
    done
    [ "$(find /run/cpubind -name '*.record' | wc -l)" -lt 64 ]
}
check "commands that have ended leave few records" ends_leave_few_records

# -- A container whose cpu/online is not the kernel's, as lxcfs makes it ------------

first=${before%%[,-]*}
last=${before##*[,-]}
online=/sys/devices/system/cpu/online
kernels=$(cat $online)

made_online() { # text of the file, CPUs of the process, command ...
    echo "$1" >"$out/online"
    made_cpus=$2
    shift 2
    # shellcheck disable=SC2016
    unshare -m sh -c 'mount --bind "$1" "$2" && cpus=$3 && shift 3 && exec taskset -c "$cpus" "$@"' \
        sh "$out/online" $online "$made_cpus" "$@"
}

binds_with() { # text of the file, CPUs of the process and of the binding
    says 0 "cpus $2" made_online "$1" "$2" "$CPUBIND" run --numa-bind --numa-bind-nodes \
        "$node" \
        --index 0 -- sh -c "$worker"
}

# One CPU is too few for an NPU; the refusal counts the CPUs that are allowed and online.
is_captured() {
    made_online "$first" "$last" "$CPUBIND" capture -o "$out/captured" &&
        [ "$(cat "$out/captured$online")" = "$first" ] || return 1
    [ ! -e "/sys/devices/system/cpu/cpu$last/online" ] ||
        grep -qx 1 "$out/captured/sys/devices/system/cpu/cpu$last/online" || return 1
    echo aarch64 >"$out/captured/uname"
    says 1 '"have": 1' "$CPUBIND" plan --root "$out/captured" --devices npu0 -o device-type=a3 \
        -o total=1 \
        --rules reference --json
}

if [ -n "$node" ]; then
    check "a CPU is bound that a made cpu/online lacks" binds_with "$first" "$last"
    [ "$(cat "/sys/devices/system/node/node$node/cpulist")" != "$before" ] ||
        check "all CPUs are, not those of the file alone" binds_with "$first" "$before"
    check "with the kernel's own file" binds_with "$kernels" "$last"
    check "a capture has the file of the container, and a plan of it counts the CPU" is_captured
else
    skip "a made cpu/online" "this machine names no nodes"
fi
finish
