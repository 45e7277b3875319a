#!/bin/sh
# bind.sh - test apply, verify, restore and run on live processes; prints TAP
#
#   tests/cli/bind.sh            from the top folder; BUILD is where the command and outputs are
#
# A plan needs more CPUs than the machine of the test may have: affinity_shim.c replaces the
# calls that set CPUs, for the command only, and records their arguments; everything else is
# real. As root the script runs with mounts of its own and does not touch the records of this
# machine.
CPUBIND_RULES=reference # of processes on this machine
export CPUBIND_RULES
own_run=-m
wants_shim=yes
. tests/support/start.sh
build_shim "$out/worker" &&
    build deny.c "$out/deny" || exit 1

# The plan of NPU 0 there by the reference: irq 144-145, main 146-165, acl 166, release 167; of NPU 5: irq 0-1,
# main 2-21, acl 22, release 23. Node 6, node 0.
host='--fixture a2-192cpu-8npu --allowed 0-191 --rules reference'

# -- A process, the command, its output --------------------------------------

n_worker=0
worker=

start_worker() { # names of threads
    n_worker=$((n_worker + 1))
    CPUBIND_SHIM=$out/shim.$n_worker
    state=$out/state.$n_worker
    export CPUBIND_SHIM
    mkdir "$CPUBIND_SHIM" && chmod 777 "$CPUBIND_SHIM" && mkfifo "$CPUBIND_SHIM/in" \
        "$CPUBIND_SHIM/ready" || return 1
    "$out/worker" "$@" <"$CPUBIND_SHIM/in" >"$CPUBIND_SHIM/ready" &
    worker=$!
    exec 9>"$CPUBIND_SHIM/in"
    read -r ready <"$CPUBIND_SHIM/ready" && [ "$ready" = ready ]
}

end_worker() {
    exec 9>&-
    wait "$worker"
}

shim() { # command ...
    env LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 "$@"
}

cpubind() { # arguments
    shim "$CPUBIND" "$@"
}

# The command prints nothing on stdout and one line on stderr.
refuses() { # status, words, command ...
    says "$@" && [ ! -s "$out/said" ] && [ "$(wc -l <"$out/err")" -eq 1 ]
}

is_json() { # file
    [ "$(sqlite3 :memory: "SELECT json_valid(readfile('$1'))")" = 1 ]
}

json() { # file, path
    sqlite3 :memory: "SELECT readfile('$1') ->> '$2'"
}

# The number of items of a report that meet a condition.
count_items() { # file, condition
    sqlite3 :memory: "WITH item AS (SELECT value ->> 'kind' AS kind, value ->> 'name' AS name,
            value ->> 'id' AS id, value ->> 'was' AS was, value ->> 'should' AS should,
            value ->> 'actual' AS actual, value ->> 'result' AS result
            FROM json_each(readfile('$1'), '\$.items'))
        SELECT count(*) FROM item WHERE $2"
}

cpus_of() { # thread
    if [ -e "$CPUBIND_SHIM/$1" ]; then cat "$CPUBIND_SHIM/$1"; else echo 0-$((${CPUBIND_SHIM_CPUS:-192} - 1)); fi
}

threads_named() { # name
    for task in /proc/"$worker"/task/*; do
        [ "$(cat "$task/comm")" != "$1" ] || echo "${task##*/}"
    done
}

# Every thread of the worker with this name, at least one, has these CPUs.
is_on() { # name, CPUs
    found=$(threads_named "$1")
    for tid in $found; do
        [ "$(cpus_of "$tid")" = "$2" ] || {
            echo "thread $tid ($1) is on $(cpus_of "$tid"), not on $2"
            return 1
        }
    done
    [ -n "$found" ] || {
        echo "no thread is named $1"
        return 1
    }
}

all_are_on() { # CPUs
    for task in /proc/"$worker"/task/*; do
        [ "$(cpus_of "${task##*/}")" = "$1" ] || {
            echo "thread ${task##*/} is on $(cpus_of "${task##*/}"), not on $1"
            return 1
        }
    done
}

# Repeats a command until it succeeds, for ten seconds at most.
soon() { # command ...
    for _ in $(seq 100); do
        "$@" >"$out/soon" 2>&1 && return 0
        sleep 0.1
    done
    cat "$out/soon"
    echo "not within ten seconds: $*"
    return 1
}

# With a record of this test alone. Words are split on purpose.
# shellcheck disable=SC2086
apply() { # arguments
    cpubind apply --pid "$worker" $host --memory none --state "$state" "$@"
}

verify() { # arguments
    cpubind verify --pid "$worker" --state "$state" "$@"
}

restore() { # arguments
    cpubind restore --pid "$worker" --state "$state" "$@"
}

# With a record in the usual place.
# shellcheck disable=SC2086
apply_usual() { # arguments
    cpubind apply --pid "$worker" $host --memory none "$@"
}

# shellcheck disable=SC2086
run() { # arguments
    cpubind run $host --memory none --state "$state" --quiet "$@"
}

# A test with a worker of its own.
check_worker() { # text, function, names of threads
    worker_text=$1
    worker_test=$2
    shift 2
    start_worker "$@" || exit 1
    check "$worker_text" "$worker_test"
    end_worker
}

nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'

# A test that needs root and mounts of its own.
check_root() { # text, function, names of threads
    if [ "$BIND_MOUNTS" = own ]; then
        check_worker "$@"
    else
        skip "$1" "needs root that may mount"
    fi
}

# A test in which an ordinary user runs the command, and so must be able to read it.
check_nobody() { # text, function, names of threads
    if [ "$BIND_MOUNTS" != own ] || $nobody test -x "$CPUBIND" -a -r "$out/shim.so"; then
        check_root "$@"
    else
        skip "$1" "an ordinary user cannot get at this folder"
    fi
}

is_refused_arch() { # status, arguments
    is_refused_status=$1
    shift
    refuses "$is_refused_status" "ARM" env LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=x86_64 "$CPUBIND" "$@"
}

# -- apply -------------------------------------------------------------------

applies() {
    says 0 "process $worker, npu0" apply --device npu0 &&
        grep -qx 'NPU0: main=\[146 147 .* 165\]  acl=\[166\]  release=\[\[167\]\]' "$out/said" &&
        ! grep -n ' $' "$out/said" &&
        is_on worker 146-165 && is_on other 146-165 && is_on acl_thread 166 &&
        is_on release_thread 167 && [ "$(stat -c %a "$state")" = 600 ] &&
        grep -qx "process $worker [0-9]*" "$state"
}

applies_json() {
    says 0 "" apply --npu 0 --json && [ ! -s "$out/err" ] && is_json "$out/said" &&
        [ "$(json "$out/said" '$.pid')" = "$worker" ] &&
        [ "$(json "$out/said" '$.npu')" = 0 ] &&
        [ "$(json "$out/said" '$.state')" = "$state" ] &&
        [ "$(count_items "$out/said" 1)" = 4 ] &&
        [ "$(count_items "$out/said" "kind = 'thread' AND result = 'moved' AND was = '0-191'")" = 4 ] &&
        [ "$(count_items "$out/said" "name = 'other' AND should = '146-165'")" = 1 ] &&
        [ "$(count_items "$out/said" "id = $worker AND name = 'worker'")" = 1 ]
}

applies_quietly() {
    says 0 "NPU0: main=[146 " apply --npu 0 --quiet && [ ! -s "$out/err" ] &&
        [ "$(wc -l <"$out/said")" -eq 3 ] && is_on worker 146-165
}

threads_go_where_asked() {
    says 0 'has the name "nobody" of --thread now: ps -L -o comm= -p ' \
        apply --npu 0 --thread hccl_watchdog_thread=release --thread other=150-151,160 \
        --thread acl_thread=pool --thread a=b=irq --thread nobody=acl &&
        [ "$(grep -c 'of --thread now' "$out/err")" = 1 ] &&
        is_on hccl_watchdog_t 167 && is_on other 150-151,160 && is_on acl_thread 144-167 &&
        is_on a=b 144-145 && is_on worker 146-165 &&
        says 0 "as it should be" verify && restore
}

# NPU 0 and NPU 2 each get half of the 44 CPUs that are left on the nodes 6 and 7.
excluded_are_left_out() {
    says 0 "" apply --npu 0 --exclude 146-149 && is_on worker 150-167 && is_on acl_thread 168 &&
        says 0 "as it should be" verify
}

# The second plan uses the CPUs that the process had before the first.
# shellcheck disable=SC2086
applies_twice() {
    apply --npu 0 && says 0 "npu5" cpubind apply --pid "$worker" --fixture a2-192cpu-8npu \
        --rules reference \
        --memory none --state "$state" --npu 5 && is_on worker 2-21 && is_on acl_thread 22 &&
        says 0 "as it should be" verify && says 0 "right" apply --npu 5 &&
        says 0 "put back" restore && all_are_on 0-191 && [ ! -e "$state" ]
}

finds_its_npu() {
    says 0 "npu5" apply --rank 1 --visible 3,5 && is_on worker 2-21 && restore &&
        says 1 "NPU" apply --rank 2 --visible 3,5 && all_are_on 0-191 && [ ! -e "$state" ] &&
        refuses 1 "" apply --npu 8 && all_are_on 0-191 && [ ! -e "$state" ]
}

# The message names only options that the command has.
names_ways_out() {
    refuses 3 "npu-smi is not on this machine" shim env PATH=/nowhere "$CPUBIND" apply \
        --pid "$worker" --rank 0 --state "$state" &&
        grep -qF -e "or name the NPU with --npu N" "$out/err" && ! grep -qF -e --npus "$out/err"
}

# shellcheck disable=SC2086
binds_who_calls() {
    # The shell is the process; ":" keeps it from becoming the command.
    says 0 "as it should be" shim sh -c 'command=$1 && state=$2 && shift 2 || exit
        "$command" apply "$@" --memory none --state "$state" --npu 0 --quiet >/dev/null &&
        "$command" verify --state "$state" && "$command" restore --state "$state"; exit $?' \
        sh "$CPUBIND" "$state" $host
}

# Review of live hosts, P2 12: a parent is bound if it is a shell or a runtime, and named. A copy
# of the shell under another name is a launcher.
# shellcheck disable=SC2086,SC2016
parents_are_shells_or_runtimes() {
    shell=$(basename "$(readlink -f /bin/sh)") && cp "$(readlink -f /bin/sh)" "$out/mpirun" &&
        cp "$(readlink -f /bin/sh)" "$out/python3.11" || return 1
    says 0 "($shell, the parent of this command), npu0" shim sh -c '"$@"; exit $?' sh \
        "$CPUBIND" apply $host --memory none --state "$state" --npu 0 && rm "$state" &&
        says 0 "" shim "$out/python3.11" -c '"$@"; exit $?' sh "$CPUBIND" apply $host \
            --memory none --state "$state" --npu 0 --json && rm "$state" &&
        [ "$(json "$out/said" '$.parent')" = python3.11 ] &&
        refuses 1 "(mpirun), which is no shell and no runtime of programs: name the process" \
            shim "$out/mpirun" -c '"$@"; exit $?' sh "$CPUBIND" apply $host --memory none \
            --state "$state" --npu 0 && [ ! -e "$state" ] &&
        says 0 "(mpirun, the parent of this command), npu0" shim "$out/mpirun" -c '"$@"; exit $?' \
            sh "$CPUBIND" apply $host --memory none --state "$state" --npu 0 --force
}

