#!/bin/sh
# arm64.sh - the tests of the core and of the parsers, built for aarch64 and run by qemu; TAP
#
#   tests/checks/arm64.sh        from the top folder; BUILD is where objects go
#
# cmocka for aarch64 comes from Debian, unpacked below BUILD: nothing is installed, and the
# machine's list of architectures stays as it is. Without it (no network) the tests are skipped.

BUILD=${BUILD:-build}
out=$BUILD/arm64
apt=$out/apt

give_up() {
    echo "ok 1 - tests on aarch64 # SKIP $1"
    echo "1..1"
    exit 0
}

command -v aarch64-linux-gnu-gcc >/dev/null 2>&1 || give_up "no aarch64-linux-gnu-gcc"
command -v qemu-aarch64-static >/dev/null 2>&1 || give_up "no qemu-aarch64-static"

# An apt of its own: lists, cache and status below $apt.
fetch() {
    command -v apt-get >/dev/null 2>&1 || return 1
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    : >"$apt/status"
    top=$(pwd)
    (
        cd "$apt" || exit 1
        set -- -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
            -o Dir::State::lists="$top/$apt/lists" -o Dir::Cache="$top/$apt/cache" \
            -o Dir::State::status="$top/$apt/status" -o APT::Sandbox::User=root
        apt-get "$@" update && apt-get "$@" download libcmocka-dev libcmocka0 &&
            for deb in *.deb; do dpkg -x "$deb" root || exit 1; done
    ) >"$out/apt.log" 2>&1
}

mkdir -p "$out"
if [ ! -e "$apt/root/usr/include/cmocka.h" ]; then
    fetch || give_up "cmocka for aarch64 could not be fetched"
fi

lib=$apt/root/usr/lib/aarch64-linux-gnu
if ! make -s -j"$(nproc)" BUILD="$out" CC=aarch64-linux-gnu-gcc \
    CFLAGS="-O2 -g -Werror -idirafter $apt/root/usr/include" LDFLAGS="-L$lib -Wl,-rpath-link,$lib" \
    arm64-tests >"$out/log" 2>&1; then
    echo "not ok 1 - tests build for aarch64"
    sed 's/^/# /' "$out/log"
    echo "1..1"
    exit 1
fi

# Emulation is some twenty times slower: fewer random hosts.
CPUBIND_TEST_HOSTS=${CPUBIND_TEST_HOSTS:-5000}
export CPUBIND_TEST_HOSTS
failed=0
for test in "$out"/tests/core/test_* "$out"/tests/text/test_*; do
    [ -x "$test" ] || continue
    qemu-aarch64-static -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH="$lib" "$test" || failed=1
done
exit $failed
