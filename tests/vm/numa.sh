# shellcheck shell=sh disable=SC2154 # guest.sh sets the variables of an NPU
# numa.sh - the section of guest.sh on run --numa-bind, on a host with eight nodes
#
# Mask, memory policy and the nodes of its pages are read from /proc by the command that was
# started. Node N has CPUs 8N to 8N+7. No worker runs. cpuset and policies are those of the
# kernel of the guest: a cpuset is narrow, or has few memory nodes, or a filter refuses calls.

numa_group=/sys/fs/cgroup/numa

cpus_of_node() { # node
    echo "$(($1 * 8))-$(($1 * 8 + 7))"
}

# The command that run starts: writes its CPUs, its policies, and the nodes of its own pages.
write_place() {
    cat >/run/place.sh <<'SCRIPT'
text=$(seq 1 20000)
sed -n 's/^Cpus_allowed_list:[^0-9]*/cpus /p' /proc/$$/status
awk '{ print "policy", $2 }' /proc/$$/numa_maps | sort -u
awk '/ heap |stack/ { for (i = 3; i <= NF; i++) if ($i ~ /^N[0-9]+=/) print "pages", $i }' \
    /proc/$$/numa_maps | sed 's/=.*//' | sort -u
SCRIPT
}

# The command was started on these CPUs, with this policy. A policy that binds or prefers one
# node has all pages on it.
is_at() { # CPUs, policy, command ...
    wanted_cpus=$1
    wanted_policy=$2
    shift 2
    "$@" sh /run/place.sh >/run/place 2>/run/place.said
    got=$?
    cat /run/place /run/place.said
    [ $got -eq 0 ] && grep -qx "cpus $wanted_cpus" /run/place &&
        [ "$(grep policy /run/place)" = "policy $wanted_policy" ] || return 1
    case $wanted_policy in
    default | *[-,]*) return 0 ;;
    *) [ "$(grep pages /run/place)" = "pages N${wanted_policy#*:}" ] ;;
    esac
}

bound_run() { # option ... -- command ...
    cpubind run --numa-bind --force-lists "$@"
}

# In a cpuset with these CPUs and memory nodes, all if empty.
in_cpuset() { # CPUs, memory nodes, command ...
    mkdir -p $numa_group
    echo "${1:-$everywhere}" >$numa_group/cpuset.cpus
    echo "${2:-0-7}" >$numa_group/cpuset.mems
    shift 2
    (
        # shellcheck disable=SC2016
        sh -c 'echo $PPID >"$0"' $numa_group/cgroup.procs
        "$@"
    )
}

says_and_is_at() { # words, CPUs, policy, command ...
    words=$1
    shift
    is_at "$@" && grep -qF -e "$words" /run/place.said
}

refuses() { # words, command ...
    words=$1
    shift
    exits 125 "$@" true && grep -qF -e "$words" /run/said && return 0
    cat /run/said
    return 1
}

bind_each_node() {
    for node in 0 1 2 3 4 5 6 7; do
        check "node $node of a list: CPUs, policy and pages" is_at "$(cpus_of_node $node)" \
            "bind:$node" bound_run --numa-bind-nodes 0 1 2 3 4 5 6 7 --index $node --
    done
    for i in $all; do
        npu "$i"
        check "device $address: its node $near is found" is_at "$(cpus_of_node "$near")" \
            "bind:$near" cpubind run --numa-bind --pci "$address" --index 0 --
    done
}

bind_lists() {
    check "the rank of the launcher" is_at 40-47 bind:5 env SLURM_LOCALID=5 \
        cpubind run --numa-bind --force-lists --numa-bind-nodes 0 1 2 3 4 5 6 7 --
    check "the first of two ranks on a node" is_at 24-27 bind:3 \
        bound_run --numa-bind-nodes 3 3 --index 0 --
    check "the second of two ranks on a node" is_at 28-31 bind:3 \
        bound_run --numa-bind-nodes 3 3 --index 1 --
    check "CPUs of a list, memory of their node" is_at 48-51 bind:6 \
        bound_run --numa-bind-cpus 0-3 4-7 48-51 52-55 --index 2 --
    check "CPUs of two nodes, memory of both" is_at 6-9 bind:0-1 \
        bound_run --numa-bind-cpus 6-9 --index 0 --
    check "CPUs of a list, memory of a listed node" is_at 0-3 bind:2 \
        bound_run --numa-bind-nodes 2 --numa-bind-cpus 0-3 --index 0 --
    check "memory preferred" is_at 56-63 prefer:7 \
        bound_run --numa-bind-nodes 7 --memory prefer --index 0 --
    check "no memory policy" is_at 56-63 default \
        bound_run --numa-bind-nodes 7 --memory none --index 0 --
    check "a node that is not there is refused" refuses "this host has nodes 0-7" \
        bound_run --numa-bind-nodes 8 --index 0 --
    check "lists are refused on a host with NPUs" refuses --force-lists \
        cpubind run --numa-bind --numa-bind-nodes 1 --index 0 --
    npu 3
    check "without lists it is the plan" is_at "$main" "prefer:$memory" \
        cpubind run --numa-bind --index 3 --
    check "an ordinary user" is_at 16-23 bind:2 seen_by user \
        cpubind run --numa-bind --force-lists --numa-bind-nodes 2 --index 0 --
}

