#!/bin/sh
# arm64.sh - the tests of the core, the parsers and the fixture hosts, for aarch64 by qemu; TAP
#
#   tests/checks/arm64.sh        from the top folder, after the tests were built; BUILD as there
#
# Without the libraries for aarch64 that tests/support/arm64.sh fetches (no network), all tests are
# skipped.

BUILD=${BUILD:-build}
out=$BUILD/arm64

. tests/support/kept.sh
keep_by "cpubind.h Makefile adapters fixtures tests/core tests/text tests/ascend tests/quality
    tests/support tests/vectors ${CPUBIND_SHARED:-../shared}" \
    "aarch64-linux-gnu-gcc aarch64-linux-gnu-ld qemu-aarch64-static" "$@"

give_up() {
    echo "ok 1 - tests on aarch64 # SKIP $1"
    echo "1..1"
    exit 0
}

command -v aarch64-linux-gnu-gcc >/dev/null 2>&1 || give_up "no aarch64-linux-gnu-gcc"
command -v qemu-aarch64-static >/dev/null 2>&1 || give_up "no qemu-aarch64-static"

mkdir -p "$out"
tests/support/arm64.sh "$out/cpubind" arm64-tests >"$out/log" 2>&1
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
CPUBIND_TEST_HOSTS=${CPUBIND_TEST_HOSTS:-1000}
CPUBIND_TEST_NEAR_HOSTS=${CPUBIND_TEST_NEAR_HOSTS:-1000}
run="qemu-aarch64-static -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=$lib"
export CPUBIND_TEST_HOSTS CPUBIND_TEST_NEAR_HOSTS run out

# The fixture hosts are replayed by the emulated command. Other tests try a change at each byte of
# a text, all views of a host, or so many hosts that a sum of them can be compared: minutes of
# emulation that say no more about the machine than the rest.
native_only="test_redact test_damaged test_mutations test_numa_maps test_views test_same_plans"

tests=
for test in "$out"/tests/core/test_* "$out"/tests/text/test_* "$out"/tests/ascend/test_*; do
    case " $native_only " in *" $(basename "$test") "*) continue ;; esac
    [ -x "$test" ] && tests="$tests $test"
done

# A test leaves its output in NAME.tap; NAME.failed is there when it failed.
rm -rf "$out/taps"
mkdir "$out/taps"
# shellcheck disable=SC2016,SC2086
printf '%s\n' $tests | xargs -P "$(nproc)" -I{} sh -c '
    tap=$out/taps/$(basename "$1")
    $run "$1" >"$tap.tap" 2>&1 || : >"$tap.failed"' sh {}
# shellcheck disable=SC2086
$run "$out/cpubind" fixture replay --db "$BUILD/fixtures.db" --format tap \
    >"$out/taps/replay.tap" 2>&1 || : >"$out/taps/replay.failed"
cat "$out"/taps/*.tap
for failed in "$out"/taps/*.failed; do
    [ ! -e "$failed" ] || {
        echo "# failed: $(basename "$failed" .failed)"
        exit 1
    }
done
