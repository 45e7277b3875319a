# shellcheck shell=sh
# lib.sh - the one library of helpers of scenes; each scene sources it first
# SPDX-License-Identifier: MIT
#
# A scene runs from the top folder, as root, in mounts and processes of its own with a /run and
# a /tmp of its own: it touches nothing of this machine, runs beside all others, and leaves
# nothing behind. tests/run starts it so, and says it by CPUBIND_ISOLATED; by hand it does that
# itself.
#
# Sets BUILD; CPUBIND, the command; out, a new folder for outputs; programs, the folder of those
# of tests/scenes/programs, which `make check` builds; before, the CPUs that a process has at
# first. No variable of a launcher is left. What was printed last is in $out/said and $out/err.
# This file is read by the shell of busybox, too.
LC_ALL=C
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL PATH

# -- Start -----------------------------------------------------------------------

. tests/support/tap.sh

# The arguments are those of the script.
isolate() { # argument ...
    [ "$(id -u)" -eq 0 ] || skip_all "namespaces of its own need root"
    unshare -m -p -f --mount-proc true 2>/dev/null ||
        skip_all "no namespaces of its own can be made here"
    CPUBIND_ISOLATED=alone exec unshare -m -p -f --kill-child --mount-proc "$0" "$@"
}

[ -n "$CPUBIND_ISOLATED" ] || isolate "$@"
if [ "$CPUBIND_ISOLATED" = alone ]; then
    mount -t tmpfs -o mode=755 tmpfs /run || exit 1
    # A tree below /tmp would be hidden.
    case $(pwd)/ in /tmp/*) ;; *) mount -t tmpfs -o mode=1777 tmpfs /tmp || exit 1 ;; esac
    CPUBIND_ISOLATED=yes
    export CPUBIND_ISOLATED ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=0}"
fi

BUILD=$(cd "${BUILD:-build/san}" && pwd) || exit 1
CPUBIND=${CPUBIND:-$BUILD/cpubind}
programs=$BUILD/programs
[ -d "$programs" ] || programs=$BUILD/san/programs # of a plain build
out=$BUILD/out/$(basename "$0" .sh)
rm -rf "$out" && mkdir -p "$out" || exit 1
: >"$out/said"
: >"$out/err"
unset LOCAL_RANK SLURM_LOCALID OMPI_COMM_WORLD_LOCAL_RANK MPI_LOCALRANKID PMI_LOCAL_RANK \
    PALS_LOCAL_RANKID MV2_COMM_WORLD_LOCAL_RANK FLUX_TASK_LOCAL_ID CUDA_VISIBLE_DEVICES \
    CUDA_DEVICE_ORDER SLURM_STEP_GPUS SLURM_JOB_GPUS SLURM_GPUS_ON_NODE

# -- Outputs ---------------------------------------------------------------------

says() { # exit status, words that one of the outputs must hold, command ...
    says_status=$1
    says_words=$2
    shift 2
    "$@" >"$out/said" 2>"$out/err"
    got=$?
    cat "$out/said" "$out/err"
    [ "$got" -eq "$says_status" ] && { [ -z "$says_words" ] ||
        grep -qF -e "$says_words" "$out/said" "$out/err"; } && return 0
    echo "$*: exit status $got, expected $says_status and \"$says_words\""
    return 1
}

# The command prints nothing on stdout and one line on stderr.
refuses() { # exit status, words, command ...
    says "$@" && [ ! -s "$out/said" ] && [ "$(wc -l <"$out/err")" -eq 1 ]
}

# The command has said more than `says` was asked for.
said() { # words
    grep -qF -e "$1" "$out/said" "$out/err" && return 0
    echo "not said: $1"
    return 1
}

json() { # path, file or nothing: what was said
    sqlite3 :memory: "SELECT readfile('${2:-$out/said}') ->> '\$$1'"
}

has() { # path, value, file or nothing
    [ "$(json "$1" "$3")" = "$2" ] && return 0
    echo "$1 is $(json "$1" "$3"), not $2"
    return 1
}

# The number of items of a report that meet a condition.
items() { # condition, number
    n_item=$(sqlite3 :memory: "WITH item AS (SELECT value ->> 'kind' AS kind,
            value ->> 'name' AS name, value ->> 'id' AS id, value ->> 'was' AS was,
            value ->> 'should' AS should, value ->> 'result' AS result
            FROM json_each(readfile('$out/said'), '\$.items'))
        SELECT count(*) FROM item WHERE $1")
    [ "$n_item" = "$2" ] && return 0
    echo "$n_item items of $2: $1"
    return 1
}

# A member of a figure of a measurement.
figure() { # name, member
    sqlite3 :memory: "SELECT value ->> '$2' FROM json_each(readfile('$out/said'), '\$.figures')
        WHERE value ->> 'name' = '$1'"
}

# What was said keeps to an object of the pages JSON*.md.
fits() { # form, file or nothing
    ! command -v python3 >"$out/python" ||
        python3 tests/api/json_pages.py check "$1" "${2:-$out/said}"
}

# -- Waiting ---------------------------------------------------------------------

seconds() {
    read -r up _ </proc/uptime
    echo "${up%.*}"
}

service= # below
watcher=
# Waits until a command succeeds, for as long as a busy machine may need.
becomes() { # command ...
    read -r up _ </proc/uptime
    becomes_until=$((${up%.*} + ${patience:-60}))
    until "$@" >"$out/becomes" 2>&1; do
        read -r up _ </proc/uptime
        [ "${up%.*}" -lt $becomes_until ] || {
            echo "never: $*"
            cat "$out/becomes"
            [ -z "$service" ] || cat "$out/service.log"
            [ -z "$watcher" ] || cat "$out/watched"
            return 1
        }
        sleep "${pause:-0.05}"
    done
}

# A command succeeds over some periods of a watch.
stays() { # command ...
    for _ in 1 2 3 4 5; do
        "$@" || return 1
        sleep 0.5
    done
}

# -- Processes -------------------------------------------------------------------

# Whether a process is a program, and no more the shell that it was forked from. The kernel
# gives it its name before its environment: whoever looks between them finds no variables.
is_program() { # pid, name
    read -r program_name <"/proc/$1/comm" && [ "$program_name" = "$2" ] &&
        grep -q . "/proc/$1/environ"
}

# Starts a worker, and waits until it has its threads; redirections of the call are its own.
# Sets worker to its pid. as has the words that run a command as another user.
program=$programs/worker
as=
start_worker() { # VARIABLE=VALUE ..., argument of the program ...
    worker_env=
    while case $1 in *=*) true ;; *) false ;; esac do
        worker_env="$worker_env $1"
        shift
    done
    rm -f "$out/ready"
    mkfifo "$out/ready" || return 1
    # The words are split on purpose.
    # shellcheck disable=SC2086
    env $worker_env $as "$program" "$@" >"$out/ready" &
    worker=$!
    read -r ready <"$out/ready" && [ "$ready" = ready ]
}

# The process is a child of this shell. A shell says that it was killed.
end_worker() { # pid ..., or nothing: the last one
    for ended in "${@:-$worker}"; do
        kill -KILL "$ended"
        wait "$ended"
    done 2>/dev/null
    :
}

# A process that does nothing.
start_sleeper() { # VARIABLE=VALUE ...
    # shellcheck disable=SC2086
    env "$@" $as sleep 600 &
    sleeper=$!
    becomes is_program "$sleeper" sleep
}

# Ends what a check that has failed may have left: all that this shell has started, but for some.
end_all_but() { # pid ...
    for left in $(cat "/proc/$$/task/$$/children"); do
        case " $* $terminal " in *" $left "*) ;; *) kill -KILL "$left" ;; esac
    done
}

# Sets zombie to a process that has ended and is not waited for: its parent is another program.
start_zombie() {
    sh -c 'while ! grep -q sleep /proc/$$/comm; do sleep 0.01; done & echo $!; exec sleep 600' \
        >"$out/zombie" &
    sleeper=$!
    becomes grep -q . "$out/zombie" && zombie=$(cat "$out/zombie") &&
        becomes grep -q '^State:.Z' "/proc/$zombie/status"
}

# Sets thread_cpus, by the shim, or by the kernel. It starts no process: it is for loops.
read_cpus() { # thread
    thread_cpus=
    if [ -z "$CPUBIND_SHIM" ]; then
        while read -r cpus_key thread_cpus; do
            [ "$cpus_key" != Cpus_allowed_list: ] || return 0
        done <"/proc/$1/status"
    elif [ -e "$CPUBIND_SHIM/$1" ]; then
        read -r thread_cpus <"$CPUBIND_SHIM/$1"
    else
        thread_cpus=$all
    fi
}

cpus_of() { # thread
    read_cpus "$1" && echo "$thread_cpus"
}

# Every thread of a process has these CPUs; with a name, every thread of that name.
is_on() { # pid, CPUs, name or nothing
    on_found=
    for task in "/proc/$1/task"/*; do
        [ -z "$3" ] || {
            read -r on_name <"$task/comm" && [ "$on_name" = "$3" ]
        } || continue
        on_found=yes
        read_cpus "${task##*/}"
        [ "$thread_cpus" = "$2" ] || {
            echo "thread ${task##*/} of process $1 is on $thread_cpus, not on $2"
            return 1
        }
    done
    [ -n "$on_found" ] || echo "no thread is named $3"
    [ -n "$on_found" ]
}