# Review of live hosts, P2 12: what the init process is bound to, every later process inherits.
# shellcheck disable=SC2086,SC2016
init_is_not_bound() {
    set -- "$CPUBIND" apply $host --memory none --state "$state" --npu 0
    refuses 1 "process 1 is the init process" unshare -pf --mount-proc env \
        LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 sh -c '"$@"; exit $?' sh "$@" &&
        [ ! -e "$state" ] &&
        says 0 "process 1 " unshare -pf --mount-proc env LD_PRELOAD="$out/shim.so" \
            CPUBIND_SHIM_MACHINE=aarch64 sh -c '"$@" --force; exit $?' sh "$@" && rm "$state" &&
        refuses 1 "is not visible here (another pid namespace)" unshare -pf --mount-proc env \
            LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 "$@"
}

# shellcheck disable=SC2086,SC2016
zombies_are_not_bound() {
    # It ends once its parent, a shell that would wait for it, is another program.
    sh -c 'while ! grep -q sleep /proc/$$/comm; do sleep 0.01; done & echo $!; exec sleep 100' \
        >"$out/zombie" 9>&- &
    sleeper=$!
    soon grep -q sleep "/proc/$sleeper/comm" && zombie=$(cat "$out/zombie") &&
        soon grep -q '^State:.Z' "/proc/$zombie/status" &&
        refuses 1 "process $zombie has ended and waits for its parent (a zombie)" cpubind apply \
            --pid "$zombie" $host --memory none --state "$state" --npu 0 && [ ! -e "$state" ] &&
        says 0 "npu0" cpubind apply --pid "$zombie" $host --memory none --state "$state" --npu 0 \
            --force
    result=$?
    kill $sleeper
    wait $sleeper
    return $result
}

# shellcheck disable=SC2086
kernel_threads_are_not_bound() {
    refuses 1 "process 2 is a thread of the kernel" cpubind apply --pid 2 $host --memory none \
        --state "$state" --npu 0 && [ ! -e "$state" ]
}

# Review of live hosts, P2 15: an output that cannot be written after the process was bound.
# shellcheck disable=SC2086
outputs_that_fail_say_what_is_done() {
    set -- "$CPUBIND" apply --pid "$worker" $host --memory none --state "$state" --npu 0
    for way in '>/dev/full' '>&-'; do
        for json in "" --json; do
            says 4 "output could not be written; process $worker is bound to the CPUs of npu0" \
                shim sh -c "\"\$@\" $json $way" sh "$@" && ! grep -q "be read\|memory" "$out/err" &&
                is_on worker 146-165 &&
                says 4 "output could not be written; process $worker is restored" shim \
                    sh -c "\"\$@\" $json $way" sh "$CPUBIND" restore --pid "$worker" \
                    --state "$state" && all_are_on 0-191 && [ ! -e "$state" ] || return 1
        done
    done
}

errors_are_json_too() {
    says 1 "" apply --npu 8 --json && is_json "$out/said" && [ ! -s "$out/err" ] &&
        [ "$(json "$out/said" '$.error.code')" = unknown_npu ] &&
        says 1 "" verify --json && is_json "$out/said" && [ ! -s "$out/err" ] &&
        [ "$(json "$out/said" '$.error.code')" = refused ] &&
        CPUBIND_SHIM_CPUSET=0-155 says 4 "" apply --npu 0 --strict --json && is_json "$out/said" &&
        [ ! -s "$out/err" ] && json "$out/said" '$.error.text' | grep -q "its cpuset allows"
}

# Starts apply --watch, which ends with the worker; its output is in $out/watched.
# shellcheck disable=SC2086
start_watch() { # arguments
    env LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 "$CPUBIND" apply \
        --pid "$worker" $host --memory none --state "$state" --npu 0 --watch 1 "$@" \
        >"$out/watched" 2>&1 9>&- &
    watcher=$!
    soon all_are_on 146-165
}

one_at_a_time() {
    start_watch && soon grep -q "process $worker" "$out/watched" &&
        refuses 1 "another cpubind is at work on process $worker" apply --npu 5 &&
        grep -qF "it is process $watcher; " "$out/err" &&
        refuses 1 "another cpubind is at work on process $worker" cpubind apply --pid "$worker" \
            --fixture a2-192cpu-8npu --allowed 0-191 --rules reference --memory none --npu 5 --state "$state.other" &&
        [ ! -e "$state.other" ] && says 0 "as it should be" verify && all_are_on 146-165
    result=$?
    kill "$watcher"
    wait "$watcher"
    [ $result -eq 0 ] && grep -q "the watch has ended; process $worker stays bound" "$out/watched" &&
        says 0 "put back" restore && all_are_on 0-191
}

# Review of live hosts, P2 16: a watch that is stopped, too.
restore_ends_a_watch() {
    for signal in CONT STOP; do
        start_watch && soon grep -q "process $worker" "$out/watched" && kill -$signal "$watcher" ||
            return 1
        says 0 "put back" restore && all_are_on 0-191 && [ ! -e "$state" ] &&
            [ ! -e "$state.lock" ]
        result=$?
        [ $result -eq 0 ] || kill -9 "$watcher"
        wait "$watcher"
        [ $result -eq 0 ] || return 1
    done
}

watches() {
    start_watch || return 1
    echo late_thread >&9
    echo acl_thread >&9
    soon is_on late_thread 146-165 && soon is_on acl_thread 166 &&
        soon grep -q "thread $(threads_named late_thread) (late_thread): 0-191 -> 146-165, moved" \
            "$out/watched" &&
        echo 0-95 >"$CPUBIND_SHIM/$worker" && soon is_on worker 146-165 &&
        soon grep -q "thread $worker (worker): 0-95 -> 146-165, moved" "$out/watched"
}

watch_ends_with_the_process() {
    start_watch --quiet || return 1
    exec 9>&-
    wait "$worker"
    wait "$watcher" && cat "$out/watched" && [ "$(wc -l <"$out/watched")" -eq 3 ] &&
        says 0 "it has ended" restore && [ ! -e "$state" ]
}

# -- verify and restore ------------------------------------------------------

# A thread whose name looks like a row, and moves the cursor (live.md, P3): one row, no escape.
names_are_one_word() {
    escape=$(printf '\033')
    says 0 "" apply --npu 0 --thread worker=release && is_escaped "$out/said" &&
        grep -qF 'thread x?thread 7?[2J  1' "$out/said" && says 0 "" verify &&
        is_escaped "$out/said" &&
        grep -qE "^thread +[0-9]+ +x\?thread 7\?\[2J +146-165 +146-165 +right$" "$out/said" &&
        echo 0-95 >"$CPUBIND_SHIM/$(ls /proc/"$worker"/task | tail -n 1)" &&
        says 1 "it has drifted" verify && is_escaped "$out/said" && is_escaped "$out/err" &&
        says 1 "" verify --json && is_json "$out/said" && is_escaped "$out/said" &&
        [ "$(count_items "$out/said" "name = 'x' || char(10) || 'thread 7' || char(27) || '[2J'")" = 1 ] &&
        says 0 "" restore && is_escaped "$out/said" && is_escaped "$out/err"
}

is_escaped() { # file
    ! grep -qF -e "$escape" "$1" && ! grep -q '^thread 7' "$1"
}

verifies() {
    apply --npu 0 || return 1
    says 0 "process $worker, npu0: as it should be" verify &&
        grep -qE "^thread +$worker +worker +146-165 +146-165 +right" "$out/said" || return 1
    echo 0-95 >"$CPUBIND_SHIM/$(threads_named other)"
    cat "$state" >"$out/before"
    says 1 "process $worker, npu0: it has drifted" verify &&
        grep -qE "^thread +[0-9]+ +other +0-95 +146-165 +wrong" "$out/said" &&
        says 1 "" verify --json && is_json "$out/said" &&
        [ "$(count_items "$out/said" "result = 'wrong' AND name = 'other'")" = 1 ] &&
        [ "$(count_items "$out/said" "result = 'right'")" = 2 ] &&
        says 1 "" verify --quiet && [ ! -s "$out/said" ] && [ ! -s "$out/err" ] &&
        [ "$(cpus_of "$(threads_named other)")" = 0-95 ] && cmp "$state" "$out/before"
}

# shellcheck disable=SC2086
verifies_without_a_record() {
    refuses 1 "nothing is on record of process $worker; name the device that it drives: --device NAME" \
        verify && says 1 "it has drifted" verify $host --memory none --npu 0 &&
        grep -qE "^thread +$worker +worker +0-191 +146-165 +wrong" "$out/said" &&
        [ ! -e "$state" ] && apply --npu 0 && rm "$state" &&
        says 0 "as it should be" verify $host --memory none --npu 0 && [ ! -e "$state" ]
}

# Starts a Python program that prints its process number and waits; 1 without Python.
start_python() { # program, words before the command
    command -v python3 >"$out/python" || return 1
    : >"$out/python.pid"
    $2 /usr/bin/python3 -c "$1" >"$out/python.pid" &
    until [ -s "$out/python.pid" ]; do sleep 0.05; done
    python=$(cat "$out/python.pid")
}

end_python() {
    kill -9 "$python"
    wait "$python" 2>/dev/null
}

# The main thread has ended, and with it /proc/PID/environ; another thread lives.
ended_main_thread() {
    start_python 'import ctypes, os, threading, time
def stay():
    while open(f"/proc/{os.getpid()}/stat").read().split()[2] != "Z": time.sleep(0.01)
    print(os.getpid(), flush=True); time.sleep(100)
threading.Thread(target=stay).start()
ctypes.CDLL(None).pthread_exit(None)' || return 0
    says 0 "process $python, npu0" cpubind apply --pid "$python" $host --memory none --npu 0 \
        --state "$out/python.record" &&
        says 0 "" cpubind restore --pid "$python" --state "$out/python.record"
    said=$?
    end_python
    return $said
}

# The environment of a process that is not dumpable is not known to its own user.
unread_environment() {
    nobodys_state || return 1
    start_python 'import ctypes, os, time
ctypes.CDLL(None).prctl(4, 0)
print(os.getpid(), flush=True); time.sleep(100)' "$nobody" || return 0
    says 0 "the environment of process $python may not be read (Permission denied)" \
        $nobody env LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 "$CPUBIND" apply \
        --pid "$python" --fixture a2-192cpu-8npu --allowed 0-191 --npu 0 --memory none \
        --state "$state"
    said=$?
    $nobody env LD_PRELOAD="$out/shim.so" "$CPUBIND" restore --pid "$python" --state "$state"
    end_python
    return $said
}

# To the command, each thread but the first ends before it is looked at.
births_are_said() {
    CPUBIND_SHIM_BIRTHS=$worker
    export CPUBIND_SHIM_BIRTHS
    says 1 "threads of process $worker are born faster than they are looked at" apply --npu 0 &&
        says 1 "try again when it is less busy: cpubind restore --pid $worker" \
            restore && [ -e "$state" ]
    said=$?
    unset CPUBIND_SHIM_BIRTHS
    [ $said -eq 0 ] && says 0 "put back" restore && [ ! -e "$state" ]
}

restores() {
    echo 0-63 >"$CPUBIND_SHIM/$(threads_named other)"
    apply --npu 0 && is_on other 146-165 && says 0 "process $worker: put back" restore &&
        is_on other 0-63 && is_on worker 0-191 && is_on acl_thread 0-191 && [ ! -e "$state" ] &&
        says 0 "there is nothing to put back" restore && apply --npu 0 &&
        says 0 "" restore --json && is_json "$out/said" &&
        [ "$(count_items "$out/said" "result = 'moved' AND should = '0-63'")" = 1 ] &&
        apply --npu 0 && says 0 "" restore --quiet && [ ! -s "$out/said" ] && [ ! -s "$out/err" ]
}

