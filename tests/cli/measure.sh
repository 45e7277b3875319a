#!/bin/sh
# measure.sh - test measure on live workers of two CPUs; prints TAP
# SPDX-License-Identifier: MIT
#
#   tests/cli/measure.sh         from the top folder; BUILD has the command and outputs
#   CPUBIND_KILLS=200            how often a measurement is killed (default 6)
#
# The workers compute; a hog computes on one of the CPUs. What is called better or worse is so by
# far, on a machine of any speed. It needs root: it has a /run and processes of its own, and
# touches no record and no process of this machine.
needs_own_run=yes
. tests/support/start.sh
. tests/support/device_host.sh

build measure_worker.c "$out/worker" -pthread || exit 1

hog=
start_hog() { # CPU
    "$out/worker" hog "$1" &
    hog=$!
}

end_hog() {
    [ -z "$hog" ] || end_worker "$hog"
    hog=
}

end_all() {
    end_hog
    for pid in $pids; do [ ! -e "/proc/$pid" ] || end_worker "$pid"; done
    pids=
}

measure() { # argument ...
    "$CPUBIND" measure --root "$root" "$@" >"$out/said" 2>"$out/err"
}

# Fails with what the command has said.
says() { # status, words, argument ...
    want=$1
    words=$2
    shift 2
    measure "$@"
    got=$?
    cat "$out/said" "$out/err"
    [ "$got" -eq "$want" ] || {
        echo "measure $*: exit status $got, expected $want"
        return 1
    }
    cat "$out/said" "$out/err" | grep -qF -e "$words" || {
        echo "measure $*: does not say $words"
        return 1
    }
}

masks_of() { # pid
    for task in /proc/"$1"/task/*; do
        sed -n 's/^Cpus_allowed_list:[[:blank:]]*//p' "$task/status"
    done | sort | uniq -c
}

# Nothing is on record, and the worker is where it was.
is_as_before() { # pid, masks
    [ -z "$(find /run/cpubind -name '*.record')" ] && [ "$(masks_of "$1")" = "$2" ]
}

# -- Tests --------------------------------------------------------------------

no_worker_is_refused() {
    says 1 "no process uses a device" --all --time 2 &&
        says 1 "process $$ uses no device" --pid $$ --time 2
}

# A worker of the GPU near the second CPU, on the first one.
start_worker_away() {
    start_worker 7
    becomes 20 has_threads "$worker" 2 || return 1
    for task in /proc/"$worker"/task/*; do
        taskset -pc "$a" "${task##*/}" >"$out/taskset" || return 1
    done
}

# The worker was put beside the hog.
a_binding_that_helps_is_better() {
    start_hog "$a"
    start_worker_away || return 1
    masks=$(masks_of "$worker")
    says 0 "near against now: better: run_queue_wait" --all --time 4 --seed 7 \
        --output "$out/better.json" --svg "$out/better.svg" && is_as_before "$worker" "$masks" &&
        grep -q 'in each block, from 0' "$out/said" && grep -q 'of one CPU' "$out/said"
}

# Status and doctor of this machine, which has the same devices here.
the_result_is_in_the_files() {
    end_hog
    if command -v python3 >"$out/python"; then
        sqlite3 :memory: "SELECT json(readfile('$out/better.json'))" >"$out/line" &&
            python3 tests/api/json_schema.py check measure "$out/line" || return 1
    fi
    for command in status doctor; do
        "$CPUBIND" $command >"$out/said" 2>"$out/err"
        grep -q "^measured on .*: near against now: better: run_queue_wait" "$out/said" || {
            cat "$out/said" "$out/err"
            return 1
        }
    done
    [ "$(json "$out/better.json" '$.verdict')" = better ] &&
        [ "$(json "$out/better.json" '$.order' | tr -d 'AB')" = "" ] &&
        [ "$(json "$out/better.json" '$.seed')" = 7 ] &&
        [ "$(json "$out/better.json" '$.workers[0].device')" = gpu1 ] &&
        [ "$(json "$out/better.json" '$.figures[0].blocks[23]')" != "" ] &&
        grep -q '</svg>' "$out/better.svg" && cmp "$out/better.json" /run/cpubind/measure.json
}

