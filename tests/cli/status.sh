#!/bin/sh
# status.sh - test status, and apply that finds the NPU of a process, on 16 NPUs; prints TAP
#
#   tests/cli/status.sh          from the top folder; BUILD is where the command and outputs are
#
# The NPUs, their interrupts and the driver's list of processes are those of a folder; the
# processes are real, and have the CPUs that affinity_shim.c gives them. With mounts of its own
# it does not touch the records of this machine: it needs root.
own_run=-m
wants_shim=yes
. tests/support/start.sh
if [ "$BIND_MOUNTS" != own ]; then
    skip "status" "needs root that may mount"
    finish
    exit
fi
host=$out/host
CPUBIND_SHIM=$out/shim
CPUBIND_SHIM_CPUS=320
export CPUBIND_SHIM CPUBIND_SHIM_CPUS
mkdir "$out/shim" && chmod 777 "$out/shim" && build_shim "$out/VLLM::Worker_TP" &&
    "$CPUBIND" fixture export a3-320cpu-16npu "$host" --quiet || exit 1

cpubind() { # arguments
    env LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 "$CPUBIND" "$@"
}

status() { # arguments
    cpubind status --root "$host" --allowed 0-319 "$@"
}

# stdout and stderr are in $out/said.
says() { # exit status, words that the output must hold, command ...
    want=$1
    words=$2
    shift 2
    "$@" >"$out/said" 2>&1
    got=$?
    [ "$got" -eq "$want" ] && grep -qF -e "$words" "$out/said" && return 0
    cat "$out/said"
    echo "$*: exit status $got, expected $want and \"$words\""
    return 1
}

json() { # path
    sqlite3 :memory: "SELECT readfile('$out/said') ->> '$1'"
}

# Starts a worker of an NPU; $pid is its number.
start_worker() { # NPU
    RANK=$1 ASCEND_RT_VISIBLE_DEVICES=$1 "$out/VLLM::Worker_TP" acl_thread release_thread a b c d \
        <"$out/in" >"$out/ready.$1" 9>&- &
    pid=$!
    for _ in $(seq 100); do
        ! grep -qs ready "$out/ready.$1" || break
        sleep 0.05
    done
    use_npu "$pid" "$1"
}

use_npu() { # pid, NPU
    mkdir -p "$host/proc/trs_core/proc/$1-0-dev-$2"
    : >"$host/proc/trs_core/proc/$1-0-dev-$2/summary"
}

pid_of() { # NPU
    for entry in "$host"/proc/trs_core/proc/*-dev-"$1"; do
        entry=${entry##*/}
        echo "${entry%%-*}"
    done
}

bind_npu() { # NPU
    cpubind apply --root "$host" --allowed 0-319 --pid "$(pid_of "$1")" --npu "$1" --memory none --quiet >"$out/bound" 2>&1
}

# Two interrupts of each NPU, on the CPUs of its plan.
add_interrupts() {
    chmod -R u+w "$host"
    npu=0
    printf '           CPU0       CPU1\n' >"$host/proc/interrupts"
    for address in $(sed -n 's/.*| \([0-9A-F]*:[0-9A-F]*:[0-9A-F]*\.[0-9]\) .*/\1/p' "$host/cmd/npu-smi-info.txt" |
        tr A-F a-f); do
        set_irq $((400 + npu * 2)) sq_send_trigger_irq $((npu * 20)) "$address"
        set_irq $((401 + npu * 2)) cq_update_irq $((npu * 20 + 1)) "$address"
        npu=$((npu + 1))
    done
}

set_irq() { # number, action, CPUs, address
    mkdir -p "$host/proc/irq/$1" "$host/sys/bus/pci/devices/$4/msi_irqs"
    printf '%d:  1  2  ITS-MSI %d Edge  %s\n' "$1" "$1" "$2" >>"$host/proc/interrupts"
    echo msix >"$host/sys/bus/pci/devices/$4/msi_irqs/$1"
    echo "$3" >"$host/proc/irq/$1/smp_affinity_list"
}

