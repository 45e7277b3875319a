#!/bin/sh
# packages.sh - the packages of `make packages` install, run and are removed; prints TAP
# runs: check-packages
# build: plain
#
#   tests/packaging/packages.sh      from the top folder, as root, after `make packages`
#
# Makes a new Debian and a new Ubuntu with debootstrap below BUILD/check-packages, which are kept
# for the next time; every test uses a copy. Without root or a network the tests that need them are
# skipped.
# CPUBIND_ONCE=1 skips the second build, which takes the longest.

BUILD=${BUILD:-build}
mkdir -p "$BUILD/check-packages"
out=$(cd "$BUILD/check-packages" && pwd)
made=$(cd "$BUILD/packages" && pwd) || exit 1
static=$(cd "$BUILD/static" && pwd) || exit 1
here=$(pwd)
version=$("$static/cpubind-x86_64" --version | sed 's/cpubind \([^,]*\).*/\1/')
host=a3-640cpu-16npu
. tests/support/tap.sh

# -- The same bytes ----------------------------------------------------------

sums_are_right() {
    cd "$made" && sha256sum -c SHA256SUMS && cd "$here" && [ "$(wc -l <"$made/SHA256SUMS")" -eq 14 ]
}

# A second build, from the archive of make dist, in a folder with another and a longer name.
second_build_is_the_same() {
    rm -rf "$out/again"
    mkdir -p "$out/again/and/longer"
    git clone -q . "$out/again/and/longer/tree" && git -C "$out/again/and/longer/tree" \
        checkout -q "$(git rev-parse HEAD)" || return 1
    mkdir -p "$out/again/and/longer/tree/build/static"
    cp -a "$static/apt" "$out/again/and/longer/tree/build/static/apt"
    (unset SOURCE_DATE_EPOCH MAKEFLAGS MAKELEVEL VERSION BUILD
        umask 077
        cd "$out/again/and/longer/tree" && TZ=Asia/Tokyo LC_ALL=C.UTF-8 make -s packages) &&
        diff "$made/SHA256SUMS" "$out/again/and/longer/tree/build/packages/SHA256SUMS"
}
dist_builds() {
    rm -rf "$out/dist" && mkdir "$out/dist" &&
        tar -xzf "$made/cpubind-$version.tar.gz" -C "$out/dist" &&
        (unset SOURCE_DATE_EPOCH MAKEFLAGS MAKELEVEL VERSION BUILD
            cd "$out/dist/cpubind-$version" && make -s all &&
                build/cpubind plan --fixture $host >/dev/null)
}

# -- The static command ------------------------------------------------------

