#!/bin/sh
# devices.sh - apply, verify, restore and run on accelerators that are no NPUs: which one
# SPDX-License-Identifier: MIT
# runs: check-all
. tests/scenes/lib.sh
use_gpus
put env CUDA_VISIBLE_DEVICES=7

# Who deletes a folder of the scene deletes no device file of this machine.
nothing_is_mounted_below() { # folder
    ! awk -v folder="$1/" 'index($5, folder) == 1' /proc/self/mountinfo | grep . && [ -c /dev/null ]
}
check "no file system is mounted below the folder of the scene" nothing_is_mounted_below "$out"

on_host() { # command, argument ...
    host_command=$1
    shift
    "$CPUBIND" "$host_command" --root "$host" --pid "$worker" "$@"
}

puts_back() {
    says 0 "put back" restore && is_on "$worker" "$before"
}

# -- Which device ----------------------------------------------------------------

binds() { # CPUs, device, argument ...
    cpus=$1
    device=$2
    shift 2
    says 0 "process $worker, $device (0000:0$((${device#gpu} + 1)):00.0, H100" on_host apply "$@" &&
        is_on "$worker" "$cpus" && puts_back
}

start_worker
check "--device names the device" binds "$b" gpu1 --device 0000:02:00.0
check "--device names the other device" binds "$a" gpu0 --device 0000:01:00.0
for name in gpu1 1 GPU1 0000:02:00.0 02:00.0; do
    check "--device $name names the device" binds "$b" gpu1 --device "$name"
done
check "--visible stands in place of the variable" binds "$b" gpu1 --visible 1,0 --rank 0
check "--rank counts the devices" binds "$b" gpu1 --rank 1
check "--rules near gives the same device" binds "$b" gpu1 --rank 1 --rules near

# Nothing is changed by what is refused: exit status, words, options.
while IFS='|' read -r status words options; do
    # The options are split on purpose.
    # shellcheck disable=SC2086
    check "refused: apply $options" says "$status" "$words" on_host apply $options
done <<ROWS
1|there is no gpu7 here; this process sees gpu0-1|--device gpu7
1|there is no npu0; --device names gpu0-1,|--device npu0
2|give one|--device gpu0 --rank 1
1|its roles need 2 CPUs|--device gpu1 --processes 2 --index 1
1|its roles need 2 CPUs|--rank 1 -o roles=1,1,0,0
1|name the device with --device NAME or --rank N|
1|rank 2 is none of the 2 devices that the process sees|--rank 2
1|there is no PCI function 0000:09:00.0|--device 0000:09:00.0
1|0000:02:00.0 has no pool|--device 0000:02:00.0 --allowed $a
2|about NPUs alone|--device 0000:02:00.0 -o total=4
2|--processes|--index 1
2|character 5|--device 0000:02
ROWS
check "nothing is changed by refusals" is_on "$worker" "$before"

# On a host with NPUs --device is about any device, and the reference is for ARM.
check "a host with NPUs is planned as before" says 1 "only ARM machines are bound" "$CPUBIND" \
    apply \
    --pid "$worker" --fixture a2-192cpu-8npu --device npu0 --rules reference
check "--device on a host with NPUs is about any device" says 1 "there is no PCI function" \
    "$CPUBIND" apply --pid "$worker" --fixture a2-192cpu-8npu --device ffff:01:00.0
end_worker

# With the variables of a process: what it does not see --device names all the same.
while IFS='|' read -r variables device options; do
    cpus=$a
    [ "$device" = gpu0 ] || cpus=$b
    # The words are split on purpose.
    # shellcheck disable=SC2086
    start_worker $variables
    # shellcheck disable=SC2086
    check "a process with $variables: apply $options" binds "$cpus" $device $options
    end_worker
done <<'ROWS'
CUDA_VISIBLE_DEVICES=1|gpu1|
CUDA_VISIBLE_DEVICES=1|gpu1|--rank 0
CUDA_VISIBLE_DEVICES=1|gpu0|--device 0000:01:00.0
CUDA_VISIBLE_DEVICES=1,0|gpu1|--rank 0
LOCAL_RANK=1|gpu1|
SLURM_LOCALID=1|gpu1|
OMPI_COMM_WORLD_LOCAL_RANK=1|gpu1|
LOCAL_RANK=1 CUDA_VISIBLE_DEVICES=1,0|gpu0|
ROWS
start_worker LOCAL_RANK=x
check "a variable that is no rank is refused" says 1 "LOCAL_RANK=x" on_host apply
end_worker

# -- Other hosts -----------------------------------------------------------------

apply_in() { # folder of a host, CPUs, argument ...
    in_host=$1
    in_cpus=$2
    shift 2
    says 0 "process $worker" "$CPUBIND" apply --root "$in_host" --pid "$worker" "$@" &&
        is_on "$worker" "$in_cpus"
}

