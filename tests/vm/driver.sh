# shellcheck shell=sh disable=SC2154 # guest.sh sets the variables of an NPU
# driver.sh - the section of guest.sh on the kernel thread and the work queues of the driver
#
# They belong to the NPU, not to a process: apply moves those of its own NPU to the CPUs of irq,
# and restore puts them back when the last worker of the NPU is restored.

queues=/sys/devices/virtual/workqueue

# Prints "name CPUs" of each kernel thread of the driver, and "name mask" of its queues.
driver_state() {
    for at in /proc/[0-9]*; do
        read -r name <"$at/comm" 2>/dev/null || continue
        case $name in dev*_sq_task)
            echo "$name $(sed -n 's/^Cpus_allowed_list:[^0-9]*//p' "$at/status")"
            ;;
        esac
    done | sort
    for at in "$queues"/dev*; do echo "${at##*/} $(cat "$at/cpumask")"; done
}

# The mask of the two CPUs of irq, as the kernel prints it: "00000000,00030000".
irq_mask() {
    mask=$((3 << first))
    printf '%08x,%08x\n' $((mask >> 32 & 0xffffffff)) $((mask & 0xffffffff))
}

# Those of these NPUs are on the CPUs of irq, all others as before.
driver_is_right() { # logic id ...
    cp /run/driver.before /run/driver.want
    for i in "$@"; do
        npu "$i"
        sed -i "s/^dev${phy}_sq_task .*/dev${phy}_sq_task $first-$((first + 1))/
            s/^\(dev${phy}_sq_[a-z]*_wq\) .*/\1 $(irq_mask)/" /run/driver.want
    done
    driver_state | diff /run/driver.want -
}

kernel_thread_of() { # phy id
    grep -lx "dev${1}_sq_task" /proc/[0-9]*/comm | cut -d / -f 3
}

bind_driver() { # logic id, more options
    id=$1
    shift
    npu "$id"
    exits 0 cpubind apply --pid "$pid" --npu "$id" --memory none "$@"
}

names_moved_thread() {
    npu 0
    taskset -p 1 "$(kernel_thread_of "$phy")" >/dev/null
    exits 1 cpubind verify --pid "$pid" && grep -q "dev${phy}_sq_task" /run/said
}

names_moved_queue() {
    npu 0
    echo 1 >"$queues/dev${phy}_sq_send_wq/cpumask"
    exits 1 cpubind verify --pid "$pid" && grep -q "dev${phy}_sq_send_wq" /run/said
}

# A second worker of NPU 1 is bound; the restore of the first leaves the driver's threads.
second_worker_keeps_driver() {
    worker 1 1 1 >/run/ready.second 2>&1 &
    second=$!
    while ! grep -q ready /run/ready.second; do sleep 0.2; done
    npu 1
    exits 0 cpubind apply --pid $second --npu 1 --memory none &&
        exits 0 cpubind restore --pid "$pid" && driver_is_right 1 &&
        exits 0 cpubind restore --pid $second && driver_is_right
    got=$?
    kill $second
    wait $second 2>/dev/null
    return $got
}

reference_leaves_driver() {
    npu 2
    bind_driver 2 --threads reference && driver_is_right &&
        exits 0 cpubind restore --pid "$pid"
}

driver() {
    everyone=$all
    all="0 1 2"
    for i in $all; do start_worker "$i"; done
    npu-smi look
    check_soon "three workers are ready" for_all worker_is_ready
    driver_state >/run/driver.before
    check "eight kernel threads and sixteen work queues" \
        test "$(wc -l </run/driver.before)" -eq 24
    check "apply to NPU 0" bind_driver 0
    check "its kernel thread and its work queues are on irq, no others" driver_is_right 0
    npu 0
    check "verify agrees" exits 0 cpubind verify --pid "$pid"
    check "verify names a kernel thread that was moved" names_moved_thread
    check "a second apply moves it back" bind_driver 0
    check "it is right again" driver_is_right 0
    check "verify names a work queue that was moved" names_moved_queue
    check "a second apply moves it back, too" bind_driver 0
    check "apply to NPU 1" bind_driver 1
    check "those of both NPUs are right" driver_is_right 0 1
    check "restore NPU 0" restore 0
    check "its kernel thread and work queues are back, those of NPU 1 stay" driver_is_right 1
    check "two workers of an NPU: the last restore puts them back" second_worker_keeps_driver
    check "--threads reference leaves them alone" reference_leaves_driver
    check "apply --all moves those of all workers" exits 0 cpubind apply --all --memory none
    check "all three are right" driver_is_right 0 1 2
    check "restore --all" exits 0 cpubind restore --all
    check "all are as before" driver_is_right
    check "no record is left" no_record_is_left
    end_workers
    all=$everyone
}
