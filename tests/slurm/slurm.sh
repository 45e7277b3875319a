#!/bin/sh
# slurm.sh - test the SPANK plugin in a Slurm of several slurmd on this machine; prints TAP
# SPDX-License-Identifier: MIT
# runs: check-all check-slurm
# build: plain
#
#   tests/slurm/slurm.sh         from the top folder; BUILD is where the plugin and the command are
#
# Each slurmd is a node with a captured host: srun starts real tasks, and the plugin plans for
# them from the capture (its setting `captures`), without binding (`trial`), since the CPUs are
# not there. Last two GPUs on two CPUs of this machine, which tasks are bound to. All of it runs
# in namespaces of its own, with a /run of its own, which end with the script.
#
#   CPUBIND_SLURM_NODES=256      nodes, 8 by default, with 8 tasks on each; of more than 64 the
#                                plans alone are tested
#   CPUBIND_SLURM_COST=15        in place of the tests: what the plugin costs a task, by so many
#                                steps with it and without it in turn (make bench-slurm)
LC_ALL=C
export LC_ALL

BUILD=${BUILD:-build}
n_node=${CPUBIND_SLURM_NODES:-8}
out=$BUILD/slurm-test

stop() { # reason
    echo "ok 1 - the plugin in a Slurm # SKIP $1"
    echo "1..1"
    exit 0
}

for program in /usr/sbin/slurmctld /usr/sbin/slurmd srun /usr/sbin/munged; do
    command -v $program >/dev/null 2>&1 || stop "there is no $program: install Slurm and munge"
done
[ -f "$BUILD/slurm/spank_cpubind.so" ] || stop "the plugin is not built: there was no spank.h (libslurm-dev)"
[ "$(id -u)" -eq 0 ] || stop "slurmd and device files need root"

if [ -z "$SLURM_TEST_PORT" ]; then
    rm -rf "$out"
    mkdir -p "$out"
    SLURM_TEST_PORT=$((20000 + $$ % 40 * 300))
    export SLURM_TEST_PORT
    unshare -m true 2>/dev/null || stop "no namespace can be made here"
    unshare -m -p -f --kill-child --mount-proc "$0" "$@"
    status=$?
    # Slurm leaves the cgroups of its nodes.
    find /sys/fs/cgroup -depth -type d -path '*/slurm_cpubindtest*' -exec rmdir {} + 2>/dev/null
    exit $status
fi

mount -t tmpfs -o mode=755 tmpfs /run || exit 1
CPUBIND_ISOLATED=yes
. tests/scenes/lib.sh
plugin=$(cd "$BUILD" && pwd)/slurm/spank_cpubind.so
LD_LIBRARY_PATH=$(cd "$BUILD" && pwd)
export LD_LIBRARY_PATH

place=/run/slurm-test
captures=$place/captures
SLURM_CONF=$place/slurm.conf
export SLURM_CONF
mkdir -p $place/munge $place/key $place/log $place/state $captures /run/cpubind
for i in $(seq 0 15); do
    mknod -m 666 $place/davinci"$i" c 236 "$i" || exit 1
done
unset SLURM_JOB_ID SLURM_JOBID

# -- A cluster -----------------------------------------------------------------

hosts='a2-192cpu-8npu a3-640cpu-16npu 300i-duo-192cpu a2-x86-snc-4nodes a2-256cpu-8npu
    a3-x86-192cpu-16npu 910a-192cpu-8npu a2-box16-192cpu'

# The name of node N.
node() { # number
    echo "cpubindtest$1"
}

