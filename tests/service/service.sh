#!/bin/sh
# service.sh - test cpubind service on live processes; prints TAP
# SPDX-License-Identifier: MIT
#
#   tests/service/service.sh     from the top folder; BUILD is where the command and outputs are
#
# The plan is that of a fixture host of 48 CPUs; affinity_shim.c replaces the calls that set
# CPUs, for the service only. The script needs root: it runs with a /run of its own and does not
# touch the records or a service of this machine.
own_run=-m
needs_own_run=yes
wants_shim=yes
. tests/support/start.sh
mkdir "$out/shim" && build_shim "$out/worker" && cp "$out/worker" "$out/other" || exit 1

# The host: NPU 0 and NPU 1 on node 0.
root=$out/root
"$CPUBIND" fixture export a2-driver-host "$root" --quiet
rm -rf "$root/proc/trs_core/proc"
mkdir -p "$root/proc/trs_core/proc"
conf=$out/conf
prom=$out/cpubind.prom

# -- Workers and the service ---------------------------------------------------

pids=
start_worker() { # program, NPU
    mkfifo "$out/in" "$out/ready" || return 1
    "$out/$1" acl_thread <"$out/in" >"$out/ready" 2>/dev/null &
    worker=$!
    pids="$pids $worker"
    sleep 1000 >"$out/in" & # holds the FIFO open
    pids="$pids $!"
    read -r ready <"$out/ready" && [ "$ready" = ready ] && rm "$out/in" "$out/ready" &&
        : >"$root/proc/trs_core/proc/$worker-1-dev-$2"
}

settings() { # lines
    printf 'allowed = 0-47\nmemory = none\nwatch = 1\n' >"$conf.new"
    printf '%s\n' "$@" >>"$conf.new"
    chmod 644 "$conf.new"
    mv "$conf.new" "$conf"
}

shim() { # "exec" or nothing, command ...
    word=$1
    [ "$word" = exec ] && shift || word=
    $word env LD_PRELOAD="$out/shim.so" CPUBIND_SHIM="$out/shim" CPUBIND_SHIM_CPUS=48 \
        CPUBIND_SHIM_MACHINE=aarch64 "$@"
}

service=
start_service() {
    : >"$out/said"
    (shim exec "$CPUBIND" service --config "$conf" --root "$root" "$@" 2>>"$out/said") &
    service=$!
    becomes 100 test -S /run/cpubind/service.sock
}

end_service() { # signal
    kill "-$1" "$service" && wait "$service"
}

cpus_of() { # thread
    if [ -e "$out/shim/$1" ]; then cat "$out/shim/$1"; else echo 0-47; fi
}

# Every thread of a process has been moved from the CPUs that it had at first.
is_bound() { # pid
    for task in /proc/"$1"/task/*; do
        [ "$(cpus_of "${task##*/}")" != 0-47 ] || return 1
    done
}

is_free() { # pid
    for task in /proc/"$1"/task/*; do
        [ "$(cpus_of "${task##*/}")" = 0-47 ] || return 1
    done
}

said() { # words
    grep -qF -e "$1" "$out/said"
}

metric() { # line
    grep -qxF -e "$1" "$prom" 2>/dev/null
}

json() { # file, path
    sqlite3 :memory: "SELECT readfile('$1') ->> '$2'"
}

# -- Tests --------------------------------------------------------------------

binds_workers_that_run_and_that_come() {
    settings "textfile = $prom" && start_worker worker 0 && first=$worker && start_service &&
        becomes 50 is_bound "$first" && start_worker worker 1 && second=$worker &&
        becomes 50 is_bound "$second" && said "process $first (worker), npu0" &&
        said "process $second (worker), npu1"
}

writes_the_textfile() {
    becomes 200 metric 'cpubind_npu_workers{npu="1"} 1' && metric 'cpubind_workers 2' &&
        metric 'cpubind_threads{npu="0",place="right"} 2' &&
        metric 'cpubind_threads{npu="0",place="unbound"} 0' &&
        [ "$(stat -c %a "$prom")" = 644 ] || return 1
    ! command -v promtool >/dev/null 2>&1 || promtool check metrics <"$prom"
}

