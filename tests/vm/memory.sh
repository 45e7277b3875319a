# shellcheck shell=sh disable=SC2020,SC2034,SC2086,SC2154 # guest.sh sets and uses variables
# memory.sh - the section of guest.sh on moving memory: what is moved, what stays, how long it takes
#
# A process has its memory on node 0 and is bound to an NPU whose memory is on node 1. Each case
# is checked by numa_maps, and is a row of a table of what was moved and what stays, in MiB. The
# last rows are migrate_pages(2), which migratepages(8) calls, on the same memory.

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
        awk -v key="$1" '{ print key == "milliseconds" ? $1 : int($1 / 1048576 + 0.5) }'
}

row() { # case
    echo "# $1 | $(reported moved) | $(reported own_left) | $(reported shared) | \
$(reported locked) | $(reported huge) | $(reported milliseconds)"
}

# Starts a process with so many MiB private, shared, locked and huge.
hold() {
    rm -f /run/held
    memory "$@" >/run/held &
    held=$!
    since=$(seconds)
    until grep -q ready /run/held; do
        [ $(($(seconds) - since)) -lt $patience ] && kill -0 $held || return 1
        sleep 0.2
    done
}

release() {
    kill $held
    wait $held
    cpubind restore --pid $held >/dev/null 2>&1
}

bind_held() { # option ...
    cpubind apply --pid $held --npu $npu_of_1 --json --memory-time 300 "$@" >/run/moved 2>/run/moved.err || {
        cat /run/moved /run/moved.err
        return 1
    }
}

# Whether a number is in a range; shows the report otherwise.
is_about() { # number, from, to
    [ "$1" -ge "$2" ] && [ "$1" -le "$3" ] && return 0
    echo "$1 is not in $2 to $3"
    tr ',' '\n' </run/moved | tail -n 40
    return 1
}

own_memory_moves() {
    hold 40 0 0 0 && bind_held && row "private 40" >>/run/table &&
        is_about "$(mib_on 1 $held)" 40 50 && is_about "$(reported moved)" 40 44 &&
        is_about "$(reported own_left)" 0 0
    verdict=$?
    release
    return $verdict
}

other_memory_stays() {
    hold 20 40 8 8 && bind_held &&
        row "private 20, shared 40, locked 8, huge 8" >>/run/table &&
        is_about "$(reported moved)" 20 24 && is_about "$(reported shared)" 40 44 &&
        is_about "$(reported locked)" 8 8 && is_about "$(reported huge)" 8 8 &&
        is_about "$(mib_on 0 $held)" 56 62 &&
        cpubind verify --pid $held >/run/verified 2>&1 &&
        bind_held --memory all && row "the same, --memory all" >>/run/table && is_about "$(mib_on 0 $held)" 0 2
    verdict=$?
    release
    return $verdict
}

# Linux 6.1 to 6.4 do not find these pages: nobody has pinned them, and nobody must say so.
hidden_memory_is_named() {
    hold 20 0 0 0 8 && bind_held && row "private 20, without access 8" >>/run/table &&
        case $(uname -r) in
        6.[1-4].*)
            is_about "$(reported hidden)" 8 8 && is_about "$(reported busy)" 0 0 &&
                grep -q "8 MiB of memory stay .*: the kernel does not find them" /run/moved
            ;;
        *) is_about "$(reported hidden)" 0 0 && is_about "$(reported own_left)" 0 0 ;;
        esac
    verdict=$?
    release
    return $verdict
}

limit_is_kept() {
    hold 40 0 0 0 && bind_held --memory-limit 10M && row "private 40, limit 10" >>/run/table &&
        is_about "$(reported moved)" 9 11 && is_about "$(mib_on 0 $held)" 28 33
    verdict=$?
    release
    return $verdict
}

time_is_kept() {
    hold 150 0 0 0 && bind_held --memory-time 1 && row "private 150, 1 s" >>/run/table &&
        is_about $(($(reported moved) + $(reported own_left))) 149 156 && left_is_no_drift
    verdict=$?
    release
    return $verdict
}

# What apply has left is on record, and no drift; verify names it.
left_is_no_drift() {
    left=$(reported own_left)
    exits 0 cpubind verify --pid $held || return 1
    [ "$left" -eq 0 ] || grep "of memory are where apply has left them" /run/said && return 0
    cat /run/said
    return 1
}

reserve_is_kept() {
    memory --fill 1 160 >/run/filled &
    filler=$!
    until grep -q ready /run/filled; do sleep 0.2; done
    hold 100 0 0 0 && bind_held && row "private 100, node 1 full" >>/run/table &&
        grep -q '"no_room": [1-9]' /run/moved &&
        free=$(awk '/MemFree/ { print int($4 / 1024) }' /sys/devices/system/node/node1/meminfo) &&
        total=$(awk '/MemTotal/ { print int($4 / 1024) }' /sys/devices/system/node/node1/meminfo) &&
        is_about "$free" $((total / 4 - 12)) 160
    verdict=$?
    release
    kill $filler
    wait $filler
    return $verdict
}

# A signal while memory is moved: it comes after the threads are bound. Once in a while it comes
# when all is moved; then once more.
interrupt_is_reported() {
    for _ in 1 2 3 4 5 6 7 8; do
        interrupt_a_move || return 1
        [ "$(reported interrupted)" -eq 0 ] || return 0
    done
    return 1
}

interrupt_a_move() {
    hold 200 0 0 0 || return 1
    cpubind apply --pid $held --npu $npu_of_1 --json --memory-time 300 >/run/moved 2>/run/moved.err &
    binder=$!
    until [ "$(mib_on 1 $held)" -gt 20 ] || ! kill -0 $binder 2>/dev/null; do :; done
    kill -TERM $binder
    wait $binder
    code=$?
    row "private 200, SIGTERM" >>/run/table
    is_about $code 0 0 && is_about $(($(reported moved) + $(reported own_left))) 199 206 &&
        is_about "$(reported interrupted)" 0 180 &&
        { [ "$(reported interrupted)" -eq 0 ] || grep -q "process $held is bound" /run/moved; } &&
        cpubind verify --pid $held --memory none >/dev/null
    verdict=$?
    release
    return $verdict
}

# The same memory, moved by migrate_pages(2) and by cpubind.
is_as_fast() {
    for size in 40 150; do
        hold $size 0 0 0 || return 1
        took=$(memory --migrate $held 0 1)
        on=$(mib_on 1 $held)
        release
        echo "# migrate_pages, private $size | $on | - | - | - | - | $took" >>/run/table
        hold $size 0 0 0 && bind_held &&
            row "cpubind, private $size" >>/run/table
        release
    done
}

memory_moves() {
    npu_of_1=0
    export CPUBIND_RULES=near
    echo 3 >/proc/sys/vm/drop_caches
    for node in 0 1; do
        echo 8 >/sys/devices/system/node/node$node/hugepages/hugepages-2048kB/nr_hugepages
    done
    echo "# case | moved | left | shared | locked | huge | ms" >/run/table
    check "memory of the process alone is moved" own_memory_moves
    check "shared, locked and huge memory stays, and --memory all moves it" other_memory_stays
    check "memory that the kernel does not find is named as such" hidden_memory_is_named
    check "--memory-limit is kept to within a tenth" limit_is_kept
    check "--memory-time ends a move, and verify does not call that a drift" time_is_kept
    check "a node keeps its reserve" reserve_is_kept
    check "a signal ends a move and the report is true" interrupt_is_reported
    check "the same memory by migrate_pages" is_as_fast
    cat /run/table
}
