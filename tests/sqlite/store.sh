#!/bin/sh
# store.sh - a corpus that is written while calls fail, and the journals of a stranger; prints TAP
# SPDX-License-Identifier: MIT
# runs: check-all
#
# The command imports, accepts and removes while the 1st, 2nd ... call on its file fails, or kills
# it in the middle of a write (tests/scenes/programs/file_shim.c). Then SQLite opens the file, as the
# next writer does: its bytes are those before the change or those after it.
#
# A journal is made of bytes here, since SQLite makes none that names another file: one page, and
# the name of a super-journal. Whatever a reader and a writer say of it, beside the corpus and its
# journal no file changes.
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

# Rolls a journal back, as the next writer does. A new file that could not be removed is empty.
recover() {
    [ ! -e "$out/w/c.db-journal" ] || [ ! -s "$out/w/c.db" ] || n_hot=$((n_hot + 1))
    [ ! -s "$out/w/c.db" ] || sqlite3 -batch "$out/w/c.db" 'BEGIN IMMEDIATE; ROLLBACK' || return 1
    rm -f "$out/w/c.db-journal"
    [ -s "$out/w/c.db" ] || rm -f "$out/w/c.db"
}

is_as() { # file, or that there is none
    if [ -e "$1" ]; then cmp -s "$1" "$out/w/c.db"; else [ ! -e "$out/w/c.db" ]; fi
}

# The change is made, or it is not. It may be made and not synced: the journal was removed, and then
# the folder could not be synced.
is_whole() {
    if is_as "$out/after.db"; then
        n_after=$((n_after + (got != 0)))
        [ "$got" -eq 0 ] || [ "$got" -eq 9 ] || grep -q synced "$out/said"
    else
        [ "$got" -ne 0 ] && is_as "$out/before.db"
    fi
}

# Makes the change with each call failing in turn, until one needs fewer calls.
each_call_fails() { # change, way, 1 for all calls after it too, fewest calls [, one in so many]
    rm -f "$out/before.db" "$out/said"
    n_hot=0 n_after=0 at=1
    [ "$1" = new ] || fixture import "$hosts/no-npu.host" --db "$out/before.db" --quiet || return 1
    put_back && change "$1" && cp "$out/w/c.db" "$out/after.db" && ! is_as "$out/before.db" || return 1
    while :; do
        put_back && echo 0 >"$out/failed" || return 1
        change "$1" LD_PRELOAD="$BUILD/programs/file_shim" FAIL_FOLDER="$out/w" FAIL_AT=$at \
            FAIL_WAY="$2" ${3:+FAIL_ON=1} FAIL_SAID="$out/failed"
        got=$?
        [ "$(cat "$out/failed")" -gt 0 ] || break
        if ! recover || ! is_whole; then
            echo "$1, $2, call $at: exit status $got, $(cat "$out/said")"
            return 1
        fi
        at=$((at + ${5:-1}))
    done
    echo "# $change, $2: $at calls, $n_hot left a journal, $n_after changes made and not synced" >>"$out/counted"
    [ "$got" -eq 0 ] && is_as "$out/after.db" && [ "$at" -gt "$4" ]
}

# What a reader cannot read is an error. SQLite can do without some of its memory: then all is
# as without a fault.
each_read_fails() { # way, 1 for all calls after it too, words of a reader ...
    put_back && at=1 step=1 way=$1 lasting=$2
    shift 2
    [ "$way" != memory ] || step=7
    fixture "$@" --db "$out/w/c.db" >"$out/whole" 2>&1
    while :; do
        env LD_PRELOAD="$BUILD/programs/file_shim" FAIL_FOLDER="$out/w" FAIL_AT="$at" FAIL_WAY="$way" \
            ${lasting:+FAIL_ON=1} FAIL_SAID="$out/failed" "$CPUBIND" fixture "$@" \
            --db "$out/w/c.db" >"$out/said" 2>&1
        got=$?
        [ "$(cat "$out/failed")" -gt 0 ] || break
        [ "$got" -eq 3 ] || { [ "$way" = memory ] && cmp -s "$out/whole" "$out/said"; } || {
            echo "call $at: $got" && cat "$out/said" && return 1
        }
        at=$((at + step))
    done
    [ "$got" -eq 0 ] && [ "$at" -gt 5 ]
}

if [ -e "$BUILD/programs/file_shim" ]; then
    for name in new import replace accept remove shapes; do
        check "$name: each call fails" each_call_fails $name eio "" 15
        check "$name: each call and all after it fail" each_call_fails $name eio 1 15
        check "$name: the disk is full anywhere" each_call_fails $name full "" 15
        check "$name: the writer is killed in each write" each_call_fails $name kill "" 3
        check "$name: an allocation of SQLite fails" each_call_fails $name memory "" 100 61
        check "$name: each allocation from one on fails" each_call_fails $name memory 1 100 307
    done
    for words in list groups "show no-npu" "replay no-npu"; do
        # shellcheck disable=SC2086
        check "$words: each read fails" each_read_fails read "" $words
        # shellcheck disable=SC2086
        check "$words: each read and all after it fail" each_read_fails read 1 $words
        # shellcheck disable=SC2086
        check "$words: an allocation of SQLite fails" each_read_fails memory "" $words
    done
