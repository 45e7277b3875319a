#!/bin/sh
# held.sh - who keeps the locks of a process and of the host, and who waits for them
# SPDX-License-Identifier: MIT
# runs: check-all
#
# The record of the host is waited for 60 s; what waits for it here waits side by side.
#
# Words are split on purpose.
# shellcheck disable=SC2086,SC2119
. tests/scenes/lib.sh
use_live_npus
lock=/run/cpubind/host.record.lock
npu0="--device npu0 --allowed 0-191 --memory none"
bound="145 144 145 145 100"

# Another program keeps the record of the host.
hold() {
    mkdir -p /run/cpubind && : >$lock || return 1
    flock -xF $lock sleep 600 &
    holder=$!
    becomes sh -c "! flock -n $lock true"
}

start_apply() { # output, argument ...
    apply_output=$1
    shift
    "$CPUBIND" apply --pid "$worker" $npu0 "$@" >"$out/$apply_output" 2>&1 &
    waiting=$!
}

is_waiting() { # output
    grep -q "waiting for [0-9]* s for the record of the interrupts of this host" "$out/$1"
}

is_late() { # output
    grep -q "interrupt 400 (mailbox): .* is in use by another cpubind; 3 more like it" \
        "$out/$1"
}

# -- The record of the host --------------------------------------------------------

# What is not bound in time is named: a watch binds it later, and so does the next apply; with
# --strict nothing is bound.
late() {
    start_worker a && first=$worker && start_worker b && second=$worker && start_worker c &&
        third=$worker && hold || return 1
    worker=$first
    start_apply watch --watch 1 && watch=$waiting && worker=$second &&
        start_apply once && once=$waiting && worker=$third && start_apply strict --strict &&
        strict=$waiting || return 1
    for output in watch once strict; do becomes is_waiting $output || return 1; done
    are_on $main "$first" "$second" && irqs_are_free || return 1
    patience=120
    wait $once && is_late once && becomes is_late watch || return 1
    wait $strict
    [ $? -eq 4 ] && is_on "$third" "$all" && irqs_are_free && ! end_worker $holder
    becomes irqs_are_on $bound && kill $watch && wait $watch
    says 0 "put back" "$CPUBIND" restore --all && irqs_are_free && no_record
}
check "a watch and the next apply bind what came too late, and --strict undoes all" late

# A signal ends the wait: the threads are bound, and the next apply does the rest.
signal_ends_the_wait() {
    hold && start_apply apply && becomes is_waiting apply && kill -TERM $waiting
    wait $waiting
    is_on "$worker" $main && irqs_are_free && ! end_worker $holder
    says 0 "" "$CPUBIND" apply --pid "$worker" $npu0 && irqs_are_on $bound && restore &&
        irqs_are_free
}
check_worker "a signal ends the wait, and the next apply binds the interrupts" signal_ends_the_wait

# -- A process ----------------------------------------------------------------------

watch() {
    start_watch $npu0 && becomes is_on "$worker" $main && becomes watched "$worker"
}

# The file of the lock names the process that keeps it; a text that it cannot have names nobody.
no_holder_is_named() {
    record_lock=/run/cpubind/$worker.record.lock
    watch && refuses 1 "it is process $watcher; " apply $npu0 && cp "$record_lock" "$out/good" ||
        return 1
    for text in "" x "0 0 watch" "-1 1 watch" "99999999999 1 watch" "4294967297 1 watch" \
        "$(printf '%10d %20d %-5s' "$worker" 1 watch)"; do
        echo "$text" >"$record_lock"
        refuses 1 "another cpubind is at work on process $worker" apply $npu0 && ! said "it is process" ||
            return 1
    done
    cat "$out/good" >"$record_lock" && chmod 666 "$record_lock" &&
        refuses 1 "another cpubind" apply $npu0 && ! said "it is process" && chmod 600 "$record_lock" &&
        refuses 1 "it is process $watcher; " apply $npu0 && says 0 "put back" restore
    named_status=$?
    wait "$watcher"
    return $named_status
}
check_worker "a lock file of another kind names nobody" no_holder_is_named

# A process that has the number of a watch by now is left alone.
later_process_is_left_alone() {
    watch && start_sleeper && watch_lock=/run/cpubind/$worker.record.lock &&
        printf '%10d %20d %-5s\n' "$sleeper" 1 watch >"$watch_lock" &&
        refuses 1 "another cpubind is at work" restore && kill -0 "$sleeper" && kill -0 "$watcher"
    later_status=$?
    kill "$watcher" && wait "$watcher"
    end_worker "$sleeper"
    restore --quiet && return $later_status
}
check_worker "a later process of the number is left alone" later_process_is_left_alone

# pidfd_open(2) is there since Linux 5.3, pidfd_send_signal(2) since 5.1.
old_kernels() {
    for call in pidfd_open pidfd_send_signal; do
        watch && CPUBIND_FAULT=$call:1:ENOSYS:forever says 0 "put back" restore || return 1
        wait "$watcher"
        [ $? -eq 143 ] || return 1
    done
}
check_worker "a watch is ended on an old kernel, too" old_kernels
finish
