#!/bin/sh
# kills.sh - commands and the service are killed at random moments, and nothing is lost
# SPDX-License-Identifier: MIT
# runs: check-all
#
#   CPUBIND_KILLS=1000        how often something is killed (default 120)
#   CPUBIND_TEST_SEED=N       repeats a run as far as the scheduler lets it
#
# How long each command takes is measured first; then it is ended by SIGKILL after a random part
# of that. Without the service `restore --all` brings every mask back afterwards. With it, the
# command or the service is killed, and another service has each worker bound, or says that it
# was let go.
. tests/scenes/lib.sh
use_gpus
n_kill=${CPUBIND_KILLS:-120}
seed=${CPUBIND_TEST_SEED:-$(date +%s)}
echo "# CPUBIND_KILLS=$n_kill CPUBIND_TEST_SEED=$seed"

# -- What is killed --------------------------------------------------------------

# Sets the words of a command. Those of the user are last.
n_root=6
# The words are split on purpose.
# shellcheck disable=SC2086
command_of() { # number
    pid=$first
    [ "$1" -lt "$n_root" ] || pid=$second
    case $1 in
    0) set -- apply --pid "$pid" --device 0000:01:00.0 --memory none ;;
    6) set -- apply --pid "$pid" --device 0000:02:00.0 --memory none ;;
    1) set -- apply --all $of_host ;;
    2) set -- run --device 0000:02:00.0 --memory none -- sleep 0.01 ;;
    3 | 7) set -- restore --pid "$pid" ;;
    4) set -- restore --all ;;
    5) set -- verify --all ;;
    esac
    words="$CPUBIND $*"
    [ "$pid" = "$first" ] || words="$user $words"
}

# Runs a command to its end, or kills it or another process.
n_drawn=0
n_killed=0
# shellcheck disable=SC2086
run_words() { # limit, pid to kill
    n_drawn=$((n_drawn + 1))
    "$programs/killer" "$1" $((seed + n_drawn)) "$2" $words >"$out/said" 2>"$out/err"
    got=$?
    took=$(tail -n 1 "$out/err")
    case $got in
    0 | 1 | 4) ;;
    137) n_killed=$((n_killed + 1)) ;;
    *) echo "$words has ended with $got" && return 1 ;;
    esac
}

# Sets `limit` to the time that a command takes, the shortest of five.
time_of() { # number, command that comes before each
    limit=0
    for _ in 1 2 3 4 5; do
        $2 "$1" && command_of "$1" && run_words 0 0 || return 1
        [ "$limit" -gt 0 ] && [ "$limit" -lt "$took" ] || limit=$took
    done
}

tell_kills() { # how often
    echo "# $1 within $limit us, $n_killed killed so far: ${words#"$CPUBIND"}"
}

# Prints all on a failure.
show_all() {
    echo "seed $seed, draw $n_drawn, of $limit us: $words"
    cat "$out/said" "$out/err" "$out/service.log" "$out/status"
    grep -H Cpus_allowed_list /proc/"$first"/task/*/status /proc/"$second"/task/*/status
    ls -lA /run/cpubind /run/user/65534/cpubind
    return 1
}

# -- Without the service ---------------------------------------------------------

# Puts all back, and looks whether nothing is left.
# shellcheck disable=SC2086
all_are_as_before() {
    "$CPUBIND" restore --all >"$out/said" 2>&1 &&
        $client "$CPUBIND" restore --all >>"$out/said" 2>&1 &&
        are_on "$before" "$first" "$second" && no_record
}

# A restore needs something to put back; the user's, a binding of its own.
# shellcheck disable=SC2086
prepare() { # number
    all_are_as_before || show_all || return 1
    case $1 in
    3 | 4 | 5) says 0 "" "$CPUBIND" apply --all $of_host && is_on "$first" "$a" ;;
    7)
        says 0 "" $user "$CPUBIND" apply --pid "$second" --device 0000:02:00.0 --memory none &&
            is_on "$second" "$b"
        ;;
    esac
}

commands_are_killed() { # how often each
    of_host="--root $host --memory none"
    for job in $jobs; do
        time_of "$job" prepare || show_all || return 1
        for _ in $(seq "$1"); do
            prepare "$job" && command_of "$job" && run_words "$limit" 0 && all_are_as_before ||
                show_all || return 1
        done
        tell_kills "$1"
    done
    [ "$n_killed" -gt 0 ] # else nothing was tried
}

# -- With the service ------------------------------------------------------------

is_settled() { # pid, CPUs
    is_on "$1" "$2" ||
        { is_on "$1" "$before" &&
        grep -q "let go.*[ ,]$1\|it leaves all workers alone" "$out/status"; }
}

both_are_settled() {
    "$CPUBIND" status 2>&1 | grep "^the service" >"$out/status"
    is_settled "$first" "$a" && is_settled "$second" "$b"
}

# What the user has bound is the user's to put back.
# shellcheck disable=SC2086
is_ready() {
    { $client "$CPUBIND" restore --all || [ -n "$client" ]; } && "$CPUBIND" apply --all && is_on "$first" "$a" &&
        is_on "$second" "$b"
}

soon_ready() {
    becomes is_ready
}

# Kills the command, or the service while it works for it, or the next service while it starts.
kill_once() { # number, what
    case $2 in
    0) command_of "$1" && run_words "$limit" 0 ;;
    1) command_of "$1" && run_words "$limit" "$service" && n_killed=$((n_killed + 1)) ;;
    2)
        kill_service
        words="$CPUBIND service $conf --root $host"
        run_words "$start_limit" 0
        ;;
    esac || return 1
    [ "$2" -eq 0 ] || start_service || return 1
    becomes both_are_settled
}

the_service_is_killed() { # how often each
    of_host=
    settings && start_service && soon_ready || show_all || return 1
    kill_service
    begin=$(date +%s%N)
    start_service && becomes both_are_settled || show_all || return 1
    start_limit=$((($(date +%s%N) - begin) / 1000))
    for job in $jobs; do
        time_of "$job" soon_ready || show_all || return 1
        for n in $(seq "$1"); do
            [ $((n % 4)) -ne 1 ] || soon_ready || show_all || return 1
            kill_once "$job" $((n % 3)) || show_all || return 1
        done
        command_of "$job"
        tell_kills "$1"
    done
    soon_ready && "$CPUBIND" restore --all --service >"$out/said" 2>&1 && service= &&
        all_are_as_before || show_all
}

# -- All -------------------------------------------------------------------------

: >"$out/status"
: >"$out/service.log"
jobs="0 1 2 3 4 5"
client=
start_on 5 a b c && first=$worker
if has_user; then
    client=$user
    jobs="$jobs 6 7"
    start_users_on 7 a b c
else
    start_on 7 a b c
fi
second=$worker
n_each=$((n_kill / 2 / $(echo "$jobs" | wc -w)))
[ "$n_each" -gt 0 ] || n_each=1
for kind in commands_are_killed the_service_is_killed; do
    check "$kind $n_each times each, and nothing is lost" $kind $n_each
    grep '^# ' "$out/output"
done
finish