else
    skip "calls that fail" "there is no $BUILD/programs/file_shim: make tested"
fi

# -- Journals ------------------------------------------------------------------

be32() { # number
    # The format is made of the number on purpose.
    # shellcheck disable=SC2059
    printf "$(printf '\\%03o\\%03o\\%03o\\%03o' $(($1 >> 24 & 255)) $(($1 >> 16 & 255)) \
        $(($1 >> 8 & 255)) $(($1 & 255)))"
}

mark() {
    printf '\331\325\005\371\040\241\143\327'
}

# A header of 512 bytes; the sums begin with 7.
header() { # number of records, of pages before the write, bytes of a sector, of a page
    mark && be32 "$1" && be32 7 && be32 "$2" && be32 "$3" && be32 "$4" && head -c 484 /dev/zero
}

# The first page of the corpus, as it was before the write.
page() { # what is added to its sum
    be32 1 && head -c 4096 "$out/base.db" &&
        be32 $((7 + ${1:-0} + $(head -c 4096 "$out/base.db" | od -An -v -tu1 -w1 |
            awk '(NR - 1) % 200 == 96 && NR > 1 { n += $1 } END { print n }')))
}

# The end of a journal of several databases: the name of the super-journal.
name() { # name, its length as stated, what is added to its sum
    be32 262145 && printf %s "$1" && be32 "${2:-${#1}}" &&
        be32 $((${3:-0} + $(printf %s "$1" | od -An -v -tu1 -w1 | awk '{ n += $1 } END { print n + 0 }'))) &&
        mark
}

# A corpus of a stranger, in/c.db, beside files of the user.
make_stranger() {
    rm -rf "$out/user" && mkdir -p "$out/user/in" "$out/user/folder" && cd "$out/user" &&
        cp "$out/base.db" in/c.db && echo mine >victim && echo inner >folder/inner &&
        printf '\0zero' >zero && echo beside >c.db
}

# Everything outside, down to the time of the last change.
outside() {
    find "$out/user" -path "$out/user/in" -prune -o -printf '%p %i %s %n %T@ %C@\n'
}

sum_of_corpus() {
    sha256sum "$out/user/in/c.db" 2>/dev/null
}

# Runs a reader and a writer; nothing outside may change. Sets `read` and `wrote`, and what they said.
meet() {
    outside >"$out/outside"
    before=$(sum_of_corpus)
    fixture list --db "$out/user/in/c.db" >"$out/read" 2>&1
    read=$?
    [ "$(sum_of_corpus)" = "$before" ] || return 1
    timeout 30 "$CPUBIND" fixture import "$hosts/idle-a2.host" --db "$out/user/in/c.db" --replace \
        >"$out/wrote" 2>&1
    wrote=$?
    cat "$out/read" "$out/wrote"
    outside | cmp - "$out/outside"
}

# Both refuse it with these words, and change nothing.
refused() { # words, command that makes the journal in/c.db-journal
    words=$1
    shift
    make_stranger && "$@" >in/c.db-journal 2>/dev/null || return 1
    was_refused "$words"
}

was_refused() { # words
    was=$(find in -printf '%f %y %s %m %U %T@ ' && sha256sum in/c.db 2>/dev/null)
    meet && [ "$read" -eq 3 ] && [ "$wrote" -eq 3 ] && grep -qF "$1" "$out/read" &&
        grep -qF "$1" "$out/wrote" &&
        [ "$was" = "$(find in -printf '%f %y %s %m %U %T@ ' && sha256sum in/c.db 2>/dev/null)" ]
}

named() { # arguments of name()
    header 1 "$pages" 512 4096 && page && name "$@"
}

# A reader says that a write was interrupted, a writer rolls it back; 3 and 0 are their statuses.
rolled_back() { # statuses, command that makes the journal
    statuses=$1
    shift
    make_stranger && "$@" >in/c.db-journal && meet || return 1
    [ "$read $wrote" = "$statuses" ] || return 1
    [ "$read" -eq 0 ] || grep -q 'accept on this file rolls it back' "$out/read" || return 1
    [ "$wrote" -ne 0 ] || { [ ! -e in/c.db-journal ] && fixture replay --db in/c.db >"$out/said" &&
        [ "$(sqlite3 in/c.db 'PRAGMA integrity_check')" = ok ]; }
}

odd_header() { # as header
    header "$@" && page
}

fixture import "$hosts/no-npu.host" --db "$out/base.db" --quiet || exit 1
pages=$(($(wc -c <"$out/base.db") / 4096))
top=$PWD
long=$(head -c 600 /dev/zero | tr '\0' a)
for path in "$out/user/victim" "$out/user/folder" "$out/user/folder/inner" "$out/user/c.db" \
    "$out/user/missing" "$out/user/in/c.db" "$out/user/in/c.db-journal" \
    "$out/user/in/c.db-mj0123456789" victim ./victim ../victim "$long"; do
    check "a journal that names $(echo "$path" | tail -c 40) is refused" \
        refused "its journal names another file" named "$path"
