#!/bin/sh
# memory.sh - which memory of a process is moved to the node of its NPU, which stays, and why; TAP
# SPDX-License-Identifier: MIT
# runs: check
# shellcheck disable=SC2086 # lists are split on purpose
#
# The process has real pages, which pagemap shows; on which nodes they are is said by a file over its
# numa_maps, and move_pages(2) is a double that goes by it. tests/vm/memory.sh moves real pages.
. tests/scenes/lib.sh
use_live_npus
LD_PRELOAD="$programs/kernel_shim $LD_PRELOAD"

node=/sys/devices/system/node
maps=$out/maps
meminfo=$node/node6/meminfo

# The process holds 48 MiB in three mappings: 36 MiB, more than a batch; 4 MiB; 8 MiB, which are
# locked. Sets one, two and locked to their addresses.
hold() {
    mkfifo "$out/go"
    env -u LD_PRELOAD python3 tests/scenes/programs/holder.py 36 4 8l <"$out/go" >"$out/addresses" &
    worker=$!
    exec 7>"$out/go"
    becomes grep -q ready "$out/addresses" && read -r one two locked _ <"$out/addresses" &&
        : >"$maps" &&
        mount --bind "$maps" "/proc/$worker/numa_maps"
}

# Where the pages are, of each mapping; numa_maps has these in ascending order.
place() { # words of `one`, of `two`, of `locked`
    {
        echo "$one default anon=9216 dirty=9216 $1 kernelpagesize_kB=4"
        [ -z "$2" ] || echo "$two default $2"
        [ -z "$3" ] || echo "$locked default $3 kernelpagesize_kB=4"
    } | sort >"$out/sorted"
    cat "$out/sorted" >"$maps" # which is mounted
    echo "Node 6 MemTotal: 8388608 kB
Node 6 MemFree: 4194304 kB" >$meminfo
}

moves() { # exit status, words, argument ...
    moves_want=$1
    moves_words=$2
    shift 2
    says "$moves_want" "$moves_words" "$CPUBIND" apply --pid "$worker" $host --device npu0 --json "$@" &&
        fits report
}

# In KiB.
kib() { # key
    echo $(($(json ".memory.$1") / 1024))
}

are() { # "KEY NUMBER" ...
    for pair in "$@"; do
        is=$(kib "${pair% *}")
        [ "$is" = "${pair#* }" ] || {
            echo "${pair% *} is $is KiB, not ${pair#* }"
            cat "$maps"
            return 1
        }
    done
}

has_pages() { # words of `one`
    grep "^$one" "$maps" | grep -qF -e "$1" && return 0
    cat "$maps"
    return 1
}

check_memory() { # text, command
    check "$1" "$2"
    "$CPUBIND" restore --pid "$worker" --quiet 2>"$out/left"
    rm -f "$CPUBIND_SHIM"/[0-9]*
}

# -- What moves ------------------------------------------------------------------

all_of_its_own_moves() {
    place "N0=9000 N5=216" "N0=1000 N6=24" && moves 0 "" &&
        are "moved $((4 * 10216))" "own_left 0" "left 0" &&
        has_pages N6=9216 && moves 0 "" && are "moved 0" "left 0" && says 0 "" verify
}

# More than a batch, and a terabyte of nothing before it.
a_hole_is_skipped() {
    place "N0=9216" && moves 0 "" && are "moved 36864" &&
        [ "$(json '.memory.milliseconds')" -lt 20000 ]
}

what_is_left_is_no_drift() {
    place "N0=9216" "mapmax=3 N0=1024" && moves 0 "" && are "stays.shared 4096" &&
        says 0 "" verify &&
        place "N0=9216" "mapmax=3 N0=1024" && says 1 "" verify
}

node_0_is_as_others() {
    place "N0=9216" && cp $meminfo $node/node0/meminfo && moves 0 "" --device npu5 &&
        are "left 0" && says 0 "" verify && place "N5=9216" && says 1 "" verify
}

# -- What stays ------------------------------------------------------------------

