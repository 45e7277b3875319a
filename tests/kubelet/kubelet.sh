#!/bin/sh
# kubelet.sh - test what status --explain says of kubelet's list; prints TAP
# SPDX-License-Identifier: MIT
#
#   tests/kubelet/kubelet.sh     from the top folder; BUILD has the command and outputs
#
# A worker is in a real cgroup, as that of a pod, with two CPUs of this machine; the kubelet is
# kubelet_double.py, in a /var/lib of its own. It needs root.
needs_own_run=yes
. tests/support/start.sh
. tests/support/device_host.sh
. tests/support/pod.sh
if ! command -v python3 >/dev/null 2>&1; then
    echo "1..0 # SKIP the kubelet of the test needs python3"
    exit 0
fi
socket=/var/lib/kubelet/pod-resources/kubelet.sock
both=$a,$b
[ $((a + 1)) -ne "$b" ] || both=$a-$b

# -- A kubelet ------------------------------------------------------------------

kubelet=
start_kubelet() { # case, python
    end_kubelet
    : >"$out/listens"
    "${2:-python3}" tests/kubelet/kubelet_double.py $socket "$1" "$a" "$b" >"$out/listens" 2>"$out/double" &
    kubelet=$!
    becomes 100 grep -q listening "$out/listens" || {
        cat "$out/double"
        return 1
    }
}

end_kubelet() {
    [ -n "$kubelet" ] || return 0
    kill -KILL "$kubelet"
    wait "$kubelet" 2>/dev/null
    kubelet=
}

# Each explanation has what it has without kubelet, too.
says_of() { # case, sentence ...
    start_kubelet "$1" || return 1
    shift
    explains prod/vllm-0 0 "It drives gpu0; its threads are not bound." || return 1
    explains prod/vllm-0 0 "No other device has CPUs on its nodes." || return 1
    for sentence in "$@"; do
        grep -qF -e "$sentence" "$out/line" || {
            echo "no: $sentence"
            cat "$out/why"
            return 1
        }
    done
    "$CPUBIND" status --root "$root" --explain prod/vllm-0 --json >"$out/json" &&
        python3 tests/api/json_schema.py check explain_pod "$out/json"
}

lacks() { # words that the last explanation must not have ...
    for words in "$@"; do
        ! grep -qF -e "$words" "$out/line" || {
            cat "$out/why"
            return 1
        }
    done
}

is_json() { # path, value
    [ "$(json "$out/json" "$1")" = "$2" ] || {
        cat "$out/json"
        return 1
    }
}

# -- Tests ----------------------------------------------------------------------

nothing_without_a_kubelet() {
    explains vllm-0 0 "It drives gpu0; its threads are not bound." &&
        "$CPUBIND" status --root "$root" --explain prod/vllm-0 --json >"$out/json" &&
        lacks ubelet && python3 tests/api/json_schema.py check explain_pod "$out/json" &&
        is_json '$.kubelet_error' "" && is_json '$.workers[0].kubelet' "" &&
        is_json '$.workers[0].allowed' "$both" && is_json '$.workers[0].device' gpu0 &&
        is_json '$.workers[0].pod.name' vllm-0
}

gave="Kubelet gave its container the CPUs"
given="$gave $both alone; 0000:01:00.0 of nvidia.com/gpu (node 0); 1.0G of memory (node 0)."
what_is_right_is_said() {
    says_of right "$given" && lacks "Its cgroup" "None of" "was told" "does not" &&
        is_json '$.workers[0].kubelet.cpus' "$both" && is_json '$.workers[0].kubelet.lacks' "" &&
        is_json '$.workers[0].kubelet.devices[0].ids[0]' 0000:01:00.0 &&
        is_json '$.workers[0].kubelet.memory[0].bytes' 1073741824 &&
        is_json '$.workers[0].kubelet.differences[0]' "" && says_of two_frames "$given"
}

a_real_grpc_server_is_asked() {
    start_kubelet grpc "$grpc_python" && says "0" "" "$CPUBIND" status --root "$root" --explain vllm-0 &&
        explains vllm-0 0 "$given"
}

cpus_that_differ_are_said() {
    says_of lacks "Its cgroup lacks 500 of these: a program beside kubelet has written its cpuset" &&
        is_json '$.workers[0].kubelet.lacks' 500 &&
        says_of more "Its cgroup also has $b, which kubelet did not give it: a program" &&
        is_json '$.workers[0].kubelet.more' "$b" &&
        says_of taken "Its cgroup has the CPUs $b, which kubelet gave to test/vllm-0/worker alone: both use them." &&
        lacks "Its cgroup also has" && is_json '$.workers[0].kubelet.taken[0].namespace' test &&
        is_json '$.workers[0].kubelet.taken[0].cpus' "$b" && is_json '$.workers[0].kubelet.more' ""
}

