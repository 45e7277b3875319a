#!/bin/sh
# measure.sh - test the service that measures its new settings; prints TAP
# SPDX-License-Identifier: MIT
#
#   tests/service/measure.sh     from the top folder; BUILD has the command and outputs
#   CPUBIND_KILLS=20             how often a measurement is killed (default 3)
#
# The worker of a GPU computes; where settings are judged, a hog computes on one of the two CPUs,
# so that settings which put the worker beside it are worse by far, on a machine of any speed. It
# needs root: it has a /run and processes of its own, and touches no record and no process of
# this machine.
needs_own_run=yes
. tests/support/start.sh
. tests/support/device_host.sh

build measure_worker.c "$out/worker" -pthread || exit 1

# All threads beside the hog, or where the plan of the GPU has them.
on_a="thread = *=$a"
on_b="thread = *=$b"

reload() { # lines
    : >"$out/said"
    settings "$@" && kill -HUP "$service" && becomes 50 said "are in force"
}

# The process number of the measurement of the service.
child() {
    for task in /proc/[0-9]*; do
        if grep -q "^PPid:	$service\$" "$task/status" 2>"$out/grep" &&
            tr '\0' ' ' <"$task/cmdline" | grep -q -e --under-service; then
            echo "${task#/proc/}"
        fi
    done
}

is_measuring() { [ -n "$(child)" ]; }

is_at_rest() { [ -z "$(child)" ]; }

last() { # key
    json /run/cpubind/measure.json "\$.$1"
}

# -- Tests --------------------------------------------------------------------

starts_without_measuring() {
    "$out/worker" hog "$a" &
    hog=$!
    pids="$pids $hog"
    settings "$on_a" 'measure = 4' "textfile = $prom" && start_worker 7 && start_service &&
        becomes 50 is_on "$worker" "$a" && is_at_rest && [ ! -e /run/cpubind/measure.json ]
}

# While it measures, it answers, and binds the workers that start.
better_settings_are_called_better() {
    first=$worker
    reload "$on_b" 'measure = 4' "textfile = $prom" && becomes 50 is_measuring &&
        said "measuring these settings against those before, for 4 s" || return 1
    "$CPUBIND" status --json >"$out/status"
    [ "$(json "$out/status" '$.service.measuring')" = 1 ] && is_measuring &&
        start_worker 5 && second=$worker && becomes 20 is_on "$second" "$b" && is_measuring &&
        becomes 150 said "measured: after against before: better: run_queue_wait" &&
        is_on "$first" "$b" && [ "$(last verdict)" = better ] &&
        [ "$(last 'workers[0].pid')" = "$first" ] && [ -z "$(last 'workers[1].pid')" ] &&
        end_worker "$second" || {
        cat "$out/said" "$out/status"
        return 1
    }
    "$CPUBIND" status --json >"$out/status"
    [ "$(json "$out/status" '$.service.measuring')" = 0 ]
}

# It is taken up again, as before.
the_worker_is_watched_again() {
    becomes 50 is_at_rest && taskset -pc "$a" "$first" >"$out/taskset" &&
        becomes 50 is_on "$first" "$b"
}

all_know_the_result() {
    "$CPUBIND" status >"$out/status"
    "$CPUBIND" doctor >"$out/doctor"
    grep -q "^measured on .*: after against before: better" "$out/status" &&
        grep -q "^measured on .*: after against before: better" "$out/doctor" &&
        becomes 200 metric 'cpubind_measured{verdict="better"} 1' &&
        metric "cpubind_measured_timestamp_seconds $(last at)"
}

worse_settings_are_a_warning_and_stay() {
    JOURNAL_STREAM=$(stat -c %d:%i "$out/said")
    export JOURNAL_STREAM
    start_service
    unset JOURNAL_STREAM
    reload "$on_a" 'measure = 4' && becomes 150 said "<4>the new settings are worse than those" &&
        said "stay in force: after against before: worse: run_queue_wait" &&
        said "/run/cpubind/measure.before" && is_on "$first" "$a" || {
        cat "$out/said"
        return 1
    }
    grep -qxF "$on_b" /run/cpubind/measure.before &&
        [ "$(stat -c %a /run/cpubind/measure.before)" = 600 ]
}

settings_that_move_nothing_are_not_measured() {
    start_service
    reload "$on_a" 'measure = yes' &&
        becomes 100 said "not measured: not judged: both files place every worker alike" &&
        is_on "$first" "$a" && : >"$out/said" && kill -HUP "$service" &&
        becomes 50 said "are in force" && becomes 50 is_on "$first" "$a" && is_at_rest &&
        ! said "measuring these" && ! said "not measured"
}

# A folder is in the way of the file with the settings before.
a_failure_is_said_and_nobody_is_let_go() {
    rm /run/cpubind/measure.before && mkdir /run/cpubind/measure.before &&
        reload "$on_b" 'measure = yes' &&
        becomes 50 said "warning: the new settings are not measured: " && cat "$out/said" &&
        is_at_rest && taskset -pc "$a" "$first" >"$out/taskset" && becomes 50 is_on "$first" "$b"
    is_kept=$?
    rmdir /run/cpubind/measure.before
    [ $is_kept -eq 0 ] && reload "$on_a" && becomes 50 is_on "$first" "$a"
}

# The number that it prints is better on the CPU of the new settings.
a_metric_of_the_settings_decides() {
    cat >"$out/latency" <<EOF
#!/bin/sh
sed -n "s/^Cpus_allowed_list:[^0-9]*$b\$/10/p; t; s/^Cpus_allowed_list:.*/20/p" /proc/$first/status
EOF
    chmod +x "$out/latency"
    reload "$on_b" 'measure = 4s' "metric-command = lower:$out/latency" &&
        becomes 150 said "measured: after against before: better: command" || {
        cat "$out/said"
        return 1
    }
}

