#!/bin/sh
# births.sh - threads that are born while a process is bound, or put back, do not escape; TAP
# SPDX-License-Identifier: MIT
# runs: check
#
#   CPUBIND_CHAINS=500      so many processes are tried (default 5)
#
# In a chain each thread starts the next one and ends: a listing shows such a thread too late, or
# not at all. Each process is right, or it is said that births do not end.
. tests/scenes/lib.sh
take_two_cpus
host=$out/root
put_two_nodes 0-511
host="--root $host"

# All threads that live meanwhile have these CPUs: each has those of the thread that has started it.
chains_are_on() { # CPUs
    for _ in 1 2 3 4 5 6 7 8; do
        elsewhere=$(cat "/proc/$worker/task"/*/status 2>"$out/ended" |
            sed -n 's/^Cpus_allowed_list:[^0-9]*//p' | grep -vx "$1")
        [ -z "$elsewhere" ] || {
            echo "on $elsewhere, not on $1"
            return 1
        }
    done
}

# After a command, unless births did not end.
is_right() { # exit status, CPUs
    [ "$1" -eq 0 ] || ! grep -q "born faster" "$out/said" || { n_said=$((n_said + 1)) && return 0; }
    [ "$1" -eq 0 ] && chains_are_on "$2"
}

no_chain_escapes() {
    for turn in $(seq "${CPUBIND_CHAINS:-5}"); do
        still=$(seq -f still_%g $((turn % 5 * 20)))
        # The words are split on purpose.
        # shellcheck disable=SC2086
        start_worker -c $((turn % 3 + 1)) $still || return 1
        apply --device gpu0 >"$out/said" 2>&1
        is_right $? "$a" || return 1
        restore >"$out/said" 2>&1
        is_right $? "$before" || return 1
        end_worker
    done
}

# Threads that nobody has looked at, of two goals.
late_threads_go_back() {
    start_worker plain -- first second && says 0 "" apply --device gpu0 && kill -USR1 "$worker" &&
        becomes is_at first "$a" && says 0 "" apply --device gpu1 && is_on "$worker" "$b" &&
        kill -USR1 "$worker" && becomes is_at second "$b" && move_to "$a" "$(thread_named second)" &&
        says 0 "put back" restore && is_on "$worker" "$before"
}

check "threads that were born under each of two goals are put back" late_threads_go_back
end_worker
n_said=0
check "no chain of births escapes unless it is said" no_chain_escapes
echo "# births did not end $n_said times"
finish
