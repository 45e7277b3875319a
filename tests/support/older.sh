#!/bin/sh
# older.sh - builds earlier programs from their commits, for scripts that source this file
# SPDX-License-Identifier: MIT
#
# A program is built once for each BUILD folder; without its commit (a tarball, a shallow clone)
# the tests of it are skipped. tap.sh comes before.

# The program of a commit.
older_path() { # commit, target
    echo "$(cd "$BUILD" && pwd)/older/$2-$1"
}

build_older() { # commit, target
    older=$(older_path "$1" "$2")
    mkdir -p "${older%/*}"
    exec 8>"$older.lock"
    flock 8
    [ ! -x "$older" ] || return 0
    rm -rf "$older.tree" && mkdir -p "$older.tree" &&
        git archive "$1" Makefile cpubind.h LICENSE README.md CHANGELOG.md adapters fuzz \
            'fixtures/*.sql' |
        tar -xf - -C "$older.tree" &&
        make -C "$older.tree" -s -j2 BUILD=build CFLAGS=-O0 "build/$2" >"$older.log" 2>&1 &&
        mv "$older.tree/build/$2" "$older" && rm -rf "$older.tree"
}

# Runs a test of an earlier program.
check_older() { # text, commit, target, command ...
    older_text=$1
    older_commit=$2
    older_target=$3
    shift 3
    if ! git cat-file -e "$older_commit^{commit}" 2>/dev/null; then
        skip "$older_text" "the history has no commit $older_commit"
    elif build_older "$older_commit" "$older_target"; then
        check "$older_text" "$@"
    else
        fail "$older_text" "$(older_path "$older_commit" "$older_target").log"
    fi
}
