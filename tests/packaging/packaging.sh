#!/bin/sh
# packaging.sh - cpubind.h in programs and compilers of other projects
# SPDX-License-Identifier: MIT
# runs: check-all
# build: plain
#
# Runs from the top folder and prints TAP; exit 1 if a test failed. Outputs go below BUILD
# (default build). GCC, GXX, CLANG, CLANGXX and AARCH64_CC name compilers; tests of a compiler that
# is not installed are skipped.
set -u
export LC_ALL=C

here=tests/packaging
out=${BUILD:-build}/packaging
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror"

if [ ! -f cpubind.h ]; then
    echo "packaging.sh: run it from the folder that holds cpubind.h" >&2
    exit 2
fi
rm -rf "$out"
mkdir -p "$out" || exit 2

. tests/support/tap.sh

first_of() { # the first of these commands that is installed, or nothing
    for name in "$@"; do
        if [ -n "$name" ] && command -v "$name" >/dev/null 2>&1; then
            echo "$name"
            return
        fi
    done
}

gcc=$(first_of "${GCC:-}" gcc)
gxx=$(first_of "${GXX:-}" g++)
clang=$(first_of "${CLANG:-}" clang clang-14)
clangxx=$(first_of "${CLANGXX:-}" clang++ clang++-14)
aarch64=$(first_of "${AARCH64_CC:-}" aarch64-linux-gnu-gcc)
cc=$(first_of "${CC:-}" cc "$gcc" "$clang")
if [ -z "$cc" ]; then
    echo "packaging.sh: no C compiler" >&2
    exit 2
fi

# -- The header compiles without a warning --------------------------------------

# One compiler, in each standard: the interface, the implementation, a private copy. A standard
# changes what the front end says alone; what the optimizer says is asked once for C++ here, and
# for C where the object is freestanding.
check_standards() { # name, compiler, language, standards ...
    name=$1 compiler=$2 language=$3
    shift 3
    for standard in "$@"; do
        for option in "" -DCPUBIND_IMPLEMENTATION -DCPUBIND_STATIC; do
            text="$name -std=$standard ${option:-"interface only"}: no warnings"
            if [ -z "$compiler" ]; then
                skip "$text" "no $name"
                continue
            fi
            case $standard in
            c++11) how="-O2 -c -o $out/include.o" ;;
            *) how=-fsyntax-only ;;
            esac
            # A file that includes the header is compiled, not the header itself.
            echo '#include "cpubind.h"' >"$out/include.c"
            # shellcheck disable=SC2086
            check "$text" "$compiler" -std="$standard" $warnings $option -I. -x "$language" \
                "$out/include.c" $how
        done
    done
}

check_standards gcc "$gcc" c c99 c11 c17
check_standards clang "$clang" c c99 c11 c17
check_standards g++ "$gxx" c++ c++11 c++17 c++20
check_standards clang++ "$clangxx" c++ c++11 c++17 c++20

# -- Freestanding ------------------------------------------------------------

is_empty() { # file: prints it, and fails if it has a line
    cat "$1"
    [ ! -s "$1" ]
}

# The object has no warnings, no undefined names and no writable data.
check_freestanding() { # name, compiler
    name=$1 compiler=$2
    for level in -O0 -O2 -O3 -Os; do
        text="$name -ffreestanding $level"
        object=$out/freestanding.o
        if [ -z "$compiler" ]; then
            skip "$text: no warnings" "no $name"
            skip "$text: no undefined names" "no $name"
            skip "$text: no writable data" "no $name"
            continue
        fi
        rm -f "$object"
        # shellcheck disable=SC2086
        check "$text: no warnings" "$compiler" -std=c99 $warnings -ffreestanding -fno-pic $level \
            -DCPUBIND_IMPLEMENTATION -x c -c cpubind.h -o "$object"
        nm -u "$object" >"$out/undefined"
        check "$text: no undefined names" is_empty "$out/undefined"
        nm "$object" | awk '$2 ~ /^[DBCdbc]$/' >"$out/writable"
        check "$text: no writable data" is_empty "$out/writable"
    done
}

check_freestanding gcc "$gcc"
check_freestanding clang "$clang"

# -- Programs ----------------------------------------------------------------

# A program of these sources exits with 0.
check_program() { # text, compiler and options, source ...
    text=$1 compiler=$2
    shift 2
    rm -f "$out/program"
    # shellcheck disable=SC2086
    if $compiler $warnings "$@" -o "$out/program" >"$out/log" 2>&1; then
        check "$text" "$out/program"
    else
        fail "$text" "$out/log"
    fi
}

