#!/bin/sh
# owner.sh - test the service with clients of root and of an ordinary user; prints TAP
# SPDX-License-Identifier: MIT
#
#   tests/service/owner.sh     from the top folder; BUILD has the command and outputs
#
# After each step every worker is bound, or as before, and what is let go is said. It needs
# root: it has a /run, a /dev and processes of its own, and touches no record, service or process
# of this machine.
needs_own_run=yes
. tests/support/start.sh
. tests/support/device_host.sh

# Runs a command; its outputs are in $out/text and $out/err.
says() { # status, words on one of them, command ...
    want=$1
    words=$2
    shift 2
    "$@" >"$out/text" 2>"$out/err"
    got=$?
    if [ "$got" -ne "$want" ] || ! cat "$out/text" "$out/err" | grep -qF -e "$words"; then
        echo "$* has ended with $got"
        cat "$out/text" "$out/err"
        return 1
    fi
}

restart_service() { # signal ...
    kill "-$1" "$service" 2>/dev/null
    wait "$service" 2>/dev/null
    service=
    start_service
}

# Stays so over some periods.
stays() { # command ...
    for _ in 1 2 3 4 5; do
        "$@" || return 1
        sleep 0.5
    done
}

status_says() { # words
    "$CPUBIND" status >"$out/status" 2>"$out/status.err"
    grep -qF -e "$1" "$out/status" || {
        cat "$out/status" "$out/status.err"
        return 1
    }
}

both_are_bound() {
    becomes 80 is_on "$first" "$a" && becomes 80 is_on "$second" "$b"
}

# -- A worker and its engine ----------------------------------------------------

# An engine that is bound starts a worker of another device, which has no record at first: its
# mask is the engine's binding, and nobody's choice that is to be respected.
a_worker_below_a_bound_process() {
    settings "respect-masks = yes" && start_service || return 1
    "$CPUBIND" run --pci 0000:01:00.0 -- sh -c '"$0" 3</dev/nvidia7 5</dev/nvidia-uvm &
        echo $! >"$1"; wait' "$out/worker" "$out/child" 2>"$out/run.err" &
    third=$!
    becomes 50 test -s "$out/child" && child=$(cat "$out/child") && pids="$pids $third $child" &&
        becomes 50 is_on "$child" "$b" && is_on "$third" "$a" &&
        "$CPUBIND" verify --all --json >"$out/json" &&
        [ "$(json "$out/json" '$.workers[#-1].state')" = right ]
    result=$?
    kill -KILL "$child"
    wait "$third"
    kill_service
    return $result
}

# -- One process ----------------------------------------------------------------

restore_lets_go_of_one() {
    settings && start_worker 5 && first=$worker && start_worker 7 && second=$worker &&
        start_service && both_are_bound &&
        says 0 "process $first: put back" "$CPUBIND" restore --pid "$first" &&
        kill -0 "$service" && stays is_on "$first" "$before" && is_on "$second" "$b" &&
        said "process $first was let go by process" && status_says "; let go: $first" &&
        "$CPUBIND" status --json >"$out/json"
    [ "$(json "$out/json" '$.service.left[0]')" = "$first" ] && [ -z "$(json "$out/json" '$.service.left[1]')" ]
}

verify_says_that_it_was_let_go() {
    says 0 left "$CPUBIND" verify --all && "$CPUBIND" verify --all --json >"$out/json" &&
        [ "$(json "$out/json" '$.workers[0].state')" = left ]
}

it_stays_let_go() {
    kill -HUP "$service" && becomes 50 said "are in force" && stays is_on "$first" "$before" &&
        restart_service TERM && becomes 50 is_on "$second" "$b" && stays is_on "$first" "$before" &&
        status_says "; let go: $first" && restart_service KILL && becomes 50 is_on "$second" "$b" &&
        stays is_on "$first" "$before" && status_says "; let go: $first"
}

