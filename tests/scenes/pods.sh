#!/bin/sh
# pods.sh - workers in pods: names, cpusets that change, and what kubelet gave them
# SPDX-License-Identifier: MIT
# runs: check
#
# A worker is in a real cgroup, as that of a pod, with two CPUs of this machine; the files of
# kubelet are below the host of the test.
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
        explains vllm-0 0 "1 of its CPUs, $a, at distance 10: in its home" &&
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
        grep -q "pod prod/vllm-0/worker (burstable)$" "$out/said" && end_service TERM
}
check "JSON and text have the pod" a_pod_is_in_the_json
kill_service
"$CPUBIND" restore --all --quiet

# -- Kubelet -----------------------------------------------------------------------

kubelet=$host/var/lib/kubelet
own='"PodUID":"'$uid'","ContainerName":"worker"'

# What kubelet keeps: of the worker's pod, and of another one.
gives() { # CPUs of the worker, CPUs of the other; "": none
    put var/lib/kubelet/cpu_manager_state '{"policyName":"static","defaultCpuSet":"","entries":{"'$uid\
'":{"worker":"'"$1"'"},"11111111-2222-3333-4444-555555555555":{"side":"'"$2"'"}},"checksum":1}'
}

gives_device() { # ids by nodes
    put var/lib/kubelet/device-plugins/kubelet_internal_checkpoint '{"Data":{"PodDeviceEntries":[{'"$own"\
',"ResourceName":"nvidia.com/gpu","DeviceIDs":'"$1"',"AllocResp":"CmsK"}],"RegisteredDevices":{}},"Checksum":1}'
}

gives_all() {
    rm -rf "${kubelet:?}"
    gives "$both" "" && gives_device '{"0":["0000:01:00.0"]}' &&
        put var/lib/kubelet/memory_manager_state '{"entries":{"'$uid'":{"worker":[{"numaAffinity":[0],"type":'\
'"memory","size":1073741824}]}},"checksum":1}'
}

# Each explanation has what it has without kubelet, too.
says_of() { # sentence ...
    explains prod/vllm-0 0 "It drives gpu0; its threads are not bound." || return 1
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
    says_of && lacks ubelet && has .kubelet_error "" && has '.workers[0].kubelet' "" &&
        has '.workers[0].allowed' "$both" && has '.workers[0].device' gpu0 &&
        has '.workers[0].pod.name' vllm-0
}
check "without a kubelet nothing is said of one" nothing_without_a_kubelet

gave="Kubelet gave its container the CPUs"
given="$gave $both alone; 0000:01:00.0 of nvidia.com/gpu (node 0); 1.0G of memory (node 0)."
what_is_right_is_said() {
    gives_all && says_of "$given" && lacks "Its cgroup" "None of" "was told" "does not" &&
        has '.workers[0].kubelet.listed' 1 && has '.workers[0].kubelet.cpus' "$both" &&
        has '.workers[0].kubelet.lacks' "" &&
        has '.workers[0].kubelet.devices[0].ids[0]' 0000:01:00.0 &&
        has '.workers[0].kubelet.memory[0].bytes' 1073741824 &&
        has '.workers[0].kubelet.differences[0]' ""
}
check "what kubelet gave is said" what_is_right_is_said

cpus_that_differ_are_said() {
    gives "$both,500" "" &&
        says_of "Its cgroup lacks 500 of these: a program beside kubelet has written its cpuset" &&
        has '.workers[0].kubelet.lacks' 500 && gives "$a" "" &&
        says_of "Its cgroup also has $b, which kubelet did not give it: a program" &&
        has '.workers[0].kubelet.more' "$b" && gives "$a" "$b" &&
        says_of "Its cgroup has the CPUs $b, which kubelet gave to \
pod 11111111-2222-3333-4444-555555555555/side alone: both use them." &&
        lacks "Its cgroup also has" && has '.workers[0].kubelet.taken[0].cpus' "$b" &&
        has '.workers[0].kubelet.taken[0].uid' 11111111-2222-3333-4444-555555555555 &&
        has '.workers[0].kubelet.taken[0].pod' "" && has '.workers[0].kubelet.more' "" &&
        put var/lib/kubelet/cpu_manager_state \
            '{"entries":{"'$uid'":{"worker":"'"$both"'","side":"'"$both"'"}},"checksum":1}' &&
        says_of "$given" && lacks "Its cgroup"
}
check "CPUs of the cgroup that kubelet did not give, or gave to another, are said" \
    cpus_that_differ_are_said