devices_that_differ_are_said() {
    says_of none "Kubelet gave its container no CPUs alone and no device." \
        "Kubelet does not know that it has gpu0: the container is privileged" &&
        says_of other_device "None of the devices that kubelet gave it is gpu0" &&
        says_of other_node "Kubelet was told the node 1, and gpu0 is on node 0:" &&
        says_of claim "no CPUs alone; by the claim prod/gpus nvidia.com/gpu=0, numa0 of cpu.example.com." &&
        lacks "does not know" && is_json '$.workers[0].kubelet.claims[0].devices[0].cdi[0]' nvidia.com/gpu=0
}

a_container_that_is_not_listed_is_said() {
    says_of unlisted "Kubelet does not list its container: it is starting or ending" &&
        is_json '$.workers[0].kubelet.listed' 0 && umount /var/log &&
        explains "$uid" 0 "Kubelet lists containers by names, and those of this one are not known" &&
        name_pod
}

# The GPUs of each vendor are numbered from 0 on: two have one name.
two_of_one_name_are_told_apart() {
    end_kubelet
    amd=$root/sys/bus/pci/devices/0000:81:00.0
    mkdir "$amd" && echo 0x1002 >"$amd/vendor" && echo 0x740f >"$amd/device" &&
        echo 0x038000 >"$amd/class" && echo 0 >"$amd/numa_node" && echo "$a" >"$amd/local_cpulist" &&
        explains vllm-0 0 "its PCI address is 0000:01:00.0" && lacks "name it by its address" &&
        "$CPUBIND" status --root "$root" --explain vllm-0 --json >"$out/json" &&
        ! is_json '$.workers[0].why' "" >"$out/output" && rm -r "$amd"
}

silence="What kubelet gave is not known: $socket:"
no_answer_is_said() {
    says_of slow "$silence kubelet has not answered within a second." &&
        says_of refused \
            "$silence kubelet refuses, with status 12 of gRPC: \"unknown service v1.PodResourcesLister\"." &&
        says_of http1 "$silence what listens there does not speak gRPC." &&
        says_of ends "$silence the answer ends too soon." &&
        says_of huge "$silence the answer is longer than 4 MiB." &&
        says_of compressed "$silence the answer is damaged at byte 0: the answer is compressed." &&
        says_of truncated "the message is cut." &&
        says_of bad_cpu "$silence the answer is damaged at byte 5: the number of a CPU is out of range." &&
        is_json '$.kubelet_error' \
            "what kubelet gave is not known: $socket: the answer is damaged at byte 5: the number of a CPU is out of range" &&
        is_json '$.workers[0].kubelet' "" && end_kubelet &&
        explains vllm-0 0 "$silence nobody listens there: kubelet has ended or is starting."
}

# An ordinary user sees the worker, which is its own, and not the socket.
a_socket_that_may_not_be_opened_is_said() {
    end_worker "$of_pod"
    start_users_worker 5 && of_pod=$worker && echo "$of_pod" >"$cgroup/cgroup.procs" &&
        start_kubelet right && chmod 700 /var/lib/kubelet || return 1
    # The words are split on purpose.
    # shellcheck disable=SC2086
    $user "$CPUBIND" status --root "$root" --explain vllm-0 >"$out/why" 2>&1
    tr '\n' ' ' <"$out/why" | sed 's/  */ /g' >"$out/line"
    grep -qF "$silence this user may not open it: run cpubind as root." "$out/line" || {
        cat "$out/why"
        return 1
    }
}

# -- ----------------------------------------------------------------------------

if ! make_pod 2>"$out/output"; then
    echo "1..0 # SKIP no cpuset of cgroups of version 1 can be made here"
    remove_pod 2>"$out/output"
    exit 0
fi
mount -t tmpfs tmpfs /var/lib && mkdir -p ${socket%/*} && name_pod && start_worker 5 || exit 1
of_pod=$worker
echo "$of_pod" >"$cgroup/cgroup.procs" || exit 1
check "without a kubelet nothing is said of one" nothing_without_a_kubelet
check "what kubelet gave is said, of the pod of that namespace" what_is_right_is_said
grpc_python=
for python in python3 /usr/bin/python3; do
    "$python" -c 'import grpc' 2>"$out/output" && grpc_python=$python
done
if [ -n "$grpc_python" ]; then
    check "a server of grpcio answers" a_real_grpc_server_is_asked
else
    skip "a server of grpcio answers" "python3-grpcio is not installed"
fi
check "CPUs of the cgroup that kubelet did not give, or gave to another, are said" cpus_that_differ_are_said
check "a device that kubelet did not give is said, and a wrong node" devices_that_differ_are_said
check "a container that kubelet does not list is said" a_container_that_is_not_listed_is_said
check "a device is explained whose name another one has, too" two_of_one_name_are_told_apart
check "why there is no answer is said, and the rest is explained" no_answer_is_said
if [ $has_user = yes ]; then
    check "a socket that may not be opened is said" a_socket_that_may_not_be_opened_is_said
else
    skip "a socket that may not be opened is said" "no ordinary user can run the command here"
fi
end_kubelet
# shellcheck disable=SC2086
kill -KILL $pids "$gpu_terminal" 2>/dev/null
remove_pod 2>"$out/output"
finish
