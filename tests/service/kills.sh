#!/bin/sh
# kills.sh - commands and the service are killed at random moments, and nothing is lost; TAP
# SPDX-License-Identifier: MIT
#
#   tests/service/kills.sh    from the top folder; BUILD has the command and outputs
#   CPUBIND_KILLS=1000        how often something is killed (default 120)
#   CPUBIND_TEST_SEED=N       repeats a run as far as the scheduler lets it
#
# How long each command takes is measured first; then it is ended by SIGKILL after a random part
# of that. Without the service `restore --all` brings every mask back afterwards. With it, the
# command or the service is killed, and another service has each worker bound, or says that it was
# let go. It needs root: it has a /run, a /dev and processes of its own, and touches no record,
# service or process of this machine.
needs_own_run=yes
. tests/support/start.sh
. tests/support/device_host.sh

n_kill=${CPUBIND_KILLS:-120}
seed=${CPUBIND_TEST_SEED:-$(date +%s)}
echo "# CPUBIND_KILLS=$n_kill CPUBIND_TEST_SEED=$seed"

# Runs a command, and prints how long it took in microseconds. With a limit it, or the process
# that is named, is killed after a random part of that.
cat >"$out/killer.c" <<'END'
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* SplitMix64: neighbouring seeds have nothing in common. */
static uint64_t draw(uint64_t seed)
{
    uint64_t z = seed * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* killer LIMIT-US SEED PID COMMAND ...     limit 0: kills nothing; pid 0: the command */
int main(int argc, char **argv)
{
    const int64_t limit = argc > 4 ? strtoll(argv[1], NULL, 10) : 0;
    const pid_t named = argc > 4 ? (pid_t)atoi(argv[3]) : 0;
    const int64_t begin = now_us();
    const pid_t pid = fork();
    int status = 0;
    if (pid == 0) {
        execvp(argv[4], argv + 4);
        _exit(127);
    }
    if (limit > 0) {
        const int64_t us = (int64_t)(draw(strtoull(argv[2], NULL, 10)) % (uint64_t)limit);
        const struct timespec rest = {us / 1000000, us % 1000000 * 1000};
        (void)nanosleep(&rest, NULL);
        kill(named ? named : pid, SIGKILL);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    fprintf(stderr, "%lld\n", (long long)(now_us() - begin));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
END
cc -std=c11 -D_DEFAULT_SOURCE -O1 -Wall -Wextra -Werror "$out/killer.c" -o "$out/killer" || exit 1

# -- What is killed -------------------------------------------------------------

# Sets the words of a command. Those of the user are last.
# The words are split on purpose.
# shellcheck disable=SC2086
command_of() { # number
    pid=$first
    [ "$1" -lt "$n_root" ] || pid=$second
    case $1 in
    0) set -- apply --pid "$pid" --pci 0000:01:00.0 --memory none ;;
    6) set -- apply --pid "$pid" --pci 0000:02:00.0 --memory none ;;
    1) set -- apply --all $of_host ;;
    2) set -- run --pci 0000:02:00.0 --memory none -- sleep 0.01 ;;
    3 | 7) set -- restore --pid "$pid" ;;
    4) set -- restore --all ;;
    5) set -- verify --all ;;
    esac
    words="$CPUBIND $*"
    [ "$pid" = "$first" ] || words="$user $words"
}
n_root=6

# Runs a command to its end, or kills it or another process. Prints its output on a failure.
# The words are split on purpose.
# shellcheck disable=SC2086
run_words() { # limit, pid to kill
    n_drawn=$((n_drawn + 1))
    "$out/killer" "$1" $((seed + n_drawn)) "$2" $words >"$out/text" 2>"$out/err"
    got=$?
    took=$(tail -n 1 "$out/err")
    [ $got -le 1 ] || [ $got -eq 4 ] || [ $got -eq 137 ] || {
        echo "$words has ended with $got"
        cat "$out/text" "$out/err"
        return 1
    }
    [ $got -ne 137 ] || n_killed=$((n_killed + 1))
}
n_drawn=0
n_killed=0

# Sets `limit` to the time that a command takes, the shortest of five.
measure() { # number, command that comes before each
    limit=0
    for _ in 1 2 3 4 5; do
        $2 "$1" && command_of "$1" && run_words 0 0 || return 1
        [ "$limit" -gt 0 ] && [ "$limit" -lt "$took" ] || limit=$took
    done
}

tell() { # how often
    echo "# $1 within $limit us, $n_killed killed so far: ${words#"$CPUBIND"}"
}

show() {
    echo "seed $seed, draw $n_drawn, of $limit us: $words"
    cat "$out/text" "$out/err" "$out/said" "$out/status"
    grep -H Cpus_allowed_list /proc/"$first"/task/*/status /proc/"$second"/task/*/status
    ls -lA /run/cpubind /run/user/65534/cpubind
    return 1
}

