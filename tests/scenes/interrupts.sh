#!/bin/sh
# interrupts.sh - the interrupts of a device: which they are, and whose place is the first; TAP
# SPDX-License-Identifier: MIT
# runs: check
# shellcheck disable=SC2086 # lists are split on purpose
#
# The interrupts are files of a made host, which are written as those of the kernel are; a driver
# that is loaded again has other numbers there. Those of another device are never written.
. tests/scenes/lib.sh
use_live_npus
LD_PRELOAD="$LD_PRELOAD $programs/kernel_shim"

own=$live_irqs
other=$live/sys/bus/pci/devices/0000:01:00.0/msi_irqs # of a network card
mkdir -p "$other"
for file in vendor:0x8086 device:0x1592 class:0x020000 numa_node:0; do
    echo "${file#*:}" >"${other%/*}/${file%:*}"
done

# -- The driver ------------------------------------------------------------------

# Takes all interrupts away from both devices.
unload() {
    rm -f "$own"/* "$other"/*
    rm -rf "$live"/proc/irq/4*
    echo '           CPU0       CPU1' >"$out/interrupts"
    cat "$out/interrupts" >"$live/proc/interrupts"
}

load() { # folder of the device, first number
    live_irqs=$1
    for action in trs-mbox-0-0 sq_send_trigger_irq cq_update_irq cq_update_irq; do
        at=${at:-$2}
        add_irq "$at" $action
        ln -sf smp_affinity_list "$live/proc/irq/$at/effective_affinity_list"
        at=$((at + 1))
    done
    at=
}

load_anew() {
    unload
    load "$own" 400
    load "$other" 420
}

lists_are() { # CPUs of mailbox, SQ and CQs, first number
    n=$4
    for cpus in $1 $2 $3 $3; do
        is=$(cat "$live/proc/irq/$n/smp_affinity_list")
        [ "$is" = "$cpus" ] || {
            echo "interrupt $n is on $is, not on $cpus"
            return 1
        }
        n=$((n + 1))
    done
}

are_bound() { # first number
    lists_are 145 144 145 "$1"
}

are_free() { # first number
    lists_are 100 100 100 "$1"
}

# As another worker of the NPU has them, whose plan has other CPUs.
others='--allowed 0-143,146-191'
are_of_the_other() {
    lists_are 147 146 147 400
}

check_driver() { # text, command
    load_anew
    check_worker "$1" "$2" acl_thread
}

# -- Which they are --------------------------------------------------------------

# Review of live hosts, P1 5: a watch dragged the interrupts of another device along, and verify
# said that all was right.
loaded_in_another_order() {
    start_watch --device npu0 && becomes watched "process $worker, npu0" && are_bound 400 && unload &&
        becomes watched "its PCI function has no such interrupt" 1 &&
        says 1 "its PCI function has no such interrupt now" verify && load "$other" 400 &&
        load "$own" 420 && becomes are_bound 420 && are_free 400 &&
        says 0 "as it should be" verify &&
        says 0 "put back" restore && are_free 420 && are_free 400 && all_is_free
}

gone_is_said_once() {
    start_watch --device npu0 && becomes watched "process $worker, npu0" && unload &&
        becomes watched "its PCI function has no such interrupt" 1 &&
        sleep 3 &&
        watched "its PCI function has no such interrupt" 1 && says 0 "" restore && all_is_free
}

# Between the look and the write the numbers go to the other device.
cat >"$out/swap" <<END
cd "$live/sys/bus/pci/devices" && mv 0000:c5:00.0/msi_irqs swap && mv 0000:01:00.0/msi_irqs 0000:c5:00.0 &&
    mv swap 0000:01:00.0/msi_irqs
END
another_device_is_not_written() {
    echo "400/smp_affinity_list 0 sh $out/swap" >"$out/refused"
    CPUBIND_REFUSED=$out/refused says 0 "" apply --device npu0 &&
        said "interrupt 401 (sq): its PCI function has no such interrupt now" &&
        lists_are 145 100 100 400 &&
        are_free 420 && says 0 "" apply --device npu0 && are_bound 420 && says 0 "" restore &&
        are_free 420 &&
        lists_are 145 100 100 400
    result=$?
    sh "$out/swap"
    return $result
}

# Eight NPUs share the card, and each has one of its eight interrupts.
load_card() {
    live_irqs=$other
    for n in 0 1 2 3 4 5 6 7; do
        add_irq 43$n ens1-rx-$n
        ln -sf smp_affinity_list "$live/proc/irq/43$n/effective_affinity_list"
    done
}

are_moved() { # how many, one of them to CPU 144
    n=$(cat "$live"/proc/irq/43[0-7]/smp_affinity_list | grep -cx 144)
    free=$(cat "$live"/proc/irq/43[0-7]/smp_affinity_list | grep -cx 100)
    [ "$n" -eq $(($1 > 0)) ] && [ "$free" -eq $((8 - $1)) ] || {
        echo "$n are on CPU 144, $free where they were"
        return 1
    }
}

those_of_cards_are_moved() {
    load_card
    says 0 "" apply --device npu0 && are_bound 400 && are_moved 0 &&
        says 0 "nic" apply --device npu0 -o nic-interrupts=pool && are_bound 400 && are_moved 1 &&
        says 0 "as it should be" verify &&
        says 0 "" apply --device npu0 && are_moved 0 && are_bound 400 &&
        says 0 "" apply --device npu0 -o nic-interrupts=pool && are_moved 1 &&
        says 0 "put back" restore && are_moved 0 && are_free 400 && no_record
}

# -- Whose place is the first ----------------------------------------------------

apply_other() { # what is said
    first=$worker
    start_worker acl_thread && says 0 "" apply --device npu0 $others && are_of_the_other &&
        second=$worker &&
        worker=$first
}

restore_of() { # pid
    says 0 "" "$CPUBIND" restore --pid "$1"
}

# Review of live hosts, P2 9: the restore of one of two workers unbound the interrupts of the
# other, and the first place was lost.
order_of_restores() {
    says 0 "" apply --device npu0 && apply_other && restore_of "$second" && are_bound 400 &&
        restore_of "$first" && are_free 400 && no_record && says 0 "" apply --device npu0 &&
        "$CPUBIND" apply --pid "$second" $host --memory none --device npu0 $others --quiet >"$out/said" &&
        restore_of "$first" && are_of_the_other && restore_of "$second" && are_free 400 && no_record
    result=$?
    end_worker "$second"
    return $result
}

# Review of live hosts, P2 9: the worker of before has ended, and its record is there.
first_place_outlives_its_worker() {
    says 0 "" apply --device npu0 && apply_other && end_worker "$first" && worker=$second &&
        restore_of "$second" && are_free 400 && says 0 "" "$CPUBIND" restore --all && no_record
}

# The dead leave nothing: workers end without a restore, then the host is restored.
what_ended_workers_have_left() {
    for _ in 1 2 3 4 5; do
        says 0 "" apply --device npu0 && end_worker && start_worker acl_thread || return 1
    done
    says 0 "" apply --device npu0 $others && are_of_the_other && end_worker &&
        says 0 "" "$CPUBIND" restore --all && are_free 400 && no_record && start_worker acl_thread
}

# A container that shares the folder of records has a worker, too. There the first one is not seen,
# and has not ended: the interrupts go back to it, and from there to where they were.
cat >"$out/container" <<'END'
mount --bind "$live/proc/interrupts" /proc/interrupts && mount --bind "$live/proc/irq" /proc/irq || exit 1
"$programs/worker" acl_thread >"$out/own" &
until grep -q ready "$out/own"; do sleep 0.1; done
tell() { echo "$1: $2" $(cat /proc/irq/40[0-3]/smp_affinity_list); }
"$CPUBIND" apply --pid $! $host $others --memory none --device npu0 --quiet >"$out/said"
tell applied $?
"$CPUBIND" restore --ended --quiet
tell "ended ones restored" $?
"$CPUBIND" restore --pid $! --quiet
tell restored $?
END
users_of_another_namespace_live() {
    export live programs out CPUBIND host others
    says 0 "" apply --device npu0 && cp "$state" "$out/kept" &&
        unshare -p -f --mount-proc --kill-child sh "$out/container" >"$out/told" 2>"$out/err"
    cat "$out/told" "$out/err"
    printf '%s\n' "applied: 0 147 146 147 147" "ended ones restored: 1 147 146 147 147" \
        "restored: 0 145 144 145 145" | cmp - "$out/told" && cmp "$state" "$out/kept" &&
        says 0 "as it should be" verify && says 0 "put back" restore && are_free 400 && no_record
}

# A new worker finds the interrupt where nobody of cpubind has put it.
somebody_elses_place_is_the_origin() {
    says 0 "" apply --device npu0 && end_worker && for n in 400 401 402 403; do
        echo 7 >"$live/proc/irq/$n/smp_affinity_list"
    done && start_worker acl_thread && says 0 "" apply --device npu0 $others && says 0 "" restore &&
        lists_are 7 7 7 400 &&
        says 0 "" "$CPUBIND" restore --all && lists_are 7 7 7 400 && no_record
}

a_watch_leaves_it_to_the_last_user() {
    start_watch --device npu0 && becomes watched "process $worker, npu0" &&
        apply_other && sleep 3 && are_of_the_other && restore_of "$second" &&
        becomes are_bound 400 &&
        end_worker "$second" && says 0 "" restore && are_free 400
}

# The kernel gives an interrupt whose CPU goes offline all that are online, and leaves it there
# when the CPU returns.
of_a_cpu_that_went() {
    online=$live/sys/devices/system/cpu/online
    cp "$online" "$out/online"
    for back in no yes; do
        says 0 "" apply --device npu0 && echo 0-144,146-191 >"$online" &&
            for n in 400 402 403; do
                echo 0-144,146-191 >"$live/proc/irq/$n/smp_affinity_list"
            done || return 1
        [ $back = no ] || cp "$out/online" "$online"
        says 0 "put back" restore && are_free 400 && no_record || return 1
        ! grep -q "somebody" "$out/err" || return 1
        cp "$out/online" "$online"
    done
}

# -- Refusals and damage ---------------------------------------------------------

# No vector is free on the CPU (ENOSPC), the interrupt is moved by another one (EBUSY), none of the
# CPUs will do (EINVAL), the kernel manages it (EIO): it is named, and the worker is bound.
a_refused_interrupt_unbinds_nobody() {
    for error in 28 16 22 5; do
        echo "402/smp_affinity_list $error" >"$out/refused"
        CPUBIND_REFUSED=$out/refused says 0 "interrupt 402 (cq)" apply --device npu0 &&
            is_at worker $main &&
            [ "$(cat "$live"/proc/irq/40[0-3]/smp_affinity_list | paste -sd' ')" = "145 144 100 145" ] &&
            says 0 "" apply --device npu0 &&
            are_bound 400 && says 0 "" restore && are_free 400 && all_is_free || return 1
    done
    echo "402/smp_affinity_list 28" >"$out/refused"
    CPUBIND_REFUSED=$out/refused says 0 "interrupt 402 (cq), CPUs 145: no free interrupt vector" apply --device npu0 &&
        says 0 "" restore && are_free 400
}

# A managed interrupt, and one whose CPU is too large for the kernel: with --strict none is bound.
a_refused_write_is_said() {
    printf '402/smp_affinity_list 5\n403/smp_affinity_list 34\n' >"$out/refused"
    CPUBIND_REFUSED=$out/refused says 4 "all is as before" apply --device npu0 --strict && are_free 400 &&
        all_is_free
}

damaged_lists_are_said() {
    for text in "" junk "3-1" "0-99999"; do
        printf '%s\n' "$text" >"$live/proc/irq/402/smp_affinity_list"
        says 4 "402" apply --device npu0 --strict && lists_are 100 100 "$text" 400 2>"$out/grep"
        all_is_free || return 1
    done
}

# Kernels before 4.15 do not say which CPUs serve an interrupt; one that is masked has none.
effective_lists_may_be_absent() {
    rm "$live"/proc/irq/40[01]/effective_affinity_list &&
        rm "$live/proc/irq/402/effective_affinity_list" &&
        echo >"$live/proc/irq/402/effective_affinity_list" && says 0 "" apply --device npu0 --json &&
        fits report &&
        are_bound 400 && says 0 "" restore && are_free 400
}

# -- All workers of the host -----------------------------------------------------

# The table of npu-smi has these two, on NPU 0 and NPU 1.
have_users() { # pid, pid
    sed -i "s/| $first_row .*|\$/| $(printf '%-13s' "$1") | VLLMWorker_TP            | 57344                   |/
        s/| $second_row .*|\$/| $(printf '%-13s' "$2") | VLLMWorker_TP            | 57344                   |/
        /| 73[0-9]* /d" "$live/cmd/npu-smi-info.txt"
    first_row=$1 second_row=$2
    rm -f /run/cpubind/npu-smi.* # the last answer
}
first_row=73201 second_row=73204

# Its numbers are those of this pid namespace where a process has the driver open.
all_workers_have_their_interrupts() {
    end_worker
    start_worker acl_thread 8</dev/davinci_manager && first=$worker &&
        start_worker acl_thread 8</dev/davinci_manager &&
        have_users "$first" "$worker" && says 0 "" "$CPUBIND" apply --all $host --memory none &&
        are_bound 400 &&
        is_on "$first" 166 acl_thread && is_on "$worker" 118 acl_thread &&
        says 0 "right" "$CPUBIND" verify --all $host || return 1
    "$CPUBIND" status $host --json >"$out/said"
    fits status && has '.devices[0].interrupts[0].place' right &&
        echo 7 >"$live/proc/irq/402/smp_affinity_list" ||
        return 1
    "$CPUBIND" status $host >"$out/said"
    said "4 interrupts elsewhere" && says 0 "to 7: it stays there" "$CPUBIND" restore --all &&
        [ "$(cat "$live/proc/irq/401/smp_affinity_list")" = 100 ] && no_record && load_card &&
        says 0 "" "$CPUBIND" apply --all $host --memory none -o nic-interrupts=pool &&
        are_moved 2 && says 0 "" "$CPUBIND" restore --all && are_moved 0 && no_record
}

the_service_counts_them() {
    load_anew
    load_card
    settings "allowed = 0-191" "textfile = $prom" "restore-at-end = yes" "nic-interrupts = pool"
    "$CPUBIND" service "$conf" 2>"$out/service.log" &
    service=$!
    for line in 'cpubind_interrupts{npu="0",place="right"} 5' 'cpubind_threads{npu="0",place="right"} 2' \
        'cpubind_npu_workers{npu="1"} 1' 'cpubind_workers 2'; do
        becomes metric "$line" || return 1
    done
    echo 7 >"$live/proc/irq/402/smp_affinity_list" && becomes irqs_have_moved_back &&
        end_service TERM &&
        is_on "$worker" "$all" && are_free 400 && are_moved 0
}

irqs_have_moved_back() {
    are_bound 400 && are_moved 1 && metric 'cpubind_interrupts{npu="0",place="right"} 5'
}

# The process that has that number here is another one, or there is none.
a_number_of_another_namespace_is_bound_nowhere() {
    stranger=$worker
    start_worker acl_thread && have_users "$worker" 99999 &&
        says 1 "has another number outside of it" \
        "$CPUBIND" apply --all $host --memory none && is_on "$worker" "$all" &&
        [ -z "$(find /run/cpubind -name '*.record')" ] &&
        says 1 "has another number outside of it" "$CPUBIND" verify --all $host &&
        end_worker "$first" "$stranger"
}

check_driver "a driver that is loaded again in another order costs no foreign interrupt" loaded_in_another_order
check_driver "what is gone is said once" gone_is_said_once
check_driver "a number that has gone to another device is not written" another_device_is_not_written
check_driver "nic-interrupts = pool moves those of network cards, and they are put back" \
    those_of_cards_are_moved
check_driver "the order of restores does not matter" order_of_restores
check_driver "the first place outlives its worker" first_place_outlives_its_worker
check_driver "what ended workers have left is restored" what_ended_workers_have_left
check_driver "users of another namespace have not ended" users_of_another_namespace_live
check_driver "somebody else's place is the origin of the next worker" somebody_elses_place_is_the_origin
check_driver "a watch leaves an interrupt to the last user" a_watch_leaves_it_to_the_last_user
check_driver "an interrupt whose CPU went offline is put back" of_a_cpu_that_went
check_driver "an interrupt that cannot be moved now is named, and the worker is bound" \
    a_refused_interrupt_unbinds_nobody
check_driver "a refused write is said, and undone if nothing may be skipped" a_refused_write_is_said
check_driver "damaged lists are said" damaged_lists_are_said
check_driver "lists of CPUs that serve an interrupt may be absent" effective_lists_may_be_absent
make_dev && : >/dev/davinci_manager || exit 1
check_driver "all workers of the host, and status" all_workers_have_their_interrupts
check "the service binds them and counts them" the_service_counts_them
check "a number of another pid namespace is said, and bound nowhere" \
    a_number_of_another_namespace_is_bound_nowhere
finish
