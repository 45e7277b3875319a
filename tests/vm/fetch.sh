#!/bin/sh
# runs: by make
# fetch.sh - fetches the parts of ARM virtual machines from Debian and builds the fake driver
#
#   tests/vm/fetch.sh [slurm]    from the top folder; writes only below BUILD/vm
#
# The parts are two kernels and their headers, busybox, crun and sqlite3 with their libraries. The kernels are
# that of this Debian (bookworm: 6.1) and that of its backports (6.12); KERNEL/vmlinuz and
# KERNEL/npu.ko are below BUILD/vm/kernels. With `slurm` Slurm, too, below BUILD/vm/slurm, with all
# that it depends on and its headers. Reads no list of sources of this machine. Must not
# install a package or change the architectures of this machine. Does nothing where all parts are
# present.

set -eu
here=$(dirname "$0")
vm=$(mkdir -p "${BUILD:-build}/vm" && cd "${BUILD:-build}/vm" && pwd)
apt=$vm/apt
release=bookworm
packages="busybox-static crun libc6 libcap2 libgcrypt20 libgpg-error0 liblz4-1 liblzma5
    libseccomp2 libsystemd0 libyajl2 libzstd1 sqlite3 libsqlite3-0 libreadline8 libtinfo6 zlib1g"

# Runs a program of apt with lists, cache and status below $apt.
apt() { # program, arguments ...
    program=$1
    shift
    (cd "$apt" && "$program" -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 \
        -o APT::Architectures::="$(dpkg --print-architecture)" -o Dir::Cache="$apt/cache" \
        -o Dir::State::lists="$apt/lists" -o Dir::State::status="$apt/status" \
        -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=- \
        -o APT::Sandbox::User=root "$@")
}

# Prints the package that a metapackage depends on: "linux-image-6.1.0-9-cloud-arm64".
real_package() { # metapackage
    apt apt-cache -t "$suite" depends "$1" |
        sed -n 's/^ *Depends: \(linux-[a-z]*-[0-9].*\)$/\1/p' | head -n 1
}

# Unpacks all packages that were downloaded into a folder.
unpack() { # folder
    mkdir -p "$1"
    for deb in "$apt"/*.deb; do dpkg -x "$deb" "$1"; done
    rm "$apt"/*.deb
}

fetch_kernel() { # its number, suite
    suite=$2
    image=$(real_package linux-image-cloud-arm64)
    headers=$(real_package linux-headers-cloud-arm64)
    common=${headers%-cloud-arm64}-common
    tools=$(apt apt-cache -t "$suite" depends "$headers" |
        sed -n 's/^ *Depends: \(linux-kbuild-.*\)$/\1/p')
    apt apt-get download -t "$suite" "$image" "$headers" "$common" \
        "$tools:$(dpkg --print-architecture)"
    unpack "$vm/kernels/$1/root"
    mv "$vm/kernels/$1/root/boot/vmlinuz"* "$vm/kernels/$1/vmlinuz"
    # The Makefile of the headers names the common headers by their path in an installed system.
    sources=$vm/kernels/$1/root/usr/src
    mv "$sources/$headers" "$sources/headers"
    echo "include $sources/$common/Makefile" >"$sources/headers/Makefile"
}

fetch() {
    rm -rf "$apt" "$vm/kernels"
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    : >"$apt/status"
    for suite in "debian $release" "debian $release-backports" "debian-security $release-security"; do
        echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
            "http://deb.debian.org/$suite main"
    done >"$apt/sources.list"
    apt apt-get update
    fetch_kernel 6.1 "$release-security"
    fetch_kernel 6.12 "$release-backports"
    # shellcheck disable=SC2086
    apt apt-get download $packages
    unpack "$apt/root"
}

# By its status file apt has nothing installed, and downloads whatever they depend on.
fetch_slurm() {
    rm -rf "$vm/slurm" "$apt"/cache/archives/*.deb
    apt apt-get update
    apt apt-get install -y --no-install-recommends --download-only slurmctld slurmd slurm-client \
        munge libslurm-dev
    mv "$apt"/cache/archives/*.deb "$apt/"
    unpack "$vm/slurm/root"
}

build_driver() { # the number of a kernel
    at=$vm/kernels/$1
    mkdir -p "$at/npu"
    rm -f "$at/npu.ko"
    cp "$here/npu.c" "$at/npu/npu.c"
    echo 'obj-m := npu.o' >"$at/npu/Kbuild"
    # A CC= of the command line is for the host: the kernel's makefile would take it for its own.
    env -u MAKEFLAGS make -s -C "$at/root/usr/src/headers" M="$at/npu" ARCH=arm64 \
        CROSS_COMPILE=aarch64-linux-gnu- CONFIG_DEBUG_INFO_BTF_MODULES= modules
    cp "$at/npu/npu.ko" "$at/npu.ko"
}

# A step that fails ends this script, and its output is printed. No step may be part
# of a condition, where set -e does nothing.
log=$vm/fetch.log
trap 'cat "$log" >&2' EXIT
if [ "$(cat "$apt/fetched" 2>/dev/null)" != "$vm $packages" ]; then
    fetch >"$log" 2>&1
    echo "$vm $packages" >"$apt/fetched"
fi
if [ "${1:-}" = slurm ] && [ ! -e "$vm/slurm/fetched" ]; then
    fetch_slurm >"$log" 2>&1
    : >"$vm/slurm/fetched"
fi
for kernel in 6.1 6.12; do
    at=$vm/kernels/$kernel
    if [ ! -e "$at/npu.ko" ] || ! cmp -s "$here/npu.c" "$at/npu/npu.c"; then
        build_driver $kernel >"$log" 2>&1
    fi
done
trap - EXIT