# An empty root with the command, a corpus and a captured host. Without /proc, /dev and libraries.
empty_root() { # architecture
    rm -rf "$out/empty"
    mkdir "$out/empty"
    cp "$static/cpubind-$1" "$out/empty/cpubind"
    cp "$static/fixtures.db" "$out/empty/fixtures.db"
    cp fixtures/hosts/$host.host "$out/empty/host"
    if [ "$1" != "$(uname -m)" ]; then
        cp "$(command -v "qemu-$1-static")" "$out/empty/qemu" || return 1
    fi
}
in_empty() { # arguments of cpubind
    if [ -x "$out/empty/qemu" ]; then
        chroot "$out/empty" /qemu /cpubind "$@"
    else
        chroot "$out/empty" /cpubind "$@"
    fi
}
static_plans() { # architecture
    empty_root "$1" || return 1
    "$static/cpubind-x86_64" plan --db "$static/fixtures.db" --fixture $host --json >"$out/expected" || return 1
    in_empty plan --db /fixtures.db --fixture $host --json >"$out/got" && diff "$out/expected" "$out/got" &&
        in_empty plan --fixture $host --json | diff "$out/expected" - &&
        in_empty plan --root /host --quiet >"$out/text" && [ -s "$out/text" ]
}
is_static() { # architecture
    ! readelf -ld "$static/cpubind-$1" | grep -E 'INTERP|NEEDED'
}
# There is no host in an empty root: status and apply refuse it with a sentence.
static_looks_and_binds() { # architecture
    empty_root "$1" || return 1
    in_empty doctor --fixture $host >"$out/doctor"
    [ $? -le 1 ] && [ -s "$out/doctor" ] || return 1
    for word in status apply; do
        in_empty $word --quiet >"$out/text" 2>&1
        status=$?
        cat "$out/text"
        case $word in
        status) [ $status -le 3 ] || return 1 ;;
        apply) [ $status -ge 1 ] && [ $status -le 4 ] || return 1 ;;
        esac
        [ -s "$out/text" ] || return 1
    done
    [ "$(in_empty --version | cut -d, -f1)" = "cpubind $version" ]
}
# apply of the static command on a process of its own, with the files of a host in the place of
# npu-smi: the records go to a folder of their own.
static_applies() { # architecture
    emulator=
    [ "$1" = "$(uname -m)" ] || emulator=qemu-$1-static
    sleep 60 &
    pid=$!
    # shellcheck disable=SC2086
    $emulator "$static/cpubind-$1" apply --pid $pid --device npu0 --root "$here/fixtures/hosts/$host.host" -o any-arch=yes \
        --allowed 0-639 --memory none >"$out/text" 2>&1
    status=$?
    cat "$out/text"
    kill $pid
    # The CPUs of the host are not those of this machine: bound, or refused with a sentence.
    [ $status -le 4 ] && grep -qE 'cpubind: |bound' "$out/text"
}

# -- Debian and Ubuntu -------------------------------------------------------

new_system() { # debian|ubuntu
    system=$out/$1
    [ -e "$system.made" ] && return 0
    rm -rf "$system"
    case $1 in
    debian) set -- bookworm "$system" http://deb.debian.org/debian ;;
    ubuntu) set -- jammy "$system" http://archive.ubuntu.com/ubuntu ;;
    esac
    debootstrap --variant=minbase --include=gcc,libc6-dev,pkg-config,cmake,make,man-db "$@" \
        >"$out/debootstrap.log" 2>&1 && touch "$system.made"
}
copy_of_system() {
    rm -rf "$out/root" && cp -a --reflink=auto "$system" "$out/root" && cp fixtures/hosts/$host.host "$out/root/srv/host"
}
in_root() {
    LC_ALL=C.UTF-8 chroot "$out/root" "$@"
}
# Every file but those in which package managers keep their own account.
files_of_root() {
    (cd "$out/root" && find . -xdev ! -path './var/lib/dpkg/*' ! -path './var/cache/*' \
        ! -path './var/log/*' ! -path './var/lib/rpm/*' ! -path './tmp/*' ! -path './root/*' \
        ! -path './usr/lib/sysimage/*' ! -path './proc/*' | sort)
}
command_runs() {
    [ "$(in_root cpubind --version | cut -d, -f1)" = "cpubind $version" ] &&
        in_root cpubind plan --fixture $host --json >"$out/got" &&
        "$static/cpubind-x86_64" plan --db "$static/fixtures.db" --fixture $host --json | diff - "$out/got" &&
        in_root cpubind plan --root /srv/host --quiet
}
# A program is built and run: with pkg-config, then with find_package.
libraries_work() {
    cp "$BUILD/installed/user.c" "$out/root/srv/user.c" 2>/dev/null || write_user
    # shellcheck disable=SC2016
    in_root sh -ec 'cd /srv && gcc -Wall -Werror user.c $(pkg-config --cflags --libs cpubind) -o user
        ./user /srv/host
        mkdir -p cmake && cp user.c cmake
        printf "cmake_minimum_required(VERSION 3.13)\nproject(user C)\nfind_package(cpubind REQUIRED)\n" >cmake/CMakeLists.txt
        printf "add_executable(user user.c)\ntarget_link_libraries(user cpubind::cpubind)\n" >>cmake/CMakeLists.txt
        cmake -S cmake -B cmake/build >/dev/null && cmake --build cmake/build >/dev/null
        cmake/build/user /srv/host
        ldd user | grep libcpubind.so.1'
}
write_user() {
    cat >"$out/root/srv/user.c" <<'EOF'
#include <cpubind_api.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    cpb_error *error = NULL;
    cpb_host *host = argc > 1 ? cpb_host_folder(argv[1], &error) : NULL;
    cpb_plan *plan = host ? cpb_plan_make(host, NULL, &error) : NULL;
    const int32_t *devices, n = plan ? cpb_plan_devices(plan, &devices) : 0;
    printf("%d %s\n", (int)n, plan ? cpb_version() : cpb_error_text(error));
    cpb_plan_free(plan);
    cpb_host_close(host);
    return n == 16 ? 0 : 1;
}
EOF
}
pages_are_read() {
    for page in cpubind cpubind-plan cpubind-apply cpubind.conf '3 cpubind'; do
        # shellcheck disable=SC2086
        in_root man $page 2>/dev/null | grep -q NAME || { echo "no page: $page" && return 1; }
    done
}
service_is_not_enabled() {
    [ -f "$out/root/usr/lib/systemd/system/cpubind.service" ] &&
        ! find "$out/root/etc/systemd" "$out/root/var/lib/systemd" -name 'cpubind*' 2>/dev/null | grep .
}

