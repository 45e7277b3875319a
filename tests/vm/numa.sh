# shellcheck shell=sh disable=SC2154 # guest.sh sets the variables of an NPU
# numa.sh - the section of guest.sh on run --numa-bind, on a host with eight nodes
#
# Mask, memory policy and the nodes of its pages are read from /proc by the command that was
# started. Node N has CPUs 8N to 8N+7. No worker runs. cpuset and policies are those of the
# kernel of the guest: a cpuset is narrow, or has few memory nodes, or a filter refuses calls.
# What the options mean, and what is refused, is in tests/scenes/numa_bind.sh.

numa_group=/sys/fs/cgroup/numa

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

# The command was started on these CPUs, with this policy, and has said these words. A policy that
# binds or prefers one node has all pages on it.
is_placed() { # CPUs, policy, words or "-", command ...
    placed_cpus=$1
    placed_policy=$2
    placed_words=$3
    shift 3
    "$@" -- sh /run/place.sh >/run/place 2>/run/place.said </dev/null
    got=$?
    cat /run/place /run/place.said
    [ $got -eq 0 ] && grep -qx "cpus $placed_cpus" /run/place &&
        [ "$(grep policy /run/place)" = "policy $placed_policy" ] &&
        { [ "$placed_words" = - ] || grep -qF -e "$placed_words" /run/place.said; } || return 1
    case $placed_policy in
    default | *[-,]*) return 0 ;;
    *) [ "$(grep pages /run/place)" = "pages N${placed_policy#*:}" ] ;;
    esac
}

# $address is that of a device, by npu.
lists() { # option ...
    cpubind run --numa-bind --device "$address" "$@"
}

# In a cpuset with these CPUs and memory nodes, all if "-".
in_cpuset() { # CPUs, memory nodes, command ...
    mkdir -p $numa_group
    echo "$1" | sed "s/^-$/$everywhere/" >$numa_group/cpuset.cpus
    echo "$2" | sed 's/^-$/0-7/' >$numa_group/cpuset.mems
    shift 2
    (
        # shellcheck disable=SC2016
        sh -c 'echo $PPID >"$0"' $numa_group/cgroup.procs
        "$@"
    )
}

is_not_started() { # words, command ...
    refused_words=$1
    shift
    exits 125 "$@" -- true && grep -qF -e "$refused_words" /run/said && return 0
    cat /run/said
    return 1
}

# Text | CPUs | policy | words | command.
each_row_is_placed() {
    while IFS='|' read -r text cpus policy words row; do
        # The words are split on purpose.
        # shellcheck disable=SC2086
        check "$text" is_placed "$cpus" "$policy" "$words" $row
    done
}

restores_numa() {
    cpubind run --numa-bind --device "$address" --numa-bind-nodes 6 --index 0 -- sleep 100000 \
        >/run/said 2>&1 &
    pid=$!
    becomes grep -q '^Name:.*sleep' "/proc/$pid/status" || return 1
    threads_are_all_on 48-55 "$pid" && exits 0 cpubind verify --pid "$pid" &&
        exits 0 cpubind restore --pid "$pid" && threads_are_all_on "$everywhere" "$pid"
    got=$?
    kill "$pid"
    return $got
}

numa() {
    write_place
    npu 0
    for node in 0 1 2 3 4 5 6 7; do
        check "node $node of a list: CPUs, policy and pages" is_placed \
            "$((node * 8))-$((node * 8 + 7))" "bind:$node" - \
            lists --numa-bind-nodes 0 1 2 3 4 5 6 7 --index $node
    done
    for i in $all; do
        npu "$i"
        check "device $address: its node $near is found" is_placed \
            "$((near * 8))-$((near * 8 + 7))" "bind:$near" - \
            cpubind run --numa-bind --device "$address" --index 0
    done
    npu 3
    check "without lists it is the plan" is_placed "$main" "prefer:$memory" - \
        cpubind run --numa-bind --index 3
    echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control
    npu 0
    each_row_is_placed <<END
the second of two ranks on a node|28-31|bind:3|-|lists --numa-bind-nodes 3 3 --index 1
CPUs of a list, memory of their node|48-51|bind:6|-|lists --numa-bind-cpus 0-3 4-7 48-51 52-55 --index 2
CPUs of two nodes, memory of both|6-9|bind:0-1|-|lists --numa-bind-cpus 6-9 --index 0
CPUs of a list, memory of a listed node|0-3|bind:2|-|lists --numa-bind-nodes 2 --numa-bind-cpus 0-3 --index 0
memory preferred|56-63|prefer:7|-|lists --numa-bind-nodes 7 --memory prefer --index 0
an ordinary user|16-23|bind:2|-|seen_by user cpubind run --numa-bind --device $address --numa-bind-nodes 2 --index 0
a narrow cpuset: the allowed CPUs of the node|20-23|bind:2|-|in_cpuset 20-27 - lists --numa-bind-nodes 2 --index 0
two ranks share what the cpuset has of the node|22-23|bind:2|-|in_cpuset 20-27 - lists --numa-bind-nodes 2 2 --index 1
the node of a device without allowed CPUs|0-7|default|the command is started without being bound|in_cpuset 0-7 - cpubind run --numa-bind --device $address --index 0
a cpuset without the memory of the node|16-23|default|falling back to CPU-only binding|in_cpuset - 0-1 lists --numa-bind-nodes 2 --index 0
bind refused: preferred|32-39|prefer:4|falling back to soft preferred policy. Add --cap-add SYS_NICE|deny bind_policy cpubind run --numa-bind --device $address --numa-bind-nodes 4 --index 0
bind and preferred refused: CPUs alone|32-39|default|falling back to CPU-only binding|deny bind_policy,preferred_policy cpubind run --numa-bind --device $address --numa-bind-nodes 4 --index 0
the mask refused|$everywhere|default|the command is started without being bound|deny sched_setaffinity cpubind run --numa-bind --device $address --numa-bind-nodes 4 --index 0
END
    check "a node without allowed CPUs is refused" is_not_started \
        "has no CPU cores allowed by the current affinity" \
        in_cpuset 20-27 - lists --numa-bind-nodes 5 --index 0
    rmdir $numa_group
    check "the mask refused: the command does not start" is_not_started sched_setaffinity \
        deny sched_setaffinity cpubind run --numa-bind --device "$address" \
        --numa-bind-nodes 4 --index 0 --strict
    check "verify and restore work from the record" restores_numa
    check "restore --all puts back what the ended command of the plan used" \
        exits 0 cpubind restore --all
    check "no record is left" no_record_is_left
    find_irqs
    check "all interrupts are on all CPUs" irqs_are_right
}
