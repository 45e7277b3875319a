#!/bin/sh
# restore.sh - verify and restore compare and put back; which record is whose
# SPDX-License-Identifier: MIT
# runs: check
# machines: yes
. tests/scenes/lib.sh
use_npus

# -- Drift -----------------------------------------------------------------------

verify_changes_nothing() {
    apply --device npu0 && says 0 "process $worker, npu0: as it should be" verify &&
        grep -qE "^thread +$worker +worker +$main +$main( +-)? +right" "$out/said" || return 1
    other=$(thread_named other)
    move_to "$elsewhere" "$other" && cp "$state" "$out/kept" &&
        says 1 "process $worker, npu0: it has drifted" verify &&
        grep -qE "^thread +$other +other +$elsewhere +$main( +-)? +wrong" "$out/said" &&
        says 1 "" verify --json && items "result = 'wrong' AND name = 'other'" 1 &&
        items "kind = 'thread' AND result = 'right'" 2 && says 1 "" verify --quiet &&
        [ ! -s "$out/said" ] && [ ! -s "$out/err" ] && is_at other "$elsewhere" &&
        cmp "$state" "$out/kept"
}
check_worker "verify prints drift and changes nothing" verify_changes_nothing other acl_thread

# shellcheck disable=SC2086
verifies_without_a_record() {
    refuses 1 "nothing is on record of process $worker; name the device that it drives: --device NAME" \
        verify && says 1 "it has drifted" verify $host --memory none --device npu0 &&
        grep -qE "^thread +$worker +worker +$all +$main( +-)? +wrong" "$out/said" && no_record &&
        apply --device npu0 && rm "$state" || return 1
    # By the kernel its own CPUs are now all that it may have.
    [ -z "$host" ] || { says 0 "as it should be" verify $host --memory none --device npu0 &&
        [ ! -e "$state" ]; }
}
check_worker "verify without a record" verifies_without_a_record acl_thread

goes_back_to_the_former_cpus() {
    other=$(thread_named other)
    move_to "$elsewhere" "$other" && apply --device npu0 && is_at other $main &&
        says 0 "process $worker: put back" restore && is_at other "$elsewhere" &&
        is_at worker "$all" && is_at acl_thread "$all" && no_record && says 0 "there is nothing to put back" restore &&
        apply --device npu0 && says 0 "" restore --json &&
        items "result = 'moved' AND should = '$elsewhere'" 1 &&
        apply --device npu0 && says 0 "" restore --quiet && [ ! -s "$out/said" ] &&
        [ ! -s "$out/err" ]
}
check_worker "restore moves threads to their former CPUs" goes_back_to_the_former_cpus \
    other acl_thread

# -- All of a host ---------------------------------------------------------------

# Sets sleeper to a process that was bound and has ended.
# shellcheck disable=SC2086
end_a_bound_one() { # arguments
    start_sleeper && "$CPUBIND" apply --pid "$sleeper" $host --memory none --quiet "$@" &&
        end_worker "$sleeper"
}

restores_all_on_record() {
    says 0 "nothing is on record" "$CPUBIND" restore --all && apply --device npu0 &&
        [ -e "$state" ] && [ "$(stat -c %a /run/cpubind)" = 755 ] && end_a_bound_one --device npu5 &&
        says 0 "process $worker: put back" "$CPUBIND" restore --all &&
        said "process $sleeper: " && all_is_free
}
check_worker "restore --all restores every process on record" restores_all_on_record acl_thread

# What ended and killed processes leave behind does not pile up, and --ended restores it while
# others stay bound.
the_dead_leave_nothing() {
    says 0 "nothing is on record of a process that has ended" "$CPUBIND" restore --ended &&
        end_a_bound_one --device npu5 && : >/run/cpubind/999999.record.lock &&
        : >/run/cpubind/.999999.record.77.0.tmp && [ -e "/run/cpubind/$sleeper.record" ] &&
        apply --device npu0 --quiet && [ -z "$(find /run/cpubind -name '*999999*')" ] &&
        [ ! -e "/run/cpubind/$sleeper.record" ] &&
        end_a_bound_one --device npu5 && says 0 "process $sleeper" "$CPUBIND" restore --ended &&
        is_at worker $main && is_at acl_thread $acl &&
        says 0 "nothing is on record of a process that has ended" "$CPUBIND" restore --ended
}
check_worker "what the dead leave is removed, and restore --ended restores it" \
    the_dead_leave_nothing acl_thread

# One whose writer lives, or may live in another pid namespace, stays.
killed_writers_leave_nothing() {
    "$CPUBIND" restore --all --quiet # the worker of the check before
    mkdir -p /run/cpubind || return 1
    for left in .host.record.999999.0 .service.claims.999999.12 .host.record.$$.0; do
        touch -d "@$(($(date +%s) - 120))" "/run/cpubind/$left.tmp" || return 1
    done
    : >/run/cpubind/.host.record.999999.1.tmp
    says 0 "" "$CPUBIND" restore --all &&
        [ "$(cd /run/cpubind && echo .[0-9hs]*)" = \
            ".host.record.$$.0.tmp .host.record.999999.1.tmp" ] &&
        rm /run/cpubind/.host.*
}
check "what killed writers leave is removed a minute later" killed_writers_leave_nothing

# -- One record for a process ----------------------------------------------------

# Root and the owner of a process: one of them at a time.
# shellcheck disable=SC2086
root_and_owner_know_each_other() {
    as=$user
    start_sleeper
    as=
    theirs=/run/user/65534/cpubind/$sleeper.record
    ours=/run/cpubind/$sleeper.record
    set -- apply --pid "$sleeper" $host --memory none
    says 0 "npu0" $user "$CPUBIND" "$@" --device npu0 &&
        refuses 1 "bound already by another user, whose record is $theirs" "$CPUBIND" "$@" \
            --device npu5 && [ ! -e "$ours" ] &&
        says 0 "put back" $user "$CPUBIND" restore --pid "$sleeper" &&
        says 0 "npu5" "$CPUBIND" "$@" --device npu5 &&
        refuses 1 "bound already by another user, whose record is $ours" $user "$CPUBIND" "$@" \
            --device npu0 && says 0 "put back" "$CPUBIND" restore --pid "$sleeper" &&
        says 0 "npu0" $user "$CPUBIND" "$@" --device npu0 && touch -d '1 hour ago' "$theirs" &&
        says 0 "npu5" "$CPUBIND" "$@" --device npu5
}
check_user "root and the owner do not bind a process past each other" \
    root_and_owner_know_each_other
finish
