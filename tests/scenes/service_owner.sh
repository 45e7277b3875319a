#!/bin/sh
# service_owner.sh - the service and its clients, root and an ordinary user: who owns a process
# SPDX-License-Identifier: MIT
# runs: check-all
#
# After each step every worker is bound, or as before, and what is let go is said.
. tests/scenes/lib.sh
use_gpus

restart_service() { # signal ...
    kill "-$1" "$service" 2>"$out/other"
    wait "$service" 2>"$out/other"
    service=
    start_service
}

status_says() { # words
    "$CPUBIND" status >"$out/said" 2>"$out/err"
    said "$1"
}

nobody_is_let_go() {
    "$CPUBIND" status >"$out/said" 2>"$out/err"
    grep "^the service" "$out/said" && ! grep -q "let go" "$out/said"
}

# -- A worker and its engine -----------------------------------------------------

# An engine that is bound starts a worker of another device, which has no record at first: its
# mask is the engine's binding, and nobody's choice that is to be respected.
# shellcheck disable=SC2016
a_worker_below_a_bound_process() {
    settings "respect-masks = yes" && start_service || return 1
    "$CPUBIND" run --device 0000:01:00.0 -- sh -c '"$0" 3</dev/nvidia7 5</dev/nvidia-uvm &
        echo $! >"$1"; wait' "$program" "$out/child" 2>"$out/run.err" &
    third=$!
    becomes test -s "$out/child" && child=$(cat "$out/child") && becomes is_on "$child" "$b" &&
        is_on "$third" "$a" && says 0 "" "$CPUBIND" verify --all --json &&
        has '.workers[#-1].state' right
    result=$?
    kill -KILL "$child"
    wait "$third"
    kill_service
    return $result
}
check "a worker below a bound process has the CPUs before that binding" \
    a_worker_below_a_bound_process

# -- One process -----------------------------------------------------------------

restore_lets_go_of_one() {
    settings && start_on 5 && first=$worker && start_on 7 && second=$worker &&
        start_service && both_are_bound &&
        says 0 "process $first: put back" "$CPUBIND" restore --pid "$first" &&
        kill -0 "$service" && stays is_on "$first" "$before" && is_on "$second" "$b" &&
        logged "process $first was let go by process" && status_says "; let go: $first" &&
        "$CPUBIND" status --json >"$out/said"
    has '.service.left[0]' "$first" && has '.service.left[1]' "" &&
        says 0 left "$CPUBIND" verify --all && says 0 "" "$CPUBIND" verify --all --json &&
        has '.workers[0].state' left
}
check "restore --pid lets go of one process, which all say, and the service goes on" \
    restore_lets_go_of_one

it_stays_let_go() {
    kill -HUP "$service" && becomes logged "are in force" && stays is_on "$first" "$before" &&
        for signal in TERM KILL; do
            restart_service $signal && becomes is_on "$second" "$b" &&
                stays is_on "$first" "$before" && status_says "; let go: $first" || return 1
        done
}
check "it stays let go after a reload, a restart and a crash" it_stays_let_go

apply_takes_it_again() {
    says 0 "" "$CPUBIND" apply --pid "$first" --device 0000:01:00.0 --memory none &&
        is_on "$first" "$a" && becomes logged \
            "process $first (worker), gpu0: bound by another" &&
        move_to "$b" "$first" && becomes is_on "$first" "$a" && nobody_is_let_go
}
check "apply --pid takes it again, and the service watches it" apply_takes_it_again

# apply --thread has put it elsewhere than the plan does: it is watched there.
adopted_is_not_moved() {
    says 0 "" "$CPUBIND" apply --pid "$first" --device 0000:01:00.0 --memory none \
        --thread "worker=$b" && is_on "$first" "$b" && stays is_on "$first" "$b" &&
        move_to "$a" "$first" && becomes is_on "$first" "$b" && restart_service TERM &&
        stays is_on "$first" "$b" && is_on "$second" "$b"
}
check "a process that was bound with options stays where they put it" adopted_is_not_moved

a_run_process_is_adopted() {
    "$CPUBIND" run --device 0000:02:00.0 --memory none -- "$program" >"$out/other" &
    third=$!
    # Its name is that of cpubind until it becomes the worker.
    becomes grep -q "process $third (.*): bound by another cpubind, and watched" \
        "$out/service.log" &&
        is_on "$third" "$b" && move_to "$a" "$third" && becomes is_on "$third" "$b" &&
        restart_service KILL && move_to "$a" "$third" && becomes is_on "$third" "$b" &&
        says 0 "put back" "$CPUBIND" restore --pid "$third" && stays is_on "$third" "$before"
    result=$?
    end_worker "$third"
    return $result
}
check "a process of run is watched as it is bound, after a crash too" a_run_process_is_adopted

