# shellcheck shell=sh disable=SC2154 # guest.sh sets the variables of an NPU
# slurm.sh - the section of guest.sh on the plugin in a Slurm that constrains CPUs and devices
#
# One node of 32 CPUs and four NPUs, and Debian's Slurm with task/cgroup on cgroup v2. Steps of an
# ordinary user run tasks that sleep; their masks, memory policy, interrupts, cpusets and the
# devices that they can open are read here, from outside. The pools are those of host.sh: jobs
# that have the CPUs near their NPUs get what the whole host would give them.

slurm=/run/slurm
SLURM_CONF=$slurm/slurm.conf
export SLURM_CONF

# -- A cluster of one node ---------------------------------------------------------------------

write_slurm_conf() {
    cat >$SLURM_CONF <<CONF
ClusterName=guest
SlurmctldHost=node1(10.9.9.9)
AuthInfo=socket=$slurm/munge/socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool
SlurmctldPidFile=$slurm/ctld.pid
SlurmdPidFile=$slurm/slurmd.pid
SlurmctldLogFile=$slurm/ctld.log
SlurmdLogFile=$slurm/slurmd.log
SwitchType=switch/none
MpiDefault=none
ProctrackType=proctrack/cgroup
JobAcctGatherType=jobacct_gather/none
TaskPlugin=task/affinity,task/cgroup
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
ReturnToService=2
MessageTimeout=100
SlurmdTimeout=0
KillWait=5
Epilog=$slurm/epilog
PlugStackConfig=$slurm/plugstack.conf
NodeName=node1 NodeAddr=10.9.9.9 $(slurmd -C | tr ' ' '\n' |
        grep -E '^(CPUs|Boards|SocketsPerBoard|CoresPerSocket|ThreadsPerCore)=' | paste -s -d ' ') Gres=gpu:4
PartitionName=all Nodes=ALL Default=YES State=UP
CONF
    printf '%s\n' CgroupPlugin=cgroup/v2 IgnoreSystemd=yes ConstrainCores=yes \
        ConstrainDevices=yes >$slurm/cgroup.conf
    cpubind topo --format slurm >$slurm/gres.conf 2>$slurm/topo.said
    echo "required /usr/lib/spank_cpubind.so default=off" >$slurm/plugstack.conf
    cp /epilog $slurm/epilog
    chmod +x $slurm/epilog
}

start_slurm() {
    mkdir -p $slurm/munge $slurm/state $slurm/spool /var/log /sys/fs/cgroup/system.slice
    chmod 755 /run $slurm
    ip addr add 10.9.9.9/32 dev lo
    hostname node1
    echo '10.9.9.9 node1' >/etc/hosts
    echo 'root::0:0::/:/bin/sh' >>/etc/passwd
    for group in /sys/fs/cgroup /sys/fs/cgroup/system.slice; do
        echo '+cpuset +cpu +memory +pids' >$group/cgroup.subtree_control || return 1
    done
    dd if=/dev/urandom of=$slurm/key bs=64 count=1 && chmod 600 $slurm/key || return 1
    munged --force --key-file=$slurm/key --socket=$slurm/munge/socket --seed-file=$slurm/seed \
        --pid-file=$slurm/munged.pid --log-file=$slurm/munged.log || return 1
    write_slurm_conf
    # What a task of a step is: it says what it has, and sleeps.
    cat >$slurm/task <<'TASK'
echo "task $SLURM_LOCALID ${CPUBIND_DEVICE:--} $$ ${ASCEND_RT_VISIBLE_DEVICES:--} ${OMP_NUM_THREADS:--} $SLURM_STEP_GPUS"
for i in 0 1 2 3; do
    (: <>/dev/davinci$i) 2>/dev/null && echo "opens $SLURM_LOCALID $i"
done
echo "ready $SLURM_LOCALID"
exec sleep "${1:-6000}"
TASK
    slurmctld && slurmd
}

node_is_idle() {
    [ "$(sinfo -h -N -o %T)" = idle ] && return 0
    sinfo -N -l
    squeue
    tail -n 6 $slurm/ctld.log $slurm/slurmd.log
    return 1
}

# -- Steps -------------------------------------------------------------------------------------

as_user() { # command, argument ...
    # The words are those of the shell of the user.
    # shellcheck disable=SC2016
    su -c 'exec "$0" "$@"' -- user "$@"
}

# Starts a step of the plugin, and sets $srun to a process that ends with it. The machine may be too
# slow to be read within the limit of the plugin: no task starts then, and the step is tried again.
start_step() { # name, argument of srun ...
    step=$slurm/$1
    shift
    while as_user srun --cpubind=near --cpubind-strict "$@" sh $slurm/task >"$step" 2>"$step.err"
        grep -q 'the host was not read in time' "$step.err"; do :; done &
    srun=$!
}

