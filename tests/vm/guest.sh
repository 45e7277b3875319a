#!/bin/sh
# guest.sh - checks plan, apply, run, verify and restore inside an Ascend host; prints TAP
#
# /host/sections names the sections that run: binding, and views, rules, crowd, binder, measure,
# service, doctor, numa, driver, newcomer, mixed, cards, pods and slurm, which are in files of
# these names, and scenes, which are those of tests/scenes.
#
# Runs in a virtual machine that init.sh set up. The expected values are in /host, which host.sh
# wrote; the actual values are read from /proc and /sys, and must not come from cpubind. The
# machine is emulated, and may be slow: checks wait for events and must not depend on times.

CPUBIND_ISOLATED=yes
BUILD=/build
# The machine is slow, and polls are not free.
patience=300 pause=0.2
export CPUBIND_ISOLATED BUILD patience pause
. tests/scenes/lib.sh

# The service reads this machine, not a folder.
# shellcheck disable=SC2034 # start_service uses it
host=
read -r product </host/product
all=$(cut -d ' ' -f 1 /host/npus | paste -s -d ' ')
# The pools of host.sh are those of the reference. On an A2 they are those of the rules near, too:
# there the default is checked.
[ "$product" = a2 ] || export CPUBIND_RULES=reference

# -- Results -----------------------------------------------------------------

# A check that passes as soon as the command succeeds.
check_soon() { # text, command ...
    text=$1
    shift
    check "$text" becomes "$@"
}

# Runs a command that must exit with a code; writes its output to /run/said.
exits() { # code, command ...
    code=$1
    shift
    "$@" >/run/said 2>&1
    got=$?
    [ $got -eq "$code" ] && return 0
    echo "$*: exit $got, should be $code"
    cat /run/said
    return 1
}

# The scenes of tests/scenes that can run in a machine, on its NPU 0. Their checks are counted as
# those of this script.
scenes() {
    for scene in tests/scenes/*.sh; do
        grep -q '^# machines: yes' "$scene" || continue
        sh "$scene" >/run/scene 2>&1
        # shellcheck disable=SC2154 # tap.sh sets tests
        awk -v n="$tests" -v name="$(basename "$scene" .sh)" '
            /^(not )?ok / { n++; sub(/ok [0-9]+ -/, "ok " n " - " name ":") }
            !/^1\.\./' /run/scene
        tests=$((tests + $(grep -c -E '^(not )?ok ' /run/scene)))
        check "$scene has run to its end" grep '^1\.\.' /run/scene
    done
}

# -- Expected values ---------------------------------------------------------

# Sets the variables of one NPU from its line in /host/npus.
npu() { # logic id
    # shellcheck disable=SC2034 # views.sh uses phy
    while read -r logic _ _ phy address near place pool memory; do
        [ "$logic" = "$1" ] && break
    done </host/npus
    first=${pool%-*}
    last=${pool#*-}
    if [ "$product" = 950 ]; then
        main=$pool
        acl=$pool
        release=$pool
    else
        main=$((first + 2))-$((last - 2))
        acl=$((last - 1))
        release=$last
    fi
    pid=
    [ -e "/run/npus/$1" ] && read -r pid <"/run/npus/$1"
}

for_all() { # command ...; all of them must succeed
    bad=0
    for i in $all; do "$@" "$i" || bad=1; done
    return $bad
}

device_is_there() { # logic id
    npu "$1"
    at=/sys/bus/pci/devices/$address
    read -r vendor <"$at/vendor"
    read -r node <"$at/numa_node"
    [ "$vendor" = 0x19e5 ] && [ "$node" = "$near" ] && return 0
    echo "NPU $1: $address is of vendor $vendor near node $node, should be near $near"
    return 1
}

is_planned() { # logic id; the plan is in /run/plan
    npu "$1"
    irq="\"$first-$((first + 1))\""
    roles="\"main\": \"$main\", \"acl\": \"$acl\", \"release\": \"$release\""
    if [ "$product" = 950 ]; then
        irq=null
        roles="\"main\": \"$main\", \"acl\": null, \"release\": null"
    fi
    for words in "\"npu\": $1, " "\"pool\": \"$pool\", \"irq\": $irq, $roles" \
        "\"memory_node\": $memory, "; do
        if ! tr '{' '\n' </run/plan | grep "\"npu\": $1, " | grep -qF "$words"; then
            echo "NPU $1: the plan does not say $words"
            cat /run/plan
            return 1
        fi
    done
}

# -- Actual values -----------------------------------------------------------

# Prints "process thread name CPUs" for each thread.
threads() { # pid ...
    for process in "$@"; do
        cat "/proc/$process/task/"*/status 2>/dev/null
    done | awk '/^Name:/ { name = $2 } /^Tgid:/ { process = $2 } /^Pid:/ { thread = $2 }
        /^Cpus_allowed_list:/ { print process, thread, name, $2 }'
}

