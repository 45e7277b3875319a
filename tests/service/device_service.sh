#!/bin/sh
# device_service.sh - test cpubind service on accelerators that are no NPUs; prints TAP
# SPDX-License-Identifier: MIT
#
#   tests/service/device_service.sh     from the top folder; BUILD has the command and outputs
#
# The host is a snapshot with two CPUs of this machine, each on a node of its own, and a GPU near
# each; the processes are real, and the script starts them. It needs root: it has a /run, a /dev
# and processes of its own, and touches no record, service or process of this machine.
needs_own_run=yes
. tests/support/start.sh
. tests/support/device_host.sh
. tests/support/pod.sh
build deny.c "$out/deny" || exit 1

# -- Tests --------------------------------------------------------------------

binds_workers_that_run_and_that_come() {
    settings "textfile = $prom" && start_worker 5 && first=$worker && start_service &&
        becomes 50 is_on "$first" "$a" && start_worker 7 && second=$worker &&
        becomes 50 is_on "$second" "$b" && said "process $first (worker), gpu0: " &&
        becomes 50 said "process $second (worker), gpu1: " && ! said npu
}

a_new_thread_is_bound() {
    kill -USR1 "$second" && becomes 50 has_threads "$second" 2 && becomes 50 is_on "$second" "$b"
}

a_moved_thread_is_moved_back() {
    taskset -pc "$b" "$first" >"$out/taskset" && becomes 50 is_on "$first" "$a"
}

a_new_program_stays_bound() {
    kill -USR2 "$second" && becomes 50 grep -qx engine "/proc/$second/comm" &&
        becomes 50 is_on "$second" "$b"
}

writes_the_textfile() {
    becomes 200 metric 'cpubind_device_workers{device="0000:02:00.0"} 1' &&
        metric 'cpubind_workers 2' &&
        metric 'cpubind_threads{device="0000:01:00.0",place="right"} 1' &&
        metric 'cpubind_threads{device="0000:01:00.0",place="unbound"} 0' &&
        ! grep -q 'npu\|interrupts{' "$prom" && [ "$(stat -c %a "$prom")" = 644 ] || {
        cat "$prom"
        return 1
    }
    ! command -v promtool >/dev/null 2>&1 || promtool check metrics <"$prom"
}

# The settings of the test are not those of the host: the commands find the usual socket.
commands_ask_it() {
    "$CPUBIND" verify --all --json >"$out/verify" || return 1
    ! command -v python3 >"$out/python" ||
        python3 tests/api/json_schema.py check host_report "$out/verify" || return 1
    [ "$(json "$out/verify" '$.service.pid')" = "$service" ] &&
        [ "$(json "$out/verify" '$.workers[0].pid')" = "$first" ] &&
        [ "$(json "$out/verify" '$.workers[0].pci')" = 0000:01:00.0 ] &&
        [ -z "$(json "$out/verify" '$.workers[0].npu')" ] &&
        [ "$(json "$out/verify" '$.workers[1].state')" = right ] || return 1
    "$CPUBIND" verify --all >"$out/verify" 2>"$out/verify.err"
    [ $? -eq 0 ] && [ "$(awk -v p="$first" '$2 == p { print $1, $3, $5, $6, $9 }' \
        "$out/verify")" = "gpu0 worker $a 1 right" ] || {
        cat "$out/verify" "$out/verify.err"
        return 1
    }
    "$CPUBIND" status --json >"$out/status"
    "$CPUBIND" status >"$out/text"
    [ "$(json "$out/status" '$.service.pid')" = "$service" ] &&
        [ "$(json "$out/status" '$.service.workers')" = 2 ] &&
        grep -q "^the service (process $service) looked" "$out/text"
}

# A device that is named is read by the command itself.
a_named_device_is_not_asked_of_it() {
    "$CPUBIND" verify --all --root "$root" --json >"$out/verify" &&
        [ -z "$(json "$out/verify" '$.service.pid')" ] &&
        "$CPUBIND" verify --all --pci 0000:01:00.0 --json >"$out/verify"
    [ -z "$(json "$out/verify" '$.service.pid')" ]
}