add_interrupts
mkfifo "$out/in"
mkdir -p "$host/proc/trs_core/proc"
exec 9<>"$out/in"

is_idle() {
    : >"$host/proc/trs_core/.keep"
    rmdir "$host/proc/trs_core/proc" && : >"$host/proc/trs_core/proc"
    says 0 "16 devices, 16 idle; 0 workers" status --memory none && grep -q '^npu15 *pool 300-319' "$out/said"
    result=$?
    rm "$host/proc/trs_core/proc"
    return $result
}

one_screen() {
    says 1 "16 devices, 0 idle; 16 workers: 16 unbound" status --memory none &&
        lines=$(wc -l <"$out/said") && [ "$lines" -ge 24 ] && [ "$lines" -le 40 ] &&
        [ "$(awk '{ if (length > n) n = length } END { print n }' "$out/said")" -le 80 ] &&
        [ "$(grep -c ' VLLM::Worker_TP ' "$out/said")" = 16 ] &&
        [ "$(grep -c ' 7 unbound ' "$out/said")" = 16 ]
}


# Each worker on its pool, NPU 3 and 4 with threads that have moved since, NPU 5 unbound.
is_bound() {
    for npu in 0 1 2 3 4 6 7 8 9 10 11 12 13 14 15; do bind_npu $npu || return 1; done
    rm "$CPUBIND_SHIM/$(pid_of 3)" && echo 1-2 >"$CPUBIND_SHIM/$(pid_of 4)"
    says 1 "16 devices, 0 idle; 16 workers: 13 right, 2 unbound, 1 elsewhere" status --memory none &&
        [ "$(grep -c ' 7 right .* bound$' "$out/said")" = 13 ] &&
        grep -q " $(pid_of 3) .* 1/7 unbound .* bound$" "$out/said" &&
        grep -q " $(pid_of 4) .* 1/7 elsewhere .* bound$" "$out/said" &&
        grep -q '^ *elsewhere: 1 main$' "$out/said" && grep -q '^ *unbound: 1 main$' "$out/said" &&
        grep -q " $(pid_of 5) .* 7 unbound .* -$" "$out/said"
}

is_json() {
    says 1 "" status --memory none --json && [ "$(json '$.devices[3].workers[0].threads.main.unbound')" = 1 ] &&
        [ "$(json '$.devices[3].workers[0].threads.acl.right')" = 1 ] &&
        [ "$(json '$.devices[4].workers[0].place')" = elsewhere ] && [ "$(json '$.devices[4].pool')" = 80-99 ] &&
        [ "$(json '$.devices[4].workers[0].bound_npu')" = 4 ] && [ "$(json '$.devices[5].workers[0].bound')" = 0 ] &&
        [ "$(json '$.devices[5].workers[0].rank')" = 5 ] && [ "$(json '$.devices[5].workers[0].rank_variable')" = RANK ] &&
        [ "$(json '$.devices[5].workers[0].visible')" = 5 ] && [ "$(json '$.right')" = 0 ] &&
        [ "$(json '$.workers.right')" = 13 ] && [ "$(json '$.devices[5].workers[0].memory')" = "" ]
}

shows_interrupts() {
    echo 0-319 >"$host/proc/irq/406/smp_affinity_list" && cp "$host/proc/irq/406/smp_affinity_list" \
        "$host/proc/irq/407/smp_affinity_list"
    says 1 "; 2 interrupts elsewhere" status --memory none &&
        grep -q '^npu3 .* 2 interrupts elsewhere on 0-319$' "$out/said" &&
        grep -q '^npu4 .* 2 interrupts right on 80-81$' "$out/said" &&
        says 1 "" status --memory none --json && [ "$(json '$.devices[3].interrupts[0].cpus')" = 0-319 ] &&
        [ "$(json '$.devices[3].interrupts[0].place')" = elsewhere ] &&
        [ "$(json '$.devices[3].interrupts[1].cpu')" = 61 ] && [ "$(json '$.devices[4].interrupts[1].kind')" = cq ]
    result=$?
    status >"$out/picture"
    echo 60 >"$host/proc/irq/406/smp_affinity_list" && echo 61 >"$host/proc/irq/407/smp_affinity_list"
    return $result
}