apply_takes_it_again() {
    says 0 "" "$CPUBIND" apply --pid "$first" --pci 0000:01:00.0 --memory none &&
        is_on "$first" "$a" && becomes 30 said "process $first (worker), gpu0: bound by another" &&
        taskset -pc "$b" "$first" >"$out/taskset" && becomes 50 is_on "$first" "$a" &&
        "$CPUBIND" status | grep "^the service" >"$out/status" && ! grep -q "let go" "$out/status"
}

# apply --thread has put it elsewhere than the plan does: it is watched there.
adopted_is_not_moved() {
    says 0 "" "$CPUBIND" apply --pid "$first" --pci 0000:01:00.0 --memory none \
        --thread "worker=$b" && is_on "$first" "$b" && stays is_on "$first" "$b" &&
        taskset -pc "$a" "$first" >"$out/taskset" && becomes 50 is_on "$first" "$b" &&
        restart_service TERM && stays is_on "$first" "$b" && is_on "$second" "$b"
}

a_run_process_is_adopted() {
    "$CPUBIND" run --pci 0000:02:00.0 -- "$out/worker" 2>"$out/run.err" &
    third=$!
    pids="$pids $third"
    becomes 50 grep -qx worker "/proc/$third/comm" &&
        becomes 30 said "process $third (worker): bound by another cpubind, and watched as it is" &&
        is_on "$third" "$b" && taskset -pc "$a" "$third" >"$out/taskset" && becomes 50 is_on "$third" "$b" &&
        restart_service KILL && taskset -pc "$a" "$third" >"$out/taskset" &&
        becomes 80 is_on "$third" "$b" &&
        says 0 "put back" "$CPUBIND" restore --pid "$third" && stays is_on "$third" "$before"
    end_worker "$third"
}

# The same process number binds itself twice.
run_below_run() {
    says 0 "Cpus_allowed_list:	$b" "$CPUBIND" run --pci 0000:01:00.0 -- "$CPUBIND" run \
        --pci 0000:02:00.0 -- cat /proc/self/status
}

apply_without_a_worker() {
    sleep 1000 &
    pids="$pids $!"
    sleeper=$!
    says 0 "" "$CPUBIND" apply --pid "$sleeper" --pci 0000:02:00.0 --memory none &&
        is_on "$sleeper" "$b" && becomes 30 said "process $sleeper (sleep): bound by another" &&
        says 0 "put back" "$CPUBIND" restore --pid "$sleeper" && stays is_on "$sleeper" "$before" &&
        end_worker "$sleeper"
}

# -- All ------------------------------------------------------------------------

restore_all_lets_go_of_all() {
    says 0 "process $first: put back" "$CPUBIND" restore --all && kill -0 "$service" &&
        stays is_on "$first" "$before" && is_on "$second" "$before" &&
        status_says "; all processes were let go: cpubind apply --all binds them again" &&
        restart_service TERM && stays is_on "$first" "$before" && is_on "$second" "$before" &&
        status_says "; all processes were let go"
}

one_is_taken_from_all() {
    says 0 "" "$CPUBIND" apply --pid "$first" --pci 0000:01:00.0 --memory none &&
        is_on "$first" "$a" && restart_service TERM && becomes 50 said "process $first" &&
        taskset -pc "$b" "$first" >"$out/taskset" && becomes 50 is_on "$first" "$a" &&
        is_on "$second" "$before"
}

apply_all_takes_all() {
    says 0 "the service has bound all workers by its settings" "$CPUBIND" apply --all &&
        both_are_bound && kill -0 "$service" && restart_service TERM && both_are_bound &&
        "$CPUBIND" apply --all --json >"$out/json" &&
        [ "$(json "$out/json" '$.workers[1].state')" = bound ] || return 1
    ! command -v python3 >"$out/python" ||
        python3 tests/api/json_schema.py check host_report "$out/json"
}

# -- An ordinary user -----------------------------------------------------------

