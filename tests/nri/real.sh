#!/bin/sh
# real.sh - test cpubind-nri with a real containerd, a real service and real pods; prints TAP
# SPDX-License-Identifier: MIT
# runs: check-nri
# build: plain
#
#   tests/nri/real.sh            from the top folder, after tests/nri/fetch.sh; BUILD as there
#
# The host is that of tests/support/device_host.sh: two CPUs of this machine, a GPU near each, and
# their device files. Runs in mounts, processes and a /run of its own; pods are below a cgroup of
# its own, which it removes. CPUBIND_NRI_PODS is how many come and go, 500 by default.
LC_ALL=C
export LC_ALL

BUILD=${BUILD:-build}
containerd=$BUILD/nri/root/usr/bin
stop() { # reason
    echo "1..0 # SKIP $1"
    exit 0
}
[ -x "$containerd/containerd" ] || stop "containerd of Debian 13 could not be fetched"
"$containerd/containerd" --version >/dev/null 2>&1 || stop "containerd does not run here"
for program in runc busybox protoc-c; do
    command -v $program >/dev/null 2>&1 || stop "there is no $program"
done
/usr/bin/python3 -c 'import grpc' 2>/dev/null || stop "there is no python3-grpcio"
[ -d /sys/fs/cgroup/cpuset ] || [ -f /sys/fs/cgroup/cgroup.controllers ] || stop "there are no cgroups"

if [ -z "$NRI_CGROUP" ]; then
    NRI_CGROUP=cpubindtest$$
    export NRI_CGROUP
    "$0" "$@"
    status=$?
    find /sys/fs/cgroup -depth -type d -path "*/$NRI_CGROUP*" -exec rmdir {} + 2>/dev/null
    exit $status
fi
needs_own_run=yes
. tests/support/start.sh
. tests/support/device_host.sh

PATH=$(cd "$containerd" && pwd):$PATH
NRI_PLUGIN=$(cd "$BUILD" && pwd)/cpubind-nri
NRI_OUT=$out
export PATH NRI_PLUGIN NRI_OUT CPUBIND a b
settings
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 tests/nri/real_cases.py
status=$?
kill -KILL "$gpu_terminal"
exit $status
