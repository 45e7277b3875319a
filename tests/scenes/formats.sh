#!/bin/sh
# formats.sh - each format of plan --format is accepted by the program that reads it
# SPDX-License-Identifier: MIT
# runs: check
#
# The host is a snapshot with two CPUs of this machine on one node, and two GPUs: rank 0 has the
# first CPU, rank 1 the second. A program that is not on this machine is skipped.
. tests/scenes/lib.sh
take_two_cpus
host=$out/host
put proc/self/status "Cpus_allowed_list:	$a,$b"
put sys/devices/system/cpu/online "$a,$b"
put sys/devices/system/node/node0/cpulist "$a,$b"
put uname x86_64
put env ""
put_gpu 0000:01:00.0 0 0
put_gpu 0000:02:00.0 0 1

plan() { # argument ...
    "$CPUBIND" plan --root "$host" --rules near --quiet "$@"
}

rank() { # rank, format
    plan --rank "$1" --format "$2"
}

# Runs a command, and expects these CPUs in its /proc/self/status.
mask_is() { # CPUs, command ...
    wanted=$1
    shift
    mask=$("$@" sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status) || return 1
    echo "$mask"
    [ "$mask" = "$wanted" ]
}

is_refused() { # command ...
    ! "$@"
}

is_there() { # program
    command -v "$1" >"$out/which" 2>&1
}

# Checks, or skips where the first word is no program.
check_with() { # program, text, command ...
    program=$1
    text=$2
    shift 2
    if is_there "$program"; then
        check "$text" "$@"
    else
        skip "$text" "there is no $program"
    fi
}

# -- taskset, numactl ------------------------------------------------------------

# The options are split on purpose.
# shellcheck disable=SC2046
{
    check_with taskset "taskset takes rank 0" mask_is "$a" taskset $(rank 0 taskset)
    check_with taskset "taskset takes rank 1" mask_is "$b" taskset $(rank 1 taskset)
    check_with taskset "taskset takes a cpuset" mask_is "$b" taskset -c "$(rank 1 cpuset)"
    if is_there numactl && numactl --show >/dev/null 2>&1; then
        check "numactl takes rank 0" mask_is "$a" numactl $(rank 0 numactl)
        check "numactl takes rank 1" mask_is "$b" numactl $(rank 1 numactl)
        check "libnuma, which vLLM and SGLang read lists with, takes rank 0" mask_is "$a" numactl \
            --physcpubind "$(plan --format vllm-omp | cut -d'|' -f1)"
        check "libnuma takes rank 1" mask_is "$b" numactl \
            --physcpubind "$(plan --format sglang-omp | cut -d'|' -f2)"
        check "numactl is_refused what is no list" is_refused numactl --physcpubind "{$a}" true
    else
        skip "numactl takes a plan" "there is no numactl, or no NUMA"
    fi
}

# -- OpenMP ----------------------------------------------------------------------

cat >"$out/openmp.c" <<'C'
#include <omp.h>
int main(void)
{
#pragma omp parallel
    omp_display_affinity("cpus %A");
    return 0;
}
C

# Expects the CPUs of the one thread of a program, with these variables.
thread_is() { # CPU, program, NAME=VALUE ...
    wanted=$1
    program=$2
    shift 2
    printf '%s\n' "$@"
    env OMP_NUM_THREADS=1 OMP_DISPLAY_AFFINITY=FALSE "$@" "$program" >"$out/affinity" 2>&1
    cat "$out/affinity"
    [ "$(cat "$out/affinity")" = "cpus $wanted" ]
}

openmp() { # compiler, name, variable of CPU lists, its format
    if ! $1 -fopenmp "$out/openmp.c" -o "$out/openmp" 2>/dev/null; then
        skip "$2 takes OMP_PLACES and $3" "$1 has no OpenMP"
        return
    fi
    for n in 0 1; do
        cpu=$a
        [ "$n" -eq 0 ] || cpu=$b
        check "$2 takes OMP_PLACES of rank $n" thread_is "$cpu" "$out/openmp" \
            "OMP_PLACES=$(rank "$n" omp-places)"
        check "$2 takes $3 of rank $n" thread_is "$cpu" "$out/openmp" "$3=$(rank "$n" "$4")"
        # The lines are split on purpose.
        # shellcheck disable=SC2046
        check "$2 takes the variables of rank $n" thread_is "$cpu" "$out/openmp" \
            $(rank "$n" env | grep '^OMP_')
    done
    check "$2 does not take another list" is_refused thread_is "$b" "$out/openmp" \
        "OMP_PLACES=$(rank 0 omp-places)"
}

openmp gcc libgomp GOMP_CPU_AFFINITY gomp
openmp clang libomp KMP_AFFINITY kmp
rm -f "$out/openmp"

# -- systemd ---------------------------------------------------------------------

