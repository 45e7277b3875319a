#!/bin/sh
# upgrade.sh - processes that earlier programs bound are verified and put back; prints TAP
# SPDX-License-Identifier: MIT
#
#   tests/cli/upgrade.sh         from the top folder; BUILD is where the command and outputs are
#
# The earlier programs are built from their commits (older.sh), linked to shared libraries where
# the shim needs it. tests/linux/test_record_forms.c reads records of each form in any case.
# affinity_shim.c stands for a machine of 192 CPUs.
own_run=-m
wants_shim=yes
keeps_out=yes # the earlier programs
. tests/support/start.sh
. tests/support/older.sh
if [ "$BIND_MOUNTS" != own ]; then
    skip "earlier programs" "needs root, for a /run of its own"
    finish
    exit
fi
build_shim "$out/worker" || exit 1

shim() { # command ...
    env LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 "$@"
}

cpubind() { # arguments
    shim "$CPUBIND" "$@"
}

start_worker() {
    CPUBIND_SHIM=$out/shim
    export CPUBIND_SHIM
    rm -rf "$CPUBIND_SHIM" && mkdir "$CPUBIND_SHIM" && mkfifo "$CPUBIND_SHIM/in" \
        "$CPUBIND_SHIM/ready" || return 1
    "$out/worker" acl_thread release_thread other <"$CPUBIND_SHIM/in" >"$CPUBIND_SHIM/ready" &
    worker=$!
    exec 9>"$CPUBIND_SHIM/in"
    read -r ready <"$CPUBIND_SHIM/ready" && [ "$ready" = ready ]
}

end_worker() {
    exec 9>&-
    wait "$worker"
}

# The CPUs of the four threads, in the order of their numbers.
cpus() {
    for task in /proc/"$worker"/task/*; do
        cat "$CPUBIND_SHIM/${task##*/}" 2>/dev/null || echo 0-191
    done | paste -sd' '
}

bound='146-165 166 167 146-165'
free='0-191 0-191 0-191 0-191'
# An earlier program takes a host as a folder.
rm -rf "$out/host"
"$CPUBIND" fixture export a2-192cpu-8npu "$out/host" --quiet || exit 1
host="--root $out/host --allowed 0-191 --npu 0 --memory none"

# shellcheck disable=SC2086
bind_with() { # program, options: starts a worker and binds it
    program=$1
    shift
    start_worker && shim "$program" apply --pid "$worker" $host --quiet "$@" && [ "$(cpus)" = "$bound" ]
}

is_free() {
    [ "$(cpus)" = "$free" ] && [ -z "$(ls -A /run/cpubind)" ]
}

# What one command after the other makes of it.
# shellcheck disable=SC2086
goes_on() { # program, options of its apply
    program=$1
    shift
    bind_with "$program" "$@" && cpubind verify --pid "$worker" --memory none &&
        cpubind restore --pid "$worker" && is_free && end_worker &&
        bind_with "$program" "$@" && cpubind apply --pid "$worker" $host --rules reference --quiet &&
        [ "$(cpus)" = "$bound" ] && grep -q '^cpubind-record 5 ' /run/cpubind/"$worker".record &&
        cpubind verify --pid "$worker" --memory none && cpubind restore --all && is_free && end_worker &&
        bind_with "$program" "$@" --state "$out/state" && rm -f "/run/cpubind/$worker.path" &&
        cpubind verify --pid "$worker" --memory none --state "$out/state" &&
        cpubind restore --pid "$worker" --state "$out/state" && is_free && end_worker &&
        bind_with "$program" "$@" && end_worker && cpubind restore --all && is_free_of_records
}

is_free_of_records() {
    [ -z "$(ls -A /run/cpubind)" ]
}

# The other way round: the earlier program leaves the later record as it is.
is_left() { # program
    bind_with "$CPUBIND" --rules reference && cp "/run/cpubind/$worker.record" "$out/record" &&
        ! shim "$1" restore --pid "$worker" && cmp "$out/record" "/run/cpubind/$worker.record" &&
        [ "$(cpus)" = "$bound" ] && cpubind restore --pid "$worker" && is_free && end_worker
}

first=$(older_path d4c2e50 cpubind)
third=$(older_path 11bd74f cpubind_shared)
check_older "a binding of the first version is verified, bound again and put back" d4c2e50 cpubind \
    goes_on "$first"
rm -rf /run/cpubind
check_older "so is one of form 3" 11bd74f cpubind_shared goes_on "$third" --rules reference
rm -rf /run/cpubind
check_older "the program of form 3 leaves a record of form 5 alone" 11bd74f cpubind_shared \
    is_left "$third"
finish
