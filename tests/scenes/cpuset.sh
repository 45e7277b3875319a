#!/bin/sh
# cpuset.sh - apply --with cpuset where a cgroup lacks something or refuses; prints TAP
# SPDX-License-Identifier: MIT
# runs: check
# shellcheck disable=SC2086 # lists are split on purpose
#
# The cgroups are those of a double of version 2; tests/vm/partition.sh plays what goes well on real
# ones. Whatever fails, the process has all of its cpuset and its masks, or it is as before.
. tests/scenes/lib.sh
use_live_npus
LD_PRELOAD="$LD_PRELOAD $programs/kernel_shim"

tree=/sys/fs/cgroup
group=$tree/a/service
mkdir -p $tree && mount -t tmpfs tmpfs $tree && mkdir -p $group || exit 1

fill() { # cgroup, controllers
    echo "$2" >"$1/cgroup.controllers"
    : >"$1/cgroup.subtree_control"
    : >"$1/cgroup.threads"
    : >"$1/cgroup.procs"
    echo "$all" >"$1/cpuset.cpus.effective"
}

# What the cgroups are, who is in them, and where the process is.
state() {
    find $tree -type d | sort
    grep . $group/cgroup.subtree_control $group/cgroup.threads "/proc/$worker/cgroup"
    is_on "$worker" "$all" && no_record
}

is_as_before() {
    state >"$out/now"
    diff "$out/before" "$out/now"
}

# The worker is in the cgroup of a service that has the controller.
check_service() { # text, command
    service_text=$1
    service_test=$2
    find $group -mindepth 1 -delete
    fill $group "cpuset pids"
    fill $tree "cpuset pids"
    start_worker acl_thread || exit 1
    echo 0::/a/service >"$out/cgroup"
    echo "$worker" >$group/cgroup.threads
    mount --bind "$out/cgroup" "/proc/$worker/cgroup" || exit 1
    state >"$out/before"
    check "$service_text" "$service_test"
    umount "/proc/$worker/cgroup"
    end_worker
    no_record >"$out/left" || "$CPUBIND" restore --all --quiet 2>"$out/left"
}

is_confined() { # CPUs
    own=$group/cpubind-$worker
    grep -qx "0::/a/service/cpubind-$worker" "/proc/$worker/cgroup" &&
        [ "$(cat "$own/cpuset.cpus.effective")" = "$1" ] &&
        [ "$(cat "$own/cgroup.type")" = threaded ]
}

bind_confined() { # exit status, words, argument ...
    confined_want=$1
    confined_words=$2
    shift 2
    says "$confined_want" "$confined_words" apply --npu 0 --with cpuset "$@"
}

refused() { # line ...
    printf '%s\n' "$@" >"$out/refused"
}

# -- Well ------------------------------------------------------------------------

goes_and_comes_back() {
    bind_confined 0 "" && is_confined 146-167 && is_at acl_thread $acl &&
        grep -q "^cgroup cpubind-$worker .* 146-167 .*moved" "$out/said" &&
        grep -q cpuset "$group/cgroup.subtree_control" && says 0 "as it should be" verify &&
        bind_confined 0 "right" && bind_confined 0 "" --allowed 0-143,146-191 &&
        is_confined 148-168 &&
        says 0 "put back" restore && is_as_before
}

# The controller was enabled before, and stays so.
enabled_stays_enabled() {
    echo cpuset >$group/cgroup.subtree_control
    state >"$out/before"
    bind_confined 0 "" && is_confined 146-167 && says 0 "" restore && is_as_before
}

# A watch looks at the file of the cgroup alone, and at threads that are born.
a_watch_sees_births() {
    end_worker && start_worker acl_thread -- release_thread &&
        echo "$worker" >$group/cgroup.threads &&
        mount --bind "$out/cgroup" "/proc/$worker/cgroup" && state >"$out/before" || return 1
    "$CPUBIND" apply --pid "$worker" $host --memory none --npu 0 --with cpuset --watch 1 >"$out/watched" 2>&1 &
    becomes is_confined 146-167 && kill -USR1 "$worker" && becomes is_at release_thread 167 &&
        echo 0-9 >"$group/cpubind-$worker/cpuset.cpus.effective" && sleep 2 && says 1 "" verify &&
        echo 146-167 >"$group/cpubind-$worker/cpuset.cpus.effective" && says 0 "" restore &&
        is_as_before
}

