#!/bin/sh
# mend.sh - doctor --fix and --restore: changes on record, refusals, crashes, other people's changes
# SPDX-License-Identifier: MIT
# runs: check
# shellcheck disable=SC2086 # lists are split on purpose
#
# What is changed are files of a made host, which are written as those of the kernel are, threads of
# a worker, and bans of an irqbalance that answers as it does. tests/vm/doctor.sh plays the same on
# a real kernel.
. tests/scenes/lib.sh
use_live_npus
LD_PRELOAD="$LD_PRELOAD $programs/kernel_shim"

daemon=$out/daemon
numa=/proc/sys/kernel/numa_balancing
cpu=/sys/devices/system/cpu
record=/run/cpubind/host.record

# -- The host --------------------------------------------------------------------

mkdir "$daemon" && echo 17 >"$daemon/bans"
env -u LD_PRELOAD python3 tests/scenes/programs/irqbalance_double.py "$daemon" run >"$daemon/ready" &
irqbalance=$!
echo 1 >"$out/numa" && mount --bind "$out/numa" $numa &&
    becomes grep -q ready "$daemon/ready" || exit 1
: >"$out/none"
mkdir -p $(seq -f "$cpu/cpu%g/cpufreq" 0 191)
for n in $(seq 0 191); do echo performance >$cpu/cpu"$n"/cpufreq/scaling_governor; done
start_worker acl_thread pt_a pt_b || exit 1
sed -i "s/| 73201 .*|$/| $(printf '%-13s' "$worker") | VLLMWorker_TP            | 57344                   |/
    /| 73[0-9]* /d" "$live/cmd/npu-smi-info.txt"

# Five faults: balancing, governors, threads on one CPU, interrupts that irqbalance has moved.
make_faults() {
    echo 1 >$numa
    echo powersave >$cpu/cpu146/cpufreq/scaling_governor
    echo ondemand >$cpu/cpu147/cpufreq/scaling_governor
    echo 17 >"$daemon/bans"
    for irq in 400 401 402 403; do echo 100 >/proc/irq/$irq/smp_affinity_list; done
    for name in pt_a pt_b; do
        tid=$(thread_named $name)
        taskset -pc 0 "$tid" >"$out/taskset"
        echo 0 >"$CPUBIND_SHIM/$tid"
    done
}

