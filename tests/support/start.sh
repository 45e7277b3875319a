# shellcheck shell=sh
# start.sh - how most scripts of tests start; each sources this file first
# SPDX-License-Identifier: MIT
#
# With own_run set, to options of unshare(1) such as "-m", a script starts again with mounts and a
# /run of its own where it is root, so that it touches no record of this machine; BIND_MOUNTS then
# says "own", else "shared". With `needs_own_run` it is skipped where it would be shared, and has
# processes of its own too if own_run is not set.
#
# Sets BUILD; `out`, a new folder for outputs with the names of the room and the script; CPUBIND,
# the command of the build that is linked to shared libraries if `wants_shim` is set, which the
# shim needs. With `keeps_out` what is in the folder stays. No variable of a launcher is left.
LC_ALL=C
export LC_ALL

BUILD=${BUILD:-build}
[ -z "$needs_own_run" ] || own_run=${own_run:-'-m -p -f --mount-proc'}
if [ -n "$own_run" ] && [ -z "$BIND_MOUNTS" ]; then
    BIND_MOUNTS=shared
    export BIND_MOUNTS
    # The options are split on purpose.
    # shellcheck disable=SC2086
    if [ "$(id -u)" -eq 0 ] &&
        unshare $own_run mount -t tmpfs -o mode=755 tmpfs /run 2>/dev/null; then
        BIND_MOUNTS=own exec unshare $own_run "$0" "$@"
    fi
fi
if [ -n "$own_run" ] && [ "$BIND_MOUNTS" = own ]; then
    mount -t tmpfs -o mode=755 tmpfs /run || exit 1
elif [ -n "$needs_own_run" ]; then
    echo "1..0 # SKIP a /run of its own needs root"
    exit 0
fi

out=${0%.sh}
out=$BUILD/$(basename "${out%/*}")_${out##*/}
[ -n "$keeps_out" ] || rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
CPUBIND=$(cd "$BUILD" && pwd)/cpubind${wants_shim:+_shared}
. tests/support/tap.sh
. tests/support/waiting.sh
. tests/support/gpu_nodes.sh
unset LOCAL_RANK SLURM_LOCALID OMPI_COMM_WORLD_LOCAL_RANK MPI_LOCALRANKID PMI_LOCAL_RANK \
    PALS_LOCAL_RANKID MV2_COMM_WORLD_LOCAL_RANK FLUX_TASK_LOCAL_ID CUDA_VISIBLE_DEVICES \
    CUDA_DEVICE_ORDER SLURM_STEP_GPUS SLURM_JOB_GPUS SLURM_GPUS_ON_NODE

# Builds a program of tests/cli.
build() { # source, file, argument of the compiler ...
    built_from=$1
    shift
    cc -std=c11 -D_DEFAULT_SOURCE -O1 -Wall -Wextra -Werror "tests/scenes/programs/$built_from" -o "$@"
}

# The outputs are in $out/said and $out/err.
says() { # exit status, words that one of the outputs must hold, command ...
    want=$1
    words=$2
    shift 2
    "$@" >"$out/said" 2>"$out/err"
    got=$?
    cat "$out/said" "$out/err"
    [ "$got" -eq "$want" ] &&
        { [ -z "$words" ] || cat "$out/said" "$out/err" | grep -qF -e "$words"; } && return 0
    echo "$*: exit status $got, expected $want and \"$words\""
    return 1
}

# -- A host of two CPUs of this machine ----------------------------------------

# Sets a and b, and host to a folder; without a second CPU the script ends.
take_two_cpus() { # what is skipped
    a=$(own_cpus | sed -n 1p)
    b=$(own_cpus | sed -n 2p)
    host=$out/host
    [ -z "$b" ] || return 0
    skip "$1" "this machine has one CPU"
    finish
    exit
}