all_is_right() {
    bind_npu 3 && bind_npu 4 && bind_npu 5 &&
        says 0 "16 devices, 0 idle; 16 workers: 16 right" status --memory none &&
        status --memory none --quiet >"$out/said" 2>&1 && [ ! -s "$out/said" ] || return 1
    # One node of this machine has memory: its place is no choice, as for apply.
    [ "$(cat /sys/devices/system/node/has_memory 2>/dev/null)" != 0 ] ||
        says 0 "16 devices, 0 idle; 16 workers: 16 right" status
}

# Two processes on one NPU, and one that has ended.
shows_two_processes() {
    start_worker 0 && second=$pid && use_npu 999999999 1
    says 1 "16 devices, 0 idle; 17 workers: 16 right, 1 unbound" status --memory none &&
        says 1 "" status --memory none --json && [ "$(json '$.devices[0].workers[1].pid')" = "$second" ] &&
        [ "$(json '$.devices[0].workers[1].index')" = 1 ] && [ "$(json '$.devices[0].workers[1].processes')" = 2 ]
    result=$?
    kill "$second"
    wait "$second" 2>/dev/null
    rm -r "$host/proc/trs_core/proc/$second-0-dev-0" "$host/proc/trs_core/proc/999999999-0-dev-1"
    return $result
}

# What the driver's list and the table of npu-smi cannot tell is an error, no idle host.
unreadable_is_not_idle() {
    mv "$host/proc/trs_core/proc" "$out/kept" && mv "$host/cmd/npu-smi-info.txt" "$out/info" &&
        says 3 "who runs is not known: npu-smi info: it is not there" status --memory none
    result=$?
    mv "$out/kept" "$host/proc/trs_core/proc" && mv "$out/info" "$host/cmd/npu-smi-info.txt"
    return $result
}

# Into a pipe: a line for each NPU and worker, then a line for each change.
writes_changes() {
    : >"$out/changes"
    # Not by a function: the signal would end its shell, and the command would stay.
    env LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 "$CPUBIND" status --root "$host" \
        --allowed 0-319 --memory none --watch 1 >"$out/changes" 2>&1 9>&- &
    watcher=$!
    for _ in $(seq 100); do
        [ "$(wc -l <"$out/changes")" -lt 32 ] || break
        sleep 0.1
    done
    echo 1-2 >"$CPUBIND_SHIM/$(pid_of 4)"
    for _ in $(seq 100); do
        [ "$(wc -l <"$out/changes")" -lt 33 ] || break
        sleep 0.1
    done
    kill $watcher
    wait $watcher
    bind_npu 4 || return 1
    [ "$(wc -l <"$out/changes")" = 33 ] && [ "$(grep -c ': VLLM::Worker_TP, right, bound$' "$out/changes")" = 16 ] &&
        tail -1 "$out/changes" | grep -q "Z npu4: process $(pid_of 4): VLLM::Worker_TP, elsewhere, 1 threads elsewhere, bound$"
}

