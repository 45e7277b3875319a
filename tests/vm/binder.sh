# shellcheck shell=sh disable=SC2154 # guest.sh sets the variables of an NPU
# binder.sh - the section of guest.sh on what happens to bound workers while the host changes
#
# CPUs go offline and come back, cpusets are written, drivers are bound in another order, workers
# share weights, and records cannot be written. Four workers, each in a cpuset of its own. The
# words "review of live hosts" name the fault that a test was written for. npu.c counts the
# writes to each interrupt: those of NPUs without a bound worker, and those that are no mailbox, SQ
# or CQ, must have none.

weights=/run/weights
group=/sys/fs/cgroup/worker

# -- Workers -----------------------------------------------------------------

start_sharing_worker() { # logic id
    worker 4 4 "$1" $weights >"/run/ready.$1" 2>&1 &
    echo $! >"/run/npus/$1"
    mkdir -p "$group$1"
    echo 0-3 >"$group$1/cpuset.mems"
    echo "$everywhere" >"$group$1/cpuset.cpus"
    echo $! >"$group$1/cgroup.procs"
}

watch_worker() { # logic id
    npu "$1"
    cpubind apply --pid "$pid" --device "npu$1" --memory none --watch 1 >"/run/watched.$1" 2>&1 &
    echo $! >"/run/watcher.$1"
    check_soon "a watch has bound the worker of NPU $1" grep -q "process $pid" "/run/watched.$1"
}

watch_lives() { # logic id
    read -r watcher <"/run/watcher.$1"
    ! has_ended "$watcher" && return 0
    tail -n 5 "/run/watched.$1"
    return 1
}

end_watch() { # logic id
    read -r watcher <"/run/watcher.$1"
    kill "$watcher" 2>/dev/null
    wait "$watcher" 2>/dev/null
    return 0
}

set_cpu() { # CPU, 0 or 1
    echo "$2" >"/sys/devices/system/cpu/cpu$1/online"
}