unit_is_valid() { # rank, key that is added
    mkdir -p "$out/unit"
    {
        printf '[Unit]\nDescription=a worker\n'
        rank "$1" systemd
        echo "ExecStart=/bin/true"
        [ -z "$2" ] || echo "$2"
    } >"$out/unit/worker$1.service"
    cat "$out/unit/worker$1.service"
    systemd-analyze verify "$out/unit/worker$1.service" >"$out/verified" 2>&1
    grep "worker$1.service" "$out/verified"
    ! grep -q "worker$1.service:[0-9]*:" "$out/verified"
}
check_with systemd-analyze "systemd-analyze finds no fault in rank 0" unit_is_valid 0 ""
check_with systemd-analyze "systemd-analyze finds no fault in rank 1" unit_is_valid 1 ""
check_with systemd-analyze "systemd-analyze finds a fault elsewhere" \
    is_refused unit_is_valid 1 "NUMAMask=x"

# -- Slurm -----------------------------------------------------------------------

# CPUBIND_SLURM may name a folder with the files of the packages of Slurm, unpacked.
slurm=${CPUBIND_SLURM:-}
if [ -n "$slurm" ]; then
    PATH=$slurm/usr/bin:$slurm/usr/sbin:$PATH
    LD_LIBRARY_PATH=$slurm/usr/lib/x86_64-linux-gnu:$slurm/usr/lib/x86_64-linux-gnu/slurm-wlm
    export LD_LIBRARY_PATH
fi

slurm_is_up() {
    mkdir -p "$out/slurm/state" "$out/slurm/spool" "$out/slurm/run"
    name=$(uname -n)
    cat >"$out/slurm/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$name(127.0.0.1)
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation=$out/slurm/state
SlurmdSpoolDir=$out/slurm/spool
SlurmctldPidFile=$out/slurm/run/ctld.pid
SlurmdPidFile=$out/slurm/run/d.pid
SlurmctldLogFile=$out/slurm/ctld.log
SlurmdLogFile=$out/slurm/d.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
GresTypes=gpu
${slurm:+PluginDir=$slurm/usr/lib/x86_64-linux-gnu/slurm-wlm}
SlurmdParameters=config_overrides
NodeName=$name NodeAddr=127.0.0.1 CPUs=$(own_cpus | wc -l) Gres=gpu:h100_sxm5:2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=10 OverSubscribe=FORCE State=UP
CONF
    SLURM_CONF=$out/slurm/slurm.conf
    export SLURM_CONF
    "$CPUBIND" topo --root "$host" --format slurm | sed "s|/dev/nvidia|$out/slurm/dev|" \
        >"$out/slurm/gres.conf"
    : >"$out/slurm/dev0"
    : >"$out/slurm/dev1"
    "$(command -v slurmctld || command -v slurmctld-wlm)" -D >"$out/slurm/ctld.out" 2>&1 &
    ctld=$!
    "$(command -v slurmd || command -v slurmd-wlm)" -D >"$out/slurm/d.out" 2>&1 &
    slurmd=$!
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        sinfo -h -o %t 2>/dev/null | grep -q idle && return 0
        sleep 0.5
    done
    cat "$out/slurm/ctld.out" "$out/slurm/d.out" "$out/slurm/ctld.log" "$out/slurm/d.log"
    return 1
}

# The masks of two tasks, by rank.
srun_is() { # option ...
    srun -n 2 --exclusive -l "$@" sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status \
        >"$out/srun" 2>"$out/err" # which may say that the job waits
    sort "$out/srun" "$out/err"
    [ "$(sort "$out/srun" | tr '\n' ' ')" = "0: $a 1: $b " ]
}

ctld=
slurmd=
if ! is_there srun || ! { is_there slurmctld || is_there slurmctld-wlm; }; then
    skip "srun takes a plan" "there is no Slurm; CPUBIND_SLURM may name its unpacked packages"
elif [ "$(id -u)" -ne 0 ]; then
    skip "srun takes a plan" "a private Slurm needs root"
else
    check "a private Slurm starts, with the lines of topo --format slurm as its gres.conf" slurm_is_up
    # The options are split on purpose.
    # shellcheck disable=SC2046
    check "srun takes the masks" srun_is $(plan --format slurm | sed 's/ --mem-bind.*//')
    # shellcheck disable=SC2046
    check "srun takes masks and nodes" srun_is $(plan --format slurm)
    # shellcheck disable=SC2046
    check "srun takes the nodes alone" srun -n 2 --exclusive $(plan --format slurm-ldom) true
    check "srun is_refused what is no mask" is_refused srun -n 2 --exclusive --cpu-bind=mask_cpu:x true
    check "slurmctld has the GPUs of gres.conf" sh -c 'scontrol show node | grep "Gres=gpu"'
    [ -z "$ctld" ] || kill "$ctld" "$slurmd" 2>/dev/null
fi

# -- gres.conf -------------------------------------------------------------------

gres_is() { # text
    "$CPUBIND" topo --root "$host" --format slurm >"$out/gres" 2>&1
    cat "$out/gres"
    [ "$(cat "$out/gres")" = "$1" ]
}
check "topo --format slurm names file and cores of each device" gres_is \
    "Name=gpu Type=h100_sxm5 File=/dev/nvidia0 Cores=0-1
Name=gpu Type=h100_sxm5 File=/dev/nvidia1 Cores=0-1"

# -- CPU workers -----------------------------------------------------------------

check_with numactl "libnuma takes a worker of this host" mask_is "$a" numactl --physcpubind \
    "$(plan --cpu-workers 2 -o cpu-nodes=0 --rank 0 --format sglang-omp)"
finish
