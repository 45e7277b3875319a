#!/bin/sh
# all.sh - apply, verify and restore with --all bind the workers of the NPUs of a host
# SPDX-License-Identifier: MIT
# runs: check
. tests/scenes/lib.sh
use_driver_host

options="--all --root $host --allowed 0-47 -o rules=reference"

# shellcheck disable=SC2086
apply_all() { # argument ...
    "$CPUBIND" apply $options "$@"
}

# shellcheck disable=SC2086
verify_all() { # argument ...
    "$CPUBIND" verify $options "$@"
}

first_is_on() { # pid, CPUs of its first thread
    [ "$(cpus_of "$1")" = "$2" ] && return 0
    echo "process $1 is on $(cpus_of "$1"), not on $2"
    return 1
}

check "without workers nothing is bound" says 0 "no process uses a device" apply_all

binds_each_to_its_pool() {
    start_on_npu 0 && first=$worker && start_on_npu 3 && second=$worker && start_on_npu 3 &&
        third=$worker && says 0 bound apply_all && first_is_on "$first" 26-33 &&
        first_is_on "$second" 14-16 && first_is_on "$third" 19-21 &&
        [ "$(head -1 "$out/said" | awk '{ print $1, $NF }')" = "device state" ] &&
        [ "$(awk 'length > 80' "$out/said")" = "" ]
}
check "apply --all binds each worker to the pool of its NPU, or to its part" \
    binds_each_to_its_pool

finds_what_has_drifted() {
    says 0 right verify_all && move_to 0-47 "$second" && says 1 drifted verify_all &&
        first_is_on "$second" 0-47 && said "cpubind apply --all" && says 0 bound apply_all &&
        first_is_on "$second" 14-16
}
check "verify --all finds the process that has drifted" finds_what_has_drifted

has_rows_of_json() {
    says 0 '' apply_all --json && [ ! -s "$out/err" ] && fits host_report &&
        has '.workers[0].device' npu0 && has '.workers[0].pid' "$first" &&
        has '.workers[1].process' 0 && has '.workers[1].processes' 2 &&
        has '.workers[2].state' bound && has '.workers[2].error' "" &&
        has '.workers[2].outcome.items[0].result' right && has .others "[]" &&
        says 0 '' verify_all --json && fits host_report
}
check "apply --all --json has a row for each process" has_rows_of_json

puts_all_back() {
    says 0 "put back" "$CPUBIND" restore --all && first_is_on "$first" "$all" &&
        first_is_on "$second" "$all" && says 1 unbound verify_all &&
        says 0 "nothing is on record" "$CPUBIND" restore --all && apply_all &&
        says 0 '' "$CPUBIND" restore --all --json && fits report
}
check "restore --all puts all back" puts_all_back

# A process that this plan is for is bound by its rules from now on; another one is not, and is said.
names_other_rules() {
    start_sleeper && for bound in "$first" "$sleeper"; do
        says 0 "" "$CPUBIND" apply --pid "$bound" --root "$host" --device npu0 --rules near \
            --allowed 0-47 -o any-arch=yes || return 1
    done
    says 0 bound apply_all &&
        said "the rules of this plan are reference, and those of process $sleeper, one of 1 with"
    result=$?
    end_worker "$sleeper"
    return $result
}
check "a process bound by other rules is named" names_other_rules

names_the_form_of_a_record() {
    record=/run/cpubind/$first.record
    cp "$record" "$out/record" && echo "cpubind-record 8 9.9.9" >"$record" &&
        says 3 "the record of process $first has form 8, which cpubind 9.9.9 wrote" apply_all
    result=$?
    cp "$out/record" "$record" && says 0 "put back" "$CPUBIND" restore --all && return $result
}
check "a record of a later form is named" names_the_form_of_a_record

# A background command of a script ignores SIGINT.
# shellcheck disable=SC2086
watches_all() {
    "$CPUBIND" apply $options --watch 1 >"$out/watched" 2>&1 &
    watcher=$!
    becomes first_is_on "$first" 26-33 && start_on_npu 1 && fourth=$worker &&
        becomes first_is_on "$fourth" 38-45 && says 1 "another cpubind is at work" apply_all &&
        end_on_npu "$third" && becomes first_is_on "$second" 14-21 &&
        becomes grep -q "process $third (worker), npu3: ended" "$out/watched"
    result=$?
    kill "$watcher"
    wait "$watcher"
    cat "$out/watched"
    [ $result = 0 ] && first_is_on "$first" 26-33 &&
        grep -q "the watch has ended; all processes stay bound" "$out/watched"
}
check "a watch finds new workers, and a signal ends it" watches_all

