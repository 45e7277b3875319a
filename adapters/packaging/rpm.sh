#!/bin/sh
# rpm.sh - two packages for distributions with RPM (openEuler, Fedora) out of an installed tree
# SPDX-License-Identifier: MIT
#
#   adapters/packaging/rpm.sh TREE x86_64|aarch64 FOLDER     from the top folder
#
# As deb.sh: cpubind and cpubind-devel. VERSION and SOURCE_DATE_EPOCH come from the Makefile; the
# same tree gives the same bytes.
set -eu
umask 022
export LC_ALL=C
. adapters/packaging/split.sh

machine=$2
strip=strip
[ "$machine" = "$(uname -m)" ] || strip=$machine-linux-gnu-strip
mkdir -p "$3"
out=$(cd "$3" && pwd)
work=$1.rpm
rm -rf "$work"
mkdir "$work"
work=$(cd "$work" && pwd)
tree=$work/tree
cp -a "$1" "$tree"

$strip "$tree/usr/bin/cpubind"
$strip --strip-unneeded "$tree/usr/lib64/libcpubind.so.1"
prepare "$tree"

# A folder that may be there without other packages belongs to these as well.
development_files "$tree" | sed 's|^|/|' >"$tree.devel"
{
    (cd "$tree" && find . \( -type f -o -type l \) | sed 's|^\.||' | sort) |
        grep -vxFf "$tree.devel"
    printf '%%dir %s\n' /usr/share/cpubind /usr/share/zsh /usr/share/zsh/site-functions \
        /usr/share/bash-completion /usr/share/bash-completion/completions
    (cd "$tree/usr/share/doc" && find cpubind -type d | sort | sed 's|^|%dir /usr/share/doc/|')
} >"$tree.files"
printf '%%dir %s\n' /usr/include/cpubind /usr/lib64/cmake /usr/lib64/cmake/cpubind \
    /usr/lib64/pkgconfig >>"$tree.devel"
(cd "$tree/usr/include" && find cpubind -mindepth 1 -type d | sort |
    sed 's|^|%dir /usr/include/|') >>"$tree.devel"

rpmbuild --quiet -bb --target "$machine-linux" --define "_topdir $work/top" \
    --define "_rpmdir $work/out" --define "_rpmfilename %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" \
    --define "tree $tree" --define "version_of_cpubind $VERSION" \
    --define "_buildhost localhost" --define "use_source_date_epoch_as_buildtime 1" \
    --define "clamp_mtime_to_source_date_epoch 1" --buildroot "$work/root" \
    adapters/packaging/cpubind.spec >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
}
cp "$work"/out/*.rpm "$out"
