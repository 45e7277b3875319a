# shellcheck shell=sh disable=SC2154 # guest.sh sets the variables of an NPU
# doctor.sh - the section of guest.sh on cpubind doctor: faults are made, found, mended, put back
#
# Eight workers on an A2. The faults: automatic NUMA balancing, threads of two workers on one CPU,
# cpusets, an offline CPU, a variable of OpenMP. What --fix makes is compared with /proc; the
# commands that are printed are run as they are printed. What may be refused, and crashes, are in
# tests/scenes/mend.sh.

# npu-smi is a script here, and slow.
examine() { # exit status, more options
    code=$1
    shift
    exits "$code" cpubind doctor -o facts=driver "$@"
}

finds() { # check ...; these are found, and no others
    exits 1 cpubind doctor -o facts=driver || return 1
    sed -n 's/^fault  *\([a-z_]*\): [a-z]*$/\1/p' /run/said | sort -u >/run/found
    printf '%s\n' "$@" | sort -u | diff - /run/found && return 0
    cat /run/said
    return 1
}

finds_no_more() { # check
    cpubind doctor -o facts=driver >/run/said 2>&1
    ! grep -A 2 "^fault  *$1: " /run/said
}

# Runs the command that doctor prints for a check.
follow() { # check
    cpubind doctor -o facts=driver >/run/said 2>&1
    sed -n "/^fault  *$1: /,/^\$/s/^mend  *//p" /run/said | head -n 1 >/run/printed
    cat /run/printed
    [ -s /run/printed ] && sh /run/printed
}

# The threads of a worker that have no role of their own.
main_threads() { # logic id
    npu "$1"
    threads "$pid" | grep -v -E ' (acl_thread|release_thread|RT_RECYCLE|hccl_watchdog)' |
        cut -d ' ' -f 2
}

pin() { # logic id
    main_threads "$1" | while read -r thread; do taskset -p 1 "$thread" >/dev/null; done
}

main_threads_are_on() { # CPUs, logic id
    cpus=$1
    main_threads "$2" | while read -r thread; do
        grep -q "^Cpus_allowed_list:[[:space:]]*$cpus\$" "/proc/$pid/task/$thread/status" ||
            echo "$thread"
    done >/run/elsewhere
    [ ! -s /run/elsewhere ] && return 0
    echo "NPU $2, not on $cpus:" && cat /run/elsewhere
    return 1
}

balancing_is() { # 0 or 1
    read -r is </proc/sys/kernel/numa_balancing
    [ "$is" = "$1" ]
}

is_mended() {
    balancing_is 0 && npu 2 && main_threads_are_on "$main" 2 && npu 3 &&
        main_threads_are_on "$main" 3
}

# All is as the faults left it.
faults_are_as_before() {
    balancing_is 1 && nothing_differs /run/before && no_record_is_left
}

# A worker with a variable that pins, in place of that of an NPU.
start_pinned() { # logic id, word of the variable
    npu "$1"
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
    export OMP_PROC_BIND="$2"
    start_npu "$1"
    unset OMP_PROC_BIND
}

followed_for_openmp() {
    follow omp_proc_bind || return 1
    grep -q 'export OMP_PROC_BIND=false' /run/printed || return 1
    start_pinned 6 false
}

move_to_cpuset() { # logic id, CPUs, memory nodes
    npu "$1"
    mkdir -p /sys/fs/cgroup/confined
    echo "$2" >/sys/fs/cgroup/confined/cpuset.cpus
    echo "$3" >/sys/fs/cgroup/confined/cpuset.mems
    echo "$pid" >/sys/fs/cgroup/confined/cgroup.procs
}

found_and_mended() { # check
    follow "$1" && finds_no_more "$1"
}

doctor() {
    echo 0 >/proc/sys/kernel/numa_balancing
    for i in $all; do start_npu "$i"; done
    npu-smi look
    check_soon "eight workers are ready" for_all worker_is_ready
    check "doctor finds nothing on a right host" examine 0
    echo 1 >/proc/sys/kernel/numa_balancing
    pin 2
    pin 3
    everything /run/before
    check "two faults are found, and no others" finds autonuma one_cpu
    check "--fix --dry-run says what it would change" examine 1 --fix --dry-run
    check "and changes nothing" faults_are_as_before
    check "--fix mends both" examine 0 --fix
    check "threads and the setting are as they should be" is_mended
    check "nothing is left to mend" examine 0
    check "--restore" examine 0 --restore
    check "all is as before, and no record is left" faults_are_as_before
    check "--fix a last time" examine 0 --fix
    echo 1 >/proc/sys/kernel/numa_balancing
    check "autonuma: the printed command mends" found_and_mended autonuma
    start_pinned 6 close
    check_soon "a worker with OMP_PROC_BIND is ready" worker_is_ready 6
    npu-smi look
    check "OMP_PROC_BIND is found, and nothing else" finds omp_proc_bind
    check "omp_proc_bind: the printed command is followed" followed_for_openmp
    check_soon "the worker is ready again" worker_is_ready 6
    npu-smi look
    check "omp_proc_bind: it is gone" finds_no_more omp_proc_bind
    echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control
    move_to_cpuset 1 48-63 0-7
    check "cpuset_far: the printed command mends" found_and_mended cpuset_far
    move_to_cpuset 1 0-63 0-1
    check "cpuset_mems: the printed command mends" found_and_mended cpuset_mems
    npu 1
    echo "$pid" >/sys/fs/cgroup/cgroup.procs
    rmdir /sys/fs/cgroup/confined
    echo 0 >/sys/devices/system/cpu/cpu63/online
    check "an offline CPU is found" finds offline
    check "offline: the printed command mends" found_and_mended offline
    check "--restore at the end" examine 0 --restore
    check "no record is left at the end" no_record_is_left
    end_workers
}
