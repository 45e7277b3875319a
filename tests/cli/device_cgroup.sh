#!/bin/sh
# device_cgroup.sh - test which GPU a process has whose device cgroup leaves it one of several
# SPDX-License-Identifier: MIT
#
#   tests/cli/device_cgroup.sh   from the top folder; BUILD is where the command and outputs are
#
# As root, in mounts of its own, the script has a /sys, a /proc/driver and a /dev with two GPUs,
# each on a node with one CPU of this machine, and processes in device cgroups as Slurm makes
# them with ConstrainDevices=yes: each may open one of the GPUs, and CUDA_VISIBLE_DEVICES is 0
# for both. It needs the hierarchy of version 1: that of version 2 takes a program. Nothing
# opens a node.
own_run=-m
. tests/support/start.sh
a=$(own_cpus | sed -n 1p)
b=$(own_cpus | sed -n 2p)
host=$out/host
group=/sys/fs/cgroup/devices$(sed -n 's/^[0-9]*:devices://p' /proc/self/cgroup)/cpubind-$$

stop() { # reason
    skip "the GPU that a device cgroup leaves" "$1"
    finish
    exit
}

[ "$BIND_MOUNTS" = own ] || stop "a device cgroup needs root"
[ -n "$b" ] || stop "this machine has one CPU"
[ -d /proc/driver ] || stop "there is no /proc/driver to put the files of a driver on"
mkdir "$group" 2>/dev/null || stop "no device cgroup of version 1 can be made here"
mkdir "$group/0" "$group/1"
echo 'c 195:1 rwm' >"$group/0/devices.deny"
echo 'c 195:0 rwm' >"$group/1/devices.deny"

# -- The host ----------------------------------------------------------------------

put sys/devices/system/cpu/online "$a,$b"
put sys/devices/system/node/node0/cpulist "$a"
put sys/devices/system/node/node1/cpulist "$b"
put_gpu 0000:01:00.0 0 0
put_gpu 0000:02:00.0 1 1

mkdir "$out/cgroup" "$out/dev"
mount --rbind /sys/fs/cgroup "$out/cgroup" && mount --rbind /dev "$out/dev" &&
    mount -t tmpfs -o mode=755 tmpfs /run && mount -t tmpfs -o mode=755 tmpfs /dev || exit 1
group=$out/cgroup${group#/sys/fs/cgroup}
for name in null zero urandom; do
    : >"/dev/$name"
    mount --bind "$out/dev/$name" "/dev/$name"
done
mknod /dev/nvidia0 c 195 0
mknod /dev/nvidia1 c 195 1
chmod 666 /dev/nvidia?
mount --bind "$host/proc/driver" /proc/driver && mount --bind "$host/sys" /sys || exit 1

# -- Tasks -------------------------------------------------------------------------

# Becomes a command as Slurm runs task N of srun -n2 --gpus-per-task=1, which has GPU N.
become_task() { # N, command ...
    n=$1
    shift
    # The words are for the inner shell.
    # shellcheck disable=SC2016
    exec sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' sh "$group/$n" env \
        SLURM_LOCALID="$n" CUDA_VISIBLE_DEVICES=0 SLURM_STEP_GPUS=0 SLURM_GPUS_ON_NODE=2 "$@"
}

task() { # N, command ...
    (become_task "$@")
}

worker=
end() {
    [ -z "$worker" ] || kill "$worker" 2>/dev/null
    [ -z "$worker" ] || wait "$worker" 2>/dev/null
    worker=
}
trap 'end; rmdir "$group/0" "$group/1" "$group"' EXIT

start() { # N
    become_task "$1" sleep 600 &
    worker=$!
    becomes 100 is_program "$worker" sleep
}

cpus_of() { # pid
    sed -n 's/^Cpus_allowed_list:[^0-9]*//p' "/proc/$1/status"
}

before=$(cpus_of self)

# Exits with a status, and says these words.
says() { # status, words, command ...
    want=$1
    words=$2
    shift 2
    "$@" >"$out/said" 2>&1
    status=$?
    cat "$out/said"
    [ "$status" -eq "$want" ] && grep -q -e "$words" "$out/said"
}

sees() { # N, columns of topo
    [ "$(task "$1" "$CPUBIND" topo | awk '/^0000/ { print $(NF - 1) }' | tr '\n' ' ')" = "$2 " ]
}

is_at() { # N, CPU, option ...
    n=$1
    cpu=$2
    shift 2
    [ "$(task "$n" "$CPUBIND" run "$@" -- \
        sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status)" = "$cpu" ]
}

# A process with these variables, in another cgroup than the command.
binds_by_pci() {
    start 1
    says 1 "Slurm gave it some of the GPUs" "$CPUBIND" apply --pid "$worker" &&
        says 1 "Slurm gave it some of the GPUs" "$CPUBIND" apply --pid "$worker" --rank 0 &&
        [ "$(cpus_of "$worker")" = "$before" ] &&
        "$CPUBIND" apply --pid "$worker" --pci 0000:02:00.0 && [ "$(cpus_of "$worker")" = "$b" ]
    result=$?
    end
    return "$result"
}

# The command is in the cgroup of the process.
binds_in_task() {
    start 1
    task 1 "$CPUBIND" apply --pid "$worker" && [ "$(cpus_of "$worker")" = "$b" ]
    result=$?
    end
    return "$result"
}

check "without a cgroup of its own a process sees both GPUs" \
    [ "$("$CPUBIND" topo | awk '/^0000/ { print $(NF - 1) }' | tr '\n' ' ')" = "0 1 " ]
check "the task of GPU 0 sees it alone, as number 0" sees 0 "0 hidden"
check "the task of GPU 1 sees it alone, as number 0" sees 1 "hidden 0"
for way in --auto --numa-bind; do
    check "run $way binds the task of GPU 0 to the CPUs of GPU 0" is_at 0 "$a" "$way"
    check "run $way binds the task of GPU 1 to those of GPU 1" is_at 1 "$b" "$way"
done
check "what a process of another cgroup sees is not known, and --pci names its GPU" binds_by_pci
check "in the cgroup of the process it is known" binds_in_task
rm /dev/nvidia0 /dev/nvidia1
check "without nodes it is not known" says 125 "Slurm gave it some of the GPUs" \
    task 1 "$CPUBIND" run --auto -- true
check "--pci names the GPU" is_at 1 "$b" --auto --pci 0000:02:00.0
check "--pci names it for --numa-bind" is_at 1 "$b" --numa-bind --pci 0000:02:00.0
finish
