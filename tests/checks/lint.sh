#!/bin/sh
# lint.sh - format, warnings of both compilers, clang-tidy, cppcheck, banned words; prints TAP
#
#   tests/checks/lint.sh         from the top folder; BUILD is where objects go

BUILD=${BUILD:-build}
out=$BUILD/lint
mkdir -p "$out"
n=0
failed=0

# report STATUS TEXT LOG
report() {
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $n - $2"
    else
        echo "not ok $n - $2"
        sed 's/^/# /' "$3" | head -60
        failed=1
    fi
}

skip() {
    n=$((n + 1))
    echo "ok $n - $1 # SKIP $2"
}

sources=$(find adapters -name '*.c' | sort)
headers=$(find adapters -name '*.h' | sort)
tests=$(find tests -name '*.c' | sort)
test_headers=$(find tests -name '*.h' | sort)
warn='-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror'
words='-std=c11 -D_XOPEN_SOURCE=700'

# Lists of files are split on purpose.
# shellcheck disable=SC2086
if command -v clang-format-14 >/dev/null 2>&1; then
    clang-format-14 --dry-run -Werror cpubind.h $sources $headers $tests $test_headers \
        >"$out/format" 2>&1
    report $? "sources are formatted (clang-format 14)" "$out/format"
else
    skip "sources are formatted" "no clang-format-14: other versions format otherwise"
fi

# shellcheck disable=SC2086
for cc in gcc clang; do
    if ! command -v $cc >/dev/null 2>&1; then
        skip "no warning of $cc" "no $cc"
        continue
    fi
    printf '%s\n' $sources | xargs -P 4 -I{} $cc $words $warn -O2 -fsyntax-only {} \
        >"$out/$cc" 2>&1
    report $? "no warning of $cc in adapters/" "$out/$cc"
done

# shellcheck disable=SC2086
if command -v clang-tidy >/dev/null 2>&1; then
    printf '%s\n' $sources | xargs -P 4 -I{} clang-tidy --quiet {} -- $words >"$out/tidy" 2>&1
    report $? "clang-tidy is clean on adapters/" "$out/tidy"
    clang-tidy --quiet cpubind.h -- -x c -std=c99 -DCPUBIND_IMPLEMENTATION >"$out/core" 2>&1
    report $? "clang-tidy is clean on cpubind.h" "$out/core"
else
    skip "clang-tidy is clean" "no clang-tidy"
fi

# shellcheck disable=SC2086
if command -v cppcheck >/dev/null 2>&1; then
    printf '#define CPUBIND_IMPLEMENTATION\n#include "cpubind.h"\n' >"$out/core.c"
    cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr --suppress=missingIncludeSystem \
        --suppress=ctuuninitvar `# takes every out parameter for one that is read` \
        --enable=warning,performance,portability -I . "$out/core.c" $sources \
        >"$out/cppcheck" 2>&1
    report $? "cppcheck is clean" "$out/cppcheck"
else
    skip "cppcheck is clean" "no cppcheck"
fi

# Numbers are read with a limit by our own reader, text is never copied without one.
# shellcheck disable=SC2086
grep -nE '\b(atoi|atol|sscanf|strtoul|gets|strcpy|strcat|sprintf|alloca|system|popen)\(' \
    cpubind.h $sources $headers >"$out/banned"
[ $? -eq 1 ]
report $? "no banned function" "$out/banned"

# shellcheck disable=SC2086
grep -nE '(^|[^:"])//|TODO|FIXME|XXX' cpubind.h $sources $headers >"$out/comments"
[ $? -eq 1 ]
report $? "no // comment, no TODO" "$out/comments"

# shellcheck disable=SC2086
awk 'length > 96 { print FILENAME ":" FNR ": " length " columns"; bad = 1 } END { exit bad }' \
    cpubind.h $sources $headers $tests $test_headers >"$out/columns"
report $? "no line is longer than 96 columns" "$out/columns"

echo "1..$n"
exit $failed