# Each process is on these CPUs.
are_on() { # CPUs, pid ...
    are_cpus=$1
    shift
    for are_pid in "$@"; do
        is_on "$are_pid" "$are_cpus" || return 1
    done
}

# The threads of the worker with a name are on these CPUs.
is_at() { # name, CPUs
    is_on "$worker" "$2" "$1"
}

thread_named() { # name: the first one of the worker
    for task in "/proc/$worker/task"/*; do
        read -r on_name <"$task/comm" && [ "$on_name" = "$1" ] && echo "${task##*/}" && return
    done
    return 1
}

has_threads() { # pid, number
    [ "$(find "/proc/$1/task" -mindepth 1 -maxdepth 1 | wc -l)" = "$2" ]
}

# What moves threads behind the back of a watch.
move_to() { # CPUs, thread ...
    moved_to=$1
    shift
    for moved in "$@"; do
        if [ -n "$CPUBIND_SHIM" ]; then
            echo "$moved_to" >"$CPUBIND_SHIM/$moved"
        else
            taskset -pc "$moved_to" "$moved" >"$out/taskset" || return 1
        fi
    done
}

before=$(cpus_of self)

# -- Users -----------------------------------------------------------------------

# The words that run a command as an ordinary user, which has a folder for records.
user='setpriv --reuid=65534 --regid=65534 --clear-groups'
no_user="there is no setpriv, or an ordinary user cannot get at this folder"