# The pool of one device leaves the pool of another one on the same node alone.
shared=$out/shared
cp -r "$host" "$shared"
echo 0 >"$shared/sys/bus/pci/devices/0000:02:00.0/numa_node"
put_one_node "$shared"
shares_a_node() {
    apply_in "$shared" "$b" --device 0000:02:00.0 && restore &&
        apply_in "$shared" "$a" --device 0000:01:00.0 && puts_back
}
check_worker "two devices of one node get different CPUs" shares_a_node

# A GPU of two tiles, which Level Zero counts as two devices. The record knows the GPU alone,
# and the process its tile.
tiles=$out/tiles
cp -r "$shared" "$tiles"
rm -r "$tiles/proc/driver" "$tiles/sys/bus/pci/devices/0000:02:00.0"
echo 0x8086 >"$tiles/sys/bus/pci/devices/0000:01:00.0/vendor"
echo 0x0bd5 >"$tiles/sys/bus/pci/devices/0000:01:00.0/device"
echo 0x038000 >"$tiles/sys/bus/pci/devices/0000:01:00.0/class"

parts_tiles() {
    apply_in "$tiles" "$a" --rank 0 && apply_in "$tiles" "$b" --rank 1 &&
        apply_in "$tiles" "$before" --device 0000:01:00.0 && puts_back
}
check_worker "two tiles of a GPU have parts of its pool, and --device names all of it" parts_tiles

keeps_tile() {
    apply_in "$tiles" "$b" && apply_in "$tiles" "$b" && says 0 "as it should be" verify &&
        puts_back
}
check_worker "a process that sees one tile keeps it when it is bound again" keeps_tile \
    ZE_AFFINITY_MASK=1
check_worker "a process that sees both has the one of its rank" keeps_tile LOCAL_RANK=1

# The bus shows all devices, and /dev has the file of one.
container=$out/container
cp -r "$host" "$container"
mkdir -p "$container/dev/nvidia"
echo 1:7 >"$container/dev/nvidia/nvidia7"

finds_its_file() {
    for option in "" "--rank 0"; do
        # shellcheck disable=SC2086
        apply_in "$container" "$b" $option && said "process $worker, 0000:02:00.0 (H100" &&
            puts_back || return 1
    done
}
check_worker "a rank of a container has the device whose file is there" finds_its_file \
    LOCAL_RANK=0
check "topo says that the other is hidden" says 0 \
    "0000:01:00.0  H100 SXM5  0     $a          hidden" "$CPUBIND" topo --root "$container"

# -- The report and the record -----------------------------------------------------

start_worker
has_the_device() {
    says 0 "" on_host apply --device 0000:02:00.0 --json && fits report && has .pid "$worker" &&
        has .pci 0000:02:00.0 && json .product | grep -q H100 &&
        has '.items[0].kind' thread && has '.items[0].result' moved &&
        has '.items[0].should' "$b" && record=$(json .state) &&
        grep -q '^pci 0000:02:00.0$' "$record"
}
check "--json and the record have the device in place of the NPU" has_the_device
check "apply again finds the device by the record" says 0 \
    "process $worker, gpu1 (0000:02:00.0" \
    on_host apply
check "verify compares with the record" says 0 "gpu1 (0000:02:00.0, H100" on_host verify
# shellcheck disable=SC2016
check "verify works where the bus has no such device" says 0 "process $worker, 0000:02:00.0" \
    unshare -m sh -c 'umount /sys/bus/pci/devices && exec "$@"' sh "$CPUBIND" verify \
    --pid "$worker"
check "verify compares with the plan of a named device" says 1 \
    "process $worker, gpu0 (0000:01:00.0" on_host verify --device 0000:01:00.0
check "verify --json has the device" says 0 '"pci": "0000:02:00.0"' on_host verify --json \
    --rank 1
move_to "$a" "$worker"
check "verify finds a drift" says 1 "it has drifted" on_host verify
check "another device takes over" says 0 "process $worker, gpu0 (0000:01:00.0" \
    on_host apply --device 0000:01:00.0
check "restore goes back to the first CPUs" puts_back
check "without a record verify wants a device" says 1 "name the device with --device" on_host \
    verify

asks_for_a_place() {
    says 0 "$a" on_host apply --rank 1 --thread "wor*=$a" && is_on "$worker" "$a" &&
        puts_back &&
        says 0 "" on_host apply --rank 1 --strict --memory none && puts_back
}
check "--thread has a place of its own, and --strict binds when nothing is skipped" \
    asks_for_a_place

undoes_what_is_refused() {
    says 4 "" "$programs/deny" sched_setaffinity "$CPUBIND" apply --root "$host" --pid \
        "$worker" \
        --rank 0 && is_on "$worker" "$before" && says 0 "nothing to put back" restore
}
check "a thread that refuses is undone" undoes_what_is_refused
end_worker

