#!/bin/sh
# arm64_libraries.sh - fetches the libraries for aarch64 that the command and its tests link with
# SPDX-License-Identifier: MIT
#
#   adapters/packaging/arm64_libraries.sh FOLDER
#
# Fetches packages of Debian and unpacks them below FOLDER/root. Installs nothing and does not
# change the architectures of the machine. Does nothing where they are there already.
set -eu
apt=$1
packages="libcmocka-dev libcmocka0 libjansson-dev libjansson4 libsqlite3-dev libmd0 libmd-dev libsqlite3-0 zlib1g zlib1g-dev libprotobuf-c-dev libprotobuf-c1"

[ "$(cat "$apt/fetched" 2>/dev/null)" != "$packages" ] || exit 0
command -v apt-get >/dev/null 2>&1
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
: >"$apt/status"
cd "$apt"
here=$(pwd)
set -- -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
    -o Dir::State::lists="$here/lists" -o Dir::Cache="$here/cache" \
    -o Dir::State::status="$here/status" -o APT::Sandbox::User=root
apt-get "$@" update
# shellcheck disable=SC2086
apt-get "$@" download $packages
for deb in *.deb; do dpkg -x "$deb" root; done
echo "$packages" >fetched