moves_back_what_was_moved() {
    echo 0-47 >"$out/shim/$first" && becomes 50 is_bound "$first"
}

# A double of npu-smi prints what a fixture host has: status plans for this host.
show_status() { # options
    mkdir -p "$out/bin" && rm -rf "$out/a2" &&
        "$CPUBIND" fixture export a2-192cpu-8npu "$out/a2" --quiet &&
        cat >"$out/bin/npu-smi" <<SCRIPT
#!/bin/sh
cat "$out/a2/cmd/npu-smi-\$(echo "\$*" | tr -d ' ' | sed 's/^info-/info-/; s/-ttopo/-t-topo/').txt"
SCRIPT
    chmod 755 "$out/bin/npu-smi" &&
        shim env PATH="$out/bin:$PATH" "$CPUBIND" status "$@" >"$out/status" 2>"$out/status.err"
    cat "$out/status" "$out/status.err"
}

# The settings of the test are not those of the host: the commands find the usual socket.
commands_ask_it() {
    shim "$CPUBIND" verify --all --json >"$out/verify" &&
        [ "$(json "$out/verify" '$.service.pid')" = "$service" ] &&
        [ "$(json "$out/verify" '$.workers[0].pid')" = "$first" ] &&
        [ "$(json "$out/verify" '$.workers[1].state')" = right ] || return 1
    shim "$CPUBIND" verify --all >"$out/verify" 2>"$out/verify.err" || return 1
    grep -q "process $first: no interrupt is bound" "$out/verify.err" || return 1
    [ "$(awk -v p="$first" '$2 == p { print $1, $3, $6, $7, $8, $9 }' "$out/verify")" = \
        "npu0 worker 2 0 0 right" ] && [ "$(wc -l <"$out/verify")" = 3 ] || {
        cat "$out/verify"
        return 1
    }
    show_status --json
    [ "$(json "$out/status" '$.service.pid')" = "$service" ] &&
        [ "$(json "$out/status" '$.service.workers')" = 2 ] || return 1
    show_status
    grep -q "^the service (process $service) looked [0-9]* s ago; [0-9]* moved, [0-9]* faults" "$out/status" || {
        cat "$out/status"
        return 1
    }
}

commands_work_without_it() {
    chmod 777 /run/cpubind && show_status --json
    chmod 755 /run/cpubind
    [ "$(json "$out/status" '$.cpubind')" ] && [ -z "$(json "$out/status" '$.service.pid')" ]
}

one_service_runs() {
    shim "$CPUBIND" service --config "$conf" --root "$root" 2>"$out/second"
    [ $? -eq 1 ] && grep -q 'another cpubind service runs on this host' "$out/second"
}

a_bad_file_keeps_the_settings() {
    settings 'rulez = near' && kill -HUP "$service" &&
        becomes 50 said "line 4, column 1: there is no key \"rulez\"; did you mean \"rules\"?" &&
        said "the settings stay as they were" && is_bound "$first" && kill -0 "$service"
}

a_good_file_is_in_force() {
    settings 'rules = near' "textfile = $prom" && kill -HUP "$service" &&
        becomes 50 said "the settings of $conf are in force" && echo 0-47 >"$out/shim/$first" &&
        echo 0-47 >"$out/shim/$second" && becomes 50 is_bound "$first" && becomes 50 is_bound "$second"
}

a_worker_that_ends_is_said() {
    # A process that lives on without its NPU is let go, and has not ended.
    kill -KILL "$second" && rm "$root/proc/trs_core/proc/$second-1-dev-1" &&
        becomes 50 said "process $second (worker), npu1: ended"
}

a_killed_service_goes_on() {
    kill -KILL "$service"
    wait "$service"
    is_bound "$first" && echo 0-47 >"$out/shim/$first" && start_service &&
        becomes 50 is_bound "$first"
}

