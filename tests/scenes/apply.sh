#!/bin/sh
# apply.sh - apply binds a process: which threads, which NPU, which process; what it says
# SPDX-License-Identifier: MIT
# runs: check
. tests/scenes/lib.sh
use_npus

# -- Threads ---------------------------------------------------------------------

binds_each_thread() {
    says 0 "process $worker, npu0" apply --device npu0 &&
        grep -qx 'NPU0: main=\[146 147 .* 165\]  acl=\[166\]  release=\[\[167\]\]' "$out/said" \
            &&
        ! grep -n ' $' "$out/said" && is_at worker $main && is_at other $main &&
        is_at acl_thread $acl && is_at release_thread $release &&
        [ "$(stat -c %a "$state")" = 600 ] && grep -qx "process $worker [0-9]*" "$state"
}
check_worker "apply binds every thread by its name" binds_each_thread \
    acl_thread release_thread other other

prints_each_thread() {
    says 0 "" apply --device npu0 --json && [ ! -s "$out/err" ] && fits report &&
        has .pid "$worker" && has .device npu0 && has .state "$state" && items 1 4 &&
        items "kind = 'thread' AND result = 'moved' AND was = '$all'" 4 &&
        items "name = 'other' AND should = '$main'" 1 &&
        items "id = $worker AND name = 'worker'" 1
}
check_worker "apply --json prints each thread" prints_each_thread acl_thread release_thread \
    other

prints_only_the_plan() {
    says 0 "NPU0: main=[146 " apply --device npu0 --quiet && [ ! -s "$out/err" ] &&
        [ "$(wc -l <"$out/said")" -eq 3 ] && is_on "$worker" $main
}
check_worker "apply --quiet prints only the plan" prints_only_the_plan

is_escaped() { # file
    ! grep -qF -e "$escape" "$1" && ! grep -q '^thread 7' "$1"
}

names_are_one_word() {
    escape=$(printf '\033')
    says 0 "" apply --device npu0 --thread worker=release && is_escaped "$out/said" &&
        said 'thread  x?thread 7?[2J  ' && says 0 "" verify && is_escaped "$out/said" &&
        grep -qE "^thread +[0-9]+ +x\?thread 7\?\[2J +$main +$main +right$" "$out/said" &&
        move_to 0-95 "$(ls /proc/"$worker"/task | tail -n 1)" &&
        says 1 "it has drifted" verify &&
        is_escaped "$out/said" && is_escaped "$out/err" && says 1 "" verify --json &&
        is_escaped "$out/said" &&
        items "name = 'x' || char(10) || 'thread 7' || char(27) || '[2J'" 1 &&
        says 0 "" restore && is_escaped "$out/said" && is_escaped "$out/err"
}
check_worker "a thread cannot print a row or an escape by its name" names_are_one_word \
    "$(printf 'x\nthread 7\033[2J')"

threads_go_where_asked() {
    says 0 'has the name "nobody" of the setting thread now: ps -L -o comm= -p ' \
        apply --device npu0 --thread hccl_watchdog_thread=release --thread other=150-151,160 \
        --thread acl_thread=pool --thread a=b=irq --thread nobody=acl \
        --thread kv_send_0=acl --thread 'kv_*=release' --thread kv_send_1=irq \
        --thread a_name_of_many_letters=acl &&
        [ "$(grep -c 'of the setting thread now' "$out/err")" = 1 ] &&
        is_at hccl_watchdog_t $release && is_at other 150-151,160 && is_at acl_thread 144-167 &&
        is_at a=b $irq && is_at kv_send_0 $acl && is_at kv_send_1 $release &&
        is_at a_name_of_many_ $acl && is_at worker $main && says 0 "as it should be" verify &&
        restore
}
check_worker "--thread binds threads by name" threads_go_where_asked \
    acl_thread hccl_watchdog_thread other a=b kv_send_0 kv_send_1 a_name_of_many_characters

