#!/bin/sh
# fetch.sh - fetches the parts of an ARM virtual machine from Debian and builds the fake driver
#
#   tests/vm/fetch.sh            from the top folder; writes only below BUILD/vm
#
# The parts are a kernel, its headers, busybox, crun with its libraries, and the static
# libraries of the command. Must not install a package or change the architectures of this
# machine. Does nothing where all parts are present.

set -eu
here=$(dirname "$0")
vm=$(mkdir -p "${BUILD:-build}/vm" && cd "${BUILD:-build}/vm" && pwd)
apt=$vm/apt
packages="busybox-static libjansson-dev libsqlite3-dev libmd-dev
    crun libc6 libcap2 libgcrypt20 libgpg-error0 liblz4-1 liblzma5 libseccomp2 libsystemd0
    libyajl2 libzstd1"

# Runs a program of apt with lists, cache and status below $apt.
apt() { # program, arguments ...
    program=$1
    shift
    (cd "$apt" && "$program" -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 \
        -o APT::Architectures::="$(dpkg --print-architecture)" -o Dir::Cache="$apt/cache" \
        -o Dir::State::lists="$apt/lists" -o Dir::State::status="$apt/status" \
        -o APT::Sandbox::User=root "$@")
}

# Prints the package that a metapackage depends on: "linux-image-6.1.0-9-cloud-arm64".
real_package() { # metapackage
    apt apt-cache depends "$1" | sed -n 's/^ *Depends: \(linux-[a-z]*-[0-9].*\)$/\1/p' | head -n 1
}

fetch() {
    rm -rf "$apt"
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    : >"$apt/status"
    apt apt-get update
    image=$(real_package linux-image-cloud-arm64)
    headers=$(real_package linux-headers-cloud-arm64)
    common=${headers%-cloud-arm64}-common
    tools=linux-kbuild-$(echo "${headers#linux-headers-}" | cut -d . -f 1,2)
    # shellcheck disable=SC2086
    apt apt-get download "$image" "$headers" "$common" \
        "$tools:$(dpkg --print-architecture)" $packages
    for deb in "$apt"/*.deb; do dpkg -x "$deb" "$apt/root"; done
    mv "$apt/root/boot/vmlinuz"* "$apt/vmlinuz"
    # The Makefile of the headers names the common headers by their path in an installed system.
    mv "$apt/root/usr/src/$headers" "$apt/root/usr/src/headers"
    echo "include $apt/root/usr/src/$common/Makefile" >"$apt/root/usr/src/headers/Makefile"
    rm "$apt"/*.deb
}

build_driver() {
    mkdir -p "$vm/npu"
    cp "$here/npu.c" "$vm/npu/npu.c"
    echo 'obj-m := npu.o' >"$vm/npu/Kbuild"
    make -s -C "$apt/root/usr/src/headers" M="$vm/npu" ARCH=arm64 \
        CROSS_COMPILE=aarch64-linux-gnu- modules
}

if [ "$(cat "$apt/fetched" 2>/dev/null)" != "$vm $packages" ]; then
    fetch >"$vm/fetch.log" 2>&1 || { cat "$vm/fetch.log" >&2 && exit 1; }
    echo "$vm $packages" >"$apt/fetched"
    rm -rf "$vm/npu"
fi
if [ ! -e "$vm/npu/npu.ko" ] || ! cmp -s "$here/npu.c" "$vm/npu/npu.c"; then
    build_driver >"$vm/driver.log" 2>&1 || { cat "$vm/driver.log" >&2 && exit 1; }
fi
