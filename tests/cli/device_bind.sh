#!/bin/sh
# device_bind.sh - test apply, verify, restore and status on accelerators that are no NPUs
# SPDX-License-Identifier: MIT
#
#   tests/cli/device_bind.sh     from the top folder; BUILD is where the command and outputs are
#
# The host is a snapshot with two CPUs of this machine, each on a node of its own, and two GPUs
# near each; the processes are real, and the script starts them. As root the script runs with a
# /run and processes of its own: it touches no record and no process of this machine, of which
# some may name a device.
own_run="-m -p -f --mount-proc"
. tests/support/start.sh
build deny.c "$out/deny" || exit 1

take_two_cpus "apply on an accelerator"
put_two_nodes 0-511 5 7
put env CUDA_VISIBLE_DEVICES=7
put_gpu_drivers "$host"

# In the mounts of this script /dev has devices with the numbers of two GPUs.
can_have_files=
[ "$BIND_MOUNTS" = own ] && make_gpu_nodes "$out/nodes" && can_have_files=yes

# -- Processes -----------------------------------------------------------------

worker=

start() { # VARIABLE=VALUE ...
    env "$@" sleep 600 &
    worker=$!
    becomes 100 is_program "$worker" sleep
}

end() {
    kill "$worker" 2>/dev/null
    wait "$worker" 2>/dev/null
    worker=
}

cpus_of() { # pid
    sed -n 's/^Cpus_allowed_list:[^0-9]*//p' "/proc/$1/status"
}

before=$(cpus_of self)

is_on() { # CPUs
    [ "$(cpus_of "$worker")" = "$1" ] || {
        echo "process $worker is on $(cpus_of "$worker"), not on $1"
        return 1
    }
}

json() { # path
    sqlite3 :memory: "SELECT readfile('$out/said') ->> '$1'"
}

has() { # path, value
    [ "$(json "$1")" = "$2" ] || {
        echo "$1 is $(json "$1"), not $2"
        return 1
    }
}

# Whether the last output keeps to the form of the schema.
fits() { # form
    ! command -v python3 >"$out/python" || python3 tests/api/json_schema.py check "$1" "$out/said"
}

on_host() { # command, argument ...
    command=$1
    shift
    "$CPUBIND" "$command" --root "$host" --pid "$worker" "$@"
}

restores() {
    says 0 "put back" "$CPUBIND" restore --pid "$worker" && is_on "$before"
}

# -- Which device ----------------------------------------------------------------

name_of() { # address of a GPU of the host
    [ "$1" = 0000:01:00.0 ] && echo gpu0 || echo gpu1
}

binds() { # CPUs, address, argument ...
    cpus=$1
    address=$2
    shift 2
    says 0 "process $worker, $(name_of "$address") ($address, H100" on_host apply "$@" && is_on "$cpus" && restores
}

start
check "--pci names the device" binds "$b" 0000:02:00.0 --pci 0000:02:00.0
check "--pci names the other device" binds "$a" 0000:01:00.0 --pci 0000:01:00.0
for name in gpu1 1 GPU1 0000:02:00.0 02:00.0; do
    check "--device $name names the device" binds "$b" 0000:02:00.0 --device "$name"
done
check "a name that is not there is refused with those that are" says 1 \
    "there is no gpu7 here; this process sees gpu0-1" on_host apply --device gpu7
check "an NPU is not there" says 1 "there is no npu0; --device names gpu0-1," on_host apply --npu 0
check "a name and a rank exclude each other" says 2 "give one" on_host apply --device gpu0 --rank 1
check "--processes parts a device" says 1 "its roles need 2 CPUs" on_host apply --device gpu1 \
    --processes 2 --index 1
check "--visible stands in place of the variable" binds "$b" 0000:02:00.0 --visible 1,0 --rank 0
check "--rank counts the devices" binds "$b" 0000:02:00.0 --rank 1
check "--class and --index name the device" binds "$b" 0000:02:00.0 --class 0x0302 --index 1
check "several --pci and --rank name the device" binds "$b" 0000:02:00.0 \
    --pci 0000:01:00.0 --pci 0000:02:00.0 --rank 1
check "--rules near gives the same device" binds "$b" 0000:02:00.0 --rank 1 --rules near
check "without a rank all ways to name it are named" says 1 \
    "name the device with --device NAME or --rank N" on_host apply
check "nothing is changed then" is_on "$before"
check "a rank past the devices is refused" says 1 \
    "rank 2 is none of the 2 devices that the process sees" on_host apply --rank 2
check "a function that is not there is refused" says 1 \
    "there is no PCI function 0000:09:00.0" on_host apply --pci 0000:09:00.0
check "a device without allowed CPUs is refused" says 1 "0000:02:00.0 has no pool" \
    on_host apply --pci 0000:02:00.0 --allowed "$a"
check "an option of NPUs is refused beside --pci" says 2 "leave out the options" \
    on_host apply --pci 0000:02:00.0 --npu 1