shared_pages_stay() {
    place "N0=9216" "mapmax=3 N0=1024" && moves 0 "" &&
        are "moved 36864" "stays.shared 4096" "own_left 0"
}

locked_and_huge_pages_stay() {
    place "N0=9216" "huge anon=2 N0=2 kernelpagesize_kB=2048" "anon=2048 N0=2048" && moves 0 "" &&
        are "moved 36864" "stays.locked 8192" "stays.huge 4096" "own_left 0" &&
        moves 0 "" --memory all &&
        are "moved 12288" "left 0"
}

# Without the right to move what others have, too, all that is its own is moved.
without_the_right_to_move_all() {
    echo "move_all 1" >"$out/refused" && place "N0=9216" "mapmax=3 N0=1024" || return 1
    CPUBIND_REFUSED=$out/refused moves 0 "" --memory all && are "moved 36864" "stays.shared 4096"
}

pinned_pages_stay() {
    place "N0=9216" "pinned N0=1024" && moves 0 "" &&
        are "moved 36864" "stays.busy 4096" "own_left 4096" &&
        says 0 "" verify
}

hidden_pages_stay() {
    place "N0=9216" "hidden N0=1024" && moves 0 "" &&
        are "moved 36864" "stays.hidden 4096" "own_left 4096" &&
        place "N0=9216" "hidden N0=1024" && moves 0 "" -o memory-limit=8M &&
        are "moved 8192" "stays.hidden 0" "stays.limit 32768"
}

# They are moved in a later round.
busy_pages_are_tried_again() {
    place "N0=9216 busy=3" && moves 0 "" && are "moved 36864" "stays.busy 0" && has_pages N6=9216
}

# -- Limits ----------------------------------------------------------------------

a_limit_is_kept() {
    place "N0=9216" "N0=1024" && moves 0 "" -o memory-limit=10M &&
        are "moved 10240" "stays.limit 30720" &&
        says 0 "would exceed memory-limit" "$CPUBIND" apply --pid "$worker" $host --device npu0 -o memory-limit=4K &&
        moves 0 "" -o memory-limit=1G && are "stays.limit 0" "left 0"
}

# Each call takes more than half of the time.
a_limit_of_time_is_kept() {
    echo "move_pages 0 sleep 1.1" >"$out/refused" && place "N0=9216" "N0=1024" || return 1
    CPUBIND_REFUSED=$out/refused moves 0 "" -o memory-time=1 && [ "$(kib moved)" -gt 0 ] &&
        [ "$(kib stays.time)" -gt 0 ] && [ $(($(kib moved) + $(kib stays.time))) = 40960 ] &&
        says 0 "" verify
}

# A quarter of it, and at most a gigabyte; half of the pages of files counts as free.
a_node_keeps_its_reserve() {
    place "N0=9216" && echo "Node 6 MemTotal: 65536 kB
Node 6 MemFree: 20480 kB
Node 6 Active(file): 4096 kB
Node 6 Inactive(file): 4096 kB" >$meminfo && moves 0 "" && are "moved 8192" "stays.no_room 28672" && says 0 "" verify
}

a_full_node_ends_the_move() {
    place "N0=9216" "full N0=1024" && moves 0 "" && are "moved 36864" "stays.no_room 4096" &&
        said "the kernel"
    echo "move_pages 12" >"$out/refused" && place "N0=9216" &&
        CPUBIND_REFUSED=$out/refused moves 0 "" && are "moved 0" && has_pages N0=9216
}

# -- Refusals and files ----------------------------------------------------------

a_refusal_is_said() {
    for error in "1 Operation not permitted" "19 No such device" "22 Invalid argument" "38 Function not implemented"; do
        echo "move_pages ${error%% *}" >"$out/refused" && place "N0=9216" || return 1
        CPUBIND_REFUSED=$out/refused moves 0 "move_pages: ${error#* }" && are "moved 0" || return 1
    done
    echo "move_pages 4 rm $out/refused" >"$out/refused" &&
        CPUBIND_REFUSED=$out/refused moves 0 "" && are "moved 36864"
}

