#!/bin/sh
# fuzz.sh - every reader of bytes has a fuzz target, every target its files; prints TAP
# runs: check
#
#   tests/checks/fuzz.sh         from the top folder

BUILD=${BUILD:-build}
out=$BUILD/fuzz-check
mkdir -p "$out"
. tests/support/tap.sh

# The functions of the public headers with a text and its length, or a name, as parameters.
readers() {
    # Names of files contain no blanks.
    # shellcheck disable=SC2046
    cat $(sed -n 's|^#include "\(.*\)"$|adapters/ascend/\1|p' adapters/ascend/cpubind_ascend.h) \
        adapters/text/input_name.h adapters/ascend/input_list.h adapters/pci/*.h |
        tr '\n' ' ' | grep -oE 'cpubind_[a-z_]+\(const char \*(text|comm|name)\b' |
        sed 's/(.*//' | grep -v -e '^cpubind_text_place$' -e '^cpubind_visible_rule$' -e '^cpubind_gres_write$' | sort -u
}

every_reader_is_fuzzed() {
    readers >"$out/readers"
    [ "$(wc -l <"$out/readers")" -ge 17 ] || return 1
    while read -r reader; do
        grep -q "$reader(" fuzz/targets/*.c || {
            echo "no target of fuzz/ calls $reader"
            return 1
        }
    done <"$out/readers"
}

every_target_is_whole() {
    awk '/^[a-z]/' fuzz/targets.txt >"$out/targets"
    [ "$(wc -l <"$out/targets")" -eq "$(find fuzz/targets -name '*.c' | wc -l)" ] || return 1
    while read -r name function files _ dictionary; do
        for file in $(echo "$files" | tr ',' ' '); do [ -f "$file" ] || return 1; done
        grep -q "$function(" "fuzz/targets/fuzz_$name.c" "${files%%,*}" &&
            grep -q "$function(" "${files%%,*}" && [ -f "fuzz/dict/$dictionary.dict" ] &&
            [ -n "$(find "fuzz/corpus/$name" -type f)" ] || {
            echo "target $name lacks its function, its dictionary or its corpus"
            return 1
        }
    done <"$out/targets"
}

check "every reader of bytes has a fuzz target" every_reader_is_fuzzed
check "every target has its function, its dictionary and its corpus" every_target_is_whole
finish
