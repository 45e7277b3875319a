#!/bin/sh
# peers.sh - the figures of cpubind beside other rules are those of today; prints TAP
# SPDX-License-Identifier: MIT
# runs: check-all
BUILD=${BUILD:-build}
out=$BUILD/out/peers
mkdir -p "$out"
. tests/support/tap.sh

rows_are_true() {
    python3 tests/quality/peers.py "$BUILD/cpubind" fixtures/hosts >"$out/is" &&
        sed 1,2d tests/quality/peers.txt | diff - "$out/is"
}
check "each row of tests/quality/peers.txt is what peers.py prints" rows_are_true
finish
