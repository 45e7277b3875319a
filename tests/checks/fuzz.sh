#!/bin/sh
# fuzz.sh - every reader of bytes is in the table of readers, and so fuzzed; prints TAP
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

every_reader_has_a_row() {
    readers >"$out/readers"
    [ "$(wc -l <"$out/readers")" -ge 17 ] || return 1
    while read -r reader; do
        grep -qw "$reader" tests/readers/*.c || {
            echo "no row of tests/readers calls $reader"
            return 1
        }
    done <"$out/readers"
}

# The rows of the table: name, inputs (NULL: of that name), dictionary.
every_row_is_whole() {
    cat tests/readers/*.c | tr '\n' ' ' | grep -oE '\{"[a-z_]+", [a-z_]+, [^}]*\}' |
        sed -E 's/^\{"([a-z_]+)", [a-z_]+, (NULL|"[^"]*"), ("([a-z_]+)"|NULL), *"([a-z_]+)".*/\1 \4 \5/' \
            >"$out/rows"
    [ "$(wc -l <"$out/rows")" -ge 70 ] || return 1
    sed -E 's/^(.*) (.*) (.*)$/\2 \1/; s/^ //; s/ .*//' "$out/rows" | sort -u >"$out/inputs"
    find fuzz/inputs -name '*.txt' | sed 's|.*/||; s/\.txt$//' | sort | diff "$out/inputs" - &&
        ! sed 's/.* //' "$out/rows" | sort -u | while read -r dictionary; do
            [ -f "fuzz/dict/$dictionary.dict" ] || echo "there is no dictionary $dictionary"
        done | grep .
}

check "every reader of bytes is in the table of readers" every_reader_has_a_row
check "every row has its inputs and its dictionary" every_row_is_whole
finish