# Prints "process name CPUs" and "address name CPUs"; not the numbers of interrupts, which change
# with the drivers, and of threads, which are born.
bound_state() {
    # shellcheck disable=SC2046
    threads $(cat /run/npus/*) | cut -d ' ' -f 1,3,4 | sort -u
    find_irqs
    irqs | awk '{ print $1, $4, $5 }'
}

is_as_before() {
    bound_state >/run/state.now
    diff /run/state /run/state.now
}

# Restores, and says what restore said if something differs.
restores_all() {
    cpubind restore --all >/run/said 2>&1
    got=$?
    [ $got -eq 0 ] && is_as_before && no_record_is_left && return 0
    echo "restore --all: exit $got"
    grep -v -w -E 'moved|unchanged' /run/said
    return 1
}

own_irqs_are_right() { # logic id
    npu "$1"
    find_irqs
    irqs | awk -v address="$address" -v sq="$first" -v cq=$((first + 1)) '
        $1 != address { next }
        $4 == "sq_send_trigger_irq" { n++; want = sq }
        $4 == "cq_update_irq" { n++; want = cq }
        $4 !~ /^(sq_send_trigger|cq_update)_irq$/ { next }
        $5 != want { print; bad = 1 }
        END { exit bad || n != 17 }'
}

# Prints the interrupts that were written, of these NPUs all, of others those that no worker has.
no_foreign_irq_was_written() { # PCI address ...
    awk -v unbound=" $* " '
        FNR == NR { before[$1 " " $2] = $3; next }
        {
            is_foreign = $2 > 17 || index(unbound, " " $1 " ")
            n += $3 - before[$1 " " $2]
            if (is_foreign && $3 != before[$1 " " $2]) {
                print $1, "vector", $2, "was written", $3 - before[$1 " " $2], "times"
                bad = 1
            }
        }
        END { print n + 0, "writes"; exit bad || !n }' /run/writes /proc/npu_writes
}

# -- Offline CPUs ------------------------------------------------------------

# Runs a command while CPUs are offline.
without() { # "CPU ...", command ...
    gone=$1
    shift
    for cpu in $gone; do set_cpu "$cpu" 0; done
    "$@"
    got=$?
    for cpu in $gone; do set_cpu "$cpu" 1; done
    return $got
}

# Kernels before 6.2 keep only CPUs that are online in a mask that is written, so that a thread
# cannot get a CPU back that is offline at restore.
is_as_before_but() { # "CPU ..."
    bound_state >/run/state.now
    case $(uname -r) in
    6.1.*)
        online_then=$everywhere
        for cpu in $1; do
            online_then=$(echo "$online_then" | awk -v cpu="$cpu" '
                function range(a, b) {
                    return a > b ? "" : (a == b ? a : a "-" b) ","
                }
                {
                    n = split($0, part, ",")
                    for (i = 1; i <= n; i++) {
                        split(part[i] "-" part[i], end, "-")
                        if (cpu + 0 < end[1] + 0 || cpu + 0 > end[2] + 0)
                            list = list part[i] ","
                        else
                            list = list range(end[1], cpu - 1) range(cpu + 1, end[2])
                    }
                    sub(/,$/, "", list)
                    print list
                }')
        done
        sed -i "s/ $online_then\$/ $everywhere/" /run/state.now
        ;;
    esac
    diff /run/state /run/state.now
}

# Binds, takes CPUs away, verifies and restores; then all must be as before.
offline_after_apply() { # "CPU ..."
    exits 0 apply_npu 0 && without "$1" offline_steps && is_as_before_but "$1"
}

offline_steps() {
    exits 0 cpubind verify --pid "$pid" && exits 0 cpubind restore --pid "$pid"
}

offline_before_apply() { # "CPU ..."
    without "$1" offline_apply_steps && is_as_before_but "$1"
}

offline_apply_steps() {
    exits 0 apply_npu 0 && exits 0 cpubind verify --pid "$pid" &&
        exits 0 cpubind restore --pid "$pid"
}

# Kernels before 6.2 bind all threads of a cpuset anew when a CPU goes offline; those of the root
# group they leave alone.
offline() {
    npu 0
    echo "$pid" >/sys/fs/cgroup/cgroup.procs
    main_cpus=$(seq -s ' ' "${main%-*}" "${main#*-}")
    role_cpus="$acl ${main%-*} $release"
    # shellcheck disable=SC2086
    for gone in $role_cpus "$main_cpus"; do
        check "CPUs $gone offline after apply: verify, restore (review of live hosts, P1 4, P2 8)" \
            offline_after_apply "$gone"
        cpubind restore --all >/dev/null 2>&1
        reset_masks
    done
    for gone in $role_cpus; do
        check "CPU $gone offline before apply: apply, verify, restore (P1 4, P2 8)" \
            offline_before_apply "$gone"
        cpubind restore --all >/dev/null 2>&1
        reset_masks
    done
    npu 0
    echo "$pid" >"${group}0/cgroup.procs"
    check "restore in a narrow cpuset, which is widened then (P2 8)" follows_its_cpuset
    reset_masks
}

# Undoes what a failed test left, so that the next one begins with the same state. An interrupt of
# a driver that is bound anew has the CPUs of the node of its device.
reset_masks() {
    # shellcheck disable=SC2086
    drivers unbind $all
    # shellcheck disable=SC2086
    drivers bind $all
    for i in $all; do
        npu "$i"
        taskset -a -p ffffffff "$pid" >/dev/null
    done
}

# A container that is narrow at apply and restore, and is widened then.
follows_its_cpuset() {
    npu 0
    echo 0-15 >"${group}0/cpuset.cpus"
    exits 0 apply_npu 0 && exits 0 cpubind restore --pid "$pid" &&
        echo "$everywhere" >"${group}0/cpuset.cpus" && is_as_before
    got=$?
    echo "$everywhere" >"${group}0/cpuset.cpus"
    return $got
}

# -- What must not end a watch -----------------------------------------------

trouble() { # name, on or off; NPU 0
    npu 0
    case $1-$2 in
    "a CPU of main is offline-on") set_cpu "${main%-*}" 0 ;;
    "a CPU of main is offline-off") set_cpu "${main%-*}" 1 ;;
    "the CPU of acl is offline-on") set_cpu "$acl" 0 ;;
    "the CPU of acl is offline-off") set_cpu "$acl" 1 ;;
    "the cpuset lacks acl-on") echo "0-$((acl - 1)),$((acl + 1))-31" >"${group}0/cpuset.cpus" ;;
    "the cpuset lacks main-on") echo 0-1,8-31 >"${group}0/cpuset.cpus" ;;
    "the cpuset "*-off) echo "$everywhere" >"${group}0/cpuset.cpus" ;;
    "the folder of records is full-on")
        dd if=/dev/zero of=/run/cpubind/full bs=1k 2>/dev/null
        kill -USR1 "$pid"
        ;;
    "the folder of records is full-off") rm /run/cpubind/full ;;
    esac
}

troubles() {
    watch_worker 0
    for name in "a CPU of main is offline" "the CPU of acl is offline" "the cpuset lacks acl" \
        "the cpuset lacks main" "the folder of records is full"; do
        trouble "$name" on
        sleep 3
        check "$name: the watch lives (P1 3)" watch_lives 0
        trouble "$name" off
        check_soon "$name, then not: threads are where the plan has them (P1 3)" threads_are_right 0
        check_soon "and so are interrupts" own_irqs_are_right 0
    done
    end_watch 0
    check "restore --all after the troubles: all is as before" restores_all
    reset_masks
}

# -- Interrupts of other devices ---------------------------------------------

drivers() { # bind or unbind, logic id ...
    action=$1
    shift
    for i in "$@"; do
        npu "$i"
        echo "$address" >"/sys/bus/pci/drivers/devdrv_device_driver/$action"
    done
}

# NPU 1 has no bound worker.
renumbered() {
    cat /proc/npu_writes >/run/writes
    watch_worker 2
    drivers unbind 1 2
    npu 2
    check "no interrupts at all: verify names drift (P1 5)" exits 1 cpubind verify --pid "$pid"
    drivers bind 2 1
    check_soon "drivers bound in another order: the watch binds its own interrupts (P1 5)" \
        own_irqs_are_right 2
    npu 2
    check "verify agrees" exits 0 cpubind verify --pid "$pid"
    sleep 2
    npu 1
    check "no foreign interrupt was written (P1 5)" no_foreign_irq_was_written "$address"
    end_watch 2
    check "restore --all after the drivers: all is as before" restores_all
}

# -- The origin of interrupts ------------------------------------------------

# A worker ends without restore, and the next one of its NPU is bound to other CPUs.
heir_restores() {
    worker 4 4 3 $weights >/run/ready.dead 2>&1 &
    dead=$!
    while ! grep -q ready /run/ready.dead; do sleep 0.2; done
    exits 0 cpubind apply --pid $dead --device npu3 --memory none || return 1
    kill $dead
    wait $dead 2>/dev/null
    exits 0 apply_npu 3 --exclude 24-25 && restores_all
}

# Two workers of one NPU: the first restore leaves the interrupts to the other worker.
second_user_keeps_irqs() {
    npu 3
    exits 0 apply_npu 3 && exits 0 cpubind apply --pid "$other" --device npu3 --memory none ||
        return 1
    npu 3
    exits 0 cpubind restore --pid "$pid" && own_irqs_are_right 3 && restores_all
}

origins() {
    check "a worker that ended, then another one of its NPU: restore --all (P2 9)" heir_restores
    read -r other </run/npus/2
    check "two workers of an NPU: one restore, then restore --all (P2 9)" second_user_keeps_irqs
    cpubind restore --all >/dev/null 2>&1
    reset_masks
}

# -- Weights that all workers share ------------------------------------------

# Prints the pages of the weights on each node.
weights_of() { # logic id
    npu "$1"
    grep -F $weights "/proc/$pid/numa_maps" | tr ' ' '\n' | grep '^N[0-9]*='
}

weights_stay() { # command ...
    weights_of 0 >/run/weights.before
    "$@" || return 1
    weights_of 0 | diff /run/weights.before - && grep -q . /run/weights.before
}

shared_weights() {
    check "four applies do not move the weights (P1 6)" weights_stay apply_all
    check "own memory is on the node of the pool" for_all pages_are_right
    check "verify finds no difference (P1 6)" for_all verify_npu
    check "restore --all" restores_all
    reset_masks
}

# -- Random moments ----------------------------------------------------------

random_moments() {
    cat /proc/npu_writes >/run/writes
    for i in $all; do watch_worker "$i"; done
    for i in $all; do
        npu "$i"
        echo "$pid $group$i $address $main $acl $release $first $((first + 1))"
    done >/run/disturbed
    check "random moments: all that was put on a wrong CPU is put right" \
        disturb "${moments:-50}" 1000 "${seed:-1}" </run/disturbed
    grep '^#' /run/output
    check "all watches live" for_all watch_lives
    check "no foreign interrupt was written" no_foreign_irq_was_written
    grep 'writes$' /run/output | sed 's/^/# /'
    for i in $all; do end_watch "$i"; done
    check "restore --all after the moments: all is as before" restores_all
}

binder_start() {
    echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control
    mkdir -p /run/cpubind
    mount -t tmpfs -o size=256k,mode=700 records /run/cpubind
    dd if=/dev/zero of=$weights bs=1M count=16 2>/dev/null
    for i in $all; do start_sharing_worker "$i"; done
    npu-smi look
    check_soon "four workers with shared weights are ready" for_all worker_is_ready
    npu 0
    kill -USR1 "$pid"
    sleep 1
    reset_masks
    bound_state >/run/state
}

binder() {
    binder_start
    shared_weights
    offline
    troubles
    renumbered
    origins
    random_moments
}
