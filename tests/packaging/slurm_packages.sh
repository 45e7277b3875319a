#!/bin/sh
# slurm_packages.sh - test the packages with the SPANK plugin; prints TAP
# SPDX-License-Identifier: MIT
# runs: check-all
# build: plain
#
#   tests/packaging/slurm_packages.sh     from the top folder; BUILD is where the plugin is
#
# Unpacks and installs below BUILD alone. What the plugin does is tested by tests/slurm.
LC_ALL=C
export LC_ALL

BUILD=${BUILD:-build}
out=$BUILD/slurm-packages
plugin=$BUILD/slurm/spank_cpubind.so

stop() { # reason
    echo "ok 1 - the packages of the plugin # SKIP $1"
    echo "1..1"
    exit 0
}

[ -f "$plugin" ] || stop "the plugin is not built: there was no spank.h (libslurm-dev)"
rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
. tests/support/tap.sh
cp "$plugin" "$out/plugin.so"

release=$(sed -n 's/^#define SLURM_VERSION_NUMBER 0x\(..\)\(..\).*$/\1 \2/p' \
    /usr/include/slurm/slurm_version.h | while read -r major minor; do
    printf '%d.%02d' "0x$major" "0x$minor"
done)
VERSION=7.8.9
SOURCE_DATE_EPOCH=1700000000
export VERSION SOURCE_DATE_EPOCH

packages_are_built() {
    adapters/packaging/slurm.sh "$out/plugin.so" "$out/first" && [ -n "$(ls "$out/first")" ]
}

the_same_plugin_gives_the_same_bytes() {
    sleep 1
    adapters/packaging/slurm.sh "$out/plugin.so" "$out/second" &&
        diff -r "$out/first" "$out/second"
}

# Exactly the plugin, its page, the epilog and the licence, as they are in the tree; root's, and for
# all.
has_its_files() { # tree, the plugin, the licence
    (cd "$1" && find . -type f | sort) >"$out/files"
    printf '%s\n' "./$2" ./usr/share/doc/cpubind-slurm/SLURM.md \
        ./usr/share/doc/cpubind-slurm/epilog.sh "./usr/share/doc/cpubind-slurm/$3" | sort |
        diff - "$out/files" &&
        cmp "$1/usr/share/doc/cpubind-slurm/SLURM.md" adapters/slurm/SLURM.md &&
        cmp "$1/usr/share/doc/cpubind-slurm/epilog.sh" adapters/slurm/epilog.sh &&
        cmp "$1/usr/share/doc/cpubind-slurm/$3" LICENSE &&
        [ "$(find "$1" -type f ! -perm 644)" = "$1/usr/share/doc/cpubind-slurm/epilog.sh" ] &&
        [ "$(nm -D --defined-only "$1/$2" | grep -c ' T slurm_spank_\(init\|user_init\|task_init\|exit\)$')" -eq 4 ] &&
        readelf -d "$1/$2" | grep -qF 'Shared library: [libcpubind.so.1]'
}

deb_has_its_files() {
    dpkg-deb -x "$deb" "$out/deb" &&
        has_its_files "$out/deb" "usr/lib/$(gcc -print-multiarch)/slurm-wlm/spank_cpubind.so" copyright
}

deb_wants_this_slurm() {
    dpkg-deb -f "$deb" Depends >"$out/depends"
    cat "$out/depends"
    grep -qF "cpubind (>= 7.8.9), slurm-wlm-basic-plugins (>= $release), slurm-wlm-basic-plugins (<< " \
        "$out/depends"
}

rpm_installs() {
    mkdir "$out/root" && rpm --root "$out/root" --initdb &&
        rpm --root "$out/root" --nodeps -i "$rpm" &&
        rpm --root "$out/root" --nodeps -V cpubind-slurm && cp -r "$out/root/usr" "$out/usr" &&
        mkdir "$out/tree" && mv "$out/usr" "$out/tree/usr" &&
        has_its_files "$out/tree" usr/lib64/slurm/spank_cpubind.so LICENSE
}

rpm_wants_this_slurm() {
    rpm -qp --requires "$rpm" >"$out/depends"
    cat "$out/depends"
    grep -qx "cpubind >= 7.8.9" "$out/depends" && grep -qx "slurm >= $release" "$out/depends" &&
        grep -qx "slurm < ${release%.*}\.[0-9]*" "$out/depends"
}

rpm_leaves_nothing() {
    rpm --root "$out/root" --nodeps -e cpubind-slurm &&
        [ "$(find "$out/root/usr" ! -type d | grep -vc /lib/sysimage/)" -eq 0 ]
}

check "the packages of the plugin are built" packages_are_built
check "the same plugin gives the same bytes" the_same_plugin_gives_the_same_bytes
deb=$(ls "$out"/first/*.deb 2>/dev/null)
rpm=$(ls "$out"/first/*.rpm 2>/dev/null)
if [ -n "$deb" ]; then
    check "deb: the plugin, its page and the licence" deb_has_its_files
    check "deb: it wants this release of Slurm" deb_wants_this_slurm
else
    skip "the package for Debian" "there is no dpkg-deb"
fi
if [ -n "$rpm" ]; then
    check "rpm: it installs, and is verified" rpm_installs
    check "rpm: it wants this release of Slurm" rpm_wants_this_slurm
    check "rpm: removing leaves nothing" rpm_leaves_nothing
else
    skip "the package with RPM" "there is no rpmbuild"
fi
finish