check "--index without --pci is about --processes" says 2 "--processes" on_host apply --index 1
check "an address that is none is refused" says 2 "--pci" on_host apply --pci 0000:02
check "nothing is changed by refusals" is_on "$before"
end

# The pool of one device leaves the pool of another one on the same node alone.
shares_a_node() {
    cp -r "$host" "$out/shared"
    echo 0 >"$out/shared/sys/bus/pci/devices/0000:02:00.0/numa_node"
    echo "$a,$b" >"$out/shared/sys/devices/system/node/node0/cpulist"
    echo "" >"$out/shared/sys/devices/system/node/node1/cpulist"
    start
    "$CPUBIND" apply --root "$out/shared" --pid "$worker" --pci 0000:02:00.0 && is_on "$b" &&
        "$CPUBIND" restore --pid "$worker" &&
        "$CPUBIND" apply --root "$out/shared" --pid "$worker" --pci 0000:01:00.0 && is_on "$a"
    result=$?
    end
    return "$result"
}
check "two devices of one node get different CPUs" shares_a_node

# A GPU of two tiles, which Level Zero counts as two devices.
tiles=$out/tiles
cp -r "$out/shared" "$tiles"
rm -r "$tiles/proc/driver" "$tiles/sys/bus/pci/devices/0000:02:00.0"
echo 0x8086 >"$tiles/sys/bus/pci/devices/0000:01:00.0/vendor"
echo 0x0bd5 >"$tiles/sys/bus/pci/devices/0000:01:00.0/device"
echo 0x038000 >"$tiles/sys/bus/pci/devices/0000:01:00.0/class"

on_tiles() { # CPUs, argument ...
    cpus=$1
    shift
    "$CPUBIND" apply --root "$tiles" --pid "$worker" "$@" && is_on "$cpus"
}

parts_tiles() {
    start
    on_tiles "$a" --rank 0 && on_tiles "$b" --rank 1 && on_tiles "$before" --pci 0000:01:00.0
    result=$?
    restores || result=1
    end
    return "$result"
}

# The record knows the GPU alone, and the process its tile.
keeps_tile() { # VARIABLE=VALUE
    start "$@"
    on_tiles "$b" && on_tiles "$b" && says 0 "as it should be" "$CPUBIND" verify --pid "$worker"
    result=$?
    restores || result=1
    end
    return "$result"
}

check "two tiles of a GPU have parts of its pool, and --pci names all of it" parts_tiles
check "the plan says which tile a rank is" says 0 \
    '"vendor": "intel", "product": "GPU Max 1550", "pci": "0000:ca:00.0", "tile": 1' \
    "$CPUBIND" plan --fixture gpu-4max1550 --json
check "a process that sees one tile keeps it when it is bound again" keeps_tile ZE_AFFINITY_MASK=1
check "a process that sees both has the one of its rank" keeps_tile LOCAL_RANK=1

# The bus shows all devices, and /dev has the file of one.
container=$out/container
cp -r "$host" "$container"
mkdir -p "$container/dev/nvidia"
echo 1:7 >"$container/dev/nvidia/nvidia7"

finds_file() { # argument ...
    start LOCAL_RANK=0
    says 0 "process $worker, 0000:02:00.0 (H100" "$CPUBIND" apply --root "$container" \
        --pid "$worker" "$@" && is_on "$b" && restores
    result=$?
    end
    return "$result"
}
check "the first rank of a container has the device whose file is there" finds_file --rank 0
check "and so without --rank" finds_file
check "topo says that the other is hidden" says 0 "0000:01:00.0  H100 SXM5  0     $a          hidden" \
    "$CPUBIND" topo --root "$container"

start CUDA_VISIBLE_DEVICES=1
check "the only visible device of the process is found" binds "$b" 0000:02:00.0
check "rank 0 is the visible device" binds "$b" 0000:02:00.0 --rank 0
check "--pci names a device that the process does not see" binds "$a" 0000:01:00.0 \
    --pci 0000:01:00.0
end
start CUDA_VISIBLE_DEVICES=1,0
check "ranks are in the order of the variable" binds "$b" 0000:02:00.0 --rank 0
end
for name in LOCAL_RANK SLURM_LOCALID OMPI_COMM_WORLD_LOCAL_RANK; do
    start "$name=1"
    check "the rank of $name is found" binds "$b" 0000:02:00.0
    end
done
start LOCAL_RANK=x
check "a variable that is no rank is refused" says 1 "LOCAL_RANK=x" on_host apply
end
start LOCAL_RANK=1 CUDA_VISIBLE_DEVICES=1,0
check "the rank counts visible devices" binds "$a" 0000:01:00.0
end

# -- The report and the record -----------------------------------------------------

reports() {
    says 0 "" on_host apply --pci 0000:02:00.0 --json && has '$.pid' "$worker" && has '$.npu' '' &&
        has '$.pci' 0000:02:00.0 && json '$.product' | grep -q H100 &&
        has '$.items[0].kind' thread && has '$.items[0].result' moved &&
        has '$.items[0].should' "$b" && record=$(json '$.state')
}

