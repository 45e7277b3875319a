# shellcheck shell=sh
# kept.sh - a script whose result follows from files alone repeats it while none of them changes
# SPDX-License-Identifier: MIT
#
# The script sources this file before it writes anything, and calls keep_by. What it prints when
# all tests pass and none is skipped is kept below BUILD/kept; with `keeps_skips`, also when some
# are skipped, for want of a command that it names. The next run prints that again if nothing that
# goes in has changed: the script, the files and folders that it names, the packages of this
# machine, the commands that it names (which may be of no package), the machine, and the
# variables of the environment that compilers and tests read.
#
# A script with tests of files and tests of this machine runs itself, with an argument, for those
# of files (add_kept). A test program whose result follows from itself and files is run by
# kept_program.sh.

# Prints the sum of all that goes in. Cargo.lock does not: languages.sh writes it. The files and
# commands are words on purpose.
# shellcheck disable=SC2086
kept_state() { # files and folders, commands
    {
        find $1 -type f ! -name Cargo.lock | LC_ALL=C sort | xargs -d '\n' sha256sum
        cat /var/lib/dpkg/status
        uname -rm
        for kept_command in $2; do
            command -v "$kept_command" && "$kept_command" --version
        done
        env | grep -E '^(BUILD|PATH|CPUBIND[A-Z_]*|CMOCKA[A-Z_]*|[A-Z]*SAN_OPTIONS|[A-Z]*FLAGS|CC|CXX|GCC|GXX|CLANG|CLANGXX|AARCH64_CC|LD_[A-Z_]*)=' |
            LC_ALL=C sort
    } 2>&1 | sha256sum
}

keep_by() { # files and folders, commands, argument of the script ...
    [ "${KEPT_BY:-}" != "$0" ] || return 0
    kept=$BUILD/kept/$(basename "$0" .sh)${3:+.$(echo "${3#--}" | tr / .)}
    mkdir -p "$BUILD/kept"
    kept_now=$(kept_state "$0 tests/support/kept.sh tests/support/tap.sh $1" "$2")
    if [ "$(head -n 1 "$kept" 2>/dev/null)" = "# kept: $kept_now" ]; then
        cat "$kept"
        exit
    fi
    shift 2
    KEPT_BY=$0 "$0" "$@" >"$kept.new" 2>&1
    kept_status=$?
    cat "$kept.new"
    if [ $kept_status -eq 0 ] && grep -q '^ok' "$kept.new" && ! grep -q '^not ok' "$kept.new" &&
        { [ -n "${keeps_skips:-}" ] || ! grep -qi '^ok.*# skip' "$kept.new"; }; then
        { echo "# kept: $kept_now" && cat "$kept.new"; } >"$kept"
    else
        rm -f "$kept"
    fi
    exit $kept_status
}

# Runs this script with an argument, with which it calls keep_by, and counts its tests as tests of
# this run. Needs tap.sh, and the folder `out` that it needs.
# shellcheck disable=SC2154
add_kept() { # argument
    "$0" "$1" >"$out/kept$1"
    kept_status=$?
    grep -v '^1\.\.' "$out/kept$1"
    tests=$((tests + $(grep -cE '^(not )?ok' "$out/kept$1")))
    [ $kept_status -eq 0 ] || failed=$((failed + 1))
}