# -- What is missing -------------------------------------------------------------

# By masks alone, and with the reason; --strict undoes all.
needs() { # words, argument ...
    words=$1
    shift
    bind_confined 0 "process $worker has no cpuset of its own, and its threads have masks alone: $words" "$@" &&
        is_at acl_thread $acl && says 0 "" restore && is_as_before &&
        bind_confined 4 "$words" --strict "$@" &&
        is_as_before
}

what_is_missing_is_named() {
    echo pids >$group/cgroup.controllers && needs "its cgroup lacks the controller cpuset" &&
        fill $group "cpuset pids" && mkdir $group/other && state >"$out/before" &&
        needs "other cgroups are below that of the process" && rmdir $group/other &&
        state >"$out/before" &&
        needs "a rule leaves some of its threads where they are" --thread worker=leave &&
        echo '4:cpuset:/a/service' >"$out/cgroup" && state >"$out/before" &&
        needs "cpusets are cgroups of version 1 on this host" && echo 0::/../b >"$out/cgroup" &&
        state >"$out/before" &&
        needs "the cgroup of the process is outside of those that are visible here" &&
        echo 1:name=systemd:/ >"$out/cgroup" && state >"$out/before" &&
        needs "no cgroup of version 2 is visible here"
}

# -- What fails ------------------------------------------------------------------

# FILE|ERRNO: of the folder, its type, the controller, the CPUs, the move.
faults='mkdir|30 mkdir|13 cgroup.type|95 cgroup.subtree_control|16 cgroup.subtree_control|13
    /cpuset.cpus|22 cgroup.procs|13 cgroup.procs|5'

# Each step refuses.
apply_does_all_or_nothing() {
    for fault in $faults; do
        refused "${fault%|*} ${fault#*|}"
        CPUBIND_REFUSED=$out/refused bind_confined 0 "masks alone" && is_at acl_thread $acl &&
            says 0 "" restore && is_as_before || return 1
        CPUBIND_REFUSED=$out/refused bind_confined 4 "all is as before" --strict &&
            is_as_before || {
            echo "$fault"
            return 1
        }
    done
}

# The cgroups above have other CPUs than the goal.
no_cpus_are_named() {
    echo 0-9 >$group/leaves && state >"$out/before" &&
        needs "the cgroup of the process has none of these CPUs" && rm $group/leaves
}

# A goal that cannot be had leaves that of before.
another_goal_fails() {
    bind_confined 0 "" && is_confined 146-167 && refused "/cpuset.cpus 16 rm $out/refused" &&
        CPUBIND_REFUSED=$out/refused bind_confined 4 "all is as before" --allowed 0-143,146-191 --strict &&
        is_confined 146-167 && is_at acl_thread $acl && says 0 "" restore && is_as_before
}

# Somebody has removed the cgroup of the process, or changed its CPUs, or moved the process.
changes_are_left() {
    bind_confined 0 "" && own=$group/cpubind-$worker && echo 5 >"$own/cpuset.cpus" &&
        says 0 "" restore &&
        said "somebody else has changed its CPUs" && [ -d "$own" ] && bind_confined 0 "" &&
        says 0 "" restore && is_as_before && bind_confined 0 "" && echo 0::/ >"$out/cgroup" &&
        : >"$own/cgroup.threads" && says 1 "" verify && says 0 "" restore &&
        said "somebody else has moved the process to another cgroup" && [ ! -d "$own" ]
}

# What restore could not do is still on record, and the next one does it.
restore_recovers() {
    for fault in cgroup.procs\|5 /cgroup.subtree_control\|5; do
        bind_confined 0 "" || return 1
        refused "${fault%|*} ${fault#*|}"
        CPUBIND_REFUSED=$out/refused restore >"$out/said" 2>&1
        says 0 "" restore && is_as_before || return 1
    done
}

check_service "a process gets a cgroup of its own, and goes back" goes_and_comes_back
check_service "what was enabled stays enabled" enabled_stays_enabled
check_service "a watch sees what is born, and what was changed" a_watch_sees_births
check_service "what is missing is named, and masks bind" what_is_missing_is_named
check_service "whatever is refused, apply does all or nothing" apply_does_all_or_nothing
check_service "without any CPU of the goal that is said" no_cpus_are_named
check_service "another goal that fails leaves the first" another_goal_fails
check_service "what somebody else has changed is left" changes_are_left
check_service "restore recovers from a fault" restore_recovers
finish
