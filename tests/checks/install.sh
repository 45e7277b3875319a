#!/bin/sh
# install.sh - what `make install` puts where works there; prints TAP
#
#   tests/checks/install.sh      from the top folder, after `make`; BUILD as there

BUILD=${BUILD:-build}
stage=$BUILD/stage
n=0
failed=0

# check TEXT COMMAND...
check() {
    text=$1
    shift
    n=$((n + 1))
    if "$@" >"$BUILD/install.log" 2>&1; then
        echo "ok $n - $text"
    else
        echo "not ok $n - $text"
        sed 's/^/# /' "$BUILD/install.log"
        failed=1
    fi
}

# A program of another project: includes the installed header.
use_header() {
    printf '#define CPUBIND_IMPLEMENTATION\n#include <cpubind.h>\n%s\n' \
        'int main(void) { return cpubind_version() == CPUBIND_VERSION_HEX ? 0 : 1; }' \
        >"$BUILD/use.c"
    cc -I "$stage/usr/include" "$BUILD/use.c" -o "$BUILD/use" && "$BUILD/use"
}

only_below_stage() {
    [ -x "$stage/usr/bin/cpubind" ] && [ -d "$stage/usr/share/cpubind/hosts/a2-192cpu-8npu" ] &&
        [ "$(find "$stage" -mindepth 1 -maxdepth 1)" = "$stage/usr" ]
}

rm -rf "$stage"
check "make install DESTDIR= PREFIX=" \
    make -s BUILD="$BUILD" DESTDIR="$stage" PREFIX=/usr install
check "everything is below DESTDIR/PREFIX" only_below_stage
check "the installed header compiles" use_header
check "the installed command finds its fixtures" \
    "$stage/usr/bin/cpubind" plan --fixture a3-640cpu-16npu
check "make help lists the targets" make -s help
echo "1..$n"
exit $failed
