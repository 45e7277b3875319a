#!/bin/sh
# told.sh - who is told what: a worker on another device's CPUs, users who do not see all, all let go
# SPDX-License-Identifier: MIT
# runs: check
. tests/scenes/lib.sh
use_gpus

# -- A worker on the CPUs of another device ----------------------------------------

is_on_other_cpus() {
    uses="it uses gpu0, and is bound to the CPUs of gpu1: cpubind apply --pid $worker finds"
    says 0 "warning: process $worker: $uses" "$CPUBIND" apply --root "$host" --pid "$worker" \
        --device gpu1 --memory none &&
        says 1 "process $worker, gpu0: $uses" "$CPUBIND" verify --all --root "$host" &&
        says 1 "process $worker: $uses" "$CPUBIND" verify --pid "$worker" --root "$host" &&
        said "it has drifted" &&
        says 1 "" "$CPUBIND" verify --all --root "$host" --json &&
        json .workers[0].error.text | grep -qF "$uses" &&
        says 1 "on record for another device" "$CPUBIND" status --root "$host" --memory none &&
        says 0 "gpu0" "$CPUBIND" apply --root "$host" --pid "$worker" --memory none &&
        ! said "is bound to the CPUs of" >"$out/other" &&
        says 0 "as it should be" "$CPUBIND" verify --pid "$worker" --root "$host" &&
        says 0 "right" "$CPUBIND" verify --all --root "$host"
}
start_on 5
check "a worker on the CPUs of another device is named by each command" is_on_other_cpus

# -- A user who does not see all ------------------------------------------------------

# shellcheck disable=SC2086
says_what_is_unseen() {
    unseen="processes of other users may use a device: their files may not be read; as root they are"
    for command in "verify --all" "apply --all" "status --memory none"; do
        says 3 "$unseen" $user "$CPUBIND" $command --root "$host" || return 1
    done
    says 3 "" $user "$CPUBIND" verify --all --root "$host" --json && json .warnings | grep -qF '"unseen"' &&
        says 1 "1 processes are on record of root, who alone can put them back" $user "$CPUBIND" \
            restore --all && is_on "$worker" "$a"
}
check_user "a user who does not see the workers of others is told" says_what_is_unseen

# In a container of one user all are seen.
# shellcheck disable=SC2086
sees_all() {
    "$CPUBIND" restore --all --quiet && end_worker && says 0 "no process uses a device" \
        unshare -p -f --mount-proc $user "$CPUBIND" verify --all --root "$host"
}
check_user "one who sees all processes is not" sees_all

# -- All let go beside the service ----------------------------------------------------

left="it leaves all workers alone, those to come too, until cpubind apply --all"

# What a service says that leaves all alone.
says_all_left() {
    says 0 "$left" "$CPUBIND" service "$conf" --ask ready &&
        says 0 "$left" "$CPUBIND" status --memory none && said "2 idle" &&
        becomes grep -qx 'cpubind_all_left 1' "$prom" && {
            "$CPUBIND" doctor >"$out/said" 2>"$out/err"
            said "$left"
        }
}

leaves_all() {
    settings "textfile = $prom" && start_service && becomes has_figures &&
        grep -qx 'cpubind_all_left 0' "$prom" &&
        says 0 "the service (process $service) goes on: $left" "$CPUBIND" restore --all &&
        says_all_left
}
has_figures() {
    [ -s "$prom" ]
}
check "restore --all beside a service says what that means for workers to come" leaves_all

# By apply --all, and by a service that starts after restore --all --service.
takes_again() {
    says 0 "" "$CPUBIND" apply --all && ! says 0 "$left" "$CPUBIND" service "$conf" --ask ready >"$out/other" &&
        "$CPUBIND" restore --all --quiet &&
        says 0 "was ended by this command" "$CPUBIND" restore --all --service && start_service &&
        ! says 0 "$left" "$CPUBIND" service "$conf" --ask ready >"$out/other" &&
        start_on 5 && becomes is_on "$worker" "$a"
}
check "apply --all undoes that, and so does a start after restore --all --service" takes_again

# -- A thread that moves itself ----------------------------------------------------------

# The fourth and later moves are not said again.
is_named_once() {
    for _ in 1 2 3 4 5; do
        move_to "$b" "$worker" && becomes is_on "$worker" "$a" || return 1
    done
    words="thread $worker (worker) of process $worker moves itself, or another program moves it, again and again, now to $b: -o thread=worker=leave leaves it alone"
    becomes logged "$words" && [ "$(grep -c 'again and again' "$out/service.log")" -eq 1 ] &&
        end_service TERM && : >"$out/watched" && "$CPUBIND" restore --all --quiet || return 1
    "$CPUBIND" apply --pid "$worker" --root "$host" --memory none --watch 1 >"$out/watched" 2>&1 &
    watcher=$!
    becomes is_on "$worker" "$a" || return 1
    for _ in 1 2 3 4; do
        move_to "$b" "$worker" && becomes is_on "$worker" "$a" || return 1
    done
    becomes watched "$words" 1
    named_status=$?
    end_worker $watcher
    return $named_status
}
check "a thread that moves itself is named once, with the option that leaves it alone" is_named_once
finish