# On a terminal: another screen, which a signal leaves again.
draws_a_terminal() {
    cat >"$out/draw" <<SCRIPT
#!/bin/sh
stty rows 12 cols 60
env LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 "$CPUBIND" status --root "$host" \
    --allowed 0-319 --memory none --watch 1 &
sleep 1.5
kill -TERM \$!
wait \$!
SCRIPT
    chmod +x "$out/draw"
    script -qec "$out/draw" /dev/null >"$out/drawn" 2>&1 </dev/null 9>&-
    grep -q 'the window has no room for the rest' "$out/drawn" &&
        [ "$(grep -c "$(printf '\033')\[?1049h" "$out/drawn")" -ge 1 ] &&
        tail -c 60 "$out/drawn" | grep -q "$(printf '\033')\[?25h$(printf '\033')\[?1049l" &&
        [ "$(grep -c '^.*npu0 ' "$out/drawn")" -ge 2 ]
}

# Without --npu the NPU is found; of two processes of an NPU each has a part of the pool.
finds_the_npu() {
    set -- --root "$host" --allowed 0-319 --memory none --quiet --rules reference
    says 0 "NPU7: main=[142 " cpubind apply "$@" --pid "$(pid_of 7)" &&
        says 0 "npu7" cpubind verify --pid "$(pid_of 7)" --memory none &&
        says 1 "it uses no device; processes that use one: $(pid_of 0) (npu0), " \
            cpubind apply "$@" --pid $$ && grep -q 'and 8 more; its environment has no rank' "$out/said" &&
        says 1 "nothing is on record of process $$; name the device that it drives: --device NAME; " \
            cpubind verify "$@" --pid $$ &&
        use_npu "$(pid_of 7)" 8 && says 1 "it uses 2 devices, and a process is bound to one; name" \
            cpubind apply "$@" --pid "$(pid_of 7)" &&
        says 0 "NPU7: main=[142 " cpubind apply "$@" --pid "$(pid_of 7)" --npu 7 &&
        rm -r "$host/proc/trs_core/proc/$(pid_of 7)-0-dev-8" && start_worker 7 && second=$pid &&
        says 0 "NPU7: main=[151 " cpubind apply "$@" --pid "$second" &&
        says 0 "npu7" cpubind verify --pid "$second" --memory none
    result=$?
    kill "$second"
    wait "$second" 2>/dev/null
    rm -r "$host/proc/trs_core/proc/$second-0-dev-7"
    return $result
}

# A record that is damaged is an error of its worker alone.
names_a_damaged_record() {
    record=/run/cpubind/$(pid_of 2).record
    cp "$record" "$out/record" && echo junk >"$record"
    says 3 "16 devices, 0 idle; 16 workers: 15 right, 1 unknown" status --memory none &&
        grep -q "^ *$(pid_of 2) .* unknown " "$out/said" && grep -q "^ *the record of process $(pid_of 2)" "$out/said" &&
        [ "$(awk '{ if (length > n) n = length } END { print n }' "$out/said")" -le 80 ] &&
        says 3 "" status --memory none --json && [ "$(json '$.devices[2].workers[0].threads')" = "" ] &&
        [ -n "$(json '$.devices[2].workers[0].error')" ]
    result=$?
    cp "$out/record" "$record"
    return $result
}

names_ways_out() {
    says 3 "npu-smi is not on PATH, and the files of the driver do not name the NPUs" \
        env PATH=/nowhere "$CPUBIND" status --json && says 3 "who runs is not known: npu-smi info: it is not there" \
        env PATH=/nowhere "$CPUBIND" status --npus 0-3 --total 4 --device-type a3 --allowed 0-1 && grep -q '^4 devices' "$out/said" &&
        says 2 "no such option" "$CPUBIND" status --pid 1 && says 2 "seconds from 1 to 3600" "$CPUBIND" status --watch 0
}

check "an idle host: every NPU with its pool" is_idle
for npu in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do start_worker $npu; done
check "16 NPUs with a worker each are one screen of 80 columns" one_screen
check "workers that are bound, and threads that have moved since" is_bound
check "status --json" is_json
check "interrupts that are elsewhere" shows_interrupts
check "exit 0 when all is right" all_is_right
check "two processes of an NPU; a process that has ended" shows_two_processes
check "a damaged record is an error of its worker alone" names_a_damaged_record
check "without npu-smi the NPUs can be named" names_ways_out
check "apply and verify find the NPU of a process" finds_the_npu
check "an input that cannot be read is no idle host" unreadable_is_not_idle
check "--watch into a pipe: a line for each change" writes_changes
if script -qec true /dev/null >"$out/output" 2>&1 </dev/null; then
    check "--watch on a terminal draws another screen, and leaves it" draws_a_terminal
else
    skip "--watch on a terminal draws another screen, and leaves it" "there are no terminals"
fi
finish