# The kernel's list of nodes with memory, or the one of older kernels.
nodes_are_read() {
    place "N0=9216" && mv $node/has_memory $node/has_normal_memory && moves 0 "" &&
        are "moved 36864" &&
        echo 3-1 >$node/has_normal_memory && place "N0=9216" && moves 0 "has_memory: " &&
        has_pages N0=9216 &&
        rm $node/has_normal_memory && moves 0 "has_memory: No such file" && has_pages N0=9216 &&
        echo 0-5 >$node/has_memory && moves 0 "" && has_pages N0=9216 && are "moved 0" &&
        echo 0 >$node/has_memory && moves 0 "only one node has memory, or node 0 has none"
    result=$?
    echo 0-7 >$node/has_memory
    return $result
}

damaged_files_are_said() {
    for text in hello "$one default N0=x" "$one default N2000=1"; do
        echo "$text" >"$maps"
        moves 0 "numa_maps: " || return 1
    done
    printf '%s default N0=9216' "$one" >"$maps"
    moves 0 "numa_maps: " && head -c 3000000 /dev/zero | tr '\0' x >"$maps" &&
        moves 0 "numa_maps: " &&
        place "N0=9216" && echo hello >"$out/damaged" &&
        mount --bind "$out/damaged" "/proc/$worker/maps" &&
        mount --bind "$out/damaged" "/proc/$worker/smaps" || return 1
    moves 0 "maps: "
    result=$?
    umount "/proc/$worker/maps" "/proc/$worker/smaps"
    return $result
}

# A process without memory, as one that ends, and a kernel without nodes.
nothing_to_move() {
    : >"$maps" && moves 0 "" && are "moved 0" "left 0" && place "N6=9216" && moves 0 "" &&
        are "moved 0" &&
        mount --bind /dev/null "/proc/$worker/numa_maps" || return 1
    moves 0 ""
    result=$?
    umount "/proc/$worker/numa_maps"
    return $result
}

# A process whose pages cannot be looked at: own and shared ones cannot be told apart.
a_pagemap_without_pages() {
    place "N0=9216" && : >"$out/none" &&
        mount --bind "$out/none" "/proc/$worker/pagemap" || return 1
    moves 0 "" && has_pages N0=9216
    result=$?
    umount "/proc/$worker/pagemap"
    return $result
}

balancing_is_reported() {
    echo 1 >"$out/numa" && mount --bind "$out/numa" /proc/sys/kernel/numa_balancing &&
        place "N0=9216" &&
        moves 0 "" && has .memory.numa_balancing 1
    result=$?
    umount /proc/sys/kernel/numa_balancing
    return $result
}

hold || exit 1
check_memory "memory of its own moves from all other nodes" all_of_its_own_moves
check_memory "a hole is skipped, and there are more pages than a batch" a_hole_is_skipped
check_memory "what is left is no drift, and what comes later is" what_is_left_is_no_drift
check_memory "node 0 is a node as others are" node_0_is_as_others
check_memory "pages that other processes map stay" shared_pages_stay
check_memory "locked and huge pages stay, unless all are wanted" locked_and_huge_pages_stay
check_memory "without the right to move all, its own are moved" without_the_right_to_move_all
check_memory "pinned pages stay" pinned_pages_stay
check_memory "pages that the kernel does not find stay, and are named so" hidden_pages_stay
check_memory "pages that were busy are moved in a later round" busy_pages_are_tried_again
check_memory "a limit of bytes is kept" a_limit_is_kept
check_memory "a limit of time is kept" a_limit_of_time_is_kept
check_memory "a node keeps its reserve" a_node_keeps_its_reserve
check_memory "a node that is full ends the move" a_full_node_ends_the_move
check_memory "a refusal is said, and an interrupted call is repeated" a_refusal_is_said
check_memory "the nodes with memory are read, or that is said" nodes_are_read
check_memory "damaged files are said, and nothing is moved" damaged_files_are_said
check_memory "a process without memory has nothing to move" nothing_to_move
check_memory "a pagemap that shows nothing" a_pagemap_without_pages
check_memory "automatic balancing is reported" balancing_is_reported
finish