# The same process number binds itself twice.
check "run below run is not locked out" says 0 "Cpus_allowed_list:	$b" "$CPUBIND" run \
    --device 0000:01:00.0 -- "$CPUBIND" run --device 0000:02:00.0 -- cat /proc/self/status

apply_without_a_worker() {
    start_sleeper &&
        says 0 "" "$CPUBIND" apply --pid "$sleeper" --device 0000:02:00.0 --memory none &&
        is_on "$sleeper" "$b" && becomes logged "process $sleeper (sleep): bound by another" &&
        says 0 "put back" "$CPUBIND" restore --pid "$sleeper" &&
        stays is_on "$sleeper" "$before" &&
        end_worker "$sleeper"
}
check "a process that uses no device is bound and watched, too" apply_without_a_worker

# -- All -------------------------------------------------------------------------

restore_all_lets_go_of_all() {
    says 0 "process $first: put back" "$CPUBIND" restore --all && kill -0 "$service" &&
        stays is_on "$first" "$before" && is_on "$second" "$before" &&
        status_says "; it leaves all workers alone, those to come too, until cpubind apply --all" &&
        restart_service TERM && stays is_on "$first" "$before" && is_on "$second" "$before" &&
        status_says "; it leaves all workers alone"
}
check "restore --all lets go of all, and the service goes on" restore_all_lets_go_of_all

one_is_taken_from_all() {
    says 0 "" "$CPUBIND" apply --pid "$first" --device 0000:01:00.0 --memory none &&
        is_on "$first" "$a" && restart_service TERM && becomes logged "process $first" &&
        move_to "$b" "$first" && becomes is_on "$first" "$a" && is_on "$second" "$before"
}
check "apply --pid takes one while all others are let go" one_is_taken_from_all

apply_all_takes_all() {
    says 0 "the service has bound all workers by its settings, and watches them" "$CPUBIND" apply --all &&
        both_are_bound && kill -0 "$service" && restart_service TERM && both_are_bound &&
        says 0 "" "$CPUBIND" apply --all --json && has '.workers[1].state' bound &&
        fits host_report
}
check "apply --all takes all again" apply_all_takes_all

# -- An ordinary user ------------------------------------------------------------

# The words are split on purpose.
# shellcheck disable=SC2086
as_user() { # exit status, words, argument of cpubind ...
    user_status=$1
    user_words=$2
    shift 2
    says "$user_status" "$user_words" $user "$CPUBIND" "$@"
}

users_restore_their_own() {
    end_worker "$second"
    start_users_on 7 && second=$worker && both_are_bound &&
        as_user 0 "process $second: put back by the service" restore --pid "$second" &&
        stays is_on "$second" "$before" && is_on "$first" "$a" &&
        status_says "; let go: $second" && as_user 3 "; let go: $second" status &&
        [ "$(stat -c %a $socket)" = 600 ]
}

users_apply_their_own() {
    as_user 0 "process $second: bound by the service" apply --pid "$second" &&
        is_on "$second" "$b" && stays is_on "$second" "$b" &&
        as_user 0 "put back by the service" restore --pid "$second" &&
        as_user 0 "" apply --pid "$second" --device 0000:02:00.0 --memory none &&
        is_on "$second" "$b" && [ -e "/run/user/65534/cpubind/$second.record" ] &&
        as_user 0 "process $second: put back" restore --pid "$second" &&
        stays is_on "$second" "$before"
}

# What a user was told stays so, whoever keeps it: the service by its claims, or a record of the
# user, which the service leaves alone.
users_words_last_over_a_restart() {
    for signal in TERM KILL; do
        restart_service $signal && becomes is_on "$first" "$a" &&
            stays is_on "$second" "$before" &&
            status_says "; let go: $second" || return 1
    done
    as_user 0 "bound by the service" apply --pid "$second" || return 1
    for signal in TERM KILL; do
        restart_service $signal && both_are_bound && move_to "$a" "$second" &&
            becomes is_on "$second" "$b" || return 1
    done
    as_user 0 "" apply --pid "$second" --device 0000:02:00.0 --memory none --thread "worker=$a" ||
        return 1
    for signal in TERM KILL; do
        restart_service $signal && becomes is_on "$first" "$a" && stays is_on "$second" "$a" &&
            status_says "; let go: $second" || return 1
    done
    as_user 0 "process $second: put back" restore --pid "$second" && is_on "$second" "$before"
}