# SIGTERM ends both, and a new file of settings begins anew; all stays bound by the plan.
a_signal_ends_it() {
    reload "$on_a" 'measure = 60' && becomes 50 is_measuring && was=$(child) &&
        reload "$on_b" 'measure = 60' && said "the measurement of the settings was ended" &&
        becomes 50 is_measuring && [ "$(child)" != "$was" ] && [ ! -e "/proc/$was" ] &&
        was=$(child) && end_service TERM && [ ! -e "/proc/$was" ] && is_on "$first" "$b"
}

the_end_restores_what_is_measured() {
    start_service
    reload "$on_a" 'measure = 60' 'restore-at-end = yes' && becomes 50 is_measuring &&
        becomes 50 test -e "/run/cpubind/$first.record" && sleep 1 && end_service TERM &&
        is_on "$first" "$before"
}

a_command_about_a_process_ends_it() {
    settings "$on_b" && start_service && becomes 50 is_on "$first" "$b" &&
        reload "$on_a" 'measure = 60' && becomes 50 is_measuring &&
        "$CPUBIND" restore --pid "$first" --quiet && is_at_rest && is_on "$first" "$before" &&
        sleep 2 && is_on "$first" "$before" && "$CPUBIND" apply --all --quiet &&
        is_on "$first" "$a"
}

a_second_measurement_is_refused() {
    reload "$on_b" 'measure = 60' && becomes 50 is_measuring && sleep 1 || return 1
    "$CPUBIND" measure --root "$root" --all --time 2 >"$out/second" 2>&1
    [ $? -eq 1 ] && grep -q "another measurement is at work" "$out/second" && is_measuring || {
        cat "$out/second" "$out/said"
        return 1
    }
    end_service TERM
}

# Of the first two blocks of a measurement.
a_moment() {
    sleep "$(awk -v seed="$n$$" 'BEGIN { srand(seed); print rand() * 1.6 }')"
}

# The service takes the worker up again when the child is killed, a measurement puts it back when
# the service is, and after both restore does.
a_kill_leaves_nothing() {
    n=0
    while [ $n -lt "${CPUBIND_KILLS:-3}" ]; do
        settings "$on_a" && start_service && becomes 50 is_on "$first" "$a" &&
            reload "$on_b" 'measure = 30' && becomes 50 is_measuring || return 1
        a_moment
        kill -KILL "$(child)"
        becomes 50 said "the measurement was ended before it had a result" &&
            becomes 50 is_on "$first" "$b" || return 1
        reload "$on_a" 'measure = 30' && becomes 50 is_measuring || return 1
        a_moment
        was=$(child)
        kill_service
        becomes 100 test ! -e "/proc/$was" && is_on "$first" "$a" || return 1
        start_service && reload "$on_b" 'measure = 30' && becomes 50 is_measuring || return 1
        a_moment
        kill -STOP "$service" && kill -KILL "$(child)" && kill_service &&
            "$CPUBIND" restore --all --quiet && is_on "$first" "$before" &&
            [ -z "$(find /run/cpubind -name '*.record')" ] || return 1
        n=$((n + 1))
    done
}

# For people: what a file would do, before it is in force.
a_file_can_be_tried() {
    for task in /proc/"$first"/task/*; do
        taskset -pc "$a" "${task##*/}" >"$out/taskset" || return 1
    done
    settings "$on_a" && mv "$conf" "$out/old.conf" && settings "$on_b" &&
        "$CPUBIND" measure --root "$root" --all --after "$conf" --time 4 --quiet >"$out/tried" \
            2>&1 || return 1
    grep -q "^after against now: better" "$out/tried" || return 1
    "$CPUBIND" measure --root "$root" --all --before "$out/old.conf" --after "$conf" \
        >"$out/tried" 2>&1
    [ $? -eq 1 ] && grep -q "no worker is bound by the settings of one of the two" "$out/tried" &&
        echo 'rulez = near' >"$out/bad.conf" || return 1
    "$CPUBIND" measure --root "$root" --all --after "$out/bad.conf" >"$out/tried" 2>&1
    [ $? -eq 2 ] && grep -q 'bad.conf, line 1, column 1: there is no key "rulez"' "$out/tried" ||
        return 1
    "$CPUBIND" measure --all --between now,before >"$out/tried" 2>&1
    [ $? -eq 2 ] && grep -q -e "--before FILE --after FILE" "$out/tried"
}

check "settings at the start are not measured" starts_without_measuring
check "new settings that are better are called so; the service goes on meanwhile" \
    better_settings_are_called_better
check "the worker is watched again" the_worker_is_watched_again
check "status, doctor and the textfile know the result" all_know_the_result
check "new settings that are worse are a warning, and stay" worse_settings_are_a_warning_and_stay
# Nothing is judged by times until the end.
kill -STOP "$hog" "$first"
check "settings that move nothing are not measured" settings_that_move_nothing_are_not_measured
check "settings that cannot be measured are said, and the worker is watched" \
    a_failure_is_said_and_nobody_is_let_go
check "a number of the command in the settings decides" a_metric_of_the_settings_decides
check "another reload and SIGTERM end it, and all stays bound" a_signal_ends_it
check "restore-at-end puts back what is being measured" the_end_restores_what_is_measured
check "a command about a process ends it" a_command_about_a_process_ends_it
check "a second measurement is refused" a_second_measurement_is_refused
check "kill -9 of the measurement, the service and both" a_kill_leaves_nothing
kill_service
kill -CONT "$hog" "$first"
check "a file of settings is tried before it is in force" a_file_can_be_tried
# shellcheck disable=SC2086
kill -KILL $pids 2>"$out/grep"
finish
