#!/bin/sh
# lint.sh - format, warnings of both compilers, clang-tidy, cppcheck, banned words; prints TAP
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
made="-isystem $BUILD/obj/adapters/nri -isystem $BUILD/obj/adapters/kubelet" # headers that make writes

# A file is not examined again by a command that found it clean, as long as it, the files of this
# tree that it includes, the command's version, its options and its settings are the same.

# Prints for each C file its name, its sum, and those of all that it includes.
# shellcheck disable=SC2086
states() {
    sha256sum cpubind.h $sources $headers $fuzz_c $fuzz_h $tests_c $tests_h | awk '
        function path(folder, name,    part, kept, n, top, i, text) {
            n = split(folder "/" name, part, "/")
            for (i = 1; i <= n; i++) {
                if (part[i] == "..")
                    top--
                else if (part[i] != "." && part[i] != "")
                    kept[++top] = part[i]
            }
            text = kept[1]
            for (i = 2; i <= top; i++)
                text = text "/" kept[i]
            return text
        }
        function includes(file,    folder, line, part) {
            folder = file
            if (!sub("/[^/]*$", "", folder))
                folder = "."
            while ((getline line <file) > 0)
                if (split(line, part, "\"") > 2 && part[1] ~ /^ *# *include *$/)
                    included[file] = included[file] " " path(folder, part[2])
            close(file)
        }
        function state(file,    part, n, i, text) {
            if (seen[file] == turn || !(file in sum))
                return ""
            seen[file] = turn
            text = " " sum[file]
            n = split(included[file], part, " ")
            for (i = 1; i <= n; i++)
                text = text state(part[i])
            return text
        }
        { sum[$2] = $1 }
        END {
            for (file in sum)
                includes(file)
            for (turn in sum)
                print turn state(turn)
        }' >"$out/states"
}

# Runs a command on the files of a list, 16 at a time.
clean_each() { # name of this examination, files, words before the files, words after them
    clean=$out/$1.clean
    command=$({ "${3%% *}" --version; cat .clang-format .clang-tidy; echo "$3 $4"; } | sha256sum)
    # shellcheck disable=SC2086
    printf '%s\n' $2 | awk -v command="${command%% *}" 'NR == FNR { wanted[$1]; next }
        $1 in wanted { print $0, command }' - "$out/states" | LC_ALL=C sort >"$clean.now"
    touch "$clean"
    LC_ALL=C comm -12 "$clean.now" "$clean" >"$clean.kept"
    : >"$clean.found"
    # shellcheck disable=SC2016
    LC_ALL=C comm -23 "$clean.now" "$clean" | cut -d ' ' -f 1 |
        before=$3 after=$4 found=$clean.found xargs -r -n 16 -P "$jobs" sh -fc '
            $before "$@" $after && printf "%s\n" "$@" >>"$found"' sh
    examined=$?
    awk 'NR == FNR { found[$1]; next } $1 in found' "$clean.found" "$clean.now" |
        LC_ALL=C sort - "$clean.kept" >"$clean"
    return "$examined"
}

format_is_clean() {
    clean_each format "cpubind.h $sources $headers $fuzz_c $fuzz_h $tests_c $tests_h" \
        'clang-format-14 --dry-run -Werror' ''
}

compiles_clean() {
    clean_each gcc "$sources $fuzz_c" "gcc $words $made $warn -Werror -O2 -fsyntax-only" ''
}

tidy_is_clean() { # checks that are added to those of .clang-tidy, or removed
    clean_each tidy "$sources $fuzz_c" "clang-tidy --quiet --checks=$1" "-- $words $warn $made"
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
    state=$({ cppcheck --version; echo "$* $words"; grep '^adapters/.*\.c ' "$out/states" | LC_ALL=C sort; } | sha256sum)
    echo "$state" | cmp -s - "$out/cppcheck.clean" && return
    cppcheck "$@" "$out/core.c" &&
        mkdir -p "$out/cppcheck" &&
        cppcheck "$@" --cppcheck-build-dir="$out/cppcheck" -D__GNUC__=12 -D__linux__ \
            ${words#* } $sources &&
        echo "$state" >"$out/cppcheck.clean"
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
    ! grep -nE '(^|[^:"])//|TODO|FIXME|XXX' cpubind.h $sources $headers $fuzz_c $fuzz_h
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

states
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
