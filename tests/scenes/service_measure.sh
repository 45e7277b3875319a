#!/bin/sh
# service_measure.sh - the service measures its new settings against those before
# SPDX-License-Identifier: MIT
# runs: check-all
#
#   CPUBIND_KILLS=20      how often a measurement is killed (default 3)
#
# The worker of a GPU computes; where settings are judged, a hog computes on one of the two
# CPUs, so that settings which put the worker beside it are worse by far, on a machine of any
# speed.
. tests/scenes/lib.sh
use_gpus
program=$programs/load

# All threads beside the hog, or where the plan of the GPU has them.
on_a="thread = *=$a"
on_b="thread = *=$b"

# The process number of the measurement of the service.
child() {
    for task in /proc/[0-9]*; do
        if grep -qs "^PPid:	$service\$" "$task/status" &&
            tr '\0' ' ' <"$task/cmdline" | grep -q -e --under-service; then
            echo "${task#/proc/}"
        fi
    done
}

is_measuring() {
    [ -n "$(child)" ]
}

is_at_rest() {
    [ -z "$(child)" ]
}

last() { # key
    json "$1" /run/cpubind/measure.json
}

# -- Verdicts --------------------------------------------------------------------

starts_without_measuring() {
    "$programs/load" hog "$a" &
    hog=$!
    settings "$on_a" 'measure = 4' "textfile = $prom" && start_on 7 && first=$worker &&
        start_service && becomes is_on "$first" "$a" && is_at_rest &&
        [ ! -e /run/cpubind/measure.json ]
}
check "settings at the start are not measured" starts_without_measuring

# While it measures, it answers, and binds the workers that start.
better_settings_are_called_better() {
    reload "$on_b" 'measure = 4' "textfile = $prom" && becomes is_measuring &&
        logged "measuring these settings against those before, for 4 s" &&
        says 0 "" "$CPUBIND" status --memory none --json && has .service.measuring 1 &&
        is_measuring && start_on 5 && second=$worker && becomes is_on "$second" "$b" &&
        is_measuring && becomes logged \
            "measured: after against before: better: run_queue_wait" &&
        is_on "$first" "$b" && [ "$(last .verdict)" = better ] &&
        [ "$(last '.workers[0].pid')" = "$first" ] && [ -z "$(last '.workers[1].pid')" ] &&
        end_worker "$second" && "$CPUBIND" status --json >"$out/said" &&
        has .service.measuring 0
}
check "new settings that are better are called so; the service goes on meanwhile" \
    better_settings_are_called_better

# It is taken up again, as before.
all_is_as_without() {
    becomes is_at_rest && move_to "$a" "$first" && becomes is_on "$first" "$b" &&
        for command in status doctor; do
            "$CPUBIND" $command >"$out/said"
            grep -q "^measured on .*: after against before: better" "$out/said" || return 1
        done && becomes metric 'cpubind_measured{verdict="better"} 1' &&
        metric "cpubind_measured_timestamp_seconds $(last .at)"
}
check "then the worker is watched again; status, doctor and the textfile know the result" \
    all_is_as_without

worse_settings_are_a_warning_and_stay() {
    JOURNAL_STREAM=$(stat -c %d:%i "$out/service.log")
    export JOURNAL_STREAM
    start_service
    unset JOURNAL_STREAM
    reload "$on_a" 'measure = 4' &&
        becomes logged "<4>the new settings are worse than those" &&
        logged "stay in force: after against before: worse: run_queue_wait" &&
        logged "/run/cpubind/measure.before" && is_on "$first" "$a" &&
        grep -qxF "$on_b" /run/cpubind/measure.before &&
        [ "$(stat -c %a /run/cpubind/measure.before)" = 600 ]
}
check "new settings that are worse are a warning, and stay" \
    worse_settings_are_a_warning_and_stay

# -- What else becomes of a measurement ------------------------------------------

# Nothing is judged by times until the end.
kill -STOP "$hog" "$first"

settings_that_move_nothing_are_not_measured() {
    start_service
    reload "$on_a" 'measure = yes' &&
        becomes logged "not measured: not judged: both files place every worker alike" &&
        is_on "$first" "$a" && : >"$out/service.log" && kill -HUP "$service" &&
        becomes logged "are in force" && becomes is_on "$first" "$a" && is_at_rest &&
        ! grep "measuring these\|not measured" "$out/service.log"
}
check "settings that move nothing are not measured" settings_that_move_nothing_are_not_measured

# A folder is in the way of the file with the settings before.
a_failure_is_said() {
    rm /run/cpubind/measure.before && mkdir /run/cpubind/measure.before &&
        reload "$on_b" 'measure = yes' &&
        becomes logged "warning: the new settings are not measured: " && is_at_rest &&
        move_to "$a" "$first" && becomes is_on "$first" "$b" &&
        rmdir /run/cpubind/measure.before && reload "$on_a" && becomes is_on "$first" "$a"
}
check "settings that cannot be measured are said, and the worker is watched" a_failure_is_said

