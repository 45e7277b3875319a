#!/bin/sh
# upgrade.sh - processes that earlier programs bound are verified, taken over and put back
# SPDX-License-Identifier: MIT
# runs: check-all
#
# The earlier programs are built from their commits, linked to shared libraries.
. tests/scenes/lib.sh
first_form='d4c2e50 cpubind'
third_form='11bd74f cpubind_shared'

# -- Bindings --------------------------------------------------------------------

use_npus
bound='146-165 166 167 146-165'
# An earlier program takes a host as a folder.
host=$out/host
"$CPUBIND" fixture export a2-192cpu-8npu "$host" --quiet || exit 1
options="--root $host --allowed 0-191 --npu 0 --memory none"

# The CPUs of the four threads, in the order of their numbers.
threads_are_on() { # lists
    threads=$(for task in /proc/"$worker"/task/*; do cpus_of "${task##*/}"; done | paste -sd' ')
    [ "$threads" = "$1" ] && return 0
    echo "$threads, not $1"
    return 1
}

# shellcheck disable=SC2086
bind_with() { # program, option of its apply ...
    binder=$1
    shift
    start_worker acl_thread release_thread other &&
        "$binder" apply --pid "$worker" $options --quiet "$@" && threads_are_on "$bound"
}

# What one command after the other makes of it.
# shellcheck disable=SC2086
goes_on() { # program, option of its apply ...
    bind_with "$@" && verify --memory none && restore && all_is_free && end_worker || return 1
    bind_with "$@" && "$CPUBIND" apply --pid "$worker" $options --rules reference --quiet &&
        threads_are_on "$bound" && grep -q '^cpubind-record 5 ' /run/cpubind/"$worker".record &&
        verify --memory none && "$CPUBIND" restore --all && all_is_free && end_worker ||
        return 1
    bind_with "$@" --state "$out/state" && rm -f "/run/cpubind/$worker.path" &&
        verify --memory none --state "$out/state" && restore --state "$out/state" &&
        all_is_free && end_worker || return 1
    bind_with "$@" && end_worker && "$CPUBIND" restore --all && no_record
}

# The other way round: the earlier program leaves the later record as it is.
is_left() { # program
    bind_with "$CPUBIND" --rules reference && cp "/run/cpubind/$worker.record" "$out/record" &&
        ! "$1" restore --pid "$worker" && cmp "$out/record" "/run/cpubind/$worker.record" &&
        threads_are_on "$bound" && restore && all_is_free && end_worker
}

# shellcheck disable=SC2086
{
    check_older "a binding of the first version is verified, bound again and put back" \
        $first_form \
        goes_on "$(older_path $first_form)"
    rm -rf /run/cpubind
    check_older "so is one of form 3" $third_form \
        goes_on "$(older_path $third_form)" --rules reference
    rm -rf /run/cpubind
    check_older "the program of form 3 leaves a record of form 5 alone" $third_form \
        is_left "$(older_path $third_form)"
}
unset LD_PRELOAD CPUBIND_SHIM CPUBIND_RULES
rm -rf /run/cpubind

# -- The service -----------------------------------------------------------------

use_gpus
# shellcheck disable=SC2086
third=$(older_path $third_form)
start_on 5 && first=$worker
client=
if has_user; then
    client=$user
    start_users_on 7
else
    start_on 7
fi
second=$worker

bound_by_older() {
    kill_service
    rm -rf /run/cpubind /run/user/65534/cpubind
    newer=$CPUBIND
    CPUBIND=$third
    settings && start_service
    CPUBIND=$newer
    both_are_bound
}

both_are_free() {
    is_on "$first" "$before" && is_on "$second" "$before" && no_record
}

# Ended as an upgrade does it, or killed: the next service watches both, and lets go of them.
taken_over() {
    for signal in TERM KILL; do
        bound_by_older && kill -$signal "$service" || return 1
        wait "$service" 2>"$out/other"
        service=
        is_on "$first" "$a" && is_on "$second" "$b" && start_service && both_are_bound &&
            move_to "$b" "$first" && becomes is_on "$first" "$a" && "$CPUBIND" verify --all &&
            "$CPUBIND" restore --all --service && both_are_free || return 1
    done
}

# A command does nothing twice, and nothing in silence.
meets_it() { # words that run it as a user, command, process, its CPU
    $1 "$CPUBIND" "$2" --pid "$3" >"$out/said" 2>"$out/err"
    got=$?
    cat "$out/said" "$out/err"
    echo "$2 of process $3: $got"
    [ -s "$out/err" ] && kill -0 "$service" && { [ $got -ne 0 ] || [ "$2" = restore ]; } &&
        { is_on "$3" "$4" || { [ $got -eq 0 ] && is_on "$3" "$before"; }; }
}

met_by_clients() {
    bound_by_older && for command in restore apply; do
        meets_it "" $command "$first" "$a" && meets_it "$client" $command "$second" "$b" ||
            return 1
    done
    kill_service
    start_service && both_are_bound && "$CPUBIND" restore --all --service && both_are_free
}

# shellcheck disable=SC2086
{
    check_older "what a service of form 3 has bound is taken over" $third_form taken_over
    check_older "commands that meet it do nothing twice, and say so" $third_form met_by_clients
}
finish
