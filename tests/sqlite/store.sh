#!/bin/sh
# store.sh - a corpus where memory runs out, and the files and trees of a stranger; prints TAP
# SPDX-License-Identifier: MIT
# runs: check-all
#
# The command imports, accepts and removes while the 1st, 2nd ... allocation of SQLite fails
# (tests/scenes/programs/sqlite_shim.c): the file has the bytes before the change or those after it.
# What comes of calls on the file that fail is a matter of tests/faults.
LC_ALL=C
export LC_ALL
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
BUILD=$(cd "$BUILD" && pwd)
CPUBIND=$BUILD/cpubind
hosts=$PWD/fixtures/hosts
. tests/support/tap.sh

fixture() { # arguments of cpubind fixture
    "$CPUBIND" fixture "$@"
}

# -- Calls that fail -----------------------------------------------------------

# Makes the change on the corpus w/c.db: import, accept, remove, or shapes.
change() { # name, variables of the shim ...
    change=$1
    shift
    case $change in
    new | import) set -- env "$@" "$CPUBIND" fixture import "$hosts/npu-missing.host" ;;
    replace) set -- env "$@" "$CPUBIND" fixture import "$hosts/no-npu.host" --replace ;;
    accept) set -- env "$@" "$CPUBIND" fixture accept no-npu more ;;
    remove) set -- env "$@" "$CPUBIND" fixture remove no-npu ;;
    shapes) set -- env "$@" "$CPUBIND" fixture import "$hosts/npu-missing.host" --shapes ;;
    esac
    case $change in
    accept) "$@" --db "$out/w/c.db" -- --rank 0 ;;
    *) "$@" --db "$out/w/c.db" ;;
    esac >"$out/said" 2>&1
}

put_back() {
    rm -rf "$out/w" && mkdir "$out/w" || return 1
    [ ! -e "$out/before.db" ] || cp "$out/before.db" "$out/w/c.db"
}

# The change is made, or it is not.
is_whole() {
    if [ "$got" -eq 0 ]; then cmp -s "$out/after.db" "$out/w/c.db"
    elif [ -e "$out/before.db" ]; then cmp -s "$out/before.db" "$out/w/c.db"
    else [ ! -e "$out/w/c.db" ]; fi
}

# Makes the change with each allocation failing in turn, until one needs fewer of them.
each_allocation_fails() { # change, 1 for all after it too, one in so many
    rm -f "$out/before.db" "$out/said"
    at=1
    [ "$1" = new ] || fixture import "$hosts/no-npu.host" --db "$out/before.db" --quiet || return 1
    put_back && change "$1" && cp "$out/w/c.db" "$out/after.db" || return 1
    while :; do
        put_back && echo 0 >"$out/failed" || return 1
        change "$1" LD_PRELOAD="$BUILD/programs/sqlite_shim" FAIL_AT=$at ${2:+FAIL_ON=1} FAIL_SAID="$out/failed"
        got=$?
        [ "$(cat "$out/failed")" -gt 0 ] || break
        is_whole || { echo "$1, allocation $at: exit status $got, $(cat "$out/said")" && return 1; }
        at=$((at + $3))
    done
    [ "$got" -eq 0 ] && is_whole && [ "$at" -gt 100 ]
}

# SQLite can do without some of its memory: then all is as without a fault.
each_read_fails() { # words of a reader ...
    put_back && at=1 || return 1
    fixture "$@" --db "$out/w/c.db" 2>&1 | sed 's/ (.* a second)//' >"$out/whole"
    while :; do
        env LD_PRELOAD="$BUILD/programs/sqlite_shim" FAIL_AT="$at" FAIL_SAID="$out/failed" "$CPUBIND" fixture "$@" \
            --db "$out/w/c.db" >"$out/said" 2>&1
        got=$?
        [ "$(cat "$out/failed")" -gt 0 ] || break
        [ "$got" -eq 3 ] || sed 's/ (.* a second)//' "$out/said" | cmp -s - "$out/whole" || {
            echo "allocation $at: $got" && cat "$out/said" && return 1
        }
        at=$((at + 7))
    done
    [ "$got" -eq 0 ] && [ "$at" -gt 5 ]
}

if [ -e "$BUILD/programs/sqlite_shim" ]; then
    for name in new import replace accept remove shapes; do
        check "$name: an allocation of SQLite fails" each_allocation_fails $name "" 61
        check "$name: each allocation from one on fails" each_allocation_fails $name 1 307
    done
    for words in list groups "show no-npu" "replay no-npu"; do
        # shellcheck disable=SC2086
        check "$words: an allocation of SQLite fails" each_read_fails $words
    done
else
    skip "allocations that fail" "there is no $BUILD/programs/sqlite_shim: make tested"
fi

# -- Journals ------------------------------------------------------------------

# SQLite believes what a journal says, and opens and deletes the files that it names. Whatever is
# beside a corpus, neither a reader nor a writer touches it, or the corpus.
refused() { # name beside it, command that makes it, in its folder
    rm -rf "$out/user" && mkdir -p "$out/user/in" && cd "$out/user/in" && cp "$out/base.db" c.db &&
        echo mine >../victim && name=$1 && shift && "$@" "$name" || return 1
    find "$out/user" -printf '%p %i %s %n %T@ %C@ %U %m\n' | sort >"$out/outside"
    for words in list "import $hosts/idle-a2.host --replace"; do
        # shellcheck disable=SC2086
        timeout 30 "$CPUBIND" fixture $words --db c.db >"$out/said" 2>&1
        [ $? -eq 3 ] && cat "$out/said" && grep -q "a -journal or -wal beside it" "$out/said" || return 1
    done
    find "$out/user" -printf '%p %i %s %n %T@ %C@ %U %m\n' | sort | cmp - "$out/outside"
}

