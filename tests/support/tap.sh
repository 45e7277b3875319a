#!/bin/sh
# tap.sh - functions that print TAP, for scripts that source this file
# SPDX-License-Identifier: MIT
#
# The script sets `out` before: a folder for the output of the commands.

tests=0
failed=0

# Ends a script before its first check.
skip_all() { # reason
    echo "1..0 # SKIP $1"
    exit 0
}

pass() { # text
    tests=$((tests + 1))
    echo "ok $tests - $1"
}

fail() { # text, file with the reason
    tests=$((tests + 1))
    failed=$((failed + 1))
    echo "not ok $tests - $1"
    sed 's/^/# /' "$2"
}

skip() { # text, reason
    tests=$((tests + 1))
    echo "ok $tests - $1 # SKIP $2"
}

# Runs a command: the test passes if it succeeds. Prints its output on failure.
check() { # text, command ...
    check_text=$1
    shift
    if "$@" >"$out/output" 2>&1; then
        pass "$check_text"
    else
        fail "$check_text" "$out/output"
    fi
}

# Prints the plan. The result is the exit status of the script.
finish() {
    echo "1..$tests"
    [ "$failed" -eq 0 ]
}
