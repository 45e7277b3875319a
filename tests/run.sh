#!/bin/sh
# run.sh - runs test programs and scripts that print TAP, and counts the results
#
#   tests/run.sh COMMAND...      a command may have arguments: "tests/checks/layers.sh --self-test"
#
# A command with a + before it runs in parallel to the others, from the start, with low priority:
# for slow commands that measure no times. The lines are in the order of the commands.
#
# Prints a line for each command, the output of each that failed, and at the end
# "N passed, N failed" (and ", N skipped"). Exit 0 only if a test passed and none failed.

passed=0
failed=0
skipped=0
logs=$(mktemp -d) || exit 1
trap 'rm -rf "$logs"' EXIT

CMOCKA_MESSAGE_OUTPUT=TAP
export CMOCKA_MESSAGE_OUTPUT

# Words of a command are split on purpose.
# shellcheck disable=SC2086
run() { # command, name of its log
    start=$(date +%s)
    $1 >"$logs/$2" 2>&1
    echo "$? $(($(date +%s) - start))" >"$logs/$2.end"
}

n=0
for command in "$@"; do
    n=$((n + 1))
    [ "${command#+}" = "$command" ] || run "nice -n 19 ${command#+}" $n &
done

n=0
for command in "$@"; do
    n=$((n + 1))
    log=$logs/$n
    if [ "${command#+}" = "$command" ]; then
        run "$command" $n
    else
        command=${command#+}
        while [ ! -s "$log.end" ]; do sleep 0.2; done
    fi
    read -r status seconds <"$log.end"
    # TAP writes "ok 1 # SKIP why"; cmocka writes "not ok 1 # SKIP name".
    skip=$(grep -ciE '^(not )?ok.*# skip' "$log")
    not_ok=$(grep -vi '# skip' "$log" | grep -c '^not ok')
    ok=$(grep -vi '# skip' "$log" | grep -c '^ok')
    # A crash, or a failure without a "not ok" line, counts as one failed test.
    if [ $status -ne 0 ] && [ "$not_ok" -eq 0 ]; then
        not_ok=1
    fi
    if [ $((ok + skip + not_ok)) -eq 0 ]; then
        echo "no test ran" >>"$log"
        not_ok=1
    fi
    printf '%-44s %5d passed  %3d failed  %3d skipped  %4d s\n' \
        "$(basename "${command%% *}")${command#"${command%% *}"}" \
        "$ok" "$not_ok" "$skip" "$seconds"
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