start
check "--json has the device in place of the NPU" reports
check "the record names the device" grep -q '^pci 0000:02:00.0$' "$record"
check "apply again finds the device by the record" says 0 "process $worker, gpu1 (0000:02:00.0" \
    on_host apply
check "verify compares with the record" says 0 "gpu1 (0000:02:00.0, H100" on_host verify
check "verify works without the snapshot" says 0 "process $worker, 0000:02:00.0" \
    "$CPUBIND" verify --pid "$worker"
check "verify compares with the plan of a named device" says 1 \
    "process $worker, gpu0 (0000:01:00.0" on_host verify --pci 0000:01:00.0
check "verify --json has the device" says 0 '"pci": "0000:02:00.0"' on_host verify --json --rank 1
taskset -pc "$a" "$worker" >"$out/taskset"
check "verify finds a drift" says 1 "it has drifted" on_host verify
check "another device takes over" says 0 "process $worker, gpu0 (0000:01:00.0" \
    on_host apply --pci 0000:01:00.0
check "restore goes back to the first CPUs" restores
check "without a record verify wants a device" says 1 "name the device with --device" on_host verify
check "a role list cuts the pool" says 1 "its roles need 2 CPUs" on_host apply --rank 1 \
    --roles 1,1,0,0
check "--thread has a place of its own" says 0 "$a" on_host apply --rank 1 --thread "sl*=$a"
check "the thread is there" is_on "$a"
check "restore puts the thread back" restores
check "--state names the record" says 0 "" on_host apply --rank 1 --state "$out/own.record"
check "the record is there" grep -q '^pci 0000:02:00.0$' "$out/own.record"
check "restore finds it" restores
check "--strict binds when nothing is skipped" says 0 "" on_host apply --rank 1 --strict \
    --memory none
check "restore after --strict" restores
end

start
check "apply with a process that has ended is refused" says 1 "there is no process" \
    "$CPUBIND" apply --root "$host" --pid 4194303 --rank 0
check "a thread that refuses is undone" says 4 "" "$out/deny" sched_setaffinity "$CPUBIND" apply \
    --root "$host" --pid "$worker" --rank 0
check "it is as before" is_on "$before"
check "there is no record" says 0 "nothing to put back" "$CPUBIND" restore --pid "$worker"
end

# -- Status ----------------------------------------------------------------------

status() { # argument ...
    "$CPUBIND" status --root "$host" "$@"
}

# Starts a process that computes on a GPU: it has the file of the GPU and that of CUDA open.
start_on() { # number
    sleep 600 3<"/dev/nvidia$1" 5</dev/nvidia-uvm &
    worker=$!
    becomes 100 is_program "$worker" sleep
}

status_json() {
    says 1 "" status --json && has '$.right' 0 && has '$.idle' 1 &&
        has '$.devices[1].pci' 0000:02:00.0 && has '$.devices[1].pool' "$b" &&
        has '$.devices[1].memory_node' 1 && has '$.devices[1].workers[0].pid' "$worker" &&
        has '$.devices[1].workers[0].place' unbound &&
        has '$.devices[1].workers[0].threads.main.unbound' 1 &&
        has '$.devices[0].workers' '[]' && has '$.workers.unbound' 1
}

is_narrow() {
    "$CPUBIND" status --root "$host" >"$out/said"
    awk 'length($0) > 80 { print; bad = 1 } END { exit bad }' "$out/said"
}

# Nobody uses npu1; the worker of gpu0 is not bound.
names_mixed() {
    says 1 "2 devices, 1 idle; 1 workers: 1 unbound" \
        "$CPUBIND" status --root "$out/mixed" --allowed 0-95 --devices npu1,gpu0 &&
        grep -q '^npu1    pool 72-95 ' "$out/said" && grep -q '^gpu0    pool 48-71 ' "$out/said"
}

mixed_status() {
    says 1 "3 devices, 2 idle; 1 workers: 1 unbound" "$CPUBIND" status --root "$out/mixed" \
        --allowed 0-95 && grep -q '^npu1 ' "$out/said" &&
        ! grep -q '0000:43' "$out/said" &&
        says 1 "" "$CPUBIND" status --root "$out/mixed" --allowed 0-95 --json &&
        has '$.right' 0 && has '$.idle' 2 && has '$.workers.unbound' 1 &&
        has '$.devices[1].pci' 0000:43:00.0 && has '$.devices[2].pci' 0000:61:00.0 &&
        has '$.devices[2].pool' 48-71 && has '$.devices[2].workers[0].pid' "$worker" &&
        has '$.devices[3]' '' && fits status
}

watches_mixed() {
    says 124 "npu1: interrupts: interrupts -; idle" timeout 2 "$CPUBIND" status \
        --root "$out/mixed" --allowed 0-95 --watch 1 &&
        grep -q "gpu0: process $worker: sleep, unbound" "$out/said"
}

check "status of an idle host" says 0 "2 devices, 2 idle; 0 workers" status
check "status names each device and its pool" says 0 "gpu1    pool $b " \
    status
