#!/bin/sh
# doors.sh - tests speak through doors, and none is forgotten; prints TAP
# runs: check
#
#   tests/checks/doors.sh      from the top folder
#
# A door is the command, the C ABI, cpubind.h, files, sockets, and the table of readers
# (tests/readers). No other file of tests and fuzz includes a header of a room, but those of
# doors.txt: a list that shrinks with each room that is built anew.
export LC_ALL=C
BUILD=${BUILD:-build}
out=$BUILD/out/doors
mkdir -p "$out"
. tests/support/tap.sh

list=tests/checks/doors.txt

includes_rooms() {
    grep -rlE '^#include "(\.\./)+adapters/' tests fuzz --include='*.[ch]' |
        xargs grep -lE '^#include "(\.\./)+adapters/(([a-z]+/)+[a-z_0-9]+|source)\.h"' |
        while read -r file; do
            grep -E '^#include "(\.\./)+adapters/' "$file" |
                grep -qv 'adapters/api/cpubind_api\.h"' && echo "$file"
        done | grep -vE '^tests/(readers|bench|packaging|consumers)/' | sort
}

# Each line of the list begins with a file.
only_the_list_includes_rooms() {
    includes_rooms >"$out/found"
    sed -n 's/^\([a-z][^ ]*\).*/\1/p' "$list" | sort >"$out/allowed"
    comm -23 "$out/found" "$out/allowed" | sed 's/^/includes a header of a room: /' >"$out/new"
    comm -13 "$out/found" "$out/allowed" | sed "s|^|is no longer to be in $list: |" >"$out/gone"
    cat "$out/new" "$out/gone"
    [ ! -s "$out/new" ] && [ ! -s "$out/gone" ]
}

scripts() {
    find tests fuzz -name '*.sh' -type f | sort
}

# A script is a test, which says when it runs, or is not started as one.
every_script_says_when_it_runs() {
    levels='check|check-all|check-vm|check-slurm|check-nri|check-foreign|check-packages|check-fleet'
    for script in $(scripts); do
        runs=$(sed -n '1,12s/^# runs: //p' "$script")
        case $runs in
        'by hand' | 'by make') continue ;;
        '')
            [ ! -x "$script" ] || {
                echo "$script: no line \"# runs: ...\""
                return 1
            }
            ;;
        *)
            echo "$runs" | tr ' ' '\n' | grep -vxE "$levels" && {
                echo "$script: no such level"
                return 1
            }
            case $script in tests/*/*/*) echo "$script: tests/run looks in tests/*/ alone" && return 1 ;; esac
            [ -x "$script" ] || {
                echo "$script: may not be executed"
                return 1
            }
            ;;
        esac
    done
}

# What the Makefile links into the one program has a test, or is used by one that has.
every_file_of_tests_is_a_group() {
    find tests/*/ -name 'test_*.c' | grep -vE '^tests/(vm|packaging|bench|consumers|languages|scenes|quality)/' |
        while read -r file; do
            grep -qE '^(TEST_FILE|TEST_PROGRAM|TEST_SOURCE|CASES)\(' "$file" ||
                echo "$file: no TEST_FILE"
        done >"$out/no_group"
    cat "$out/no_group"
    [ ! -s "$out/no_group" ]
}

# A function of the libraries of scripts is defined once.
no_helper_is_defined_twice() {
    sed -n 's/^\([a-z_0-9]*\)() {.*/\1/p' tests/scenes/lib.sh tests/support/tap.sh | sort -u >"$out/helpers"
    find tests/scenes tests/vm tests/faults -name '*.sh' ! -name lib.sh \
        -exec sed -n 's/^\([a-z_0-9]*\)() {.*/\1/p' {} + | sort | comm -12 "$out/helpers" - >"$out/twice"
    cat "$out/twice"
    [ ! -s "$out/twice" ]
}

check "only files of $list include headers of rooms" only_the_list_includes_rooms
check "every script says when it runs" every_script_says_when_it_runs
check "every C file of tests is a group of the program" every_file_of_tests_is_a_group
check "no helper of scenes is defined twice" no_helper_is_defined_twice
finish