devices_that_differ_are_said() {
    gives_all && gives_device '{"0":["0000:02:00.0::1"]}' &&
        says_of "None of the devices that kubelet gave it is gpu0" &&
        gives_device '{"1":["0000:01:00.0"]}' &&
        says_of "Kubelet was told the node 1, and gpu0 is on node 0:" &&
        gives_device '["0000:01:00.0"]' && says_of "; 0000:01:00.0 of nvidia.com/gpu; 1.0G of memory" &&
        lacks "was told" && rm -r "$kubelet/device-plugins" "$kubelet/memory_manager_state" &&
        gives "" "" && says_of "Kubelet gave its container no CPUs alone and no device." \
        "Kubelet does not know that it has gpu0: the container is privileged"
}
check "a device that kubelet did not give is said, and a wrong node" \
    devices_that_differ_are_said

a_claim_is_said() {
    put var/lib/kubelet/dra_manager_state '{"Data":"{\"Entries\":[{\"ClaimName\":\"gpus\",\"Namespace\":\"prod\",'\
'\"PodUIDs\":{\"'$uid'\":{}},\"DriverState\":{\"gpu.nvidia.com\":{\"Devices\":[{\"DeviceName\":\"gpu-0\",'\
'\"CDIDeviceIDs\":[\"nvidia.com/gpu=0\"]}]},\"cpu.example.com\":{\"Devices\":[{\"DeviceName\":\"numa0\"}]}}}]}",'\
'"Checksum":1}' &&
        says_of "no CPUs alone; by the claim prod/gpus nvidia.com/gpu=0, numa0 of cpu.example.com." &&
        lacks "does not know" &&
        has '.workers[0].kubelet.claims[0].devices[0].cdi[0]' nvidia.com/gpu=0
}
check "a claim of its pod is said" a_claim_is_said

a_container_without_a_name_is_said() {
    gives_all && umount /var/log &&
        explains "$uid" 0 "Kubelet's files have containers by names, and that of this one is not known" &&
        lacks "Kubelet gave" && name_pod
}
check "a container whose name is not known is said" a_container_without_a_name_is_said

# The GPUs of each vendor are numbered from 0 on: two have one name.
two_of_one_name_are_told_apart() {
    rm -r "${kubelet:?}"
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

silence="hat kubelet gave is not known: /var/lib/kubelet"
files_that_cannot_be_read_are_said() {
    gives_all && gives "0-" "" &&
        says_of "W$silence/cpu_manager_state: pod $uid, container worker: a number is missing." &&
        has .kubelet_error "w$silence/cpu_manager_state: pod $uid, container worker: a number is missing" &&
        has '.workers[0].kubelet' "" && put var/lib/kubelet/cpu_manager_state '{"entries":' &&
        says_of "W$silence/cpu_manager_state: byte 12: a value belongs here." &&
        rm "$kubelet/cpu_manager_state" &&
        says_of "W$silence/cpu_manager_state is not there, and other files of kubelet are." &&
        mkdir "$kubelet/cpu_manager_state" &&
        says_of "W$silence/cpu_manager_state: not a regular file: Is a directory."
}
check "a file that cannot be read is said, and the rest is explained" \
    files_that_cannot_be_read_are_said

# An ordinary user sees the worker, which is its own, and not the files.
files_that_may_not_be_read_are_said() {
    end_worker "$of_pod"
    rm -r "${kubelet:?}"
    start_users_on 5 && echo "$worker" >"$cgroup/cgroup.procs" && gives_all &&
        chmod 600 "$kubelet/cpu_manager_state" || return 1
    as=$user
    explains vllm-0 0 "W$silence/cpu_manager_state: open: Permission denied."
    result=$?
    as=
    return $result
}
check_user "files that may not be read are said" files_that_may_not_be_read_are_said
finish
