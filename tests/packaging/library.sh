#!/bin/sh
# library.sh - libcpubind.so.1: what it needs, many threads, other copies of the core beside it
# SPDX-License-Identifier: MIT
# runs: check-all
# build: plain
#
#   tests/packaging/library.sh      from the top folder, after `make lib`
#
# Prints TAP. Builds the library with the thread sanitizer, below BUILD/library.
LC_ALL=C
export LC_ALL

BUILD=${BUILD:-build}
out=$BUILD/library
here=tests/packaging
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror'
newest=2.28
mkdir -p "$out"
. tests/support/tap.sh

library=$BUILD/libcpubind.so.1
if [ ! -e "$library" ]; then
    skip "the shared library" "no libcpubind.so.1: make lib"
    finish
    exit
fi

build_with() { # folder, flags
    make --no-print-directory -s -j"$(nproc)" BUILD="$out/$1" CC=gcc CFLAGS="$2" \
        "$out/$1/libcpubind.so.1"
}

needs_libc_alone() { # library
    objdump -p "$1" | awk '$1 == "NEEDED" { print $2 }' >"$out/needed"
    cat "$out/needed"
    grep -q '^libc\.so\.' "$out/needed" && ! grep -vE '^(libc\.so\.[0-9]+|ld-linux.*)$' \
        "$out/needed"
}

is_for_old_glibc() { # library
    objdump -T "$1" | grep -oE 'GLIBC_[0-9.]+' | sort -u -V >"$out/glibc"
    cat "$out/glibc"
    [ -s "$out/glibc" ] &&
        [ "$({ cat "$out/glibc"; echo GLIBC_$newest; } | sort -V | tail -n 1)" = GLIBC_$newest ]
}

has_soname() { # library
    objdump -p "$1" | grep -E 'SONAME|TEXTREL|RUNPATH|RPATH' | awk '{ $1 = $1 } 1' >"$out/dynamic"
    echo "SONAME libcpubind.so.1" | diff - "$out/dynamic"
}

compile() { # program, compiler and options, source
    program=$1
    shift
    # shellcheck disable=SC2068,SC2086
    $@ -std=c11 -D_DEFAULT_SOURCE $warnings -Iadapters/api "$here/$program.c" \
        -o "$out/$program"
}

threads_agree() { # threads, host ...
    n=$1
    shift
    $alone "$out/api_plans" "$n" "$@" >"$out/many" || return 1
    $alone "$out/api_plans" 1 "$@" | cmp - "$out/many"
}

check "it needs libc alone" needs_libc_alone "$library"
check "it needs no symbol newer than glibc $newest" is_for_old_glibc "$library"
check "its name is libcpubind.so.1, it has no path and no relocation of code" has_soname \
    "$library"
cross=aarch64-linux-gnu-gcc
arm64=$BUILD/arm64/libcpubind.so.1
if ! command -v $cross >/dev/null 2>&1; then
    skip "the same for aarch64" "no $cross"
else
    check "it builds for aarch64" tests/support/arm64.sh "$arm64"
    check "for aarch64 it needs libc alone" needs_libc_alone "$arm64"
    check "for aarch64 it needs no symbol newer than glibc $newest" is_for_old_glibc "$arm64"
    check "for aarch64 its name is libcpubind.so.1" has_soname "$arm64"
fi

# -- Other copies of the core ------------------------------------------------

# The second version has a plan that is 64 bytes longer, and writes them.
two_versions_and_the_library() {
    cp cpubind.h "$out/mine.h"
    sed -e 's/^\(#define CPUBIND_VERSION_HEX *\)0x[0-9a-f]*/\10x7f0000/' \
        -e 's/^\(} cpubind_plan;\)/    int32_t added[16];\n\1/' \
        -e 's/^\( *\)plan->n_work = 0;/&\n\1for (int32_t i = 0; i < 16; i++) plan->added[i] = 7;/' \
        cpubind.h >"$out/other.h"
    for name in mine other; do
        ${CC:-cc} -std=c99 -shared -fPIC -DHEADER="\"$name.h\"" -DENTRY="run_$name" -I"$out" \
            $here/plugin.c $here/plugin_core.c -o "$out/plugin_$name.so" || return 1
    done
    # The program has a third copy, whose names are visible to all.
    ${CC:-cc} -std=c11 -D_DEFAULT_SOURCE -DCPUBIND_EXPORT -rdynamic -Wall -Wextra -Werror \
        -Iadapters/api $here/beside_library.c "$library" -ldl -o "$out/beside" || return 1
    LD_LIBRARY_PATH=$BUILD "$out/beside" fixtures/hosts/a2-192cpu-8npu.host "$out/plugin_mine.so" \
        "$out/plugin_other.so"
}
check "two other versions of the core, and one in the program, stay apart from it" \
    two_versions_and_the_library

# -- Threads -----------------------------------------------------------------

hosts='fixtures/hosts/a2-192cpu-8npu.host fixtures/hosts/950-container-1npu.host fixtures/hosts/too-few.host
fixtures/hosts/gpu-none.host'
alone="env LD_LIBRARY_PATH=$BUILD"
check "a program that plans in threads compiles" compile api_plans "${CC:-cc}" -pthread \
    -O1 "-L$BUILD" "-Wl,--no-as-needed" "$library"
# shellcheck disable=SC2086
check "64 threads plan from the same hosts as one thread does" threads_agree 64 $hosts
# It sees a race of two: more threads than that take longer, and show no more.
text="8 threads under the thread sanitizer"
tsan='-O1 -g1 -fsanitize=thread'
# The sanitizer wants the addresses that it knows.
alone="setarch $(uname -m) -R env LD_LIBRARY_PATH=$out/tsan TSAN_OPTIONS=halt_on_error=1"
echo 'int main(void) { return 0; }' >"$out/empty.c"
# shellcheck disable=SC2086
if gcc $tsan "$out/empty.c" -o "$out/empty" 2>/dev/null && $alone "$out/empty" 2>/dev/null; then
    check "it builds with the thread sanitizer" build_with tsan "$tsan"
    check "the program builds with the thread sanitizer" compile api_plans gcc $tsan -pthread \
        "$out/tsan/libcpubind.so.1"
    # shellcheck disable=SC2086
    check "$text" threads_agree 8 $hosts
else
    skip "$text" "gcc -fsanitize=thread makes no program that runs here"
fi
finish