check "status on a host without any device is refused as before" says 3 "npu-smi" \
    "$CPUBIND" status --root fixtures/hosts/gpu-none.host
if [ -n "$can_have_files" ]; then
    start_on 7
    check "status shows who has the file of a device open" says 1 "2 devices, 1 idle; 1 workers: 1 unbound" \
        status
    check "status has lines of 80 columns" is_narrow
    # shellcheck disable=SC2016
    check "a full disk is worse than a finding of status" says 4 "could not be written" \
        sh -c '"$0" status --root "$1" >/dev/full' "$CPUBIND" "$host"
    check "status --json has the devices" status_json
    check "apply finds the device by the open file" says 0 "process $worker, gpu1 (0000:02:00.0" \
        on_host apply
    check "a bound process is right" says 0 "1 workers: 1 right" status --memory none
    check "--watch writes a line for each" says 124 "gpu1: process $worker: sleep, right" \
        timeout 1 "$CPUBIND" status --root "$host" --watch 1 --memory none
    taskset -pc "$a" "$worker" >"$out/taskset"
    check "a thread that was moved is elsewhere" says 1 "1 workers: 1 elsewhere" status
    check "apply for another device" says 0 "0000:01:00.0" on_host apply --pci 0000:01:00.0
    check "status says that it is bound for another device" says 1 "on record for another device" \
        status
    check "restore after status" restores
    end
    "$CPUBIND" fixture export gpu-beside-npu "$out/mixed" --quiet
    sed -i 's/^| \([0-9]*\)  *0  *| 512[78] .*/| No running processes found in NPU \1 |/' \
        "$out/mixed/cmd/npu-smi-info.txt"
    host_of_two=$host
    host=$out/mixed
    put proc/driver/nvidia/gpus/0000:61:00.0/information "Device Minor: 	 5"
    put_gpu_drivers "$host"
    host=$host_of_two
    start_on 5
    check "status of a host with NPUs has its other accelerators, too" mixed_status
    check "--class selects them" says 1 "1 devices, 0 idle; 1 workers: 1 unbound" \
        "$CPUBIND" status --root "$out/mixed" --allowed 0-95 --class 0x0302
    check "--pci selects one" says 1 "gpu0    pool 48-71" \
        "$CPUBIND" status --root "$out/mixed" --allowed 0-95 --pci 0000:61:00.0
    check "--devices selects one" says 1 "gpu0    pool 48-71" \
        "$CPUBIND" status --root "$out/mixed" --allowed 0-95 --devices gpu0
    check "--devices selects those of both kinds, with the pools that all have" names_mixed
    check "--npus alone leaves the pools as they are, too" says 0 "npu1    pool 72-95 " \
        "$CPUBIND" status --root "$out/mixed" --allowed 0-95 --npus 1
    check "an option of NPUs leaves them, too" says 0 "npu1    pool 72-95 " \
        "$CPUBIND" status --root "$out/mixed" --allowed 0-95 --device-type a2
    check "a virtual function that is named has a pool beside the physical one" says 0 \
        "0000:17:00.4  0     4     4-7" "$CPUBIND" plan --root \
        fixtures/hosts/gpu-virtual-a10-2vf.host --pci 0000:17:00.4
    check "a number alone is refused where devices of several kinds are" says 1 \
        "device 0 may be npu0, gpu0 (0000:61:00.0)" \
        "$CPUBIND" plan --root "$out/mixed" --devices 0
    check "devices of both kinds are planned by name" says 0 "gpu0  L40S" \
        "$CPUBIND" plan --root "$out/mixed" --devices npu1,gpu0
    check "an option of NPUs is refused beside --pci in status" says 2 "leave out the options" \
        "$CPUBIND" status --root "$out/mixed" --npus 0 --pci 0000:61:00.0
    check "--watch has the NPUs and the other accelerators" watches_mixed
    # The CPUs of the plan are not those of this machine.
    check "apply finds a device beside NPUs by the open file" says 4 "on CPUs 48-71" \
        "$CPUBIND" apply --root "$out/mixed" --allowed 0-95 --pid "$worker"
    check "so does verify" says 1 "0000:61:00.0" \
        "$CPUBIND" verify --root "$out/mixed" --allowed 0-95 --pid "$worker"
    end
else
    skip "status shows who has the file of a device open" "no mounts of its own"
fi

# -- All processes ---------------------------------------------------------------

all() { # command, argument ...
    command=$1
    shift
    "$CPUBIND" "$command" --all --root "$host" "$@"
}

# Two processes, each with the file of a GPU of its own open.
first=
start_two() {
    start_on 5
    first=$worker
    start_on 7
}

end_two() {
    end
    worker=$first
    end
}

are_on() { # CPUs of the first, CPUs of the second
    is_on "$2" && [ "$(cpus_of "$first")" = "$1" ]
}

binds_all() {
    says 0 "gpu1" all apply && are_on "$a" "$b" &&
        says 0 "right" all verify &&
        says 0 "" all verify --json && has '$.workers[0].pci' 0000:01:00.0 &&
        has '$.workers[0].npu' '' && has '$.workers[0].pid' "$first" &&
        has '$.workers[0].devices' 1 && has '$.workers[1].state' right &&
        has '$.workers[1].outcome.pci' 0000:02:00.0 && fits host_report
}

