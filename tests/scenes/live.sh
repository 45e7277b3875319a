#!/bin/sh
# live.sh - interrupts and memory of a live host are bound with the threads, and put back
# SPDX-License-Identifier: MIT
# runs: check
. tests/scenes/lib.sh
use_live_npus

# shellcheck disable=SC2086,SC2120
apply_with_memory() { # argument ...
    "$CPUBIND" apply --pid "$worker" $host --device npu0 "$@"
}

# -- All -------------------------------------------------------------------------

# The memory is still where it was, since the calls that move it are stood in for: apply has
# noted that, so that verify names it and calls nothing drift. A page that the process has
# touched since then is noted by another apply.
verify_knows_the_memory() {
    for _ in 1 2 3 4 5; do
        says 0 "as it should be" verify && break
        apply_with_memory
    done
    [ "$got" -eq 0 ] && said "are where apply has left them, on other nodes"
}

binds_all_of_a_host() {
    says 0 "process $worker, npu0" apply_with_memory && is_at worker $main &&
        is_at acl_thread $acl && irqs_are_on 145 144 145 145 100 &&
        grep -qx "move_pages $worker to 6 flags 2" "$CPUBIND_SHIM/calls" &&
        grep -qE "^irq +sq +100 +144 +moved +1$" "$out/said" &&
        grep -qE "^irq +- +100 +145 +moved +3$" "$out/said" &&
        grep -qE "^6 .* belongs here" "$out/said" && verify_knows_the_memory &&
        says 0 "as it should be" verify --memory none
}

# An interrupt of the function is gone; another one was moved by somebody, and stays there.
drift_of_interrupts_is_named() {
    apply --device npu0 && mv /proc/irq/403/cq_update_irq /proc/irq/403/eth0 &&
        says 1 "interrupt 403 (cq): its PCI function has no such interrupt now" \
            verify --memory none
    result=$?
    mv /proc/irq/403/eth0 /proc/irq/403/cq_update_irq && [ $result = 0 ] || return 1
    echo 103 >/proc/irq/402/smp_affinity_list
    says 1 "" verify --memory none --json && items "kind = 'irq'" 4 &&
        items "kind = 'irq' AND id = 402 AND was = '103' AND should = '145' AND result = 'wrong'" 1 &&
        says 0 "was moved by somebody else since, to 103: it stays there" restore &&
        irqs_are_on 100 100 103 100 100 && all_is_free
    result=$?
    echo 100 >/proc/irq/402/smp_affinity_list
    return $result
}

check_worker "threads, interrupts and memory are bound" binds_all_of_a_host acl_thread
check_worker "an interrupt that is gone or moved is drift" drift_of_interrupts_is_named

# The mailbox, and the threads of the product, are left with -o threads=reference.
binds_the_reference() {
    apply --device npu0 --quiet -o threads=reference && irqs_are_on 100 144 145 145 100 &&
        is_at hccl_watchdog_t $main && is_at RT_RECYCLE_0 $main && is_at acl_thread $acl &&
        apply --device npu0 --quiet -o threads=product && irqs_are_on 145 144 145 145 100 &&
        is_at hccl_watchdog_t 167 && is_at RT_RECYCLE_0 167 && is_at acl_thread $acl &&
        apply --device npu0 --quiet --thread 'hccl_*=leave' --thread 'RT_*=150' \
            --thread trs-mbox-0-0=leave && is_at RT_RECYCLE_0 150 &&
            is_at hccl_watchdog_t 167 &&
        restore --quiet && irqs_are_free && all_is_free
}
check_worker "-o threads=reference leaves the mailbox and the threads of the product" \
    binds_the_reference acl_thread hccl_watchdog_thread RT_RECYCLE_0

# -- What may fail ---------------------------------------------------------------

irqs_read_only() {
    says 0 "/proc/irq may not be written from here (write smp_affinity_list: Read-only file system)" apply --device npu0 &&
        said 'cpubind: warning: interrupt 400 (mailbox): ' && is_on "$worker" $main &&
        irqs_are_free && says 0 "put back" restore && is_on "$worker" "$all"
}

# What is skipped otherwise fails the command, and is undone.
strict_skips_nothing() {
    refuses 4 "interrupt 400 (mailbox) cannot be put on CPUs 145: /proc/irq may not be written from here" \
        apply --device npu0 --strict && said "strict skips nothing; all is as before" && all_is_free
}

mount --bind /proc/irq /proc/irq && mount -o remount,bind,ro /proc/irq
check_worker "a read-only /proc/irq is a warning" irqs_read_only
check_worker "--strict: a read-only /proc/irq is a failure of all" strict_skips_nothing
umount /proc/irq

strict_binds() {
    says 0 "process $worker, npu0" apply --device npu0 --strict && is_on "$worker" $main &&
        irqs_are_on 145 144 145 145 100 && says 0 "" restore && irqs_are_free &&
        CPUBIND_SHIM_CPUSET=0-155 says 4 "all is as before" apply --strict --device npu0 &&
        irqs_are_free && no_record
}
check_worker "--strict binds where all can be, and a failure restores the interrupts" \
    strict_binds