a_bad_file_keeps_the_settings() {
    settings 'rulez = near' && kill -HUP "$service" &&
        becomes 50 said 'line 3, column 1: there is no key "rulez"; did you mean "rules"?' &&
        said "the settings stay as they were" && is_on "$first" "$a" && kill -0 "$service"
}

# What --thread gives to all threads of a process is not what main threads get.
main_cpus_are() { # pid, CPUs, argument of verify ...
    main_of=$1
    main_cpus=$2
    shift 2
    "$CPUBIND" verify --all "$@" >"$out/verify" 2>"$out/verify.err"
    [ "$(awk -v p="$main_of" '$2 == p { print $5 }' "$out/verify")" = "$main_cpus" ] || {
        cat "$out/verify" "$out/verify.err"
        return 1
    }
}

a_good_file_is_in_force() {
    settings "textfile = $prom" "thread = engine=$a" "device-type = 910B" && kill -HUP "$service" &&
        becomes 50 said "the settings of $conf are in force" &&
        becomes 50 grep -qx "Cpus_allowed_list:	$a" "/proc/$second/task/$second/status" &&
        said "the key device-type is for NPUs alone: it is ignored on this host" &&
        main_cpus_are "$second" "$b" && main_cpus_are "$second" "$b" --root "$root" &&
        settings "textfile = $prom" && kill -HUP "$service" && becomes 50 is_on "$second" "$b"
}

a_worker_that_starts_again_is_bound() {
    end_worker "$second" && becomes 50 said "process $second (engine), gpu1: ended" &&
        start_worker 7 && second=$worker && becomes 50 is_on "$second" "$b"
}

a_killed_service_goes_on() {
    kill_service
    is_on "$first" "$a" && taskset -pc "$b" "$first" >"$out/taskset" && start_service &&
        becomes 50 is_on "$first" "$a" && is_on "$second" "$b"
}

restore_ends_it_if_asked() {
    "$CPUBIND" restore --all --service 2>"$out/err" && is_on "$first" "$before" &&
        is_on "$second" "$before" && [ ! -e /run/cpubind/service.sock ] && wait "$service" &&
        grep -q "the service (process $service) was ended by this command" "$out/err" &&
        said "signal 15 of process " && service=
}

sigterm_leaves_all_bound() {
    start_service && becomes 50 is_on "$second" "$b" && end_service TERM && is_on "$first" "$a" &&
        [ ! -e /run/cpubind/service.sock ]
}

the_end_restores_if_asked() {
    rm -f "$prom" && settings 'restore-at-end = yes' "textfile = $prom" && start_service &&
        becomes 200 metric 'cpubind_device_workers{device="0000:01:00.0"} 1' &&
        is_on "$first" "$a" && end_service TERM &&
        is_on "$first" "$before" && said "process $first (worker), gpu0: put back"
}

# One process of both devices: it has no device of its own in the figures.
a_process_of_several_devices() {
    "$out/worker" 3</dev/nvidia5 4</dev/nvidia7 5</dev/nvidia-uvm &
    both=$!
    pids="$pids $both"
    rm -f "$prom"
    settings "textfile = $prom" && start_service &&
        becomes 200 metric 'cpubind_device_workers{device="several"} 1' &&
        metric 'cpubind_device_workers{device="0000:01:00.0"} 1' && end_worker "$both" &&
        becomes 50 said "process $both (worker), 2 devices: ended" && end_service TERM
}

probe() { # exit status, word of --alive or --ready, sentence
    "$CPUBIND" service --config "$conf" "--$2" >"$out/probe" 2>&1
    [ $? -eq "$1" ] && grep -q -e "$3" "$out/probe"
}

