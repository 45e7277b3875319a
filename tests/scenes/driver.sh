#!/bin/sh
# driver.sh - the kernel thread and the work queues of a driver, which all workers of an NPU share
# SPDX-License-Identifier: MIT
# runs: check
# shellcheck disable=SC2086 # lists are split on purpose
#
# The queues are files of a made host. The kernel thread is a process whose stat says that it is one,
# by a file over its own; so is its parent, process 2. tests/vm/driver.sh has real ones.
. tests/scenes/lib.sh
use_live_npus
LD_PRELOAD="$LD_PRELOAD $programs/kernel_shim"

queues=/sys/devices/virtual/workqueue
children=$out/children
free_mask=ffffffff,ffffffff,ffffffff,ffffffff,ffffffff,ffffffff
irq_mask=00030000,00000000,00000000,00000000,00000000 # 144-145

# The NPUs have physical ids, which the names of the driver have: their own numbers.
awk 'BEGIN { FS = OFS = "\t" } { split($2, f, / +/); print "", sprintf("%-31s%-31s%-31s%-31s%s", f[1] (NR == 1 ? " ID" : ""),
    NR == 1 ? "Chip ID" : f[2], NR == 1 ? "Chip Logic ID" : f[3], NR == 1 ? "Chip Phy-ID" : f[3] == "-" ? "-" : f[1],
    NR == 1 ? "Chip Name" : f[4] " " f[5]) }' "$live/cmd/npu-smi-info-m.txt" >"$out/map" &&
    cp "$out/map" "$live/cmd/npu-smi-info-m.txt" || exit 1

# -- Kernel threads --------------------------------------------------------------

flags_of_kernel=2129984

# Lets a process be a kernel thread, or none.
dress() { # pid, name, parent, flags
    awk -v name="($2)" -v parent="$3" -v flags="$4" '{ $2 = name; $4 = parent; $9 = flags; print }' "/proc/$1/stat" \
        >"$out/stat.$1" && mount --bind "$out/stat.$1" "/proc/$1/task/$1/stat"
}

start_named() { # name, flags; sets named
    cp "$(command -v sleep)" "$out/$1"
    env -u LD_PRELOAD "$out/$1" 600 &
    named=$!
    becomes is_program $named "$1" && dress $named "$1" 2 "$2"
}

start_kernel_thread() { # name
    start_named "$1" $flags_of_kernel && kernel=$named && echo "$kernel " >>"$children"
}

end_kernel_thread() {
    umount "/proc/$kernel/task/$kernel/stat"
    end_worker $kernel
    grep -v "^$kernel " "$children" >"$out/others"
    cat "$out/others" >"$children" # which is mounted
    rm -f "$CPUBIND_SHIM/$kernel"
}

# Process 2 is the parent of all.
make_kthreadd() {
    echo 1 >/proc/sys/kernel/ns_last_pid
    env -u LD_PRELOAD sleep 6000 &
    [ $! = 2 ] && dress 2 kthreadd 0 $flags_of_kernel && : >"$children" &&
        mount --bind "$children" /proc/2/task/2/children
}

# -- What they have --------------------------------------------------------------

queue_is() { # name, mask
    [ "$(cat $queues/$1/cpumask)" = "$2" ] && return 0
    echo "queue $1 has $(cat $queues/$1/cpumask), not $2"
    return 1
}

queues_are() { # mask, NPU
    queue_is dev$2_sq_send_wq "$1" && queue_is dev$2_sq_fair_wq "$1"
}

kernel_is_on() { # CPUs
    [ "$(cpus_of $kernel)" = "$1" ] && return 0
    echo "the kernel thread is on $(cpus_of $kernel), not on $1"
    return 1
}

is_bound() {
    kernel_is_on 144-145 && queues_are $irq_mask 0
}

is_free() {
    kernel_is_on "$all" && queues_are $free_mask 0
}

check_driver() { # text, command
    for npu in 0 1; do
        for queue in send fair; do
            mkdir -p $queues/dev${npu}_sq_${queue}_wq
            echo $free_mask >$queues/dev${npu}_sq_${queue}_wq/cpumask
        done
    done
    : >"$children"
    start_kernel_thread dev0_sq_task || exit 1
    check_worker "$1" "$2" acl_thread
    end_kernel_thread
}

# -- One worker ------------------------------------------------------------------

bound_verified_restored() {
    says 0 "" apply --device npu0 && is_bound &&
        grep -qE '^kernel +dev0_sq_task .* 144-145 +moved' "$out/said" &&
        grep -qE '^workqueue .* 144-145 +moved +2$' "$out/said" && says 0 "as it should be" verify &&
        grep -qE '^workqueue .* right' "$out/said" &&
        says 0 "as it should be" verify $host --memory none --device npu0 &&
        grep -qE '^workqueue .* right' "$out/said" && echo $free_mask >$queues/dev0_sq_fair_wq/cpumask &&
        says 1 "it has drifted" verify && says 0 "" restore &&
        queue_is dev0_sq_send_wq $free_mask &&
        kernel_is_on "$all" && no_record
}

found_without_a_list_of_children() {
    mount --bind /dev/null /proc/2/task/2/children && says 0 "" apply --device npu0 && is_bound &&
        says 0 "" restore &&
        is_free
    result=$?
    umount /proc/2/task/2/children
    return $result
}