# The interrupts of one that has ended are put back, also after another command has swept its
# record. NPU 5 has none.
the_dead_have_no_interrupts() {
    for swept in no yes; do
        start_sleeper && "$CPUBIND" apply --pid "$sleeper" --device npu0 --allowed 0-191 \
            --memory none --quiet && irqs_are_on 145 144 145 145 100 && end_worker "$sleeper" ||
            return 1
        words="process $sleeper"
        if [ $swept = yes ]; then
            words="processes that have ended: put back"
            apply --device npu5 --quiet && [ ! -e "/run/cpubind/$sleeper.record" ] || return 1
        fi
        says 0 "$words" "$CPUBIND" restore --ended && irqs_are_free || return 1
    done
    says 0 "as it should be" verify && restore && all_is_free
}
check_worker "restore --ended puts back the interrupts of the dead" the_dead_have_no_interrupts

# -- Memory ----------------------------------------------------------------------

filter_of_memory() {
    says 0 "npu0" "$programs/deny" move_pages,set_mempolicy "$CPUBIND" apply --pid "$worker" \
        --device npu0 --allowed 0-191 && is_on "$worker" $main && said SYS_NICE &&
        said 'cpubind: warning: memory is not moved: move_pages: Operation not permitted' &&
        says 0 "ran" "$programs/deny" move_pages,set_mempolicy "$CPUBIND" run --device npu0 \
            --allowed 0-191 -- echo ran &&
        said 'cpubind: warning: new memory may come from any node: set_mempolicy: Operation'
}
"$programs/deny" sched_setaffinity true 2>"$out/other"
if [ $? -eq 77 ]; then
    skip "seccomp refuses to move memory" "no filter can be set here"
else
    check_worker "seccomp refuses to move memory, and to prefer a node" filter_of_memory
fi

# A signal while memory is moved: the first ends the move, and a watch.
move_is_interrupted() {
    for watch in "" "--watch 1"; do
        # shellcheck disable=SC2086
        says 0 "process $worker, npu0" env CPUBIND_SHIM_SIGNAL=1 timeout 60 "$CPUBIND" apply \
            --pid "$worker" --device npu0 --allowed 0-191 $watch && is_on "$worker" $main &&
            grep -qE "^interrupted +[1-9<]" "$out/said" &&
            said "the move was interrupted; process $worker is bound" || return 1
    done
    restore
}
check_worker "a signal ends a move of memory, and the process is bound" move_is_interrupted

limits_memory() {
    rm "$CPUBIND_SHIM/calls"
    says 0 "moving them would exceed memory-limit" apply_with_memory -o memory-limit=1 &&
        [ ! -e "$CPUBIND_SHIM/calls" ] && is_on "$worker" $main &&
        says 0 "" apply_with_memory -o memory-limit=1 --quiet && ! said "process $worker" &&
        grep -q "^cpubind: warning: .* would exceed memory-limit" "$out/err" &&
        says 0 "put back" restore && irqs_are_free
}
check_worker "memory-limit limits the memory that is moved, and says what it leaves" \
    limits_memory

# Progress is shown only on a terminal, and erased.
shows_progress() {
    script -qec "$CPUBIND apply --pid $worker $host --device npu0" "$out/typescript" </dev/null \
        >"$out/said" && grep -q 'cpubind: moving memory: 0 of [1-9][0-9]* MiB' "$out/said" &&
        tr '\r' '\n' <"$out/said" | grep -q '^.\[Krules ' && restore &&
        says 0 "" apply_with_memory && ! grep 'moving memory' "$out/said" "$out/err"
}
if script -qec true /dev/null >"$out/other" 2>&1 </dev/null; then
    check_worker "a terminal shows how far memory has been moved" shows_progress
else
    skip "a terminal shows how far memory has been moved" "there are no terminals"
fi

# -- Children --------------------------------------------------------------------

# The programs that a command executed, each once, without its own; and the calls that start
# processes, but for threads.
traced() { # argument of cpubind ...
    strace -f -qq -e trace=execve,fork,vfork,clone,clone3 -e signal=none -o "$out/trace" \
        -E LD_PRELOAD="$LD_PRELOAD" "$CPUBIND" "$@" >"$out/said" 2>&1 || {
        cat "$out/said"
        return 1
    }
    sed -n '/ = -1 /d; s/.*execve("\([^"]*\)".*/\1/p' "$out/trace" | sed 1d | sort -u | grep \
        -v /cat \
        >"$out/executed"
    grep -E '(fork|clone3?)\(' "$out/trace" | grep -v CLONE_THREAD >"$out/forked"
    cat "$out/executed" "$out/forked"
}