done
check "so is one with a wrong sum of the name" refused "its journal names another file" named victim 6 1
check "one with a name of 4 GiB" refused "its journal names another file" named victim 4294967295
check "one with a name of no byte" refused "its journal names another file" named ""
four_billion() { header 4294967295 4294967295 512 4096 && name victim; }
check "one of four billion pages" refused "its journal names another file" four_billion
marks() { mark && mark; }
check "one of marks alone" refused "its journal names another file" marks

# The corpus is empty or missing: SQLite would remove such a journal at once.
of_no_corpus() {
    make_stranger && named victim >in/c.db-journal && : >in/c.db && meet && [ "$wrote" -eq 3 ] &&
        [ -e in/c.db-journal ] && rm in/c.db && meet && [ "$wrote" -eq 3 ] && [ ! -e in/c.db ]
}
check "a journal of an empty corpus, and of none, is refused" of_no_corpus

# The advice of the command.
copy_is_used() {
    make_stranger && named victim >in/c.db-journal && cp in/c.db in/copy.db &&
        fixture import "$hosts/idle-a2.host" --db in/copy.db && fixture replay --db in/copy.db >"$out/said"
}
check "a copy without the journal is read and written" copy_is_used

is_no_file() { # words, command that makes c.db-journal in the folder
    make_stranger && (cd in && shift && "$@" c.db-journal) && was_refused "$1"
}
check "a link to a file is refused" is_no_file "no regular file" ln -s ../victim
check "a link to a folder is refused" is_no_file "no regular file" ln -s ../folder
check "a link to a device is refused" is_no_file "no regular file" ln -s /dev/zero
check "a FIFO is refused" is_no_file "no regular file" mkfifo
check "a folder is refused" is_no_file "no regular file" mkdir
check "a second name of a file is refused" is_no_file "has a second name" ln ../victim
check "a second name of a file that begins with 0 is refused" is_no_file "has a second name" ln ../zero
link_to_nothing() {
    make_stranger && ln -s ../missing in/c.db-journal && meet && [ "$read" -eq 0 ] && [ "$wrote" -eq 3 ] &&
        [ ! -e missing ]
}
check "a writer does not follow a link to nothing" link_to_nothing

of_another_user() {
    make_stranger && named "" | head -c 4616 >in/c.db-journal && chown 65534 in/c.db-journal && meet &&
        [ "$read $wrote" = "3 3" ] && grep -q "belongs to another user" "$out/wrote" &&
        chown 65534 in/c.db && meet && [ "$read $wrote" = "3 0" ]
}
if [ "$(id -u)" -eq 0 ]; then
    check "the journal of another user is not rolled back, but that of the owner is" of_another_user
else
    skip "the journal of another user" "needs root"
fi

check "a sound journal is rolled back" rolled_back "3 0" odd_header 1 "$pages" 512 4096
check "one without a record" rolled_back "3 0" odd_header 0 "$pages" 512 4096
check "one of 4 G records" rolled_back "3 0" odd_header 4294967295 "$pages" 512 4096
check "one of more records than bytes" rolled_back "3 0" odd_header 99 "$pages" 512 4096
check "one of pages of 1000 bytes" rolled_back "3 0" odd_header 1 "$pages" 512 1000
check "one of pages of no byte" rolled_back "3 0" odd_header 1 "$pages" 512 0
check "one of sectors of 2 GiB" rolled_back "3 0" odd_header 1 "$pages" 2147483648 4096
check "one of sectors of no byte" rolled_back "3 0" odd_header 1 "$pages" 0 4096
cut_record() { odd_header 1 "$pages" 512 4096 | head -c -4100; }
check "one whose record is cut" rolled_back "3 0" cut_record
wrong_sum() { header 1 "$pages" 512 4096 && page 1; }
check "one with a wrong sum of a page" rolled_back "3 0" wrong_sum
cut_name() { named victim | head -c -4; }
check "one with a name that is cut" rolled_back "3 0" cut_name
one_byte() { printf '\331'; }
check "one of one byte" rolled_back "3 0" one_byte
check "an empty one" rolled_back "0 0" true
# SQLite makes of these what the header says, or an error: a file of 2 GiB, or none.
ends() {
    make_stranger && odd_header "$@" >in/c.db-journal && meet && [ "$read" -eq 3 ]
}
check "one of 2 GiB before the write ends" ends 1 524288 512 4096
check "one of 16 TiB" ends 1 4294967295 512 4096
check "one of nothing" ends 1 0 512 4096
check "one of pages of 512 bytes" ends 1 "$pages" 512 512
check "one of pages of 64 KiB" ends 1 "$pages" 512 65536
cd "$top" || exit 1

# -- Trees with loops in them --------------------------------------------------

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
cat "$out/counted" 2>/dev/null
finish
