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
keeps_skips=yes
export keeps_skips
check "where a script keeps skips it is" new_state 'echo c >"$out/in/c"'
check "but not one that failed" runs_always "not ok 1 - a # SKIP why"

# -- A test program, and a script with a part that is kept -----------------------

make_program() { # what it prints, exit status
    printf '#!/bin/sh\necho run >>"%s"\necho "%s"\nexit %d\n' "$out/runs" "$1" "$2" >"$out/program"
    chmod +x "$out/program"
}

program_runs() { # how often, exit status
    : >"$out/runs"
    BUILD=$out tests/support/kept_program.sh "$out/program" >"$out/said"
    [ $? -eq "$2" ] && [ "$(wc -l <"$out/runs")" -eq "$1" ]
}

program_is_kept() {
    make_program "ok 1 - a" 0 && program_runs 1 0 && program_runs 0 0 && grep -qx "ok 1 - a" "$out/said" &&
        make_program "ok 1 - b" 0 && program_runs 1 0 && program_runs 0 0 &&
        ASAN_OPTIONS=verbosity=0 program_runs 1 0 && program_runs 1 0 && program_runs 0 0
}

# One that says that all is well and crashes, or says nothing.
failed_program_runs_again() {
    make_program "ok 1 - a" 1 && program_runs 1 1 && program_runs 1 1 &&
        make_program "" 0 && program_runs 1 0 && program_runs 1 0
}

# A script with a test of its own after the part that is kept.
cat >"$out/parts.sh" <<'END'
#!/bin/sh
BUILD=$out
. tests/support/kept.sh
[ "$1" != --files ] || keep_by "$out/in" "" "$@"
. tests/support/tap.sh
if [ "$1" = --files ]; then
    echo run >>"$out/runs"
    check "of files" test ! -e "$out/in/bad"
else
    add_kept --files
    check "of this machine" true
fi
finish
END
chmod +x "$out/parts.sh"

parts_run() { # how often the part runs, exit status, what is printed
    : >"$out/runs"
    "$out/parts.sh" >"$out/said"
    [ $? -eq "$2" ] && [ "$(wc -l <"$out/runs")" -eq "$1" ] &&
        [ "$(grep -v '^#' "$out/said" | tr '\n' ,)" = "$3" ]
}

part_is_kept() {
    good="ok 1 - of files,ok 2 - of this machine,1..2,"
    bad="not $good"
    parts_run 1 0 "$good" && parts_run 0 0 "$good" && : >"$out/in/bad" && parts_run 1 1 "$bad" &&
        parts_run 1 1 "$bad" && rm "$out/in/bad" && parts_run 1 0 "$good"
}

check "a test program is run again when it or a variable changes" program_is_kept
check "a test program that failed or printed no test is run again" failed_program_runs_again
check "a part of a script is kept, and counted with the rest" part_is_kept
finish
