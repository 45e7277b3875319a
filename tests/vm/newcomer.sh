# shellcheck shell=sh disable=SC2154 # guest.sh sets the variables of an NPU
# newcomer.sh - the section of guest.sh on the first ten minutes with cpubind
#
# From nothing: a host with eight workers that nobody has bound, the static command, no settings.
# The commands are those of README, word for word; each is checked to be there. The times are
# those of an emulated machine.

log=/run/newcomer.log
started=$(cut -d . -f 1 /proc/uptime)

# Runs a command of README, and logs when it was run and the first lines that it printed.
as_told() { # exit status, command of README
    code=$1
    if ! grep -qF -- "$2" /host/README.md; then
        echo "README has no \"$2\""
        return 1
    fi
    since=$(seconds)
    sh -c "$2" >/run/said 2>&1
    got=$?
    {
        echo "+$((since - started)) s \$ $2 (exit $got, $(($(seconds) - since)) s)"
        head -n "${log_lines:-14}" /run/said
    } >>$log
    [ $got -eq "$code" ] && return 0
    echo "exit $got, should be $code"
    cat /run/said
    return 1
}

watch_is_told() {
    grep -qF "cpubind apply --all --watch 5" /host/README.md || return 1
    echo "+$(($(seconds) - started)) s \$ cpubind apply --all --watch 5 &" >>$log
    cpubind apply --all --watch 5 >/run/watched 2>&1 &
    watch=$!
}

all_workers_are_right() {
    for_all threads_are_right
}

counts_eight_right() {
    grep -q "8 workers: 8 right" /run/said && return 0
    cat /run/said
    return 1
}

fits_the_screen() {
    awk 'length > 80 { print; bad = 1 } END { exit bad || NR > 24 + 24 }' /run/said
}

newcomer() {
    for i in $all; do start_worker "$i"; done
    npu-smi look
    check_soon "eight workers are ready" for_all worker_is_ready
    everything /run/before
    started=$(seconds)
    check "doctor examines a host that nobody has bound" as_told 1 "cpubind doctor"
    check "plan" as_told 0 "cpubind plan"
    check "status: nothing is bound" as_told 1 "cpubind status"
    check "status fits 80 columns" fits_the_screen
    check "apply --all --watch starts" watch_is_told
    check_soon "all workers are right" all_workers_are_right
    check_soon "and so are their memory and interrupts" exits 0 cpubind status
    log_lines=30
    check "status" as_told 0 "cpubind status"
    log_lines=
    check "it counts eight right workers" counts_eight_right
    check "verify --all" as_told 0 "cpubind verify --all"
    start_late
    check_soon "a worker that starts later is right, too" threads_are_right 0
    check "restore --all" as_told 0 "cpubind restore --all"
    check_soon "restore --all ends the watch" has_ended "$watch"
    check "all is as before" late_nothing_differs
    check "no record is left" no_record_is_left
    echo "+$(($(seconds) - started)) s the end" >>$log
    sed 's/^/# /' $log
    echo "# the watch:"
    head -n 40 /run/watched | sed 's/^/# /'
    end_workers
}

# The worker of NPU 0 ends, and another one starts.
start_late() {
    npu 0
    kill "$pid"
    wait "$pid" 2>/dev/null
    grep -v "^$pid " /run/before >/run/before.living
    start_worker 0
    check_soon "a new worker of NPU 0 is ready" worker_is_ready 0
}

late_nothing_differs() {
    npu 0
    everything /run/now
    grep -v "^$pid " /run/now | diff /run/before.living - && threads_are_all_on "$everywhere" "$pid"
}
