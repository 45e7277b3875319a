#!/bin/sh
# upgrade.sh - processes that earlier programs bound are verified and put back; prints TAP
# SPDX-License-Identifier: MIT
#
#   tests/cli/upgrade.sh         from the top folder; BUILD is where the command and outputs are
#
# The earlier programs are built from their commits, once for each BUILD folder; without these
# commits (a tarball, a shallow clone) the tests are skipped. tests/linux/test_record_forms.c reads
# records of each form in any case. affinity_shim.c stands for a machine of 192 CPUs.
LC_ALL=C
export LC_ALL

BUILD=${BUILD:-build}
if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then
    echo "ok 1 - earlier programs # SKIP needs root, for a /run of its own"
    echo "1..1"
    exit 0
fi
if [ -z "$UPGRADE_MOUNTS" ]; then
    UPGRADE_MOUNTS=own exec unshare -m "$0" "$@"
fi
mount -t tmpfs -o mode=755 tmpfs /run || exit 1

out=$BUILD/upgrade
mkdir -p "$out"
out=$(cd "$out" && pwd)
CPUBIND=$(cd "$BUILD" && pwd)/cpubind_shared
. tests/support/tap.sh

flags='-std=c11 -D_DEFAULT_SOURCE -O1 -Wall -Wextra -Werror'
# shellcheck disable=SC2086
{
    cc $flags -shared -fPIC tests/cli/affinity_shim.c -o "$out/shim.so" -ldl &&
        cc $flags tests/cli/bound_worker.c -o "$out/worker" -pthread
} || exit 1

# Builds a program of a commit; it has to be linked to shared libraries, as the shim needs.
build_of() { # commit, target
    [ ! -x "$out/$1" ] || return 0
    rm -rf "$out/tree" && mkdir "$out/tree" &&
        git archive "$1" Makefile cpubind.h LICENSE README.md CHANGELOG.md adapters fuzz \
            fixtures/schema.sql |
        tar -xf - -C "$out/tree" &&
        make -C "$out/tree" -s -j2 BUILD=build "build/$2" >"$out/build.log" 2>&1 &&
        mv "$out/tree/build/$2" "$out/$1"
}

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
host='--root fixtures/hosts/a2-192cpu-8npu --allowed 0-191 --npu 0 --memory none'

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
goes_on() { # commit, options of its apply
    program=$out/$1
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
is_left() { # commit
    bind_with "$CPUBIND" --rules reference && cp "/run/cpubind/$worker.record" "$out/record" &&
        ! shim "$out/$1" restore --pid "$worker" && cmp "$out/record" "/run/cpubind/$worker.record" &&
        [ "$(cpus)" = "$bound" ] && cpubind restore --pid "$worker" && is_free && end_worker
}

try() { # text, commit, target, command ...
    text=$1
    commit=$2
    target=$3
    shift 3
    rm -rf /run/cpubind
    if ! git cat-file -e "$commit^{commit}" 2>/dev/null; then
        skip "$text" "the history has no commit $commit"
    elif build_of "$commit" "$target"; then
        check "$text" "$@"
    else
        fail "$text" "$out/build.log"
    fi
}

try "a binding of the first version is verified, bound again and put back" d4c2e50 cpubind \
    goes_on d4c2e50
try "so is one of form 3" 11bd74f cpubind_shared goes_on 11bd74f \
    --rules reference
try "the program of form 3 leaves a record of form 5 alone" 11bd74f cpubind_shared is_left 11bd74f
finish
