#!/bin/sh
# measure.sh - measure on live workers of two CPUs
# SPDX-License-Identifier: MIT
# runs: check-all
#
#   CPUBIND_KILLS=200     how often a measurement is killed (default 6)
#
# The workers compute; a hog computes on one of the CPUs. What is called better or worse is so
# by far, on a machine of any speed.
. tests/scenes/lib.sh
use_gpus
program=$programs/load

hog=
start_hog() { # CPU
    "$programs/load" hog "$1" &
    hog=$!
}

end_hog() {
    [ -z "$hog" ] || end_worker "$hog"
    hog=
}

measure() { # argument ...
    "$CPUBIND" measure --root "$host" "$@"
}

masks_of() { # pid
    for task in /proc/"$1"/task/*; do cpus_of "${task##*/}"; done | sort | uniq -c
}

# Nothing is on record, and the worker is where it was.
is_as_it_was() { # pid, masks
    [ -z "$(find /run/cpubind -name '*.record')" ] && [ "$(masks_of "$1")" = "$2" ]
}

# A worker of the GPU near the second CPU, on the first one. Sets masks.
start_away() {
    start_on 7 && becomes has_threads "$worker" 2 || return 1
    for task in /proc/"$worker"/task/*; do
        move_to "$a" "${task##*/}" || return 1
    done
    masks=$(masks_of "$worker")
}

# -- Verdicts --------------------------------------------------------------------

without_a_worker() {
    says 1 "no process uses a device" measure --all --time 2 &&
        says 1 "process $$ uses no device" measure --pid $$ --time 2
}
check "without a worker there is nothing to measure" without_a_worker

# The worker was put beside the hog.
a_binding_that_helps_is_better() {
    start_hog "$a"
    start_away && says 0 "near against now: better: run_queue_wait" measure --all --time 4 &&
        is_as_it_was "$worker" "$masks" && said 'in each block, from 0' && said 'of one CPU'
}
check "a worker that shares its CPU with a hog: near is better" a_binding_that_helps_is_better
end_hog

# Status and doctor of this machine, which has the same devices here.
the_result_is_kept() {
    better=/run/cpubind/measure.json
    sqlite3 :memory: "SELECT json(readfile('$better'))" >"$out/line" &&
        fits measure "$out/line" &&
        for command in status doctor; do
            "$CPUBIND" $command >"$out/said" 2>"$out/err"
            grep -q "^measured on .*: near against now: better: run_queue_wait" "$out/said" ||
                return 1
        done && has .verdict better "$better" &&
        [ "$(json .order "$better" | tr -d 'AB')" = "" ] &&
        has '.workers[0].device' gpu1 "$better" &&
        [ "$(json '.figures[0].blocks[23]' "$better")" != "" ]
}
check "the result is kept, and status and doctor know it" the_result_is_kept
end_worker

# The hog is on the CPU of the plan.
a_binding_that_hurts_is_worse() {
    start_hog "$b"
    start_away && says 1 '"verdict": "worse", "main": "run_queue_wait"' measure --pid \
        "$worker" \
        --time 4 --json && is_as_it_was "$worker" "$masks"
}
check "the CPU of the plan has a hog: near is worse" a_binding_that_hurts_is_worse
end_hog

# What the user names decides: here a number that is better on the CPU of the plan.
a_metric_of_the_user_decides() {
    cat >"$out/latency" <<END
#!/bin/sh
sed -n "s/^Cpus_allowed_list:[^0-9]*$b\$/10/p; t; s/^Cpus_allowed_list:.*/20/p" /proc/$worker/status
END
    chmod +x "$out/latency"
    says 0 '"verdict": "better"' measure --all --time 2 --json \
        --metric "lower:command:$out/latency" && has '.figures[0].asked' 1 &&
        has .main "$(json '.figures[0].name')" &&
        says 1 "near against now: worse" measure --all --time 2 --quiet \
            --metric "higher:command:$out/latency" &&
        says 2 "--metric ftp://host" measure --all --metric ftp://host
}
check "a number of the user's command decides" a_metric_of_the_user_decides
end_worker

# -- Workers ---------------------------------------------------------------------

# A worker that is bound stays bound, by its plan.
a_bound_worker_is_put_back_as_it_was() {
    start_on 7 && becomes has_threads "$worker" 2 &&
        "$CPUBIND" apply --all --root "$host" --quiet --memory none && is_on "$worker" "$b" ||
        return 1
    masks=$(masks_of "$worker")
    measure --all --time 2 >"$out/said" 2>"$out/err"
    said "near against unbound" && [ "$(masks_of "$worker")" = "$masks" ] &&
        "$CPUBIND" verify --all --root "$host" --quiet --memory none &&
        "$CPUBIND" restore --all --quiet && is_on "$worker" "$before"
}
check "a worker that was bound is bound again" a_bound_worker_is_put_back_as_it_was