# A host without a plan is alive and not ready; a stopped service is neither.
probes_tell_alive_from_ready() {
    probe 1 alive "no service can be asked at /run/cpubind/service.sock: No such file" &&
        settings 'any-arch = yes' && mv "$root/sys" "$root/away" && start_service &&
        becomes 50 grep -q . "$out/said" &&
        probe 0 alive "^the service (process $service) goes on: its last turn was [0-9]*\.[0-9] s ago$" &&
        probe 1 ready "; it has not looked at the workers of this host yet$" &&
        mv "$root/away" "$root/sys" && becomes 100 probe 0 ready "goes on" &&
        kill -STOP "$service" && becomes 50 probe 1 alive "the service.* does not answer: it is stopped or hangs$" &&
        kill -CONT "$service" && becomes 50 probe 0 alive "goes on" && end_service TERM &&
        ! "$CPUBIND" service --alive --check 2>"$out/probe" &&
        grep -q "leave out --check" "$out/probe" && return 0
    cat "$out/probe"
    return 1
}

# Two processes of one device have parts of its pool, which is both CPUs.
two_workers_share_a_device() {
    cp -r "$root" "$out/one" && rm -r "$out/one/sys/bus/pci/devices/0000:02:00.0" &&
        echo "$a,$b" >"$out/one/sys/devices/system/node/node0/cpulist" &&
        echo "" >"$out/one/sys/devices/system/node/node1/cpulist" && start_worker 5 &&
        third=$worker && start_service --root "$out/one" && becomes 50 is_on "$first" "$a" &&
        becomes 50 is_on "$third" "$b" && end_service TERM && end_worker "$third"
}

only_chooses() {
    settings 'only = eng*' 'restore-at-end = yes' && start_service &&
        becomes 50 said "process $first (worker), gpu0: left" &&
        kill -USR2 "$second" && becomes 50 is_on "$second" "$b" && end_service TERM
}

# The settings of the first step of a roll-out.
watches_only() {
    rm -f "$prom"
    start_worker 7 && watched=$worker && settings 'except = *' "textfile = $prom" && start_service &&
        becomes 50 said "process $watched (worker), gpu1: left" && is_on "$watched" "$before" &&
        becomes 200 metric 'cpubind_threads{device="0000:02:00.0",place="unbound"} 1' &&
        metric 'cpubind_threads{device="0000:02:00.0",place="right"} 0' && end_service TERM &&
        is_on "$watched" "$before" && end_worker "$watched"
}

# A filter, as a container has it, hides which program a process runs.
a_hidden_program_is_said() {
    printf '#!/bin/sh\nexec "%s" readlinkat "%s" "$@"\n' "$out/deny" "$CPUBIND" >"$out/hidden" &&
        chmod 755 "$out/hidden" && settings 'except = bash' || return 1
    own=$CPUBIND
    CPUBIND=$out/hidden
    echo 'restore-at-end = yes' >>"$conf" && start_service
    result=$?
    CPUBIND=$own
    [ $result -eq 0 ] && becomes 50 said "its program may not be read (/proc/$first/exe): only and \
except compare its name alone" && becomes 50 is_on "$first" "$a" && end_service TERM
}

a_host_without_devices_is_tried_again() {
    settings 'any-arch = yes' && mv "$root/sys" "$root/away" && start_service &&
        becomes 50 grep -q . "$out/said" && kill -0 "$service" && mv "$root/away" "$root/sys" &&
        becomes 100 is_on "$first" "$a" && end_service TERM
}

# NPUs have their numbers in another pid namespace; the GPU beside them is bound.
the_others_of_a_host_with_npus() {
    settings 'any-arch = yes' && "$CPUBIND" fixture export gpu-beside-npu "$out/mixed" --quiet &&
        echo "Device Minor: 	 5" >"$out/minor" &&
        mkdir -p "$out/mixed/proc/driver/nvidia/gpus/0000:61:00.0" &&
        cp "$out/minor" "$out/mixed/proc/driver/nvidia/gpus/0000:61:00.0/information" &&
        echo "$a" >"$out/mixed/sys/bus/pci/devices/0000:61:00.0/local_cpulist" &&
        put_gpu_drivers "$out/mixed" && start_worker 5 && beside=$worker || return 1
    echo 'restore-at-end = yes' >>"$conf" && start_service --root "$out/mixed"
    becomes 50 said "process $beside (worker), gpu0: " && is_on "$beside" "$a" &&
        end_service TERM && end_worker "$beside"
}

