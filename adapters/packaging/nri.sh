#!/bin/sh
# nri.sh - a package for Debian and Ubuntu with the plugin of containerd and CRI-O
# SPDX-License-Identifier: MIT
#
#   adapters/packaging/nri.sh PROGRAM FOLDER     from the top folder
#
# PROGRAM is what `make nri` has built for this machine. The package starts nothing and enables
# nothing: NRI.md says how. VERSION and SOURCE_DATE_EPOCH come from the Makefile; the same program
# gives the same bytes.
set -eu
umask 022
export LC_ALL=C

program=$1
out=$2
work=$program.deb
page=usr/share/doc/cpubind-nri
unit=lib/systemd/system

rm -rf "$work"
mkdir -p "$work/usr/bin" "$work/$unit" "$work/$page" "$work/DEBIAN" "$out"
strip -o "$work/usr/bin/cpubind-nri" "$program"
cp adapters/nri/cpubind-nri.service "$work/$unit"
cp LICENSE "$work/$page/copyright"
cp adapters/nri/NRI.md "$work/$page"
chmod 755 "$work/usr/bin/cpubind-nri"
chmod 644 "$work/$unit/"* "$work/$page/"*
cat >"$work/DEBIAN/control" <<CONTROL
Package: cpubind-nri
Source: cpubind
Version: $VERSION-1
Architecture: $(dpkg --print-architecture)
Maintainer: the authors of cpubind <cpubind@localhost>
Depends: cpubind (>= $VERSION), libc6 (>= 2.36), libprotobuf-c1
Enhances: containerd
Section: admin
Priority: optional
Description: start containers on the CPUs of their accelerators
 A plugin of containerd and CRI-O (NRI) that asks the cpubind service which
 CPUs and memory nodes of those that a container may have are near its
 devices. Neither enabled nor started: /$page/NRI.md.
CONTROL
(cd "$work" && find lib usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
chmod 644 "$work/DEBIAN/"*
find "$work" -type d -exec chmod 755 {} +
find "$work" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz --threads-max=1 --build "$work" "$out" >/dev/null