# Threads that move data have CPUs of their own by the setting alone.
data_is_moved_apart() {
    says 0 "  transfer=[164 165]" apply --device npu0 -o transfer=2 &&
        is_at mooncake_x 164-165 && is_at RDMAWkr0-1-2 164-165 && is_at 'NCCL Progress 0' 164-165 &&
        is_at other 146-163 && is_at worker 146-163 && is_at acl_thread $acl &&
        says 0 "as it should be" verify && move_to 0-95 "$(thread_named mooncake_x)" &&
        says 1 "it has drifted" verify &&
        says 0 "" apply --device npu0 -o transfer=2 --thread other=transfer &&
        is_at other 164-165 && is_at mooncake_x 164-165 && says 0 "as it should be" verify &&
        says 0 "" apply --device npu0 && is_at mooncake_x $main && is_at other $main &&
        says 0 "put back" restore && all_is_free &&
        says 0 "on 20-21" "$CPUBIND" run --fixture idle-a2 --allowed $all --device npu0 \
            -o transfer=2 --memory none --env 'T={transfer}' -- sh -c 'echo "on $T"'
}
# shellcheck disable=SC2016 # the shell of run expands T
check_worker "transfer: threads that move data are apart from main" data_is_moved_apart \
    acl_thread mooncake_x RDMAWkr0-1-2 'NCCL Progress 0' other

# NPU 0 and NPU 2 each get half of the 44 CPUs that are left on the nodes 6 and 7.
excluded_are_left_out() {
    says 0 "" apply --device npu0 --exclude 146-149 && is_at worker 150-167 && is_at acl_thread 168 &&
        says 0 "as it should be" verify
}
check_worker "--exclude leaves CPUs out of the pools" excluded_are_left_out acl_thread

# The second plan uses the CPUs that the process had before the first.
binds_twice() {
    apply --device npu0 && says 0 "npu5" "$CPUBIND" apply --pid "$worker" --fixture a2-192cpu-8npu \
        --memory none --device npu5 && is_at worker 2-21 && is_at acl_thread 22 &&
        says 0 "as it should be" verify && says 0 "right" apply --device npu5 &&
        says 0 "put back" restore && all_is_free
}
check_worker "apply twice: the record holds the CPUs from before the first" binds_twice \
    acl_thread