deb_installs() {
    copy_of_system && files_of_root >"$out/before" &&
        cp "$made/cpubind_$version-1_amd64.deb" "$made/libcpubind-dev_$version-1_amd64.deb" "$out/root/tmp/" &&
        in_root sh -c 'dpkg -i /tmp/*.deb'
}
deb_is_verified() {
    in_root dpkg --verify cpubind libcpubind-dev >"$out/text" && [ ! -s "$out/text" ]
}
deb_leaves_nothing() {
    rm -rf "$out/root/srv/user" "$out/root/srv/user.c" "$out/root/srv/cmake"
    in_root dpkg --remove libcpubind-dev cpubind && in_root dpkg --purge libcpubind-dev cpubind
    files_of_root | diff "$out/before" - && ! in_root ldconfig -p | grep cpubind
}
deb_of_arm64_runs() {
    rm -rf "$out/arm64" && mkdir "$out/arm64" &&
        dpkg-deb -x "$made/cpubind_$version-1_arm64.deb" "$out/arm64" &&
        qemu-aarch64-static "$out/arm64/usr/bin/cpubind" plan --fixture $host --json >"$out/got" &&
        "$static/cpubind-x86_64" plan --db "$static/fixtures.db" --fixture $host --json | diff - "$out/got" &&
        [ "$(dpkg-deb -f "$made/cpubind_$version-1_arm64.deb" Architecture)" = arm64 ] &&
        readelf -h "$out/arm64/usr/lib/aarch64-linux-gnu/libcpubind.so.1" | grep -q AArch64
}

# -- RPM ---------------------------------------------------------------------

