#!/bin/sh
# run.sh - runs test programs and scripts that print TAP, and counts the results
#
#   tests/run.sh COMMAND...      a command may have arguments: "tests/checks/layers.sh --self-test"
#
# Commands run one after the other. One with a + before it can run beside any other: it measures
# no times, and shares nothing with others that it writes; where this is root it has a /tmp of its
# own, in memory, since tests write many small files. Beside the commands without it, these run
# with low priority, as many at a time as there are CPUs, in their order: the slowest come first.
# One with a = before it shares nothing either, but waits most of its time, for limits of a second
# or more: these run two at a time beside all the rest, and with its priority. After the
# commands without a sign, those with a + run here as well.
#
# Prints a line for each command when it has ended, with its seconds and those of the CPUs, and
# "kept" where tests/support/kept.sh repeated a result; the output of each that failed; and at the
# end the ten that took most of the CPUs, and "N passed, N failed" (and ", N skipped"). Exit 0 only
# if a test passed and none failed.

passed=0
failed=0
skipped=0
logs=$(mktemp -d) || exit 1
trap 'rm -rf "$logs"' EXIT

CMOCKA_MESSAGE_OUTPUT=TAP
export CMOCKA_MESSAGE_OUTPUT

# Writes the output, the exit status and the seconds of a command. The subshell counts the CPU
# time of this command alone.
# Words of a command are split on purpose.
# shellcheck disable=SC2086
run() { # command, folder for its results
    start=$(date +%s)
    (
        $1 >"$2/log" 2>&1
        status=$?
        times >"$2/times"
        exit $status
    )
    echo "$? $(($(date +%s) - start))" >"$2/end"
}

in_memory() { # command ...
    unshare -m sh -c 'mount -t tmpfs -o mode=1777 tmpfs /tmp && exec "$@"' sh "$@"
}

# A tree below /tmp would be hidden.
own_tmp=
case "$(pwd)/ $(cd "${BUILD:-build}" 2>/dev/null && pwd)/" in
/tmp/* | *" /tmp/"*) ;;
*) [ "$(id -u)" -ne 0 ] || ! in_memory true 2>/dev/null || own_tmp=in_memory ;;
esac

# Runs the commands of a kind that no other lane has begun, and then calls `after`.
lane() { # "", + or =, after, command ...
    kind=$1
    after=$2
    shift 2
    case $kind in + | =) before="$own_tmp " ;; *) before= ;; esac
    [ "$kind" != + ] || before="${before}nice -n 10 "
    at=0
    for command in "$@"; do
        at=$((at + 1))
        if [ "${command%"${command#[+=]}"}" = "$kind" ] && mkdir "$logs/$at" 2>/dev/null; then
            run "$before${command#[+=]}" "$logs/$at"
            $after "$@"
        fi
    done
}

# Prints and counts the results of the commands that ended since the last call.
report() { # command ...
    n=0
    for command in "$@"; do
        n=$((n + 1))
        if [ -s "$logs/$n/end" ] && [ ! -e "$logs/$n/told" ]; then
            : >"$logs/$n/told"
            count "${command#[+=]}" "$logs/$n"
        fi
    done
}

count() { # command, folder of its results
    log=$2/log
    read -r status seconds <"$2/end"
    cpu=$(awk -F '[ms ]+' 'NR == 2 { printf "%.1f", ($1 + $3) * 60 + $2 + $4 }' "$2/times")
    name=${1#tests/support/kept_program.sh }
    name=$(basename "${name%% *}")${name#"${name%% *}"}
    echo "$cpu $name" >>"$logs/cpu"
    kept=
    ! grep -q '^# kept: ' "$log" || kept="  kept"
    # TAP writes "ok 1 # SKIP why"; cmocka writes "not ok 1 # SKIP name".
    skip=$(grep -ciE '^(not )?ok.*# skip' "$log")
    not_ok=$(grep -vi '# skip' "$log" | grep -c '^not ok')
    ok=$(grep -vi '# skip' "$log" | grep -c '^ok')
    # A crash, or a failure without a "not ok" line, counts as one failed test.
    if [ "$status" -ne 0 ] && [ "$not_ok" -eq 0 ]; then
        not_ok=1
    fi
    if [ $((ok + skip + not_ok)) -eq 0 ]; then
        echo "no test ran" >>"$log"
        not_ok=1
    fi
    printf '%-44s %5d passed  %3d failed  %3d skipped  %4d s  %6s s of CPU%s\n' \
        "$name" "$ok" "$not_ok" "$skip" "$seconds" "$cpu" "$kept"
    if [ "$not_ok" -ne 0 ]; then
        grep -vE '^(ok|1\.\.)' "$log" | sed 's/^/    /'
        [ "$status" -ne 0 ] && echo "    exit status $status"
    fi
    grep -iE '^(not )?ok.*# skip' "$log" | sed 's/^/    /'
    passed=$((passed + ok))
    failed=$((failed + not_ok))
    skipped=$((skipped + skip))
}

for _ in $(seq "$(nproc 2>/dev/null || echo 2)"); do
    lane + : "$@" &
done
lane "=" : "$@" &
lane "=" : "$@" &
lane "" report "$@"
lane + report "$@"
wait
report "$@"

LC_ALL=C sort -rn "$logs/cpu" | awk '
    { sum += $1 }
    NR <= 10 { slowest = slowest "  " $0 "\n" }
    END { printf "%.0f s of CPU in %d commands; the slowest:\n%s", sum, NR, slowest }'
if [ $skipped -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
[ $failed -eq 0 ] && [ $passed -gt 0 ]