# The hog is on the CPU of the plan.
a_binding_that_hurts_is_worse() {
    end_all
    start_hog "$b"
    start_worker_away || return 1
    masks=$(masks_of "$worker")
    says 1 '"verdict": "worse", "main": "run_queue_wait"' --pid "$worker" --time 4 \
        --json --output "$out/worse.json" && is_as_before "$worker" "$masks"
}

# What the user names decides: here a number that is better on the CPU of the plan.
a_metric_of_the_user_decides() {
    end_hog
    cat >"$out/latency" <<END
#!/bin/sh
sed -n "s/^Cpus_allowed_list:[^0-9]*$b\$/10/p; t; s/^Cpus_allowed_list:.*/20/p" /proc/$worker/status
END
    chmod +x "$out/latency"
    says 0 '"verdict": "better"' --all --time 2 --json \
        --metric-command "lower:$out/latency" && [ "$(json "$out/said" '$.figures[0].asked')" = 1 ] &&
        [ "$(json "$out/said" '$.main')" = "$(json "$out/said" '$.figures[0].name')" ] &&
        says 1 "near against now: worse" --all --time 2 --quiet \
            --metric-command "higher:$out/latency" &&
        says 2 "--metric ftp://host" --all --metric ftp://host
}

a_report_is_a_table() {
    "$CPUBIND" measure --report "$out/better.json" "$out/worse.json" >"$out/said" &&
        [ "$(head -1 "$out/said" | tr -dc '|')" = "|||||||||" ] &&
        grep -q 'run_queue_wait.*| better |$' "$out/said" &&
        grep -q 'run_queue_wait.*| worse |$' "$out/said" &&
        echo '{"format": 1, "figures": [{"verdict": "better"}, 7], "sides": 3}' >"$out/odd" &&
        "$CPUBIND" measure --report "$out/odd" >"$out/said" &&
        echo '{"format": 2' >"$out/odd"
    says 3 "it is no result" --report "$out/odd" && says 3 "cannot be read" --report "$out/none"
}

# A worker that is bound stays bound, by its plan.
a_bound_worker_is_put_back_as_it_was() {
    end_all
    start_worker 7
    becomes 20 has_threads "$worker" 2 || return 1
    "$CPUBIND" apply --all --root "$root" --quiet --memory none || return 1
    is_on "$worker" "$b" || return 1
    masks=$(masks_of "$worker")
    measure --all --time 2 --seed 3
    cat "$out/said" "$out/err"
    grep -q "near against unbound" "$out/said" && [ "$(masks_of "$worker")" = "$masks" ] &&
        "$CPUBIND" verify --all --root "$root" --quiet --memory none &&
        "$CPUBIND" restore --all --quiet && is_on "$worker" "$before"
}

a_second_measurement_is_refused() {
    masks=$(masks_of "$worker")
    "$CPUBIND" measure --root "$root" --all --time 20 >"$out/first" 2>&1 &
    first=$!
    becomes 50 test -e "/run/cpubind/$worker.record" &&
        says 1 "another measurement is at work" --all --time 2
    refused=$?
    kill -TERM $first
    wait $first
    [ $? -eq 1 ] && [ $refused -eq 0 ] && cat "$out/first" &&
        grep -q "stopped by a signal" "$out/first" && is_as_before "$worker" "$masks"
}