users_restore_their_own() {
    end_worker "$second"
    start_users_worker 7 && second=$worker && both_are_bound &&
        says 0 "process $second: put back by the service" $user "$CPUBIND" restore --pid "$second" &&
        stays is_on "$second" "$before" && is_on "$first" "$a" &&
        status_says "; let go: $second" && says 0 "; let go: $second" $user "$CPUBIND" status
    [ "$(stat -c %a /run/cpubind/service.sock)" = 600 ]
}

users_apply_their_own() {
    says 0 "process $second: bound by the service" $user "$CPUBIND" apply --pid "$second" &&
        is_on "$second" "$b" && stays is_on "$second" "$b" &&
        says 0 "put back by the service" $user "$CPUBIND" restore --pid "$second" &&
        says 0 "" $user "$CPUBIND" apply --pid "$second" --pci 0000:02:00.0 --memory none &&
        is_on "$second" "$b" && [ -e "/run/user/65534/cpubind/$second.record" ] &&
        says 0 "process $second: put back" $user "$CPUBIND" restore --pid "$second" &&
        stays is_on "$second" "$before"
}

# What a user was told stays so, whoever keeps it: the service by its claims, or a record of the
# user, which the service leaves alone.
users_words_last_over_a_restart() {
    for signal in TERM KILL; do
        restart_service $signal && becomes 50 is_on "$first" "$a" && stays is_on "$second" "$before" &&
            status_says "; let go: $second" || return 1
    done
    says 0 "bound by the service" $user "$CPUBIND" apply --pid "$second" || return 1
    for signal in TERM KILL; do
        restart_service $signal && both_are_bound && taskset -pc "$a" "$second" >"$out/taskset" &&
            becomes 50 is_on "$second" "$b" || return 1
    done
    says 0 "" $user "$CPUBIND" apply --pid "$second" --pci 0000:02:00.0 --memory none \
        --thread "worker=$a" || return 1
    for signal in TERM KILL; do
        restart_service $signal && becomes 50 is_on "$first" "$a" && stays is_on "$second" "$a" &&
            status_says "; let go: $second" || return 1
    done
    says 0 "process $second: put back" $user "$CPUBIND" restore --pid "$second" &&
        is_on "$second" "$before"
}

# Nothing of a user is done by a service that does not answer: the process stays as it is.
no_service_answers_users() {
    says 0 "bound by the service" $user "$CPUBIND" apply --pid "$second" && both_are_bound || return 1
    for signal in STOP KILL; do
        words='does not answer: it is stopped or hangs'
        kill -$signal "$service" || return 1
        if [ $signal = KILL ]; then
            wait "$service" 2>/dev/null
            words='has ended and left its socket'
        fi
        for command in restore "apply --pci 0000:02:00.0 --memory none"; do
            says 1 "$words" $user "$CPUBIND" $command --pid "$second" && cat "$out/err" &&
                grep -q "another cpubind is at work on\|bound already by another user, whose record is /run/cpubind/" "$out/err" &&
                is_on "$second" "$b" || return 1
        done
        says 0 "$words" $user "$CPUBIND" run --pci 0000:02:00.0 --memory none -- true || return 1
        [ $signal = KILL ] || kill -CONT "$service"
    done
    start_service && both_are_bound && ! status_says "let go"
}

users_leave_others_alone() {
    for command in restore apply; do
        says 4 "process $first belongs to another user: run it as root" \
            $user "$CPUBIND" $command --pid "$first" || return 1
    done
    is_on "$first" "$a" && says 0 "" $user "$CPUBIND" restore --all && is_on "$first" "$a" &&
        says 0 "" "$CPUBIND" apply --pid "$second" --pci 0000:02:00.0 --memory none &&
        $user "$CPUBIND" verify --all --json >"$out/json" &&
        [ "$(json "$out/json" '$.workers[0].pid')" = "$second" ] &&
        [ -z "$(json "$out/json" '$.workers[1].pid')" ]
}

other_namespaces_leave_alone() {
    says 4 "the service is of another pid namespace" unshare -m -p -f --mount-proc sh -c \
        '"$1" restore --all; exit $?' sh "$CPUBIND" && both_are_bound
}