# The command reads this machine: its bus is that of the test, its other classes are hidden.
doctor_judges_workers() {
    put sys/bus/pci/devices/0000:03:00.0/vendor 0x1002
    put sys/bus/pci/devices/0000:03:00.0/device 0x74a1
    put sys/bus/pci/devices/0000:03:00.0/class 0x120000
    put sys/bus/pci/devices/0000:03:00.0/numa_node 0
    put sys/bus/pci/devices/0000:03:00.0/drm/renderD128/dev 1:7
    mkdir -p "$out/class/kfd/kfd" "$out/class/net" && echo 1:9 >"$out/class/kfd/kfd/dev" &&
        mount --bind "$out/class" /sys/class || return 1
    OMP_PROC_BIND=true "$out/worker" "$out/engine" 3</dev/full 4</dev/urandom &
    pinned=$!
    pids="$pids $pinned"
    becomes 50 grep -qx worker "/proc/$pinned/comm" || return 1
    "$CPUBIND" doctor --json >"$out/doctor" 2>&1
    ! command -v python3 >"$out/python" ||
        python3 tests/api/json_schema.py check doctor "$out/doctor" || return 1
    sqlite3 :memory: "SELECT value ->> 'evidence', value ->> 'pci', value ->> 'npu', value ->> 'pid'
        FROM json_each(readfile('$out/doctor'), '\$.findings')
        WHERE value ->> 'check' = 'omp_proc_bind'" >"$out/found"
    umount /sys/class && end_worker "$pinned" && rm -r "$root/sys/bus/pci/devices/0000:03:00.0"
    grep -qxF "process $pinned, which drives gpu0, was started with OMP_PROC_BIND=true|\
0000:03:00.0||$pinned" "$out/found" || {
        cat "$out/doctor" "$out/found"
        return 1
    }
}

# -- A pod, in cgroups of this machine ------------------------------------------

a_pod_is_named() {
    name_pod && start_worker 5 && of_pod=$worker && echo "$of_pod" >"$cgroup/cgroup.procs" &&
        settings "textfile = $prom" 'restore-at-end = yes' && start_service &&
        becomes 50 is_on "$of_pod" "$a" &&
        becomes 50 said "process $of_pod (worker), gpu0, pod prod/vllm-0/worker (burstable): "
}

# The other CPU is far from its device: it is all that is given.
a_cpuset_that_changes_is_kept_to() {
    echo "$b" >"$cgroup/cpuset.cpus" && becomes 30 is_on "$of_pod" "$b" &&
        becomes 10 said "(burstable): its cpuset has changed to $b" &&
        echo "$a,$b" >"$cgroup/cpuset.cpus" && becomes 30 is_on "$of_pod" "$a" &&
        becomes 10 said "(burstable): its cpuset has changed to $both"
}

a_pod_is_in_the_figures() {
    labels='device="0000:01:00.0",pod="vllm-0",namespace="prod",container="worker"'
    becomes 200 metric \
        "cpubind_threads{$labels,pod_uid=\"$uid\",qos=\"burstable\",place=\"right\"} 1" &&
        metric "cpubind_device_workers{$labels,pod_uid=\"$uid\",qos=\"burstable\"} 1" && return 0
    cat "$prom"
    return 1
}

# A second worker is in no pod, and may use the same CPUs.
a_pod_is_explained() {
    start_worker 7 && beside=$worker && becomes 50 is_on "$beside" "$b" || return 1
    who="Process $of_pod (worker), pod prod/vllm-0/worker (burstable)"
    for name in $uid vllm-0 prod/vllm-0 pod:vllm-0; do
        explains "$name" 0 "$who, may use the CPUs $both; of these 2 also process $beside (worker)." ||
            return 1
    done
    explains vllm-0 0 "It drives gpu0; its threads are where the plan has them." &&
        explains vllm-0 0 "1 of its CPUs, $a, at distance 10, are in its home" &&
        explains vllm-0 0 "No other device has CPUs on its nodes." &&
        explains vllm-1 1 "no worker of this host is in a pod vllm-1; there are workers in prod/vllm-0" &&
        explains prod/vllm 1 "no worker of this host is in a pod prod/vllm;" &&
        end_worker "$beside"
}