finds_drift_of_all() {
    taskset -pc "$a" "$worker" >"$out/taskset"
    says 1 "process $worker, gpu1: it is not where it belongs" all verify &&
        says 0 "1 " all apply && are_on "$a" "$b"
}

restores_all() {
    says 0 "put back" "$CPUBIND" restore --all && are_on "$before" "$before"
}

binds_one_device() {
    says 0 "gpu0" all apply --pci 0000:01:00.0 && are_on "$a" "$before" &&
        ! grep -q "gpu1" "$out/said" && "$CPUBIND" restore --all &&
        says 0 "" all apply --class 0x0302 --json && has '$.workers[1].pid' "$worker" &&
        are_on "$a" "$b" && "$CPUBIND" restore --all
}

# Two processes of one device have parts of its pool.
shares_a_pool() {
    cp -r "$host" "$out/one"
    rm -r "$out/one/sys/bus/pci/devices/0000:02:00.0"
    echo "$a,$b" >"$out/one/sys/devices/system/node/node0/cpulist"
    echo "" >"$out/one/sys/devices/system/node/node1/cpulist"
    start_on 5
    first=$worker
    start_on 5
    says 0 "" "$CPUBIND" apply --all --root "$out/one" --json &&
        has '$.workers[1].processes' 2 && has '$.workers[1].process' 1 && are_on "$a" "$b"
}

lacks_cpus() {
    says 0 "gpu0: its 2 processes share the CPUs $b of its pool, which cannot be cut" \
        "$CPUBIND" apply --all --root "$out/one" --roles 1,1,0,0 && are_on "$b" "$b" &&
        says 0 "" "$CPUBIND" apply --all --root "$out/one" --roles 1,1,0,0 --json &&
        has '$.workers[1].shared' 1 && has '$.workers[1].processes' 2 && fits host_report
}

# One process of both devices: it has the files of both open, and of the driver those given here.
starts_both() { # file
    start_two
    sleep 600 3</dev/nvidia5 4</dev/nvidia7 5<"$1" &
    both=$!
    becomes 100 is_program "$both" sleep
}

joins_pools() {
    starts_both /dev/nvidia-uvm
    says 0 '"devices": 2' all apply --json && are_on "$a" "$b" &&
        [ "$(cpus_of "$both")" = "$before" ] &&
        says 0 "" all verify --json && has '$.workers[1].pid' "$both" &&
        has '$.workers[1].devices' 2 && has '$.workers[1].pci' '' &&
        has '$.workers[1].state' right && fits host_report && says 0 "2 devices" all verify
    result=$?
    kill "$both"
    wait "$both" 2>/dev/null
    end_two
    return "$result"
}

# nvidia-smi -l has the files of all devices open, and does not compute.
leaves_monitors() {
    starts_both /dev/null
    says 0 "" all apply --json && has '$.workers[0].processes' 1 && has '$.workers[1].processes' 1 &&
        has '$.workers[2].pid' '' && are_on "$a" "$b" && [ "$(cpus_of "$both")" = "$before" ] &&
        says 0 "2 devices, 0 idle; 2 workers: 2 right" status --memory none
    result=$?
    "$CPUBIND" restore --all >"$out/restored"
    kill "$both"
    wait "$both" 2>/dev/null
    end_two
    return "$result"
}

watches_all() {
    start_on 5
    first=$worker
    "$CPUBIND" apply --all --root "$host" --watch 1 >"$out/watch" 2>&1 &
    watcher=$!
    for _ in $(seq 600); do
        [ "$(cpus_of "$first")" = "$a" ] && break
        sleep 0.1
    done
    start_on 7
    for _ in $(seq 600); do # it is bound before that is said
        is_on "$b" >"$out/on" && grep -q "process $worker" "$out/watch" && break
        sleep 0.1
    done
    cat "$out/on" "$out/watch"
    are_on "$a" "$b"
    result=$?
    kill "$watcher"
    wait "$watcher"
    cat "$out/watch"
    grep -q "process $worker ([a-z]*), gpu1: bound" "$out/watch" ||
        grep -q "process $worker, " "$out/watch" || result=1
    end_two
    return "$result"
}

check "apply --all without a process" says 0 "no process uses a device: it would have a file" all apply
check "apply --all --pci is about devices alone" says 2 "leave out the options" all apply \
    --pci 0000:01:00.0 --total 4
check "--pci of a function that is not there is refused" says 1 "no PCI function" all apply \
    --pci 0000:09:00.0