# The tree of Debian has ldconfig and a shell, which the scripts need, and no package glibc.
rpm_installs() {
    copy_of_system && mkdir -p "$out/root/usr/lib64" && rpm --root "$out/root" --initdb &&
        files_of_root >"$out/before" &&
        rpm --root "$out/root" --nodeps -i "$made/cpubind-$version-1.x86_64.rpm" \
            "$made/cpubind-devel-$version-1.x86_64.rpm" &&
        echo /usr/lib64 >"$out/root/etc/ld.so.conf.d/lib64.conf" && in_root ldconfig
}
rpm_is_verified() {
    rpm --root "$out/root" --nodeps -V cpubind cpubind-devel
}
rpm_needs_glibc_alone() {
    ! rpm -qp --requires "$made/cpubind-$version-1.x86_64.rpm" "$made/cpubind-$version-1.aarch64.rpm" |
        grep -vE '^(rpmlib\(|/bin/sh$|glibc >= 2\.28$)'
}
rpm_libraries_work() {
    export PKG_CONFIG_PATH=/usr/lib64/pkgconfig cpubind_DIR=/usr/lib64/cmake/cpubind
    libraries_work
    status=$?
    unset PKG_CONFIG_PATH cpubind_DIR
    return $status
}
rpm_leaves_nothing() {
    rm -rf "$out/root/srv/user" "$out/root/srv/user.c" "$out/root/srv/cmake" \
        "$out/root/etc/ld.so.conf.d/lib64.conf"
    rpm --root "$out/root" --nodeps -e cpubind-devel cpubind
    files_of_root | diff "$out/before" -
}
rpm_of_aarch64_runs() {
    rm -rf "$out/arm64" && mkdir "$out/arm64" && cd "$out/arm64" &&
        rpm2cpio "$made/cpubind-$version-1.aarch64.rpm" | cpio -idm --quiet && cd "$here" &&
        qemu-aarch64-static "$out/arm64/usr/bin/cpubind" plan --fixture $host --json >"$out/got" &&
        "$static/cpubind-x86_64" plan --db "$static/fixtures.db" --fixture $host --json | diff - "$out/got"
}
no_symbol_is_newer_than_glibc_2_28() {
    for package in "$out/symbols_amd64" "$out/symbols_arm64"; do
        arch=${package##*_}
        rm -rf "$package" && dpkg-deb -x "$made/cpubind_$version-1_$arch.deb" "$package" || return 1
        newest=$(objdump -T "$package"/usr/lib/*/libcpubind.so.1 2>/dev/null |
            grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
        echo "$arch: $newest"
        [ "$(printf '%s\nGLIBC_2.28\n' "$newest" | sort -V | tail -n 1)" = GLIBC_2.28 ] || return 1
    done
}

check "SHA256SUMS is right and has every file" sums_are_right
if [ "${CPUBIND_ONCE:-}" ]; then
    skip "a second build elsewhere gives the same bytes" "CPUBIND_ONCE is set"
    skip "the archive of make dist builds" "CPUBIND_ONCE is set"
else
    check "a second build elsewhere gives the same bytes" second_build_is_the_same
    check "the archive of make dist builds" dist_builds
fi
check "libcpubind.so.1 needs no symbol newer than glibc 2.28" no_symbol_is_newer_than_glibc_2_28
for machine in x86_64 aarch64; do
    check "cpubind-$machine needs no library" is_static $machine
    if [ "$(id -u)" -eq 0 ]; then
        check "cpubind-$machine plans in an empty root" static_plans $machine
        check "cpubind-$machine: doctor, status and apply in an empty root" static_looks_and_binds $machine
    else
        skip "cpubind-$machine in an empty root" "not root"
    fi
    check "cpubind-$machine: apply on a process" static_applies $machine
done
check "the package for arm64 runs by emulation" deb_of_arm64_runs
check "the package for aarch64 runs by emulation" rpm_of_aarch64_runs
check "the RPM packages need glibc alone" rpm_needs_glibc_alone
for name in ubuntu debian; do
    if [ "$(id -u)" -ne 0 ]; then
        skip "packages in a new $name" "not root"
    elif ! new_system $name; then
        skip "packages in a new $name" "debootstrap failed: $out/debootstrap.log"
    else
        check "deb: a new $name installs both packages" deb_installs
        check "deb: $name: the files are those of the packages" deb_is_verified
        check "deb: $name: the command plans" command_runs
        check "deb: $name: pkg-config and find_package build a program" libraries_work
        check "deb: $name: man finds the pages" pages_are_read
        check "deb: $name: the service is there and not enabled" service_is_not_enabled
        check "deb: $name: removing leaves nothing" deb_leaves_nothing
    fi
done
if [ -e "$out/debian.made" ] && [ "$(id -u)" -eq 0 ]; then
    check "rpm: both packages install" rpm_installs
    check "rpm: the files are those of the packages" rpm_is_verified
    check "rpm: the command plans" command_runs
    check "rpm: pkg-config and find_package build a program" rpm_libraries_work
    check "rpm: the service is there and not enabled" service_is_not_enabled
    check "rpm: removing leaves nothing" rpm_leaves_nothing
fi
finish
