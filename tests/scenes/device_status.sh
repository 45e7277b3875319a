#!/bin/sh
# device_status.sh - status of accelerators, alone and beside NPUs
# SPDX-License-Identifier: MIT
# runs: check
. tests/scenes/lib.sh
use_gpus

# -- Two GPUs --------------------------------------------------------------------

of_gpus() { # argument ...
    "$CPUBIND" status --root "$host" "$@"
}

check "status of an idle host" says 0 "2 devices, 2 idle; 0 workers" of_gpus
check "status names each device and its pool" said "gpu1  $b "
check "status on a host without any device is refused as before" says 3 "no accelerator that cpubind knows" \
    "$CPUBIND" status --root fixtures/hosts/gpu-none.host

start_on 7
shows_the_user() {
    says 1 "2 devices, 1 idle; 1 workers: 1 unbound" of_gpus &&
        [ "$(awk 'length > 80' "$out/said")" = "" ] && says 1 "" of_gpus --json &&
        fits status &&
        has .right 0 && has .idle 1 && has '.devices[1].pci' 0000:02:00.0 &&
        has '.devices[1].pool' "$b" && has '.devices[1].memory_node' 1 &&
        has '.devices[1].workers[0].pid' "$worker" &&
        has '.devices[1].workers[0].place' unbound &&
        has '.devices[1].workers[0].threads.main.unbound' 1 && has '.devices[0].workers' '[]' &&
        has .workers.unbound 1
}
check "status shows who has the file of a device open" shows_the_user
# shellcheck disable=SC2016
check "a full disk is worse than a finding of status" says 4 "could not be written" \
    sh -c '"$0" status --root "$1" >/dev/full' "$CPUBIND" "$host"

follows_a_binding() {
    set -- "$CPUBIND" apply --root "$host" --pid "$worker"
    says 0 "process $worker, gpu1 (0000:02:00.0" "$@" &&
        says 0 "1 workers: 1 right" of_gpus --memory none &&
        says 124 "gpu1: process $worker: worker, right" timeout 2 "$CPUBIND" status \
            --root "$host" --watch 1 --memory none && move_to "$a" "$worker" &&
        says 1 "1 workers: 1 elsewhere" of_gpus &&
        says 0 "0000:01:00.0" "$@" --device 0000:01:00.0 &&
        says 1 "on record for another device" of_gpus && says 0 "put back" restore
}
check "a device is found by the open file; what is bound, moved, or bound to another is said" \
    follows_a_binding
end_worker

# -- NPUs and a GPU --------------------------------------------------------------

mixed=$out/mixed
"$CPUBIND" fixture export gpu-beside-npu "$mixed" --quiet
sed -i 's/^| \([0-9]*\)  *0  *| 512[78] .*/| No running processes found in NPU \1 |/' \
    "$mixed/cmd/npu-smi-info.txt"
host=$mixed
put proc/driver/nvidia/gpus/0000:61:00.0/information "Device Minor: 	 5"
put_gpu_drivers "$mixed"
start_on 5

of_mixed() { # argument ...
    "$CPUBIND" status --root "$mixed" --allowed 0-95 "$@"
}

has_both_kinds() {
    says 1 "3 devices, 2 idle; 1 workers: 1 unbound" of_mixed && grep -q '^npu1 ' "$out/said" &&
        ! grep -q '0000:43' "$out/said" && says 1 "" of_mixed --json && fits status &&
        has .right 0 && has .idle 2 && has .workers.unbound 1 &&
        has '.devices[1].pci' 0000:43:00.0 && has '.devices[2].pci' 0000:61:00.0 &&
        has '.devices[2].pool' 48-71 && has '.devices[2].workers[0].pid' "$worker" &&
        has '.devices[3]' ''
}
check "status of a host with NPUs has its other accelerators, too" has_both_kinds
for way in "--device 0000:61:00.0" "--devices gpu0"; do
    # shellcheck disable=SC2086
    check "$way selects one" says 1 "gpu0  48-71" of_mixed $way
done

# Nobody uses npu1; the worker of gpu0 is not bound.
names_mixed() {
    says 1 "2 devices, 1 idle; 1 workers: 1 unbound" of_mixed --devices npu1,gpu0 &&
        said 'npu1  72-95 ' && said 'gpu0  48-71 '
}
check "--devices selects those of both kinds, with the pools that all have" names_mixed
for way in "--devices npu1" "-o device-type=a2"; do
    # shellcheck disable=SC2086
    check "$way alone leaves the pools as they are, too" says 0 "npu1  72-95 " of_mixed \
        $way
done
check "an option of NPUs is refused beside another device in status" says 2 "about NPUs alone" \
    of_mixed -o total=4 --devices 0000:61:00.0

watches_mixed() {
    says 124 "npu1: interrupts: interrupts -; idle" timeout 2 "$CPUBIND" status \
        --root "$mixed" --allowed 0-95 --watch 1 &&
        said "gpu0: process $worker: worker, unbound"
}
check "--watch has the NPUs and the other accelerators" watches_mixed
# The CPUs of the plan are not those of this machine.
check "apply finds a device beside NPUs by the open file" says 4 "on CPUs 48-71" \
    "$CPUBIND" apply --root "$mixed" --allowed 0-95 --pid "$worker"
check "so does verify" says 1 "0000:61:00.0" \
    "$CPUBIND" verify --root "$mixed" --allowed 0-95 --pid "$worker"
finish