threads_are_right() { # logic id
    npu "$1"
    threads_run_on "$@"
}

# The expected CPUs are in the variables of `npu`.
threads_run_on() { # logic id
    threads "$pid" | awk -v npu="$1" -v main="$main" -v acl="$acl" -v release="$release" '
        {
            want = $3 == "acl_thread" ? acl : main
            if ($3 == "release_thread" || $3 ~ /^(RT_RECYCLE|hccl_watchdog)/)
                want = release
            if ($4 != want && ++bad)
                print "NPU " npu ": thread " $2 " (" $3 ") runs on " $4 ", should run on " want
            n++
            seen[$3]++
        }
        END {
            if (n < 20 || !seen["acl_thread"] || !seen["release_thread"]) {
                print "NPU " npu ": only " n + 0 " threads"
                exit 1
            }
            exit bad > 0
        }'
}

threads_are_all_on() { # CPUs, pid
    threads "$2" | awk -v cpus="$1" '$4 != cpus { print; bad = 1 } END { exit bad || !NR }'
}

# Pages of files are shared with other workers and are not moved. The memory that the worker
# filled on all nodes, 8 MiB, must be on the node of the plan.
pages_are_right() { # logic id
    npu "$1"
    pages_are_on_node "NPU $1"
}

# The node is in the variables of `npu`.
pages_are_on_node() { # name of the device
    awk -v name="$1" -v node="N$memory" '
        /file=/ { next }
        {
            away = 0
            for (i = 2; i <= NF; i++)
                if ($i ~ /^N[0-9]+=/) {
                    split($i, page, "=")
                    if (page[1] == node)
                        there += page[2]
                    else
                        away = 1
                }
            if (away && ++bad)
                print name ": not on " node ": " $0
        }
        END {
            if (there < 2048)
                print name ": only " there + 0 " pages on " node
            exit bad || there < 2048
        }' "/proc/$pid/numa_maps"
}

msi_irqs() { # PCI address
    for at in "/sys/bus/pci/devices/$1/msi_irqs/"*; do echo "${at##*/}"; done | sort -n
}

# Writes "address place irq kind" of each interrupt of the NPUs; these do not change later.
find_irqs() {
    awk '{ sub(":", "", $1); print $1, $NF }' /proc/interrupts >/run/names
    cut -d ' ' -f 5 /host/npus | sort -u | while read -r address; do
        place=-1
        for irq in $(msi_irqs "$address"); do
            kind=$(sed -n "s/^$irq //p" /run/names)
            case $kind in trs-mbox-*) place=$((place + 1)) ;; esac
            [ -n "$kind" ] && echo "$address $place $irq $kind"
        done
    done >/run/irqs
}

irqs() {
    while read -r address place irq kind; do
        read -r may <"/proc/irq/$irq/smp_affinity_list"
        does=
        read -r does <"/proc/irq/$irq/effective_affinity_list"
        echo "$address $place $irq $kind $may ${does:-none}"
    done </run/irqs
}

