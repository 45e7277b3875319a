#!/bin/sh
# seeds.sh - make the seeds that come from fixtures/hosts; the others are written by hand
#
#   fuzz/seeds.sh               from the top folder: all hosts into fuzz/corpus
#   fuzz/seeds.sh FOLDER        one snapshot as an input of the target snapshot, to stdout
#
# A seed is named after its host. Of hosts with equal bytes the first one gives the seed.

# The inputs that a plan asks for, in the container of fuzz/targets/snapshot.c.
snapshot() { # folder
    (cd "$1" && find . -type f | sed 's|^\./||' | LC_ALL=C sort) |
        grep -E '^(env|uname|cmd/.*|proc/self/status|sys/devices/system/cpu/online|sys/devices/system/cpu/cpu[0-9]+/online|sys/devices/system/cpu/cpu0/topology/thread_siblings_list|sys/devices/system/node/node[0-9]+/cpu(list|map)|sys/bus/pci/devices/[^/]*/(vendor|device|numa_node|local_cpulist))$' |
        while read -r name; do
            if [ -n "$(tail -c 1 "$1/$name")" ]; then
                echo "=- $name"
                cat "$1/$name"
                echo
            else
                echo "== $name"
                cat "$1/$name"
            fi
        done
}

# A file as a seed, unless it is missing, long, or there with other names.
seed() { # file, target, name
    [ -s "$1" ] || return 0
    mkdir -p "fuzz/corpus/$2"
    for other in "fuzz/corpus/$2"/*; do
        if [ "$other" != "fuzz/corpus/$2/$3" ] && cmp -s "$1" "$other"; then
            return 0
        fi
    done
    cp "$1" "fuzz/corpus/$2/$3"
}

all() {
    made=$(mktemp) || exit 1
    trap 'rm -f "$made"' EXIT
    for host in fixtures/hosts/*; do
        name=${host##*/}
        seed "$host/cmd/npu-smi-info-m.txt" npusmi_map "$name"
        seed "$host/cmd/npu-smi-info-t-topo.txt" npusmi_topo "$name"
        seed "$host/cmd/npu-smi-info.txt" npusmi_info "$name"
        seed "$host/cmd/lscpu-e.txt" lscpu_nodes "$name"
        seed "$host/cmd/lscpu.txt" lscpu_threads "$name"
        seed "$host/proc/interrupts" interrupts "$name"
        seed "$host/proc/self/status" status "$name"
        seed "$host/cmd/npu-smi-info-l.txt" npusmi_list "$name"
        for board in "$host"/cmd/npu-smi-info-t-board-*.txt; do
            part=${board##*board-}
            seed "$board" npusmi_board "$name-${part%.txt}"
        done
        snapshot "$host" >"$made"
        seed "$made" snapshot "$name"
    done
}

case ${1:-} in
'') all ;;
*) snapshot "$1" ;;
esac
