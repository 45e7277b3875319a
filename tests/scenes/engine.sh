#!/bin/sh
# engine.sh - the processes of an engine beside its workers: engine = vllm, sglang, auto
# SPDX-License-Identifier: MIT
# runs: check
# machines: yes
#
# Trees of real processes with the names that vLLM and SGLang give them, and with the threads of
# their workers:
#   vLLM    vllm/v1/engine/core.py, v1/executor/multiproc_executor.py, v1/engine/coordinator.py
#   SGLang  python/sglang/srt/managers/scheduler.py, data_parallel_controller.py,
#           detokenizer_manager.py; the process above them has no name of its own
# The kernel keeps 15 bytes of a name.
. tests/scenes/lib.sh
export list out threads
mkdir -p /run/npus
mkfifo "$out/end"
exec 9<>"$out/end"

# In a virtual machine (tests/vm) a worker is a program that drives an NPU, and has the threads of
# a runtime. Elsewhere the number of the NPU is the name of one more thread.
if [ -e /host/npus ]; then
    all=$before list=$out program=/bin/worker threads="0 0" group1="4 5"
    options="-o rules=near" tp=4
else
    use_driver_host
    group1="2 3"
    options="--root $host --allowed 0-47" tp=2
    threads="acl_thread release_thread hccl_watchdog_t RT_RECYCLE RDMAWkr0 adpt_lkdwn"
fi

# A process takes its name, starts a worker of each NPU, and waits. A shell starts no child by that.
# The uppermost one reads this with its own command line, which has the counts of the engine.
cat >"$out/named" <<'END'
echo $$ >"/run/npus/$1"
echo "$2" >/proc/self/comm
worker=$3
shift 2
[ $# -eq 0 ] || shift
for npu; do
    "$out/$worker$npu" $threads "$npu" >"$out/ready.$npu" &
    : >"$list/$!-1-dev-$npu"
    echo $! >"/run/npus/$npu"
done
read -r _ <"$out/end"
END
cat >"$out/vllm" <<END
unset LD_PRELOAD
sh "$out/named" core0 VLLM::EngineCore_DP0 VLLM::Worker_TP 0 1 &
sh "$out/named" core1 VLLM::EngineCore_DP1 VLLM::Worker_TP $group1 &
sh "$out/named" coordinator VLLM::DPCoordinator &
sh "$out/named" api VLLM::APIServer_0 &
sh "$out/named" sidecar sidecar &
set -- server vllm
. "$out/named"
END
cat >"$out/sglang" <<END
unset LD_PRELOAD
sh "$out/named" controller sglang::data_parallel_controller sglang::scheduler_TP 0 1 $group1 &
sh "$out/named" detokenizer sglang::detokenizer &
sh "$out/named" sidecar sidecar &
set -- server python3
. "$out/named"
END
for npu in 0 1 $group1; do
    ln -s "$program" "$out/VLLM::Worker_TP$npu"
    ln -s "$program" "$out/sglang::scheduler_TP$npu"
done

start_tree() { # engine, words of its command line ...
    rm -f /run/npus/* "$list"/*-dev-*
    engine=$1
    shift
    setsid sh "$out/$engine" "$@" >"$out/tree" 2>&1 &
    for name in server sidecar 0 1 $group1; do
        becomes test -s "/run/npus/$name" || return 1
    done
    for npu in 0 1 $group1; do becomes grep -q ready "$out/ready.$npu" || return 1; done
    [ ! -e /host/npus ] || npu-smi look
}

end_tree() {
    # shellcheck disable=SC2046
    kill -KILL $(cat /run/npus/*)
    rm -f /run/npus/*
}

# shellcheck disable=SC2086
apply_all() {
    "$CPUBIND" apply --all $options --memory none
}

# Each line of stdin: a process, its CPUs or those of main, acl, release and transfer.
are_in_place() {
    while read -r name main acl release transfer; do
        read -r pid <"/run/npus/$name"
        is_on "$pid" "$main" "$(cat "/proc/$pid/comm")" || return 1
        [ -z "$acl" ] || { is_on "$pid" "$acl" acl_thread && is_on "$pid" "$release" release_thread &&
            is_on "$pid" "$release" RT_RECYCLE; } || return 1
        [ -z "$transfer" ] || { is_on "$pid" "$transfer" RDMAWkr0 &&
            is_on "$pid" "$transfer" adpt_lkdwn; } || return 1
    done
}

all_are_free() {
    for at in /run/npus/*; do are_on "$all" "$(cat "$at")" || return 1; done
    no_record
}

# -- vLLM ------------------------------------------------------------------------

all_options=$options
options="$all_options -o engine=vllm -o tp=$tp -o dp=2 -o keep=0-1"

# An engine core is on the node of its devices, the rest of the engine where cores are left. In the
# machine NPU 0 is near node 1, and NPU 5 near node 0.
is_as_planned() { # CPUs of what is not of the engine
    if [ -e /host/npus ]; then
        core0=61 core1=30 server=31,62-63 first="34-37 38 39" last="11-13 14 15"
    else
        core0=34 core1=11 server=35,46-47 first="26,36-40 27 28" last="18-23 9 10"
    fi
    are_in_place <<END
core0 $core0
core1 $core1
server $server
api $server
coordinator $server
0 $first
${group1#* } $last
sidecar $1
END
}

binds_vllm() {
    start_tree vllm serve MODEL -tp "$tp" -dp 2 && says 0 "bound" apply_all && is_as_planned "$all"
}
check "apply --all puts vLLM's processes and the threads of its workers where the plan has them" \
    binds_vllm

# shellcheck disable=SC2086
says_what_is_there() {
    says 0 "right" "$CPUBIND" verify --all $options && says 0 '' "$CPUBIND" apply --all $options \
        --memory none --json && has '.others[0].state' bound && has '.others[2].part' "engine core"
}
check "verify and JSON have them as other processes" says_what_is_there

puts_all_back() {
    says 0 "put back" "$CPUBIND" restore --all && all_are_free
}
check "restore puts all back" puts_all_back

# Here and below the engine and its counts are those of the command line of the server.
options="$all_options -o engine=auto -o keep=0-1"
# shellcheck disable=SC2086
binds_a_tree() {
    "$CPUBIND" apply --tree --pid "$(cat /run/npus/server)" $options --memory none --watch 1 \
        >"$out/watched" 2>&1 &
    watcher=$!
    becomes is_as_planned 0-1
    result=$?
    kill "$watcher"
    wait "$watcher"
    return $result
}
check "apply --tree with engine = auto does so in a tree; others have the kept CPUs" binds_a_tree
end_tree

# -- SGLang ----------------------------------------------------------------------

options="$all_options -o engine=auto -o transfer=1"

# The controller is above the schedulers, and starts them; a worker is nobody's engine core.
binds_sglang() {
    if [ -e /host/npus ]; then
        server=30-31,63 first="34-36 38 39" last="10-11 13 14"
    else
        server=11,46-47 first="26,36-40 28 29 27" last="18-23 9 10 8"
    fi
    start_tree sglang --model-path MODEL --tp "$tp" --dp 2 && says 0 "bound" apply_all &&
        are_in_place <<END
server $server
controller $server
detokenizer $server
0 $first
${group1#* } $last
sidecar $all
END
}
check "apply --all with engine = auto does so with SGLang's; what moves data has its own CPU" \
    binds_sglang
check "restore puts these back" puts_all_back
end_tree
finish