# A 950: all threads go to its cluster; the polling threads of all processes of the host go to
# node 0 without CPU 0.
polling_threads() {
    all=0-255 CPUBIND_SHIM_CPUS=256
    of_poller=$worker
    start_worker uvb_poll_window_thread && poller=$worker && worker=$of_poller || return 1
    polling=$(grep -l uvb_poll_window /proc/"$poller"/task/*/comm | cut -d / -f 5)
    says 0 "" "$CPUBIND" apply --pid "$worker" --fixture 950-smt1-256cpu --allowed $all \
        --device npu0 --memory none --json && is_on "$worker" 64-71 &&
        [ "$(cpus_of "$polling")" = 1-31 ] && [ "$(cpus_of "$poller")" = $all ] &&
        items "kind = 'irq'" 0 &&
        items "kind = 'uvb' AND id = $polling AND should = '1-31'" 1 &&
        says 0 "as it should be" verify && says 0 "put back" restore &&
        is_on "$poller" $all && all_is_free
    result=$?
    end_worker "$poller"
    all=0-191 CPUBIND_SHIM_CPUS=192
    return $result
}
check_worker "a 950: its cluster and the UVB polling threads are bound" polling_threads \
    acl_thread

# -- Which NPU -------------------------------------------------------------------

finds_its_npu() {
    says 0 "npu5" apply --rank 1 --visible 3,5 && is_on "$worker" 2-21 && restore &&
        says 1 "NPU" apply --rank 2 --visible 3,5 && refuses 1 "" apply --device npu8 && all_is_free
}
check_worker "--rank and --visible find the NPU" finds_its_npu

# Each rank of a host on which no worker runs yet; the shell of run expands N.
ranks_start_one_after_another() {
    for rank in 0 1 2 3 4 5 6 7; do
        # shellcheck disable=SC2016
        says 0 "worker on NPU $rank" "$CPUBIND" run --fixture idle-a2 --allowed $all \
            --rank $rank --memory none --env 'N={npu}' -- sh -c 'echo "worker on NPU $N"' ||
            return 1
    done
}
check_worker "each rank of an idle host is bound to an NPU of its own" \
    ranks_start_one_after_another

# The message names only options that the command has.
names_only_its_options() {
    refuses 3 "npu-smi is not on this host" env PATH=/nowhere "$CPUBIND" apply \
        --pid "$worker" --rank 0 -o device-type=a2 && said "name the NPU with --device npuN" &&
        ! grep -qF -e --devices "$out/err"
}
check_worker "a refusal names only options that the command has" names_only_its_options

# Those of apply, run and verify are the ones of plan, and come before their own.
holds_warnings() { # file of JSON, file of lines
    [ "$(sqlite3 :memory: "SELECT count(*) FROM json_each(readfile('$out/plan'), '\$.warnings') p
        LEFT JOIN json_each(readfile('$1'), '\$.warnings') a ON a.key = p.key AND a.value = \
            p.value
        WHERE a.key IS NULL")" = 0 ] && ! grep -vxF -f "$2" "$out/plan.err" && return 0
    cat "$out/plan" "$out/plan.err" "$1" "$2"
    return 1
}

prints_the_warnings() { # code, NPU, options of the plan ...
    code=$1
    npu=$2
    shift 2
    set -- --allowed $all "$@"
    "$CPUBIND" plan "$@" --devices "npu$npu" --visible "$npu" --json >"$out/plan" &&
        "$CPUBIND" plan "$@" --devices "npu$npu" --visible "$npu" >"$out/said" 2>"$out/plan.err" &&
        grep -q "\"$code\"" "$out/plan" && [ -s "$out/plan.err" ] || return 1
    set -- "$@" --device "npu$npu" --memory none
    for word in apply verify; do
        says 0 "" "$CPUBIND" $word --pid "$worker" "$@" --json && cp "$out/said" "$out/$word" &&
            says 0 "" "$CPUBIND" $word --pid "$worker" "$@" &&
            holds_warnings "$out/$word" "$out/err" || return 1
    done
    says 0 "" "$CPUBIND" apply --pid "$worker" "$@" --quiet && [ ! -s "$out/err" ] &&
        says 0 "ran" "$CPUBIND" run "$@" -- echo ran && holds_warnings "$out/apply" "$out/err"
}
start_worker
check "apply, run and verify print the warnings of the plan: overlap" prints_the_warnings \
    overlap 0 --fixture a2-192cpu-4node-8npu -o rules=reference -o overlap=keep
check "those of a container" prints_the_warnings only_logic_ids 1 \
    --fixture a3-container-no-census -o rules=near
check "and of an NPU without a node" prints_the_warnings no_numa_node 2 \
    --fixture a2-no-numa-node -o rules=near
end_worker

# By the reference the plan of NPUs knows no other devices; --exclude parts them.
on_gpu() { # argument ...
    "$CPUBIND" run --fixture gpu-beside-npu --allowed 0-95 "$@" -- true
}

warns_of_npus() {
    says 0 "takes no other " on_gpu --rules reference --device 0000:61:00.0 &&
        says 0 "" on_gpu --rules reference --device 0000:61:00.0 --exclude 0-47,72-95 &&
        [ ! -s "$out/err" ] && says 0 "" on_gpu --device gpu0 && [ ! -s "$out/err" ] &&
        refuses 125 "device 0 may be npu0, gpu0 (0000:61:00.0)" on_gpu --device 0
}
check "run of another accelerator by the reference warns of the NPUs beside it" warns_of_npus

is_refused_arch() { # status, argument ...
    is_refused_status=$1
    shift
    refuses "$is_refused_status" "ARM" env CPUBIND_SHIM_MACHINE=x86_64 "$CPUBIND" "$@"
}

# shellcheck disable=SC2086
arm_alone() {
    is_refused_arch 1 apply --pid "$worker" $host --device npu0 &&
        is_refused_arch 125 run $host --device npu0 -- true && all_is_free &&
        says 0 "npu0" env CPUBIND_SHIM_MACHINE=x86_64 "$CPUBIND" apply --pid "$worker" $host \
            --device npu0 --memory none -o any-arch=yes && is_on "$worker" $main && restore &&
            all_is_free &&
        says 0 "npu0" env CPUBIND_SHIM_MACHINE=x86_64 "$CPUBIND" apply --pid "$worker" $host \
            --rules near --device npu0 --memory none && ! is_on "$worker" "$all"
}
check_worker "apply and run refuse a machine that is not ARM without -o any-arch=yes" arm_alone

# Plans of other rules may give the same CPUs away: that is said before they are put into
# effect. One that has ended has no CPUs.
other_rules_are_said() {
    start_sleeper || return 1
    # shellcheck disable=SC2086
    "$CPUBIND" apply --pid "$sleeper" $host --memory none --device npu5 --quiet --rules near &&
        says 0 "process $worker, npu0" apply --device npu0 &&
        grep -q "^cpubind: warning: the rules of this plan are reference, and those of process $sleeper, one of 1 with other rules on this host, are near" "$out/err" &&
        says 0 "" apply --device npu0 --json && has '.warnings[0].code' other_rules &&
        says 0 "process $worker, npu0" apply --device npu0 --rules near &&
        ! grep -q "the rules of this plan" "$out/err"
    result=$?
    end_worker "$sleeper"
    says 0 "" apply --device npu0 && ! grep -q "the rules of this plan" "$out/err" &&
        says 0 "" "$CPUBIND" restore --all && [ $result = 0 ]
}
check_worker "processes bound by plans of other rules are named" other_rules_are_said

# -- Which process ---------------------------------------------------------------

# The shell is the process; the exit keeps it from becoming the command.
binds_who_calls() {
    # shellcheck disable=SC2016,SC2086
    says 0 "as it should be" sh -c '"$@" --memory none --device npu0 --quiet >/dev/null &&
        "$1" verify && "$1" restore; exit $?' sh "$CPUBIND" apply $host && no_record
}
"$CPUBIND" restore --all --quiet
check "without --pid the parent is bound" binds_who_calls

# A parent is bound if it is a shell or a runtime, and named. A copy of the shell under another
# name is a launcher.
# shellcheck disable=SC2086,SC2016
parents_are_shells_or_runtimes() {
    shell=$(basename "$(readlink -f /bin/sh)") && cp "$(readlink -f /bin/sh)" "$out/mpirun" &&
        cp "$(readlink -f /bin/sh)" "$out/python3.11" || return 1
    by='"$@"; exit $?'
    set -- "$CPUBIND" apply $host --memory none --device npu0
    says 0 "($shell, the parent of this command), npu0" sh -c "$by" sh "$@" &&
        says 0 "" "$out/python3.11" -c "$by" sh "$@" --json && has .parent python3.11 &&
        rm /run/cpubind/*.record &&
        refuses 1 "(mpirun), which is no shell and no runtime of programs: name the process" \
            "$out/mpirun" -c "$by" sh "$@" && no_record &&
        says 0 "(mpirun, the parent of this command), npu0" "$out/mpirun" -c "$by" sh "$@" \
            --force
}
check "without --pid a parent is bound that is a shell or a runtime" \
    parents_are_shells_or_runtimes
"$CPUBIND" restore --all --quiet

# What the init process is bound to, every later process inherits.
# shellcheck disable=SC2086,SC2016
init_is_not_bound() {
    by='"$@"; exit $?'
    set -- "$CPUBIND" apply $host --memory none --device npu0
    refuses 1 "inherit the CPUs of the init process" unshare -pf --mount-proc sh -c "$by" sh "$@" &&
        no_record && says 0 "process 1 " unshare -pf --mount-proc sh -c "$by" sh "$@" --force &&
        rm /run/cpubind/1.record && refuses 1 "is not visible here (another pid namespace)" \
        unshare -pf --mount-proc "$@"
}
check "the init process is bound with --force alone" init_is_not_bound

# shellcheck disable=SC2086
zombies_are_not_bound() {
    start_zombie && set -- "$CPUBIND" apply --pid "$zombie" $host --memory none --device npu0 &&
        refuses 1 "process $zombie: it has ended and waits for its parent (a zombie)" "$@" &&
        no_record && says 0 "npu0" "$@" --force
    result=$?
    end_worker "$sleeper"
    return $result
}
check "a zombie is bound with --force alone" zombies_are_not_bound

# The main thread has ended, and with it /proc/PID/environ; another thread lives.
ended_main_thread() {
    python3 -c 'import ctypes, os, threading, time
def stay():
    while open(f"/proc/{os.getpid()}/stat").read().split()[2] != "Z": time.sleep(0.01)
    print("ready", flush=True); time.sleep(100)
threading.Thread(target=stay).start()
ctypes.CDLL(None).pthread_exit(None)' >"$out/python" &
    worker=$!
    becomes grep -q ready "$out/python" && says 0 "process $worker, npu0" apply --device npu0 &&
        says 0 "" restore
}
if command -v python3 >"$out/python"; then
    check "a process whose main thread has ended is bound" ended_main_thread
    end_worker
else
    skip "a process whose main thread has ended" "python3 is not installed"
fi

# shellcheck disable=SC2086
kernel_threads_are_not_bound() {
    refuses 1 "process 2 is a thread of the kernel" "$CPUBIND" apply --pid 2 $host \
        --memory none --device npu0 && no_record
}
if [ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ]; then
    check "a thread of the kernel is not bound" kernel_threads_are_not_bound
else
    skip "a thread of the kernel is not bound" "this pid namespace has none"
fi

ended_processes_are_named() {
    end_worker
    for command in apply verify restore; do
        refuses 1 "process $worker: there is no such process here" $command || return 1
    done
    refuses 1 "process $worker: there is no such process here" apply --device npu0 && no_record
}
check_worker "a process that has ended is refused" ended_processes_are_named

# shellcheck disable=SC2086
threads_are_no_processes() {
    refuses 1 "is the number of a thread: name its process" "$CPUBIND" apply --pid "$(thread_named other)" $host \
        --device npu0 --memory none && all_is_free
}
check_worker "a thread is no process" threads_are_no_processes other

# A process that is on one CPU may be bound, and its record lost.
lost_records_are_named() {
    CPUBIND_SHIM_CPUSET=5 refuses 1 \
        "or, if it is bound and its record is lost, name the CPUs that it had with --allowed" \
        "$CPUBIND" apply --pid "$worker" --fixture a2-192cpu-8npu --rules reference \
        -o strategy=global_slice --device npu0 --memory none &&
        says 1 "" "$CPUBIND" plan --fixture a2-192cpu-8npu --rules reference \
            -o strategy=global_slice --allowed 0 && ! grep -q "record is lost" "$out/err"
}
check_worker "too few CPUs: the record of a bound process may be lost" lost_records_are_named

# To the command, each thread but the first ends before it is looked at.
births_are_said() {
    CPUBIND_SHIM_BIRTHS=$worker
    export CPUBIND_SHIM_BIRTHS
    says 1 "threads of process $worker are born faster than they are looked at" apply --device npu0 &&
        says 1 "try again when it is less busy: cpubind restore --pid $worker" restore &&
        [ -e "$state" ]
    result=$?
    unset CPUBIND_SHIM_BIRTHS
    [ $result -eq 0 ] && says 0 "put back" restore && all_is_free
}
check_worker "births that do not end are said, and the record stays" births_are_said other

# -- Outputs ---------------------------------------------------------------------

# An output that cannot be written after the process was bound.
outputs_that_fail_say_what_is_done() {
    for way in '>/dev/full' '>&-' '>/dev/full --json' '>&- --json'; do
        # shellcheck disable=SC2086
        says 4 "output could not be written; process $worker is bound to the CPUs of npu0" \
            sh -c "\"\$@\" $way" sh "$CPUBIND" apply --pid "$worker" $host --memory none \
                --device npu0 &&
            ! grep -q "be read\|memory" "$out/err" && is_on "$worker" $main &&
            says 4 "output could not be written; process $worker is restored" \
                sh -c "\"\$@\" $way" sh "$CPUBIND" restore --pid "$worker" && all_is_free ||
                return 1
    done
}
check_worker "an output that fails after the work says what is done" \
    outputs_that_fail_say_what_is_done

errors_are_json_too() {
    says 1 "" apply --device npu8 --json && [ ! -s "$out/err" ] && has .error.code unknown_device &&
        says 1 "" verify --json && [ ! -s "$out/err" ] && has .error.code refused &&
        CPUBIND_SHIM_CPUSET=0-155 says 4 "its cpuset allows" apply --device npu0 --strict --json &&
        [ ! -s "$out/err" ] && json .error.text | grep -q "its cpuset allows"
}
check_worker "with --json an error is an object" errors_are_json_too
finish