# All that a change may change.
state() {
    grep . $numa $cpu/cpu14[67]/cpufreq/scaling_governor /proc/irq/*/smp_affinity_list "$daemon/bans"
    for name in worker acl_thread pt_a pt_b; do echo "$name $(cpus_of "$(thread_named $name)")"; done
    ls $record 2>"$out/grep"
}

is_as() { # file of a state
    state >"$out/now"
    diff "$out/$1" "$out/now"
}

doctor() { # exit status, words, argument ...
    doctor_want=$1
    doctor_words=$2
    shift 2
    says "$doctor_want" "$doctor_words" "$CPUBIND" doctor --allowed 0-191 -o rules=reference "$@"
}

# Pools that have no CPU near their NPU stay a fault, by the rules of the reference.
fixes() {
    doctor 1 "" --fix && [ -e $record ]
}

restores() {
    says 0 "" "$CPUBIND" doctor --restore && is_as before && [ ! -e $record ]
}

# A row of a table, as a pattern.
printed() {
    grep -q -e "$1" "$out/said" && return 0
    echo "not printed: $1"
    return 1
}

# -- Well ------------------------------------------------------------------------

makes_changes_and_puts_them_back() {
    doctor 1 "mend" && is_as before && doctor 1 "$numa" --fix --dry-run && is_as before && fixes &&
        printed "^autonuma  *file  *$numa  *1  *0  *made  *1$" &&
        printed "^irqbalance  *ban  *-  *-  *-  *made  *3$" && said "4 mended, 1 to mend: 1 severe" &&
        state >"$out/after" &&
        [ "$(cat $numa) $(cat $cpu/cpu146/cpufreq/scaling_governor)" = "0 performance" ] &&
        is_at pt_a $main && is_at pt_b $main &&
        [ "$(cat /proc/irq/402/smp_affinity_list)" = 145 ] &&
        grep -qx 401 "$daemon/bans" && restores && printed "^file  *$numa  *1  *0  *put back  *1$" && restores
}

# A second --fix keeps what was before the first.
keeps_the_first_value() {
    fixes && state >"$out/after" && fixes && is_as after && echo 2 >$numa && fixes && is_as after &&
        restores
}

says_it_in_json() {
    doctor 1 "" --fix --json && fits doctor &&
        [ "$(grep -c '"result": "made"' "$out/said")" -ge 1 ] &&
        says 0 "" "$CPUBIND" doctor --restore --json && is_as before
}

# Elsewhere threads and irqbalance have other numbers: what is on record of them stays, and is put
# back here.
keeps_numbers_of_another_namespace() {
    fixes && says 4 "its number is of another pid or time namespace" unshare -p -f --mount-proc sh -c "
        mount --bind '$out/numa' $numa && mount --bind '$live/proc/irq' /proc/irq &&
        mount --bind '$live/proc/interrupts' /proc/interrupts && exec '$CPUBIND' doctor --restore" &&
        [ "$(cat $numa)" = 1 ] && is_at pt_a $main && is_at pt_b $main && grep -qx 401 "$daemon/bans" && restores
}

# -- Changes of others -----------------------------------------------------------

leaves_what_somebody_has_changed() {
    fixes && echo 2 >$numa &&
        says 0 "left: it has changed since" "$CPUBIND" doctor --restore &&
        [ "$(cat $numa)" = 2 ] && [ ! -e $record ] && echo 1 >$numa && is_as before
}

# doctor --fix, apply, doctor --restore, restore: a binding keeps its interrupts and threads, and
# what was before doctor came is there again after its restore.
leaves_what_a_process_has() {
    fixes && says 0 "" apply --device npu0 -o irqbalance=ban --thread pt_b=150 &&
        says 0 "left: the restore of a process that is bound puts it back" "$CPUBIND" doctor --restore &&
        irqs_are_on 145 144 145 145 100 && grep -qx 401 "$daemon/bans" && is_at pt_b 150 &&
        is_at pt_a $main &&
        says 0 "" restore && is_as before && [ ! -e $record ]
}

# Interrupts that doctor moves away from the CPUs of a binding go back to what they were before either
# came, in which order ever both are put back.
shares_what_a_process_has() {
    for order in "restore doctor" "doctor restore"; do
        says 0 "" apply --device npu0 -o irqbalance=leave --exclude 144-145 && fixes || return 1
        for step in $order; do
            case $step in
            doctor) says 0 "" "$CPUBIND" doctor --restore ;;
            restore) says 0 "" restore ;;
            esac || return 1
        done
        is_as before && [ ! -e $record ] || return 1
        make_faults
    done
}

forgets_what_has_ended() {
    fixes || return 1
    first=$worker
    end_worker
    says 0 "gone" "$CPUBIND" doctor --restore && [ ! -e $record ] && [ "$(cat $numa)" = 1 ]
    result=$?
    start_worker acl_thread pt_a pt_b &&
        sed -i "s/| $first /| $worker /" "$live/cmd/npu-smi-info.txt"
    return $result
}

another_daemon_has_no_such_bans() {
    kill -STOP "$irqbalance"
    doctor 4 "refused: " --fix
    result=$?
    kill -CONT "$irqbalance"
    [ $result -eq 0 ] && [ "$(cat $numa)" = 0 ] && restores
}

# -- Refusals --------------------------------------------------------------------

# All changes of a finding are made, or none; the others are made.
a_refusal_undoes_its_finding() {
    for fault in "cpu147/cpufreq/scaling_governor 5" "numa_balancing 30" "403/smp_affinity_list 5"; do
        echo "$fault" >"$out/refused"
        CPUBIND_REFUSED=$out/refused doctor 4 "refused: write" --fix || return 1
        case $fault in
        cpu*) [ "$(cat $cpu/cpu146/cpufreq/scaling_governor)" = powersave ] && said "undone" ;;
        numa*) [ "$(cat $numa)" = 1 ] && is_at pt_a $main ;;
        403*) [ "$(cat /proc/irq/401/smp_affinity_list)" = 100 ] && ! grep -qx 401 "$daemon/bans" ;;
        esac && restores || return 1
    done
}

# What cannot be put back is still on record, and the next one does it.
a_refused_restore_is_done_later() {
    for fault in "cpu147/cpufreq/scaling_governor 5" "numa_balancing 30" "403/smp_affinity_list 5"; do
        fixes && echo "$fault" >"$out/refused" || return 1
        CPUBIND_REFUSED=$out/refused says 4 "on record, could not be put back: write" "$CPUBIND" doctor --restore &&
            [ -e $record ] && restores || return 1
    done
}

# --fix is killed before it writes to each file.
a_crash_leaves_nothing() {
    for file in numa_balancing cpu146/cpufreq/scaling_governor cpu147/cpufreq/scaling_governor \
        401/smp_affinity_list 403/smp_affinity_list; do
        # The shell that runs it is a child of the command.
        # shellcheck disable=SC2016
        echo "$file 0"' kill -9 $PPID' >"$out/refused"
        CPUBIND_REFUSED=$out/refused doctor 137 "" --fix && restores || return 1
    done
}

# -- Records ---------------------------------------------------------------------

# A record by others, with the right sum: any line but the last may be theirs.
forge() { # line ...
    printf '%s\n' "cpubind-host 3 0.2.0" "$@" >"$out/forged"
    python3 -c 'import sys, zlib
text = open(sys.argv[1], "rb").read()
sys.stdout.write(text.decode() + "sum %08x\n" % zlib.crc32(text))' "$out/forged" >$record && chmod 600 $record
}

is_refused() {
    says 3 "host.record in the folder of records is damaged in line" "$CPUBIND" doctor --restore &&
        doctor 4 damaged --fix &&
        rm $record && is_as before
}

a_damaged_record_is_refused() {
    fixes && cp $record "$out/good" || return 1
    size=$(stat -c %s "$out/good")
    at=0
    while [ $at -lt "$size" ]; do
        head -c $at "$out/good" >$record &&
            says 3 "is damaged in line" "$CPUBIND" doctor --restore || return 1
        { head -c $at "$out/good" && printf '~' && tail -c +$((at + 2)) "$out/good"; } >$record
        says 3 "is damaged in line" "$CPUBIND" doctor --restore || return 1
        at=$((at + 23))
    done
    cp "$out/good" $record && restores
}

no_other_file_is_written() {
    for name in "etc/passwd 0" "numa_balancing/../panic 0" "/proc/sys/kernel/numa_balancing 0" \
        "smp_affinity_list 01" "smp_affinity_list -1" "scaling_governor"; do
        forge "file $name =1" "doctor =0" && is_refused || return 1
    done
    for line in "file numa_balancing 0" "thread 0 1 1 0-1" "thread 1 x 1 0-1" "ban 1 1" "ban 1 1 -1 -" \
        "file numa_balancing 0 =1" "hello"; do
        forge "$line" && is_refused || return 1
    done
}

# One of an earlier boot says nothing of this one.
an_earlier_boot_is_nothing() {
    forge "boot 00000000-0000-0000-0000-000000000000" "file numa_balancing 0 =0" "doctor =1" &&
        says 0 "nothing is on record" "$CPUBIND" doctor --restore && [ ! -e $record ] && is_as before
}

one_at_a_time() {
    flock $record.lock sh -c 'echo locked; exec sleep 60' >"$out/locked" 2>&1 &
    other=$!
    becomes grep -q locked "$out/locked" &&
        doctor 4 "another cpubind is changing this host" --fix &&
        is_as before
    result=$?
    end_worker $other
    return $result
}

mkdir -p /run/cpubind
make_faults
state >"$out/before"
for test in makes_changes_and_puts_them_back keeps_the_first_value says_it_in_json \
    leaves_what_somebody_has_changed leaves_what_a_process_has shares_what_a_process_has \
    forgets_what_has_ended keeps_numbers_of_another_namespace \
    another_daemon_has_no_such_bans a_refusal_undoes_its_finding a_refused_restore_is_done_later \
    a_crash_leaves_nothing a_damaged_record_is_refused no_other_file_is_written an_earlier_boot_is_nothing \
    one_at_a_time; do
    make_faults
    check "doctor: $(echo $test | tr _ ' ')" $test
done
finish