# Restores every process on record, also those that have ended.
restores_all() {
    cpubind restore --all
    says 0 "nothing is on record" cpubind restore --all && apply_usual --npu 0 &&
        [ -e "/run/cpubind/$worker.record" ] && [ "$(stat -c %a /run/cpubind)" = 755 ] &&
        says 0 "as it should be" cpubind verify --pid "$worker" &&
        { sleep 100 9>&- & } && sleeper=$! && says 0 "" cpubind apply --pid "$sleeper" --fixture a2-192cpu-8npu --allowed 0-191 --rules reference \
            --memory none --npu 5 || return 1
    kill "$sleeper"
    wait "$sleeper"
    says 0 "process $worker: put back" cpubind restore --all &&
        grep -q "process $sleeper: it has ended" "$out/said" && all_are_on 0-191 &&
        [ -z "$(ls -A /run/cpubind)" ]
}

# With --state the record is found without it, and no other one is made (review of live hosts,
# P2 13).
one_record_for_a_process() {
    apply --npu 0 && says 0 "as it should be" cpubind verify --pid "$worker" &&
        refuses 1 "process $worker is bound already, and its record is $state, not " cpubind apply \
            --pid "$worker" --fixture a2-192cpu-8npu --allowed 0-191 --rules reference --memory none --npu 5 \
            --state "$state.other" && [ ! -e "$state.other" ] && is_on worker 146-165 &&
        says 0 "npu5" apply_usual --npu 5 && [ ! -e "/run/cpubind/$worker.record" ] &&
        says 0 "put back" cpubind restore --pid "$worker" && all_are_on 0-191 &&
        [ ! -e "$state" ] && [ ! -e "/run/cpubind/$worker.path" ] || return 1
    apply_usual --npu 0 && refuses 1 "its record is /run/cpubind/$worker.record, not $state" \
        apply --npu 5 && [ ! -e "$state" ] && says 0 "put back" cpubind restore --pid "$worker" &&
        (cd "$out" && says 0 "" cpubind apply --pid "$worker" --fixture a2-192cpu-8npu --rules reference \
            --allowed 0-191 --memory none --npu 0 --state "relative.$n_worker") &&
        says 0 "as it should be" cpubind verify --pid "$worker" &&
        says 0 "process $worker: put back" cpubind restore --all && all_are_on 0-191 &&
        [ ! -e "$out/relative.$n_worker" ] && [ -z "$(ls -A /run/cpubind)" ]
}

# Review of live hosts, P2 10: what ended and killed processes leave behind does not pile up, and
# --ended restores it while others stay bound.
# shellcheck disable=SC2086
the_dead_leave_nothing() {
    cpubind restore --all >"$out/said" && says 0 "nothing is on record of a process that has ended" \
        cpubind restore --ended && { sleep 100 9>&- & } && sleeper=$! &&
        cpubind apply --pid "$sleeper" $host --memory none --npu 5 --quiet || return 1
    kill "$sleeper"
    wait "$sleeper"
    : >/run/cpubind/999999.record.lock && : >/run/cpubind/.999999.record.77.0.tmp &&
        [ -e "/run/cpubind/$sleeper.record" ] && apply_usual --npu 0 --quiet &&
        [ "$(ls -A /run/cpubind)" = "$worker.record" ] || return 1
    { sleep 100 9>&- & } && sleeper=$! && on_host "$CPUBIND" apply --pid "$sleeper" --npu 0 \
        --allowed 0-191 --memory none --quiet && irqs_are_on 145 144 145 145 100 || return 1
    kill "$sleeper"
    wait "$sleeper"
    says 0 "process $sleeper" on_host "$CPUBIND" restore --ended &&
        irqs_are_on 100 100 100 100 100 && is_on worker 146-165 && is_on acl_thread 166 || return 1
    # The record of the ended one is swept before --ended.
    { sleep 100 9>&- & } && sleeper=$! && on_host "$CPUBIND" apply --pid "$sleeper" --npu 0 \
        --allowed 0-191 --memory none --quiet && irqs_are_on 145 144 145 145 100 || return 1
    kill "$sleeper"
    wait "$sleeper"
    apply_usual --npu 0 --quiet && [ ! -e "/run/cpubind/$sleeper.record" ] &&
        says 0 "processes that have ended: put back" on_host "$CPUBIND" restore --ended &&
        irqs_are_on 100 100 100 100 100 &&
        says 0 "nothing is on record of a process that has ended" on_host "$CPUBIND" \
            restore --ended &&
        [ -e "/run/cpubind/$worker.record" ] && [ ! -e "/run/cpubind/$sleeper.record" ] &&
        says 0 "as it should be" cpubind verify --pid "$worker" &&
        says 0 "process $worker: put back" cpubind restore --all &&
        [ -z "$(find /run/cpubind -name '[0-9]*' -o -name '.[0-9]*')" ]
}

# The advice of the message: a damaged record of the host is removed.
damaged_host_record_is_named() {
    mkdir -p /run/cpubind && echo damaged >/run/cpubind/host.record || return 1
    says 4 "/run/cpubind/host.record, is damaged; if no interrupt is to be put back, remove it" \
        cpubind restore --ended && rm /run/cpubind/host.record &&
        says 0 "nothing is on record of a process that has ended" cpubind restore --ended
}

# A file that is the record of another process, which lives, is left alone.
record_of_another_process() {
    { sleep 100 9>&- & } && sleeper=$! && apply --npu 0 || return 1
    cat "$state" >"$out/before"
    refuses 1 "$state is the record of another process, which lives" cpubind restore \
        --pid "$sleeper" --state "$state" && cmp "$state" "$out/before" && is_on worker 146-165
    result=$?
    kill "$sleeper"
    wait "$sleeper"
    return $result
}

# Root and the owner of a process: one of them at a time (review of live hosts, P2 13).
# shellcheck disable=SC2086
root_and_owner_know_each_other() {
    mkdir -p /run/user/65534 && chown 65534:65534 /run/user/65534 || return 1
    $nobody sleep 100 9>&- &
    sleeper=$!
    soon grep -q sleep "/proc/$sleeper/comm" && chmod 777 "$CPUBIND_SHIM" || return 1
    as_owner="$nobody env LD_PRELOAD=$out/shim.so CPUBIND_SHIM_MACHINE=aarch64 $CPUBIND"
    set -- apply --pid "$sleeper" $host --memory none
    says 0 "npu0" $as_owner "$@" --npu 0 &&
        refuses 1 "bound already by another user, whose record is /run/user/65534/cpubind/$sleeper.record" \
            cpubind "$@" --npu 5 && [ ! -e "/run/cpubind/$sleeper.record" ] &&
        says 0 "put back" $as_owner restore --pid "$sleeper" && says 0 "npu5" cpubind "$@" --npu 5 &&
        refuses 1 "bound already by another user, whose record is /run/cpubind/$sleeper.record" \
            $as_owner "$@" --npu 0 && says 0 "put back" cpubind restore --pid "$sleeper" &&
        says 0 "npu0" $as_owner "$@" --npu 0 &&
        touch -d '1 hour ago' "/run/user/65534/cpubind/$sleeper.record" &&
        says 0 "npu5" cpubind "$@" --npu 5
    result=$?
    kill "$sleeper"
    wait "$sleeper"
    rm -rf /run/user
    return $result
}

# Review of live hosts, P3: a process that is on one CPU may be bound, and its record lost.
lost_records_are_named() {
    cpu=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)
    taskset -c "$cpu" sleep 100 9>&- &
    sleeper=$!
    soon grep -q sleep "/proc/$sleeper/comm" &&
        refuses 1 "or, if it is bound and its record is lost, name the CPUs that it had with --allowed" \
            cpubind apply --pid "$sleeper" --fixture a2-192cpu-8npu --rules reference --strategy global_slice \
            --npu 0 --memory none --state "$state" &&
        says 1 "" cpubind plan --fixture a2-192cpu-8npu --rules reference --strategy global_slice \
            --allowed 0 &&
        ! grep -q "record is lost" "$out/err"
    result=$?
    kill "$sleeper"
    wait "$sleeper"
    return $result
}

ended_processes_are_named() {
    end_worker
    refuses 1 "there is no process $worker here" apply --npu 0 &&
        refuses 1 "there is no process $worker here" verify &&
        refuses 1 "there is no process $worker here" restore && [ ! -e "$state" ]
}

# -- run ---------------------------------------------------------------------

runs() {
    says 0 "" run --npu 0 -- cat /proc/self/comm && [ "$(cat "$out/said")" = cat ] &&
        [ ! -s "$out/err" ] && says 7 "" run --npu 0 -- sh -c 'exit 7' &&
        says 143 "" run --npu 0 -- sh -c 'kill -TERM $$'
}

becomes_the_command() {
    # shellcheck disable=SC2086,SC2016
    env LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 sh -c 'echo $$; exec "$@"' sh \
        "$CPUBIND" run $host --memory none --state "$state" --quiet --npu 0 \
        -- sh -c 'echo $$; echo $PPID; exec sleep 100' >"$out/pids" 9>&- &
    runner=$!
    soon grep -q sleep "/proc/$runner/comm" && [ "$(sed -n 1p "$out/pids")" = $runner ] && [ "$(sed -n 2p "$out/pids")" = $runner ] &&
        [ "$(sed -n 3p "$out/pids")" = $$ ] && [ "$(cpus_of $runner)" = 146-165 ] &&
        grep -qx "process $runner [0-9]*" "$state" &&
        says 0 "put back" cpubind restore --pid $runner --state "$state" &&
        [ "$(cpus_of $runner)" = 0-191 ]
    result=$?
    kill $runner
    wait $runner
    return $result
}

# The statuses of cpubind itself are not those of the command.
# shellcheck disable=SC2086
run_has_statuses_of_its_own() {
    refuses 125 "(exit status 1 of cpubind)" run --npu 8 -- true &&
        refuses 125 "(exit status 2 of cpubind)" run --nonsense &&
        refuses 125 "(exit status 3 of cpubind)" cpubind run --root "$out/no-such-host" --npu 0 \
            -- true && says 125 "" run --npu 8 --json -- true && is_json "$out/said" &&
        json "$out/said" '$.error.text' | grep -qF "(exit status 1 of cpubind)" &&
        CPUBIND_SHIM_CPUSET=0-63 refuses 125 "(exit status 4 of cpubind)" run --npu 0 -- true &&
        says 1 "" run --npu 0 -- false && says 0 "Usage: cpubind run" cpubind run --help
}

# shellcheck disable=SC2016
runs_unbound() {
    says 0 "started unbound, E=1 F=" run --npu 8 --or-unbound --env E=1 --env 'F={main}' \
        -- sh -c 'echo "started unbound, E=$E F=$F"' &&
        grep -q "the command is started without being bound" "$out/err" &&
        grep -qF -e "--env F={main}: not set" "$out/err" && [ ! -e "$state" ] &&
        says 7 "" run --npu 8 --or-unbound -- sh -c 'exit 7' &&
        says 0 "{x" run --npu 8 --or-unbound --env 'E={x' -- sh -c 'echo "$E"' &&
        says 127 "cannot be run" run --npu 8 --or-unbound -- "$out/no-such-command" &&
        CPUBIND_SHIM_CPUSET=0-63 says 0 "all is as before" run --npu 0 --or-unbound -- true &&
        says 125 "(exit status 2 of cpubind)" run --or-unbound -- true &&
        says 0 "bound on 146-165" run --npu 0 --or-unbound --env 'M={main}' -- \
            sh -c 'echo "bound on $M"'
}

