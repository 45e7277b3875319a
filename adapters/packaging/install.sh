#!/bin/sh
# install.sh - copies what was built to where it belongs, as `make install` calls it
# SPDX-License-Identifier: MIT
#
#   adapters/packaging/install.sh DESTDIR HEADER...     from the top folder
#
# BUILD is the folder of the libraries and the command, NATIVE that of fixtures.db and the pages.
# PREFIX, LIBDIR and VERSION are those of the Makefile. HEADERs are below adapters/. Starts no
# program that was built: it may be one of another machine.
set -eu
umask 022
root=$1$PREFIX
lib=$1$LIBDIR
shift

put() { # mode, file, target
    install -D -m "$1" "$2" "$3"
}

put 755 "$BUILD/cpubind" "$root/bin/cpubind"

put 644 "$BUILD/libcpubind.so.1" "$lib/libcpubind.so.1"
ln -sf libcpubind.so.1 "$lib/libcpubind.so"
for name in cpubind cpubind_ascend cpubind_linux cpubind_corpus; do
    put 644 "$BUILD/lib$name.a" "$lib/lib$name.a"
done

for header in cpubind.h adapters/api/cpubind_api.h adapters/cpp/cpubind.hpp; do
    put 644 "$header" "$root/include/${header##*/}"
done
for header in "$@"; do
    put 644 "adapters/$header" "$root/include/cpubind/$header"
done

# The folder of the CMake files, seen from PREFIX: "lib/cmake/cpubind" is three levels below it.
below=${LIBDIR#"$PREFIX"/}/cmake/cpubind
up=$(echo "$below" | sed 's|[^/][^/]*|..|g')
fill() { # template, target
    sed -e "s|@PREFIX@|$PREFIX|g; s|@LIBDIR@|$pc_libdir|g; s|@VERSION@|$VERSION|g; s|@UP@|$up|g" \
        "$1" >"$2"
    chmod 644 "$2"
}
pc_libdir=$(echo "$LIBDIR" | sed "s|^$PREFIX/|\${prefix}/|")
install -d "$lib/pkgconfig" "$lib/cmake/cpubind" "$root/lib/systemd/system"
for name in cpubind cpubind-corpus; do
    fill adapters/packaging/$name.pc.in "$lib/pkgconfig/$name.pc"
done
for name in cpubind-config cpubind-config-version; do
    fill adapters/packaging/$name.cmake.in "$lib/cmake/cpubind/$name.cmake"
done
fill adapters/service/deploy/cpubind.service "$root/lib/systemd/system/cpubind.service"

put 644 "$NATIVE/fixtures.db" "$root/share/cpubind/fixtures.db"
put 644 adapters/service/deploy/cpubind.conf.example "$root/share/cpubind/cpubind.conf.example"
for page in "$NATIVE"/doc/man?/*; do
    put 644 "$page" "$root/share/man/${page#"$NATIVE"/doc/}"
done
put 644 "$NATIVE/doc/bash" "$root/share/bash-completion/completions/cpubind"
put 644 "$NATIVE/doc/zsh" "$root/share/zsh/site-functions/_cpubind"
# In the folders of the sources, so that their links lead to each other.
for page in LICENSE CHANGELOG.md $(find README.md adapters fixtures/README.md fuzz/README.md -name '*.md'); do
    put 644 "$page" "$root/share/doc/cpubind/$page"
done
