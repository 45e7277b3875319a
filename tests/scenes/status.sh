#!/bin/sh
# status.sh - status of 16 NPUs with a worker each, and apply that finds the NPU of a process
# SPDX-License-Identifier: MIT
# runs: check
#
# The NPUs, their interrupts and the driver's list of processes are those of a folder; the
# processes are real.
. tests/scenes/lib.sh
use_shim 320
use_first_pids
host=$out/host
"$CPUBIND" fixture export a3-320cpu-16npu "$host" --quiet || exit 1
chmod -R u+w "$host"
list=$host/proc/trs_core/proc
mkdir -p "$list"
program=$out/VLLM::Worker_TP
cp "$programs/worker" "$program"
npus='0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15'
width() {
    awk '{ if (length > n) n = length } END { print n }' "$out/said"
}

status() { # argument ...
    "$CPUBIND" status --root "$host" --allowed "$all" --memory none "$@"
}

use_npu() { # pid, NPU
    mkdir "$list/$1-0-dev-$2" && : >"$list/$1-0-dev-$2/summary"
}

# Sets worker.
start_worker_of() { # NPU
    start_worker "RANK=$1" "ASCEND_RT_VISIBLE_DEVICES=$1" acl_thread release_thread a b c d &&
        use_npu "$worker" "$1"
}

end_worker_of() { # NPU, pid
    end_worker "$2"
    rm -r "$list/$2-0-dev-$1"
}

pid_on() { # NPU
    for entry in "$list"/*-dev-"$1"; do
        entry=${entry##*/}
        echo "${entry%%-*}"
    done
}

bind_npu() { # NPU
    "$CPUBIND" apply --root "$host" --allowed "$all" --pid "$(pid_on "$1")" --device "npu$1" \
        --memory none --quiet
}

# Two interrupts of each NPU, on the CPUs of its plan.
set_irq() { # number, action, CPUs, address
    mkdir -p "$host/proc/irq/$1"
    printf '%d:  1  2  ITS-MSI %d Edge  %s\n' "$1" "$1" "$2" >>"$host/proc/interrupts"
    put "sys/bus/pci/devices/$4/msi_irqs/$1" msix
    put "proc/irq/$1/smp_affinity_list" "$3"
}

echo '           CPU0       CPU1' >"$host/proc/interrupts"
npu=0
for address in $(sed -n 's/.*| \([0-9A-F]*:[0-9A-F]*:[0-9A-F]*\.[0-9]\) .*/\1/p' \
    "$host/cmd/npu-smi-info.txt" | tr A-F a-f); do
    set_irq $((400 + npu * 2)) sq_send_trigger_irq $((npu * 20)) "$address"
    set_irq $((401 + npu * 2)) cq_update_irq $((npu * 20 + 1)) "$address"
    npu=$((npu + 1))
done

# -- What is where ---------------------------------------------------------------

is_idle() {
    mv "$list" "$list.away" && : >"$list"
    says 0 "16 devices, 16 idle; 0 workers" status && grep -q '^npu15 *300-319' "$out/said"
    result=$?
    rm "$list" && mv "$list.away" "$list" && return $result
}
check "an idle host: every NPU with its pool" is_idle

for npu in $npus; do start_worker_of "$npu" || exit 1; done

one_screen() {
    says 1 "16 devices, 0 idle; 16 workers: 16 unbound" status && lines=$(wc -l <"$out/said") &&
        [ "$lines" -le 40 ] && [ "$(width)" -le 80 ] &&
        [ "$(grep -c ' VLLM::Worker_TP ' "$out/said")" = 16 ] &&
        [ "$(grep -c ' 7 unbound' "$out/said")" = 16 ]
}
check "16 NPUs with a worker each are one screen of 80 columns" one_screen

# Each worker on its pool, NPU 3 and 4 with threads that have moved since, NPU 5 unbound.
is_bound() {
    for npu in $npus; do
        [ "$npu" = 5 ] || bind_npu "$npu" || return 1
    done
    move_to "$all" "$(pid_on 3)" && move_to 1-2 "$(pid_on 4)" &&
        says 1 "16 devices, 0 idle; 16 workers: 13 right, 2 unbound, 1 elsewhere" status &&
        [ "$(grep -c ' 7 right .* bound$' "$out/said")" = 13 ] &&
        grep -q " $(pid_on 3) .* 1/7 unbound .* bound$" "$out/said" &&
        grep -q " $(pid_on 4) .* 1/7 elsewhere .* bound$" "$out/said" &&
        grep -q 'npu4: elsewhere: 1 main$' "$out/said" &&
        grep -q 'npu3: unbound: 1 main$' "$out/said" &&
        grep -q " $(pid_on 5) .* 7 unbound .* -$" "$out/said"
}
check "workers that are bound, and threads that have moved since" is_bound