# With another time npu-smi is another program, whose outputs no other process has read.
starts_npu_smi_alone() {
    touch "$live/bin/npu-smi"
    traced apply --pid "$worker" --device npu0 --allowed 0-191 --quiet && is_on "$worker" $main &&
        [ "$(cat "$out/executed")" = "$live/bin/npu-smi" ] &&
        traced verify --pid "$worker" --memory none && [ ! -s "$out/executed" ] &&
        [ ! -s "$out/forked" ] && traced restore --pid "$worker" && [ ! -s "$out/executed" ] &&
        [ ! -s "$out/forked" ] && traced run --fixture a2-192cpu-8npu --allowed 0-191 --device npu0 \
        --quiet -- sleep 0 && [ "$(cat "$out/executed")" = "$(command -v sleep)" ] &&
        [ ! -s "$out/forked" ]
}
if command -v strace >"$out/other" && strace -qq -e trace=none true 2>"$out/other"; then
    check_worker "npu-smi is the only child" starts_npu_smi_alone
else
    skip "npu-smi is the only child" "no strace, or it may not trace"
fi

# -- Many at once ----------------------------------------------------------------

# In `check` there is time for fewer.
many=64
kills=40
[ "${CPUBIND_ROUNDS:-100}" -ge 100 ] || many=16 kills=12

# Does the same to each of many ranks, all at once; each must succeed.
at_once() { # command of cpubind, argument ...
    jobs=
    for pid in $ranks; do
        "$CPUBIND" "$@" --pid "$pid" --quiet >"$out/rank.$pid" 2>&1 &
        jobs="$jobs $!"
    done
    n_failed=0
    for job in $jobs; do wait "$job" || n_failed=$((n_failed + 1)); done
    [ $n_failed = 0 ] && return
    for pid in $ranks; do grep "^cpubind:" "$out/rank.$pid"; done
    echo "$n_failed of them failed"
    return 1
}

# They bind again while the record is full, and leave it together.
# shellcheck disable=SC2086
bind_and_restore_ranks() {
    at_once apply --device npu0 --allowed 0-191 --memory none && are_on $main $ranks &&
        irqs_are_on 145 144 145 145 100 &&
        [ "$(find /run/cpubind -name '[1-9]*.record' | wc -l)" = $many ] &&
        [ "$(grep -c '^user ' /run/cpubind/host.record)" = $((4 * many)) ] &&
        at_once apply --device npu0 --allowed 0-191 --memory none && at_once restore &&
        are_on "$all" $ranks && irqs_are_free && no_record
}

ranks=
for _ in $(seq $many); do
    sleep 600 &
    ranks="$ranks $!"
done
# Before it runs its program a process has the variables with which this script began.
for rank in $ranks; do becomes is_program "$rank" sleep; done
check "$many ranks at once: all are bound, none is refused, and all are put back" \
    bind_and_restore_ranks
# shellcheck disable=SC2086
end_worker $ranks

# Another program keeps the lock: the threads are bound at once, the wait is said, and goes on.
long_wait_is_said() {
    lock=/run/cpubind/host.record.lock
    mkdir -p /run/cpubind && : >$lock || return 1
    flock -xF $lock sleep 600 &
    holder=$!
    becomes sh -c "! flock -n $lock true" || return 1
    "$CPUBIND" apply --pid "$worker" --device npu0 --allowed 0-191 --memory none \
        >"$out/said" 2>"$out/err" &
    waiting=$!
    becomes grep -q '^cpubind: waiting for [0-9]* s for the record of the interrupts of this host' \
        "$out/err" && is_on "$worker" $main && irqs_are_free
    result=$?
    end_worker $holder
    wait $waiting || result=1
    cat "$out/err"
    irqs_are_on 145 144 145 145 100 && says 0 "" restore && irqs_are_free && [ ! -e $lock ] &&
        [ $result = 0 ]
}
check_worker "a long wait for the record of the host is said, with the threads bound" \
    long_wait_is_said

# cpubind is killed at moments spread over its run: restore undoes what was done.
survives_kills() {
    begin=$(date +%s%N)
    apply --device npu0 --quiet || return 1
    took=$((($(date +%s%N) - begin) / 1000))
    n_half=0
    for i in $(seq 0 $kills); do
        [ ! -e "$state" ] || n_half=$((n_half + 1))
        restore --quiet && irqs_are_free && all_is_free || {
            echo "after kill $i"
            return 1
        }
        "$CPUBIND" apply --pid "$worker" --device npu0 --allowed 0-191 --memory none --quiet \
            >"$out/killed" 2>&1 &
        killed=$!
        sleep "$(printf '0.%06d' $((took * i / kills)))"
        kill -9 $killed
        wait $killed
    done
    # What is left of writing one goes with the next record that is put back.
    echo "killed with a record: $((n_half - 1)) of $kills"
    [ $n_half -gt 1 ] && restore --quiet && apply --device npu0 --quiet && restore --quiet &&
        no_record
}
# One without sanitizers has ended before it is killed.
case $CPUBIND in
*/fast/*) ;;
*)
    check_worker "restore works after cpubind was killed at any of $kills moments" survives_kills \
        acl_thread release_thread a b c d e f
    ;;
esac
finish