# -- Without the service --------------------------------------------------------

# Puts all back, and looks whether nothing is left.
# shellcheck disable=SC2086
all_are_as_before() {
    "$CPUBIND" restore --all >"$out/said" 2>&1 && $user "$CPUBIND" restore --all >>"$out/said" 2>&1 &&
        is_on "$first" "$before" && is_on "$second" "$before" &&
        [ -z "$(find /run/cpubind /run/user/65534/cpubind -name '*[0-9]*' 2>/dev/null)" ]
}

# A restore needs something to put back; the user's, a binding of its own.
# shellcheck disable=SC2086
prepare() { # number
    all_are_as_before || show || return 1
    case $1 in
    3 | 4 | 5) "$CPUBIND" apply --all $of_host >"$out/text" 2>"$out/err" && is_on "$first" "$a" ;;
    7) $user "$CPUBIND" apply --pid "$second" --pci 0000:02:00.0 --memory none >"$out/text" 2>"$out/err" && is_on "$second" "$b" ;;
    esac
}

commands_are_killed() { # how often each
    of_host="--root $root --memory none"
    for job in $jobs; do
        measure "$job" prepare || show || return 1
        n=0
        while [ "$n" -lt "$1" ]; do
            n=$((n + 1))
            prepare "$job" && command_of "$job" && run_words "$limit" 0 && all_are_as_before || show || return 1
        done
        tell "$1"
    done
    [ "$n_killed" -gt 0 ] # else nothing was tried
}

# -- With the service -----------------------------------------------------------

is_settled() { # pid, CPUs
    is_on "$1" "$2" ||
        { is_on "$1" "$before" && grep -q "let go.*[ ,]$1\|all processes were let go" "$out/status"; }
}

both_are_settled() {
    "$CPUBIND" status >"$out/status.all" 2>&1
    grep "^the service" "$out/status.all" >"$out/status"
    is_settled "$first" "$a" && is_settled "$second" "$b"
}

# What the user has bound is the user's to put back.
# shellcheck disable=SC2086
is_ready() {
    $user "$CPUBIND" restore --all >"$out/text" 2>"$out/err" && "$CPUBIND" apply --all >"$out/text" 2>"$out/err" && is_on "$first" "$a" && is_on "$second" "$b"
}

soon_ready() {
    becomes 100 is_ready
}

# Kills the command, or the service while it works for it, or the next service while it starts.
kill_once() { # number, what
    case $2 in
    0) command_of "$1" && run_words "$limit" 0 ;;
    1) command_of "$1" && run_words "$limit" "$service" && n_killed=$((n_killed + 1)) ;;
    2)
        kill_service
        : >"$out/said"
        words="$CPUBIND service --config $conf --root $root"
        run_words "$start_limit" 0
        ;;
    esac || return 1
    [ "$2" -eq 0 ] || start_service || return 1
    becomes 100 both_are_settled
}

the_service_is_killed() { # how often each
    of_host=
    settings && start_service && soon_ready || show || return 1
    kill_service
    begin=$(date +%s%N)
    start_service && becomes 100 both_are_settled || show || return 1
    start_limit=$((($(date +%s%N) - begin) / 1000))
    for job in $jobs; do
        measure "$job" soon_ready || show || return 1
        n=0
        while [ "$n" -lt "$1" ]; do
            n=$((n + 1))
            [ $((n % 4)) -ne 1 ] || soon_ready || show || return 1
            kill_once "$job" $((n % 3)) || show || return 1
        done
        command_of "$job"
        tell "$1"
    done
    soon_ready && "$CPUBIND" restore --all --service >"$out/said" 2>&1 && service= &&
        all_are_as_before || show
}

# -- All ------------------------------------------------------------------------

has_more_threads() { # pid
    for n in 2 3 4; do
        kill -USR1 "$1" && becomes 50 has_threads "$1" $n || return 1
    done
}

: >"$out/said"
: >"$out/status"
start_worker 5 && first=$worker && start_users_worker 7 && second=$worker &&
    becomes 50 grep -qx worker "/proc/$second/comm" && has_more_threads "$first" &&
    has_more_threads "$second" || exit 1
jobs="0 1 2 3 4 5"
[ "$has_user" = no ] || jobs="$jobs 6 7"
n_each=$((n_kill / 2 / $(echo "$jobs" | wc -w)))
[ "$n_each" -gt 0 ] || n_each=1
for kind in commands_are_killed the_service_is_killed; do
    check "$kind $n_each times each, and nothing is lost" $kind $n_each
    grep '^# ' "$out/output"
done
# shellcheck disable=SC2086
kill -KILL $pids 2>/dev/null
kill_service
finish