# Prints the files, folder, environment and limits that a command inherits. Signals are tested
# without a shell, which would change them.
world='ls /proc/self/fd | tr "\n" " "; readlink /proc/self/fd/0; pwd; umask; nice
    grep -E "^(CapEff|NoNewPrivs|Seccomp:|Threads|Uid|Gid)" /proc/self/status; env | sort'

# shellcheck disable=SC2086
is_the_same() { # env and its arguments, command ...
    way=$1
    shift
    $way env LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 "$@" >"$out/without" </dev/null &&
        $way env LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 "$CPUBIND" run $host \
            --memory none --state "$state" --quiet --npu 0 -- "$@" >"$out/with" </dev/null &&
        [ -s "$out/with" ] && diff "$out/without" "$out/with"
}

leaves_nothing_behind() {
    for way in "env --block-signal=USR1,CHLD --ignore-signal=CHLD,PIPE,INT" \
        "env --default-signal --unset=HOME" "env -i PATH=$PATH CPUBIND_SHIM=$CPUBIND_SHIM"; do
        is_the_same "$way" sh -c "$world" &&
            is_the_same "$way" grep -E '^Sig[BIC]' /proc/self/status || return 1
    done
    is_the_same "env --ignore-signal=CHLD" grep '^SigIgn' /proc/self/status &&
        [ $((0x$(cut -f 2 "$out/with") >> 16 & 1)) -eq 1 ] # signal 17 is SIGCHLD
}

sets_what_is_asked() {
    # shellcheck disable=SC2016
    says 0 "146-165|166|167|144-145|144-167|20|0|6|{other}|{|a=b|" run --npu 0 \
        --env 'L={main}|{acl}|{release}|{irq}|{pool}|{threads}|{npu}|{node}|{other}|{|a=b|' \
        --env E= --env PATH="$PATH" -- sh -c 'echo "$L"; [ -z "$E" ] && [ "${E+set}" ]' &&
        refuses 125 "--env" run --npu 0 --env =x -- true &&
        refuses 125 "--env" run --npu 0 --env x -- true
}

puts_back_without_a_command() {
    shim sh -c 'state=$1 && shift && "$@"; echo "status $?"; cat "$CPUBIND_SHIM/"[0-9]*
        ls "$state" 2>&1; exec "$@"' sh "$state" "$CPUBIND" run --fixture a2-192cpu-8npu --rules reference \
        --allowed 0-191 --memory none --state "$state" --npu 0 -- "$1" >"$out/said" 2>&1
    got=$?
    cat "$out/said"
    [ $got -eq "$2" ] && grep -qx "status $2" "$out/said" && grep -qx 0-191 "$out/said" &&
        grep -q "$1.*cannot be run" "$out/said" && [ ! -e "$state" ] && [ ! -e "$state.lock" ] &&
        ! cat "$CPUBIND_SHIM"/[0-9]* | grep -qvx 0-191
}

without_a_command() {
    puts_back_without_a_command "$out/no-such-command" 127
}

with_no_program() {
    echo text >"$out/no-program" && chmod 644 "$out/no-program" &&
        puts_back_without_a_command "$out/no-program" 126
}

run_prefers_a_node() {
    # shellcheck disable=SC2086
    says 0 "" cpubind run $host --state "$state" --npu 0 -- true &&
        grep -q "set_mempolicy" "$CPUBIND_SHIM/calls"
}

# By the reference the plan of NPUs knows no other devices; --exclude parts them.
on_gpu() { # argument ...
    cpubind run --fixture gpu-beside-npu --allowed 0-95 --state "$state" "$@" -- true
}

run_warns_of_npus() {
    says 0 "takes no other " on_gpu --rules reference --pci 0000:61:00.0 &&
        says 0 "takes no other " on_gpu --rules reference --class 0302 --rank 0 &&
        says 0 "" on_gpu --rules reference --pci 0000:61:00.0 --exclude 0-47,72-95 &&
        [ ! -s "$out/err" ] && says 0 "" on_gpu --device gpu0 && [ ! -s "$out/err" ] &&
        refuses 125 "device 0 may be npu0, gpu0 (0000:61:00.0)" on_gpu --device 0
}

# -- Privileges and containers -----------------------------------------------


# A folder for the record of another user.
nobodys_state() {
    mkdir "$out/nobody.$n_worker" && chown 65534:65534 "$out/nobody.$n_worker" || return 1
    state=$out/nobody.$n_worker/state
}

# shellcheck disable=SC2086
another_users_process() {
    nobodys_state && refuses 4 "it belongs to another user: run it as root; all is as before" \
        $nobody env LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 "$CPUBIND" apply \
        --pid "$worker" $host --npu 0 --memory none --state "$state" &&
        grep -q "^cpubind: thread $worker (worker) of process $worker cannot be put on" \
            "$out/err" && [ ! -e "$state" ] && all_are_on 0-191 && apply_usual --npu 0 &&
        says 0 "process $worker, npu0: as it should be" $nobody env LD_PRELOAD="$out/shim.so" \
            "$CPUBIND" verify --pid "$worker" $host --npu 0
}

filter_of_getaffinity() {
    apply --npu 0 && refuses 4 "sched_getaffinity: Operation not permitted" \
        shim "$out/deny" sched_getaffinity "$CPUBIND" verify --pid "$worker" --state "$state"
}

# A user without a session has no folder for records.
# shellcheck disable=SC2086
user_without_a_folder() {
    refuses 4 "--state FILE" $nobody env LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 \
        "$CPUBIND" apply --pid "$worker" $host --npu 0 --memory none && all_are_on 0-191
}

# shellcheck disable=SC2086
hidden_process() {
    nobodys_state && refuses 3 "process $worker is hidden from this user (/proc is mounted with hidepid)" \
        unshare -m sh -c 'mount -t proc -o hidepid=2 proc /proc && exec "$@"' sh $nobody \
        env LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 "$CPUBIND" apply \
        --pid "$worker" $host --npu 0 --memory none --state "$state" && all_are_on 0-191
}

# Review of live hosts, P3.
# shellcheck disable=SC2086
empty_proc() {
    refuses 3 "/proc is not mounted here, or is empty" unshare -m sh -c \
        'mount -t tmpfs tmpfs /proc && exec "$@"' sh env LD_PRELOAD="$out/shim.so" \
        CPUBIND_SHIM_MACHINE=aarch64 "$CPUBIND" apply --pid "$worker" $host --npu 0 \
        --memory none --state "$state" && all_are_on 0-191
}

another_namespace() {
    for command in "apply $host --npu 0" verify restore; do
        # shellcheck disable=SC2086
        refuses 1 "there is no process $worker here; a process of a container has another number outside of it" \
            unshare -p -f --mount-proc env LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 \
            "$CPUBIND" $command --pid "$worker" --state "$state" || return 1
    done
    [ ! -e "$state" ] && all_are_on 0-191
}

# Threads are bound, and a warning names each part that is skipped.
# shellcheck disable=SC2086
no_sys() {
    says 0 "npu0" unshare -m sh -c 'mount -t tmpfs tmpfs /sys && exec "$@"' sh \
        env LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 "$CPUBIND" apply \
        --pid "$worker" $host --npu 0 --state "$state" && is_on worker 146-165 &&
        is_on acl_thread 166 &&
        grep -q '^cpubind: warning: no interrupt is bound: the kernel lists no interrupts' "$out/err" &&
        grep -q '^cpubind: warning: memory ' "$out/err"
}

# shellcheck disable=SC2086
filter_of_setaffinity() {
    refuses 4 "a filter of system calls (seccomp) forbids sched_setaffinity here; all is as before" \
        shim "$out/deny" sched_setaffinity "$CPUBIND" apply --pid "$worker" $host --npu 0 \
        --memory none --state "$state" &&
        [ ! -e "$state" ] && all_are_on 0-191
}

# shellcheck disable=SC2086
filter_of_memory() {
    says 0 "npu0" with_nodes "$out/deny" move_pages,set_mempolicy "$CPUBIND" apply \
        --pid "$worker" $host --npu 0 --state "$state" && is_on worker 146-165 &&
        grep -qF 'cpubind: warning: memory is not moved: move_pages: Operation not permitted' \
            "$out/err" && grep -q SYS_NICE "$out/err"
}

# Review of live hosts, P3: a signal while memory is moved. The first ends the move, and a watch.
# shellcheck disable=SC2086
move_is_interrupted() {
    for watch in "" "--watch 1"; do
        says 0 "process $worker, npu0" with_nodes env CPUBIND_SHIM_SIGNAL=1 timeout 20 "$CPUBIND" apply \
            --pid "$worker" $host --npu 0 --state "$state" $watch && is_on worker 146-165 &&
            grep -qE "^interrupted +[1-9<]" "$out/said" &&
            grep -qF "the move was interrupted; process $worker is bound" "$out/err" || return 1
    done
    restore
}

# Review of live hosts, P3: with --quiet nothing was said of memory that is not moved.
# shellcheck disable=SC2086
quiet_limit() {
    says 0 "" with_nodes "$CPUBIND" apply --pid "$worker" $host --npu 0 --state "$state" \
        --memory-limit 1 --quiet && ! grep -q "process $worker" "$out/said" &&
        grep -q "^cpubind: warning: .* would exceed --memory-limit" "$out/err" && restore
}

# Progress is shown only on a terminal, and erased.
# shellcheck disable=SC2086
memory_shows_progress() {
    with_nodes script -qec "$CPUBIND apply --pid $worker $host --npu 0 --state $state" \
        "$out/typescript" </dev/null >"$out/said" &&
        grep -q 'cpubind: moving memory: 0 of [1-9][0-9]* MiB' "$out/said" &&
        tr '\r' '\n' <"$out/said" | grep -q '^.\[Krules ' && restore || return 1
    says 0 "" with_nodes "$CPUBIND" apply --pid "$worker" $host --npu 0 --state "$state" &&
        ! grep 'moving memory' "$out/said" "$out/err"
}

# shellcheck disable=SC2086
filter_of_mempolicy() {
    says 0 "ran" with_nodes "$out/deny" move_pages,set_mempolicy "$CPUBIND" run $host \
        --npu 0 --state "$state" -- echo ran &&
        grep -qF 'cpubind: warning: new memory may come from any node: set_mempolicy: Operation' \
            "$out/err"
}

narrow_cpuset() {
    CPUBIND_SHIM_CPUSET=0-155 says 4 "its cpuset allows some of them only; plan inside of it: --allowed LIST" \
        apply --npu 0 --strict && [ ! -e "$state" ] && all_are_on 0-155 &&
        rm -f "$CPUBIND_SHIM"/[0-9]* &&
        CPUBIND_SHIM_CPUSET=0-63 says 4 "none of them is online and in its cpuset" apply --npu 0 &&
        [ ! -e "$state" ] && rm -f "$CPUBIND_SHIM"/[0-9]* &&
        CPUBIND_SHIM_CPUSET=0-155 says 0 "warning: thread $worker (worker) is not on all of its CPUs, 146-165: its cpuset allows" \
            apply --npu 0 && all_are_on 146-155 && restore
}

# -- The record --------------------------------------------------------------

# A file of another user must not be changed.
is_kept() { # file
    [ "$(cat "$1")" = kept ]
}

# shellcheck disable=SC2086
folder_is_no_link() {
    rm -rf /run/cpubind && mkdir "$out/target" && ln -s "$out/target" /run/cpubind || return 1
    refuses 4 "nothing was" cpubind apply --pid "$worker" $host --npu 0 --memory none
    result=$?
    rm /run/cpubind
    [ $result -eq 0 ] && [ -z "$(ls -A "$out/target")" ] && all_are_on 0-191 &&
        ln -s "$out/target" "$out/link" && state=$out/link/state &&
        refuses 4 "nothing was" apply --npu 0 && [ -z "$(ls -A "$out/target")" ] &&
        all_are_on 0-191
}