# SQ, CQs and mailbox of these NPUs are on their CPUs; all other interrupts are on all CPUs.
irqs_are_right() { # logic id ...
    for i in "$@"; do
        npu "$i"
        [ "$product" = 950 ] || echo "npu $i $address $place $first $((first + 1))"
    done >/run/bound
    irqs | awk -v everywhere="$everywhere" -v n_npu="$(wc -l </host/npus)" '
        $1 == "npu" { npu[$3 " " $4] = $2; sq[$3 " " $4] = $5; cq[$3 " " $4] = $6; next }
        {
            key = $1 " " $2
            want = everywhere
            if (key in npu && $4 == "sq_send_trigger_irq")
                want = sq[key]
            if (key in npu && $4 ~ /^(cq_update_irq|trs-mbox-.*)$/)
                want = cq[key]
            if ($5 != want || (want != everywhere && $6 != want)) {
                print "interrupt " $3 " (" $4 " of " key ") may go to " $5 ", goes to " $6 \
                    ", should go to " want
                bad = 1
            }
            n[$4]++
        }
        END {
            if (n["sq_send_trigger_irq"] != n_npu || n["cq_update_irq"] != 16 * n_npu) {
                print n["sq_send_trigger_irq"] " SQ, " n["cq_update_irq"] " CQ"
                exit 1
            }
            exit bad
        }' /run/bound -
}

memory_was_moved() {
    for_all pages_are_right && return 0
    grep -h -E 'memory|node [0-9] +[0-9]|warning' /run/apply.*
    return 1
}

irqs_were_moved() {
    # shellcheck disable=SC2086
    irqs_are_right $all && return 0
    grep -h -E 'irq|interrupt|warning|npu-smi' /run/apply.* | sort | uniq -c
    return 1
}

# Only a 950 has these threads. They run on node 0 without CPU 0.
uvb_is_right() {
    threads "$uvb" | awk '
        $3 == "uvb_poll_window" { n++; if ($4 != "1-7") { print; bad = 1 } }
        $3 != "uvb_poll_window" && $4 == "1-7" { print; bad = 1 }
        END { exit bad || n != 4 }'
}

