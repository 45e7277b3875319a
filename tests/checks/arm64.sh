#!/bin/sh
# arm64.sh - the tests of the core, the parsers and the fixture hosts, for aarch64 by qemu; TAP
# runs: check-all
# build: plain
#
#   tests/checks/arm64.sh        from the top folder, after the tests were built; BUILD as there
#
# Without the libraries for aarch64 that tests/support/arm64.sh fetches (no network), all tests are
# skipped.

BUILD=${BUILD:-build}
out=$BUILD/arm64

give_up() {
    echo "ok 1 - tests on aarch64 # SKIP $1"
    echo "1..1"
    exit 0
}

command -v aarch64-linux-gnu-gcc >/dev/null 2>&1 || give_up "no aarch64-linux-gnu-gcc"
command -v qemu-aarch64-static >/dev/null 2>&1 || give_up "no qemu-aarch64-static"

mkdir -p "$out"
tests/support/arm64.sh "$out/cpubind" test >"$out/log" 2>&1
case $? in
0) ;;
2) give_up "libraries for aarch64 could not be fetched" ;;
*)
    echo "not ok 1 - tests build for aarch64"
    sed 's/^/# /' "$out/log"
    echo "1..1"
    exit 1
    ;;
esac
lib=$out/apt/root/usr/lib/aarch64-linux-gnu

# Emulation is about twenty times slower: fewer random hosts. All of them run natively.
export CPUBIND_TEST_HOSTS=1000 CPUBIND_TESTS=tests
run="qemu-aarch64-static -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=$lib"

# What depends on the machine: the core, and the readers. The fixture hosts are replayed by the
# emulated command.
emulated() { # group
    # shellcheck disable=SC2086
    $run "$out/test" --here "$1" 2>&1
}

. tests/support/tap.sh
for group in $("$BUILD/san/test" --list core/ | grep -v same_plans) $("$BUILD/san/test" --list cases/read); do
    check "$group on aarch64" emulated "$group"
done
# shellcheck disable=SC2086
check "the fixture hosts on aarch64" $run "$out/cpubind" fixture replay --quiet --db "$BUILD/fixtures.db"
finish