# Nothing of a user is done by a service that does not answer: the process stays as it is.
no_service_answers_users() {
    as_user 0 "bound by the service" apply --pid "$second" && both_are_bound || return 1
    for signal in STOP KILL; do
        words='does not answer: it is stopped or hangs'
        kill -$signal "$service" || return 1
        if [ $signal = KILL ]; then
            wait "$service" 2>"$out/other"
            words='has ended and left its socket'
        fi
        for command in restore "apply --device 0000:02:00.0 --memory none"; do
            # shellcheck disable=SC2086
            as_user 1 "$words" $command --pid "$second" &&
                grep -q "another cpubind is at work on\|bound already by another user, whose record is /run/cpubind/" "$out/err" &&
                is_on "$second" "$b" || return 1
        done
        as_user 0 "$words" run --device 0000:02:00.0 --memory none -- true || return 1
        [ $signal = KILL ] || kill -CONT "$service"
    done
    start_service && both_are_bound && nobody_is_let_go
}

users_leave_others_alone() {
    for command in restore apply; do
        as_user 4 "process $first belongs to another user: run it as root" $command \
            --pid "$first" || return 1
    done
    is_on "$first" "$a" && as_user 1 "on record of root" restore --all && is_on "$first" "$a" &&
        says 0 "" "$CPUBIND" apply --pid "$second" --device 0000:02:00.0 --memory none &&
        as_user 0 "" verify --all --json && has '.workers[0].pid' "$second" &&
        has '.workers[1].pid' ""
}

# Clients that connect, ask for work or say nothing, as fast as they can.
hostile_users_block_nobody() {
    hostile=
    for _ in $(seq 16); do
        $user "$programs/hostile" /run/cpubind/users.sock &
        hostile="$hostile $!"
    done
    n_bad=0
    for _ in $(seq 20); do
        "$CPUBIND" status --json >"$out/said" 2>"$out/err"
        has .service.pid "$service" || n_bad=$((n_bad + 1))
    done
    says 0 "put back" "$CPUBIND" restore --pid "$first" && is_on "$first" "$before" &&
        says 0 "" "$CPUBIND" apply --all
    result=$?
    # shellcheck disable=SC2086
    end_worker $hostile
    echo "$n_bad of 20 questions of root were not answered"
    [ $result -eq 0 ] && [ "$n_bad" -eq 0 ] && both_are_bound
}

if has_user; then
    check "an ordinary user restores its own process" users_restore_their_own
    check "and applies it, by the service or by options of its own" users_apply_their_own
    check "and what it was told lasts over restarts and crashes" users_words_last_over_a_restart
    check "a service that is stopped or dead changes nothing of a user" no_service_answers_users
    check "and a user leaves those of others alone" users_leave_others_alone
    check "16 hostile clients block nobody" hostile_users_block_nobody
else
    skip "clients of an ordinary user" "$no_user"
fi
# shellcheck disable=SC2016
check "a client of another pid namespace is refused" says 4 \
    "the service is of another pid namespace" unshare -m -p -f --mount-proc sh -c \
    '"$1" restore --all; exit $?' sh "$CPUBIND"
check "and changes nothing" both_are_bound

# -- A service that does not answer ----------------------------------------------

# What was refused meanwhile is not carried out later.
a_stopped_service_is_found_out() {
    words="does not answer"
    kill -STOP "$service" &&
        says 0 "the service (process $service) $words" "$CPUBIND" verify --all &&
        said "works by itself" &&
        says 4 "the service (process $service) keeps process $first bound and $words" \
            "$CPUBIND" restore --pid "$first" && said "systemctl restart cpubind" &&
        is_on "$first" "$a" && says 0 "$words: it is stopped or hangs" \
        "$CPUBIND" run --device 0000:01:00.0 -- true &&
        says 4 "$words" "$CPUBIND" apply --pid "$first" --device 0000:01:00.0 --memory none &&
        [ "$(cut -d ' ' -f 3 <"/proc/$service/stat")" = T ]
    result=$?
    "$CPUBIND" status --json >"$out/said" 2>"$out/err"
    said "the service (process $service) $words" || result=1
    kill -CONT "$service"
    [ $result -eq 0 ] && becomes is_on "$second" "$b" && sleep 1.5 && nobody_is_let_go &&
        move_to "$b" "$first" && both_are_bound
}
check "a stopped service is found out, and nothing ends it" a_stopped_service_is_found_out

