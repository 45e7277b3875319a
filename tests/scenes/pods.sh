#!/bin/sh
# pods.sh - workers in pods: names, cpusets that change, and what kubelet gave them
# SPDX-License-Identifier: MIT
# runs: check
#
# A worker is in a real cgroup, as that of a pod, with two CPUs of this machine; the kubelet is
# programs/kubelet_double.py, in a /var/lib of its own.
. tests/scenes/lib.sh
use_gpus
make_pod 2>"$out/other" || {
    remove_pod
    skip_all "no cpuset of cgroups of version 1 can be made here"
}
trap 'end_worker; remove_pod' EXIT
name_pod
start_on 5 && of_pod=$worker && echo "$of_pod" >"$cgroup/cgroup.procs" || exit 1

# -- With the service ------------------------------------------------------------

a_pod_is_named() {
    settings "textfile = $prom" 'restore-at-end = yes' && start_service &&
        becomes is_on "$of_pod" "$a" &&
        becomes logged "process $of_pod (worker), gpu0, pod prod/vllm-0/worker (burstable): "
}
check "a pod is named by its cgroup and the log of its container" a_pod_is_named

# The other CPU is far from its device: it is all that is given.
a_cpuset_that_changes_is_kept_to() {
    echo "$b" >"$cgroup/cpuset.cpus" && becomes is_on "$of_pod" "$b" &&
        becomes logged "(burstable): its cpuset has changed to $b" &&
        echo "$a,$b" >"$cgroup/cpuset.cpus" && becomes is_on "$of_pod" "$a" &&
        becomes logged "(burstable): its cpuset has changed to $both"
}
check "a cpuset that changes is noticed, and the worker is bound in it" \
    a_cpuset_that_changes_is_kept_to

a_pod_is_in_the_figures() {
    labels='device="0000:01:00.0",pod="vllm-0",namespace="prod",container="worker"'
    becomes metric \
        "cpubind_threads{$labels,pod_uid=\"$uid\",qos=\"burstable\",place=\"right\"} 1" &&
        metric "cpubind_device_workers{$labels,pod_uid=\"$uid\",qos=\"burstable\"} 1"
}
check "the figures have labels of the pod" a_pod_is_in_the_figures