folder_is_ours_alone() {
    for way in "chmod 777" "chmod 775" "chown 65534"; do
        rm -rf /run/cpubind && mkdir /run/cpubind && $way /run/cpubind &&
            refuses 4 "nothing was" apply_usual --npu 0 && [ -z "$(ls -A /run/cpubind)" ] &&
            refuses 3 "the records cannot be read (folder: " cpubind restore --all || return 1
    done
    rm -rf /run/cpubind
    echo kept >/run/cpubind && refuses 4 "nothing was" apply_usual --npu 0 && is_kept /run/cpubind &&
        rm /run/cpubind && all_are_on 0-191
}

# A link, a FIFO or a folder in place of a file in /run/cpubind: the command does not follow it,
# does not wait for it, and does not use it.
is_in_the_way() { # name, status, words
    mkdir -p /run/cpubind && echo kept >"$out/kept" || return 1
    for way in "ln -s $out/kept" "ln -s $out/nothing" mkfifo mkdir; do
        $way "/run/cpubind/$1" && refuses "$2" "$3" apply_usual --npu 0 && is_kept "$out/kept" &&
            [ ! -e "$out/nothing" ] && all_are_on 0-191 || return 1
        rm -rf "/run/cpubind/$1"
    done
    echo "{}" >"/run/cpubind/$1" && chown 65534 "/run/cpubind/$1" &&
        refuses "$2" "$3" apply_usual --npu 0 && all_are_on 0-191 && rm "/run/cpubind/$1" &&
        apply_usual --npu 0 && cpubind restore --pid "$worker" && [ -z "$(ls -A /run/cpubind)" ]
}

record_is_a_file_of_ours() {
    is_in_the_way "$worker.record" 3 "the record of process $worker cannot be read" &&
        apply_usual --npu 0 && chmod 666 "/run/cpubind/$worker.record" &&
        refuses 3 "writable by nobody else" cpubind restore --pid "$worker" &&
        refuses 3 "writable by nobody else: /run/cpubind/$worker.record" \
            cpubind verify --pid "$worker" &&
        is_on worker 146-165 && chmod 600 "/run/cpubind/$worker.record" &&
        says 0 "put back" cpubind restore --pid "$worker" && all_are_on 0-191
}

lock_is_a_file_of_ours() {
    is_in_the_way "$worker.record.lock" 4 "the changes could not be recorded (lock: "
}

# A missing folder is not created.
record_without_a_folder() {
    state=$out/no-such-folder/state
    refuses 4 "the changes could not be recorded (folder: No such file or directory)" \
        apply --npu 0 && refuses 4 "its folder must exist, be owned by you" apply --npu 0 &&
        refuses 3 "the record of process $worker cannot be read (folder: No such file" verify &&
        refuses 3 "the record of process $worker cannot be read (folder: No such file" restore &&
        all_are_on 0-191 && [ ! -e "$out/no-such-folder" ] || return 1
    for state in "" "$out/" "$out/.." .; do
        refuses 2 "--state is not the name of a file: \"$state\"" apply --npu 0 &&
            refuses 2 "--state is not the name of a file: \"$state\"" verify &&
            refuses 2 "--state is not the name of a file: \"$state\"" restore || return 1
    done
    all_are_on 0-191
}

# A folder on a file system without room, or that is read-only; with --all no file can be named.
record_without_room() {
    mkdir "$out/ro" && mount -t tmpfs -o ro,mode=755 tmpfs "$out/ro" || return 1
    state=$out/ro/state
    refuses 4 "(lock: Read-only file system), so nothing was changed; its file system must be \
writable and have room: $state" apply --npu 0
    got=$?
    umount "$out/ro"
    [ $got -eq 0 ] && all_are_on 0-191
}

# The command names the line of a damaged record, as text and as JSON.
says_line() {
    cp "$out/good" "$state" && printf '%s\n' "$2" >"$out/bad" && cp "$out/bad" "$state" &&
        refuses 3 "is damaged: line $1; if nothing" apply --npu 0 &&
        refuses 3 "is damaged: line $1; if nothing" verify &&
        refuses 3 "is damaged: line $1; if nothing" restore || return 1
    restore --json >"$out/json"
    [ $? -eq 3 ] && json "$out/json" '$.error.text' | grep -qF "is damaged: line $1; if nothing"
}

damaged_record() {
    apply --npu 0 || return 1
    cp "$state" "$out/good"
    lines=$(($(wc -l <"$state")))
    before=$(grep -n '^before ' "$state" | cut -d: -f1)
    thread=$(grep -n -m 1 '^thread ' "$state" | cut -d: -f1)
    says_line "$before should be a valid line \"before\"" "$(sed 's/^before .*/before x/' "$out/good")" &&
        says_line "$before should be a valid line \"before\"" "$(grep -v '^before ' "$out/good")" &&
        says_line "$thread begins with no word of a record" "$(sed 's/^thread/&s/' "$out/good")" &&
        says_line "$lines should be a valid line \"sum\"" "$(sed 's/^npu 0/npu 1/' "$out/good")" &&
        says_line "1 should be a valid line \"cpubind-record\"" "kept" || return 1
    for text in "" "cpubind-record" "[]" "kept" "$(sed 's/^thread/&s/' "$out/good")"; do
        printf %s "$text" >"$state"
        refuses 3 "the record of process $worker is damaged" apply --npu 0 &&
            refuses 3 "is damaged" verify && refuses 3 "is damaged" restore &&
            [ "$(cat "$state")" = "$text" ] && is_on worker 146-165 || return 1
    done
    cp "$out/good" "$state" && says 0 "put back" restore && all_are_on 0-191
}

# A record of a form that is not known is left alone, with the form and the version named.
record_of_a_later_version() {
    apply --npu 0 || return 1
    cp "$state" "$out/good"
    for text in "cpubind-record 2 0.1.0" "cpubind-record 6 9.9.9"; do
        echo "$text" >"$state"
        form=$(echo "$text" | cut -d' ' -f2)
        words="has form $form, which cpubind ${text##* } wrote"
        refuses 3 "$words" apply --npu 0 && refuses 3 "$words" verify &&
            refuses 3 "$words; this one, cpubind " restore &&
            refuses 3 "run the restore of that one or of a later one" restore &&
            [ "$(cat "$state")" = "$text" ] && is_on worker 146-165 || return 1
    done
    sed 's/^cpubind-record 5 .*/cpubind-record 3 0.1.0/; /^rules /d; /^sum/d' "$out/good" >"$state"
    echo "sum $(gzip -c "$state" | tail -c 8 | od -An -N4 -tx4 --endian=little | tr -d ' ')" >>"$state"
    says 0 "" verify && says 0 "put back" restore && all_are_on 0-191
}

# The JSON of the first version, of all that it could hold but interrupts.
record_of_the_first_version() {
    old="/run/cpubind/$worker.json"
    apply_usual --npu 0 || return 1
    start=$(sed -n 's/^process [0-9]* //p' "/run/cpubind/$worker.record")
    tids=$(sed -n 's/^thread \([0-9]*\) .*/\1/p' "/run/cpubind/$worker.record" | paste -sd,)
    cat >"$out/form1" <<EOF
{"cpubind": "0.1.0", "format": 1,
 "boot": "$(cat /proc/sys/kernel/random/boot_id)", "pid": $worker, "start": $start,
 "npu": 0, "before": "0-191",
 "goal": {"main": "146-165", "memory_node": null, "uvb": null, "rules": [
  {"name": "acl_thread", "cpus": "166"},
  {"name": "release_thread", "cpus": "167"}]},
 "ours": ["146-165", "166", "167"],
 "threads": [
  {"before": "0-191", "tids": [$(echo "$tids" | sed 's/,/, /g')]}],
 "others": [],
 "irqs": [],
 "irqbalance": null}
EOF
    rm "/run/cpubind/$worker.record" && cp "$out/form1" "$old" &&
        says 0 "" cpubind verify --pid "$worker" --memory none &&
        cmp "$old" "$out/form1" && [ ! -e "/run/cpubind/$worker.record" ] &&
        apply_usual --npu 0 && [ ! -e "$old" ] &&
        grep -q "^thread $worker 0-191" "/run/cpubind/$worker.record" &&
        rm "/run/cpubind/$worker.record" && cp "$out/form1" "$old" &&
        says 0 "put back" cpubind restore --all && all_are_on 0-191 &&
        [ -z "$(ls -A /run/cpubind)" ] || return 1
    sed '4d' "$out/form1" >"$old"
    refuses 3 "should be a valid line \"goal\"" cpubind restore --pid "$worker" &&
        [ -e "$old" ] && rm "$old"
}

# The command writes to no path from the environment.
odd_environment() {
    result=0
    mkdir "$out/odd" && cd "$out/odd" || return 1
    for folder in "$out/odd" /proc/self /nowhere "" "../.." "$(printf 'a\nb')"; do
        env HOME="$folder" TMPDIR="$folder" XDG_RUNTIME_DIR="$folder" XDG_STATE_HOME="$folder" \
            XDG_CONFIG_HOME="$folder" RUNTIME_DIRECTORY="$folder" PATH="$folder:$PATH" \
            LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 "$CPUBIND" apply --pid "$worker" \
            --fixture a2-192cpu-8npu --allowed 0-191 --rules reference --npu 0 --memory none --quiet &&
            [ "$(ls -A /run/cpubind)" = "$worker.record" ] && [ -z "$(ls -A "$out/odd")" ] &&
            cpubind restore --pid "$worker" --quiet && [ -z "$(ls -A /run/cpubind)" ] ||
            result=1
    done
    cd "$OLDPWD" && return $result
}

full_disk() {
    mkdir "$out/full" && mount -t tmpfs -o size=4k,mode=755 tmpfs "$out/full" || return 1
    state=$out/full/state
    head -c 4096 /dev/zero >"$out/full/zeros"
    refuses 4 "No space left on device" apply --npu 0 && [ "$(ls -A "$out/full")" = zeros ] &&
        all_are_on 0-191
    result=$?
    umount "$out/full"
    return $result
}

# -- A live host -------------------------------------------------------------

# An A2 host in place of this one: its /sys with eight nodes, interrupts of NPU 0 at
# 0000:c5:00.0, and an npu-smi that prints its tables.
make_host() {
    live=$out/live
    rm -rf "$live" && "$CPUBIND" fixture export a2-192cpu-8npu "$live" --quiet &&
        mkdir -p "$live/bin" "$live/sys/bus/pci/devices/0000:c5:00.0/msi_irqs" || return 1
    echo 0-7 >"$live/sys/devices/system/node/has_memory"
    {
        printf '           CPU0       CPU1\n'
        printf '400:  1  2  ITS-MSI 400 Edge  trs-mbox-0-0\n'
        printf '401:  1  2  ITS-MSI 401 Edge  sq_send_trigger_irq\n'
        printf '402:  1  2  ITS-MSI 402 Edge  cq_update_irq\n'
        printf '403:  1  2  ITS-MSI 403 Edge  cq_update_irq\n'
        printf '404:  1  2  ITS-MSI 404 Edge  sq_send_trigger_irq\n'
    } >"$live/proc/interrupts"
    for irq in 400 401 402 403 404; do
        # The kernel has a folder with the name of the action.
        name=$(sed -n "s/^$irq:.* //p" "$live/proc/interrupts")
        mkdir -p "$live/proc/irq/$irq/$name"
        # As long as what is written: this is no file of the kernel's.
        echo 100 >"$live/proc/irq/$irq/smp_affinity_list"
        [ $irq = 404 ] || echo edge >"$live/sys/bus/pci/devices/0000:c5:00.0/msi_irqs/$irq"
    done
    printf '\tNPU ID                         : 0\n\tChip ID                        : 0\n' \
        >"$live/board"
    printf '\tPCIe Bus Info                  : 0000:C5:00.0\n' >>"$live/board"
    cat >"$live/bin/npu-smi" <<END
#!/bin/sh
case "\$*" in
"info -m") exec cat "$live/cmd/npu-smi-info-m.txt" ;;
"info") exec cat "$live/cmd/npu-smi-info.txt" ;;
"info -t topo") exec cat "$live/cmd/npu-smi-info-t-topo.txt" ;;
"info -t board -i 0"*) exec cat "$live/board" ;;
esac
exit 9
END
    chmod 755 "$live/bin/npu-smi"
}

