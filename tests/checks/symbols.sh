#!/bin/sh
# symbols.sh - a static library defines the names of its list, and each of them has a contract
# runs: check-all
# build: plain
#
#   tests/checks/symbols.sh      from the top folder, after `make install` to BUILD/stage
#
# Prints TAP. A list is adapters/FOLDER/LIBRARY.symbols; that of the core, which is in
# libcpubind_ascend.a as well, is tests/packaging/symbols.txt. The installed headers are those
# below BUILD/stage/usr/include.

BUILD=${BUILD:-build}
out=$BUILD/symbols
include=$BUILD/stage/usr/include
core=tests/packaging/symbols.txt
lists="$core $(find adapters -name '*.symbols')"
mkdir -p "$out"
. tests/support/tap.sh

names() { # list ...
    sed -n 's/^\(cpubind_[a-z0-9_]*\) .*/\1/p' "$@" | sort
}

defined() { # nm options, file
    nm --defined-only "$@" | awk 'NF == 3 { print $3 }' | sort
}

defines_its_list() { # library, list ...
    library=$1
    shift
    names "$@" >"$out/expected"
    [ -s "$out/expected" ] || return 1
    defined -g "$BUILD/$library.a" | diff "$out/expected" -
}

list_is_in_order() { # list
    awk '/^#/ { next }
        NF != 2 || $2 !~ /^[0-9]+\.[0-9]+\.[0-9]+$/ || $1 <= last { print; bad = 1 }
        { last = $1 }
        END { exit bad }' "$1"
}

# "NAME 1" for each function that an installed header declares below a comment, "NAME 0" for one
# that has none. A comment counts for all declarations up to the next empty line.
declarations() {
    find "$include" -name '*.h' | sort | while read -r header; do
        awk '
            /^#define CPUBIND_PRIV_IMPLEMENTED|Stop here if you came/ { exit }
            /^[ \t]*$/ { has_comment = 0 }
            /\*\/[ \t]*$/ { has_comment = 1 }
            /^(static|typedef|#|[ \t\/])/ { next }
            match($0, /cpubind_[a-z0-9_]+\(/) {
                print substr($0, RSTART, RLENGTH - 1), has_comment
            }' "$header"
    done | sort -u
}

# Every enumerator and macro that a program gets with the installed headers.
public_words() {
    find "$include" -name '*.h' | sort | sed "s|^$include/\(.*\)|#include <\1>|" >"$out/all.c"
    cc -E -std=c11 -D_DEFAULT_SOURCE -I "$include" "$out/all.c" |
        awk -v ours="$include" '/^# [0-9]+ "/ { on = index($3, ours) > 0; next } on' |
        tr '\n' ' ' | grep -oE 'enum [a-z_]* *\{[^}]*\}' | sed 's/.*{//; s/}//' | tr ',' '\n' |
        awk 'NF { print $1 }'
    find "$include" -name '*.h' -exec sed -n 's/^ *# *define *\([A-Za-z0-9_]*\).*/\1/p' {} +
}

declares_exactly_the_lists() {
    declarations >"$out/declarations"
    # shellcheck disable=SC2086
    names $lists | sort -u >"$out/expected"
    awk '{ print $1 }' "$out/declarations" | diff "$out/expected" -
}

every_contract_is_there() {
    declarations | awk '$2 == 0 { print $1 " has no comment"; bad = 1 } END { exit bad || !NR }'
}

words_have_the_prefix() {
    public_words >"$out/words"
    [ "$(wc -l <"$out/words")" -ge 100 ] && ! grep -vE '^CP(UBIND|B)_' "$out/words"
}

# What the implementation of the core defines for itself is undefined behind it.
core_leaves_no_macro() {
    cc -dM -E -x c cpubind.h | sort >"$out/macros"
    cc -dM -E -DCPUBIND_IMPLEMENTATION -x c cpubind.h |
        grep -v -w -e CPUBIND_IMPLEMENTATION -e CPUBIND_PRIV_IMPLEMENTED | sort | diff "$out/macros" -
}

# A shared object of another project that takes all of the libraries.
shared_object_exports_nothing() {
    cc -shared -Wl,--whole-archive "$BUILD/libcpubind_corpus.a" "$BUILD/libcpubind_linux.a" \
        "$BUILD/libcpubind_ascend.a" -Wl,--no-whole-archive -lsqlite3 -lmd \
        -o "$out/all.so" || return 1
    defined -D "$out/all.so" >"$out/exported"
    ! grep cpubind "$out/exported"
}

# A program with a core of its own, and a core of the library beside it.
links_with_its_own_core() {
    printf '#define CPUBIND_IMPLEMENTATION\n#include <cpubind.h>\n%s\n' \
        '#include <cpubind/text/cpulist.h>' \
        'int main(void) { return cpubind_cpulist_parse("", 0, 1, &(cpubind_int_list){0}, 0) != 0 ||' \
        '    cpubind_version() != CPUBIND_VERSION_HEX; }' >"$out/core.c"
    cc -I "$include" "$out/core.c" "$BUILD/libcpubind_ascend.a" -o "$out/core" && "$out/core"
}

check "libcpubind_ascend.a defines the names of its list and of the core's" \
    defines_its_list libcpubind_ascend adapters/ascend/libcpubind_ascend.symbols $core
check "libcpubind_linux.a defines the names of its list" \
    defines_its_list libcpubind_linux adapters/linux/libcpubind_linux.symbols
check "libcpubind_corpus.a defines the names of its list" \
    defines_its_list libcpubind_corpus adapters/sqlite/libcpubind_corpus.symbols
for list in $lists; do
    check "$list is in order, with versions" list_is_in_order "$list"
done
check "the installed headers declare the names of the lists, and no more" \
    declares_exactly_the_lists
check "each declaration of an installed header has a comment" every_contract_is_there
check "enumerators and macros of the installed headers begin with CPUBIND_ or CPB_" \
    words_have_the_prefix
check "the core leaves no macro of its own" core_leaves_no_macro
check "a shared object that contains all libraries exports none of their names" \
    shared_object_exports_nothing
check "a program that has a core of its own links with the readers" links_with_its_own_core
finish
