# shellcheck shell=sh disable=SC2154 # guest.sh sets the variables of an NPU
# pods.sh - the section of guest.sh on pods, whose cpusets a kubelet writes again and again
#
# Two containers in the cgroups that kubelet makes with the driver systemd: one of class Guaranteed
# with the CPUs of the node of NPU 1 for itself, one of class Burstable with all others. The test
# is the kubelet. A service on the host, and then one in a container as the DaemonSet has it, with
# its capabilities and a cgroup namespace that hides the cgroups of the pods, keeps the workers
# within what they have now. Kernels before 6.2 give each thread all CPUs of a cpuset at each write.

slice=/sys/fs/cgroup/kubepods.slice
uid_1=11111111-2222-3333-4444-555555555555
uid_2=01234567-89ab-cdef-0123-456789abcdef
daemon_rights='"CAP_SYS_NICE", "CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE", "CAP_NET_ADMIN"'

# -- Pods --------------------------------------------------------------------

group_of_pod() { # uid, class with "-" behind it; "": Guaranteed
    echo "kubepods.slice${2:+/kubepods-${2%-}.slice}/kubepods-$2pod$(echo "$1" | tr - _).slice/\
cri-containerd-$(echo "$1" | tr -d - | sed 's/.*/&&/').scope"
}

start_pod() { # view, cgroup, CPUs, phy id ...
    view=$1
    path=$2
    cpus=$3
    shift 3
    below=
    for part in $(dirname "$path" | tr / ' '); do
        echo +cpuset >"/sys/fs/cgroup$below/cgroup.subtree_control" || return 1
        below=$below/$part
        mkdir -p "/sys/fs/cgroup$below"
    done
    CPUS=$cpus GROUP=/$path bundle.sh "$view" "$@" &&
        crun --root /run/crun --cgroup-manager cgroupfs run --detach --no-pivot \
            --bundle "/run/bundle/$view" "$view" && seen_by "$view" npu-smi look || return 1
    read -r has <"/sys/fs/cgroup/$path/cpuset.cpus.effective"
    [ "$has" = "$cpus" ]
}

# As kubelet does; `dropped` says how many threads have lost their masks by it.
write_cpuset() { # cgroup, CPUs, logic id
    echo "$2" >"/sys/fs/cgroup/$1/cpuset.cpus" || return 1
    dropped=$(threads "$(pid_of "$3" 0)" | awk -v all="$2" '$4 == all { n++ } END { print n + 0 }')
    written=$(tenths)
}

# The worker of NPU 1 alone has 6 CPUs, or all 8: they are its own, so that its pool is all of
# them, with the first two for interrupts.
is_in_its_cpus() { # first CPU, last CPU
    npu 1
    # shellcheck disable=SC2034 # threads_run_on reads all
    pid=$(pid_of 1 0)
    # shellcheck disable=SC2034
    main=$(($1 + 2))-$(($2 - 2))
    # shellcheck disable=SC2034
    acl=$(($2 - 1)) release=$2
    threads_run_on 1
}

# Every thread of the worker of NPU 2 has some of these CPUs, not all of them.
is_among() { # CPUs, "0-7,16-31"
    threads "$(pid_of 2 0)" | awk -v all="$1" '
        function expand(list, set,    n, part, i, range, cpu) {
            n = split(list, part, ",")
            for (i = 1; i <= n; i++) {
                split(part[i], range, "-")
                for (cpu = range[1] + 0; cpu <= (range[2] == "" ? range[1] : range[2]) + 0; cpu++)
                    set[cpu]
            }
        }
        BEGIN { expand(all, may) }
        {
            split("", has)
            expand($4, has)
            for (cpu in has)
                if (!(cpu in may) && ++bad)
                    print "thread " $2 " (" $3 ") may run on " cpu
            if ($4 == all && ++bad)
                print "thread " $2 " (" $3 ") is not bound"
        }
        END { exit bad > 0 || NR < 20 }'
}