# Only the nodes of that host.
with_nodes() { # command ...
    unshare -m sh -c 'mount --bind "$1" /sys/devices/system/node && shift && exec "$@"' sh \
        "$live/sys/devices/system/node" env LD_PRELOAD="$out/shim.so" \
        CPUBIND_SHIM_MACHINE=aarch64 "$@"
}

become_on_host() { # command ...
    exec unshare -m sh -c 'mount --bind "$1/sys" /sys &&
        mount --bind "$1/proc/interrupts" /proc/interrupts &&
        mount --bind "$1/proc/irq" /proc/irq && shift && exec "$@"' sh "$live" \
        env PATH="$live/bin:$PATH" LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 "$@"
}

on_host() { # command ...
    (become_on_host "$@")
}

on_host_with_irqs_read_only() { # command ...
    on_host unshare -m sh -c 'mount --bind /proc/irq /proc/irq &&
        mount -o remount,bind,ro /proc/irq && exec "$@"' sh "$@"
}

irq_is_on() { # interrupt, CPU
    [ "$(cat "$live/proc/irq/$1/smp_affinity_list")" = "$2" ] || {
        echo "interrupt $1 is on $(cat "$live/proc/irq/$1/smp_affinity_list"), not on $2"
        return 1
    }
}

irqs_are_on() { # CPUs of 400 to 404
    for irq in 400 401 402 403 404; do
        irq_is_on $irq "$1" || return 1
        shift
    done
}

binds_all_of_a_host() {
    says 0 "process $worker, npu0" on_host "$CPUBIND" apply --pid "$worker" --npu 0 \
        --allowed 0-191 --state "$state" && is_on worker 146-165 && is_on acl_thread 166 &&
        irqs_are_on 145 144 145 145 100 &&
        grep -qx "move_pages $worker to 6 flags 2" "$CPUBIND_SHIM/calls" &&
        grep -qE "^irq sq +1 +100 +144 " "$out/said" && grep -qE "^irq cq +2 +100 +145 " "$out/said" &&
        grep -qE "^node 6 .* belongs here" "$out/said" || return 1
    # The memory is still where it was, since the calls that move it are stood in for: apply has
    # noted that, so that verify names it and calls nothing drift.
    # A page that the process has touched since then is noted by another apply.
    for try in 1 2 3 4 5; do
        says 0 "as it should be" on_host "$CPUBIND" verify --pid "$worker" --state "$state" && break
        [ "$try" -lt 5 ] && says 0 "" on_host "$CPUBIND" apply --pid "$worker" --npu 0 \
            --allowed 0-191 --state "$state" || return 1
    done
    grep -q "are where apply has left them, on other nodes" "$out/err" &&
        says 0 "as it should be" on_host "$CPUBIND" verify --pid "$worker" --state "$state" \
            --memory none || return 1
    # Review of live hosts, P1 5: vectors that are gone were no drift.
    mv "$live/proc/irq/403/cq_update_irq" "$live/proc/irq/403/eth0"
    says 1 "interrupt 403 (cq): its PCI function has no such interrupt now" \
        on_host "$CPUBIND" verify --pid "$worker" --state "$state" --memory none
    result=$?
    mv "$live/proc/irq/403/eth0" "$live/proc/irq/403/cq_update_irq"
    [ $result = 0 ] || return 1
    echo 103 >"$live/proc/irq/402/smp_affinity_list"
    says 1 "" on_host "$CPUBIND" verify --pid "$worker" --state "$state" --memory none --json && [ "$(count_items "$out/said" "kind = 'irq'")" = 4 ] &&
        [ "$(count_items "$out/said" \
            "kind = 'irq' AND id = 402 AND was = '103' AND should = '145' AND result = 'wrong'")" = 1 ] &&
        says 0 "was moved by somebody else since, to 103: it stays there" on_host "$CPUBIND" \
            restore --pid "$worker" --state "$state" && irqs_are_on 100 100 103 100 100 &&
        all_are_on 0-191 && [ ! -e "$state" ]
    result=$?
    echo 100 >"$live/proc/irq/402/smp_affinity_list"
    return $result
}

irqs_read_only() {
    says 0 "/proc/irq may not be written from here (Read-only file system)" \
        on_host_with_irqs_read_only "$CPUBIND" apply --pid "$worker" --npu 0 --allowed 0-191 \
        --memory none --state "$state" && grep -q '^cpubind: warning: interrupt 400 (mailbox): ' "$out/err" &&
        is_on worker 146-165 && irqs_are_on 100 100 100 100 100 &&
        says 0 "put back" on_host_with_irqs_read_only "$CPUBIND" restore --pid "$worker" \
            --state "$state" && all_are_on 0-191
}

# On a host of cgroups of version 1, which a file over that of the worker makes it.
needs_version_2() {
    reason="process $worker has no cpuset of its own, and its threads have masks alone: cpusets are cgroups of \
version 1 on this host"
    echo '4:cpuset:/a' >"$out/cgroup"
    mount --bind "$out/cgroup" "/proc/$worker/cgroup" || return 1
    says 0 "$reason" apply --npu 0 --with cpuset && is_on worker 146-165 &&
        grep -q "^cgroup cpubind-$worker .* 146-167 .*skipped" "$out/said" &&
        says 0 "right" verify && says 0 "put back" restore && all_are_on 0-191 &&
        refuses 4 "$reason; --strict skips nothing; all is as before" apply --npu 0 --with cpuset --strict &&
        all_are_on 0-191 && says 0 "" apply --npu 0 --with cpuset --json && is_json "$out/said" &&
        [ "$(count_items "$out/said" "kind = 'cgroup' AND result = 'skipped'")" = 1 ] && restore >/dev/null
    got=$?
    umount "/proc/$worker/cgroup" && return $got
}

# What is skipped otherwise fails the command, and is undone.
strict_skips_nothing() {
    refuses 4 "irq 400 (mailbox) cannot be put on CPUs 145: write smp_affinity_list: Read-only file" \
        on_host_with_irqs_read_only "$CPUBIND" apply --pid "$worker" --npu 0 \
        --allowed 0-191 --memory none --state "$state" --strict &&
        grep -qF -e "--strict skips nothing; all is as before" "$out/err" && all_are_on 0-191 &&
        [ ! -e "$state" ] && refuses 4 "no interrupt can be bound: " apply --npu 0 --strict &&
        all_are_on 0-191 && [ ! -e "$state" ] &&
        says 0 "process $worker, npu0" on_host "$CPUBIND" apply --pid "$worker" --npu 0 \
            --allowed 0-191 --memory none --state "$state" --strict && is_on worker 146-165 &&
        irqs_are_on 145 144 145 145 100 && says 0 "" on_host "$CPUBIND" restore --pid "$worker" \
            --state "$state" && irqs_are_on 100 100 100 100 100
}

# The mailbox, and the threads of the product, are left with --threads reference.
binds_the_reference() {
    on_host "$CPUBIND" apply --pid "$worker" --npu 0 --allowed 0-191 --memory none --quiet \
        --state "$state" --threads reference && irqs_are_on 100 144 145 145 100 &&
        is_on hccl_watchdog_t 146-165 && is_on RT_RECYCLE_0 146-165 && is_on acl_thread 166 &&
        on_host "$CPUBIND" apply --pid "$worker" --npu 0 --allowed 0-191 --memory none --quiet \
            --state "$state" --threads product && irqs_are_on 145 144 145 145 100 &&
        is_on hccl_watchdog_t 167 && is_on RT_RECYCLE_0 167 && is_on acl_thread 166 &&
        on_host "$CPUBIND" apply --pid "$worker" --npu 0 --allowed 0-191 --memory none --quiet \
            --state "$state" --thread 'hccl_*=leave' --thread 'RT_*=150' \
            --thread trs-mbox-0-0=leave && is_on RT_RECYCLE_0 150 && is_on hccl_watchdog_t 167 &&
        on_host "$CPUBIND" restore --pid "$worker" --state "$state" --quiet &&
        irqs_are_on 100 100 100 100 100 && all_are_on 0-191
}

# Does the same to each of many ranks, all at once; each must succeed.
at_once() { # command of cpubind, arguments
    on_host sh -c 'ranks=$1 cpubind=$2 out=$3 jobs=
        shift 3
        for pid in $ranks; do
            "$cpubind" "$@" --pid "$pid" --quiet >"$out/rank.$pid" 2>&1 &
            jobs="$jobs $!"
        done
        failed=0
        for job in $jobs; do wait "$job" || failed=$((failed + 1)); done
        [ $failed = 0 ] && exit
        for pid in $ranks; do grep "^cpubind:" "$out/rank.$pid"; done
        echo "$failed of them failed"
        exit 1' sh "$ranks" "$CPUBIND" "$out" "$@"
}

ranks_are_on() { # CPUs
    for pid in $ranks; do
        [ "$(cpus_of "$pid")" = "$1" ] || {
            echo "rank $pid is on $(cpus_of "$pid"), not on $1"
            return 1
        }
    done
}

bind_and_restore_ranks() {
    at_once apply --npu 0 --allowed 0-191 --memory none && ranks_are_on 146-165 &&
        irqs_are_on 145 144 145 145 100 && [ "$(find /run/cpubind -name '[1-9]*.record' | wc -l)" = 64 ] &&
        [ "$(grep -c '^user ' /run/cpubind/host.record)" = 256 ] || return 1
    # They bind again while the record is full, and leave it together.
    at_once apply --npu 0 --allowed 0-191 --memory none && at_once restore && ranks_are_on 0-191 &&
        irqs_are_on 100 100 100 100 100 &&
        [ -z "$(find /run/cpubind -type f ! -name 'npu-smi*')" ]
}

# Review, P1 1a: one of two of eight ranks was refused because its neighbours were at work.
ranks_wait_for_each_other() {
    ranks=
    for _ in $(seq 64); do
        sleep 600 9>&- &
        ranks="$ranks $!"
    done
    bind_and_restore_ranks
    result=$?
    # shellcheck disable=SC2086
    kill $ranks
    # shellcheck disable=SC2086
    wait $ranks 2>/dev/null
    [ $result = 0 ] || ls -lA /run/cpubind
    return $result
}