is_in_json() {
    says 1 "" status --json && fits status &&
        has '.devices[3].workers[0].threads.main.unbound' 1 &&
        has '.devices[3].workers[0].threads.acl.right' 1 &&
        has '.devices[4].workers[0].place' elsewhere && has '.devices[4].pool' 80-99 &&
        has '.devices[4].workers[0].bound_device' npu4 && has '.devices[5].workers[0].bound' 0 &&
        has '.devices[5].workers[0].rank' 5 &&
        has '.devices[5].workers[0].rank_variable' RANK &&
        has '.devices[5].workers[0].visible' 5 && has .right 0 && has .workers.right 13 &&
        has '.devices[5].workers[0].memory' ""
}
check "status --json" is_in_json

shows_interrupts() {
    put proc/irq/406/smp_affinity_list 0-319
    put proc/irq/407/smp_affinity_list 0-319
    says 1 "; 2 interrupts elsewhere" status &&
        grep -q '^npu3 .* 2 interrupts elsewhere on 0-319 ' "$out/said" &&
        grep -q '^npu4 .* 2 interrupts right on 80-81 ' "$out/said" &&
        says 1 "" status --json &&
        has '.devices[3].interrupts[0].cpus' 0-319 &&
        has '.devices[3].interrupts[0].place' elsewhere &&
        has '.devices[3].interrupts[1].cpu' 61 && has '.devices[4].interrupts[1].kind' cq
    result=$?
    put proc/irq/406/smp_affinity_list 60
    put proc/irq/407/smp_affinity_list 61
    return $result
}
check "interrupts that are elsewhere" shows_interrupts

# Where one node of this machine has memory, its place is no choice, as for apply.
all_is_right() {
    bind_npu 3 && bind_npu 4 && bind_npu 5 &&
        says 0 "16 devices, 0 idle; 16 workers: 16 right" status && says 0 "" status --quiet &&
        [ ! -s "$out/said" ] && [ ! -s "$out/err" ] &&
        { [ "$(cat /sys/devices/system/node/has_memory 2>/dev/null)" != 0 ] ||
            says 0 "16 devices, 0 idle; 16 workers: 16 right" "$CPUBIND" status --root "$host" \
                --allowed "$all"; }
}
check "exit 0 when all is right" all_is_right

# Two processes on one NPU, and one that has ended.
shows_two_processes() {
    start_worker_of 0 && use_npu 999999999 1 &&
        says 1 "16 devices, 0 idle; 17 workers: 16 right, 1 unbound" status &&
        says 1 "" status --json && has '.devices[0].workers[1].pid' "$worker" &&
        has '.devices[0].workers[1].index' 1 && has '.devices[0].workers[1].processes' 2
    result=$?
    end_worker_of 0 "$worker"
    rm -r "$list/999999999-0-dev-1" && return $result
}
check "two processes of an NPU; a process that has ended" shows_two_processes

# A record that is damaged is an error of its worker alone.
names_a_damaged_record() {
    record=/run/cpubind/$(pid_on 2).record
    cp "$record" "$out/record" && echo junk >"$record"
    says 3 "16 devices, 0 idle; 16 workers: 15 right, 1 unknown" status &&
        grep -q " $(pid_on 2) .* unknown " "$out/said" &&
        grep -q "npu2: the record of process $(pid_on 2)" "$out/said" &&
        says 3 "" status --json && has '.devices[2].workers[0].threads' "" &&
        [ -n "$(json '.devices[2].workers[0].error')" ]
    result=$?
    cp "$out/record" "$record" && return $result
}
check "a damaged record is an error of its worker alone" names_a_damaged_record

# What the driver's list and the table of npu-smi cannot tell is an error, no idle host.
unreadable_is_not_idle() {
    mv "$list" "$out/kept" && mv "$host/cmd/npu-smi-info.txt" "$out/info" &&
        says 3 "who runs is not known: npu-smi info: it is not there" status
    result=$?
    mv "$out/kept" "$list" && mv "$out/info" "$host/cmd/npu-smi-info.txt" && return $result
}
check "an input that cannot be read is no idle host" unreadable_is_not_idle