step_is_ready() { # name, tasks
    [ "$(grep -c '^ready ' "$slurm/$1")" = "$2" ] && return 0
    cat "$slurm/$1" "$slurm/$1.err"
    return 1
}

pids_of_step() { # name
    awk '$1 == "task" { print $4 }' "$slurm/$1"
}

# Whether the tasks of a step are where the plan has them, with their memory. A task that may open
# one NPU alone has nothing to choose from: its variable of the runtime is not set.
tasks_are_right() { # name, ASCEND_RT_VISIBLE_DEVICES of each task
    awk '$1 == "task"' "$slurm/$1" | sort >/run/tasks
    wanted=$2
    [ -s /run/tasks ]
    bad=$?
    while read -r _ task device of visible omp _; do
        npu "$device"
        is=$(mask_of "$of")
        policy=$(cut -d ' ' -f 2 "/proc/$of/numa_maps" | sort -u | paste -s -d ' ')
        [ "$is $policy $visible $omp" = "$main prefer:$memory ${wanted%% *} 4" ] &&
            [ -e "/run/cpubind/$of.record" ] || bad=1
        wanted=${wanted#* }
        echo "task $task of NPU $device: on $is, memory $policy, sees $visible, $omp threads"
    done </run/tasks
    cat "$slurm/$1.err"
    ls /run/cpubind
    return $bad
}

mask_of() { # pid
    sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "/proc/$1/status"
}

opens() { # name, "task NPU" a line
    grep '^opens' "$slurm/$1" | sort | cut -d ' ' -f 2,3 >/run/opened
    echo "$2" | diff - /run/opened
}

# By what the environment says, all tasks have the first device of the step.
is_told_the_first() { # name, it
    awk -v first="$2" '$1 == "task" { print; n++; bad += $7 != first } END { exit bad || n != 2 }' \
        "$slurm/$1"
}

irqs_follow() { # name of a step ...
    for at in "$@"; do
        grep -q '^task' "$slurm/$at" || { echo "no task of $at has started" && return 1; }
    done
    # shellcheck disable=SC2046
    irqs_are_right $(for at in "$@"; do awk '$1 == "task" { print $3 }' "$slurm/$at"; done)
}

# The cpusets of the jobs have no CPU in common, nor the masks of the tasks, which are within them.
no_cpu_is_of_two() { # name ...
    for at in "$@"; do
        for of in $(pids_of_step "$at"); do
            group=$(sed -n 's|^0::\(.*/job_[0-9]*\)/.*|\1|p' "/proc/$of/cgroup")
            echo "$at task $(mask_of "$of")"
        done
        echo "$at job $(cat "/sys/fs/cgroup$group/cpuset.cpus.effective")"
    done >/run/lists
    cat /run/lists
    awk '{
        tasks += $2 == "task"
        n = split($3, part, ",")
        for (i = 1; i <= n; i++) {
            if (split(part[i], end, "-") < 2)
                end[2] = end[1]
            for (cpu = end[1] + 0; cpu <= end[2] + 0; cpu++) {
                if ((($2, cpu) in of) && ++bad)
                    print "CPU " cpu " is of two " $2 "s"
                of[$2, cpu] = $1
                cpus[cpu]
            }
        }
    }
    END {
        for (cpu in cpus)
            if (of["task", cpu] != "" && of["task", cpu] != of["job", cpu] && ++bad)
                print "CPU " cpu " of a task of " of["task", cpu] " is not of its job"
        exit bad > 0 || !tasks
    }' /run/lists
}

# Nothing runs, no interrupt is bound, no record, and the node takes the next job.
nothing_is_left() { # name of a step ...
    for at in "$@"; do
        for of in $(pids_of_step "$at"); do
            [ -e "/proc/$of" ] && echo "task $of of $at lives" && return 1
        done
    done
    irqs_are_right && no_record_is_left && node_is_idle
}

# -- Tests -------------------------------------------------------------------------------------

half="-n2 --cpus-per-task=8"

# The first job has a device cgroup for each task, the second one for the step.
two_jobs() {
    # The words are split on purpose.
    # shellcheck disable=SC2086
    start_step first $half --gpus-per-task=1
    first=$srun
    check_soon "a job of half of the node starts" step_is_ready first 2
    check "its masks, memory, records and variables are those of the plan" \
        tasks_are_right first "- -"
    check_soon "so are the interrupts of its NPUs, and no other is moved" irqs_follow first
    # shellcheck disable=SC2086
    start_step second $half --gpus=2
    check_soon "a second job starts beside it" step_is_ready second 2
    check "its masks, memory, records and variables are right, too" tasks_are_right second "0 1"
    check_soon "so are the interrupts of both jobs" irqs_follow first second
    check "those of the first job have stayed where they are" tasks_are_right first "- -"
    check "each task of the first one opens its own NPU alone" opens first "0 0
1 1"
    check "each of the second one those of its step" opens second "0 2
0 3
1 2
1 3"
    check "the tasks of the first one have the same SLURM_STEP_GPUS" is_told_the_first first 0
    check "no CPU is of both jobs, nor of two tasks" no_cpu_is_of_two first second
    scancel --name=sh --user=user --state=running
    wait "$first" "$srun"
    check_soon "scancel leaves nothing bound, and the node is idle" nothing_is_left first second
}