# Plans of other rules may give the same CPUs away: that is said before they are put into effect.
other_rules_are_said() {
    sleep 600 9>&- &
    sleeper=$!
    # shellcheck disable=SC2086
    cpubind apply --pid "$sleeper" $host --memory none --npu 5 --quiet --rules near &&
        says 0 "process $worker, npu0" apply_usual --npu 0 --rules reference &&
        grep -q "^cpubind: warning: the rules of this plan are reference, and process $sleeper of this host is bound by the rules near" "$out/err" &&
        says 0 "" apply_usual --npu 0 --rules reference --json &&
        [ "$(json "$out/said" '$.warnings[0].code')" = other_rules ] &&
        says 0 "process $worker, npu0" apply_usual --npu 0 --rules near &&
        ! grep -q "the rules of this plan" "$out/err"
    result=$?
    kill "$sleeper"
    wait "$sleeper"
    # One that has ended has no CPUs.
    says 0 "" apply_usual --npu 0 --rules reference && ! grep -q "the rules of this plan" "$out/err" &&
        says 0 "" cpubind restore --all && [ $result = 0 ]
}

# Another program keeps the lock: the threads are bound at once, the wait is said, and goes on.
long_wait_is_said() {
    lock=/run/cpubind/host.record.lock
    mkdir -p /run/cpubind && : >$lock || return 1
    flock -xF $lock sleep 600 9>&- &
    holder=$!
    soon sh -c "! flock -n $lock true" || return 1
    on_host "$CPUBIND" apply --pid "$worker" --npu 0 --allowed 0-191 --memory none \
        --state "$state" >"$out/said" 2>"$out/err" &
    waiting=$!
    soon grep -q '^cpubind: waiting for [0-9]* s for the record of the interrupts of this host' \
        "$out/err" && is_on worker 146-165 && irqs_are_on 100 100 100 100 100
    result=$?
    kill $holder
    wait $holder
    wait $waiting || result=1
    cat "$out/err"
    irqs_are_on 145 144 145 145 100 && says 0 "" on_host "$CPUBIND" restore --pid "$worker" \
        --state "$state" && irqs_are_on 100 100 100 100 100 && [ ! -e $lock ] && [ $result = 0 ]
}

# A failure before or after interrupts were moved: every change is undone.
failure_undoes_interrupts() {
    CPUBIND_SHIM_CPUSET=0-155 says 4 "all is as before" on_host "$CPUBIND" apply --strict \
        --pid "$worker" --npu 0 --allowed 0-191 --memory none --state "$state" &&
        irqs_are_on 100 100 100 100 100 && [ ! -e "$state" ]
}

limits_memory() {
    says 0 "moving them would exceed --memory-limit" on_host "$CPUBIND" apply --pid "$worker" \
        --npu 0 --allowed 0-191 --memory-limit 1 --state "$state" &&
        [ ! -e "$CPUBIND_SHIM/calls" ] && is_on worker 146-165 &&
        says 0 "put back" on_host "$CPUBIND" restore --pid "$worker" --state "$state" &&
        irqs_are_on 100 100 100 100 100
}

# cpubind is killed at moments spread over its run: restore undoes what was done.
survives_kills() {
    start=$(date +%s%N)
    on_host "$CPUBIND" apply --pid "$worker" --npu 0 --allowed 0-191 --memory none \
        --state "$state" --quiet || return 1
    took=$((($(date +%s%N) - start) / 1000))
    on_host "$CPUBIND" restore --pid "$worker" --state "$state" --quiet &&
        irqs_are_on 100 100 100 100 100 && all_are_on 0-191 || return 1
    n_half=0
    for i in $(seq 40); do
        become_on_host "$CPUBIND" apply --pid "$worker" --npu 0 --allowed 0-191 --memory none \
            --state "$state" --quiet >"$out/killed" 2>&1 9>&- &
        killed=$!
        sleep "$(printf '0.%06d' $((took * i / 40)))"
        kill -9 $killed
        wait $killed
        [ ! -e "$state" ] || n_half=$((n_half + 1))
        on_host "$CPUBIND" restore --pid "$worker" --state "$state" --quiet &&
            irqs_are_on 100 100 100 100 100 && all_are_on 0-191 && [ ! -e "$state" ] || {
            echo "after kill $i"
            return 1
        }
    done
    # What is left of writing one goes with the next record that is put back.
    echo "killed with a record: $n_half of 40"
    [ $n_half -gt 0 ] && apply --npu 0 --quiet && restore --quiet &&
        [ "$(find "$out" -name "state.$n_worker*")" = "" ]
}

