# shellcheck shell=sh disable=SC2154 # guest.sh sets the variables of an NPU
# mixed.sh - the section of guest.sh on a host with NPUs and with GPUs of another vendor
#
# Two NPUs and two GPUs, a worker of each. The pools are those of host.sh: NPU 1 and GPU 0 share a
# node. Two containers have one device each, and plan what the host plans: gpu has GPU 1 and no
# npu-smi, npu has NPU 1.

mixed_devices="npu0 npu1 gpu0 gpu1"

# Sets the variables of a device, those of `npu`. A GPU has main threads alone.
device() { # npu0, gpu1 ...
    case $1 in npu*) npu "${1#npu}" && return ;; esac
    while read -r number render address near pool memory; do
        [ "gpu$number" = "$1" ] && break
    done </host/gpus
    # shellcheck disable=SC2034 # threads_run_on reads all of them
    main=$pool acl=$pool release=$pool
    pid=
    [ -e "/run/workers/$1" ] && read -r pid <"/run/workers/$1"
    return 0
}

for_each_device() { # command ...; all of them must succeed, for each device
    bad=0
    for name in $mixed_devices; do
        device "$name"
        "$@" "$name" || bad=1
    done
    return $bad
}

gpu_is_there() { # gpu0 ...
    case $1 in npu*) return 0 ;; esac
    at=/sys/bus/pci/devices/$address
    read -r vendor <"$at/vendor"
    read -r node <"$at/numa_node"
    read -r is <"$at/drm/$render/dev"
    [ "$vendor $node" = "0x1002 $near" ] && [ -c "/dev/dri/$render" ] &&
        [ "$is" = "$(stat -c '%t %T' "/dev/dri/$render" |
            while read -r major minor; do echo $((0x$major)):$((0x$minor)); done)" ] &&
        return 0
    echo "$1: vendor $vendor, node $node, number $is"
    return 1
}

# -- Workers -----------------------------------------------------------------------------------

start_mixed_worker() { # npu0, gpu1 ...
    mkdir -p /run/workers
    drives=${1#npu}
    case $1 in gpu*) drives=/dev/dri/$render ;; esac
    worker 4 2 "$drives" >"/run/workers/$1.said" 2>&1 &
    echo $! >"/run/workers/$1"
    case $1 in npu*) cp "/run/workers/$1" "/run/npus/$drives" ;; esac
}

is_ready_mixed() { # npu0 ...
    grep -q ready "/run/workers/$1.said"
}

mixed_pids() {
    for name in $mixed_devices; do cat "/run/workers/$name"; done
}

is_on_its_pool() { # npu0 ...
    threads_run_on "$1" && pages_are_on_node "$1"
}

# Threads of two devices have no CPU in common.
no_cpu_is_shared() {
    for_each_device print_cpus | sort -u | cut -d ' ' -f 1 | sort | uniq -d >/run/twice
    [ ! -s /run/twice ] && return 0
    echo "CPUs of two devices: $(paste -s -d ' ' /run/twice)"
    return 1
}

# Prints "CPU device" for each CPU that a thread of the worker may use.
print_cpus() { # npu0 ...
    threads "$pid" | cut -d ' ' -f 4 | sort -u | awk -v device="$1" -F , '{
        for (i = 1; i <= NF; i++) {
            n = split($i, range, "-")
            for (cpu = range[1]; cpu <= range[n]; cpu++)
                print cpu, device
        }
    }'
}

all_are_bound() {
    for_each_device is_on_its_pool && no_cpu_is_shared && irqs_are_right 0 1
}

mixed_state() {
    # shellcheck disable=SC2046
    threads $(mixed_pids) >"$1"
    irqs | cut -d ' ' -f 1-5 >>"$1"
}

mixed_is_as_before() {
    mixed_state /run/now
    diff /run/before /run/now && no_record_is_left
}

# -- Plans -------------------------------------------------------------------------------------

# Prints "address pool" for each device of a plan.
pools_by_address() { # file
    tr '{' '\n' <"$1" | sed -n 's/^.*"pci": "\([^"]*\)".*"pool": "\([^"]*\)".*/\1 \2/p'
}

# A view plans these devices, each with the pool that the host gives it.
plans_devices() { # view, npu0 ...
    of=$1
    shift
    seen_by "$of" cpubind plan --json >/run/plan 2>/run/plan.said
    for name in "$@"; do device "$name" && echo "$address $pool"; done >/run/want
    pools_by_address /run/plan | diff /run/want - && return 0
    cat /run/plan /run/plan.said
    return 1
}