a_pod_is_in_the_json() {
    "$CPUBIND" status --root "$root" --json >"$out/status"
    "$CPUBIND" status --root "$root" >"$out/text"
    "$CPUBIND" verify --all --json >"$out/verify" || return 1
    ! command -v python3 >"$out/python" ||
        python3 tests/api/json_schema.py check host_report "$out/verify" &&
        python3 tests/api/json_schema.py check status "$out/status" || return 1
    for at in "$out/verify \$.workers" "$out/status \$.devices[0].workers"; do
        [ "$(json "${at% *}" "${at#* }[#-1].pod.uid")" = $uid ] &&
            [ "$(json "${at% *}" "${at#* }[#-1].pod.namespace")" = prod ] &&
            [ "$(json "${at% *}" "${at#* }[#-1].pod.qos")" = burstable ] || return 1
    done
    grep -qx "  *pod prod/vllm-0/worker (burstable)" "$out/text" && end_service TERM &&
        end_worker "$of_pod" && umount /var/log
}

check "workers that run and workers that come are bound" binds_workers_that_run_and_that_come
check "a new thread is bound" a_new_thread_is_bound
check "a thread that somebody has moved is moved back" a_moved_thread_is_moved_back
check "a process that executes another program stays bound" a_new_program_stays_bound
check "the textfile has the figures of each device" writes_the_textfile
check "verify --all and status ask the service" commands_ask_it
check "a device that is named, and a snapshot, are not asked of it" a_named_device_is_not_asked_of_it
check "a bad file of settings is said, and the old settings stay" a_bad_file_keeps_the_settings
check "a good file is in force after SIGHUP, and keys of NPUs are named" a_good_file_is_in_force
check "a worker that ends and starts again is bound" a_worker_that_starts_again_is_bound
check "a service that was killed goes on where it was" a_killed_service_goes_on
check "restore --all --service ends it, puts all back, and each says so" restore_ends_it_if_asked
check "SIGTERM ends the service and leaves all bound" sigterm_leaves_all_bound
check "restore-at-end puts all back" the_end_restores_if_asked
check "a process of several devices has figures of its own" a_process_of_several_devices
check "two workers of one device share its pool" two_workers_share_a_device
check "only chooses the processes" only_chooses
"$out/deny" readlinkat true 2>"$out/output"
if [ $? -eq 77 ]; then
    skip "a program that may not be read is said" "no filter can be set here"
else
    check "a program that may not be read is said" a_hidden_program_is_said
fi
check "probes tell a service that goes on from one that is ready" probes_tell_alive_from_ready
check "a host without a device is tried again" a_host_without_devices_is_tried_again
check "the service binds the workers of a GPU beside NPUs" the_others_of_a_host_with_npus
check "doctor judges the workers of a device" doctor_judges_workers
both=$a,$b
[ $((a + 1)) -ne "$b" ] || both=$a-$b
end_worker "$first"
end_worker "$second"
check "except = * watches only" watches_only
if make_pod 2>"$out/output"; then
    check "a pod is named by its cgroup and the log of its container" a_pod_is_named
    check "a cpuset that changes is noticed, and the worker is bound in it" \
        a_cpuset_that_changes_is_kept_to
    check "the figures have labels of the pod" a_pod_is_in_the_figures
    check "status --explain says why a pod has its CPUs" a_pod_is_explained
    check "JSON and text have the pod" a_pod_is_in_the_json
else
    skip "pods" "no cpuset of cgroups of version 1 can be made here"
fi
# shellcheck disable=SC2086
kill -KILL $pids "$gpu_terminal" 2>/dev/null
kill_service
remove_pod 2>"$out/output"
finish
