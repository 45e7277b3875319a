#!/bin/sh
# irqbalance.sh - irqbalance leaves the interrupts of a bound process alone, by bans or by a stop
# SPDX-License-Identifier: MIT
# runs: check
# shellcheck disable=SC2086 # lists are split on purpose
#
# The interrupts are files of a made host; irqbalance is a process that answers as it does, well or
# badly.
. tests/scenes/lib.sh
use_live_npus
LD_PRELOAD="$LD_PRELOAD $programs/kernel_shim"

own='400 401 402 403' # interrupts of NPU 0
folder=$out/daemon
mkdir "$folder"

# -- The daemon ------------------------------------------------------------------

daemon=
start_daemon() { # place of its socket, ban ...
    place=$1
    shift
    rm -f "$folder"/*
    printf '%s\n' "$@" >"$folder/bans"
    env -u LD_PRELOAD $as python3 tests/scenes/programs/irqbalance_double.py "$folder" "$place" \
        >"$folder/ready" 2>"$folder/err" &
    daemon=$!
    becomes grep -q ready "$folder/ready"
}

end_daemon() {
    [ -z "$daemon" ] || end_worker "$daemon"
    daemon=
}

how() { # word, number
    echo "$1 ${2:-0}" >"$folder/how"
}

bans_are() { # number ...
    banned=$(paste -s -d ' ' "$folder/bans")
    [ "$banned" = "$*" ] && return 0
    echo "banned are $banned, not $*"
    return 1
}

lists_were_sent() { # number
    n_list=$(grep -c '^settings' "$folder/asked")
    [ "$n_list" = "$1" ] && return 0
    cat "$folder/asked"
    return 1
}

is_stopped() { # pid
    grep -q '^State:.T' "/proc/$1/status"
}


# With a daemon and a worker of its own; nothing of either is left.
check_daemon() { # text, command, place of the socket, ban ...
    daemon_text=$1
    daemon_test=$2
    shift 2
    start_daemon "$@" || exit 1
    check_worker "$daemon_text" "$daemon_test" acl_thread
    end_daemon
}

bans() { # exit status, words, argument ...
    bans_want=$1
    bans_words=$2
    shift 2
    says "$bans_want" "$bans_words" apply --device npu0 -o irqbalance=ban "$@" &&
        irqs_are_on 145 144 145 145 100
}

# The ban fails, and everything else is done; the list is as it was.
ban_fails() { # words
    bans 0 "process $daemon (irqbalance): $1" &&
        said "irqbalance runs and moves the interrupts away" && is_at acl_thread $acl && bans_are 17
}

# -- Bans ------------------------------------------------------------------------

bans_of_others_stay() {
    bans 0 "" && grep -q '^irqbalance .* moved ' "$out/said" && bans_are 17 $own &&
        says 0 "put back" restore && bans_are 17 && irqs_are_free && all_is_free
}

# What somebody else had banned before is no ban of cpubind.
earlier_bans_stay() {
    bans 0 "" && bans_are 17 $own && says 0 "" restore && bans_are 17 401 && irqs_are_free
}

# Also when all are banned already; nothing is sent then.
a_list_is_sent_once() {
    bans 0 "" && lists_were_sent 0 && bans 0 "" && lists_were_sent 0 && says 0 "" restore &&
        lists_were_sent 0 && bans_are 17 $own
}

# Each of two workers of the NPU keeps the bans that it needs.
bans_of_two_workers() {
    bans 0 "" && first=$worker && start_worker acl_thread && bans 0 "" && bans_are 17 $own &&
        says 0 "" restore && bans_are 17 $own && end_worker && worker=$first &&
        says 0 "" restore && bans_are 17
}

# Without irqbalance = ban it is named. A ban that was asked for before is kept.
it_is_left_alone() {
    says 0 "irqbalance runs and moves the interrupts away within seconds" apply --device npu0 &&
        [ ! -e "$folder/asked" ] && bans 0 "" && says 0 "" apply --device npu0 &&
        ! grep -q "irqbalance runs" "$out/err" && bans_are 17 $own && says 0 "" restore &&
        bans_are 17
}

# -- Where it is ----------------------------------------------------------------

it_is_found_by_its_name() {
    bans 0 "" && bans_are $own && says 0 "" restore && bans_are
}

# Names of sockets that are none, and a socket of one that has ended, do not hide it.
it_is_found_by_its_socket() {
    touch /run/irqbalance/irqbalance.sock /run/irqbalance/irqbalance01.sock /run/irqbalance/irqbalance1x.sock \
        /run/irqbalance/irqbalance99999.sock /run/irqbalance/irqbalance99999999999.sock &&
        bans 0 "" && bans_are 17 $own
}

without_a_socket_it_is_said() {
    bans 0 "(irqbalance): its socket is not visible here; run it on the host, or stop it there"
}

# A process of root comes first: anybody may have that name.
root_comes_first() {
    as=$user
    env -u LD_PRELOAD $as sh -c 'echo irqbalance >/proc/$$/comm; echo ready; while :; do sleep 1; done' \
        >"$out/other" &
    other=$!
    as=
    becomes grep -q ready "$out/other" && start_daemon named 17 && bans 0 "" && bans_are 17 $own &&
        says 0 "" restore && bans_are 17
    result=$?
    end_worker $other
    end_daemon
    return $result
}

# Whoever listens at the socket must be the daemon.
another_listener_is_refused() {
    path=/run/irqbalance/irqbalance$daemon.sock
    end_daemon
    cp "$(command -v sleep)" "$out/irqbalance" && mkdir -p /run/irqbalance || return 1
    env -u LD_PRELOAD "$out/irqbalance" 600 &
    daemon=$!
    path=/run/irqbalance/irqbalance$daemon.sock
    env -u LD_PRELOAD python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen(8)
print("ready", flush=True)
while True:
    s.accept()' "$path" >"$out/listens" &
    other=$!
    becomes grep -q ready "$out/listens" && bans 0 "(irqbalance): ban: Protocol error"
    result=$?
    end_worker $other
    return $result
}

# -- Answers ---------------------------------------------------------------------

answers_without_sense_are_errors() {
    how nonsense && ban_fails "ban: Protocol error" && how chatter &&
        ban_fails "ban: Protocol error" &&
        how nobody && ban_fails "ban: Permission denied" && lists_were_sent 2
}

a_silent_daemon_is_waited_for() {
    how nothing && ban_fails "ban: Connection timed out"
}

# The first reaction comes within a second; later ones may take longer.
a_slow_answer_is_waited_for() {
    how thinks 1300 && bans 0 "" && bans_are 17 $own
}

a_stopped_daemon_is_sent_nothing() {
    kill -STOP "$daemon" && becomes is_stopped "$daemon" &&
        says 0 "" apply --device npu0 -o irqbalance=ban &&
        [ ! -e "$folder/asked" ] && kill -CONT "$daemon" && bans 0 "" && bans_are 17 $own
}

# It reads 500 bytes of a command: a longer list is not sent.
a_long_list_is_not_sent() {
    # shellcheck disable=SC2046
    bans 0 "(irqbalance): ban: Message too long" && lists_were_sent 0 &&
        bans_are $(seq 1000 1110)
}

# A list that it has cut is put back as it was.
a_cut_list_is_restored() {
    how cuts 12 && ban_fails "ban: Protocol error" && lists_were_sent 4
}

changes_of_others_are_kept() {
    how rival 1 && bans 0 "" && bans_are 17 77 $own && says 0 "" restore && bans_are 17 77
}

changes_without_end_are_given_up() {
    how rival 99 && bans 0 "(irqbalance): ban: Protocol error" && lists_were_sent 4
}

# Commands at once, and what they undo.
bans_at_once_are_all_kept() {
    mkdir "$out/many" && workers=$worker || return 1
    for n in 1 2 3; do start_worker acl_thread && workers="$workers $worker" || return 1; done
    for what in "apply --allowed 0-191 --rules reference --memory none --device npu0 -o irqbalance=ban" restore; do
        binders=
        for pid in $workers; do
            # The words are split on purpose.
            # shellcheck disable=SC2086
            "$CPUBIND" $what --pid "$pid" --quiet >"$out/many/$pid" 2>&1 &
            binders="$binders $!"
        done
        for pid in $binders; do
            wait "$pid" || {
                cat "$out/many"/*
                return 1
            }
        done
        [ "$what" = restore ] || bans_are 17 $own || return 1
    done
    # shellcheck disable=SC2086
    end_worker ${workers#* } && worker=${workers%% *} && bans_are 17 && irqs_are_free
}

# Whoever else talks to it keeps the lock for more than three seconds.
the_lock_has_a_limit() {
    env -u LD_PRELOAD flock -o "/proc/$daemon/personality" sh -c 'echo locked; exec sleep 60' \
        >"$out/locked" &
    other=$!
    becomes grep -q locked "$out/locked" && ban_fails "ban: Connection timed out"
    result=$?
    end_worker $other
    return $result
}

users_are_refused() {
    as=$user
    start_worker acl_thread
    says 0 "" $user "$CPUBIND" apply --pid "$worker" --allowed 0-191 --rules reference --memory none --device npu0 \
        -o irqbalance=ban
    result=$?
    $user "$CPUBIND" restore --all --quiet
    as=
    bans_are 17 && [ ! -e "$folder/asked" ] && [ $result -eq 0 ]
}

# -- Ends ------------------------------------------------------------------------

# A daemon that has ended since has nothing to unban; another one was not asked.
a_daemon_that_has_ended_is_no_error() {
    bans 0 "" && end_daemon && says 0 "" restore && irqs_are_free && all_is_free
}

another_daemon_is_not_unbanned() {
    bans 0 "" && end_daemon && start_daemon run 17 401 && says 0 "" restore && bans_are 17 401 &&
        [ ! -e "$folder/asked" ]
}

# A watch asks the daemon that runs now.
a_watch_asks_the_next_daemon() {
    "$CPUBIND" apply --pid "$worker" --allowed 0-191 --rules reference --memory none --device npu0 \
        -o irqbalance=ban --watch 1 >"$out/watched" 2>&1 &
    becomes bans_are 17 $own && end_daemon && start_daemon run 18 && becomes bans_are 18 $own &&
        says 0 "" restore && bans_are 18
}

# What apply cannot do, it undoes: bans, too.
a_failure_undoes_it() {
    echo "402/smp_affinity_list 5" >"$out/refused"
    CPUBIND_REFUSED=$out/refused says 4 "refuses to move it" apply --device npu0 -o irqbalance=ban --strict &&
        bans_are 17 && irqs_are_free && all_is_free
}

for place in run named; do
    check_daemon "bans are added to those of others, and taken back ($place)" bans_of_others_stay $place 17
done
check_daemon "what was banned before stays banned" earlier_bans_stay run 17 401
check_daemon "a list that has all bans is not sent" a_list_is_sent_once run 17 $own
check_daemon "two workers of an NPU keep the bans that they need" bans_of_two_workers run 17
check_daemon "it is left alone unless that is asked for, and named" it_is_left_alone run 17
check_daemon "it is found among all processes, and its empty list is one" it_is_found_by_its_name nameless
check_daemon "it is found by its socket" it_is_found_by_its_socket run 17
check_daemon "without a socket that is said" without_a_socket_it_is_said none
has_user &&
    check_worker "a process of root comes before others of its name" root_comes_first acl_thread
check_daemon "another listener at its socket is refused" another_listener_is_refused none
check_daemon "answers without sense are errors, and change nothing" answers_without_sense_are_errors run 17
check_daemon "a silent daemon is waited for for a second" a_silent_daemon_is_waited_for run 17
check_daemon "a slow answer is waited for after the first reaction" a_slow_answer_is_waited_for run 17
check_daemon "a stopped daemon is sent nothing" a_stopped_daemon_is_sent_nothing run 17
# shellcheck disable=SC2046
check_daemon "a list that it would cut is not sent" a_long_list_is_not_sent run $(seq 1000 1110)
check_daemon "a list that it has cut is restored" a_cut_list_is_restored run 17
check_daemon "a change of another program is kept" changes_of_others_are_kept run 17
check_daemon "changes without end are given up" changes_without_end_are_given_up run 17
check_daemon "commands at once lose no ban" bans_at_once_are_all_kept run 17
check_daemon "its lock is waited for with a limit" the_lock_has_a_limit run 17
has_user &&
    check_daemon "an ordinary user cannot ask it, and binds all the same" users_are_refused run 17
check_daemon "restore after it has ended" a_daemon_that_has_ended_is_no_error run 17
check_daemon "the daemon that has started since is not unbanned" another_daemon_is_not_unbanned run 17
check_daemon "a watch asks the next daemon" a_watch_asks_the_next_daemon run 17
check_daemon "a failure undoes bans" a_failure_undoes_it run 17
finish
