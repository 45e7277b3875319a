# shellcheck shell=sh disable=SC2154 # guest.sh sets the variables of an NPU
# measure.sh - the section of guest.sh on measure, on a host with eight nodes
#
# Two workers read memory on the node of their NPU, and were put on another node: the plan is
# better for the share of remote pages, and the other way round it is worse. It is the nodes of
# the pages and of the CPUs that are compared, as the kernel of the guest tells them: no time of
# the emulated machine. A verdict is wrong in 5 of 100 measurements by design, for figures that
# do depend on times, so that one that is not the expected one is asked for a second time.

measured="5 4"

# The node that is as far as can be from that of the NPU.
far_node() { echo $(((near + 4) % 8)); }

far_cpus() { echo "$(($(far_node) * 8))-$(($(far_node) * 8 + 7))"; }

start_walker() { # logic id
    npu "$1"
    worker --walk "$near" 4 "$1" >"/run/ready.$1" 2>&1 &
    echo $! >"/run/npus/$1"
}

put_away() { # logic id
    npu "$1"
    taskset -a -p "$(printf 'ff%0*d' $((2 * $(far_node))) 0 | sed 's/^ff0$/ff/')" "$pid"
}

walkers_are_ready() {
    for i in $measured; do grep -q ready "/run/ready.$i" || return 1; done
}

# From /proc alone: a process has its memory on the node of its NPU, and its threads on a node.
walkers_are_on() { # near or far
    for i in $measured; do
        npu "$i"
        cpus=$pool
        [ "$1" = near ] || cpus=$(far_cpus)
        threads_are_all_on "$cpus" "$pid" || return 1
        pages=$(awk -v key="N$near" '{ for (k = 1; k <= NF; k++) if (split($k, part, "=") == 2 &&
            part[1] == key) sum += part[2] } END { print sum + 0 }' "/proc/$pid/numa_maps")
        [ "$pages" -ge 1024 ] && continue
        echo "NPU $i: $pages pages on node $near"
        return 1
    done
}

# The word of a figure in the result that was printed last.
verdict_of() { # figure
    tr -d '\n' </run/measured | sed -n "s/.*{\"name\": \"$1\"[^}]*\"verdict\": \"\([^\"]*\)\".*/\1/p"
}

verdict_of_all() {
    tr -d '\n' </run/measured | sed -n 's/.*"verdict": "\([^"]*\)", "main".*/\1/p'
}

is_measured_once() { # sides, verdict
    cpubind measure --all --between "$1" --time 5 --json >/run/measured \
        2>/run/measured.said
    echo "$1: exit $?, $(verdict_of_all); remote pages $(verdict_of remote_pages)"
    cat /run/measured.said
    [ "$(verdict_of remote_pages)" = "$2" ] && [ "$(verdict_of_all)" = "$2" ]
}

is_measured() { # sides, verdict
    is_measured_once "$1" "$2" || is_measured_once "$1" "$2"
}

measure() {
    for i in $measured; do start_walker "$i"; done
    check_soon "two workers are ready" walkers_are_ready
    npu-smi look
    for i in $measured; do put_away "$i" >/run/taskset; done
    check "their threads are on another node than their memory and NPU" walkers_are_on far
    check "the plan against that: better" is_measured now,near better
    check "all is as it was" walkers_are_on far
    check "that against the plan: worse" is_measured near,now worse
    check "two sides that are equal: no difference" \
        is_measured near,near "no difference that one can see"
    check "all is as it was after each of them" walkers_are_on far
    check "no record is left" no_record_is_left
    for i in $measured; do
        read -r pid <"/run/npus/$i"
        kill -9 "$pid"
        wait "$pid" 2>/dev/null
        rm "/run/npus/$i"
    done
    npu-smi look
}
