#!/bin/sh
# engine.sh - the processes of an engine beside its workers: engine = vllm
# SPDX-License-Identifier: MIT
# runs: check
#
# A server of sh starts two engine cores, each with two workers, and an API server, by the names
# that vLLM gives them. The plan of two devices an engine core has core 10 and 11 for the devices
# 2 and 3, core 34 and 35 for 0 and 1.
. tests/scenes/lib.sh
use_driver_host
export list out program
options="--root $host --allowed 0-47 -o engine=vllm -o tp=2"

# A process takes its name, and waits. A shell starts no child by that.
cat >"$out/named" <<'END'
unset LD_PRELOAD
printf %s "$1" >/proc/self/comm
echo $$ >"$out/$2.pid"
name=$2
shift 2
for npu; do
    "$program" >"$out/null" &
    : >"$list/$!-1-dev-$npu"
    echo $! >"$out/w$npu.pid"
done
read -r _ <"$out/end"
END
cat >"$out/server" <<'END'
unset LD_PRELOAD
echo $$ >"$out/server.pid"
sh "$out/named" VLLM::EngineCor core0 0 1 &
sh "$out/named" VLLM::EngineCor core1 2 3 &
sh "$out/named" VLLM::APIServer api &
sh "$out/named" sidecar sidecar &
read -r _ <"$out/end"
END
mkfifo "$out/end"
exec 9<>"$out/end"

start_server() {
    rm -f "$out"/*.pid "${list:?}"/*
    setsid sh "$out/server" vllm serve m -tp "${tp:-2}" >"$out/server.out" 2>&1 &
    for name in server core0 core1 api sidecar w0 w1 w2 w3; do
        becomes test -s "$out/$name.pid" || return 1
    done
}

name_is_on() { # NAME, CPUs
    name_pid=$(cat "$out/$1.pid") && [ "$(cpus_of "$name_pid")" = "$2" ] && return 0
    echo "$1, process $name_pid, is on $(cpus_of "$name_pid"), not on $2"
    return 1
}

is_in_place() {
    name_is_on core0 34 && name_is_on core1 10 && name_is_on w0 26,36-41 &&
        name_is_on w3 7,18-23
}

# shellcheck disable=SC2086
binds_by_name() {
    start_server && says 0 "bound" "$CPUBIND" apply --all $options --memory none &&
        is_in_place && name_is_on server 35 && name_is_on api 35 && name_is_on sidecar "$all"
}
check "apply --all puts engine cores and servers on their cores, and nothing else" binds_by_name

# shellcheck disable=SC2086
says_what_is_there() {
    says 0 "right" "$CPUBIND" verify --all $options && says 0 '' "$CPUBIND" apply --all \
        $options --memory none --json && has '.others[0].state' bound &&
        has '.others[2].part' "engine core" || return 1
}
check "verify and JSON have them as other processes" says_what_is_there

puts_all_back() {
    says 0 "put back" "$CPUBIND" restore --all && name_is_on core0 "$all" &&
        name_is_on api "$all" && name_is_on w0 "$all"
}
check "restore puts them back" puts_all_back

finds_the_engine() {
    auto="--root $host --allowed 0-47 -o engine=auto"
    # shellcheck disable=SC2086
    says 0 "bound" "$CPUBIND" apply --all $auto --memory none && is_in_place &&
        says 0 "right" "$CPUBIND" verify --all $auto && says 0 '' "$CPUBIND" restore --all
}
check "engine = auto takes it and its counts from the command line of the server" finds_the_engine

# shellcheck disable=SC2086
binds_a_tree() {
    "$CPUBIND" apply --tree --pid "$(cat "$out/server.pid")" $options --keep 0-1 --watch 1 \
        >"$out/watched" 2>&1 &
    watcher=$!
    becomes name_is_on api 35 && becomes name_is_on sidecar 0-1 && name_is_on core0 34 &&
        name_is_on core1 10
    result=$?
    cat "$out/watched"
    kill "$watcher"
    wait "$watcher"
    return $result
}
check "apply --tree does so in a tree; others have the kept CPUs" binds_a_tree

# shellcheck disable=SC2086
refuses_other_rules() {
    says 2 "an engine has cores in plans by the rules near" "$CPUBIND" plan $options \
        --rules reference
}
check "plans by the reference have no cores for an engine" refuses_other_rules
finish