# Writes slurm.conf. The nodes come on stdin: name, CPUs, devices.
write_conf() { # task plugins
    cat >$SLURM_CONF <<CONF
ClusterName=cpubindtest
SlurmctldHost=$(hostname)
SlurmctldPort=$SLURM_TEST_PORT
AuthType=auth/munge
AuthInfo=socket=$place/munge/socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$place/state
SlurmdSpoolDir=$place/spool.%n
SlurmctldPidFile=$place/ctld.pid
SlurmdPidFile=$place/slurmd.%n.pid
SlurmctldLogFile=$place/log/ctld
SlurmdLogFile=$place/log/slurmd.%n
SwitchType=switch/none
MpiDefault=none
ProctrackType=proctrack/linuxproc
JobAcctGatherType=jobacct_gather/none
TaskPlugin=$1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
GresTypes=gpu
ReturnToService=2
TreeWidth=65533
PlugStackConfig=$place/plugstack.conf
CONF
    : >$place/gres.conf
    port=$SLURM_TEST_PORT
    while read -r name cpus devices; do
        port=$((port + 1))
        echo "NodeName=$name NodeHostname=$(hostname) Port=$port CPUs=$cpus Boards=1 SocketsPerBoard=1 CoresPerSocket=$cpus ThreadsPerCore=1 Gres=gpu:$devices State=UNKNOWN" >>$SLURM_CONF
        echo "NodeName=$name Name=gpu File=$place/davinci[0-$((devices - 1))]" >>$place/gres.conf
    done
    echo "PartitionName=all Nodes=ALL Default=YES State=UP" >>$SLURM_CONF
}

plugstack() { # required or optional, settings ...
    echo "$1 $plugin captures=$captures trial $2" >$place/plugstack.conf
}