workers_that_fork_start_threads_or_end_are_no_error() {
    start_worker 5
    first=$worker
    start_worker 7
    "$CPUBIND" measure --root "$root" --all --time 3 >"$out/first" 2>&1 &
    command=$!
    sleep 1
    kill -USR1 "$worker"
    end_worker "$first"
    wait $command
    status=$?
    cat "$out/first"
    [ $status -eq 0 ] || [ $status -eq 3 ] || [ $status -eq 1 ] || return 1
    grep -q "near against now" "$out/first" && becomes 50 is_on "$worker" "$before" &&
        [ -z "$(find /run/cpubind -name '*.record')" ]
}

a_measurement_that_is_killed_can_be_put_back() {
    n=0
    while [ $n -lt "${CPUBIND_KILLS:-6}" ]; do
        "$CPUBIND" measure --root "$root" --all --time 2 >"$out/first" 2>&1 &
        command=$!
        sleep "$(awk -v seed="$n$$" 'BEGIN { srand(seed); print rand() * 1.5 }')"
        kill -KILL $command
        wait $command 2>/dev/null
        "$CPUBIND" restore --all --quiet || return 1
        for pid in $pids; do
            is_on "$pid" "$before" || ! [ -e "/proc/$pid/status" ] || return 1
        done
        [ -z "$(find /run/cpubind -name '*.record')" ] || return 1
        n=$((n + 1))
    done
}

a_tree_has_its_own_workers() {
    "$CPUBIND" measure --root "$root" --pid $$ --tree --time 2 --json >"$out/said" 2>"$out/err"
    cat "$out/err"
    [ "$(json "$out/said" '$.workers[0].pid')" != "" ] || return 1
    sleep 30 &
    alone=$!
    says 1 "no process uses a device" --pid $alone --tree --time 2
    refused=$?
    kill $alone
    wait $alone 2>"$out/err"
    [ $refused -eq 0 ]
}

# Made workers on the two GPUs: whatever is better, there is a result, and no process is left.
made_workers_are_measured() {
    "$CPUBIND" measure --probe --time 1 --noise cpu,irq --json >"$out/said" \
        2>"$out/err"
    status=$?
    cat "$out/err"
    cp "$out/said" "$out/said.probe"
    [ $status -eq 0 ] || [ $status -eq 1 ] || [ $status -eq 3 ] || return 1
    [ "$(json "$out/said" '$.figures[0].name')" = step.p50 ] &&
        [ "$(json "$out/said" '$.figures[0].blocks[39]')" != "" ] &&
        [ "$(json "$out/said" '$.matrix.copy_mb_s[0][0]')" != "" ] &&
        grep -q 'is not shown' "$out/said" && says 2 "leave out --root" --probe &&
        says 2 "it knows cpu, memory, irq, none" --probe --noise drums &&
        ! "$CPUBIND" measure --probe --between now,near 2>"$out/err" &&
        grep -q "leave now out" "$out/err" || return 1
    ! command -v python3 >"$out/python" ||
        python3 tests/api/json_schema.py check measure "$out/said.probe"
}

check "without a worker there is nothing to measure" no_worker_is_refused
check "a worker that shares its CPU with a hog: near is better" a_binding_that_helps_is_better
check "the result is in files, and status and doctor know it" the_result_is_in_the_files
check "the CPU of the plan has a hog: near is worse" a_binding_that_hurts_is_worse
check "a number of the user's command decides" a_metric_of_the_user_decides
check "results of files are one table" a_report_is_a_table
check "a worker that was bound is bound again" a_bound_worker_is_put_back_as_it_was
check "a second measurement is refused, a signal ends the first" a_second_measurement_is_refused
check "workers fork, start threads and end meanwhile" \
    workers_that_fork_start_threads_or_end_are_no_error
check "the workers of a tree" a_tree_has_its_own_workers
# Of these workers nothing is judged any more.
for pid in $pids; do [ ! -e "/proc/$pid" ] || kill -STOP "$pid"; done
check "made workers are measured" made_workers_are_measured
check "after kill -9 at any moment restore puts all back" \
    a_measurement_that_is_killed_can_be_put_back
end_all
finish