has_user() {
    mkdir -p /run/user/65534 && chown 65534:65534 /run/user/65534 &&
        chmod 700 /run/user/65534 && [ -x "$(command -v setpriv)" ] &&
        $user test -x "$CPUBIND" -a -x "$programs"
}

check_user() { # text, command ...
    if has_user; then check "$@"; else skip "$1" "$no_user"; fi
}

# -- A host of many CPUs ---------------------------------------------------------

# A plan needs more CPUs than this machine may have: affinity_shim.c replaces the calls that set
# CPUs, for all commands of the scene, and keeps their arguments in $CPUBIND_SHIM; all else is
# real. The calls of memory are in the file "calls" there.
use_shim() { # number of CPUs
    CPUBIND_SHIM=$out/shim
    CPUBIND_SHIM_CPUS=$1
    CPUBIND_SHIM_MACHINE=aarch64
    LD_PRELOAD=$programs/affinity_shim
    mkdir "$CPUBIND_SHIM" && chmod 777 "$CPUBIND_SHIM" || exit 1
    export CPUBIND_SHIM CPUBIND_SHIM_CPUS CPUBIND_SHIM_MACHINE LD_PRELOAD
    all=0-$(($1 - 1))
}

# The numbers of processes in the list of a driver are those of the first pid namespace: this
# one.
use_first_pids() {
    CPUBIND_SHIM_FIRST=yes
    export CPUBIND_SHIM_FIRST
}