# A 950: all threads go to its cluster; the UVB polling threads of all processes of the host go
# to node 0 without CPU 0.
polling_threads() {
    CPUBIND_SHIM_CPUS=256
    export CPUBIND_SHIM_CPUS
    "$out/worker" uvb_poll_window_thread <"$CPUBIND_SHIM/in" >"$out/poller" 9>&- &
    poller=$!
    soon grep -q ready "$out/poller"
    polling=$(grep -l uvb_poll_window /proc/$poller/task/*/comm | cut -d / -f 5)
    says 0 "" cpubind apply --pid "$worker" --fixture 950-smt1-256cpu --allowed 0-255 \
        --npu 0 --memory none --state "$state" --json &&
        is_on worker 64-71 && is_on acl_thread 64-71 && [ "$(cpus_of "$polling")" = 1-31 ] &&
        [ "$(cpus_of $poller)" = 0-255 ] &&
        [ "$(count_items "$out/said" "kind = 'irq'")" = 0 ] &&
        [ "$(count_items "$out/said" "kind = 'uvb' AND id = $polling AND should = '1-31'")" = 1 ] &&
        says 0 "as it should be" verify && says 0 "put back" restore &&
        [ "$(cpus_of "$polling")" = 0-255 ] && all_are_on 0-255
    result=$?
    kill $poller
    wait $poller
    unset CPUBIND_SHIM_CPUS
    return $result
}

# -- Children ----------------------------------------------------------------

# The programs that a command executed or started, each once, without its own.
traced() { # arguments of cpubind
    strace -f -qq -e trace=process -e signal=none -o "$out/trace" -E LD_PRELOAD="$out/shim.so" \
        -E CPUBIND_SHIM_MACHINE=aarch64 "$CPUBIND" "$@" >"$out/said" 2>&1 || {
        cat "$out/said"
        return 1
    }
    grep -E 'exec|fork|clone' "$out/trace"
    sed -n 's/.*execve("\([^"]*\)".* = 0$/\1/p' "$out/trace" | sed 1d | sort -u >"$out/programs"
}

# Threads of cpubind itself are not children.
has_no_child() {
    [ ! -s "$out/programs" ] && ! grep -E '(fork|clone3?)\(' "$out/trace" | grep -qv CLONE_THREAD
}

starts_no_child() {
    # shellcheck disable=SC2086
    traced apply --pid "$worker" $host --npu 0 --state "$state" --quiet && has_no_child &&
        traced verify --pid "$worker" --state "$state" --memory none && has_no_child &&
        traced restore --pid "$worker" --state "$state" && has_no_child &&
        traced run $host --npu 0 --state "$state" --quiet -- sleep 0 &&
        [ "$(cat "$out/programs")" = "$(command -v sleep)" ] &&
        ! grep -E '(fork|clone3?)\(' "$out/trace" | grep -qv CLONE_THREAD
}

# On a live host npu-smi is the only child. With another time it is another program, whose outputs
# no other process has read.
starts_npu_smi_alone() {
    touch "$live/bin/npu-smi"
    # shellcheck disable=SC2016
    on_host sh -c 'trace=$1 && shift && exec strace -f -qq -e trace=execve -o "$trace" "$@"' sh \
        "$out/trace" "$CPUBIND" apply --pid "$worker" --npu 0 --allowed 0-191 --state "$state" \
        --quiet && is_on worker 146-165 || return 1
    sed -n 's/.*execve("\([^"]*\)".* = 0$/\1/p' "$out/trace" | sed 1d | sort -u | tee "$out/programs"
    [ "$(grep -v /cat "$out/programs")" = "$live/bin/npu-smi" ]
}

can_trace() {
    command -v strace && strace -qq -e trace=none true
}

# -- Refusals and usage ------------------------------------------------------

arm_alone() {
    is_refused_arch 1 apply --pid "$worker" --fixture a2-192cpu-8npu --allowed 0-191 \
        --rules reference --npu 0 --state "$state" && [ ! -e "$state" ] && all_are_on 0-191 &&
        is_refused_arch 125 run --fixture a2-192cpu-8npu --allowed 0-191 --rules reference \
            --npu 0 --state "$state" -- true && [ ! -e "$state" ] &&
        CPUBIND_SHIM_MACHINE=x86_64 && export CPUBIND_SHIM_MACHINE &&
        says 0 "npu0" env LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=x86_64 "$CPUBIND" \
            apply --pid "$worker" --fixture a2-192cpu-8npu --allowed 0-191 --rules reference \
            --npu 0 --memory none --state "$state" --any-arch && is_on worker 146-165 &&
        restore && all_are_on 0-191 &&
        says 0 "npu0" cpubind apply --pid "$worker" --fixture a2-192cpu-8npu \
            --allowed 0-191 --rules near --npu 0 --memory none --state "$state" &&
        ! all_are_on 0-191
}

# The warnings of cpubind plan in $out/plan.json and on the lines of $out/plan.err are among those
# in a file of JSON, or on the lines of a file; those of JSON come first.
holds_warnings() { # file of JSON, file of lines
    [ "$(sqlite3 :memory: "SELECT count(*) FROM json_each(readfile('$out/plan.json'), '\$.warnings') p
        LEFT JOIN json_each(readfile('$1'), '\$.warnings') a ON a.key = p.key AND a.value = p.value
        WHERE a.key IS NULL")" = 0 ] || {
        echo "the warnings of the plan are not the first of $1:"
        cat "$out/plan.json" "$1"
        return 1
    }
    ! grep -vxF -f "$2" "$out/plan.err" || {
        echo "not on stderr: these warnings of the plan"
        return 1
    }
}

# apply, run and verify print the warnings of their plan, as text and as JSON, before their own.
plan_warnings_are_printed() {
    while IFS='|' read -r code options npu; do
        rm -f "$state"
        # shellcheck disable=SC2086
        set -- $options
        cpubind plan "$@" --npus "$npu" --visible "$npu" --json >"$out/plan.json" &&
            cpubind plan "$@" --npus "$npu" --visible "$npu" 2>"$out/plan.err" >"$out/said" &&
            grep -q "\"$code\"" "$out/plan.json" && [ -s "$out/plan.err" ] || return 1
        set -- "$@" --npu "$npu" --memory none --state "$state"
        says 0 "" cpubind apply --pid "$worker" "$@" --json && cp "$out/said" "$out/apply.json" &&
            says 0 "" cpubind apply --pid "$worker" "$@" &&
            holds_warnings "$out/apply.json" "$out/err" || return 1
        says 0 "" cpubind apply --pid "$worker" "$@" --quiet && [ ! -s "$out/err" ] || return 1
        says 0 "" cpubind verify --pid "$worker" "$@" --json && cp "$out/said" "$out/verify.json" &&
            says 0 "" cpubind verify --pid "$worker" "$@" &&
            holds_warnings "$out/verify.json" "$out/err" || return 1
        rm -f "$state"
        says 0 "ran" cpubind run "$@" -- echo ran && holds_warnings "$out/apply.json" "$out/err" ||
            return 1
    done <<'END'
overlap|--fixture a2-192cpu-4node-8npu --rules reference --overlap keep --allowed 0-191|0
only_logic_ids|--fixture a3-container-no-census --rules near --allowed 0-191|1
no_numa_node|--fixture a2-no-numa-node --rules near --allowed 0-191|2
END
}

# Each rank of a host on which no worker runs yet is bound to an NPU of its own.
ranks_start_one_after_another() {
    for rank in 0 1 2 3 4 5 6 7; do
        rm -f "$state"
        # The shell of run expands N.
        # shellcheck disable=SC2016
        says 0 "worker on NPU $rank" cpubind run --fixture idle-a2 --allowed 0-191 --rank "$rank" \
            --memory none --state "$state" --env 'N={npu}' -- sh -c 'echo "worker on NPU $N"' ||
            return 1
    done
}

# Wrong command lines: exit status 2 and one line on stderr, which says what is wrong. A row has
# commands, what the line says, and arguments; the row is tried with each command.
check_usage() {
    while IFS='|' read -r commands words arguments; do
        for command in $commands; do
            eval "set -- $arguments"
            status=2
            [ "$command" != run ] || status=125
            check "usage: cpubind $command $*" refuses $status "$words" "$CPUBIND" "$command" "$@"
        done
    done <<'END'
apply run verify restore|no such option: "--nonsense"|--nonsense
apply run verify restore|requires an argument|--state
apply verify restore|--pid is not the number of a process|--pid 0
apply verify restore|--pid is not the number of a process|--pid 1x
apply verify restore|--pid is not the number of a process|--pid 4294967297
apply verify restore|"word" is no option|word
apply|say which device: --device NAME, such as npu3 or gpu0, or --rank N|
run|say which device: --device NAME, such as npu3 or gpu0, or --rank N|-- true
apply run|--with does not know "cgroup"; it knows masks, cpuset|--with cgroup
apply run|--irqbalance does not know "kill"; it knows leave, ban, stop|--irqbalance kill
apply run verify|--npu "-1", character 1: a number belongs here|--npu -1
apply run verify|--npu "4096", character 1: the number is too large|--npu 4096
apply run verify|--device and --npu name the device; --rank and --visible find it: give one|--npu 0 --rank 0
apply run verify|--device and --npu name the device; --rank and --visible find it: give one|--npu 0 --visible 0
apply run verify|--memory does not know "some"; it knows migrate, all, prefer, none|--memory some
apply run verify|--thread wants NAME=ROLE or NAME=CPUS|--thread acl
apply run verify|--thread wants NAME=ROLE or NAME=CPUS|--thread =acl
apply run verify|--thread wants NAME=irq, main, acl, release, pool, keep, leave, or CPUs|--thread a=b
apply run verify|--thread names a pattern that no thread can have|--thread *1234567890123456=main
apply run verify|--threads does not know "all"; it knows reference, product|--threads all
apply run verify|--thread wants NAME=irq, main, acl, release, pool, keep, leave, or CPUs|--thread a=
apply run verify|--thread wants NAME=irq, main, acl, release, pool, keep, leave, or CPUs|--thread a=3-1
apply run verify|--root and --fixture each name a host; give one|--root a --fixture b
apply run verify|--db needs the name of a host|--db a
apply run verify|--exclude names no CPU|--exclude ""
apply run verify|--allowed names no CPU|--allowed ""
apply run verify|--rank "-1" is not a number from 0 on: the launcher has not set the rank|--rank -1
apply run verify|--device-type does not know|--device-type a4
apply run verify|--strategy does not know|--strategy best
apply run verify|--overlap does not know|--overlap allow
apply|--memory-limit is not a number of bytes|--memory-limit 1Q
apply|--memory-limit is not a number of bytes|--memory-limit 9223372036854775808
apply|--memory-limit is not a number of bytes|--memory-limit 8388608T
apply|--memory-limit is a limit of --memory migrate|--npu 0 --memory none --memory-limit 1G
apply|--memory prefer is for run|--npu 0 --memory prefer
run|--memory migrate is for apply|--npu 0 --memory migrate -- true
run|--memory migrate is for apply|--npu 0 --memory all -- true
apply|--memory-time is not a number of seconds|--memory-time 0
apply|--memory-time is not a number of seconds|--memory-time 86401
apply|--memory-time is a limit of --memory migrate|--npu 0 --memory none --memory-time 9
apply|--watch takes seconds from 1 to 3600|--npu 0 --watch 0
apply|--watch takes seconds from 1 to 3600|--npu 0 --watch 3601
run|name the command that is to run|--npu 0
run|name the command that is to run|--npu 0 --
restore|--all is every process on record; give it alone|--all --pid 1
restore|--all is every process on record; give it alone|--all --state x
restore|--ended is every process on record that has ended; give it alone|--ended --all
restore|--ended is every process on record that has ended; give it alone|--ended --pid 1
restore|no such option: "--npu"|--npu 0
run|no such option: "--watch"|--watch
apply|no such option: "--env"|--env a=b
run|no such option: "--pid"|--pid 1
verify|no such option: "--any-arch"|--any-arch
END
}

# ----------------------------------------------------------------------------

check_worker "apply binds every thread by its name" applies \
    acl_thread release_thread other other
check_worker "apply --json prints each thread" applies_json acl_thread release_thread other
check_worker "apply --quiet prints only the plan" applies_quietly
check_worker "a thread cannot print a row or an escape by its name" names_are_one_word \
    "$(printf 'x\nthread 7\033[2J')"
check_worker "--thread binds threads by name" threads_go_where_asked \
    acl_thread hccl_watchdog_thread other a=b
check_worker "--exclude leaves CPUs out of the pools" excluded_are_left_out acl_thread
check_worker "apply twice: the record holds the CPUs from before the first" applies_twice acl_thread
check_worker "--rank and --visible find the NPU" finds_its_npu
check_worker "apply, run and verify print the warnings of the plan" plan_warnings_are_printed
check_worker "each rank of an idle host is bound to an NPU of its own" ranks_start_one_after_another
check_worker "a refusal names only options that the command has" names_ways_out
check_worker "without --pid the parent is bound" binds_who_calls
check_worker "without --pid a parent is bound that is a shell or a runtime" \
    parents_are_shells_or_runtimes
check_root "the init process is bound with --force alone" init_is_not_bound
check_worker "a zombie is bound with --force alone" zombies_are_not_bound
if [ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ]; then
    check_worker "a thread of the kernel is not bound" kernel_threads_are_not_bound
else
    skip "a thread of the kernel is not bound" "this pid namespace has none"
fi
check_worker "an output that fails after the work says what is done" \
    outputs_that_fail_say_what_is_done
check_worker "with --json an error is an object" errors_are_json_too
check_worker "one cpubind at a time works on a process" one_at_a_time
check_worker "restore ends a watch, stopped or not" restore_ends_a_watch
check_worker "--watch catches new threads and drift" watches
check_worker "--watch ends with the process" watch_ends_with_the_process
check_worker "verify prints drift and changes nothing" verifies other acl_thread
check_worker "verify without a record" verifies_without_a_record acl_thread
check_worker "restore moves threads to their former CPUs" restores other acl_thread
check_worker "a process whose main thread has ended is bound" ended_main_thread
check_worker "births that do not end are said, and the record stays" births_are_said other
check_root "restore --all restores every process on record" restores_all acl_thread
check_root "a process has one record, found without --state" one_record_for_a_process acl_thread
check_worker "a record of another process is left alone" record_of_another_process
check_nobody "root and the owner do not bind a process past each other" \
    root_and_owner_know_each_other
check_worker "too few CPUs: the record of a bound process may be lost" \
    lost_records_are_named
check_worker "a process that has ended is refused" ended_processes_are_named
check_worker "run: exit status and signals are those of the command" runs
check_worker "run: its own exit statuses are 125 to 127" run_has_statuses_of_its_own
check_worker "run --or-unbound starts the command after a refusal" runs_unbound
check_worker "run: no process in between" becomes_the_command
check_worker "run: files, signals and environment are unchanged" leaves_nothing_behind
check_worker "run --env sets variables" sets_what_is_asked
check_worker "run: no such command: exit 127, and the binding is undone" without_a_command
check_worker "run: a file that is not executable: exit 126, and the binding is undone" with_no_program
check_worker "run prefers the memory of the node" run_prefers_a_node
check_worker "run of another accelerator by the reference warns of the NPUs beside it" run_warns_of_npus
check_worker "apply and run refuse a machine that is not ARM without --any-arch" arm_alone
check_nobody "an environment that may not be read is not known" unread_environment
check_nobody "a process of another user is refused" another_users_process
check_nobody "a user without a folder for records must name a file" user_without_a_folder
check_nobody "a process that hidepid hides is refused" hidden_process
check_root "an empty /proc is named" empty_proc
check_root "a process of another pid namespace is not found" another_namespace
check_root "without /sys threads are bound and the rest is a warning" no_sys acl_thread
if [ "$BIND_MOUNTS" = own ]; then
    make_host || exit 1
fi
"$out/deny" sched_setaffinity true 2>"$out/output"
if [ $? -eq 77 ]; then
    skip "seccomp refuses" "no filter can be set here"
else
    check_worker "seccomp refuses sched_setaffinity" filter_of_setaffinity
    check_worker "seccomp refuses sched_getaffinity" filter_of_getaffinity
    check_root "seccomp refuses move_pages" filter_of_memory
    check_root "seccomp refuses set_mempolicy" filter_of_mempolicy
    check_root "a signal ends a move of memory, and the process is bound" move_is_interrupted acl_thread
    check_root "apply --quiet names memory that it leaves" quiet_limit
fi
if script -qec true /dev/null >"$out/output" 2>&1 </dev/null; then
    check_root "a terminal shows how far memory has been moved" memory_shows_progress
else
    skip "a terminal shows how far memory has been moved" "there are no terminals"
fi
check_worker "a cpuset narrower than the plan is refused" narrow_cpuset
check_root "a folder of records that is a link is refused" folder_is_no_link
check_root "a folder of records that others may write to is refused" folder_is_ours_alone
check_root "a record that is no file of the user is refused" record_is_a_file_of_ours
check_root "a lock that is no file of the user is refused" lock_is_a_file_of_ours
check_worker "a missing folder for the record is refused" record_without_a_folder
check_root "a file system without room for the record is named" record_without_room
check_worker "a damaged record is refused" damaged_record
check_worker "a record of a form that is not known is left alone and named" record_of_a_later_version
check_root "a record of the first version is verified, bound again and put back" record_of_the_first_version
check_root "nothing is written to paths from the environment" odd_environment
check_root "a full disk: nothing is changed" full_disk
check_root "a damaged record of the host is named, with what to do" damaged_host_record_is_named
check_root "what the dead leave is removed, and restore --ended restores it" \
    the_dead_leave_nothing acl_thread
check_root "a live host: threads, interrupts and memory are bound" binds_all_of_a_host acl_thread
check_root "--threads reference leaves the mailbox and the threads of the product" \
    binds_the_reference acl_thread hccl_watchdog_thread RT_RECYCLE_0
check_root "a read-only /proc/irq is a warning" irqs_read_only
check_root "--strict: a read-only /proc/irq is a failure of all" strict_skips_nothing
check_root "--with cpuset: what is missing is named, and masks bind" needs_version_2
check_root "64 ranks at once: all are bound, none is refused, and all are put back" \
    ranks_wait_for_each_other
check_root "a long wait for the record of the host is said, with the threads bound" \
    long_wait_is_said
check_root "processes bound by plans of other rules are named" other_rules_are_said
check_root "a failure restores the interrupts" failure_undoes_interrupts
check_root "--memory-limit limits the memory that is moved" limits_memory
check_root "restore works after cpubind was killed at any of 40 moments" survives_kills \
    acl_thread release_thread a b c d e f
check_worker "a 950: its cluster and the UVB polling threads are bound" polling_threads acl_thread
if can_trace >"$out/output" 2>&1; then
    check_worker "apply, verify and restore start no child; run executes the command" starts_no_child
    check_root "npu-smi is the only child" starts_npu_smi_alone
else
    skip "npu-smi is the only child" "no strace, or it may not trace"
fi
check_usage
finish
