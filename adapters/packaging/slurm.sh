#!/bin/sh
# slurm.sh - packages with the SPANK plugin, for the Slurm of this machine
# SPDX-License-Identifier: MIT
#
#   adapters/packaging/slurm.sh PLUGIN FOLDER     from the top folder
#
# PLUGIN is what `make slurm` has built. It fits one release of Slurm, such as 22.05, on which the
# packages depend: that for Debian and Ubuntu where there is dpkg-deb, that for distributions with
# RPM where there is rpmbuild. A package turns nothing on: plugstack.conf does, as SLURM.md says.
# VERSION and SOURCE_DATE_EPOCH come from the Makefile; the same plugin gives the same bytes.
set -eu
umask 022
export LC_ALL=C

plugin=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
number=$(sed -n 's/^#define SLURM_VERSION_NUMBER 0x\([0-9a-f]*\)$/\1/p' /usr/include/slurm/slurm_version.h)
major=$((0x$number >> 16))
release=$(printf '%d.%02d' $major $((0x$number >> 8 & 0xff)))
next=$(printf '%d.%02d' $major $(((0x$number >> 8 & 0xff) + 1)))
page=usr/share/doc/cpubind-slurm

# Writes the files of a package, with the licence under a name.
write_files() { # tree, folder of plugins, name
    rm -rf "$1"
    mkdir -p "$1/$2" "$1/$page"
    cp "$plugin" "$1/$2/spank_cpubind.so"
    strip --strip-unneeded "$1/$2/spank_cpubind.so"
    cp LICENSE "$1/$page/$3"
    cp adapters/slurm/SLURM.md adapters/slurm/epilog.sh "$1/$page"
    chmod 644 "$1/$2/spank_cpubind.so" "$1/$page/"*
    chmod 755 "$1/$page/epilog.sh"
}

date_files() { # tree
    find "$1" -type d -exec chmod 755 {} +
    find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}

build_deb() {
    work=$plugin.deb
    write_files "$work" "usr/lib/$(gcc -print-multiarch)/slurm-wlm" copyright
    mkdir "$work/DEBIAN"
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
    date_files "$work"
    dpkg-deb --root-owner-group -Zxz --threads-max=1 --build "$work" "$out" >/dev/null
}

build_rpm() {
    work=$(cd "$(dirname "$plugin")" && pwd)/rpm
    rm -rf "$work"
    write_files "$work/tree" usr/lib64/slurm LICENSE
    date_files "$work/tree"
    rpmbuild --quiet -bb --define "_topdir $work/top" --define "_rpmdir $work/out" \
        --define "_rpmfilename %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" \
        --define "tree $work/tree" --define "version_of_cpubind $VERSION" \
        --define "release_of_slurm $release" --define "release_after $next" \
        --define "_buildhost localhost" --define "use_source_date_epoch_as_buildtime 1" \
        --define "clamp_mtime_to_source_date_epoch 1" --buildroot "$work/root" \
        adapters/packaging/cpubind-slurm.spec >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        exit 1
    }
    cp "$work"/out/*.rpm "$out"
}

! command -v dpkg-deb >/dev/null || build_deb
! command -v rpmbuild >/dev/null || build_rpm