# Clients that connect, ask for work or say nothing, as fast as they can.
cat >"$out/hostile.c" <<'END'
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int last[64] = {0}, n = 0;
    strncpy(to.sun_path, argc > 1 ? argv[1] : "", sizeof to.sun_path - 1);
    for (;;) {
        const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
            close(fd);
            continue;
        }
        if (n % 2)
            (void)send(fd, "verify\n", 7, MSG_NOSIGNAL);
        if (last[n % 64])
            close(last[n % 64]);
        last[n++ % 64] = fd;
    }
}
END

hostile_users_block_nobody() {
    cc -std=c11 -D_DEFAULT_SOURCE -O1 -Wall -Wextra "$out/hostile.c" -o "$out/hostile" || return 1
    hostile=
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
        $user "$out/hostile" /run/cpubind/users.sock &
        hostile="$hostile $!"
    done
    n_bad=0
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        "$CPUBIND" status --json >"$out/json" 2>"$out/err"
        [ "$(json "$out/json" '$.service.pid')" = "$service" ] || n_bad=$((n_bad + 1))
    done
    says 0 "put back" "$CPUBIND" restore --pid "$first" && is_on "$first" "$before" &&
        says 0 "" "$CPUBIND" apply --all
    result=$?
    # shellcheck disable=SC2086
    kill -KILL $hostile
    # shellcheck disable=SC2086
    wait $hostile 2>/dev/null
    echo "$n_bad of 20 questions of root were not answered"
    [ $result -eq 0 ] && [ "$n_bad" -eq 0 ] && both_are_bound
}

# -- A service that does not answer ---------------------------------------------

a_stopped_service_is_found_out() {
    kill -STOP "$service" || return 1
    begin=$(date +%s%N)
    "$CPUBIND" status --json >"$out/json" 2>"$out/err"
    ms=$((($(date +%s%N) - begin) / 1000000))
    says 4 "the service (process $service) keeps process $first bound and does not answer" \
        "$CPUBIND" restore --pid "$first" && grep -q "systemctl restart cpubind" "$out/err" &&
        is_on "$first" "$a" && says 0 "does not answer: it is stopped or hangs" \
        "$CPUBIND" run --pci 0000:01:00.0 -- true &&
        says 4 "does not answer" "$CPUBIND" apply --pid "$first" --pci 0000:01:00.0 --memory none &&
        says 0 "works by itself" "$CPUBIND" verify --all &&
        [ "$(cut -d ' ' -f 3 <"/proc/$service/stat")" = T ]
    result=$?
    kill -CONT "$service"
    echo "status took $ms ms"
    grep -q "the service (process $service) does not answer" "$out/json" && [ $result -eq 0 ] &&
        [ "$ms" -lt 2000 ] && becomes 50 is_on "$second" "$b" || return 1
    # What was refused meanwhile is not carried out later.
    sleep 1.5
    "$CPUBIND" status | grep "^the service" >"$out/status" && ! grep -q "let go" "$out/status" &&
        taskset -pc "$b" "$first" >"$out/taskset" && both_are_bound
}

# Also one that is stopped; another that starts later binds all again.
restore_ends_the_service() {
    for is_stopped in no yes; do
        [ $is_stopped = no ] || kill -STOP "$service"
        says 0 "the service (process $service) was ended by this command" \
            "$CPUBIND" restore --all --service || return 1
        wait "$service" 2>/dev/null
        is_on "$first" "$before" && is_on "$second" "$before" &&
            says 0 "no service runs" "$CPUBIND" restore --all --service &&
            start_service && both_are_bound || return 1
    done
}

a_dead_service_is_found_out() {
    kill_service
    says 0 "has ended and left its socket" "$CPUBIND" restore --pid "$first" &&
        is_on "$first" "$before" && is_on "$second" "$b" && start_service && both_are_bound
}

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
    becomes 50 test -S "/run/cpubind/$2.sock"
}