# Also one that is stopped; another that starts later binds all again.
restore_ends_the_service() {
    for is_stopped in no yes; do
        [ $is_stopped = no ] || kill -STOP "$service"
        says 0 "the service (process $service) was ended by this command" \
            "$CPUBIND" restore --all --service || return 1
        wait "$service" 2>"$out/other"
        is_on "$first" "$before" && is_on "$second" "$before" &&
            says 0 "no service runs" "$CPUBIND" restore --all --service &&
            start_service && both_are_bound || return 1
    done
}
check "restore --all --service ends it, and says so" restore_ends_the_service

a_dead_service_is_found_out() {
    kill_service
    says 0 "has ended and left its socket" "$CPUBIND" restore --pid "$first" &&
        is_on "$first" "$before" && is_on "$second" "$b" && start_service && both_are_bound
}
check "a service that was killed is found out" a_dead_service_is_found_out

# A double of a service that closes the connection after a request that it does not know, or
# that hangs and says nothing.
start_double() { # "closes" or "hangs", user of its socket
    kill_service
    rm -f /run/cpubind/*.sock
    python3 -c '
import os, socket, sys
s = socket.socket(socket.AF_UNIX)
path = "/run/cpubind/" + sys.argv[2] + ".sock"
s.bind(path)
os.chmod(path, 0o600 if sys.argv[2] == "service" else 0o666)
s.listen(16)
kept = []
while True:
    c, _ = s.accept()
    c.recv(64)
    kept.append(c) if sys.argv[1] == "hangs" else c.close()' "$1" "$2" &
    double=$!
    becomes test -S "/run/cpubind/$2.sock"
}

# Commands that meet a double work by themselves, and leave it as it is. On a busy machine one
# that closes may do so too late, as one that hangs.
doubles_are_found_out() {
    for kind in closes hangs; do
        words='version that does not know the request: restart it'
        [ $kind = closes ] || words='does not answer: it is stopped or hangs'
        start_double $kind service && becomes says 0 "$words" "$CPUBIND" restore --pid "$first" &&
            is_on "$first" "$before" &&
            becomes says 0 "$words" "$CPUBIND" run --device 0000:01:00.0 -- true &&
            kill -0 "$double" && end_worker "$double" || return 1
        if has_user; then
            start_double $kind users && becomes as_user 1 "$words" restore --pid "$second" &&
                is_on "$second" "$b" && kill -0 "$double" && end_worker "$double" || return 1
        fi
        rm -f /run/cpubind/*.sock
        start_service && both_are_bound || return 1
    done
}
if command -v python3 >"$out/python"; then
    check "one that is older, or hangs, is found out, and nothing ends it" doubles_are_found_out
fi

# What was let go and cannot be read is not nothing: nobody is bound until it can, or until all
# are let go or taken.
unread_claims_bind_nobody() {
    claims=/run/cpubind/service.claims
    says 0 "put back" "$CPUBIND" restore --pid "$first" && kill_service &&
        mv $claims "$out/claims" && ln -s service.claims $claims && start_service &&
        becomes logged "which processes were let go is not known, so none is bound" &&
        stays is_on "$first" "$before" &&
        status_says "which processes were let go is not known" &&
        says 4 "which processes were let go is not known" "$CPUBIND" restore --pid "$second" &&
        rm $claims && mv "$out/claims" $claims &&
        becomes logged "process $first (worker), gpu0: left: it was let go" &&
        stays is_on "$first" "$before" && status_says "; let go: $first" && kill_service &&
        rm $claims && ln -s service.claims $claims && start_service &&
        says 0 "" "$CPUBIND" apply --all && both_are_bound
}
check "what was let go and cannot be read binds nobody" unread_claims_bind_nobody

# A worker that was let go ends, and the next one has its number before the service looks again.
a_number_that_is_used_again_is_bound() {
    kill_service
    settings && start_on 5 && first=$worker && start_service && becomes is_on "$first" "$a" &&
        says 0 "" "$CPUBIND" restore --pid "$first" && is_on "$first" "$before" &&
        kill -STOP "$service" && end_worker "$first" || return 1
    for before_it in 1 2 3 4 5 6 7 8; do # what start_on runs has numbers, too
        echo $((first - before_it)) >/proc/sys/kernel/ns_last_pid
        start_on 5 && [ "$worker" -ne "$first" ] || break
        end_worker
    done
    [ "$worker" -eq "$first" ] && kill -CONT "$service" && becomes is_on "$worker" "$a"
}
check "a worker that has the number of one that was let go is bound" \
    a_number_that_is_used_again_is_bound
kill_service
finish