names_ways_out() {
    says 3 "npu-smi is not on PATH, and the files of the driver do not name the NPUs" \
        env PATH=/nowhere "$CPUBIND" status -o device-type=a3 --json &&
        says 3 "who runs is not known: npu-smi info: it is not there" env PATH=/nowhere \
            "$CPUBIND" \
            status --devices npu0-3 -o total=4 -o device-type=a3 --allowed 0-1 && said '4 devices'
}
check "without npu-smi the NPUs can be named" names_ways_out

# -- Which NPU a process has -----------------------------------------------------

# Without --device the NPU is found; of two processes of an NPU each has a part of the pool.
finds_the_npu() {
    of_7=$(pid_on 7)
    start_sleeper || return 1
    set -- --root "$host" --allowed "$all" --memory none --quiet -o rules=reference
    says 0 "NPU7: main=[142 " "$CPUBIND" apply "$@" --pid "$of_7" &&
        says 0 "npu7" "$CPUBIND" verify --pid "$of_7" --memory none &&
        says 1 "it uses no device; processes that use one: $(pid_on 0) (npu0), " \
            "$CPUBIND" apply "$@" --pid "$sleeper" &&
            said 'and 8 more; its environment has no rank' &&
        says 1 "nothing is on record of process $sleeper; name the device that it drives: --device NAME; " \
            "$CPUBIND" verify "$@" --pid "$sleeper" && use_npu "$of_7" 8 &&
        says 1 "it uses 2 devices, and a process is bound to one; name" "$CPUBIND" apply "$@" \
            --pid "$of_7" && says 0 "NPU7: main=[142 " "$CPUBIND" apply "$@" --pid "$of_7" \
                --device npu7 &&
        rm -r "$list/$of_7-0-dev-8" && start_worker_of 7 &&
        says 0 "NPU7: main=[151 " "$CPUBIND" apply "$@" --pid "$worker" &&
        says 0 "npu7" "$CPUBIND" verify --pid "$worker" --memory none
    result=$?
    end_worker_of 7 "$worker"
    return $result
}
check "apply and verify find the NPU of a process" finds_the_npu

# -- --watch ---------------------------------------------------------------------

has_lines() { # number, file
    [ "$(wc -l <"$2")" -ge "$1" ]
}

# A line for each NPU and worker, then one for each change.
writes_changes() {
    : >"$out/changes"
    "$CPUBIND" status --root "$host" --allowed "$all" --memory none --watch 1 >"$out/changes" \
        2>&1 &
    watcher=$!
    becomes has_lines 32 "$out/changes" && move_to 1-2 "$(pid_on 4)" &&
        becomes has_lines 33 "$out/changes" || return 1
    kill $watcher
    wait $watcher
    bind_npu 4 && [ "$(grep -c ': VLLM::Worker_TP, right, bound$' "$out/changes")" = 16 ] &&
        tail -1 "$out/changes" | grep -q \
            "Z npu4: process $(pid_on 4): VLLM::Worker_TP, elsewhere, 1 threads elsewhere, bound$"
}
check "--watch into a pipe: a line for each change" writes_changes

# A terminal has the table once, then lines.
writes_to_a_terminal() {
    : >"$out/drawn"
    script -fqec "'$CPUBIND' status --root '$host' --allowed '$all' --memory none --watch 1" \
        "$out/typescript" >"$out/drawn" 2>&1 </dev/null &
    watcher=$!
    becomes grep -aq '^npu0 ' "$out/drawn" && move_to 3-4 "$(pid_on 4)" &&
        becomes grep -aq "Z npu4: process $(pid_on 4): .*, elsewhere, 1 threads" "$out/drawn"
    result=$?
    kill $watcher
    wait $watcher
    [ $result -eq 0 ] && [ "$(grep -ac '^npu0 ' "$out/drawn")" = 2 ] &&
        ! grep -aq 'Z npu0' "$out/drawn" && bind_npu 4
}
if script -qec true /dev/null >"$out/other" 2>&1 </dev/null; then
    check "--watch on a terminal: the table, then a line for each change" writes_to_a_terminal
else
    skip "--watch on a terminal: the table, then a line for each change" "there are no terminals"
fi
finish
