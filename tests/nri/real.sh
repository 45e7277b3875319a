#!/bin/sh
# real.sh - test cpubind-nri with a real containerd, a real service and real pods; prints TAP
# SPDX-License-Identifier: MIT
# runs: check-nri
# build: plain
#
# After tests/nri/fetch.sh. The host is that of scenes: two CPUs of this machine, a GPU near each,
# and their device files. Pods are below a cgroup of its own, which is removed.
# CPUBIND_NRI_PODS is how many come and go, 500 by default.
. tests/scenes/lib.sh
containerd=$BUILD/nri/root/usr/bin
[ -x "$containerd/containerd" ] || skip_all "containerd of Debian 13 could not be fetched"
"$containerd/containerd" --version >"$out/version" 2>&1 || skip_all "containerd does not run here"
for program in runc busybox protoc-c; do
    command -v $program >"$out/program" || skip_all "there is no $program"
done
python3 -c 'import grpc' 2>"$out/grpc" || skip_all "there is no python3-grpcio"
[ -d /sys/fs/cgroup/cpuset ] || [ -f /sys/fs/cgroup/cgroup.controllers ] ||
    skip_all "there are no cgroups"
NRI_CGROUP=cpubindtest$(date +%s)
trap 'kill -KILL -1; find /sys/fs/cgroup -depth -type d -path "*/$NRI_CGROUP*" -exec rmdir {} + 2>/dev/null' EXIT
use_gpus
PATH=$containerd:$PATH
NRI_PLUGIN=$BUILD/cpubind-nri
NRI_OUT=$out
PYTHONDONTWRITEBYTECODE=1
export PATH NRI_CGROUP NRI_PLUGIN NRI_OUT CPUBIND PYTHONDONTWRITEBYTECODE a b
settings
python3 tests/nri/real_cases.py