whole_node() {
    start_step whole -n4 --cpus-per-task=8 --exclusive --gpus-per-task=1
    check_soon "a job that has the whole node starts" step_is_ready whole 4
    check "its masks, memory, records and variables are right" tasks_are_right whole "- - - -"
    check_soon "so are all interrupts" irqs_follow whole
    for of in $(pids_of_step whole); do kill "$of"; done
    wait "$srun"
    check_soon "its end leaves nothing bound" nothing_is_left whole
}

has_too_few() {
    grep -q 'each task starts not: .* (allowed 0-3);' $slurm/narrow.err &&
        ! grep '^task' $slurm/narrow && return 0
    cat $slurm/narrow $slurm/narrow.err
    return 1
}

# The job has all CPUs, and with it slurmstepd; the step has one for each task.
narrow() {
    start_step narrow -n4 --exclusive --gpus-per-task=1
    wait "$srun"
    check "a step of four of the CPUs of its job has too few for four NPUs" has_too_few
    check_soon "it leaves nothing bound, and the node is idle" nothing_is_left narrow
}

# The plugin is a part of slurmstepd, which can put nothing back then, and without which Slurm ends
# no task: the epilog does both. For one that is stopped Slurm waits until somebody ends it, as
# UnkillableStepProgram may.
lost() { # killed or stopped
    # shellcheck disable=SC2086
    start_step "$1" $half --gpus-per-task=1
    check_soon "a job starts whose slurmstepd will be $1" step_is_ready "$1" 2
    check_soon "it is bound" irqs_follow "$1"
    for of in $(pids_of_step "$1"); do
        stepd=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$of/status")
    done
    check "its parent is slurmstepd" grep -q -x slurmstepd "/proc/$stepd/comm"
    if [ "$1" = killed ]; then kill -KILL "$stepd"; else kill -STOP "$stepd"; fi
    scancel --name=sh --user=user --state=running
    wait "$srun"
    [ "$1" = killed ] || kill -KILL "$stepd"
    check_soon "all is put back, and the node is idle" nothing_is_left "$1"
}

# -- A host that does not answer -----------------------------------------------------------------

# A step that is not strict, and is not tried again.
start_loosely() { # name
    # shellcheck disable=SC2086
    as_user srun --cpubind=near $half --gpus-per-task=1 sh $slurm/task >"$slurm/$1" \
        2>"$slurm/$1.err" &
    srun=$!
}

starts_unbound() { # name
    awk '$1 == "task" { print; n++; bad += $3 != "-" } END { exit bad || n != 2 }' "$slurm/$1" &&
        grep -q 'each task starts unbound: the host was not read in time' "$slurm/$1.err" &&
        irqs_are_right && no_record_is_left && return 0
    cat "$slurm/$1.err"
    return 1
}

starts_nothing() {
    # shellcheck disable=SC2086
    exits 1 as_user srun --cpubind=near --cpubind-strict $half --gpus-per-task=1 sh $slurm/task &&
        grep -q 'each task starts not: the host was not read in time' /run/said &&
        ! grep '^task' /run/said
}

no_more() { # program
    [ -z "$(pidof "$1")" ] && return 0
    ps
    return 1
}

# A read that the kernel does not end, of a file that each plan needs.
late() {
    file=/sys/devices/system/node/node0/cpulist
    echo Y >/sys/module/npu/parameters/stuck
    mount -o bind /proc/npu_stuck $file
    start_loosely late
    check_soon "a job starts on a host that does not answer" step_is_ready late 2
    check "it is unbound, and says why" starts_unbound late
    scancel --name=sh --user=user --state=running
    wait "$srun"
    check_soon "scancel ends it, and the node is idle" nothing_is_left late
    check "with --cpubind-strict no task starts" starts_nothing
    check_soon "the node is idle then" node_is_idle
    echo N >/sys/module/npu/parameters/stuck
    check_soon "what has read it ends when the kernel does" no_more slurmstepd
    umount $file
}

slurm() {
    check "Slurm starts" start_slurm
    check_soon "the node is idle" node_is_idle
    two_jobs
    narrow
    lost killed
    lost stopped
    late
    whole_node
}
