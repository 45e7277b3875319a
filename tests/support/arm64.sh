#!/bin/sh
# runs: by make
# arm64.sh - builds targets of the Makefile for aarch64, below BUILD/arm64
#
#   tests/support/arm64.sh TARGET...     from the top folder
#
# What is tested by emulation, the shared library and the virtual machines have these objects in
# common: one build at a time makes them. The libraries that the command and the tests need are
# fetched from Debian, and are unpacked below BUILD/arm64. Exit 2 when that fails for lack of them.

BUILD=${BUILD:-build}
out=$BUILD/arm64
apt=$out/apt
lib=$apt/root/usr/lib/aarch64-linux-gnu
mkdir -p "$out"
exec 9>"$out/lock"
flock 9
adapters/packaging/arm64_libraries.sh "$apt" || failure=2
make --no-print-directory -s -j"$(nproc)" BUILD="$out" CC=aarch64-linux-gnu-gcc \
    CFLAGS="-O1 -Werror -idirafter $apt/root/usr/include" \
    LDFLAGS="-L$lib -Wl,-rpath-link,$lib" "$@" || exit "${failure:-1}"