sigterm_leaves_all_bound() {
    end_service TERM && is_bound "$first" && [ ! -e /run/cpubind/service.sock ]
}

the_end_restores_if_asked() {
    echo 0-47 >"$out/shim/$first" && settings 'restore-at-end = yes' && start_service &&
        becomes 50 is_bound "$first" && end_service TERM &&
        is_free "$first" && said "process $first (worker), npu0: put back"
}

only_and_except_choose() {
    start_worker other 1 && other=$worker && settings 'only = wor*' && start_service &&
        becomes 50 is_bound "$first" && is_free "$other" &&
        becomes 50 said "process $other (other), npu1: left" &&
        settings 'only = wor*' 'only = oth?r' && kill -HUP "$service" &&
        becomes 50 is_bound "$other" && end_service TERM
}

a_full_disk_stops_nothing() {
    mkdir "$out/small" && mount -t tmpfs -o size=4k tmpfs "$out/small" &&
        head -c 4096 /dev/zero >"$out/small/zero" &&
        settings "textfile = $out/small/a.prom" && start_service &&
        becomes 50 said "the textfile could not be written" &&
        echo 0-47 >"$out/shim/$first" && becomes 50 is_bound "$first" &&
        [ "$(grep -c 'could not be written' "$out/said")" -eq 1 ] && rm "$out/small/zero" &&
        becomes 200 test -s "$out/small/a.prom" && end_service TERM && umount "$out/small"
}

a_host_without_a_plan_is_tried_again() {
    settings 'rules = near' && mv "$root/sys" "$root/sys.away" && start_service &&
        becomes 50 grep -q . "$out/said" && kill -0 "$service" && mv "$root/sys.away" "$root/sys" &&
        echo 0-47 >"$out/shim/$first" && becomes 100 is_bound "$first" && end_service TERM
}

bad_settings_end_it_with_2() {
    settings 'memory-time = often'
    shim "$CPUBIND" service --config "$conf" --root "$root" 2>"$out/said"
    [ $? -eq 2 ] && said "line 4, column 15: "
}

lines_have_priorities_in_a_journal() {
    settings 'rules = near' && : >"$out/said" || return 1
    JOURNAL_STREAM=$(stat -c %d:%i "$out/said")
    export JOURNAL_STREAM
    echo 'restore-at-end = yes' >>"$conf" && start_service
    unset JOURNAL_STREAM
    becomes 50 grep -q "^<4>process $first (worker), npu0: " "$out/said" && end_service TERM &&
        said "<6>process $first (worker), npu0: put back" &&
        ! grep -qv '^<[3-6]>' "$out/said"
}

check "workers that run and workers that come are bound" binds_workers_that_run_and_that_come
check "the textfile has the figures of each NPU" writes_the_textfile
check "a thread that somebody has moved is moved back" moves_back_what_was_moved
check "verify --all and status ask the service" commands_ask_it
check "a socket that others could have made is not asked" commands_work_without_it
check "a second service is refused" one_service_runs
check "a bad file of settings is said, and the old settings stay" a_bad_file_keeps_the_settings
check "a good file of settings is in force after SIGHUP" a_good_file_is_in_force
check "a worker that ends is said" a_worker_that_ends_is_said
check "a service that was killed goes on where it was" a_killed_service_goes_on
check "SIGTERM ends the service and leaves all bound" sigterm_leaves_all_bound
check "restore-at-end puts all back" the_end_restores_if_asked
check "only and except choose the processes" only_and_except_choose
check "a full disk is said once and stops nothing" a_full_disk_stops_nothing
check "a host without a plan is tried again" a_host_without_a_plan_is_tried_again
check "bad settings end the service with 2" bad_settings_end_it_with_2
check "lines have priorities in the journal" lines_have_priorities_in_a_journal
# shellcheck disable=SC2086
kill -KILL $pids "$service" 2>/dev/null
finish
