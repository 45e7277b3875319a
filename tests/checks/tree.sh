#!/bin/sh
# tree.sh - git holds sources alone, and no file that was built; prints TAP
# runs: check
#
#   tests/checks/tree.sh                from the top folder of a checkout
#   tests/checks/tree.sh --self-test    planted files must be found
#
# A tracked file was built
#   - by its name, wherever it is: `endings`;
#   - by a line that starts as such a file does, wherever it is: `starts`, or as a database does;
#   - by a NUL byte: inputs of fuzz and captured hosts are text, in which bytes are escaped.
# Skipped where the top folder is no checkout, as in an archive of the sources.
LC_ALL=C
export LC_ALL

BUILD=${BUILD:-build}
self=$PWD/tests/checks/tree.sh
. tests/support/tap.sh

endings='whl|egg|pyc|pyo|so|so\.[0-9.]*|a|o|lo|la|ko|obj|lib|dll|dylib|exe|class|jar|wasm'
endings="$endings|gz|tgz|bz2|xz|zst|lz4|zip|7z|tar|deb|rpm|apk|db|sqlite|sqlite3|gcda|gcno|profraw"

# ELF, an archive of objects, gzip, bzip2, xz, zstd, zip, rpm, WebAssembly, PNG, a database.
starts='\x7fELF|!<arch>|\x1f\x8b\x08|BZh[1-9]1AY|\xfd7zXZ|\x28\xb5\x2f\xfd|PK\x03\x04|\xed\xab\xee\xdb'
starts="$starts|\\x00asm|\\x89PNG"
database='SQLite format 3\x00'

# Names of tracked files, one in a line, none of which is a link or has a line feed. Root may
# check what another user has cloned.
list_tracked() {
    git -c safe.directory="$PWD" ls-files -s -z >"$out/index" && [ -s "$out/index" ] &&
        tr '\0' '\n' <"$out/index" | sed -n 's/^100[67][45][45] [0-9a-f]* 0\t//p' >"$out/tracked" &&
        [ -s "$out/tracked" ]
}

# Prints the files that have a line like this expression of Perl; fails when there is one, and
# when a file cannot be read.
none_has() { # expression
    # The inner shell expands.
    # shellcheck disable=SC2016
    tr '\n' '\0' <"$out/tracked" | xargs -0 -n 500 sh -c 'grep -laP -- "$0" "$@"
        [ $? -lt 2 ] || echo "a file could not be read"' "$1" >"$out/found" 2>&1
    sed 's/^/a built file: /' "$out/found"
    [ ! -s "$out/found" ]
}

none_is_named_so() {
    ! grep -iE "\.($endings)\$" "$out/tracked"
}

top_is_the_layout() {
    ! grep -vE '^(\.|(CHANGELOG\.md|LICENSE|Makefile|README\.md|cpubind\.h)$|(adapters|fixtures|fuzz|tests)/)' \
        "$out/tracked"
}

check_tree() {
    out=$BUILD/tree
    mkdir -p "$out" || exit 2
    if [ ! -e .git ]; then
        skip "git holds sources alone" "the top folder is no checkout of git"
        finish
        return
    fi
    check "git lists its files" list_tracked
    check "no tracked file has the name of a built one" none_is_named_so
    check "no tracked file starts as a program, a library, an archive or a picture" \
        none_has "^($starts)"
    check "no tracked file is a database" none_has "^$database"
    check "no tracked file has a NUL byte" none_has '\x00'
    check "the top folder holds what the layout names" top_is_the_layout
    finish
}

# Adds a file with these bytes, as printf writes them, to a checkout; the check must fail at this
# file. Or pass, when `found` is "".
plant() { # found or "", path, bytes
    mkdir -p "$(dirname "$2")"
    # The bytes are a format on purpose.
    # shellcheck disable=SC2059
    printf "$3" >"$2" && { [ "${2##*/}" != program ] || chmod 755 "$2"; } && git add -f -- "$2" || exit 2
    BUILD=$out/build sh "$self" >"$out/tap"
    status=$?
    if { [ -n "$1" ] && [ $status -ne 0 ] && grep -q "^not ok .* - .*$1" "$out/tap" &&
        grep -q "^# .*$2" "$out/tap"; } || { [ -z "$1" ] && [ $status -eq 0 ]; }; then
        pass "${1:+found: }${1:-not minded:} $2"
    else
        fail "${1:+found: }${1:-not minded:} $2" "$out/tap"
    fi
    git rm -q -f --cached -- "$2" && rm -f "$2"
}

self_test() {
    tree=$(pwd)/$BUILD/tree-self-test
    case $BUILD in /*) tree=$BUILD/tree-self-test ;; esac
    rm -rf "$tree"
    mkdir -p "$tree/checkout/tests/support" "$tree/out" || exit 2
    out=$tree/out
    cp tests/support/tap.sh "$tree/checkout/tests/support" && cd "$tree/checkout" || exit 2
    sh "$self" >"$out/tap" # before it is a checkout
    check "skipped outside of a checkout" grep -q '^ok 1 - .* # SKIP' "$out/tap"
    git init -q . && git add tests || exit 2

    plant "" adapters/a.c 'int a;\n'
    plant "has a NUL byte" fixtures/hosts/a.host 'a\000b'
    for name in cpubind-0.1.0-py3-none-any.whl libcpubind.so libcpubind.so.1 libcpubind.a main.o \
        host.tar.gz fixtures.db FIXTURES.DB a.pyc a.deb; do
        plant "has the name of a built one" "adapters/$name" 'text\n'
    done
    plant "has the name of a built one" fuzz/inputs/a.tar.gz 'text\n'
    plant "starts as a program" adapters/a 'text\n\177ELF\002\001\001\n'
    plant "starts as a program" fuzz/inputs/a '\177ELF\002\001\001\n'
    plant "starts as a program" fixtures/hosts/a.host 'PK\003\004\n'
    plant "starts as a program" adapters/program '\177ELF\002\001\001\n'
    plant "starts as a program" adapters/b '!<arch>\nmain.o/\n'
    plant "starts as a program" adapters/c '\037\213\010\b\n'
    plant "is a database" fuzz/inputs/a 'SQLite format 3\000\001\n'
    plant "is a database" fixtures/hosts/a.host 'SQLite format 3\000\001\n'
    plant "has a NUL byte" adapters/a.c 'int a;\000\n'
    plant "the top folder holds" dist/a 'text\n'
    finish
}

case ${1:-} in
'') check_tree ;;
--self-test) self_test ;;
*)
    echo "usage: tree.sh [--self-test]" >&2
    exit 2
    ;;
esac