# The text has a row for each device, and the lines of the NPUs that operators look for.
text_has_all() {
    exits 0 cpubind plan || return 1
    for name in $mixed_devices; do
        device "$name"
        grep -q " $name .* $address " /run/said && continue
        cat /run/said
        return 1
    done
    exits 0 cpubind plan --format log || return 1
    grep -q '^NPU1: main=\[10 11 12 13\]  acl=\[14\]  release=\[\[15\]\]$' /run/said
}

# -- Commands ----------------------------------------------------------------------------------

# A row of a worker, by its pid.
has_row() { # npu0 ...
    grep -q -w "$pid" /run/said && return 0
    echo "no row of $1, process $pid"
    return 1
}

exits_with_rows() { # code, command ...
    exits "$@" && for_each_device has_row && return 0
    cat /run/said
    return 1
}

one_drifts() {
    device gpu1
    kill -USR2 "$pid"
    tries=0
    while ! threads "$pid" | grep -q " drifter $everywhere\$" && [ $tries -lt 300 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    exits 1 cpubind verify --all && exits 1 cpubind verify --pid "$pid" && grep drifter /run/said
}

run_is_on_pool() { # npu0 ...
    # shellcheck disable=SC2016
    cpubind run --device "$1" -- sh -c \
        'grep Cpus_allowed_list /proc/$$/status; cat /proc/$$/numa_maps' >/run/said 2>&1 &
    child=$!
    wait $child
    got=$?
    cpubind restore --pid $child >/run/restored 2>&1
    [ $got -eq 0 ] && grep -q "^Cpus_allowed_list:[[:space:]]*$main\$" /run/said &&
        grep -q " prefer:$memory " /run/said && return 0
    echo "$1: exit $got"
    cat /run/said /run/restored
    return 1
}

binds_one() { # npu0 ...
    exits 0 cpubind apply --pid "$pid" -o memory-time=300 && is_on_its_pool "$1" &&
        exits 0 cpubind verify --pid "$pid" && exits 0 cpubind restore --pid "$pid" &&
        threads_are_all_on "$everywhere" "$pid"
}

# The variables of the one who binds hide devices from him; the workers have theirs.
binds_hidden() { # npu0 ...
    ASCEND_RT_VISIBLE_DEVICES=0 ROCR_VISIBLE_DEVICES=1 exits 0 cpubind apply --all \
        -o memory-time=300 && all_are_bound
}

finds_far_cpuset() {
    device gpu1
    mkdir -p /sys/fs/cgroup/far
    echo 0-7 >/sys/fs/cgroup/far/cpuset.cpus
    echo 0-3 >/sys/fs/cgroup/far/cpuset.mems
    echo "$pid" >/sys/fs/cgroup/far/cgroup.procs
    # A worker that wakes up on the acl CPU of another one at that moment is found, too.
    for _ in 1 2 3; do finds cpuset_far cpuset_overlap && break; done &&
        found_and_mended cpuset_far
    found=$?
    echo "$pid" >/sys/fs/cgroup/cgroup.procs
    rmdir /sys/fs/cgroup/far
    return $found
}

# -- Containers --------------------------------------------------------------------------------

start_mixed_containers() {
    echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control
    mkdir -p /run/bin
    cp -a /bin/. /run/bin
    rm /run/bin/npu-smi
    (BIN=/run/bin && export BIN && bundle.sh gpu renderD129) && bundle.sh npu 1 &&
        for name in gpu npu; do
            crun --root /run/crun --cgroup-manager cgroupfs run --detach --no-pivot \
                --bundle "/run/bundle/$name" "$name" || return 1
        done
    seen_by npu npu-smi look
}

# Starts a worker in a container and sets $inner to its pid there, $pid to that of the host.
start_contained() { # view, what it drives
    # shellcheck disable=SC2016
    seen_by "$1" sh -c 'worker 4 2 "$0" >/tmp/ready 2>&1 & echo $! >/tmp/pid' "$2"
}

look_into() { # view
    inner=$(seen_by "$1" cat /tmp/pid)
    pid=$(grep -l "^NSpid:.*[[:space:]]$inner\$" /proc/[0-9]*/status | while read -r at; do
        at=${at%/status}
        grep -q -x worker "$at/comm" && grep -q -w "/$1" "$at/cgroup" && echo "${at#/proc/}"
    done)
}

binds_contained() { # view, device of the host, its name there
    device "$2"
    look_into "$1"
    exits 0 seen_by "$1" cpubind apply --pid "$inner" --device "$3" -o memory-time=300 &&
        threads_run_on "$2" && pages_are_on_node "$2" &&
        exits 0 seen_by "$1" cpubind restore --pid "$inner" &&
        threads_are_all_on "$everywhere" "$pid"
}

runs_contained() { # view, device of the host, more options
    of=$1
    device "$2"
    shift 2
    exits 0 seen_by "$of" cpubind run "$@" -- grep Cpus_allowed_list /proc/self/status &&
        grep "^Cpus_allowed_list:[[:space:]]*$main\$" /run/said
}

# The worker of GPU 1 of the host and that of the container share its pool.
host_binds_contained() {
    look_into gpu
    exits 0 cpubind apply --all --memory none && no_cpu_is_shared || return 1
    { threads "$pid" && device gpu1 && threads "$pid"; } | cut -d ' ' -f 4 | sort -u >/run/shares
    sort -u /run/shares | diff /run/shares - && [ "$(wc -l </run/shares)" -eq 2 ] &&
        exits 0 cpubind verify --all && exits 0 cpubind restore --all
}

contained() {
    check "containers of one device start" start_mixed_containers
    start_contained gpu /dev/dri/renderD129
    start_contained npu 0
    for name in gpu npu; do
        check_soon "a worker of container $name is ready" is_ready_inside $name
    done
    check "a container with GPU 1 alone plans what the host plans" plans_devices gpu gpu1
    check "a container with NPU 1 alone plans what the host plans" plans_devices npu npu1
    check "in it a rank is bound to GPU 1" runs_contained gpu gpu1 --rank 0
    check "and so is a command that names it" runs_contained gpu gpu1 --device gpu0
    check "in the other one a rank is bound to NPU 1" runs_contained npu npu1 --rank 0
    check "apply in the container of GPU 1" binds_contained gpu gpu1 gpu0
    check "apply in the container of NPU 1" binds_contained npu npu1 npu0
    check "doctor in the container of GPU 1 names its rights alone" \
        finds_in gpu proc_irq sys_nice
    check "apply --all on the host binds the workers of the containers" host_binds_contained
    for name in gpu npu; do crun --root /run/crun delete --force $name; done
}

finds_in() { # view, check ...
    of=$1
    shift
    exits 1 seen_by "$of" cpubind doctor || return 1
    sed -n 's/^fault  *\([a-z_]*\): [a-z]*$/\1/p' /run/said | sort -u >/run/found
    printf '%s\n' "$@" | diff - /run/found && return 0
    cat /run/said
    return 1
}

# -- The service -------------------------------------------------------------------------------

serviced() {
    settings
    check "the service starts" start_service
    check_soon "it binds all workers" for_each_device threads_run_on
    device gpu0
    kill -USR2 "$pid"
    sleep 1
    check_soon "it puts right a thread of GPU 0 that moves itself" for_each_device threads_run_on
    check "status asks it" exits_with_rows 0 cpubind status --memory none
    check "no CPU is shared" no_cpu_is_shared
    check "the interrupts of the NPUs are right" irqs_are_right 0 1
    end_service TERM
    check "restore --all after the service" exits 0 cpubind restore --all
    check "all is as before the service" mixed_is_as_before
}

mixed() {
    check "the GPUs are devices of the bus with their files" for_each_device gpu_is_there
    for name in $mixed_devices; do device "$name" && start_mixed_worker "$name"; done
    npu-smi look
    check_soon "four workers are ready" for_each_device is_ready_mixed
    mixed_state /run/before
    # shellcheck disable=SC2086
    check "the plan has the pools of all devices" plans_devices host $mixed_devices
    check "its text has them, too" text_has_all
    check "status shows four workers" exits_with_rows 1 cpubind status --memory none
    check "apply --pid finds the device of each" for_each_device binds_one
    check "run binds a command to each device" for_each_device run_is_on_pool
    check "all is as before" mixed_is_as_before
    check "apply --all" exits_with_rows 0 cpubind apply --all -o memory-time=300
    check "threads, memory and interrupts are where the plan has them" all_are_bound
    check "verify --all agrees" exits_with_rows 0 cpubind verify --all
    check "doctor finds nothing" exits 0 cpubind doctor -o facts=driver
    check "verify finds a thread of GPU 1 that moves itself" one_drifts
    check "who hides devices from himself binds their workers" binds_hidden
    check "restore --all" exits_with_rows 0 cpubind restore --all
    check "all is as before that" mixed_is_as_before
    echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control
    check "doctor finds a cpuset with no CPU near GPU 1, and the printed command mends it" \
        finds_far_cpuset
    contained
    serviced
    # shellcheck disable=SC2046
    kill -9 $(mixed_pids)
}
