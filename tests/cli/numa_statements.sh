#!/bin/sh
# numa_statements.sh - what the unit tests of vLLM and SGLang state about --numa-bind, tried on
# cpubind run; prints TAP
# SPDX-License-Identifier: MIT
#
#   tests/cli/numa_statements.sh  from the top folder; BUILD is where the command and outputs are
#
# Each row is one of their tests, in words of this project (vLLM tests/utils_/test_numa_utils.py
# of July 2026, SGLang test/registered/utils/test_numa_utils.py of the same time):
#
#   number | statement | verdict | exit | words | host | before | arguments
#
# Verdict: "same", "better: why", or "not meant: why" without the columns after it. The command
# "before cpubind run --root HOST arguments -- worker" ends with this exit status and prints these
# words; @a and @b are two CPUs of this machine, on nodes 0 and 1 of the host. Arguments with " -- "
# have a command of their own. The hosts are variants of that of numa_host.sh.
. tests/cli/numa_host.sh

# -- Hosts -----------------------------------------------------------------------

variant() { # name; makes $host a copy of the host
    cp -r "$out/host" "$out/$1"
    host=$out/$1
}

bus=sys/bus/pci/devices
variant amd
for at in "$host/$bus"/*; do echo 0x1002 >"$at/vendor" && echo 0x74a1 >"$at/device"; done
variant none
rm -r "${host:?}/$bus"
mkdir -p "$host/$bus"
variant one_node
rm -r "$host/sys/devices/system/node/node1"
put sys/devices/system/node/node0/cpulist "$a,$b"
put sys/devices/system/node/node0/distance 10
put_gpu 0000:02:00.0 0
variant wide # one GPU; a third node with a CPU that this machine does not have
rm -r "${host:?}/$bus/0000:02:00.0"
put sys/devices/system/cpu/online "$a,$b,$((b + 1))"
put sys/devices/system/node/node2/cpulist $((b + 1))
for n in 0 1 2; do put sys/devices/system/node/node$n/distance "20 20 20"; done
put_gpu 0000:01:00.0 -1
put "$bus/0000:01:00.0/local_cpulist" "$a,$b"
variant masks
rm "$host"/sys/devices/system/node/node*/cpulist
put sys/devices/system/node/node0/cpumap "$(awk -v n="$a" 'BEGIN { printf "%x", 2 ^ n }')"
put sys/devices/system/node/node1/cpumap "$(awk -v n="$b" 'BEGIN { printf "%x", 2 ^ n }')"
variant four
put_gpu 0000:02:00.0 0
put_gpu 0000:03:00.0 1
put_gpu 0000:04:00.0 1
variant together
put_gpu 0000:02:00.0 0
host=$out/host

# -- Workers and what is before them -----------------------------------------------

script() { # name; its text is the input
    {
        echo '#!/bin/sh'
        cat
    } >"$out/$1"
    chmod +x "$out/$1"
}

# Prints its CPUs and its memory policy, those CPUs of the process that started it, and whether
# process and environment are those of with_notes.
script worker <<'SCRIPT'
mask() { sed -n 's/^Cpus_allowed_list:[^0-9]*//p' "/proc/$1/status"; }
policy=$(sed -n '1s/^[^ ]* \([^ ]*\).*/\1/p' /proc/self/numa_maps 2>/dev/null)
echo "cpus $(mask self) policy ${policy:-unknown} parent $(mask $PPID)"
[ "$NOTED" = $$ ] && echo "the same process"
[ -n "$NOTED" ] && env | grep -v '^_=' | sort | diff "$NOTES" - && echo "the same environment"
exit 0
SCRIPT
script with_notes <<'SCRIPT'
export NOTED=$$ NOTES="${0%/*}/notes"
env | grep -v '^_=' | sort >"$NOTES"
exec "$@"
SCRIPT
script without_path <<'SCRIPT'
PATH=/var/empty exec "$@"
SCRIPT
script verify_me <<SCRIPT
exec "$CPUBIND" verify --pid \$\$
SCRIPT
sed -i "2i PATH=$PATH" "$out/worker"

# -- The rows ----------------------------------------------------------------------

own=$(sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status)
both=$a,$b
[ $((a + 1)) -eq "$b" ] && both=$a-$b

fill() { # text with @words
    echo "$1" | sed "s/@ab/$both/g;s/@a/$a/g;s/@b/$b/g;s/@own/$own/g
        s|@deny|$out/deny|g;s|@with_notes|$out/with_notes|g;s|@without_path|$out/without_path|g
        s|@verify_me|$out/verify_me|g;s|@/|$out/|g"
}

