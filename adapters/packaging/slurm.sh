#!/bin/sh
# slurm.sh - a package for Debian and Ubuntu with the SPANK plugin, for the Slurm of this machine
# SPDX-License-Identifier: MIT
#
#   adapters/packaging/slurm.sh PLUGIN FOLDER     from the top folder
#
# PLUGIN is what `make slurm` has built. It fits one release of Slurm, such as 22.05, on which the
# package depends. The package turns nothing on: plugstack.conf does, as SLURM.md says. VERSION
# and SOURCE_DATE_EPOCH come from the Makefile; the same plugin gives the same bytes.
set -eu
umask 022
export LC_ALL=C

plugin=$1
out=$2
work=$plugin.deb
number=$(sed -n 's/^#define SLURM_VERSION_NUMBER 0x\([0-9a-f]*\)$/\1/p' /usr/include/slurm/slurm_version.h)
major=$((0x$number >> 16))
release=$(printf '%d.%02d' $major $((0x$number >> 8 & 0xff)))
next=$(printf '%d.%02d' $major $(((0x$number >> 8 & 0xff) + 1)))
folder=usr/lib/$(gcc -print-multiarch)/slurm-wlm
page=usr/share/doc/cpubind-slurm

rm -rf "$work"
mkdir -p "$work/$folder" "$work/$page" "$work/DEBIAN" "$out"
cp "$plugin" "$work/$folder/spank_cpubind.so"
strip --strip-unneeded "$work/$folder/spank_cpubind.so"
cp LICENSE "$work/$page/copyright"
cp adapters/slurm/SLURM.md "$work/$page"
chmod 644 "$work/$folder/spank_cpubind.so" "$work/$page/"*
cat >"$work/DEBIAN/control" <<CONTROL
Package: cpubind-slurm
Source: cpubind
Version: $VERSION-1+slurm$release
Architecture: $(dpkg --print-architecture)
Maintainer: the authors of cpubind <cpubind@localhost>
Depends: cpubind (>= $VERSION), slurm-wlm-basic-plugins (>= $release), slurm-wlm-basic-plugins (<< $next~)
Section: admin
Priority: optional
Description: SPANK plugin that binds the tasks of Slurm $release to the CPUs of their devices
 Adds --cpubind and --cpubind-strict to srun, sbatch and salloc. It does nothing
 before plugstack.conf names it: /$page/SLURM.md.
CONTROL
(cd "$work" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
chmod 644 "$work/DEBIAN/"*
find "$work" -type d -exec chmod 755 {} +
find "$work" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz --threads-max=1 --build "$work" "$out" >/dev/null
