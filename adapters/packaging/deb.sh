#!/bin/sh
# deb.sh - two packages for Debian and Ubuntu out of an installed tree
# SPDX-License-Identifier: MIT
#
#   adapters/packaging/deb.sh TREE x86_64|aarch64 FOLDER     from the top folder
#
# TREE is what `make install PREFIX=/usr` has written. cpubind has the command, which needs no
# library, libcpubind.so.1 and the unit of systemd, which is neither enabled nor started;
# libcpubind-dev has what programs are built with. VERSION and SOURCE_DATE_EPOCH come from the
# Makefile; the same tree gives the same bytes.
set -eu
umask 022
export LC_ALL=C
. adapters/packaging/split.sh

maintainer='the authors of cpubind <cpubind@localhost>'
tree=$1
machine=$2
out=$3
case $machine in
x86_64) arch=amd64 strip=strip ;;
aarch64) arch=arm64 strip=aarch64-linux-gnu-strip ;;
*) echo "deb.sh: no package for $machine" >&2 && exit 2 ;;
esac
work=$tree.deb
rm -rf "$work"
mkdir -p "$work" "$out"
cp -a "$tree" "$work/cpubind"
mkdir "$work/libcpubind-dev"

cd "$work/cpubind"
$strip usr/bin/cpubind
$strip --strip-unneeded usr/lib/*/libcpubind.so.1
mkdir -p usr/share/zsh/vendor-completions
mv usr/share/zsh/site-functions/_cpubind usr/share/zsh/vendor-completions/
rmdir usr/share/zsh/site-functions
mv usr/share/doc/cpubind/LICENSE usr/share/doc/cpubind/copyright
mv usr/share/doc/cpubind/CHANGELOG.md usr/share/doc/cpubind/changelog
printf 'cpubind (%s-1) stable; urgency=medium\n\n  * Version %s; changelog.gz has what is new.\n\n -- %s  %s\n' \
    "$VERSION" "$VERSION" "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" \
    >usr/share/doc/cpubind/changelog.Debian
gzip -9n usr/share/doc/cpubind/changelog*
cd - >/dev/null
development_files "$work/cpubind" >"$work/files"
(cd "$work/cpubind" && tar -cf - -T ../files) | tar -xf - -C "$work/libcpubind-dev"
(cd "$work/cpubind" && xargs rm <../files && find . -depth -type d -empty -delete)
mkdir -p "$work/libcpubind-dev/usr/share/doc/libcpubind-dev"
for page in copyright changelog.gz changelog.Debian.gz; do
    cp "$work/cpubind/usr/share/doc/cpubind/$page" "$work/libcpubind-dev/usr/share/doc/libcpubind-dev"
done

control() { # package, section, depends, one line of text; more of them on stdin
    mkdir -p "$work/$1/DEBIAN"
    {
        printf 'Package: %s\nSource: cpubind\nVersion: %s-1\nArchitecture: %s\n' "$1" "$VERSION" \
            "$arch"
        printf 'Maintainer: %s\n' "$maintainer"
        printf 'Installed-Size: %s\n' "$(find "$work/$1/usr" -type f -printf '%s\n' |
            awk '{ n += int(($1 + 1023) / 1024) } END { print n }')"
        printf 'Depends: %s\nSection: %s\nPriority: optional\n' "$3" "$2"
        [ "$1" != cpubind ] || echo 'Suggests: curl' # for pages of measure --metric
        printf 'Description: %s\n' "$4"
        sed 's/^/ /'
    } >"$work/$1/DEBIAN/control"
    (cd "$work/$1" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
    chmod 644 "$work/$1/DEBIAN/"*
}

prepare "$work/cpubind"
prepare "$work/libcpubind-dev"
control cpubind admin 'libc6 (>= 2.28)' \
    'decide which CPUs belong to which NPU, and bind processes to them' <<EOF
For hosts with Ascend NPUs: reads what npu-smi, the driver and the kernel tell
about a host, plans the CPUs of each NPU, and binds the threads, the
interrupts and the memory of processes to them. The service cpubind.service
is not enabled.
EOF
control libcpubind-dev libdevel "cpubind (= $VERSION-1)" \
    'headers and libraries of cpubind' <<EOF
cpubind.h, the C ABI of libcpubind.so.1 and its header for C++17, the readers,
the binding and the corpus as archives; files for pkg-config and CMake.
EOF

# The service may have been enabled or started since. DPKG_ROOT is for the script.
# shellcheck disable=SC2016
reload='if [ -d "${DPKG_ROOT:-}/run/systemd/system" ]; then
    systemctl daemon-reload >/dev/null 2>&1 || true
fi'
script() { # name; the commands on stdin
    printf '#!/bin/sh\nset -e\n%s\n' "$(cat)" >"$work/cpubind/DEBIAN/$1"
    chmod 755 "$work/cpubind/DEBIAN/$1"
}
script prerm <<EOF
[ "\$1" = remove ] || exit 0
$(cat adapters/packaging/before_removal.sh)
EOF
script postinst <<EOF
$reload
[ "\$1" = configure ] && [ -n "\$2" ] || exit 0
$(cat adapters/packaging/after_upgrade.sh)
EOF
script postrm <<EOF
$reload
EOF
echo 'activate-noawait ldconfig' >"$work/cpubind/DEBIAN/triggers"
echo "libcpubind 1 cpubind (>= $VERSION)" >"$work/cpubind/DEBIAN/shlibs"
chmod 644 "$work/cpubind/DEBIAN/triggers" "$work/cpubind/DEBIAN/shlibs"

for package in cpubind libcpubind-dev; do
    find "$work/$package" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zxz --threads-max=1 --build "$work/$package" \
        "$out/${package}_$VERSION-1_$arch.deb" >/dev/null
done