try() { # exit status, words, host, before, arguments
    case $5 in
    *" -- "*) command=$5 ;;
    *) command="$5 -- $out/worker" ;;
    esac
    # The arguments are split on purpose.
    # shellcheck disable=SC2086,SC2046
    says "$1" "$(fill "$2")" $(fill "$4") "$CPUBIND" run --root "$out/$3" $(fill "$command")
}

can_deny=1
"$out/deny" set_mempolicy true 2>/dev/null || can_deny=0
has_policies=0
[ -r /proc/self/numa_maps ] && has_policies=1

n_row=0
while IFS='|' read -r number statement verdict code words on before arguments; do
    case $number in '' | '#'*) continue ;; esac
    n_row=$((n_row + 1))
    text="$number: $statement ($verdict)"
    case $verdict in
    "not meant: "?*) [ -z "$code" ] && pass "$text" && continue ;;
    same | "better: "?*) ;;
    *) code= ;;
    esac
    if [ -z "$code" ]; then
        echo "this row is not of a known form" >"$out/output"
        fail "$text" "$out/output"
    elif [ $can_deny = 0 ] && [ "$before" != "${before#@deny}" ]; then
        skip "$text" "no filter of system calls can be set"
    elif [ $has_policies = 0 ] && [ "$words" != "${words%policy*}" ]; then
        skip "$text" "this kernel has no memory policies"
    else
        check "$text" try "$code" "$words" "${on:-host}" "$before" "$arguments"
    fi
