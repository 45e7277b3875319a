# shellcheck shell=sh disable=SC2154 # guest.sh sets the variables of an NPU
# driver.sh - the section of guest.sh on the kernel thread and the work queues of the driver
#
# They belong to the NPU, not to a process: apply moves those of its own NPU to the CPUs of irq,
# and restore puts them back when the last worker of the NPU is restored. Who moves them otherwise,
# and what may fail, is in tests/scenes/driver.sh.

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

bind_driver() { # logic id
    npu "$1"
    exits 0 cpubind apply --pid "$pid" --device "npu$1" --memory none
}

# Both are drift, which a second apply puts right.
names_what_was_moved() {
    npu 0
    taskset -p 1 "$(grep -lx "dev${phy}_sq_task" /proc/[0-9]*/comm | cut -d / -f 3)" >/dev/null
    echo 1 >"$queues/dev${phy}_sq_send_wq/cpumask"
    exits 1 cpubind verify --pid "$pid" && grep -q "dev${phy}_sq_task" /run/said &&
        grep -q "dev${phy}_sq_send_wq" /run/said && bind_driver 0 && driver_is_right 0
}

driver() {
    everyone=$all
    all="0 1 2"
    for i in $all; do start_npu "$i"; done
    npu-smi look
    check_soon "three workers are ready" for_all worker_is_ready
    driver_state >/run/driver.before
    check "eight kernel threads and sixteen work queues" \
        test "$(wc -l </run/driver.before)" -eq 24
    check "apply to NPU 0" bind_driver 0
    check "its kernel thread and its work queues are on irq, no others" driver_is_right 0
    check "verify agrees" verify_npu 0
    check "verify names what was moved, and apply moves it back" names_what_was_moved
    check "apply to NPU 1" bind_driver 1
    check "those of both NPUs are right" driver_is_right 0 1
    check "restore NPU 0" restore_npu 0
    check "its kernel thread and work queues are back, those of NPU 1 stay" driver_is_right 1
    check "apply --all moves those of all workers" exits 0 cpubind apply --all --memory none
    check "all three are right" driver_is_right 0 1 2
    check "restore --all" exits 0 cpubind restore --all
    check "all are as before" driver_is_right
    check "no record is left" no_record_is_left
    end_workers
    all=$everyone
}