check_program "included before, for and after the implementation" "$cc -std=c99" $here/twice.c
check_program "two files, one of them with the implementation" "$cc -std=c99" \
    $here/two_files.c $here/implementation.c
check_program "a private copy beside the public one" "$cc -std=c99" \
    $here/static_beside_extern.c $here/public_copy.c $here/implementation.c
for standard in c++11 c++17 c++20; do
    if [ -n "$gxx" ]; then
        check_program "a C++ program, g++ -std=$standard" "$gxx -std=$standard" $here/as_cxx.cc
    else
        skip "a C++ program, g++ -std=$standard" "no g++"
    fi
    if [ -n "$clangxx" ]; then
        check_program "a C++ program, clang++ -std=$standard" "$clangxx -std=$standard" \
            $here/as_cxx.cc
    else
        skip "a C++ program, clang++ -std=$standard" "no clang++"
    fi
done

# The first program of README.md.
awk '/^```c$/ && !done { on = 1; next } /^```$/ && on { on = 0; done = 1 } on' README.md \
    >"$out/readme.c"
for compiler in "$gxx" "$clangxx"; do
    for standard in c++11 c++17; do
        text="the program of README.md as C++, ${compiler:-no compiler} -std=$standard"
        if [ -z "$compiler" ]; then
            skip "$text" "no C++ compiler"
        elif [ ! -s "$out/readme.c" ]; then
            fail "$text" /dev/null
        elif "$compiler" -std=$standard -Wall -Wextra -I. -x c++ "$out/readme.c" \
            -o "$out/program" >"$out/log" 2>&1; then
            check "$text" "$out/program"
        else
            fail "$text" "$out/log"
        fi
    done
done

# The plans of random hosts, by each compiler and language.
hash_of() { # compiler and options
    # shellcheck disable=SC2086
    $1 $warnings $here/hash.c -o "$out/hash" >"$out/log" 2>&1 && "$out/hash" 5000
}
hash=$(hash_of "$cc -std=c99 -O0")
for how in "$gcc -std=c11 -O3" "$clang -std=c17 -O2" "$clang -std=c99 -O2 -ffreestanding" \
    "$gxx -std=c++20 -O2 -x c++" "$clangxx -std=c++11 -O1 -x c++"; do
    text="plans of random hosts are the same with $how"
    case $how in
    " "*) skip "$text" "no compiler" ;;
    *) check "$text" test "$(hash_of "$how")" = "$hash" ;;
    esac
done

# A program that was compiled with enums of their smallest size uses a core that was not.
for compiler in "$gcc" "$clang"; do
    text="-fshort-enums, ${compiler:-no compiler}: the same binary interface"
    if [ -z "$compiler" ]; then
        skip "$text" "no compiler"
        continue
    fi
    rm -f "$out/program"
    # shellcheck disable=SC2086
    if "$compiler" -std=c99 -c $here/implementation.c -o "$out/core.o" >"$out/log" 2>&1 &&
        "$compiler" -std=c99 $warnings -fshort-enums $here/short_enums.c "$out/core.o" \
            -o "$out/program" >"$out/log" 2>&1; then
        check "$text" "$out/program"
    else
        fail "$text" "$out/log"
    fi
done

if "$cc" -std=c99 $here/two_files.c -o "$out/program" >"$out/log" 2>&1; then
    echo "it linked" >"$out/log"
    fail "without the implementation there is a link error" "$out/log"
else
    check "without the implementation there is a link error" grep -q cpubind_slice "$out/log"
fi

late="CPUBIND_STATIC after a first include is an error that says what to do"
if "$cc" -std=c99 -c $here/late_static.c -o "$out/late.o" >"$out/log" 2>&1; then
    echo "it compiled" >"$out/log"
    fail "$late" "$out/log"
else
    check "$late" grep -q "define CPUBIND_STATIC before the first include" "$out/log"
fi

# -- The shared library ------------------------------------------------------

library=$out/libcpubind.so
check "the header is its own shared library" \
    "$cc" -shared -fPIC -DCPUBIND_EXPORT -DCPUBIND_IMPLEMENTATION -x c cpubind.h -o "$library"
nm -D --defined-only "$library" | awk '{ print $NF }' | sort >"$out/exported"
grep -v '^#' $here/symbols.txt | awk '{ print $1 }' | sort >"$out/expected"
check "it exports what symbols.txt lists, and no more" diff "$out/expected" "$out/exported"
# shellcheck disable=SC2016 # the dollars are awk's
check "symbols.txt says since which version" \
    awk '/^#/ { next } NF != 2 || $2 !~ /^[0-9]+\.[0-9]+\.[0-9]+$/ { print; bad = 1 }
         END { exit bad }' $here/symbols.txt
