#!/bin/sh
# kept.sh - a result is kept until something that goes in changes; prints TAP
# SPDX-License-Identifier: MIT
#
#   tests/checks/kept.sh         from the top folder; BUILD is where outputs go
#
# shellcheck disable=SC2016 # states are commands that are carried out later

BUILD=${BUILD:-build}
out=$BUILD/kept-test
rm -rf "$out"
mkdir -p "$out/in"
. tests/support/tap.sh

# A script that says how often it ran, and ends as a file says.
cat >"$out/script.sh" <<'END'
#!/bin/sh
BUILD=$out
. tests/support/kept.sh
keep_by "$out/in" "$out/tool" "$@"
echo run >>"$out/runs"
cat "$out/result"
! grep -q '^not ok' "$out/result"
END
chmod +x "$out/script.sh"
export out

make_tool() { # version
    printf '#!/bin/sh\necho %s\n' "$1" >"$out/tool"
    chmod +x "$out/tool"
}

# The script runs in this call, or not, and prints its result in both cases.
runs() { # how often, argument ...
    times=$1
    shift
    : >"$out/runs"
    "$out/script.sh" "$@" >"$out/said"
    [ "$(wc -l <"$out/runs")" -eq "$times" ] && grep -v '^# kept' "$out/said" | cmp - "$out/result"
}

new_state() { # command that changes something
    eval "$1" && runs 1 && runs 0
}

# What did not pass, or was skipped, is not kept.
runs_always() { # result
    echo "$1" >"$out/result"
    echo "$1" >"$out/in/$1"
    runs 1
    runs 1
}

make_tool 1
echo 'ok 1 - a' >"$out/result"
echo a >"$out/in/a"
check "the first run runs" runs 1
check "the second run repeats what the first one said" runs 0
check "a file that changes" new_state 'echo b >"$out/in/a"'
check "a file that is added" new_state 'echo b >"$out/in/b"'
check "a file that is removed" new_state 'rm "$out/in/b"'
check "a file that is renamed" new_state 'mv "$out/in/a" "$out/in/c"'
check "another version of a command" new_state 'make_tool 2'
check "the script itself" new_state 'echo : >>"$out/script.sh"'
check "a variable that compilers read" new_state 'CFLAGS=-O3; export CFLAGS'
check "a variable that tests read" new_state 'CPUBIND_SEED=7; export CPUBIND_SEED'
check "another argument has a result of its own" runs 1 --self-test
check "which is kept as well" runs 0 --self-test
check "a result that failed is not kept" runs_always "not ok 1 - a"
check "a result with a skipped test is not kept" runs_always "ok 1 - a # SKIP why"
finish