moves_threads_back() {
    "$CPUBIND" apply --root "$host" --pid "$worker" --watch 1 >"$out/watch" 2>&1 &
    watcher=$!
    becomes is_on "$worker" "$b" && move_to "$a" "$worker" && becomes is_on "$worker" "$b" &&
        end_worker && wait "$watcher"
}
check_worker "--watch moves threads back, and ends with the process" moves_threads_back \
    CUDA_VISIBLE_DEVICES=1

# shellcheck disable=SC2016
check "apply --device binds the parent" says 0 "0000:02:00.0" \
    sh -c '"$0" apply --root "$1" --force --device 0000:02:00.0; :' "$CPUBIND" "$host"
own_list='s/^Cpus_allowed_list:[^0-9]*//p'
check "run --device names the device" says 0 "$b" "$CPUBIND" run --root "$host" \
    --device 0000:02:00.0 -- sed -n "$own_list" /proc/self/status
check "the plan says which tile a rank is" says 0 \
    '"vendor": "intel", "product": "GPU Max 1550", "pci": "0000:ca:00.0", "tile": 1' \
    "$CPUBIND" plan --fixture gpu-4max1550 --json

# -- A binding inside of another one ---------------------------------------------

# The command is below a shell that is bound to the first device.
# shellcheck disable=SC2016
inside() { # command ...
    "$CPUBIND" run --root "$host" --device 0000:01:00.0 -- sh -c '"$@"; exit $?' sh "$@"
}

nested_run() {
    says 0 "inside of the binding of process" inside "$CPUBIND" run --root "$host" \
        --device 0000:02:00.0 -- sed -n "$own_list" /proc/self/status &&
        [ "$(cat "$out/said")" = "$b" ] &&
        said "(0000:01:00.0): the plan is for the CPUs before it, $before, and"
}
check "run inside of a bound process is planned from the CPUs before it" nested_run

# The child of the bound process has no record, and the CPUs of the pool.
nested_apply() {
    "$CPUBIND" run --root "$host" --device 0000:01:00.0 -- sh -c 'sleep 600 & echo $!; wait' \
        >"$out/child" &
    above=$!
    becomes test -s "$out/child" && worker=$(cat "$out/child") && is_on "$worker" "$a" &&
        says 0 "inside of the binding of process $above" on_host apply --device 0000:02:00.0 &&
        is_on "$worker" "$b" && says 0 "" restore && is_on "$worker" "$a"
    result=$?
    kill "$worker"
    wait "$above"
    return $result
}
check "so is apply to a child of a bound process" nested_apply

# shellcheck disable=SC2016
nested_twice() {
    says 0 "" inside "$CPUBIND" run --root "$host" --device 0000:02:00.0 --quiet -- sh -c \
        '"$0" run --root "$1" --device 0000:01:00.0 -- sed -n "$2" /proc/self/status' \
        "$CPUBIND" "$host" "$own_list" && [ "$(cat "$out/said")" = "$a" ] &&
        said "(0000:02:00.0): the plan is for the CPUs before it, $before, and"
}
check "and a binding inside of two others" nested_twice

# Whoever has taken CPUs of its own since is planned by those.
own_mask_counts() {
    says 125 "it would have 0" inside taskset -c "$b" "$CPUBIND" run --root "$host" \
        --device 0000:01:00.0 -- true && ! grep -q "inside of the binding" "$out/err"
}
check "a mask that is not of the binding counts" own_mask_counts

# -- Processes that end ----------------------------------------------------------

# Wherever it ends while it is looked at, the command says that, and no other reason.
ends_are_said() { # command, argument ...
    for n_end in $(seq 1000); do
        start_worker CUDA_VISIBLE_DEVICES=7
        CPUBIND_ENDS_PID=$worker CPUBIND_ENDS_AT=$n_end LD_PRELOAD=$programs/proc_shim \
            "$CPUBIND" "$@" --pid "$worker" >"$out/said" 2>"$out/err"
        got=$?
        kill -0 "$worker" 2>/dev/null && grep -q '^State:.[^Z]' "/proc/$worker/status" && break
        grep -q "^process $worker, " "$out/said" && break # all was done
        cat "$out/err"
        echo "end $n_end of $*: $got"
        [ $got -eq 1 ] && grep -q "process $worker:* *\(it \)*has ended\|process $worker: there is no such" \
            "$out/err" && end_worker || return 1
    done
    end_worker
    [ "$n_end" -gt 5 ]
}
check "apply says of a process that ends meanwhile that it has ended" ends_are_said apply \
    --root "$host" --memory none
check "so does apply to a device that is named" ends_are_said apply --root "$host" \
    --device 0000:01:00.0 --memory none
check "and verify" ends_are_said verify --root "$host" --device 0000:01:00.0 --memory none

# A zombie has no environment, and nothing else that could be compared.
zombies_are_said() {
    start_zombie && worker=$zombie && says 1 "process $zombie has ended" verify &&
        says 1 "process $zombie has ended" on_host verify &&
        says 1 "process $zombie: it has ended" on_host apply
}
check "verify and apply say of a zombie that it has ended" zombies_are_said
finish
