# shellcheck shell=sh
# pod.sh - a container of a pod, for scripts that have sourced device_host.sh
# SPDX-License-Identifier: MIT
#
# Sets uid and id, of the pod and of its container, and cgroup.

uid=01234567-89ab-cdef-0123-456789abcdef
id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
pods=

# The cpuset of the container of a pod of class Burstable, by the driver cgroupfs.
make_pod() {
    pods=$(mktemp -d /sys/fs/cgroup/cpuset/cpubind-test.XXXXXX) || return 1
    cgroup=$pods
    for part in . kubepods burstable pod$uid $id; do
        [ "$part" = . ] || cgroup=$cgroup/$part
        [ -d "$cgroup" ] || mkdir "$cgroup" && cat "${cgroup%/*}/cpuset.mems" >"$cgroup/cpuset.mems" &&
            echo "$a,$b" >"$cgroup/cpuset.cpus" || return 1
    done
}

# A cgroup is empty some time after its last process has ended.
remove_pod() {
    [ -z "$pods" ] || becomes 50 find "$pods" -depth -type d -exec rmdir {} +
}

# The log of the container, in whose name kubelet has those of the pod.
name_pod() {
    mount -t tmpfs tmpfs /var/log && mkdir /var/log/containers &&
        ln -s /nowhere "/var/log/containers/vllm-0_prod_worker-$id.log"
}

# Asks why a pod has its CPUs.
explains() { # name of the pod, exit status, sentence
    "$CPUBIND" status --root "$root" --explain "$1" >"$out/why" 2>&1
    got=$?
    tr '\n' ' ' <"$out/why" | sed 's/  */ /g' >"$out/line"
    [ $got -eq "$2" ] && grep -qF -e "$3" "$out/line" || {
        cat "$out/why"
        return 1
    }
}
