#!/bin/sh
# lint.sh - format, warnings of both compilers, clang-tidy, cppcheck, banned words; prints TAP
# runs: check-all
# build: plain
#
#   tests/checks/lint.sh             from the top folder; BUILD is where objects go
#   tests/checks/lint.sh --analyze   the checks of clang-tidy that follow paths through functions,
#                                    which take a hundred times longer, and nothing else
#
# clang-tidy says the warnings of clang, too.

BUILD=${BUILD:-build}
out=$BUILD/lint
mkdir -p "$out"
. tests/support/tap.sh

sources=$(find adapters -name '*.c' | sort)
headers=$(find adapters -name '*.h' | sort)
fuzz_c=$(find fuzz -name '*.c' | sort)
fuzz_h=$(find fuzz -name '*.h' | sort)
tests_c=$(find tests -name '*.c' | sort)
tests_h=$(find tests -name '*.h' | sort)
warn='-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow'
jobs=$(nproc 2>/dev/null || echo 2)
quick='-clang-analyzer-*'
words='-std=c11 -D_DEFAULT_SOURCE -D_XOPEN_SOURCE=700'
made="-isystem $BUILD/made" # headers that make writes

# Runs a command on files, 16 at a time, on all CPUs.
clean_each() { # files, words before them, words after them
    # shellcheck disable=SC2016
    printf '%s\n' $1 | before=$2 after=$3 xargs -r -n 16 -P "$jobs" sh -fc '$before "$@" $after' sh
}

format_is_clean() {
    clean_each "cpubind.h $sources $headers $fuzz_c $fuzz_h $tests_c $tests_h" \
        'clang-format-14 --dry-run -Werror' ''
}

# The benchmarks are built by make bench alone; some need hwloc.
compiles_clean() {
    clean_each "$sources $fuzz_c $(grep -L hwloc tests/bench/*.c)" "gcc $words $made $warn -Werror -O2 -fsyntax-only" ''
}

tidy_is_clean() { # checks that are added to those of .clang-tidy, or removed
    clean_each "$sources $fuzz_c" "clang-tidy --quiet --checks=$1" "-- $words $warn $made"
}

# shellcheck disable=SC2086
core_tidy_is_clean() { # checks
    clang-tidy --quiet --checks="$1" cpubind.h -- $warn -x c -std=c99 -DCPUBIND_IMPLEMENTATION
}

# cpubind.h alone is examined for every set of its macros; the files of adapters/ only for the
# macros of a build, since each of them includes cpubind.h. It follows calls from file to file:
# when one has changed all are examined, with what was found in the others.
# ctuuninitvar reports every out parameter as an uninitialized variable.
# shellcheck disable=SC2086
cppcheck_is_clean() {
    printf '#define CPUBIND_IMPLEMENTATION\n#include "cpubind.h"\n' >"$out/core.c"
    set -- -j "$jobs" --quiet --std=c11 --error-exitcode=1 --inline-suppr \
        --suppress=missingIncludeSystem --suppress=ctuuninitvar \
        --enable=warning,performance,portability -I .
    cppcheck "$@" "$out/core.c" &&
        mkdir -p "$out/cppcheck" &&
        cppcheck "$@" --cppcheck-build-dir="$out/cppcheck" -D__GNUC__=12 -D__linux__ \
            ${words#* } $sources
}

# Functions without a limit on the text that they read or write. Numbers are read by
# cpubind_number_parse.
# shellcheck disable=SC2086
bans_hold() {
    ! grep -nE '\b(atoi|atol|sscanf|strtoul|gets|strcpy|strcat|sprintf|alloca|system|popen)\(' \
        cpubind.h $sources $headers $fuzz_c $fuzz_h
}

# shellcheck disable=SC2086
comments_are_plain() {
    # An example inside of a comment has comments of the other kind.
    ! grep -nE '(^|[^:"])//|TODO|FIXME|XXX' cpubind.h $sources $headers $fuzz_c $fuzz_h |
        grep -vE ':[0-9]+: \* .*//'
}

# shellcheck disable=SC2086
lines_are_short() {
    awk 'length > 96 { print FILENAME ":" FNR ": " length " columns"; bad = 1 } END { exit bad }' \
        cpubind.h $sources $headers $fuzz_c $fuzz_h $tests_c \
        $tests_h
}

check_with() { # needed command, text, command ...
    tool=$1
    shift
    if command -v "$tool" >/dev/null 2>&1; then
        check "$@"
    else
        skip "$1" "no $tool"
    fi
}

if [ "${1:-}" = --analyze ]; then
    check_with clang-tidy "the analyzer is clean on adapters/ and fuzz/" tidy_is_clean ''
    check_with clang-tidy "the analyzer is clean on cpubind.h" core_tidy_is_clean ''
    finish
    exit
fi

check_with clang-format-14 "sources are formatted (clang-format 14)" format_is_clean
check_with gcc "no warning of gcc in adapters/ and fuzz/" compiles_clean
check_with clang-tidy "no warning of clang and clang-tidy in adapters/ and fuzz/" tidy_is_clean "$quick"
check_with clang-tidy "clang-tidy is clean on cpubind.h" core_tidy_is_clean "$quick"
check_with cppcheck "cppcheck is clean" cppcheck_is_clean
check "no banned function" bans_hold
check "no // comment, no TODO" comments_are_plain
check "no line is longer than 96 columns" lines_are_short
finish
