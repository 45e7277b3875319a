#!/bin/sh
# runs: by make
# fetch.sh - fetches a containerd that has NRI from Debian 13, which runs on Debian 12
#
#   tests/nri/fetch.sh           from the top folder; writes only below BUILD/nri
#
# Reads no list of sources of this machine, and installs nothing. Does nothing where it is there.

set -eu
mkdir -p "${BUILD:-build}/nri/apt/lists/partial" "${BUILD:-build}/nri/apt/archives/partial"
folder=$(cd "${BUILD:-build}/nri" && pwd)
[ ! -x "$folder/root/usr/bin/containerd" ] || exit 0
cd "$folder"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main" \
    >apt/sources.list
own() { # program of apt, argument ...
    program=$1
    shift
    "$program" -qq -o Dir::Etc::sourcelist="$folder/apt/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$folder/apt/lists" -o Dir::Cache="$folder/apt" \
        -o APT::Sandbox::User=root "$@"
}
own apt-get update
own apt-get download containerd
dpkg -x containerd_*.deb root
rm containerd_*.deb
