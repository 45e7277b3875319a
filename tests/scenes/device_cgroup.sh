#!/bin/sh
# device_cgroup.sh - which GPU a process has whose device cgroup leaves it one of several
# SPDX-License-Identifier: MIT
# runs: check
#
# The scene has a /sys, a /proc/driver and a /dev with two GPUs, each on a node with one CPU of
# this machine, and processes in device cgroups as Slurm makes them with ConstrainDevices=yes:
# each may open one of the GPUs, and CUDA_VISIBLE_DEVICES is 0 for both. It needs the hierarchy
# of version 1: that of version 2 takes a program. Nothing opens a node.
. tests/scenes/lib.sh
take_two_cpus
host=$out/host
group=/sys/fs/cgroup/devices$(sed -n 's/^[0-9]*:devices://p' /proc/self/cgroup)/cpubind-$$
[ -d /proc/driver ] || skip_all "there is no /proc/driver to put the files of a driver on"
group=$(mktemp -d "${group%-*}.XXXXXX" 2>"$out/other") ||
    skip_all "no device cgroup of version 1 can be made here"
trap 'end_worker; find "$group" -depth -type d -exec rmdir {} +' EXIT
mkdir "$group/0" "$group/1"
echo 'c 195:1 rwm' >"$group/0/devices.deny"
echo 'c 195:0 rwm' >"$group/1/devices.deny"

# -- The host --------------------------------------------------------------------

put_two_nodes "$before"
put_gpu 0000:01:00.0 0 0
put_gpu 0000:02:00.0 1 1
mkdir -p "$host/sys/fs/cgroup" && mount --rbind /sys/fs/cgroup "$host/sys/fs/cgroup" &&
    mount --bind "$host/proc/driver" /proc/driver && mount --rbind "$host/sys" /sys &&
    make_dev && mknod -m 666 /dev/nvidia0 c 195 0 && mknod -m 666 /dev/nvidia1 c 195 1 || exit 1

# -- Tasks -----------------------------------------------------------------------

# The words that run a command as Slurm runs task N of srun -n2 --gpus-per-task=1, with GPU N.
cat >"$out/task" <<END
#!/bin/sh
echo \$\$ >"$group/\$1/cgroup.procs" || exit 99
export SLURM_LOCALID="\$1" CUDA_VISIBLE_DEVICES=0 SLURM_STEP_GPUS=0 SLURM_GPUS_ON_NODE=2
shift
exec "\$@"
END
chmod +x "$out/task"

start_task() { # N
    as="$out/task $1"
    start_worker
    task_status=$?
    as=
    return $task_status
}

sees() { # names of topo, words that run the command ...
    names=$1
    shift
    [ "$("$@" "$CPUBIND" topo | awk '$2 ~ /^0000/ { print $1 }' | tr '\n' ' ')" = "$names " ]
}
check "without a cgroup of its own a process sees both GPUs" sees "gpu0 gpu1" env
check "the task of GPU 0 sees it alone, as number 0" sees "gpu0 -" "$out/task" 0
check "the task of GPU 1 sees it alone, as number 0" sees "- gpu0" "$out/task" 1

task_is_at() { # N, CPU, option ...
    task=$1
    cpu=$2
    shift 2
    says 0 "" "$out/task" "$task" "$CPUBIND" run "$@" -- \
        sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status &&
        [ "$(cat "$out/said")" = "$cpu" ]
}
for way in --auto --numa-bind; do
    check "run $way binds the task of GPU 0 to the CPUs of GPU 0" task_is_at 0 "$a" "$way"
    check "run $way binds the task of GPU 1 to those of GPU 1" task_is_at 1 "$b" "$way"
done

# A process with these variables, in another cgroup than the command.
binds_by_pci() {
    start_task 1 && says 1 "Slurm gave it some of the GPUs" "$CPUBIND" apply --pid "$worker" &&
        says 1 "Slurm gave it some of the GPUs" "$CPUBIND" apply --pid "$worker" --rank 0 &&
        is_on "$worker" "$before" && "$CPUBIND" apply --pid "$worker" --device 0000:02:00.0 &&
        is_on "$worker" "$b"
}
check "what a process of another cgroup sees is not known, and --device names its GPU" binds_by_pci
end_worker

binds_in_task() {
    start_task 1 && "$out/task" 1 "$CPUBIND" apply --pid "$worker" && is_on "$worker" "$b"
}
check "in the cgroup of the process it is known" binds_in_task
end_worker

rm /dev/nvidia0 /dev/nvidia1
check "without nodes it is not known" says 125 "Slurm gave it some of the GPUs" \
    "$out/task" 1 "$CPUBIND" run --auto -- true
check "--device names the GPU" task_is_at 1 "$b" --auto --device 0000:02:00.0
check "--device names it for --numa-bind" task_is_at 1 "$b" --numa-bind --device 0000:02:00.0
finish