if [ -n "$can_have_files" ]; then
    start_two
    check "verify --all names processes that are not bound" says 1 \
        "process $worker, gpu1: nothing is on record of it" all verify
    check "apply --all binds each process to its device" binds_all
    check "verify --all finds a drift, and apply --all ends it" finds_drift_of_all
    check "restore --all restores all" restores_all
    check "--pci and --class choose the devices" binds_one_device
    check "--allowed is what all of them may have" says 1 "none of the CPUs near it is allowed" all apply \
        --rules reference --allowed "$a"
    "$CPUBIND" restore --all >"$out/restored"
    end_two
    check "processes of one device share its pool" shares_a_pool
    check "a pool that is too small for them is shared, and that is said" lacks_cpus
    "$CPUBIND" restore --all >"$out/restored"
    end_two
    check "a process of several devices has their pools, and takes no part" joins_pools
    "$CPUBIND" restore --all >"$out/restored"
    check "a monitor, which opens all devices and does not compute, takes no part" leaves_monitors
    check "--watch finds a new process" watches_all
    "$CPUBIND" restore --all >"$out/restored"
fi

# -- A tree, and the CPUs that are kept -------------------------------------------

# A server with a worker that has the file of the second GPU open, and a process without a device.
cat >"$out/server" <<'END'
sleep 600 3</dev/nvidia7 5</dev/nvidia-uvm &
worker=$!
sleep 600 &
plain=$!
trap 'kill "$worker" "$plain"; exit 7' TERM
echo "$worker" >"$out/worker.pid"
echo "$plain" >"$out/plain.pid"
: >"$out/started"
wait
END
export out

# Ends when the worker is on its CPU, the other processes of the tree on the kept one.
is_tree_bound() {
    for _ in $(seq 600); do
        [ -e "$out/started" ] && worker=$(cat "$out/worker.pid") && is_on "$b" >"$out/on" &&
            [ "$(cpus_of "$(cat "$out/plain.pid")")" = "$a" ] && [ "$(cpus_of "$1")" = "$a" ] &&
            return
        sleep 0.1
    done
    cat "$out/on"
    cpus_of "$(cat "$out/plain.pid")"
    cpus_of "$1"
    return 1
}

ends_tree() { # pid, exit status of the server
    kill "$1"
    wait "$1" 2>/dev/null
    [ $? -eq "$2" ] && "$CPUBIND" restore --ended && worker=
}

applies_tree() {
    rm -f "$out/started"
    start_on 5
    stranger=$worker
    sh "$out/server" &
    server=$!
    for _ in $(seq 600); do
        [ -e "$out/started" ] && break
        sleep 0.1
    done
    says 0 "gpu1" "$CPUBIND" apply --tree --pid "$server" --root "$host" --keep "$a-$a" &&
        is_tree_bound "$server" && worker=$stranger && is_on "$before" &&
        "$CPUBIND" restore --all && worker=$(cat "$out/worker.pid") && is_on "$before"
    result=$?
    ends_tree "$server" 7 || result=1
    worker=$stranger
    end
    return "$result"
}

runs_tree() {
    rm -f "$out/started"
    "$CPUBIND" run --tree --root "$host" --keep "$a-$a" -- sh "$out/server" 2>"$out/tree.err" &
    server=$!
    is_tree_bound "$server"
    result=$?
    for _ in $(seq 600); do # it is bound before that is said, maybe before the shell is sleep
        grep -q "), gpu1: 1 threads moved" "$out/tree.err" && break
        sleep 0.1
    done
    ends_tree "$server" 7 || result=1
    cat "$out/tree.err"
    grep -q "), gpu1: 1 threads moved" "$out/tree.err" || result=1
    return "$result"
}

# A launcher whose workers have no file of a device open yet.
#   ranks   as torchrun: a local rank each; one has ended, and one has a child
#   own     as Ray and SGLang: a variable of its own each
#   all     what the launcher has, they have
cat >"$out/launcher" <<'END'
trap 'kill "$first" "$second" "$(cat "$out/grandchild.pid")"; exit 7' TERM
sleep 600 &
echo $! >"$out/grandchild.pid"
case $1 in
ranks)
    LOCAL_RANK=0 sleep 0.1
    LOCAL_RANK=0 sleep 600 &
    first=$!
    kill "$(cat "$out/grandchild.pid")"
    LOCAL_RANK=1 sh -c 'sleep 600 & echo $! >"$out/grandchild.pid"; exec sleep 600' &
    ;;
own)
    CUDA_VISIBLE_DEVICES=0 sleep 600 &
    first=$!
    CUDA_VISIBLE_DEVICES=1 sleep 600 &
    ;;
*)
    sleep 600 &
    first=$!
    sleep 600 &
    ;;
esac
second=$!
echo "$first $second" >"$out/workers"
wait
END

# shellcheck disable=SC2046
are_workers_on() { # CPUs of the first, CPUs of the second
    set -- "$1" "$2" $(cat "$out/workers")
    [ "$(cpus_of "$3") and $(cpus_of "$4")" = "$1 and $2" ] &&
        [ "$(cpus_of "$(cat "$out/grandchild.pid")")" = "$before" ]
}

