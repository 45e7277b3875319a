#!/bin/sh
# whose.sh - of which process a record is: numbers that were given again, other boots, namespaces
# SPDX-License-Identifier: MIT
# runs: check
# shellcheck disable=SC2086,SC2119
. tests/scenes/lib.sh
use_npus

# Changes a record, and puts the right sum into its last line.
change() { # script of sed
    sed "$1; /^sum/d" "$state" >"$out/changed" &&
        echo "sum $(gzip -c "$out/changed" | tail -c 8 | od -An -N4 -tx4 --endian=little | tr -d ' ')" \
            >>"$out/changed" && cat "$out/changed" >"$state"
}

# -- Another process ----------------------------------------------------------------

# The number went to another process, or the host was started again: the process that has the
# number now is not bound, and is not moved.
is_of_no_process() { # script of sed
    apply --device npu0 && change "$1" && refuses 1 "nothing is on record of process $worker" verify &&
        says 0 "it has ended" restore && is_on "$worker" $main && no_record || return 1
    # What it has by now is what it had before.
    apply --device npu5 && restore && is_on "$worker" $main && move_to "$all" "$worker"
}
for what in "another process has the number now:s/^\(process [0-9]* \).*/\1987654321/" \
    "the host was started again:s/^boot .*/boot of-another-start/"; do
    change=${what#*:}
    is_of_another() { is_of_no_process "$change"; }
    check_worker "${what%%:*}" is_of_another
done

takes_over() {
    apply --device npu0 && change 's/^\(process [0-9]* \).*/\1987654321/' && says 0 "npu5" apply --device npu5 &&
        says 0 "as it should be" verify && says 0 "put back" restore && is_on "$worker" $main
}
check_worker "apply takes the place of such a record" takes_over

# -- Another namespace --------------------------------------------------------------

# Of a process of another pid or time namespace nobody knows here whether it has ended.
is_kept() { # words of a command
    says 1 "is of another pid or time namespace" "$@" && cmp "$state" "$out/kept" &&
        is_on "$worker" "$main"
}

is_of_another_namespace() {
    for change in 's/^namespace .*/namespace 4026532999/' '/^namespace /d' \
        's/^\(before .*\)/time-namespace 4026532999\n\1/'; do
        apply --device npu0 && cp "$state" "$out/good" && change "$change" && cp "$state" "$out/kept" &&
            is_kept verify && is_kept restore &&
            is_kept "$CPUBIND" restore --all && is_kept "$CPUBIND" restore --ended &&
            cat "$out/good" >"$state" && says 0 "put back" restore || return 1
    done
}
check_worker "a record of another pid or time namespace is kept, and said" is_of_another_namespace

# As a container that shares the folder with the host, and one whose clock is another.
commands_of_another_namespace() {
    apply --device npu0 && cp "$state" "$out/kept" &&
        for way in "unshare -p -f --mount-proc" "unshare -f -T --boottime 86400"; do
            for command in "--all" "--ended" "--pid $worker"; do
                is_kept $way "$CPUBIND" restore $command || return 1
            done
        done && says 0 "as it should be" verify && says 0 "put back" restore
}
if unshare -f -T --boottime 86400 true 2>"$out/other"; then
    check_worker "nor do commands of another namespace drop a record" commands_of_another_namespace
else
    skip "nor do commands of another namespace drop a record" "there are no time namespaces here"
fi

# -- Sweeping ------------------------------------------------------------------------

# Sets old to a record of a process that has ended.
leave_record() {
    start_sleeper && "$CPUBIND" apply --pid "$sleeper" --fixture a2-192cpu-8npu --allowed 0-191 \
        --device npu5 --memory none --quiet && end_worker "$sleeper" && old=/run/cpubind/$sleeper.record &&
        [ -e "$old" ]
}

is_swept() {
    leave_record && apply --device npu0 --quiet && [ ! -e "$old" ] && restore
}
check_worker "the record of a process that has ended is removed by the next command" is_swept

# A folder that a host and a container share: the container sees none of the processes.
is_not_swept() {
    leave_record && saved=$state && state=$old && change 's/^namespace .*/namespace 4026532999/' &&
        state=$saved && apply --device npu0 --quiet && [ -e "$old" ] && restore && [ -e "$old" ] && rm "$old"
}
check_worker "one of another pid namespace is not" is_not_swept

is_in_use() {
    leave_record && : >"$old.lock" && chmod 600 "$old.lock" || return 1
    flock -xF "$old.lock" sleep 600 &
    user_of_it=$!
    becomes sh -c "! flock -n $old.lock true" && apply --device npu0 --quiet && [ -e "$old" ] &&
        [ -e "$old.lock" ]
    use_status=$?
    end_worker $user_of_it
    restore && [ ! -e "$old" ] && [ ! -e "$old.lock" ] && return $use_status
}
check_worker "nor is one that somebody works with" is_in_use

# -- Files beside it -------------------------------------------------------------

is_too_long() {
    apply --device npu0 && cp "$state" "$out/good" && truncate -s 100M "$state" &&
        refuses 3 "is damaged: it is too long" restore && is_on "$worker" $main &&
        cat "$out/good" >"$state" && says 0 "put back" restore
}
check_worker "a file is not read past the longest record" is_too_long

# flock(2) locks a file, not its name: one that was removed meanwhile keeps nobody out.
removed_lock() {
    mkdir -p /run/cpubind && : >"$state.lock" || return 1
    flock -xF "$state.lock" sleep 600 &
    holder=$!
    becomes sh -c "! flock -n $state.lock true" && refuses 1 "another cpubind is at work" apply --device npu0 &&
        rm "$state.lock" && says 0 "npu0" apply --device npu0 && says 0 "put back" restore && all_is_free
    removed_status=$?
    end_worker $holder
    return $removed_status
}
check_worker "a lock on a removed file does not count" removed_lock
finish