a_second_one_is_refused() {
    masks=$(masks_of "$worker")
    "$CPUBIND" measure --root "$host" --all --time 20 >"$out/first" 2>&1 &
    command=$!
    becomes test -e "/run/cpubind/$worker.record" &&
        says 1 "another measurement is at work" measure --all --time 2
    refused=$?
    kill -TERM $command
    wait $command
    [ $? -eq 1 ] && [ $refused -eq 0 ] && cat "$out/first" &&
        grep -q "stopped by a signal" "$out/first" && is_as_it_was "$worker" "$masks"
}
check "a second measurement is refused, a signal ends the first" a_second_one_is_refused

they_may_fork_and_end() {
    second=$worker
    start_on 5
    "$CPUBIND" measure --root "$host" --all --time 3 >"$out/first" 2>&1 &
    command=$!
    sleep 1
    kill -USR1 "$second"
    end_worker
    wait $command
    status=$?
    cat "$out/first"
    case $status in 0 | 1 | 3) ;; *) return 1 ;; esac
    grep -q "near against now" "$out/first" && becomes is_on "$second" "$before" &&
        [ -z "$(find /run/cpubind -name '*.record')" ]
}
check "workers fork, start threads and end meanwhile" they_may_fork_and_end

a_tree_has_its_own_workers() {
    start_sleeper || return 1
    "$CPUBIND" measure --root "$host" --pid $$ --tree --time 2 --json >"$out/said" 2>"$out/err"
    [ "$(json '.workers[0].pid')" != "" ] &&
        says 1 "no process uses a device" measure --pid "$sleeper" --tree --time 2
}
check "the workers of a tree" a_tree_has_its_own_workers

# -- Crashes ---------------------------------------------------------------------

# Of these workers nothing is judged any more.
kill -STOP "$second"

# What a measurement that was killed has left is as no user wanted it.
what_a_kill_leaves_is_a_drift() {
    start_on 7 && "$CPUBIND" apply --all --root "$host" --quiet --memory none || return 1
    "$CPUBIND" measure --root "$host" --all --time 20 >"$out/first" 2>&1 &
    command=$!
    becomes is_on "$worker" "$before" && end_worker $command &&
        says 1 "it has drifted" verify && said "a measurement (process $command) that was killed" &&
        says 1 "drifted" "$CPUBIND" verify --all --root "$host" &&
        "$CPUBIND" apply --all --root "$host" --quiet --memory none &&
        says 0 "as it should be" verify && "$CPUBIND" restore --all --quiet &&
        is_on "$worker" "$before"
}
check "what a killed measurement leaves is a drift" what_a_kill_leaves_is_a_drift
end_worker

a_kill_can_be_put_back() {
    for n in $(seq "${CPUBIND_KILLS:-6}"); do
        "$CPUBIND" measure --root "$host" --all --time 2 >"$out/first" 2>&1 &
        command=$!
        sleep "$(awk -v seed="$n$$" 'BEGIN { srand(seed); print rand() * 1.5 }')"
        end_worker $command
        "$CPUBIND" restore --all --quiet && is_on "$second" "$before" &&
            [ -z "$(find /run/cpubind -name '*.record')" ] || return 1
    done
}
check "after kill -9 at any moment restore puts all back" a_kill_can_be_put_back

# -- Beside the service ----------------------------------------------------------

# What was let go before stays so; with a restart the service that starts knows of the rest.
the_service_takes_up_what_was_lent() {
    end_worker "$second"
    settings && start_on 7 && first=$worker && start_on 5 && second=$worker && start_service &&
        becomes is_on "$second" "$a" &&
        says 0 "" "$CPUBIND" restore --pid "$second" && becomes is_on "$second" "$before" &&
        becomes is_on "$first" "$b" || return 1
    for way in end kill restart; do
        : >"$out/service.log"
        time=20
        [ $way != end ] || time=2
        "$CPUBIND" measure --pid "$first" --root "$host" --time $time >"$out/first" 2>&1 &
        command=$!
        becomes logged "process $first was let go by process $command" && sleep 1 &&
            { [ $way = end ] || kill -0 $command; } || return 1
        case $way in
        end) wait $command ;;
        kill) end_worker $command ;;
        restart) kill_service && end_worker $command && start_service ;;
        esac
        becomes is_on "$first" "$b" && stays is_on "$second" "$before" &&
            says 0 "" "$CPUBIND" verify --pid "$first" || return 1
    done
    end_worker "$first" "$second"
}
check "the service takes up what a measurement had, however that ends" \
    the_service_takes_up_what_was_lent
finish