# Commands that meet a double work by themselves, and leave it as it is.
doubles_are_found_out() {
    for kind in closes hangs; do
        words='is of an older version that does not know the request: restart it'
        [ $kind = closes ] || words='does not answer: it is stopped or hangs'
        words=${words#is of an older }
        start_double $kind service && says 0 "$words" "$CPUBIND" restore --pid "$first" &&
            is_on "$first" "$before" && says 0 "$words" "$CPUBIND" run --pci 0000:01:00.0 -- true &&
            kill -0 "$double" && end_worker "$double" || return 1
        if [ "$has_user" = yes ]; then
            start_double $kind users && says 1 "$words" $user "$CPUBIND" restore --pid "$second" &&
                is_on "$second" "$b" && kill -0 "$double" && end_worker "$double" || return 1
        fi
        rm -f /run/cpubind/*.sock
        start_service && both_are_bound || return 1
    done
}

# What was let go and cannot be read is not nothing: nobody is bound until it can, or until all
# are let go or taken.
unread_claims_bind_nobody() {
    says 0 "put back" "$CPUBIND" restore --pid "$first" && kill_service &&
        mv /run/cpubind/service.claims "$out/claims" && ln -s service.claims /run/cpubind/service.claims &&
        start_service && becomes 50 said "which processes were let go is not known, so none is bound" &&
        stays is_on "$first" "$before" &&
        status_says "which processes were let go is not known" &&
        says 4 "which processes were let go is not known" "$CPUBIND" restore --pid "$second" &&
        rm /run/cpubind/service.claims && mv "$out/claims" /run/cpubind/service.claims &&
        becomes 200 said "process $first (worker), gpu0: left: it was let go" &&
        stays is_on "$first" "$before" && status_says "; let go: $first" && kill_service &&
        rm /run/cpubind/service.claims && ln -s service.claims /run/cpubind/service.claims &&
        start_service && says 0 "" "$CPUBIND" apply --all && both_are_bound
}

check "a worker below a bound process has the CPUs before that binding" a_worker_below_a_bound_process
check "restore --pid lets go of one process, and the service goes on" restore_lets_go_of_one
check "verify --all says that it was let go" verify_says_that_it_was_let_go
check "it stays let go after a reload, a restart and a crash" it_stays_let_go
check "apply --pid takes it again, and the service watches it" apply_takes_it_again
check "a process that was bound with options stays where they put it" adopted_is_not_moved
check "a process of run is watched as it is bound, after a crash too" a_run_process_is_adopted
check "run below run is not locked out" run_below_run
check "a process that uses no device is bound and watched, too" apply_without_a_worker
check "restore --all lets go of all, and the service goes on" restore_all_lets_go_of_all
check "apply --pid takes one while all others are let go" one_is_taken_from_all
check "apply --all takes all again" apply_all_takes_all
if [ "$has_user" = yes ]; then
    check "an ordinary user restores its own process" users_restore_their_own
    check "and applies it, by the service or by options of its own" users_apply_their_own
    check "and what it was told lasts over restarts and crashes" users_words_last_over_a_restart
    check "a service that is stopped or dead changes nothing of a user" no_service_answers_users
    check "and a user leaves those of others alone" users_leave_others_alone
    check "16 hostile clients block nobody" hostile_users_block_nobody
else
    skip "clients of an ordinary user" "it may not run the command here, or there is no setpriv"
fi
check "a client of another pid namespace is refused" other_namespaces_leave_alone
check "a stopped service is found out, and nothing ends it" a_stopped_service_is_found_out
check "restore --all --service ends it, and says so" restore_ends_the_service
check "a service that was killed is found out" a_dead_service_is_found_out
if command -v python3 >/dev/null 2>&1; then
    check "one that is older, or hangs, is found out, and nothing ends it" doubles_are_found_out
fi
check "what was let go and cannot be read binds nobody" unread_claims_bind_nobody
# shellcheck disable=SC2086
kill -KILL $pids 2>/dev/null
kill_service
finish