names_devices() { # kind, value of CUDA_VISIBLE_DEVICES, CPUs of the first and of the second worker
    rm -f "$out/workers"
    env ${2:+CUDA_VISIBLE_DEVICES="$2"} "$CPUBIND" run --tree --root "$host" -- \
        sh "$out/launcher" "$1" 2>"$out/tree.err" &
    server=$!
    for _ in $(seq 600); do
        [ -s "$out/workers" ] && [ -s "$out/grandchild.pid" ] && are_workers_on "$3" "$4" && break
        sleep 0.1
    done
    sleep 0.5
    are_workers_on "$3" "$4"
    result=$?
    cat "$out/tree.err"
    ends_tree "$server" 7 || result=1
    return "$result"
}

# The launcher is no child of cpubind here, and its variable is its own.
leaves_launchers() { # kind, value of CUDA_VISIBLE_DEVICES, CPUs of both workers
    rm -f "$out/workers"
    env CUDA_VISIBLE_DEVICES="$2" sh "$out/launcher" "$1" &
    worker=$!
    for _ in $(seq 600); do
        [ -s "$out/workers" ] && break
        sleep 0.1
    done
    says 0 "" "$CPUBIND" apply --tree --pid "$worker" --root "$host" && is_on "$before" &&
        are_workers_on "$3" "$4"
    result=$?
    "$CPUBIND" restore --all >"$out/restored"
    end
    return "$result"
}

keeps_cpus() { # host, argument of --keep, kept CPUs, CPUs of the first device
    says 0 "kept for the host: CPUs $3" "$CPUBIND" plan --root "fixtures/hosts/$1.host" --keep "$2" &&
        says 0 "" "$CPUBIND" plan --root "fixtures/hosts/$1.host" --keep "$2" --json &&
        has '$.kept' "$3" && has '$.devices[0].pool' "$4" && fits plan
}

# The same processes, by --all: the server and the process without a device are of its group.
keeps_others() {
    rm -f "$out/started"
    setsid sh "$out/server" &
    server=$!
    for _ in $(seq 600); do
        [ -e "$out/started" ] && break
        sleep 0.1
    done
    says 0 "gpu1" all apply --keep "$a-$a" --others keep && is_tree_bound "$server" &&
        "$CPUBIND" restore --all && is_on "$before"
    result=$?
    ends_tree "$server" 7 || result=1
    return "$result"
}

check "plan --keep takes the lowest cores of each node from all devices" \
    keeps_cpus gpu-smt-apart-2a30 1 0,4,8,12 1-3,9-11
check "plan --keep takes the CPUs of a list with the rest of their cores" \
    keeps_cpus gpu-smt-apart-2a30 5-5 5,13 0-3,8-11
check "plan --keep on a host without nodes" keeps_cpus gpu-vm-2l4 1 0 1-4
check "a local rank of its own names the device of a worker before it opens it" \
    names_devices ranks "" "$a" "$b"
check "so does a local rank among the visible devices" names_devices ranks 1,0 "$b" "$a"
check "a variable of its own does" names_devices own "" "$a" "$b"
check "a variable that all have from their launcher names none" \
    names_devices all 0,1 "$before" "$before"
check "nor does one of a single device" names_devices all 1 "$before" "$before"
check "a launcher with a variable of all devices is no worker" \
    leaves_launchers ranks 0,1 "$a" "$b"
if [ -n "$can_have_files" ]; then
    check "apply --tree binds the processes of devices, and the others to the kept CPUs" applies_tree
    check "run --tree does, and ends with the status of the server" runs_tree
    check "--others keep moves the processes beside a worker" keeps_others
fi

# -- Watching --------------------------------------------------------------------

watches() {
    start CUDA_VISIBLE_DEVICES=1
    "$CPUBIND" apply --root "$host" --pid "$worker" --watch 1 >"$out/watch" 2>&1 &
    watcher=$!
    for _ in $(seq 600); do
        is_on "$b" >"$out/on" && break
        sleep 0.1
    done
    taskset -pc "$a" "$worker" >"$out/taskset"
    for _ in $(seq 600); do
        is_on "$b" >"$out/on" && break
        sleep 0.1
    done
    cat "$out/on" "$out/watch"
    is_on "$b"
    result=$?
    end
    wait "$watcher" && return "$result"
}
check "--watch moves threads back, and ends with the process" watches

# shellcheck disable=SC2016
check "apply --pci binds the parent" says 0 "0000:02:00.0" \
    sh -c '"$0" apply --root "$1" --force --pci 0000:02:00.0; :' "$CPUBIND" "$host"
check "run --pci names the device" says 0 "$b" "$CPUBIND" run --root "$host" \
    --pci 0000:02:00.0 -- sed -n 's/^Cpus_allowed_list://p' /proc/self/status

# -- A binding inside of another one --------------------------------------------

# The command is below a shell that is bound to the first device.
inside() { # command ...; its first word is below `cpubind run`
    "$CPUBIND" run --root "$host" --pci 0000:01:00.0 -- sh -c '"$@"; exit $?' sh "$@"
}

nested_run() {
    # shellcheck disable=SC2016
    says 0 "inside of the binding of process" inside "$CPUBIND" run --root "$host" \
        --pci 0000:02:00.0 -- sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status &&
        [ "$(cat "$out/said")" = "$b" ] &&
        grep -q "(0000:01:00.0): the plan is for the CPUs before it, $before, and" "$out/err"
}