# The number that it prints is better on the CPU of the new settings.
a_metric_of_the_settings_decides() {
    cat >"$out/latency" <<EOF
#!/bin/sh
sed -n "s/^Cpus_allowed_list:[^0-9]*$b\$/10/p; t; s/^Cpus_allowed_list:.*/20/p" /proc/$first/status
EOF
    chmod +x "$out/latency"
    reload "$on_b" 'measure = 4s' "metric-command = lower:$out/latency" &&
        becomes logged "measured: after against before: better: command"
}
check "a number of the command in the settings decides" a_metric_of_the_settings_decides

# SIGTERM ends both, and a new file of settings begins anew; all stays bound by the plan.
a_signal_ends_it() {
    reload "$on_a" 'measure = 60' && becomes is_measuring && was=$(child) &&
        reload "$on_b" 'measure = 60' && logged "the measurement of the settings was ended" &&
        becomes is_measuring && [ "$(child)" != "$was" ] && [ ! -e "/proc/$was" ] &&
        was=$(child) && end_service TERM && [ ! -e "/proc/$was" ] && is_on "$first" "$b"
}
check "another reload and SIGTERM end it, and all stays bound" a_signal_ends_it

the_end_restores_what_is_measured() {
    start_service
    reload "$on_a" 'measure = 60' 'restore-at-end = yes' && becomes is_measuring &&
        becomes test -e "/run/cpubind/$first.record" && sleep 1 && end_service TERM &&
        is_on "$first" "$before"
}
check "restore-at-end puts back what is being measured" the_end_restores_what_is_measured

a_command_about_a_process_ends_it() {
    settings "$on_b" && start_service && becomes is_on "$first" "$b" &&
        reload "$on_a" 'measure = 60' && becomes is_measuring &&
        "$CPUBIND" restore --pid "$first" --quiet && is_at_rest &&
        stays is_on "$first" "$before" &&
        "$CPUBIND" apply --all --quiet && is_on "$first" "$a"
}
check "a command about a process ends it" a_command_about_a_process_ends_it

no_second_one() {
    reload "$on_b" 'measure = 60' && becomes is_measuring && sleep 1 &&
        says 1 "another measurement is at work" "$CPUBIND" measure --root "$host" --all --time \
            2 &&
        is_measuring && end_service TERM
}
check "a second measurement is refused" no_second_one

# Of the first two blocks of a measurement.
a_moment() {
    sleep "$(awk -v seed="$n$$" 'BEGIN { srand(seed); print rand() * 1.6 }')"
}

# The service takes the worker up again when the child is killed, a measurement puts it back
# when the service is, and after both restore does.
a_kill_leaves_nothing() {
    for n in $(seq "${CPUBIND_KILLS:-3}"); do
        settings "$on_a" && start_service && becomes is_on "$first" "$a" &&
            reload "$on_b" 'measure = 30' && becomes is_measuring && a_moment &&
            kill -KILL "$(child)" &&
            becomes logged "the measurement was ended before it had a result" &&
            becomes is_on "$first" "$b" && reload "$on_a" 'measure = 30' &&
            becomes is_measuring && a_moment && was=$(child) && kill_service &&
            becomes test ! -e "/proc/$was" && is_on "$first" "$a" && start_service &&
            reload "$on_b" 'measure = 30' && becomes is_measuring && a_moment &&
            kill -STOP "$service" && kill -KILL "$(child)" && kill_service &&
            "$CPUBIND" restore --all --quiet && is_on "$first" "$before" &&
            no_records_are_left ||
            return 1
    done
}

no_records_are_left() {
    [ -z "$(find /run/cpubind -name '*.record')" ]
}
check "kill -9 of the measurement, the service and both" a_kill_leaves_nothing
kill_service
kill -CONT "$hog" "$first"

# For people: what a file would do, before it is in force.
a_file_can_be_tried() {
    for task in /proc/"$first"/task/*; do
        move_to "$a" "${task##*/}" || return 1
    done
    set -- "$CPUBIND" measure --root "$host" --all
    settings "$on_a" && mv "$conf" "$out/old.conf" && settings "$on_b" &&
        echo 'rulez = near' >"$out/bad.conf" &&
        says 0 "after against now: better" "$@" --after "$conf" --time 4 --quiet &&
        says 1 "no worker is bound by the settings of one of the two" "$@" \
            --before "$out/old.conf" --after "$conf" &&
        says 2 'bad.conf, line 1, column 1: there is no key "rulez"' "$@" --after \
            "$out/bad.conf" &&
        says 2 "--before FILE --after FILE" "$CPUBIND" measure --all --between now,before
}
check "a file of settings is tried before it is in force" a_file_can_be_tried
finish
