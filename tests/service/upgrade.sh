#!/bin/sh
# upgrade.sh - the service takes over what one of an earlier program has bound; prints TAP
# SPDX-License-Identifier: MIT
#
#   tests/service/upgrade.sh     from the top folder; BUILD has the command and outputs
#
# Workers of root and of an ordinary user are bound by the service of an earlier program, which
# is built from its commit. It needs root: it has a /run, a /dev and processes of its own, and
# touches no record, service or process of this machine.
needs_own_run=yes
. tests/support/start.sh
. tests/support/device_host.sh
. tests/support/older.sh

both_are_bound() {
    becomes 80 is_on "$first" "$a" && becomes 80 is_on "$second" "$b"
}

# The service of another program.
start_older() { # program
    newer=$CPUBIND
    CPUBIND=$1
    start_service
    CPUBIND=$newer
}

bound_by_older() { # program
    kill_service
    rm -rf /run/cpubind /run/user/65534/cpubind
    settings && start_older "$1" && both_are_bound
}

is_free() {
    is_on "$first" "$before" && is_on "$second" "$before" &&
        [ -z "$(find /run/cpubind /run/user/65534/cpubind -name '*[0-9]*' 2>/dev/null)" ]
}

# Ended as an upgrade does it, or killed: the next service watches both, and lets go of them.
taken_over() { # program
    for signal in TERM KILL; do
        bound_by_older "$1" && kill -$signal "$service" || return 1
        wait "$service" 2>/dev/null
        service=
        is_on "$first" "$a" && is_on "$second" "$b" && start_service && both_are_bound &&
            taskset -pc "$b" "$first" >"$out/taskset" && becomes 50 is_on "$first" "$a" &&
            "$CPUBIND" verify --all >"$out/text" && "$CPUBIND" restore --all --service &&
            is_free || return 1
    done
}

# Nothing is done twice, and nothing in silence, by commands that meet the service of an earlier
# program.
# shellcheck disable=SC2086
met_by_clients() { # program
    bound_by_older "$1" || return 1
    for client in "" $has_user; do
        [ "$client" != no ] || continue
        pid=$first
        cpu=$a
        [ -z "$client" ] || pid=$second
        [ -z "$client" ] || cpu=$b
        [ -z "$client" ] || client=$user
        for command in restore apply; do
            $client "$CPUBIND" $command --pid "$pid" >"$out/text" 2>"$out/err"
            got=$?
            cat "$out/text" "$out/err"
            echo "$command of process $pid: $got"
            [ -s "$out/err" ] && kill -0 "$service" && { [ $got -ne 0 ] || [ $command = restore ]; } &&
                { is_on "$pid" "$cpu" || { [ $got -eq 0 ] && is_on "$pid" "$before"; }; } || return 1
        done
    done
    kill_service
    start_service && both_are_bound && "$CPUBIND" restore --all --service && is_free
}

start_worker 5 && first=$worker && start_users_worker 7 && second=$worker || exit 1
: >"$out/said"
older=$(older_path 11bd74f cpubind_shared)
check_older "what a service of form 3 has bound is taken over" 11bd74f cpubind_shared taken_over "$older"
check_older "commands that meet it do nothing twice, and say so" 11bd74f cpubind_shared met_by_clients "$older"
# shellcheck disable=SC2086
kill -KILL $pids 2>/dev/null
kill_service
finish