# A process of a user may have any name.
a_process_of_the_name_is_none() {
    end_kernel_thread
    start_named dev0_sq_task 4194304 && kernel=$named && echo "$kernel " >>"$children" &&
        says 0 "" apply --device npu0 && kernel_is_on "$all" && queues_are $irq_mask 0 &&
        says 0 "" restore && is_free
}

absent_ones_are_no_fault() {
    rm -r $queues/dev0_* && : >"$children" && says 0 "" apply --device npu0 &&
        ! grep -q '^workqueue' "$out/said" &&
        says 0 "as it should be" verify && says 0 "" restore && all_is_free
}

what_nobody_may_write_is_said() {
    echo "dev0_sq_send_wq/cpumask 13" >"$out/refused"
    CPUBIND_REFUSED=$out/refused says 0 "dev0_sq_send_wq" apply --device npu0 &&
        queue_is dev0_sq_fair_wq $irq_mask &&
        says 0 "" restore && is_free &&
        CPUBIND_REFUSED=$out/refused says 4 "all is as before" apply --device npu0 --strict &&
        is_free && all_is_free
}

damaged_masks_fail_the_call() {
    for text in "" x "0,1,0" 00000000; do
        echo "$text" >$queues/dev0_sq_send_wq/cpumask
        says 4 "read the cpumask of: " apply --device npu0 && kernel_is_on "$all" &&
            all_is_free || return 1
    done
}

# -- Several workers, other NPUs, others -----------------------------------------

# The last worker counts; when it goes, the CPUs of the other one do.
two_workers_share_them() {
    says 0 "" apply --device npu0 && first=$worker && start_worker acl_thread &&
        says 0 "" apply --device npu0 --allowed 0-143,146-191 && kernel_is_on 146-147 &&
        says 0 "" restore && is_bound &&
        end_worker && worker=$first && says 0 "" restore && is_free
}

# A worker that is bound for another NPU gives back what is of the first.
another_npu_gives_them_back() {
    says 0 "" apply --device npu0 && says 0 "" apply --device npu1 && is_free && queue_is dev1_sq_send_wq \
        00000003,00000000,00000000,00000000 && says 0 "" restore && queues_are $free_mask 1 &&
        no_record
}

another_goal_gives_them_back() {
    says 0 "" apply --device npu0 && is_bound && says 0 "" apply --device npu0 -o threads=reference && is_free &&
        says 0 "" restore && is_free
}

somebody_else_may_have_moved_them() {
    says 0 "" apply --device npu0 && echo 000000ff >$queues/dev0_sq_send_wq/cpumask &&
        move_to 7 $kernel &&
        says 0 "was moved by somebody else since" restore && queue_is dev0_sq_send_wq 000000ff &&
        kernel_is_on 7
}

# -- A watch ---------------------------------------------------------------------

a_watch_moves_them_again() {
    start_watch --device npu0 && becomes is_bound &&
        echo $free_mask >$queues/dev0_sq_fair_wq/cpumask && move_to 7 $kernel &&
        becomes is_bound &&
        says 0 "" restore && is_free
}

# The driver was loaded again: its kernel thread has another number, and all CPUs.
a_watch_finds_the_next_kernel_thread() {
    start_watch --device npu0 && becomes is_bound &&
        end_kernel_thread && sleep 1.5 && start_kernel_thread dev0_sq_task &&
        becomes is_bound &&
        says 0 "as it should be" verify && says 0 "" restore && is_free
}

# Another cpubind keeps the record of the host: the threads are bound meanwhile.
the_record_of_the_host_is_waited_for() {
    touch /run/cpubind/host.record.lock && chmod 600 /run/cpubind/host.record.lock || return 1
    env -u LD_PRELOAD flock -o /run/cpubind/host.record.lock sh -c 'echo locked; exec sleep 600' >"$out/locked" &
    other=$!
    becomes grep -q locked "$out/locked" || return 1
    "$CPUBIND" apply --pid "$worker" $host --memory none --device npu0 >"$out/waited" 2>&1 &
    waiting=$!
    becomes is_at acl_thread $acl && sleep 1 && is_free && end_worker $other && wait $waiting &&
        is_bound &&
        says 0 "" restore && is_free
}

make_kthreadd || skip_all "no process can have the number 2 here"
check_driver "the driver is bound, verified and restored" bound_verified_restored
check_driver "its kernel thread is found without a list of children" found_without_a_list_of_children
check_driver "a process with the name is no kernel thread" a_process_of_the_name_is_none
check_driver "a host without them is bound all the same" absent_ones_are_no_fault
check_driver "what nobody may write is said" what_nobody_may_write_is_said
check_driver "a mask that makes no sense fails the call" damaged_masks_fail_the_call
check_driver "two workers share what is the driver's" two_workers_share_them
check_driver "the driver of another NPU is given back" another_npu_gives_them_back
check_driver "it goes back when a goal names it no more" another_goal_gives_them_back
check_driver "somebody else may have moved them since" somebody_else_may_have_moved_them
check_driver "a watch moves the driver again" a_watch_moves_them_again
check_driver "a watch finds a kernel thread that was started again" a_watch_finds_the_next_kernel_thread
check_driver "the record of the host is waited for" the_record_of_the_host_is_waited_for
finish
