#!/bin/sh
# device_all.sh - apply, verify and restore with --all, and --tree, on accelerators
# SPDX-License-Identifier: MIT
# runs: check
. tests/scenes/lib.sh
use_gpus

# -- All processes ---------------------------------------------------------------

all_do() { # command, argument ...
    do_command=$1
    shift
    "$CPUBIND" "$do_command" --all --root "$host" "$@"
}

check "apply --all without a process" says 0 "no process uses a device: it would have a file" \
    all_do apply
check "apply --all names no device" says 2 "leave out --pid, --device" all_do apply \
    --device 0000:01:00.0

# Two processes, each with the file of a GPU of its own open.
start_two() {
    start_on 5 && first=$worker && start_on 7 && second=$worker
}

two_are_on() { # CPUs of the first, CPUs of the second
    is_on "$first" "$1" && is_on "$second" "$2"
}

puts_two_back() {
    says 0 "put back" "$CPUBIND" restore --all && two_are_on "$before" "$before"
}

binds_two() {
    start_two && says 1 "process $second, gpu1: nothing is on record of it" all_do verify &&
        says 0 "gpu1" all_do apply && two_are_on "$a" "$b" && says 0 "right" all_do verify &&
        says 0 "" all_do verify --json && fits host_report &&
        has '.workers[0].pci' 0000:01:00.0 &&
        has '.workers[0].pid' "$first" && has '.workers[0].devices' 1 &&
        has '.workers[1].state' right && has '.workers[1].outcome.pci' 0000:02:00.0
}
check "apply --all binds each process to its device" binds_two

finds_drift_of_two() {
    move_to "$a" "$second" &&
        says 1 "process $second, gpu1: it is not where it belongs" all_do verify &&
        says 0 "1 " all_do apply && two_are_on "$a" "$b"
}
check "verify --all finds a drift, and apply --all ends it" finds_drift_of_two
check "restore --all restores all" puts_two_back

shares_all() {
    set -- all_do apply -o share=yes -o reach=host
    says 0 "gpu1" "$@" && two_are_on "$before" "$before" && move_to "$a" "$second" &&
        says 1 "process $second, gpu1: it is not where it belongs" all_do verify &&
        says 0 "1 " "$@" && two_are_on "$before" "$before" && says 0 "right" all_do verify
}
check "pools that are shared are of both" shares_all
"$CPUBIND" restore --all --quiet

check "--allowed is what all of them may have" says 1 "none of the CPUs near it is allowed" \
    all_do apply --rules reference --allowed "$a"
"$CPUBIND" restore --all --quiet

# A process of both devices: it has the files of both open, and of the driver those given here.
# nvidia-smi -l has the files of all devices open, and does not compute.
has_both_devices() { # file of the driver
    start_worker 3</dev/nvidia5 4</dev/nvidia7 5<"$1" && third=$worker
}

joins_pools() {
    has_both_devices /dev/nvidia-uvm && says 0 '"devices": 2' all_do apply --json &&
        two_are_on "$a" "$b" && is_on "$third" "$before" && says 0 "" all_do verify --json &&
        fits host_report && has '.workers[1].pid' "$third" && has '.workers[1].devices' 2 &&
        has '.workers[1].pci' '' && has '.workers[1].state' right &&
        says 0 "2 devices" all_do verify
    result=$?
    end_worker "$third"
    return "$result"
}
check "a process of several devices has their pools, and takes no part" joins_pools
"$CPUBIND" restore --all --quiet

leaves_monitors() {
    has_both_devices /dev/null && says 0 "" all_do apply --json &&
        has '.workers[0].processes' 1 && has '.workers[1].processes' 1 &&
        has '.workers[2].pid' '' && two_are_on "$a" "$b" && is_on "$third" "$before" &&
        says 0 "2 devices, 0 idle; 2 workers: 2 right" "$CPUBIND" status --root "$host" \
            --memory none
    result=$?
    end_worker "$third"
    return "$result"
}
check "a monitor, which opens all devices and does not compute, takes no part" leaves_monitors
"$CPUBIND" restore --all --quiet
end_worker "$first" "$second"

watches_for_new_ones() {
    start_on 5 && first=$worker
    "$CPUBIND" apply --all --root "$host" --watch 1 >"$out/watch" 2>&1 &
    watcher=$!
    becomes is_on "$first" "$a" && start_on 7 && second=$worker &&
        becomes two_are_on "$a" "$b" &&
        becomes grep -q "process $second (worker), gpu1: \|process $second, thread" "$out/watch"
    result=$?
    kill "$watcher"
    wait "$watcher"
    cat "$out/watch"
    return "$result"
}
check "--watch finds a new process" watches_for_new_ones
"$CPUBIND" restore --all --quiet
end_worker "$first" "$second"

# Two processes of one device have parts of its pool.
one=$out/one
cp -r "$host" "$one"
rm -r "$one/sys/bus/pci/devices/0000:02:00.0"
put_one_node "$one"
start_on 5 && first=$worker && start_on 5 && second=$worker
shares_a_pool() {
    says 0 "" "$CPUBIND" apply --all --root "$one" --json && has '.workers[1].processes' 2 &&
        has '.workers[1].process' 1 && two_are_on "$a" "$b"
}
check "processes of one device share its pool" shares_a_pool

lacks_cpus() {
    set -- "$CPUBIND" apply --all --root "$one" -o roles=1,1,0,0
    says 0 "gpu0: its 2 processes share the CPUs $b of its pool, which cannot be cut" "$@" &&
        two_are_on "$b" "$b" && says 0 "" "$@" --json && fits host_report &&
        has '.workers[1].shared' 1 && has '.workers[1].processes' 2
}
check "a pool that is too small for them is shared, and that is said" lacks_cpus
"$CPUBIND" restore --all --quiet
end_worker "$first" "$second"