"$cc" -std=c11 -D_DEFAULT_SOURCE $here/dynamic.c -ldl -o "$out/dynamic" >"$out/log" 2>&1 ||
    cat "$out/log" >&2
check "its functions can be called by name" "$out/dynamic" "$library"

# Two libraries, each with its copy of another version of the header, in one process. The second
# version has a report that is 64 bytes longer, and writes them.
sed -e 's/^\(#define CPUBIND_VERSION_HEX *\)0x[0-9a-f]*/\10x7f0000/' \
    -e 's/^\(} cpubind_report;\)/    int32_t added[16];\n\1/' \
    -e 's/^\( *\)r->argument = NULL;/&\n\1for (int32_t i = 0; i < 16; i++) r->added[i] = 7;/' \
    cpubind.h >"$out/other.h"
for order in "mine other" "other mine"; do
    text="two versions in one process stay apart, loaded as: $order"
    cp cpubind.h "$out/mine.h"
    libraries=
    for name in $order; do
        "$cc" -std=c99 -shared -fPIC -DHEADER="\"$name.h\"" -DENTRY="run_$name" -I"$out" \
            $here/plugin.c $here/plugin_core.c -o "$out/plugin_$name.so" >"$out/log" 2>&1 ||
            cat "$out/log" >&2
        libraries="$libraries $out/plugin_$name.so"
    done
    "$cc" -std=c11 -D_DEFAULT_SOURCE $here/plugins.c -ldl -o "$out/plugins" >"$out/log" 2>&1 ||
        cat "$out/log" >&2
    # shellcheck disable=SC2086
    check "$text" "$out/plugins" $libraries
done
"$cc" -shared -fPIC -DCPUBIND_IMPLEMENTATION -x c cpubind.h -o "$out/hidden.so"
nm -D --defined-only "$out/hidden.so" | grep cpubind >"$out/exported"
check "without CPUBIND_EXPORT nothing is exported" is_empty "$out/exported"

# -- Size and version --------------------------------------------------------

# size_of TEXT LIMIT FILE: the file, which was compiled, has at most LIMIT bytes of text.
size_of() {
    bytes=$(size -A "$3" | awk '$1 ~ /^\.text/ { n += $2 } END { print n + 0 }')
    echo "# $1: $bytes bytes"
    echo "$bytes bytes" >"$out/log"
    if [ "$bytes" -gt 0 ] && [ "$bytes" -le "$2" ]; then
        pass "$1"
    else
        fail "$1" "$out/log"
    fi
}

# Bytes of all of it, and of a program that cuts slices and places roles alone.
check_size() { # compiler, what it is for, bytes, bytes of the program
    text="at most $3 bytes of text for $2 -O2, $4 with slices and roles alone"
    if [ -z "$1" ]; then
        skip "$text" "no compiler for $2"
    elif "$1" -std=c99 -O2 -ffunction-sections -DCPUBIND_IMPLEMENTATION -x c -c cpubind.h \
        -o "$out/sections.o" >"$out/log" 2>&1 &&
        "$1" -nostdlib -static -Wl,--gc-sections -Wl,-e,cpubind_place -Wl,-u,cpubind_slice \
            -Wl,--unresolved-symbols=ignore-all "$out/sections.o" -o "$out/alone" \
            >"$out/log" 2>&1; then
        size_of "$text: all" "$3" "$out/sections.o"
        size_of "$text: the program" "$4" "$out/alone"
    else
        fail "$text" "$out/log"
    fi
}
check_size "$gcc" "this machine" 24576 6144
check_size "$aarch64" aarch64 20480 6144

macro() { # the value of CPUBIND_VERSION_$1 or CPUBIND_VERSION
    awk -v name="CPUBIND_VERSION${1:+_$1}" '$1 == "#define" && $2 == name { print $3 }' cpubind.h
}
title=$(sed -n '1s|^/\* cpubind\.h - v\([0-9.]*\) - .*|\1|p' cpubind.h)
# shellcheck disable=SC2046 # three numbers
hex=$(printf '0x%02x%02x%02x' $(echo "$title" | tr . ' '))
echo "title $title, text $(macro ''), hex $(macro HEX)" >"$out/versions"
if [ -n "$title" ] && [ "\"$title\"" = "$(macro '')" ] && [ "$hex" = "$(macro HEX)" ]; then
    pass "title line and version macros agree"
else
    fail "title line and version macros agree" "$out/versions"
fi

echo "1..$tests"
[ "$failed" -eq 0 ]