up() { # nodes ...
    /usr/sbin/slurmctld || return 1
    for name in "$@"; do
        /usr/sbin/slurmd -N "$name" || return 1
    done
    for _ in $(seq $((200 + 20 * $#))); do
        [ "$(sinfo -h -N -o '%T' | grep -c '^idle$')" -eq $# ] && return
        sleep 0.1
    done
    sinfo
    tail -n 20 $place/log/*
    return 1
}

down() {
    for file in $place/*.pid; do
        pid=$(cat "$file")
        kill "$pid"
        for _ in $(seq 100); do
            [ -d "/proc/$pid" ] || break
            sleep 0.1
        done
    done
    # The next Slurm counts its jobs from 1 again: a node must not remember those as ended.
    rm -rf $place/state/* $place/spool.*/cred_state* $place/*.pid
}

all_are_idle() {
    for _ in $(seq 100); do
        [ "$(sinfo -h -N -o '%T' | sort -u)" = idle ] && return
        sleep 0.1
    done
    sinfo -N
    return 1
}

# -- Tasks ---------------------------------------------------------------------

# Node, task, its device, its CPUs, one task a line.
# The variables are those of the task.
# shellcheck disable=SC2016
said='echo "$SLURMD_NODENAME $SLURM_LOCALID ${CPUBIND_DEVICE:--} ${VLLM_CPU_OMP_THREADS_BIND:--}"'

start() { # argument of srun ...
    timeout $((60 + 4 * n_node)) srun "$@" sh -c "$said" >"$out/tasks" 2>"$out/err"
    got=$?
    sort "$out/tasks" -o "$out/tasks"
    cat "$out/tasks" "$out/err"
    return $got
}

# The line of a task that has device D, as the first of one process or the I-th of N.
line_of() { # node, task, device, [processes, index]
    echo "$1 $2 $3 $("$CPUBIND" plan --root "$captures/$1" --rank "$3" --processes "${4:-1}" \
        --index "${5:-0}" --format env 2>/dev/null | sed -n 's/^VLLM_CPU_OMP_THREADS_BIND=//p')"
}

# Whether no CPU is in two lines of a node.
no_cpu_twice() {
    awk '{ n = split($4, part, ",")
           for (i = 1; i <= n; i++) {
               if (split(part[i], end, "-") < 2)
                   end[2] = end[1]
               for (cpu = end[1] + 0; cpu <= end[2] + 0; cpu++)
                   if (seen[$1, cpu]++) {
                       print "CPU " cpu " twice on " $1
                       bad = 1
                   }
           }
           if (n == 0 || $4 == "-")
               bad = 1
         } END { exit bad || NR == 0 }' "$out/tasks"
}

every_task_has_its_plan() {
    begin=$(date +%s%N)
    start -N "$n_node" -n $((8 * n_node)) --exclusive --gpus-per-node=8 >"$out/said" || {
        tail -n 20 "$out/said"
        return 1
    }
    echo "$((($(date +%s%N) - begin) / 1000000)) ms for $(wc -l <"$out/tasks") tasks," \
        "$(comm -12 "$out/wanted" "$out/tasks" | wc -l) as planned" >"$out/many"
    [ ! -s "$out/err" ] && diff "$out/wanted" "$out/tasks" && no_cpu_twice
}

# -- What it costs -------------------------------------------------------------

# The time of a step of all nodes, in microseconds.
time_of() { # argument of srun ...
    begin=$(date +%s%N)
    start -N "$n_node" -n $((8 * n_node)) --exclusive --gpus-per-node=8 "$@" >"$out/said" || {
        cat "$out/said" >&2
        exit 1
    }
    echo $((($(date +%s%N) - begin) / 1000))
}

median() { # file
    sort -n "$1" | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

# Steps with it and without it take turns, so that the load of the machine is in both.
print_cost() { # steps of each
    : >"$out/off"
    : >"$out/near"
    time_of --cpubind=near >/dev/null
    for _ in $(seq "$1"); do
        time_of --cpubind=off >>"$out/off"
        time_of --cpubind=near >>"$out/near"
    done
    echo "$(median "$out/off") $(median "$out/near") $((8 * n_node)) $1" | awk '{
        printf "a step of %d tasks, median of %d: off %.0f ms, near %.0f ms: %.2f times, %.2f ms a task\n",
            $3, $4, $1 / 1000, $2 / 1000, $2 / $1, ($2 - $1) / 1000 / $3 }'
}

# Tasks of the first node, which have these devices in their order.
gets() { # "0 1 2", argument of srun ...
    devices=$1
    shift
    task=0
    for device in $devices; do
        line_of "$(node 1)" $task "$device"
        task=$((task + 1))
    done >"$out/wanted.gets"
    start -N1 -w "$(node 1)" -n $task --exclusive "$@" || return 1
    diff "$out/wanted.gets" "$out/tasks" && no_cpu_twice
}

two_share() {
    for task in 0 1 2 3; do
        line_of "$(node 1)" $task $((task / 2)) 2 $((task % 2))
    done >"$out/wanted.gets"
    start -N1 -w "$(node 1)" -n4 --exclusive --gpus=2 --gpu-bind=single:2 || return 1
    diff "$out/wanted.gets" "$out/tasks" && no_cpu_twice
}

# Some of the tasks start unbound, with a reason; with --cpubind-strict they do not, and srun's
# exit status is 1.
lacks() { # reason, tasks, how many of them, argument of srun ...
    reason=$1
    n=$2
    n_unbound=$3
    shift 3
    start -N1 -w "$(node 1)" -n "$n" "$@" || return 1
    [ "$(grep -c ' - -$' "$out/tasks")" -eq "$n_unbound" ] && [ "$(wc -l <"$out/tasks")" -eq "$n" ] &&
        grep -qF "starts unbound: " "$out/err" && grep -qF -e "$reason" "$out/err" || return 1
    start -N1 -w "$(node 1)" -n "$n" --cpubind-strict "$@"
    [ $got -eq 1 ] && ! grep -q ' - -$' "$out/tasks" && grep -qF "starts not: " "$out/err" &&
        all_are_idle
}

is_off() {
    start -N1 -n1 --exclusive --gpus=1 --cpubind=off --cpubind-strict &&
        [ "$(wc -l <"$out/tasks")" -eq 1 ] && grep -q ' - -$' "$out/tasks" && [ ! -s "$out/err" ]
}

# srun refuses it before anything is queued, with the words of the plugin.
refuses_option() {
    start -N1 -n1 --cpubind=far
    [ $got -eq 255 ] && [ ! -s "$out/tasks" ] &&
        grep -qF '"far" is none of near, reference and off' "$out/err"
}

by_reference() {
    start -N1 -w "$(node 1)" -n8 --exclusive --gpus=8 --cpubind=reference || return 1
    for task in 0 1 2 3 4 5 6 7; do
        echo "$(node 1) $task $task $("$CPUBIND" plan --root "$captures/$(node 1)" --rank $task \
            --rules reference --format env 2>/dev/null | sed -n 's/^VLLM_CPU_OMP_THREADS_BIND=//p')"
    done | diff - "$out/tasks"
}

# Slurm lets no optional plugin stop a task.
is_not_strict() {
    echo "optional $plugin captures=$place/missing trial" >$place/plugstack.conf
    start -N1 -n1 --exclusive --gpus=1 --cpubind-strict && [ "$(wc -l <"$out/tasks")" -eq 1 ] &&
        grep -qF "cannot be opened" "$out/err"
}

# A plugin that is not there: srun's exit status, and whether the task starts.
without_plugin() { # required or optional, exit status, tasks
    echo "$1 $place/missing.so" >$place/plugstack.conf
    start -N1 -n1
    [ $got -eq "$2" ] && [ "$(wc -l <"$out/tasks")" -eq "$3" ] && all_are_idle
}

# Copies the captured host of the first node, without a file that each plan needs.
copy_host() {
    mkdir -p $place/late && cp -r "$captures/$(node 1)" $place/late &&
        rm $place/late/"$(node 1)"/proc/self/status &&
        echo "required $plugin captures=$place/late trial" >$place/plugstack.conf
}

is_unreadable() {
    copy_host && mkfifo "$late" && lacks "proc/self/status: it could not be read" 2 2 --exclusive --gpus=2
}

# The step of an ordinary user: slurmstepd changes its own user then, which waits for all threads.
ends_late_steps() {
    # The words are split on purpose.
    # shellcheck disable=SC2086
    lacks "the host was not read in time" 2 2 $nobody --exclusive --gpus=2 || return 1
    # shellcheck disable=SC2086
    srun $nobody -N1 -w "$(node 1)" -n2 --exclusive --gpus=2 sh -c 'echo ready; exec sleep 60' \
        >"$out/tasks" 2>&1 &
    for _ in $(seq 100); do
        [ "$(grep -c ready "$out/tasks")" -eq 2 ] && break
        sleep 0.1
    done
    scancel "$(squeue -h -o %A)" && wait $! ; all_are_idle
}

# A read that does not end: nobody answers for the file system that a file is of.
is_late() {
    rm "$late" && : >"$late" && mount -i -t fuse -o "$unanswered" late "$late" || return 1
    ends_late_steps
    is_ended=$?
    umount -l "$late"
    return $is_ended
}

# A script is not bound. Its step has all CPUs of the node and one NPU, so that all are for it.
script_is_free() {
    cat >"$out/script" <<SCRIPT
#!/bin/sh
echo "script \${CPUBIND_DEVICE:--}"
srun -n1 sh -c '$said'
SCRIPT
    timeout 60 sbatch -W -N1 -w "$(node 2)" -n1 --exclusive --gpus=1 -o "$out/script.out" "$out/script" \
        >"$out/sbatch" 2>&1
    got=$?
    cat "$out/sbatch" "$out/script.out"
    own=$("$CPUBIND" plan --root "$captures/$(node 2)" --scope own --visible 0 --rank 0 --format env \
        2>/dev/null | sed -n 's/^VLLM_CPU_OMP_THREADS_BIND=//p')
    [ $got -eq 0 ] && grep -qx 'script -' "$out/script.out" &&
        grep -qx "$(node 2) 0 0 $own" "$out/script.out" && all_are_idle
}

# -- 8 tasks on each node ------------------------------------------------------

mount -t tmpfs -o mode=1777 tmpfs /dev/shm 2>/dev/null
dd if=/dev/urandom of=$place/key/key bs=64 count=1 2>/dev/null && chmod 700 $place/key && chmod 600 $place/key/key &&
    /usr/sbin/munged --force --key-file=$place/key/key --socket=$place/munge/socket --seed-file=$place/key/seed \
        --pid-file=$place/key/pid --log-file=$place/log/munged || exit 1

# The hosts are eight: a node past them has the capture and the plans of the first one of its host.
nodes=
: >"$out/wanted"
: >"$out/nodes"
for i in $(seq "$n_node"); do
    # The words are split on purpose.
    # shellcheck disable=SC2086
    set -- $hosts
    shift $(((i - 1) % 8))
    name=$(node "$i")
    nodes="$nodes $name"
    first=$(node $(((i - 1) % 8 + 1)))
    if [ "$name" != "$first" ]; then
        ln -s "$first" $captures/"$name"
        sed -n "s/^$first /$name /p" "$out/nodes" >"$out/more"
        cat "$out/more" >>"$out/nodes"
        sed -n "s/^$first /$name /p" "$out/wanted" >"$out/more"
        cat "$out/more" >>"$out/wanted"
        continue
    fi
    "$CPUBIND" fixture export "$1" $captures/"$name" --quiet || exit 1
    cpus=$("$CPUBIND" plan --root $captures/"$name" --json 2>/dev/null | sed 's/.*"allowed": "0-\([0-9]*\)".*/\1/')
    devices=$("$CPUBIND" topo --format slurm --root $captures/"$name" 2>/dev/null | wc -l)
    echo "$name $((cpus + 1)) $((devices > 8 ? 16 : 8))" >>"$out/nodes"
    for device in 0 1 2 3 4 5 6 7; do
        line_of "$name" $device $device >>"$out/wanted"
    done
done
sort "$out/wanted" -o "$out/wanted"
write_conf task/affinity <"$out/nodes"
plugstack required
# shellcheck disable=SC2086
check "a Slurm of $n_node nodes starts" up $nodes
[ "$failed" -eq 0 ] || exit 1

if [ -n "$CPUBIND_SLURM_COST" ]; then
    print_cost "$CPUBIND_SLURM_COST"
    down
    exit 0
fi

check "each of $((8 * n_node)) tasks has the CPUs of the plan, and none twice" every_task_has_its_plan
sed 's/^/# /' "$out/many"
if [ "$n_node" -gt 64 ]; then
    down
    finish
    exit
fi
check "--gres" gets "0 1 2 3 4 5 6 7" --gres=gpu:8
check "--gpus" gets "0 1 2 3" --gpus=4
check "--gpus-per-task" gets "0 1 2" --gpus-per-task=1
check "--gpu-bind=single" gets "0 1 2 3" --gpus=4 --gpu-bind=single:1
check "--gpu-bind=map_gpu" gets "2 0 3 1" --gpus=4 --gpu-bind=map_gpu:2,0,3,1
check "--gpu-bind=none" gets "0 1 2 3" --gpus=4 --gpu-bind=none
check "--gpu-bind=closest" gets "0 1 2 3" --gpus=4 --gpu-bind=closest
check "fewer tasks than devices" gets "0 1" --gpus=8
check "tasks that share a device" two_share
check "the rules of --cpubind" by_reference
check "more tasks than devices" lacks "more tasks than devices" 4 2 --exclusive --gpus=2
check "a task with several devices" lacks "a task has several devices" 2 2 --exclusive --gpus-per-task=2
check "a way of --gpu-bind that is not known" lacks "this way to bind tasks to devices is not known" 2 2 \
    --exclusive --gpus=2 --gpu-bind=mask_gpu:1,2
check "a map_gpu that Slurm does not follow" lacks "map_gpu names a device" 2 1 --exclusive --gpus=2 \
    --gpu-bind=map_gpu:3,1
check "no device" lacks "SLURM_STEP_GPUS does not list all devices of the step" 1 1 --exclusive
check "a step that nothing keeps to its CPUs" lacks "ConstrainCores=yes" 2 2 --gpus-per-task=1
check "--cpubind=off" is_off
check "a bad option" refuses_option
check "a script and its steps" script_is_free
plugstack optional default=off
check "default=off: a step that asks for it" gets "0 1" --gpus=2 --cpubind=near
echo "required $plugin captures=$place/missing trial" >$place/plugstack.conf
check "no plan" lacks "cannot be opened" 2 2 --exclusive --gpus=2
late=$place/late/$(node 1)/proc/self/status
nobody="--uid=65534 --chdir=/"
check "a host that cannot be read" is_unreadable
if [ -c /dev/fuse ] && exec 9<>/dev/fuse; then
    unanswered=fd=9,rootmode=100444,user_id=0,group_id=0,allow_other
    check "a host that is not read in time, and no node is lost" is_late
    exec 9<&-
else
    skip "a host that is not read in time" "no /dev/fuse"
fi
check "no plan, with an optional plugin that is strict" is_not_strict
check "a required plugin that is missing" without_plugin required 1 0
check "an optional plugin that is missing" without_plugin optional 0 1
down

# -- Device cgroups ------------------------------------------------------------

# Each task may open its own device alone, and gets its CPUs, although SLURM_STEP_GPUS says the
# first device of the step to each.
constrained() { # devices in the order of the tasks, argument of srun ...
    plain=$said
    # shellcheck disable=SC2016
    said="$said; for i in 0 1 2 3 4 5 6 7; do (: <>$place/davinci\$i) 2>&1 |
        grep -q 'not permitted' || echo \"opens \$SLURM_LOCALID \$i\"; done"
    gets "$@" >"$out/first"
    said=$plain
    grep opens "$out/tasks" >"$out/opens"
    grep -v opens "$out/tasks" | diff "$out/wanted.gets" - || return 1
    awk '$3 != "-" && NF == 4 { print "opens", $2, $3 }' "$out/wanted.gets" | diff - "$out/opens"
}

constrains() { # version of cgroups
    head -n 1 "$out/nodes" | write_conf task/affinity,task/cgroup
    printf '%s\n' "CgroupPlugin=cgroup/$1" ConstrainDevices=yes >$place/cgroup.conf
    [ "$1" = v1 ] || echo IgnoreSystemd=yes >>$place/cgroup.conf
    plugstack required
    check "a Slurm that constrains devices by cgroup $1 starts" up "$(node 1)"
    check "--gpus-per-task, each with its own device" constrained "0 1 2" --gpus-per-task=1
    check "map_gpu, each with its own device" constrained "2 0 3 1" --gpus=4 --gpu-bind=map_gpu:2,0,3,1
    down
}

if [ -d /sys/fs/cgroup/devices ]; then
    constrains v1
else
    skip "ConstrainDevices with cgroup v1" "this machine has no hierarchy of version 1"
fi
if grep -qw cpuset /sys/fs/cgroup/cgroup.controllers 2>/dev/null; then
    constrains v2
else
    skip "ConstrainDevices with cgroup v2" "the controllers of this machine are those of version 1"
fi

# -- Two GPUs on two CPUs of this machine ---------------------------------------

# shellcheck disable=SC2016
where='sleep 1; echo "$SLURM_LOCALID $(sed -n "s/^Cpus_allowed_list:[^0-9]*//p" /proc/self/status)" \
    "$(ls /run/cpubind/$$.record)"'

# This machine has the memory node of the first GPU alone, 0.
memory_is_preferred() {
    timeout 60 srun -N1 -n1 --exclusive --gpus=2 cat /proc/self/numa_maps >"$out/tasks" 2>"$out/err"
    cut -d ' ' -f 2 "$out/tasks" | sed 's/=[a-z]*:/:/' | sort -u >"$out/policies"
    cat "$out/err" "$out/policies"
    [ "$(cat "$out/policies")" = prefer:0 ] && nothing_is_left
}

masks_are_set() {
    timeout 60 srun -N1 -n2 --exclusive --gpus=2 sh -c "$where" >"$out/tasks" 2>"$out/err"
    cat "$out/tasks" "$out/err"
    sort "$out/tasks" | sed 's|/run/cpubind/[0-9]*.record|record|' >"$out/sorted"
    printf '0 %s record\n1 %s record\n' "$a" "$b" | diff - "$out/sorted" && [ ! -s "$out/err" ] &&
        nothing_is_left
}

nothing_is_left() {
    all_are_idle || return 1
    for _ in $(seq 50); do
        [ -z "$(find /run/cpubind -name '*.record')" ] && return
        sleep 0.1
    done
    ls /run/cpubind
    return 1
}

is_cancelled() {
    timeout 60 srun -N1 -n2 --exclusive --gpus=2 sleep 60 >"$out/tasks" 2>&1 &
    for _ in $(seq 100); do
        [ "$(find /run/cpubind -name '*.record' | wc -l)" -eq 2 ] && break
        sleep 0.1
    done
    scancel --user=root && wait $! ; nothing_is_left
}

records_are() { # how many
    for _ in $(seq 100); do
        [ "$(find /run/cpubind -name '*.record' | wc -l)" -eq "$1" ] && return
        sleep 0.1
    done
    ls /run/cpubind
    return 1
}

# The plugin is a part of slurmstepd.
is_killed() {
    timeout 60 srun -N1 -n2 --exclusive --gpus=2 sh -c 'echo $$; exec sleep 60' >"$out/tasks" 2>&1 &
    run=$!
    records_are 2 || return 1
    for task in $(cat "$out/tasks"); do
        stepd=$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$task/status")
    done
    kill -KILL "$stepd"
    wait $run
    echo "srun: $?"
    cat "$out/tasks"
    scancel --user=root
    all_are_idle || return 1
    for task in $(sed -n '/^[0-9]*$/p' "$out/tasks"); do
        [ ! -e "/proc/$task" ] || {
            echo "task $task lives"
            return 1
        }
    done
    "$CPUBIND" restore --ended --quiet && records_are 0
}

# Tasks are bound, and nothing waits for whoever works on the record of the host.
is_locked() {
    (umask 077 && exec 8>/run/cpubind/host.record.lock && flock 8 && exec sleep 600) &
    holder=$!
    sleep 0.5
    timeout 60 srun -N1 -n2 --exclusive --gpus=2 sh -c "$where" >"$out/tasks" 2>"$out/err"
    cat "$out/tasks" "$out/err"
    sort "$out/tasks" | cut -d ' ' -f 1,2 >"$out/sorted"
    printf '0 %s\n1 %s\n' "$a" "$b" | diff - "$out/sorted" && all_are_idle &&
        grep "interrupts are left" $place/log/slurmd.*
    is_bound=$?
    kill $holder
    [ $is_bound -eq 0 ] && "$CPUBIND" restore --ended --quiet && records_are 0
}

# This machine, which has no NPU, in place of a captured host: npu-smi is asked.
npusmi_is_late() {
    mkdir -p $place/bin && printf '#!/bin/sh\nexec sleep 7000\n' >$place/bin/npu-smi &&
        chmod 755 $place/bin/npu-smi && echo "required $plugin" >$place/plugstack.conf &&
        (PATH=$place/bin:$PATH && up "$(node 1)") || return 1
    lacks "the host was not read in time" 2 2 --exclusive --gpus=2 && ! grep -l 7000 /proc/[0-9]*/cmdline
}

a=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)
b=$((a + 1))
if taskset -c $b true 2>/dev/null; then
    host=$place/here/$(node 1)
    put_two_nodes "$a,$b" 0 1
    put_gpu_drivers "$host"
    echo "$(node 1) 2 2" | write_conf task/affinity
    rm -f $place/cgroup.conf
    echo "required $plugin captures=$place/here" >$place/plugstack.conf
    check "a Slurm of this machine starts" up "$(node 1)"
    check "tasks are bound, with a record, and put back" masks_are_set
    check "memory is preferred from the node of the device" memory_is_preferred
    check "a step that is cancelled leaves nothing bound" is_cancelled
    check "another process has the record of the host" is_locked
    check "a plugin that is killed leaves nothing bound, and the node is not lost" is_killed
    down
    check "an npu-smi that does not end is ended, and no node is lost" npusmi_is_late
    down
else
    skip "tasks are bound" "this machine has one CPU"
fi
finish