# -- A tree, and the CPUs that are kept ------------------------------------------

# A server with a worker that has the file of the second GPU open, and a process without a
# device.
cat >"$out/server" <<'END'
sleep 600 3</dev/nvidia7 5</dev/nvidia-uvm &
worker=$!
sleep 600 &
trap 'kill "$worker" "$plain"; exit 7' TERM
plain=$!
echo "$worker $plain" >"$out/new" && mv "$out/new" "$out/started"
wait
END
export out

# The worker is on its CPU, the other processes of the tree on the kept one.
# shellcheck disable=SC2046
tree_is_bound() {
    set -- $(cat "$out/started")
    worker=$1
    [ -n "$worker" ] && is_on "$1" "$b" && is_on "$2" "$a" && is_on "$server" "$a"
}

ends_server() {
    kill "$server"
    wait "$server" 2>/dev/null
    [ $? -eq 7 ] && "$CPUBIND" restore --all --quiet
}

applies_to_a_tree() {
    rm -f "$out/started"
    start_on 5 && stranger=$worker
    sh "$out/server" &
    server=$!
    becomes test -s "$out/started" && says 0 "gpu1" "$CPUBIND" apply --tree --pid "$server" \
        --root "$host" --keep "$a-$a" && becomes tree_is_bound && is_on "$stranger" "$before" &&
        "$CPUBIND" restore --all && is_on "$worker" "$before"
    result=$?
    end_worker "$stranger"
    ends_server && return "$result"
}
check "apply --tree binds the processes of devices, and the others to the kept CPUs" \
    applies_to_a_tree

# It is bound before that is said.
runs_a_tree() {
    rm -f "$out/started"
    "$CPUBIND" run --tree --root "$host" --keep "$a-$a" -- sh "$out/server" 2>"$out/tree.err" &
    server=$!
    becomes tree_is_bound && becomes grep -q "), gpu1: 1 threads moved" "$out/tree.err"
    result=$?
    ends_server && return "$result"
}
check "run --tree does, and ends with the status of the server" runs_a_tree

# The same processes, by --all: the server and the process without a device are of its group.
keeps_the_group() {
    rm -f "$out/started"
    setsid sh "$out/server" &
    server=$!
    becomes test -s "$out/started" &&
        says 0 "gpu1" all_do apply --keep "$a-$a" -o others=keep && becomes tree_is_bound &&
        "$CPUBIND" restore --all && is_on "$worker" "$before"
    result=$?
    ends_server && return "$result"
}
check "-o others=keep moves the processes beside a worker" keeps_the_group

# A launcher whose workers have no file of a device open yet.
#   ranks   as torchrun: a local rank each; one has ended, and one has a child
#   own     as Ray and SGLang: a variable of its own each
#   all     what the launcher has, they have
cat >"$out/launcher" <<'END'
trap 'kill "$first" "$second" "$(cat "$out/grandchild")"; exit 7' TERM
sleep 600 &
echo $! >"$out/grandchild"
case $1 in
ranks)
    LOCAL_RANK=0 sleep 0.1
    LOCAL_RANK=0 sleep 600 &
    first=$!
    kill "$(cat "$out/grandchild")"
    LOCAL_RANK=1 sh -c 'sleep 600 & echo $! >"$out/grandchild"; exec sleep 600' &
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
workers_are_on() { # CPUs of the first, CPUs of the second
    set -- "$1" "$2" $(cat "$out/workers")
    is_on "$3" "$1" && is_on "$4" "$2" && is_on "$(cat "$out/grandchild")" "$before"
}

names_devices() { # kind, value of CUDA_VISIBLE_DEVICES, CPUs of the first and of the second \
    worker
    rm -f "$out/workers"
    env ${2:+CUDA_VISIBLE_DEVICES="$2"} "$CPUBIND" run --tree --root "$host" -- \
        sh "$out/launcher" "$1" 2>"$out/tree.err" &
    server=$!
    becomes test -s "$out/workers" && becomes workers_are_on "$3" "$4" && sleep 0.5 &&
        workers_are_on "$3" "$4"
    result=$?
    cat "$out/tree.err"
    ends_server && return "$result"
}
check "a local rank of its own names the device of a worker before it opens it" \
    names_devices ranks "" "$a" "$b"
check "so does a local rank among the visible devices" names_devices ranks 1,0 "$b" "$a"
check "a variable of its own does" names_devices own "" "$a" "$b"
check "a variable that all have from their launcher names none" \
    names_devices all 0,1 "$before" "$before"
check "nor does one of a single device" names_devices all 1 "$before" "$before"

# The launcher is no child of cpubind here, and its variable is its own.
leaves_launchers() { # value of CUDA_VISIBLE_DEVICES, CPUs of the first and of the second worker
    rm -f "$out/workers"
    CUDA_VISIBLE_DEVICES=$1 sh "$out/launcher" ranks &
    server=$!
    becomes test -s "$out/workers" &&
        says 0 "" "$CPUBIND" apply --tree --pid "$server" --root "$host" &&
        is_on "$server" "$before" && workers_are_on "$2" "$3"
    result=$?
    ends_server && return "$result"
}
check "a launcher with a variable of all devices is no worker" leaves_launchers 0,1 "$a" "$b"
check "nor is one with that of the device of its workers" leaves_launchers 0 "$a" "$a"
finish