done <<'ROWS'
# vLLM
v1|the rank's entry of the node list gives CPUs and memory|same|0|cpus @a policy bind:0|||--numa-bind --numa-bind-nodes 1 0 --index 1
v2|the rank's entry of the CPU list replaces the node's CPUs, the node keeps the memory|same|0|cpus @b policy bind:0|||--numa-bind --numa-bind-nodes 1 0 --numa-bind-cpus @a @b --index 1
v3|on some Xeons the cores that clock highest are taken|not meant: where a core is, not how fast it clocks, is what a plan is made of; --numa-bind-cpus names any cores
v4|those of the 6776P are the first two of each 16|not meant: as v3
v5|those of the 6774P too|not meant: as v3
v6|those of the 6962P are the first two of each 18|not meant: as v3
v7|a Xeon with the clock of another model: the whole node|same|0|cpus @a policy bind:0|||--numa-bind --numa-bind-nodes 0 1 --index 0
v8|another processor: the whole node|same|0|cpus @a policy bind:0|amd||--numa-bind --numa-bind-nodes 0 1 --index 0
v9|the clock is not that of the feature: the whole node|same|0|cpus @a policy bind:0|||--numa-bind --index 0
v10|the kernel does not tell the clock: the whole node|same|0|cpus @a policy bind:0|||--numa-bind --numa-bind-nodes 0 1 --index 0
v11|a node without such a core: the whole node|same|0|cpus @b policy|||--numa-bind --numa-bind-nodes 0 1 --index 1
v12|the kernel has no list of the node's CPUs: no such cores are taken|better: the node's mask is read in its place|0|cpus @b policy|masks||--numa-bind --numa-bind-nodes 0 1 --index 1
v13|the cores that clock highest are in the worker's arguments|not meant: as v3
v14|the engine of workers on one node is bound to that node|same|0|cpus @a policy bind:0|||--numa-bind --numa-bind-nodes 0 1 --index 0
v15|the engine of workers on two nodes is bound to both|same|0|cpus @ab policy bind:0|||--numa-bind --numa-bind-cpus @a,@b --index 0
v16|the engine has the fast cores of both nodes|not meant: as v3
v17|the engine of one group of workers is bound to the nodes of that group alone|same|0|cpus @b policy|||--numa-bind --numa-bind-nodes 0 0 1 1 --index 2
v18|with a launcher from outside the engine is bound to all nodes of the list|same|0|cpus @ab policy bind:0|||--numa-bind --numa-bind-cpus @a,@b --auto --index 0
v19|with groups over several hosts, too|same|0|cpus @ab policy bind:0|||--numa-bind --numa-bind-cpus @a,@b @a,@b --index 1
v20|the CPU lists of the workers do not narrow the engine|same|0|parent @own|||--numa-bind --numa-bind-nodes 0 1 --numa-bind-cpus @a @b --index 1
v21|CPUs that the user lists win over those that are found|same|0|cpus @b policy|||--numa-bind --numa-bind-cpus @b @a --index 0
v22|a worker's place in the lists counts the workers of the groups before its own|same|0|cpus @b policy|||--numa-bind --numa-bind-nodes 0 0 1 1 --index 3
v23|without lists and without known nodes the start fails|same|125|could not detect the GPU-to-NUMA topology automatically|none||--numa-bind --index 0
v24|a process is a worker or the engine, any other kind is an error|not meant: any command can be started
v25|what is bound is logged by the output of numactl --show|better: verify compares it with the record, at any time|0|as it should be|||--numa-bind --index 0 -- @verify_me
v26|the worker is started by a script that executes numactl|better: the process becomes the worker, without a script|0|the same process||@with_notes|--numa-bind --index 0
v27|the variables for that script are put back as they were|better: no variable is set at all|0|the same environment||@with_notes|--numa-bind --index 0
v28|and taken away where there were none|better: no variable is set at all|0|the same environment||@with_notes|--numa-bind --numa-bind-nodes 0 1 --index 0
v29|a negative node is an error|same|125|numa_bind_nodes must contain non-negative integers|||--numa-bind --index 0 --numa-bind-nodes=-1
v30|an empty CPU list is an error|same|125|numa_bind_cpus entries must not be empty|||--numa-bind --index 0 --numa-bind-cpus=
v31|a CPU list "abc" is an error|same|125|numa_bind_cpus entries must use numactl CPU list syntax|||--numa-bind --index 0 --numa-bind-cpus abc
v32|"1-" is an error|same|125|numa_bind_cpus entries must use numactl CPU list syntax|||--numa-bind --index 0 --numa-bind-cpus 1-
v33|"4-1" is an error|same|125|numa_bind_cpus ranges must be ascending|||--numa-bind --index 0 --numa-bind-cpus 4-1
v34|"1,,2" is an error|same|125|numa_bind_cpus entries must use numactl CPU list syntax|||--numa-bind --index 0 --numa-bind-cpus 1,,2
v35|"1:2" is an error|same|125|numa_bind_cpus entries must use numactl CPU list syntax|||--numa-bind --index 0 --numa-bind-cpus 1:2
v36a|what the kernel takes is used as it is|same|0|cpus @a policy bind:0|||--numa-bind --numa-bind-nodes 0 --index 0
v36b|memory is refused: the CPUs of the node alone|better: the node is preferred before that|0|cpus @a policy prefer:0||@deny bind_policy|--numa-bind --numa-bind-nodes 0 --index 0
v36c|memory is refused: the CPUs of the list alone|same|0|cpus @b policy default||@deny set_mempolicy|--numa-bind --numa-bind-nodes 0 --numa-bind-cpus @b --index 0
v36d|all is refused: the worker starts unbound|better: on request, since nobody sees an unbound worker|0|the command is started without being bound||@deny sched_setaffinity|--numa-bind --numa-bind-nodes 0 --index 0 --or-unbound
v37|no numactl on the host: a warning, no binding|better: none is needed|0|cpus @a policy bind:0||@without_path|--numa-bind --numa-bind-nodes 0 --index 0
# SGLang
s1|GPUs of another vendor than NVIDIA: no binding|better: the devices of all vendors are known by the PCI bus|0|cpus @b policy|amd||--numa-bind --index 1
s2|a host with one node: no binding|better: its devices share the node|0|cpus @b policy bind:0|one_node||--numa-bind --index 1
s3|a host with several nodes: binding|same|0|cpus @a policy bind:0|||--numa-bind --index 0
s4|memory policies are refused: no binding at all|better: the CPUs are bound|0|cpus @a policy default||@deny set_mempolicy|--numa-bind --index 0
s5|whether there are several nodes is asked by the folder node1|not meant: all nodes are listed
s6|a device near node 0|same|0|cpus @a policy bind:0|||--numa-bind --index 0
s7|a device near node 1|same|0|cpus @b policy|||--numa-bind --index 1
s8|a device near two nodes has both|same|0|cpus @ab policy|wide||--numa-bind --index 0 --strict
s9|a device that is near no node has none|same|0|Could not detect NUMA node for GPU 1|placeless||--numa-bind --index 1
s10|the library of the vendor is closed after the question|not meant: it is not opened
s11|each rank has its entry of the list of nodes|same|0|cpus @b policy|||--numa-bind --numa-bind-nodes 0 1 1 0 --index 2
s12|no nodes, no list: the rank starts unbound|same|0|cpus @own policy default|placeless||--numa-bind --index 1
s13|the node of the device is not known: the rank starts unbound|same|0|the command is started without being bound|placeless||--numa-bind --index 1
s14|one node is known: that one|same|0|cpus @b policy|placeless||--numa-bind --numa-bind-nodes 0 1 --index 1
s15|several nodes are known: the first|better: the CPUs of all of them|0|cpus @ab policy|wide||--numa-bind --index 0
s16|several nodes are known: a warning|better: none is left out|0|cpus @ab policy|wide||--numa-bind --index 0
s17|the list wins over the node of the device|same|0|cpus @b policy|||--numa-bind --numa-bind-nodes 1 0 --index 0
s18|four devices on two nodes of a Grace host: 0, 0, 1, 1|same|0|cpus @b policy|four||--numa-bind --index 3
s19|four devices on one node|same|0|cpus @b policy bind:0|one_node||--numa-bind --index 1
s20|without libnuma no CPUs are known|better: it is not needed|0|cpus @a policy bind:0||@without_path|--numa-bind --index 0
s21|a process that may use all CPUs: the whole node|same|0|cpus @a policy bind:0|together||--numa-bind --numa-bind-nodes 0 --index 0
s22|a process that may use some: those of the node among them|same|0|cpus @a policy bind:0||taskset -c @a|--numa-bind --index 0
s23|the node has none of them: the worker starts unbound|same|0|skipping NUMA binding for GPU 0||taskset -c @b|--numa-bind --index 0
s24|the same as an error on request|same|125|has no CPU cores allowed by the current affinity||taskset -c @b|--numa-bind --index 0 --strict
s25|in the process itself: the CPUs in common, memory preferred|same|0|cpus @a policy prefer:0||taskset -c @a|--numa-bind --index 0 --memory prefer
s26|and nothing is set where there is none in common|same|0|cpus @b policy default||taskset -c @b|--numa-bind --index 0
s27|a failure is an error on request|same|125|skipping NUMA binding for GPU 1|||--numa-bind --index 1 --allowed @a --strict
s28|else a warning|same|0|skipping NUMA binding for GPU 1|||--numa-bind --index 1 --allowed @a
s29|memory is bound where the kernel does not refuse|same|0|cpus @a policy bind:0|||--numa-bind --numa-bind-nodes 0 --index 0 --strict
s30|bind is refused: preferred, with a warning|same|0|falling back to soft preferred policy||@deny bind_policy|--numa-bind --index 0
s31|both are refused: CPUs alone, with a warning|same|0|falling back to CPU-only binding||@deny bind_policy,preferred_policy|--numa-bind --index 0
s32|all is refused: no binding, and the reason|same|0|a filter of system calls (seccomp) forbids sched_setaffinity||@deny set_mempolicy,sched_setaffinity|--numa-bind --index 0 --or-unbound
s33|CPUs alone are asked for and refused: the same|same|0|the command is started without being bound||@deny sched_setaffinity|--numa-bind --index 0 --memory none --or-unbound
s34|no numactl: no binding|better: none is needed|0|cpus @a policy bind:0||@without_path|--numa-bind --index 0
s35|the warning has the reason of the kernel|same|0|(set_mempolicy: Operation not permitted)||@deny bind_policy|--numa-bind --index 0
s36|CPUs stay when memory is left out|same|0|cpus @a policy default|||--numa-bind --index 0 --memory none
s37|without memory there is nothing to leave out|same|0|cpus @a policy default||@deny set_mempolicy|--numa-bind --index 0 --memory none
s38|the worker starts unbound after a refusal, with the reason|better: on request, since nobody sees an unbound worker|0|a filter of system calls (seccomp) forbids sched_setaffinity||@deny sched_setaffinity|--numa-bind --index 0 --or-unbound
s39|on request the refusal is an error, before the worker starts|same|125|a filter of system calls (seccomp) forbids sched_setaffinity||@deny sched_setaffinity|--numa-bind --index 0
# SGLang until May 2026
s40|a process with a narrow mask: no binding|better: the CPUs in common|0|cpus @a policy bind:0||taskset -c @a|--numa-bind --index 0
ROWS
check "there are $n_row rows" test "$n_row" -eq 80
finish