# shellcheck disable=SC2086
restore_ends_the_watch() {
    : >"$out/watched"
    "$CPUBIND" apply $options --watch 1 --json >"$out/watched" 2>&1 &
    watcher=$!
    becomes test -s "$out/watched" && says 0 "put back" "$CPUBIND" restore --all &&
        first_is_on "$first" "$all" && first_is_on "$fourth" "$all" || return 1
    wait "$watcher"
    [ $? -eq 143 ] # SIGTERM
}
check "restore --all ends a watch of all workers" restore_ends_the_watch

# A session of its own, which the shell of this script is not in.
keeps_others() {
    # shellcheck disable=SC2016
    setsid sh -c '"$0" >"$1/w" & echo $! >"$1/worker"; "$0" >"$1/e" & echo $! >"$1/engine"; wait' \
        "$program" "$out" &
    becomes grep -q ready "$out/w" "$out/e" && beside=$(cat "$out/worker") &&
        engine=$(cat "$out/engine") && : >"$list/$beside-1-dev-2" || return 1
    apply_all -o others=keep --keep 0-1
    first_is_on "$engine" 0-1 && says 0 "put back" "$CPUBIND" restore --all &&
        first_is_on "$engine" "$all"
    result=$?
    rm "$list/$beside-"*
    kill "$beside" "$engine"
    return $result
}
check "-o others=keep puts the engine's other processes on the kept CPUs" keeps_others

# -- NPUs and a GPU --------------------------------------------------------------

# A GPU beside the NPUs, whose files have the numbers of /dev/full and /dev/urandom. Only
# processes of this script are bound: those of its tree.
host=$out/mixed
"$CPUBIND" fixture export a2-driver-host "$host" --quiet
list=$host/proc/trs_core/proc
rm -rf "${list:?}"/*
put_gpu 0000:81:00.0 1
gpu=sys/bus/pci/devices/0000:81:00.0
put $gpu/vendor 0x1002
put $gpu/device 0x74a1
put $gpu/class 0x120000
put $gpu/local_cpulist 12-23
put $gpu/drm/renderD128/dev 1:7
put sys/class/kfd/kfd/dev 1:9
put dev/dri/renderD128 1:7
mixed="--root $host --allowed 0-47"

# A process is where plan says that it belongs.
# shellcheck disable=SC2086
is_planned() { # process, device, CPUs, option of plan ...
    planned=$1 device=$2 cpus=$3
    shift 3
    first_is_on "$planned" "$cpus" &&
        "$CPUBIND" plan $mixed "$@" 2>"$out/err" | grep -qE " $device .* $cpus +"
}

# shellcheck disable=SC2086
apply_mixed() { # argument ...
    "$CPUBIND" apply --tree --pid $$ $mixed "$@"
}

binds_both() {
    start_on_npu 0 && of_npu=$worker && start_worker 3</dev/full 4</dev/urandom &&
        of_gpu=$worker && says 0 "npu0" apply_mixed && is_planned "$of_gpu" gpu0 12-23 &&
        is_planned "$of_npu" npu0 26-27,42-44 && ! grep -q "other accelerators" "$out/err" &&
        [ "$(awk -v p="$of_gpu" '$2 == p { print $1, $NF }' "$out/said")" = "0000:81:00.0 bound" ]
}
check "the workers of NPUs and of a GPU are bound at once, to CPUs of their own" binds_both

# shellcheck disable=SC2086
verifies_both() {
    says 0 0000:81:00.0 "$CPUBIND" verify --all $mixed &&
        says 0 '' "$CPUBIND" verify --all $mixed --json && fits host_report &&
        has '.workers[0].device' npu0 && has '.workers[0].pid' "$of_npu" &&
        has '.workers[1].pci' 0000:81:00.0 &&
        has '.workers[1].product' "Instinct MI300X" && move_to "$all" "$of_gpu" &&
        says 1 "process $of_gpu, 0000:81:00.0: it is not where it belongs" \
            "$CPUBIND" verify --all $mixed
}
check "verify --all has both" verifies_both

# No device has the excluded CPUs.
parts_them() {
    says 0 bound apply_mixed --exclude 12-17 &&
        is_planned "$of_gpu" gpu0 18-23,41-43 --exclude 12-17 &&
        says 0 bound apply_mixed -o device-type=a2 && ! said 0000:81 &&
        says 0 "put back" "$CPUBIND" restore --all && first_is_on "$of_gpu" "$all" &&
        first_is_on "$of_npu" "$all"
}
check "--exclude is for both, an option of NPUs is about these alone, restore has both" \
    parts_them
finish