rewritten() { # cgroup, first CPU, last CPU
    write_cpuset "$1" "$2-$3" 1 || return 1
    echo "$dropped threads have all CPUs"
    becomes is_in_its_cpus "$2" "$3" || return 1
    echo "# $2-$3: $dropped threads had lost their masks; right after $(($(tenths) - written)) tenths" \
        >>/run/comments
}

shared_pool_shrinks() { # CPUs
    write_cpuset "$pod_2" "$1" 2
    becomes is_among "$1"
}

# The same list again, as a kubelet writes that starts: nothing is to be done.
same_list_moves_nothing() {
    wc -l <"$out/service.log" >/run/lines.before
    write_cpuset "$pod_1" 8-15 1
    sleep 3
    [ "$dropped" -eq 0 ] && is_in_its_cpus 8 15 && wc -l <"$out/service.log" | diff /run/lines.before -
}

# -- The DaemonSet -----------------------------------------------------------

start_daemon() {
    mkdir -p /views/daemon
    cp -r /host/. /views/daemon
    cp "$conf" /run/cpubind/service.conf
    # The ids are words.
    # shellcheck disable=SC2046
    SERVICE=$daemon_rights bundle.sh daemon $(cut -d ' ' -f 4 /host/npus) &&
        crun --root /run/crun --cgroup-manager cgroupfs run --detach --no-pivot \
            --bundle /run/bundle/daemon daemon && seen_by daemon npu-smi look || return 1
    : >"$out/service.log"
    seen_by daemon cpubind service /run/cpubind/service.conf >>"$out/service.log" 2>&1 &
    service=$!
    becomes has_own_socket
}

# The cgroups of pods are hidden from it.
cgroups_are_hidden() {
    seen_by daemon cat "/proc/$(pid_of 1 0)/cgroup" | grep '^0::/\.\./' &&
        ! seen_by daemon ls "$slice"
}

# -- The section -------------------------------------------------------------

pods() {
    end_workers # those of sections before this one would be users of its NPUs, too
    mkdir -p /run/workers
    pod_1=$(group_of_pod $uid_1 "")
    pod_2=$(group_of_pod $uid_2 burstable-)
    : >/run/comments
    settings
    check "a pod of class Guaranteed starts" start_pod one "$pod_1" 8-15 0 1
    check "a pod of class Burstable starts" start_pod two "$pod_2" 0-7,16-31 2 3
    check "the service starts" start_service
    check "the worker of NPU 1 starts" start_one 1 0
    check "the worker of NPU 2 starts" start_one 2 0
    check_soon "the worker of NPU 1 has the CPUs of its pod" is_in_its_cpus 8 15
    check_soon "the worker of NPU 2 has CPUs of the shared ones" is_among 0-7,16-31
    check_soon "the log names the first pod and its class" logged "npu1, pod $uid_1 (guaranteed): "
    check_soon "and the second" logged "npu2, pod $uid_2 (burstable): "
    check "the same list is written again: nothing is moved" same_list_moves_nothing
    check "the cpuset of the first pod shrinks: it is bound within" rewritten "$pod_1" 8 13
    check_soon "that is said" logged "pod $uid_1 (guaranteed): its cpuset has changed to 8-13"
    check "it grows again" rewritten "$pod_1" 8 15
    check "the shared CPUs get fewer: the second pod is bound within" shared_pool_shrinks 0-7,20-31
    check_soon "verify --all agrees" exits 0 cpubind verify --all
    kill_service
    write_cpuset "$pod_1" 8-13 1
    check "another service starts" start_service
    check_soon "a cpuset that was written while no service ran" is_in_its_cpus 8 13
    end_service TERM
    check "a service starts in a container with the rights of the DaemonSet" start_daemon
    check "the cgroups of the pods are hidden from it" cgroups_are_hidden
    check "the cpuset of that pod grows: it is bound within" rewritten "$pod_1" 8 15
    check "the shared CPUs get more" shared_pool_shrinks 0-7,16-31
    check "a probe in the container says that it goes on" \
        exits 0 seen_by daemon cpubind service /run/cpubind/service.conf --ask alive
    sort -u /run/comments
    kill "$service"
    service=
    for name in daemon one two; do crun --root /run/crun delete --force $name; done
    cpubind restore --ended >/run/said 2>&1
}