# The child of the bound process has no record, and the CPUs of the pool.
nested_apply() {
    "$CPUBIND" run --root "$host" --pci 0000:01:00.0 -- sh -c 'sleep 600 & echo $!; wait' \
        >"$out/child" &
    above=$!
    until [ -s "$out/child" ]; do sleep 0.05; done
    worker=$(cat "$out/child")
    is_on "$a" && says 0 "inside of the binding of process $above" "$CPUBIND" apply \
        --root "$host" --pid "$worker" --pci 0000:02:00.0 && is_on "$b" &&
        says 0 "" "$CPUBIND" restore --pid "$worker" && is_on "$a"
    result=$?
    kill "$worker"
    wait "$above"
    return $result
}

nested_twice() {
    says 0 "" inside "$CPUBIND" run --root "$host" --pci 0000:02:00.0 --quiet -- sh -c \
        '"$0" run --root "$1" --pci 0000:01:00.0 -- sed -n "s/^Cpus_allowed_list:[^0-9]*//p" \
            /proc/self/status' "$CPUBIND" "$host" && [ "$(cat "$out/said")" = "$a" ] &&
        grep -q "(0000:02:00.0): the plan is for the CPUs before it, $before, and" "$out/err"
}

# Whoever has taken CPUs of its own since is planned by those.
own_mask_counts() {
    says 125 "it would have 0" inside taskset -c "$b" "$CPUBIND" run --root "$host" \
        --pci 0000:01:00.0 -- true && ! grep -q "inside of the binding" "$out/err"
}

check "run inside of a bound process is planned from the CPUs before it" nested_run
check "so is apply to a child of a bound process" nested_apply
check "and a binding inside of two others" nested_twice
check "a mask that is not of the binding counts" own_mask_counts

# -- Processes that end --------------------------------------------------------

# Wherever it ends while it is looked at, the command says that, and no other reason.
ends_are_said() { # command, argument ...
    n_end=0
    while :; do
        n_end=$((n_end + 1))
        start CUDA_VISIBLE_DEVICES=7
        CPUBIND_ENDS_PID=$worker CPUBIND_ENDS_AT=$n_end LD_PRELOAD=$out/ends.so \
            "${CPUBIND}_shared" "$@" --pid "$worker" >"$out/said" 2>"$out/err"
        got=$?
        kill -0 "$worker" 2>/dev/null && grep -q '^State:.[^Z]' "/proc/$worker/status" && break
        cat "$out/err"
        echo "end $n_end of $*: $got"
        [ $got -eq 1 ] && grep -q "process $worker has ended\|there is no process $worker here" "$out/err" && end || return 1
    done
    end
    [ $n_end -gt 5 ]
}

# A zombie has no environment, and nothing else that could be compared.
zombies_are_said() {
    # It ends once its parent, a shell that would wait for it, is another program.
    sh -c 'while ! grep -q sleep /proc/$$/comm; do sleep 0.01; done & echo $!; exec sleep 600' \
        >"$out/zombie" &
    parent=$!
    for _ in $(seq 600); do
        zombie=$(cat "$out/zombie")
        grep -q '^State:.Z' "/proc/${zombie:-0}/status" 2>/dev/null && break
        sleep 0.1
    done
    says 1 "process $zombie has ended" "$CPUBIND" verify --pid "$zombie" &&
        says 1 "process $zombie has ended" "$CPUBIND" verify --root "$host" --pid "$zombie" &&
        says 1 "process $zombie has ended" "$CPUBIND" apply --root "$host" --pid "$zombie"
    result=$?
    kill $parent
    wait $parent 2>/dev/null
    return $result
}

if [ -x "${CPUBIND}_shared" ] &&
    cc -std=c11 -D_DEFAULT_SOURCE -O1 -Wall -Wextra -Werror -shared -fPIC tests/cli/ends.c -o "$out/ends.so" -ldl; then
    check "apply says of a process that ends meanwhile that it has ended" ends_are_said apply \
        --root "$host" --memory none
    check "so does apply to a device that is named" ends_are_said apply --root "$host" \
        --pci 0000:01:00.0 --memory none
    check "and verify" ends_are_said verify --root "$host" --pci 0000:01:00.0 --memory none
else
    skip "a process that ends meanwhile" "there is no build/cpubind_shared"
fi
check "verify and apply say of a zombie that it has ended" zombies_are_said

# -- NPUs ----------------------------------------------------------------------

start
check "a host with NPUs is planned as before" says 1 "only ARM machines are bound" "$CPUBIND" apply \
    --pid "$worker" --fixture a2-192cpu-8npu --npu 0 --rules reference
check "--pci on a host with NPUs is about any device" says 1 "there is no PCI function" \
    "$CPUBIND" apply --pid "$worker" --fixture a2-192cpu-8npu --pci ffff:01:00.0
end
[ -z "$gpu_terminal" ] || kill "$gpu_terminal"
finish