# A second worker is in no pod, and may use the same CPUs.
a_pod_is_explained() {
    start_on 7 && beside=$worker && becomes is_on "$beside" "$b" || return 1
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
check "status --explain says why a pod has its CPUs" a_pod_is_explained

is_the_pod() { # path of the worker
    has "$1.pod.uid" $uid && has "$1.pod.namespace" prod && has "$1.pod.qos" burstable
}

a_pod_is_in_the_json() {
    says 0 "" "$CPUBIND" verify --all --json && fits host_report &&
        { is_the_pod '.workers[0]' || is_the_pod '.workers[#-1]'; } && # the other one has ended
        "$CPUBIND" status --root "$host" --json >"$out/said" && fits status &&
        is_the_pod '.devices[0].workers[#-1]' &&
        "$CPUBIND" status --root "$host" >"$out/said" &&
        grep -qx "  *pod prod/vllm-0/worker (burstable)" "$out/said" && end_service TERM
}
check "JSON and text have the pod" a_pod_is_in_the_json
kill_service
"$CPUBIND" restore --all --quiet

# -- A kubelet -------------------------------------------------------------------

command -v python3 >"$out/python" || {
    skip "what kubelet gave" "the kubelet of the test needs python3"
    finish
    exit
}
kubelet_socket=/var/lib/kubelet/pod-resources/kubelet.sock
mount -t tmpfs tmpfs /var/lib && mkdir -p ${kubelet_socket%/*} || exit 1
kubelet=

end_kubelet() {
    [ -z "$kubelet" ] || end_worker "$kubelet"
    kubelet=
}

start_kubelet() { # case
    end_kubelet
    : >"$out/listens"
    python3 tests/scenes/programs/kubelet_double.py $kubelet_socket "$1" "$a" "$b" \
        >"$out/listens" 2>&1 &
    kubelet=$!
    becomes grep -q listening "$out/listens"
}

# Each explanation has what it has without kubelet, too.
says_of() { # case, sentence ...
    start_kubelet "$1" && shift &&
        explains prod/vllm-0 0 "It drives gpu0; its threads are not bound." ||
        return 1
    for sentence in "No other device has CPUs on its nodes." "$@"; do
        grep -qF -e "$sentence" "$out/line" && continue
        echo "no: $sentence"
        cat "$out/why"
        return 1
    done
    says 0 "" "$CPUBIND" status --root "$host" --explain prod/vllm-0 --json && fits explain_pod
}

lacks() { # words that the last explanation must not have ...
    for lacked in "$@"; do
        ! grep -F -e "$lacked" "$out/line" || return 1
    done
}

nothing_without_a_kubelet() {
    explains vllm-0 0 "It drives gpu0; its threads are not bound." && lacks ubelet &&
        says 0 "" "$CPUBIND" status --root "$host" --explain prod/vllm-0 --json &&
        fits explain_pod && has .kubelet_error "" && has '.workers[0].kubelet' "" &&
        has '.workers[0].allowed' "$both" && has '.workers[0].device' gpu0 &&
        has '.workers[0].pod.name' vllm-0
}
check "without a kubelet nothing is said of one" nothing_without_a_kubelet

gave="Kubelet gave its container the CPUs"
given="$gave $both alone; 0000:01:00.0 of nvidia.com/gpu (node 0); 1.0G of memory (node 0)."
what_is_right_is_said() {
    says_of right "$given" && lacks "Its cgroup" "None of" "was told" "does not" &&
        has '.workers[0].kubelet.cpus' "$both" && has '.workers[0].kubelet.lacks' "" &&
        has '.workers[0].kubelet.devices[0].ids[0]' 0000:01:00.0 &&
        has '.workers[0].kubelet.memory[0].bytes' 1073741824 &&
        has '.workers[0].kubelet.differences[0]' "" && says_of two_frames "$given"
}
check "what kubelet gave is said, of the pod of that namespace" what_is_right_is_said

if python3 -c 'import grpc' 2>"$out/other"; then
    check "a server of grpcio answers" says_of grpc "$given"
else
    skip "a server of grpcio answers" "python3-grpcio is not installed"
fi

cpus_that_differ_are_said() {
    says_of lacks "Its cgroup lacks 500 of these: a program beside kubelet has written its cpuset" &&
        has '.workers[0].kubelet.lacks' 500 &&
        says_of more "Its cgroup also has $b, which kubelet did not give it: a program" &&
        has '.workers[0].kubelet.more' "$b" &&
        says_of taken "Its cgroup has the CPUs $b, which kubelet gave to test/vllm-0/worker alone: both use them." &&
        lacks "Its cgroup also has" && has '.workers[0].kubelet.taken[0].namespace' test &&
        has '.workers[0].kubelet.taken[0].cpus' "$b" && has '.workers[0].kubelet.more' ""
}
check "CPUs of the cgroup that kubelet did not give, or gave to another, are said" \
    cpus_that_differ_are_said

devices_that_differ_are_said() {
    says_of none "Kubelet gave its container no CPUs alone and no device." \
        "Kubelet does not know that it has gpu0: the container is privileged" &&
        says_of other_device "None of the devices that kubelet gave it is gpu0" &&
        says_of other_node "Kubelet was told the node 1, and gpu0 is on node 0:" &&
        says_of claim "no CPUs alone; by the claim prod/gpus nvidia.com/gpu=0, numa0 of cpu.example.com." &&
        lacks "does not know" &&
        has '.workers[0].kubelet.claims[0].devices[0].cdi[0]' nvidia.com/gpu=0
}
check "a device that kubelet did not give is said, and a wrong node" \
    devices_that_differ_are_said

a_container_that_is_not_listed_is_said() {
    says_of unlisted "Kubelet does not list its container: it is starting or ending" &&
        has '.workers[0].kubelet.listed' 0 && umount /var/log &&
        explains "$uid" 0 "Kubelet lists containers by names, and those of this one are not known" &&
        name_pod
}
check "a container that kubelet does not list is said" a_container_that_is_not_listed_is_said

# The GPUs of each vendor are numbered from 0 on: two have one name.
two_of_one_name_are_told_apart() {
    end_kubelet
    amd=sys/bus/pci/devices/0000:81:00.0
    put $amd/vendor 0x1002
    put $amd/device 0x740f
    put $amd/class 0x038000
    put $amd/numa_node 0
    put $amd/local_cpulist "$a"
    explains vllm-0 0 "its PCI address is 0000:01:00.0" && lacks "name it by its address" &&
        says 0 "" "$CPUBIND" status --root "$host" --explain vllm-0 --json &&
        [ -n "$(json '.workers[0].why')" ] && rm -r "${host:?}/$amd"
}
check "a device is explained whose name another one has, too" two_of_one_name_are_told_apart

silence="What kubelet gave is not known: $kubelet_socket:"
damaged="the answer is damaged at byte"
no_answer_is_said() {
    says_of slow "$silence kubelet has not answered within a second." &&
        says_of full "$silence kubelet has not answered within a second." &&
        says_of refused \
            "$silence kubelet refuses, with status 12 of gRPC: \"unknown service v1.PodResourcesLister\"." &&
        says_of http1 "$silence what listens there does not speak gRPC." &&
        says_of ends "$silence the answer ends too soon." &&
        says_of huge "$silence the answer is longer than 4 MiB." &&
        says_of grows "$silence $damaged 5: the message needs too much memory." &&
        says_of compressed "$silence $damaged 0: the answer is compressed." &&
        says_of truncated "the message is cut." &&
        says_of bad_cpu "$silence $damaged 5: the number of a CPU is out of range." &&
        has .kubelet_error "w${silence#W} $damaged 5: the number of a CPU is out of range" &&
        has '.workers[0].kubelet' "" && end_kubelet &&
        explains vllm-0 0 "$silence nobody listens there: kubelet has ended or is starting."
}
check "why there is no answer is said, and the rest is explained" no_answer_is_said

# An ordinary user sees the worker, which is its own, and not the socket.
a_socket_that_may_not_be_opened_is_said() {
    end_worker "$of_pod"
    start_users_on 5 && echo "$worker" >"$cgroup/cgroup.procs" && start_kubelet right &&
        chmod 700 /var/lib/kubelet || return 1
    as=$user
    explains vllm-0 0 "$silence this user may not open it: run cpubind as root."
    result=$?
    as=
    return $result
}
check_user "a socket that may not be opened is said" a_socket_that_may_not_be_opened_is_said
finish
