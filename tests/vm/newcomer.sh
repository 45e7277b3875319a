# shellcheck shell=sh disable=SC2154 # guest.sh sets the variables of an NPU
# newcomer.sh - the section of guest.sh on the first ten minutes with cpubind
#
# A host with eight workers that nobody has bound, and no settings. The commands are those of the
# page FIRST.md, word for word.

# Runs a command of the page.
as_told() { # exit status, command
    grep -qx -e "$2 *\(#.*\)\?" /host/FIRST.md || { echo "FIRST.md has no \"$2\""; return 1; }
    # The words are split on purpose.
    # shellcheck disable=SC2086
    exits "$1" $2
}

fits_the_screen() {
    ! awk 'length > 80' /run/said | grep .
}

starts_a_watch() {
    grep -q "^cpubind apply --all --watch 5 " /host/FIRST.md || return 1
    cpubind apply --all --watch 5 >/run/watched 2>&1 &
    watch=$!
    becomes for_all threads_are_right && becomes exits 0 cpubind status
}

# The worker of NPU 0 ends, and another one starts.
binds_a_late_one() {
    npu 0
    kill "$pid"
    wait "$pid" 2>/dev/null
    start_npu 0
    becomes worker_is_ready 0 && becomes threads_are_right 0
}

all_is_undone() {
    as_told 0 "cpubind restore --all" && becomes has_ended "$watch" && no_record_is_left &&
        irqs_are_right || return 1
    for i in $all; do npu "$i" && threads_are_all_on "$everywhere" "$pid" || return 1; done
}

newcomer() {
    echo 0 >/proc/sys/kernel/numa_balancing
    for i in $all; do start_npu "$i"; done
    npu-smi look
    check_soon "eight workers are ready" for_all worker_is_ready
    check "topo" as_told 0 "cpubind topo"
    check "doctor has nothing to mend where nobody is bound" as_told 0 "cpubind doctor"
    check "plan" as_told 0 "cpubind plan"
    check "status: nothing is bound" as_told 1 "cpubind status"
    check "it fits 80 columns" fits_the_screen
    check "apply --all --watch binds all" starts_a_watch
    check "status" as_told 0 "cpubind status"
    check "it counts eight right workers" grep "8 workers: 8 right" /run/said
    check "verify --all" as_told 0 "cpubind verify --all"
    check "a worker that starts later is right, too" binds_a_late_one
    check "restore --all ends the watch, and all is as before" all_is_undone
    end_workers
}
