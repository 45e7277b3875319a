# shellcheck shell=sh disable=SC2020,SC2034,SC2086,SC2154 # guest.sh sets and uses variables
# memory.sh - the section of guest.sh on moving memory: what a real kernel moves, and what stays
#
# A process has its memory on node 0 and is bound to an NPU whose memory is on node 1. Each case
# is checked by numa_maps. Limits, faults and signals are in tests/scenes/memory.sh.

# The MiB that a process has on a node, by numa_maps.
mib_on() { # node, pid
    awk -v node="N$1" '
        {
            kb = 4
            for (i = 2; i <= NF; i++)
                if ($i ~ /^kernelpagesize_kB=/)
                    kb = substr($i, 19)
            for (i = 2; i <= NF; i++)
                if (split($i, page, "=") == 2 && page[1] == node)
                    sum += page[2] * kb
        }
        END { printf "%d\n", sum / 1024 }' "/proc/$2/numa_maps"
}

# A number of the report, of bytes in MiB.
reported() { # key
    tr ',{}' '\n\n\n' </run/moved | sed -n "s/^ *\"$1\": *//p" | head -n 1 |
        awk '{ print int($1 / 1048576 + 0.5) }'
}

# Calls a function with a process of so many MiB private, shared, locked and huge, and without
# access.
with_memory() { # function, MiB ...
    with=$1
    shift
    rm -f /run/held
    memory "$@" >/run/held &
    held=$!
    becomes grep -q ready /run/held && "$with"
    verdict=$?
    kill $held
    wait $held
    cpubind restore --pid $held >/run/said 2>&1
    return $verdict
}

bind_held() { # option ...
    cpubind apply --pid $held --device npu0 --json -o memory-time=300 "$@" >/run/moved 2>/run/moved.err
    moved_status=$?
    tr ',' '\n' </run/moved | tail -n 40
    return $moved_status
}

is_about() { # number, from, to
    [ "$1" -ge "$2" ] && [ "$1" -le "$3" ] && return 0
    echo "$1 is not in $2 to $3"
    return 1
}

own_memory_moves() {
    bind_held && is_about "$(mib_on 1 $held)" 40 50 && is_about "$(reported moved)" 40 44 &&
        is_about "$(reported own_left)" 0 0
}

other_memory_stays() {
    bind_held && is_about "$(reported moved)" 20 24 && is_about "$(reported shared)" 40 44 &&
        is_about "$(reported locked)" 8 8 && is_about "$(reported huge)" 8 8 &&
        is_about "$(mib_on 0 $held)" 56 62 && exits 0 cpubind verify --pid $held &&
        bind_held --memory all && is_about "$(mib_on 0 $held)" 0 2
}

# Linux 6.1 to 6.4 do not find these pages: nobody has pinned them, and nobody must say so.
hidden_memory_is_named() {
    bind_held && case $(uname -r) in
    6.[1-4].*)
        is_about "$(reported hidden)" 8 8 && is_about "$(reported busy)" 0 0 &&
            grep -q "8 MiB of memory stay .*: the kernel does not find them" /run/moved
        ;;
    *) is_about "$(reported hidden)" 0 0 && is_about "$(reported own_left)" 0 0 ;;
    esac
}

mib_of_node_1() { # key
    awk -v key="$1:" '$3 == key { print int($4 / 1024) }' /sys/devices/system/node/node1/meminfo
}

reserve_is_kept() {
    bind_held && grep -q '"no_room": [1-9]' /run/moved &&
        is_about "$(mib_of_node_1 MemFree)" $(($(mib_of_node_1 MemTotal) / 4 - 12)) 160
}

memory_moves() {
    export CPUBIND_RULES=near
    echo 3 >/proc/sys/vm/drop_caches
    for node in 0 1; do
        echo 8 >/sys/devices/system/node/node$node/hugepages/hugepages-2048kB/nr_hugepages
    done
    check "memory of the process alone is moved" with_memory own_memory_moves 40 0 0 0
    check "shared, locked and huge memory stays, and --memory all moves it" \
        with_memory other_memory_stays 20 40 8 8
    check "memory that the kernel does not find is named as such" \
        with_memory hidden_memory_is_named 20 0 0 0 8
    memory --fill 1 160 >/run/filled &
    filler=$!
    check_soon "a node is full" grep -q ready /run/filled
    check "it keeps its reserve" with_memory reserve_is_kept 100 0 0 0
    kill $filler
    wait $filler
}
