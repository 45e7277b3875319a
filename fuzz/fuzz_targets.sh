#!/bin/sh
# fuzz_targets.sh - run the fuzz targets in parallel, print a table of results; called by make
#
#   fuzz/fuzz_targets.sh list     print the names of the targets
#   fuzz/fuzz_targets.sh fuzz     run each target for FUZZ_SECONDS, print a table; exit 1 on
#                                 a finding
#   fuzz/fuzz_targets.sh merge    copy the found inputs that add coverage to fuzz/corpus
#
# The Makefile explains BUILD, JOBS and FUZZ_TARGETS. New inputs go to BUILD/fuzz/found/TARGET;
# a copy of an input that breaks a target goes to fuzz/crashes/TARGET. Nothing else in the tree
# is written. fuzz/targets.txt has the options of each target.

BUILD=${BUILD:-build}
JOBS=${JOBS:-2}
FUZZ_SECONDS=${FUZZ_SECONDS:-60}
work=$BUILD/fuzz
table=fuzz/targets.txt
most_kept=4096 # bytes: merge leaves out longer inputs

list() {
    awk '/^[a-z]/ { print $1 }' $table
}

field() { # target, column
    awk -v name="$1" -v column="$2" '$1 == name { print $column }' $table
}

stat_of() { # target, name
    sed -n "s/^stat::$2: *//p" "$work/log/$1" | tail -n 1
}

# Does the folder have a file with the same bytes?
is_known() { # file, folder
    for other in "$2"/*; do
        cmp -s "$1" "$other" && return 0
    done
    return 1
}

# Runs one target for FUZZ_SECONDS; writes $work/log/TARGET and, with its exit code, .status.
one() { # target
    found=$work/found/$1
    artifacts=$work/artifacts/$1
    rm -rf "$artifacts"
    mkdir -p "$found" "$artifacts" "fuzz/corpus/$1" "fuzz/crashes/$1"
    "$work/fuzz/$1" -max_total_time="$FUZZ_SECONDS" -timeout=5 -rss_limit_mb=2048 \
        -max_len="$(field "$1" 4)" -dict="fuzz/dict/$(field "$1" 5).dict" \
        -print_final_stats=1 -artifact_prefix="$artifacts/" \
        "$found" "fuzz/corpus/$1" "fuzz/crashes/$1" >"$work/log/$1" 2>&1
    echo $? >"$work/log/$1.status"
    for input in "$artifacts"/*; do
        if [ -f "$input" ] && ! is_known "$input" "fuzz/crashes/$1"; then
            cp "$input" "fuzz/crashes/$1/"
        fi
    done
}

# "LINES BRANCHES" in percent: coverage of the target's files by the corpora of all targets with
# the same files.
coverage() { # target
    files=$(field "$1" 3)
    set --
    profiles=
    # shellcheck disable=SC2013
    for target in $(awk -v files="$files" '/^[a-z]/ && $3 == files { print $1 }' $table); do
        replay=$work/cov/fuzz/replay_$target
        [ -x "$replay" ] || continue
        LLVM_PROFILE_FILE=$work/cov/$target.profraw "$replay" >/dev/null 2>&1
        profiles="$profiles $work/cov/$target.profraw"
        if [ $# -eq 0 ]; then set -- "$replay"; else set -- "$@" -object "$replay"; fi
    done
    merged=$work/cov/$target.profdata
    # The list of files is split into words on purpose.
    # shellcheck disable=SC2046,SC2086
    llvm-profdata merge -o "$merged" $profiles 2>/dev/null &&
        llvm-cov report "$@" -instr-profile="$merged" $(echo "$files" | tr ',' ' ') 2>/dev/null |
        awk '/^TOTAL/ { print $10, $13 }'
}

# Waits for the targets; prints the progress if standard error is a terminal.
wait_for() { # pid, number of targets
    begin=$(date +%s)
    turns=$((($2 + JOBS - 1) / JOBS))
    while kill -0 "$1" 2>/dev/null; do
        if [ -t 2 ]; then
            printf '\r%d of %d targets, %d of about %d s ' \
                "$(find "$work/log" -name '*.status' | wc -l)" "$2" \
                $(($(date +%s) - begin)) $((turns * FUZZ_SECONDS)) >&2
        fi
        sleep 1
    done
    [ -t 2 ] && printf '\r%60s\r' '' >&2
    wait "$1"
}

row() { # target
    edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$work/log/$1" | tail -n 1)
    # The two numbers are split into words on purpose.
    # shellcheck disable=SC2046
    set -- "$1" "${edges:-0}" $(coverage "$1")
    printf '%-15s %10s %8s %8s %8s %8s %9s %9s\n' "$1" \
        "$(stat_of "$1" number_of_executed_units)" "$(stat_of "$1" average_exec_per_sec)" \
        "$(find "$work/found/$1" -type f | wc -l)" "$2" "${3:-?}" "${4:-?}" \
        "$(find "$work/artifacts/$1" -type f | wc -l)"
}

findings() { # target
    if [ "$(cat "$work/log/$1.status")" -eq 0 ]; then
        return 0
    fi
    echo "$1 failed; the end of $work/log/$1:"
    grep -E 'a law is broken|ERROR: |SUMMARY: |runtime error' "$work/log/$1" | sed 's/^/    /'
    for input in "$work/artifacts/$1"/*; do
        [ -f "$input" ] || continue
        for kept in "fuzz/crashes/$1"/*; do
            cmp -s "$input" "$kept" || continue
            echo "    input:  $kept"
            echo "    replay: $work/fuzz/$1 $kept"
        done
    done
    return 1
}

fuzz() {
    rm -rf "$work/log"
    mkdir -p "$work/log"
    # The names are split into words on purpose.
    # shellcheck disable=SC2046,SC2086
    set -- ${FUZZ_TARGETS:-$(list)}
    printf '%s\n' "$@" | xargs -P "$JOBS" -I{} "$0" one {} &
    wait_for $! $#
    printf '%-15s %10s %8s %8s %8s %8s %9s %9s\n' target runs runs/s kept edges lines \
        branches findings
    for target in "$@"; do
        row "$target"
    done
    failed=0
    for target in "$@"; do
        findings "$target" || failed=1
    done
    return $failed
}

# Compares inputs by edges only, so that few inputs are kept; libFuzzer prefers short ones.
merge_one() { # target
    find "$work/found/$1" -type f -size +${most_kept}c -exec rm {} +
    "$work/fuzz/$1" -set_cover_merge=1 -use_counters=0 -max_len=$((1 << 20)) "fuzz/corpus/$1" \
        "$work/found/$1" >"$work/log/$1.merge" 2>&1 || cat "$work/log/$1.merge"
    printf '%-15s %4d inputs, %7d bytes\n' "$1" "$(find "fuzz/corpus/$1" -type f | wc -l)" \
        "$(cat "fuzz/corpus/$1"/* | wc -c)"
}

case $1 in
list) list ;;
one) one "$2" ;;
fuzz) fuzz ;;
merge)
    for target in ${FUZZ_TARGETS:-$(list)}; do
        merge_one "$target"
    done
    ;;
*)
    echo "usage: fuzz_targets.sh list|fuzz|merge" >&2
    exit 2
    ;;
esac