# Writes everything that a binding changes to a file.
everything() { # file
    # shellcheck disable=SC2046
    {
        threads $(cat /run/npus/*) $uvb
        irqs | cut -d ' ' -f 1-5
    } >"$1"
}

nothing_differs() { # file of `everything`
    everything /run/now
    diff "$1" /run/now
}

# -- Workers -----------------------------------------------------------------

start_npu() { # logic id
    n_node=$(wc -l </host/nodes)
    worker "$n_node" $((8 / n_node)) "$1" >"/run/ready.$1" 2>&1 &
    echo $! >"/run/npus/$1"
}

worker_is_ready() { # logic id
    grep -q ready "/run/ready.$1" && return 0
    echo "NPU $1: the worker is not ready"
    cat "/run/ready.$1"
    return 1
}

end_workers() {
    for at in /run/npus/*; do
        [ -e "$at" ] || continue
        read -r pid <"$at"
        kill "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
        rm "$at"
    done
}

apply_npu() { # logic id, more options
    id=$1
    shift
    npu "$id"
    cpubind apply --pid "$pid" --device "npu$id" -o memory-time=300 "$@"
}

# Starts all applies at the same time; each must exit with 0.
apply_all() { # more options
    for i in $all; do
        {
            apply_npu "$i" "$@" >"/run/apply.$i" 2>&1
            echo $? >"/run/status.$i"
        } &
        jobs="$jobs $!"
    done
    # shellcheck disable=SC2086
    wait $jobs
    jobs=
    for_all applied
}

applied() { # logic id
    read -r got <"/run/status.$1"
    [ "$got" = 0 ] && return 0
    echo "NPU $1: apply: exit $got"
    cat "/run/apply.$1"
    return 1
}

verify_npu() { # logic id
    npu "$1"
    exits 0 cpubind verify --pid "$pid"
}

restore_npu() { # logic id
    npu "$1"
    exits 0 cpubind restore --pid "$pid"
}

no_record_is_left() {
    ! ls /run/cpubind/*.record 2>/dev/null
}

# -- Steps -------------------------------------------------------------------

bind_all() {
    check "eight applies at the same time succeed" apply_all
    check "threads are where the plan has them" for_all threads_are_right
    check "memory is on the node of the pool" memory_was_moved
    if [ "$product" = 950 ]; then
        check "no interrupt was moved" irqs_are_right
        check "the UVB threads of the host are on node 0 without CPU 0" uvb_is_right
    else
        check "SQ and 16 CQs are on their CPUs, other interrupts are not moved" irqs_were_moved
    fi
    check "verify finds no difference" for_all verify_npu
    check "verify --json is an object" verify_json
}

verify_json() {
    npu 0
    exits 0 cpubind verify --pid "$pid" --json
    grep -q '^{"cpubind": .*}$' /run/said
}

irq_drift_is_named() {
    irq=$(awk '/sq_send_trigger_irq/ { print $3; exit }' /run/irqs)
    read -r before <"/proc/irq/$irq/smp_affinity_list"
    address=$(awk '/sq_send_trigger_irq/ { print $1; exit }' /run/irqs)
    npu "$(awk -v at="$address" '$5 == at && $7 == 0 { print $1 }' /host/npus)"
    echo "$everywhere" >"/proc/irq/$irq/smp_affinity_list"
    exits 1 cpubind verify --pid "$pid" && grep -w "$irq" /run/said
    named=$?
    cat /run/said
    echo "$before" >"/proc/irq/$irq/smp_affinity_list"
    return $named
}

# An ended child is a zombie until the shell waits for it.
has_ended() { # pid
    ! grep -q '^State:[[:space:]]*[^Z[:space:]]' "/proc/$1/status" 2>/dev/null
}

restore_all() {
    check "restore" for_all restore_npu
    check "all is as before" nothing_differs /run/before
    check "no record is left" no_record_is_left
}

# Runs a command by `cpubind run` until it ends. Sets $got to its exit code and $child to its
# pid, and writes its output to /run/said. Then restores the interrupts that it moved.
run_bound() { # logic id, command ...
    id=$1
    shift
    cpubind run --device "npu$id" -- "$@" >/run/said 2>/run/complained &
    child=$!
    wait $child
    got=$?
    cpubind restore --pid $child >/run/restored 2>&1 && return 0
    echo "NPU $id: restore --pid $child: exit $?"
    cat /run/restored /run/complained
    return 1
}

runs_bound() { # logic id
    npu "$1"
    # shellcheck disable=SC2016
    run_bound "$1" sh -c \
        'grep Cpus_allowed_list /proc/$$/status; cat /proc/$$/numa_maps; exit 7' || return 1
    echo "NPU $1: exit $got"
    cat /run/complained /run/said
    [ $got -eq 7 ] && grep -q "^Cpus_allowed_list:[[:space:]]*$main\$" /run/said &&
        ! grep ' default ' /run/said && grep -q " prefer:$memory " /run/said
}

# Puts the worker of NPU 1 into a cpuset.
confine() { # CPUs
    npu 1
    confined=/sys/fs/cgroup/confined
    mkdir -p $confined
    echo "$1" >$confined/cpuset.cpus
    echo 0-7 >$confined/cpuset.mems
    echo "$pid" >$confined/cgroup.procs
}

inside() { # command ...; runs in the cpuset of the worker of NPU 1
    sh -c 'echo $$ >/sys/fs/cgroup/confined/cgroup.procs && exec "$@"' inside "$@"
}

# Two CPUs are too few: apply must exit with 1 and change nothing.
is_refused() { # how cpubind is started
    npu 1
    threads "$pid" >/run/confined.before
    exits 1 "$@" cpubind apply --pid "$pid" --device npu1 || return 1
    threads "$pid" | diff /run/confined.before -
}

# Six of eight nodes are enough: apply must do what a plan inside the cpuset says.
is_planned_inside() { # how cpubind is started
    npu 1
    inside cpubind plan --visible 1 --json 2>/run/said | tr '{' '\n' | grep '"npu": 1, ' >/run/inside
    main=$(sed 's/.*"main": "\([^"]*\)".*/\1/' /run/inside)
    acl=$(sed 's/.*"acl": "\([^"]*\)".*/\1/; /"acl": null/s/.*/'"$main/" /run/inside)
    release=$(sed 's/.*"release": "\([^"]*\)".*/\1/; /"release": null/s/.*/'"$main/" \
        /run/inside)
    cat /run/inside /run/said
    exits 0 "$@" cpubind apply --pid "$pid" --device npu1 && threads_run_on 1 &&
        no_thread_runs_beyond 47
    right=$?
    exits 0 cpubind restore --pid "$pid" && return $right
}

no_thread_runs_beyond() { # CPU
    threads "$pid" | awk -v most="$1" '
        { last = $4; sub(/.*[-,]/, "", last); if (last + 0 > most) { print; bad = 1 } }
        END { exit bad || !NR }'
}

cpusets() {
    echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control
    npu 1
    confine $((first + 2))-$((first + 3))
    check "in a cpuset of two CPUs apply is refused" is_refused
    check "and the same inside the cpuset" is_refused inside
    confine 0-47
    check "in a cpuset of 48 CPUs apply plans within it" is_planned_inside
    check "and the same inside the cpuset" is_planned_inside inside
    echo "$pid" >/sys/fs/cgroup/cgroup.procs
    rmdir /sys/fs/cgroup/confined
    check "outside the cpuset all is as before" nothing_differs /run/before
}

# One of them waits, or is refused as busy.
apply_twice() {
    apply_npu 4 >/run/first 2>&1 &
    one=$!
    apply_npu 4 >/run/second 2>&1 &
    two=$!
    wait $one
    first_got=$?
    wait $two
    second_got=$?
    echo "exits $first_got and $second_got"
    cat /run/first /run/second
    case $first_got$second_got in 00 | 01 | 10) threads_are_right 4 ;; *) false ;; esac
}