fixture import "$hosts/no-npu.host" --db "$out/base.db" --quiet || exit 1
top=$PWD
for name in c.db-journal c.db-wal; do
    check "$name: a file is refused" refused $name cp ../victim
    check "$name: an empty file is refused" refused $name touch
    check "$name: a link to a file is refused" refused $name ln -s ../victim
    check "$name: a link to a device is refused" refused $name ln -s /dev/zero
    check "$name: a FIFO is refused" refused $name mkfifo
    check "$name: a folder is refused" refused $name mkdir
    check "$name: a second name of a file is refused" refused $name ln ../victim
done

# The advice of the command.
copy_is_used() {
    refused c.db-journal cp ../victim && cp c.db copy.db &&
        fixture import "$hosts/idle-a2.host" --db copy.db && fixture replay --db copy.db >"$out/said"
}
check "a copy without the journal is read and written" copy_is_used

# A new corpus is not made beside one either.
of_no_corpus() {
    refused c.db-journal cp ../victim && rm c.db || return 1
    fixture import "$hosts/idle-a2.host" --db c.db
    [ $? -eq 3 ] && [ "$(cat c.db-journal)" = mine ] && [ ! -e c.db ]
}
check "a journal of no corpus is refused" of_no_corpus
cd "$top" || exit 1

# -- Trees with loops in them --------------------------------------------------

be32() { # number
    # The format is made of the number on purpose.
    # shellcheck disable=SC2059
    printf "$(printf '\\%03o\\%03o\\%03o\\%03o' $(($1 >> 24 & 255)) $(($1 >> 16 & 255)) \
        $(($1 >> 8 & 255)) $(($1 & 255)))"
}

be16() { # number
    be32 "$1" | tail -c 2
}

# A corpus of small pages, whose tables are trees of several pages.
make_trees() { # file
    sum=$(printf x | sha256sum | cut -c 1-64)
    {
        echo "PRAGMA page_size = 512;" && cat fixtures/schema.sql &&
            echo "INSERT INTO contents VALUES ('$sum', x'78');
                WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 70)
                INSERT INTO hosts SELECT 'host-' || i, 'p', 'synthetic', 'none', 'a note' FROM n;
                WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 70)
                INSERT INTO inputs SELECT 'host-10', 'sys/' || i, '$sum', 0 FROM n;"
    } | sqlite3 -batch "$1"
}

# The last branch of a tree leads to the same page as the first one.
branch_twice() { # table, words, command of fixture
    rm -f "$out/t.db" && make_trees "$out/t.db" || return 1
    root=$(sqlite3 "$out/t.db" "SELECT (rootpage - 1) * 512 FROM sqlite_schema WHERE name = '$1'")
    first=$(od -An -tu1 -j $((root + 12)) -N 2 "$out/t.db" | awk '{ print $1 * 256 + $2 }')
    dd if="$out/t.db" bs=1 skip=$((root + first)) count=4 2>/dev/null |
        dd of="$out/t.db" bs=1 seek=$((root + 8)) conv=notrunc 2>/dev/null
    words=$2
    shift 2
    fixture "$@" --db "$out/t.db" >"$out/said" 2>&1
    [ $? -eq 3 ] && cat "$out/said" && grep -q "$words" "$out/said"
}
check "a branch of the hosts that occurs twice is damage" branch_twice hosts "the hosts do not ascend" list
check "one of the inputs, too" branch_twice inputs "the inputs do not ascend" show host-10

# The schema is a tree of fifteen levels, in which ten branches of each page lead to one page of the
# next level. Without a limit, SQLite would read 10^15 rows.
page_of_level() { # level, number of pages of the file
    start=$(($1 == 0 ? 100 : 0)) # the first page begins with the header of the file
    if [ "$1" -lt 15 ]; then
        printf '\005\000\000' && be16 10 && be16 496 && printf '\000' && be32 $(($2 + $1 + 1))
        for _ in 1 2 3 4 5 6 7 8 9 10; do be16 496; done
        head -c $((496 - 32 - start)) /dev/zero
        be32 $(($2 + $1 + 1)) && printf '\001' && head -c 11 /dev/zero
    else
        printf '\015\000\000' && be16 1 && be16 496 && printf '\000' && be16 496
        head -c 486 /dev/zero
        printf '\006\001\006' && head -c 13 /dev/zero # a row of five columns, all NULL
    fi
}

schema_without_an_end() {
    rm -f "$out/t.db" && make_trees "$out/t.db" || return 1
    n=$(($(wc -c <"$out/t.db") / 512))
    for level in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
        page_of_level $level $n >"$out/page"
        at=$((level == 0 ? 100 : (n + level - 1) * 512))
        dd if="$out/page" of="$out/t.db" bs=1 seek=$at conv=notrunc 2>/dev/null
    done
    be32 $((n + 15)) | dd of="$out/t.db" bs=1 seek=28 conv=notrunc 2>/dev/null
    timeout 20 "$CPUBIND" fixture show host-10 --db "$out/t.db" >"$out/said" 2>&1
    [ $? -eq 3 ] && cat "$out/said" && grep -q "more steps than a corpus can need" "$out/said"
}
check "a schema without an end is damage" schema_without_an_end
finish
