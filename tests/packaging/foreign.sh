#!/bin/sh
# foreign.sh - libcpubind.so.1 on machines of another byte order and word size, by emulation
# SPDX-License-Identifier: MIT
# runs: check-foreign
# build: plain
#
#   tests/packaging/foreign.sh      from the top folder, after `make lib`
#
# Builds the library for s390x (big endian, 64 bits), armhf (little endian, 32 bits), powerpc
# (big endian, 32 bits) and aarch64, plans every fixture host there with qemu, and compares each plan, list, mask, map
# and error with those of this machine; and the hash of the plans of 100,000 random hosts by
# cpubind.h. Prints TAP; machines without a compiler are skipped.
LC_ALL=C
export LC_ALL

BUILD=${BUILD:-build}
out=$BUILD/foreign
here=tests/packaging
warnings='-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror'
mkdir -p "$out"
. tests/support/tap.sh

compile() { # compiler, library, program
    # shellcheck disable=SC2086
    "$1" -std=c11 -D_DEFAULT_SOURCE -O1 $warnings -pthread -Iadapters/api $here/api_plans.c \
        "$2" -o "$3"
}

build_for() { # name, compiler
    make --no-print-directory -s -j2 BUILD="$out/$1" CC="$2" CFLAGS="-O2 -Werror" \
        "$out/$1/libcpubind.so.1" && compile "$2" "$out/$1/libcpubind.so.1" "$out/$1/api_plans"
}

plans_as_here() { # name, emulator, folder of its libraries
    nice "$2" -L "$3" -E LD_LIBRARY_PATH="$out/$1" "$out/$1/api_plans" 1 fixtures/hosts/*.host \
        >"$out/$1/plans"
    status=$?
    [ $status -eq 0 ] || echo "exit status $status"
    diff "$out/plans" "$out/$1/plans" | cut -c 1-300 | head -n 20 >"$out/$1/diff"
    cat "$out/$1/diff"
    [ $status -eq 0 ] && [ ! -s "$out/$1/diff" ]
}

hash_of() { # name, compiler, emulator
    # shellcheck disable=SC2086
    "$2" -std=c99 -O2 $warnings -ffreestanding -static $here/hash.c -o "$out/hash_$1" &&
        nice ${3:+"$3"} "$out/hash_$1" 100000
}

hash_as_here() {
    hash_of "$@" | diff "$out/hash" -
}

check "the program builds for this machine" compile "${CC:-cc}" "$BUILD/libcpubind.so.1" \
    "$out/api_plans"
LD_LIBRARY_PATH=$BUILD "$out/api_plans" 1 fixtures/hosts/*.host >"$out/plans" || {
    echo "not ok 2 - plans of this machine"
    exit 1
}
hash_of here "${CC:-cc}" >"$out/hash"
echo "# $(grep -c '^rank' "$out/plans") plans, $(wc -c <"$out/plans") bytes"
while read -r name triple qemu; do
    text="$name: plans, lists, masks and errors of every fixture are those of this machine"
    if ! command -v "$triple-gcc" >/dev/null 2>&1; then
        skip "$text" "no $triple-gcc"
    elif ! command -v "qemu-$qemu-static" >/dev/null 2>&1; then
        skip "$text" "no qemu-$qemu-static"
    else
        check "$name: the library builds" build_for "$name" "$triple-gcc"
        check "$text" plans_as_here "$name" "qemu-$qemu-static" "/usr/$triple"
        check "$name: 100,000 random plans have the hash $(cat "$out/hash")" hash_as_here \
            "$name" "$triple-gcc" "qemu-$qemu-static"
    fi
done <<LIST
s390x s390x-linux-gnu s390x
armhf arm-linux-gnueabihf arm
powerpc powerpc-linux-gnu ppc
aarch64 aarch64-linux-gnu aarch64
LIST
finish