# Kills apply at different moments, and restores each time.
kill_half_way() {
    npu 5
    for moment in 0.1 0.3 0.5 0.7 0.9 1.2 1.5 2 3; do
        cpubind apply --pid "$pid" --device npu5 >/run/said 2>&1 &
        killed=$!
        sleep $moment
        kill -9 $killed 2>/dev/null
        wait $killed 2>/dev/null
        cpubind restore --pid "$pid" >/run/restored 2>&1
        got=$?
        nothing_differs /run/before >/run/differs && continue
        echo "killed after $moment s; restore: exit $got"
        cat /run/restored /run/differs
        return 1
    done
}

accidents() {
    check "two applies on one process at the same time" apply_twice
    check "restore after that" exits 0 restore_npu 4
    check "then all is as before" nothing_differs /run/before
    check "apply killed at nine moments, then restore: nothing differs" kill_half_way
    check "no record is left after that" no_record_is_left
}

# -- The sections ------------------------------------------------------------

# shellcheck source=tests/vm/views.sh
. /views.sh
# shellcheck source=tests/vm/rules.sh
. /rules.sh
# shellcheck source=tests/vm/crowd.sh
. /crowd.sh
# shellcheck source=tests/vm/binder.sh
. /binder.sh
# shellcheck source=tests/vm/measure.sh
. /measure.sh
# shellcheck source=tests/vm/memory.sh
. /memory.sh
# shellcheck source=tests/vm/service.sh
. /service.sh
# shellcheck source=tests/vm/doctor.sh
. /doctor.sh
# shellcheck source=tests/vm/numa.sh
. /numa.sh
# shellcheck source=tests/vm/driver.sh
. /driver.sh
# shellcheck source=tests/vm/newcomer.sh
. /newcomer.sh
# shellcheck source=tests/vm/mixed.sh
. /mixed.sh
# shellcheck source=tests/vm/cards.sh
. /cards.sh
# shellcheck source=tests/vm/pods.sh
. /pods.sh
# shellcheck source=tests/vm/slurm.sh
. /slurm.sh

binding() {
    for i in $all; do start_npu "$i"; done
    npu-smi look
    if [ "$product" = 950 ]; then
        worker --uvb 4 >/run/ready.uvb &
        uvb=$!
        check_soon "the host polls UVB" grep ready /run/ready.uvb
    fi
    check_soon "eight workers are ready" for_all worker_is_ready
    cpubind plan --json >/run/plan 2>/run/plan.said
    check "the plan is the expected one" for_all is_planned
    npu 0
    check "before apply every thread may use all CPUs" threads_are_all_on "$everywhere" "$pid"
    check "before apply all interrupts may use all CPUs" irqs_are_right
    everything /run/before

    bind_all
    [ "$product" = 950 ] ||
        check "verify exits with 1 and names an interrupt that was moved" irq_drift_is_named
    restore_all
    check "run binds, prefers the node, and returns the exit status" for_all runs_bound
    check "after they ended, restore has restored the interrupts" nothing_differs /run/before
    cpusets
    accidents
}

read -r everywhere </sys/devices/system/cpu/online
uvb=
find_irqs
check "the devices are those of a host of type $product" for_all device_is_there
read -r sections </host/sections
for section in $sections; do
    begun=$(seconds)
    $section
    echo "# $section: $(($(seconds) - begun)) s"
done
finish
