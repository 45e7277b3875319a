#!/bin/sh
# abi.sh - the C ABI: its header in each language, its names and prototypes against the release
# SPDX-License-Identifier: MIT
# runs: check-all
# build: plain
#
#   tests/packaging/abi.sh             from the top folder, after `make lib`
#   tests/packaging/abi.sh print       the prototypes of the header, as abi.txt has them
#
# abi.txt holds each function of the last release with the number of CPB_ABI since which it is
# there. A line of it never changes and is never removed; a new function gets a line with a new
# number. Prints TAP.
LC_ALL=C
export LC_ALL

BUILD=${BUILD:-build}
out=$BUILD/abi
header=adapters/api/cpubind_api.h
map=adapters/api/cpubind_api.map
list=tests/packaging/abi.txt
library=$BUILD/libcpubind.so.1
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror'
mkdir -p "$out"
. tests/support/tap.sh

# The prototypes of a header, one in each line, in the order of the header.
prototypes() { # header
    awk '
        /^CPB_API / { on = 1; text = "" }
        on {
            line = $0
            gsub(/^[ \t]+|[ \t]+$/, "", line)
            text = text (text == "" ? "" : " ") line
            if (line ~ /;$/) {
                sub(/^CPB_API /, "", text)
                print text
                on = 0
            }
        }' "$1"
}

# "NAME PROTOTYPE"
named_prototypes() { # header
    prototypes "$1" | sed 's/^.*\(cpb_[a-z_]*\)(.*$/\1 &/' | sort
}

# "NAME PROTOTYPE" of the functions of abi.txt.
released() { # list
    sed -n 's/^[0-9][0-9]* //p' "$1" | sed 's/^.*\(cpb_[a-z_]*\)(.*$/\1 &/' | sort
}

# Every function of the last release has the same prototype, and each new one is in the list.
keeps_the_release() { # list, header
    released "$1" >"$out/released"
    named_prototypes "$2" >"$out/present"
    [ -s "$out/released" ] && diff "$out/released" "$out/present" | sed -n 's/^< /released: /p
        s/^> /here:     /p' | if grep .; then return 1; fi
}

numbers_are_right() {
    sed -n 's/^#define CPB_ABI \([0-9]*\)$/\1/p' $header >"$out/abi"
    awk '/^#/ || /^$/ { next } $1 !~ /^[0-9]+$/ || $1 < last { print; bad = 1 } { last = $1 }
        END { print last; exit bad }' $list >"$out/last"
    cat "$out/last"
    tail -n 1 "$out/last" | diff - "$out/abi"
}

# "NAME VERSION" of the functions of abi.txt, as the map and the library have them.
versions() {
    sed -n 's/^\([0-9][0-9]*\) .*\(cpb_[a-z_]*\)(.*$/\2 CPUBIND_\1/p' $list | sort
}

map_agrees() {
    awk '/^[A-Z_0-9]+ *\{/ { node = $1; sub(/\{.*/, "", node) }
        { while (match($0, /cpb_[a-z_]+;/)) {
            print substr($0, RSTART, RLENGTH - 1), node
            $0 = substr($0, RSTART + RLENGTH) } }' $map | sort >"$out/map"
    versions | diff - "$out/map"
}

library_agrees() {
    nm -D --defined-only --with-symbol-versions "$library" |
        awk '$2 != "A" { sub(/@@/, " ", $3); print $3 }' | sort >"$out/exported"
    versions | diff - "$out/exported"
}

compiles() { # compiler, standard, language
    printf '#include "cpubind_api.h"\n#include "cpubind_api.h"\n%s\n%s\n' \
        'extern int32_t (*const abi)(void);' 'int32_t (*const abi)(void) = cpb_abi;' >"$out/use.c"
    # shellcheck disable=SC2086
    "$1" -std="$2" $warnings -Iadapters/api -x "$3" -c "$out/use.c" -o "$out/use.o"
}

check_standards() { # compiler, language, standards ...
    compiler=$1 language=$2
    shift 2
    for standard in "$@"; do
        text="cpubind_api.h compiles with $compiler -std=$standard"
        if ! command -v "$compiler" >/dev/null 2>&1; then
            skip "$text" "no $compiler"
        elif ! echo 'int a;' | "$compiler" -std="$standard" -x "$language" -c - \
            -o "$out/empty.o" 2>/dev/null; then
            skip "$text" "$compiler has no $standard"
        else
            check "$text" compiles "$compiler" "$standard" "$language"
        fi
    done
}

# A copy of the header with one edit must be found.
finds() { # sed expression
    sed "$1" $header >"$out/edited.h"
    ! cmp -s $header "$out/edited.h" && ! keeps_the_release $list "$out/edited.h"
}

if [ "${1:-}" = print ]; then
    prototypes $header | sed "s/^/$(sed -n 's/^#define CPB_ABI //p' $header) /"
    exit
fi
check_standards gcc c c99 c11 c17 c2x
check_standards clang c c99 c11 c17 c2x
check_standards g++ c++ c++11 c++14 c++17 c++20 c++23
check_standards clang++ c++ c++11 c++14 c++17 c++20 c++2b
check "the header has the prototypes of the last release, and new ones are in abi.txt" \
    keeps_the_release $list $header
check "a removed function is found" finds '/cpb_plan_memory_node/d'
check "a changed parameter is found" finds 's/size_t len,/int32_t len,/'
check "a changed result is found" finds 's/const char \*cpb_next_pool/char *cpb_next_pool/'
check "a new function that is not in abi.txt is found" \
    finds 's/^CPB_API int32_t cpb_abi(void);/&\nCPB_API int32_t cpb_new(void);/'
check "the numbers of abi.txt ascend, and the last one is CPB_ABI" numbers_are_right
if [ -e $map ]; then
    check "cpubind_api.map has the names and versions of abi.txt" map_agrees
else
    skip "cpubind_api.map has the names and versions of abi.txt" "no $map"
fi
if [ -e "$library" ]; then
    check "libcpubind.so.1 exports the names of abi.txt with their versions, and no more" \
        library_agrees
else
    skip "libcpubind.so.1 exports the names of abi.txt with their versions" "make lib"
fi
finish
