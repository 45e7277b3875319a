#!/bin/sh
# run.sh - run test programs and scripts, each of which prints TAP, and count
#
#   tests/run.sh COMMAND...      a command may have arguments: "tests/checks/layers.sh --self-test"
#
# Prints a line for each command, everything of one that failed, and last
# "N passed, N failed" (and ", N skipped"). Exit 0 only when something passed and nothing failed.

passed=0
failed=0
skipped=0
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT

CMOCKA_MESSAGE_OUTPUT=TAP
export CMOCKA_MESSAGE_OUTPUT

for command in "$@"; do
    start=$(date +%s)
    # Words of a command are split on purpose.
    # shellcheck disable=SC2086
    $command >"$log" 2>&1
    status=$?
    # TAP writes "ok 1 # SKIP why"; cmocka writes "not ok 1 # SKIP name".
    skip=$(grep -ciE '^(not )?ok.*# skip' "$log")
    not_ok=$(grep -vi '# skip' "$log" | grep -c '^not ok')
    ok=$(grep -vi '# skip' "$log" | grep -c '^ok')
    # A crash, or a failure that no line speaks of, counts as one.
    if [ $status -ne 0 ] && [ "$not_ok" -eq 0 ]; then
        not_ok=1
    fi
    if [ $((ok + skip + not_ok)) -eq 0 ]; then
        echo "no test ran" >>"$log"
        not_ok=1
    fi
    printf '%-44s %5d passed  %3d failed  %3d skipped  %4d s\n' \
        "$(basename "${command%% *}")${command#"${command%% *}"}" \
        "$ok" "$not_ok" "$skip" $(($(date +%s) - start))
    if [ "$not_ok" -ne 0 ]; then
        grep -vE '^(ok|1\.\.)' "$log" | sed 's/^/    /'
        [ $status -ne 0 ] && echo "    exit status $status"
    fi
    grep -iE '^(not )?ok.*# skip' "$log" | sed 's/^/    /'
    passed=$((passed + ok))
    failed=$((failed + not_ok))
    skipped=$((skipped + skip))
done

if [ $skipped -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
[ $failed -eq 0 ] && [ $passed -gt 0 ]
