#!/bin/sh
# runs: by make
# prepare.sh - what runs in the ARM machines: kernels and tools of Debian, the command, programs
#
#   tests/vm/prepare.sh [slurm]      from the top folder; writes only below BUILD
set -eu
BUILD=${BUILD:-build}
# shellcheck disable=SC2086
tests/vm/fetch.sh ${1:-}
tests/support/arm64.sh "$BUILD/arm64/cpubind"
mkdir -p "$BUILD/vm/bin"
aarch64-linux-gnu-strip -o "$BUILD/vm/bin/cpubind" "$BUILD/arm64/cpubind"
build() { # source, program
    aarch64-linux-gnu-gcc -std=c11 -O2 -Wall -Wextra -Werror -static -s "$1" -o "$BUILD/vm/bin/$2"
}
for name in worker disturb memory; do build tests/vm/vm_$name.c $name; done
build tests/scenes/programs/deny.c deny
build tests/scenes/programs/worker.c scene_worker
[ "${1:-}" != slurm ] || CPATH=$(cd "$BUILD/vm" && pwd)/slurm/root/usr/include \
    tests/support/arm64.sh "$BUILD/arm64/slurm/spank_cpubind.so"