# Sets host, the words that name the host; all, the CPUs of a process at first; those of NPU 0 by
# the reference, its pool and its node; elsewhere, others. NPU 5 has the interrupts on 0-1, main
# on 2-21, acl on 22, release on 23. In a virtual machine (tests/vm) the host is that machine.
use_npus() {
    if [ -e /host/npus ]; then
        use_machine
        return
    fi
    use_shim 192
    host='--fixture a2-192cpu-8npu --allowed 0-191 -o rules=reference'
    # shellcheck disable=SC2034 # scenes use them
    pool=144-167 node=6 elsewhere=0-95
    use_reference
}

# shellcheck disable=SC2034 # scenes use them
use_machine() {
    use_reference
    host=
    all=$before
    read -r _ _ _ _ _ _ _ pool node </host/npus
    first=${pool%-*} last=${pool#*-}
    irq=$first-$((first + 1)) main=$((first + 2))-$((last - 2))
    acl=$((last - 1)) release=$last
    elsewhere=$(((first + 8) % 64))
}

# By the rules of the reference, where the command line says none: the worker has the variable.
use_reference() {
    CPUBIND_RULES=reference
    export CPUBIND_RULES
    # shellcheck disable=SC2034 # scenes use them
    irq=144-145 main=146-165 acl=166 release=167
}

# With a worker of its own, whose record is $state. What the check before has left on record is
# put back first.
check_worker() { # text, command, argument of the worker ...
    worker_text=$1
    worker_test=$2
    shift 2
    no_record >"$out/left" || "$CPUBIND" restore --all --quiet 2>"$out/left"
    start_worker "$@" || exit 1
    # shellcheck disable=SC2034 # the command uses it
    state=/run/cpubind/$worker.record
    check "$worker_text" "$worker_test"
    end_worker
}

# For an ordinary user, too.
check_users_worker() { # text, command, argument of the worker ...
    if has_user; then check_worker "$@"; else skip "$1" "$no_user"; fi
}

# The words of $host are split on purpose.
# shellcheck disable=SC2086
apply() { # arguments
    "$CPUBIND" apply --pid "$worker" $host --memory none "$@"
}

verify() { # arguments
    "$CPUBIND" verify --pid "$worker" "$@"
}

restore() { # arguments
    "$CPUBIND" restore --pid "$worker" "$@"
}

# shellcheck disable=SC2086
run() { # arguments
    "$CPUBIND" run $host --memory none --quiet "$@"
}

# A watch of the worker: watcher is its process, what it prints is in $out/watched.
# shellcheck disable=SC2086
start_watch() { # arguments
    : >"$out/watched"
    "$CPUBIND" apply --pid "$worker" $host --memory none --watch 1 "$@" >"$out/watched" 2>&1 &
    watcher=$!
}

watched() { # words, how many times, or nothing: once at least
    n_watched=$(grep -cF -e "$1" "$out/watched")
    [ "$n_watched" -gt 0 ] && [ "$n_watched" = "${2:-$n_watched}" ] && return 0
    cat "$out/watched"
    return 1
}

# Nothing is bound, nor on record.
all_is_free() {
    is_on "$worker" "$all" && no_record
}

# But for what npu-smi has printed, and the files of a service.
no_record() {
    record_found=$(find /run/cpubind /run/user/65534/cpubind /tmp/cpubind-65534 -mindepth 1 ! -name 'npu-smi*' \
        ! -name 'service.*' 2>/dev/null)
    [ -z "$record_found" ] && return 0
    echo "on record: $record_found"
    return 1
}

# A host of 48 CPUs whose driver lists the processes of its NPUs in the folder $list. NPU 0 has
# 24-35, NPU 1 36-47, NPU 3 12-23; in each two CPUs for interrupts come first.
use_driver_host() {
    use_shim 48
    use_first_pids
    host=$out/root
    "$CPUBIND" fixture export a2-driver-host "$host" --quiet || exit 1
    list=$host/proc/trs_core/proc
    rm -rf "${list:?}"/*
}

# A worker with a thread acl_thread, in a process group of its own: -o others=keep takes all of
# it.
start_on_npu() { # NPU
    as=setsid
    start_worker acl_thread
    on_status=$?
    as=
    : >"$list/$worker-1-dev-$1"
    return $on_status
}

end_on_npu() { # pid
    rm -f "$list/$1-"*
    end_worker "$1"
}

# Makes the fixture the host of the scene: its /sys with eight nodes, interrupts of NPU 0 at
# 0000:c5:00.0, and an npu-smi that prints its tables. The folder is $live.
use_live_npus() {
    use_shim 192
    live=$out/live
    host='--allowed 0-191'
    use_reference
    "$CPUBIND" fixture export a2-192cpu-8npu "$live" --quiet || exit 1
    live_irqs=$live/sys/bus/pci/devices/0000:c5:00.0/msi_irqs
    mkdir -p "$live/bin" "$live_irqs"
    echo 0-7 >"$live/sys/devices/system/node/has_memory"
    echo '           CPU0       CPU1' >"$live/proc/interrupts"
    add_irq 400 trs-mbox-0-0
    add_irq 401 sq_send_trigger_irq
    add_irq 402 cq_update_irq
    add_irq 403 cq_update_irq
    add_irq 404 sq_send_trigger_irq
    rm "$live_irqs/404"
    printf '\tNPU ID                         : 0\n\tChip ID                        : 0\n' \
        >"$live/board"
    printf '\tPCIe Bus Info                  : 0000:C5:00.0\n' >>"$live/board"
    cat >"$live/bin/npu-smi" <<END
#!/bin/sh
case "\$*" in
"info -m") exec cat "$live/cmd/npu-smi-info-m.txt" ;;
"info") exec cat "$live/cmd/npu-smi-info.txt" ;;
"info -t topo") exec cat "$live/cmd/npu-smi-info-t-topo.txt" ;;
"info -t board -i 0"*) exec cat "$live/board" ;;
esac
exit 9
END
    chmod 755 "$live/bin/npu-smi"
    PATH=$live/bin:$PATH
    export PATH
    mount --bind "$live/sys" /sys && mount --bind "$live/proc/interrupts" /proc/interrupts &&
        mount --bind "$live/proc/irq" /proc/irq || exit 1
}

# The kernel has a folder with the name of the action. The list of CPUs is as long as what is
# written: this is no file of the kernel's.
add_irq() { # number, action
    printf '%d:  1  2  ITS-MSI %d Edge  %s\n' "$1" "$1" "$2" >>"$live/proc/interrupts"
    mkdir -p "$live/proc/irq/$1/$2"
    echo 100 >"$live/proc/irq/$1/smp_affinity_list"
    echo edge >"$live_irqs/$1"
}

irqs_are_on() { # CPUs of 400 to 404
    for irq in 400 401 402 403 404; do
        irq_cpus=$(cat /proc/irq/$irq/smp_affinity_list)
        [ "$irq_cpus" = "$1" ] || {
            echo "interrupt $irq is on $irq_cpus, not on $1"
            return 1
        }
        shift
    done
}

irqs_are_free() {
    irqs_are_on 100 100 100 100 100
}

# -- A host of two GPUs ----------------------------------------------------------

# The CPUs of this process, one a line.
own_cpus() {
    echo "$before" | tr ',' '\n' |
        awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }'
}

# Sets a and b, and both to the list of the two.
take_two_cpus() {
    a=$(own_cpus | sed -n 1p)
    b=$(own_cpus | sed -n 2p)
    [ -n "$b" ] || skip_all "this machine has one CPU"
    # shellcheck disable=SC2034 # scenes use it
    if [ $((a + 1)) -eq "$b" ]; then both=$a-$b; else both=$a,$b; fi
}

# A file of the folder of a host, $host.
put() { # file, text
    mkdir -p "$(dirname "$host/$1")"
    printf '%s\n' "$2" >"$host/$1"
}

put_gpu() { # address, node [, number of its device file]
    put "sys/bus/pci/devices/$1/vendor" 0x10de
    put "sys/bus/pci/devices/$1/device" 0x2330
    put "sys/bus/pci/devices/$1/class" 0x030200
    put "sys/bus/pci/devices/$1/numa_node" "$2"
    [ -z "$3" ] || put "proc/driver/nvidia/gpus/$1/information" "Device Minor: 	 $3"
}

# The CPUs a and b on a node each, and a GPU near each.
put_two_nodes() { # allowed CPUs of the process [, numbers of the device files]
    put proc/self/status "Cpus_allowed_list:	$1"
    put sys/devices/system/cpu/online "$a,$b"
    put sys/devices/system/node/node0/cpulist "$a"
    put sys/devices/system/node/node1/cpulist "$b"
    put sys/devices/system/node/node0/distance "10 20"
    put sys/devices/system/node/node1/distance "20 10"
    put uname x86_64
    put_gpu 0000:01:00.0 0 "$2"
    put_gpu 0000:02:00.0 1 "$3"
}

# All CPUs on the first node.
put_one_node() { # folder of a host
    echo "$a,$b" >"$1/sys/devices/system/node/node0/cpulist"
    echo "" >"$1/sys/devices/system/node/node1/cpulist"
}

# A user of a device is known by its number, so that two devices of memory have the numbers of
# GPUs, and the driver has the terminals:
#   /dev/nvidia5      c 1 5, zero
#   /dev/nvidia7      c 1 7, full
#   /dev/nvidia-uvm   c 136 0, a terminal: the driver has the minor 0
put_gpu_drivers() { # folder of a host
    mkdir -p "$1/proc" &&
        printf 'Character devices:\n  1 nvidia\n136 nvidia-uvm\n\nBlock devices:\n  7 loop\n' \
            >"$1/proc/devices"
}

# Makes a /dev of the scene's own with the devices that commands need. That of this machine is
# bound nowhere, so that nobody who deletes a folder deletes its files.
make_dev() {
    mount -t tmpfs -o mode=755 tmpfs /dev && mkdir /dev/pts /dev/shm &&
        mount -t devpts -o newinstance,ptmxmode=0666 devpts /dev/pts &&
        ln -s pts/ptmx /dev/ptmx && ln -s /proc/self/fd /dev/fd &&
        ln -s fd/0 /dev/stdin && ln -s fd/1 /dev/stdout && ln -s fd/2 /dev/stderr || return 1
    for node in null:3 zero:5 full:7 random:8 urandom:9; do
        mknod -m 666 "/dev/${node%:*}" c 1 "${node#*:}" || return 1
    done
    mknod -m 666 /dev/tty c 5 0
}

make_gpu_files() {
    make_dev && mkfifo "$out/terminal" || return 1
    "$programs/terminal" /dev/ptmx >"$out/terminal" &
    terminal=$!
    read -r ready <"$out/terminal" && [ "$ready" = ready ] && [ -c /dev/pts/0 ] &&
        : >/dev/nvidia-uvm && mount --bind /dev/pts/0 /dev/nvidia-uvm &&
        mknod -m 666 /dev/nvidia5 c 1 5 && mknod -m 666 /dev/nvidia7 c 1 7
}

# The host is the snapshot $host with a GPU near each of two CPUs of this machine, a node each;
# the processes are real. Commands that read this machine find the same devices on its bus.
use_gpus() {
    [ -d /sys/bus/pci/devices ] || skip_all "this machine has no PCI bus"
    take_two_cpus
    host=$out/root
    put_two_nodes 0-511 5 7
    put_gpu_drivers "$host"
    make_gpu_files || skip_all "no device files can be made here"
    mount --bind "$host/sys/bus/pci/devices" /sys/bus/pci/devices || exit 1
}

# A process that computes on a GPU: it has the file of the GPU and that of CUDA open.
start_on() { # number of the file, argument of start_worker ...
    on_file=/dev/nvidia$1
    shift
    start_worker "$@" 3<"$on_file" 5</dev/nvidia-uvm
}

# That of an ordinary user.
start_users_on() { # number of the file, argument ...
    as=$user
    start_on "$@"
    on_status=$?
    as=
    return $on_status
}

# -- The service -----------------------------------------------------------------

# Its words are in $out/service.log.
conf=$out/conf
prom=$out/cpubind.prom
socket=/run/cpubind/service.sock
every_setting='memory = none
watch = 1'

settings() { # line ...
    echo "$every_setting" >"$conf.new"
    printf '%s\n' "$@" >>"$conf.new"
    chmod 644 "$conf.new"
    mv "$conf.new" "$conf"
}

reload() { # line ...
    settings "$@"
    : >"$out/service.log"
    kill -HUP "$service" && becomes logged "are in force"
}

# A service that was killed has left its socket, which nobody answers at.
start_service() { # argument ...
    kill_service
    last_socket=$(stat -c %i $socket 2>/dev/null)
    : >"$out/service.log"
    # On a machine of tests/vm there is no folder of a host.
    "$CPUBIND" service "$conf" ${host:+--root "$host"} "$@" 2>>"$out/service.log" &
    service=$!
    becomes has_own_socket
}

has_own_socket() {
    [ -S $socket ] && [ "$(stat -c %i $socket)" != "$last_socket" ]
}

# The workers of the two GPUs, which the scene has started.
both_are_bound() {
    # shellcheck disable=SC2154
    becomes is_on "$first" "$a" && becomes is_on "$second" "$b"
}

end_service() { # signal
    kill "-$1" "$service" && wait "$service" && service=
}

# Also after a check that has failed: a service that is left would bind what the next one does.
kill_service() {
    [ -z "$service" ] || end_worker "$service"
    service=
}

logged() { # words
    grep -qF -e "$1" "$out/service.log" && return 0
    cat "$out/service.log"
    return 1
}

metric() { # line
    grep -qxF -e "$1" "$prom" && return 0
    cat "$prom"
    return 1
}

# -- A pod -----------------------------------------------------------------------

# Sets uid and id, of the pod and of its container.
uid=01234567-89ab-cdef-0123-456789abcdef
id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
pods=

# The cpuset of the container of a pod of class Burstable, by the driver cgroupfs: $cgroup.
make_pod() {
    pods=$(mktemp -d /sys/fs/cgroup/cpuset/cpubind-test.XXXXXX) || return 1
    cgroup=$pods
    for part in . kubepods burstable pod$uid $id; do
        [ "$part" = . ] || cgroup=$cgroup/$part
        [ -d "$cgroup" ] || mkdir "$cgroup" &&
            cat "${cgroup%/*}/cpuset.mems" >"$cgroup/cpuset.mems" &&
            echo "$a,$b" >"$cgroup/cpuset.cpus" || return 1
    done
}

# A cgroup is no part of the namespaces, and is empty some time after its last process has
# ended.
remove_pod() {
    [ -z "$pods" ] || becomes find "$pods" -depth -type d -exec rmdir {} +
}

# The log of the container, in whose name kubelet has those of the pod.
name_pod() {
    mount -t tmpfs tmpfs /var/log && mkdir /var/log/containers &&
        ln -s /nowhere "/var/log/containers/vllm-0_prod_worker-$id.log"
}

# Asks why a pod has its CPUs; the words may be on several lines.
explains() { # name of the pod, exit status, sentence
    $as "$CPUBIND" status --root "$host" --explain "$1" >"$out/why" 2>&1
    got=$?
    tr '\n' ' ' <"$out/why" | sed 's/  */ /g' >"$out/line"
    [ $got -eq "$2" ] && grep -qF -e "$3" "$out/line" && return 0
    cat "$out/why"
    return 1
}
