#!/bin/sh
# self_test.sh - the checks of the tree find what is planted; prints TAP
# runs: check-all
# build: plain
BUILD=${BUILD:-build}
out=$BUILD/self_test
mkdir -p "$out"
. tests/support/tap.sh
for name in layers tree; do
    check "$name.sh finds what is planted" tests/checks/$name.sh --self-test
done
finish
