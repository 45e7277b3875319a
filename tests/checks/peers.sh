#!/bin/sh
# peers.sh - the figures beside other rules in RULES.md are those of today; prints TAP
# SPDX-License-Identifier: MIT
# runs: check-all
BUILD=${BUILD:-build}
out=$BUILD/out/peers
mkdir -p "$out"
. tests/support/tap.sh

rows_are_true() {
    python3 tests/quality/peers.py "$BUILD/cpubind" fixtures/hosts >"$out/is" &&
        sed '1,/^| layout | rule /d' adapters/plan/RULES.md | sed 1d | diff - "$out/is"
}
check "each row of RULES.md beside other rules is what peers.py prints" rows_are_true
finish
