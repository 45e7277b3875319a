#!/bin/sh
# corpus_found.sh - the corpus of a command is beside it, or in the share of its prefix, nowhere else
# SPDX-License-Identifier: MIT
# runs: check
. tests/scenes/lib.sh
db=$BUILD/fixtures.db
cpubind=$CPUBIND
cd "$out" || exit 1

# A copy of the command, in folders that are empty otherwise.
copy() {
    rm -rf prefix else && mkdir -p prefix/bin prefix/share/cpubind else &&
        cp "$cpubind" prefix/bin/cpubind
}

finds() { # command
    says 0 "NPU0: main=" "$1" plan --format log --fixture a2-holes
}

finds_none() { # command
    says 3 "no corpus" "$1" plan --fixture a2-holes
}

is_beside() {
    copy && finds_none prefix/bin/cpubind && cp "$db" prefix/share/cpubind/ &&
        finds prefix/bin/cpubind && echo damaged >prefix/bin/fixtures.db &&
        says 3 "prefix/bin/fixtures.db" prefix/bin/cpubind plan --fixture a2-holes
}
check "it is beside the command, else in its share" is_beside

is_not_here() {
    copy && mkdir -p build share/cpubind && cp "$db" . && cp "$db" build && cp "$db" share/cpubind &&
        finds_none prefix/bin/cpubind
    here_status=$?
    rm -rf fixtures.db build share
    return $here_status
}
check "the current folder is not searched" is_not_here

is_not_at_a_link() {
    copy && ln -s ../prefix/bin/cpubind else/cpubind && cp "$db" else && finds_none else/cpubind &&
        cp "$db" prefix/bin && finds else/cpubind
}
check "nor is that of a link to the command" is_not_at_a_link

is_a_file() {
    copy && mkdir prefix/bin/fixtures.db && finds_none prefix/bin/cpubind &&
        mkfifo prefix/share/cpubind/fixtures.db && finds_none prefix/bin/cpubind
}
check "anything but a regular file is passed over" is_a_file
finish
