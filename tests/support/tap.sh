#!/bin/sh
# tap.sh - lines of TAP for the scripts that source it
# SPDX-License-Identifier: MIT
#
# `out` is a folder for outputs that explain a failure; the script sets it before.

tests=0
failed=0

pass() { # text
    tests=$((tests + 1))
    echo "ok $tests - $1"
}

fail() { # text, file that says why
    tests=$((tests + 1))
    failed=$((failed + 1))
    echo "not ok $tests - $1"
    sed 's/^/# /' "$2"
}

skip() { # text, reason
    tests=$((tests + 1))
    echo "ok $tests - $1 # SKIP $2"
}

# A test that passes when the command succeeds; its output explains a failure.
check() { # text, command ...
    check_text=$1
    shift
    if "$@" >"$out/output" 2>&1; then
        pass "$check_text"
    else
        fail "$check_text" "$out/output"
    fi
}

# The plan, and the status to exit with.
finish() {
    echo "1..$tests"
    [ "$failed" -eq 0 ]
}