bind_in_cpusets() {
    echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control
    check "a narrow cpuset: the allowed CPUs of the node" is_at 20-23 bind:2 \
        in_cpuset 20-27 "" bound_run --numa-bind-nodes 2 --index 0 --
    check "and those of the next node" is_at 24-27 bind:3 \
        in_cpuset 20-27 "" bound_run --numa-bind-nodes 3 --index 0 --
    check "two ranks share what the cpuset has of the node" is_at 22-23 bind:2 \
        in_cpuset 20-27 "" bound_run --numa-bind-nodes 2 2 --index 1 --
    check "CPUs of a list, less those of no cpuset" is_at 20-21 bind:2 \
        in_cpuset 20-27 "" bound_run --numa-bind-cpus 18-21 --index 0 --
    check "a node without allowed CPUs is refused" refuses \
        "has no CPU cores allowed by the current affinity" \
        in_cpuset 20-27 "" bound_run --numa-bind-nodes 5 --index 0 --
    npu 0
    check "the node of a device without allowed CPUs: started unbound" says_and_is_at \
        "the command is started without being bound" 0-7 default \
        in_cpuset 0-7 "" cpubind run --numa-bind --pci "$address" --index 0 --
    check "a cpuset without the memory of the node: each step is said" says_and_is_at \
        "falling back to CPU-only binding" 16-23 default \
        in_cpuset "" 0-1 bound_run --numa-bind-nodes 2 --index 0 --
    rmdir $numa_group
}

bind_refused() {
    check "bind refused: preferred" says_and_is_at \
        "falling back to soft preferred policy. Add --cap-add SYS_NICE" 32-39 prefer:4 \
        deny bind_policy cpubind run --numa-bind --force-lists --numa-bind-nodes 4 --index 0 --
    check "bind and preferred refused: CPUs alone" says_and_is_at \
        "falling back to CPU-only binding" 32-39 default deny bind_policy,preferred_policy \
        cpubind run --numa-bind --force-lists --numa-bind-nodes 4 --index 0 --
    check "with --strict the first refusal ends it" refuses "rejected hard memory binding" \
        deny bind_policy cpubind run --numa-bind --force-lists --numa-bind-nodes 4 --index 0 \
        --strict --
    check "the mask refused: the command does not start" refuses sched_setaffinity \
        deny sched_setaffinity cpubind run --numa-bind --force-lists --numa-bind-nodes 4 \
        --index 0 --
    check "the mask refused, --or-unbound: started unbound" says_and_is_at \
        "the command is started without being bound" "$everywhere" default \
        deny sched_setaffinity cpubind run --numa-bind --force-lists --numa-bind-nodes 4 \
        --index 0 --or-unbound --
}

restores_numa() {
    cpubind run --numa-bind --force-lists --numa-bind-nodes 6 --index 0 -- sleep 100000 \
        >/run/said 2>&1 &
    pid=$!
    while grep -q cpubind /proc/$pid/comm; do sleep 0.1; done
    cat /run/said
    threads_are_all_on 48-55 $pid && exits 0 cpubind verify --pid $pid &&
        exits 0 cpubind restore --pid $pid && threads_are_all_on "$everywhere" $pid
    got=$?
    kill $pid
    return $got
}

numa() {
    write_place
    bind_each_node
    bind_lists
    bind_in_cpusets
    bind_refused
    check "verify and restore work from the record" restores_numa
    check "restore --all puts back what the ended command of the plan used" \
        exits 0 cpubind restore --all
    check "no record is left" no_record_is_left
    find_irqs
    check "all interrupts are on all CPUs" irqs_are_right
}
