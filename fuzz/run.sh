#!/bin/sh
# run.sh - runs the fuzz targets, several at a time; called by make fuzz, from the top folder
# runs: by hand
#
#   fuzz/run.sh SECONDS [NAME...]   runs them, prints a table and what was found; exit 1 on a finding
#   fuzz/run.sh merge [NAME...]     adds to fuzz/inputs/NAME.txt what the last runs have found that
#                                   reaches an edge which no input there reaches
#
# BUILD is the folder of the program fuzz, JOBS how many run at a time. New inputs are kept in
# BUILD/found/NAME; what breaks a target is in BUILD/broken/NAME, and as an entry for its archive in
# BUILD/broken/NAME.txt.
BUILD=${BUILD:-build/fuzz}
fuzz=$BUILD/fuzz
most_kept=4096 # bytes: merge leaves out longer inputs

one() { # name, seconds
    rm -rf "$BUILD/seeds/$1" "$BUILD/broken/$1" "$BUILD/broken/$1.txt"
    mkdir -p "$BUILD/seeds" "$BUILD/found/$1" "$BUILD/broken/$1"
    "$fuzz" seeds "$1" "$BUILD/seeds/$1"
    # The options are split into words on purpose.
    # shellcheck disable=SC2046
    "$fuzz" "$1" $("$fuzz" options "$1") -max_total_time="$2" -timeout=5 -rss_limit_mb=2048 \
        -print_final_stats=1 -artifact_prefix="$BUILD/broken/$1/" \
        "$BUILD/found/$1" "$BUILD/seeds/$1" >"$BUILD/log/$1" 2>&1
    echo $? >"$BUILD/log/$1.status"
}

number() { # name, what libFuzzer calls it
    sed -n "s/^stat::$2: *//p" "$BUILD/log/$1" | tail -n 1
}

row() { # name
    printf '%-18s %10s %8s %8s %8s\n' "$1" "$(number "$1" number_of_executed_units)" \
        "$(number "$1" average_exec_per_sec)" "$(find "$BUILD/found/$1" -type f | wc -l)" \
        "$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$BUILD/log/$1" | tail -n 1)"
}

tell_finding() { # name
    [ "$(cat "$BUILD/log/$1.status")" -ne 0 ] || return 0
    echo "$1 failed; the end of $BUILD/log/$1:"
    grep -E 'a law is broken|ERROR: |SUMMARY: |runtime error' "$BUILD/log/$1" | sed 's/^/    /'
    for input in "$BUILD/broken/$1"/*; do
        [ -f "$input" ] && "$fuzz" entry "$input" >>"$BUILD/broken/$1.txt"
    done
    [ ! -s "$BUILD/broken/$1.txt" ] ||
        echo "    give it a name, mend the reader: cat $BUILD/broken/$1.txt >>fuzz/inputs/$1.txt"
    return 1
}

run() { # seconds, name...
    seconds=$1
    shift
    # shellcheck disable=SC2046
    [ $# -gt 0 ] || set -- $("$fuzz" list)
    rm -rf "$BUILD/log"
    mkdir -p "$BUILD/log"
    printf '%s\n' "$@" | xargs -P "${JOBS:-2}" -I{} "$0" one {} "$seconds"
    printf '%-18s %10s %8s %8s %8s\n' inputs runs runs/s kept edges
    failed=0
    for name; do row "$name"; done
    for name; do tell_finding "$name" || failed=1; done
    return $failed
}

# Compares by edges alone, so that few inputs are kept.
merge() { # name
    all=$BUILD/merged/$1
    rm -rf "$all"
    mkdir -p "$BUILD/merged" "$BUILD/found/$1" "$BUILD/log"
    "$fuzz" seeds "$1" "$all"
    find "$BUILD/found/$1" -type f -size +${most_kept}c -exec rm {} +
    "$fuzz" "$1" -set_cover_merge=1 -use_counters=0 -max_len=$((1 << 20)) "$all" \
        "$BUILD/found/$1" >"$BUILD/log/$1.merge" 2>&1 || cat "$BUILD/log/$1.merge"
    edge=$(grep -c '^case edge-' "fuzz/inputs/$1.txt")
    added=0
    for input in "$all"/*; do
        # The names that libFuzzer gives are hashes of 40 digits.
        expr "${input##*/}" : '[0-9a-f]\{40\}$' >/dev/null || continue
        added=$((added + 1))
        mv "$input" "$all/edge-$((edge + added))"
        "$fuzz" entry "$all/edge-$((edge + added))" >>"fuzz/inputs/$1.txt"
    done
    echo "$1: $added added"
}

case ${1:-} in
one) one "$2" "$3" ;;
merge)
    shift
    # shellcheck disable=SC2046
    [ $# -gt 0 ] || set -- $("$fuzz" list)
    for name; do merge "$name"; done
    ;;
[0-9]*) run "$@" ;;
*)
    echo "usage: run.sh SECONDS|merge [NAME...]" >&2
    exit 2
    ;;
esac
