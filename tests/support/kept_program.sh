#!/bin/sh
# kept_program.sh - runs a program whose result follows from itself and files, or repeats it
# SPDX-License-Identifier: MIT
#
#   tests/support/kept_program.sh PROGRAM    from the top folder; kept.sh has the rules
#
# The program reads no file but those of fixtures/ and fuzz/, the captures that CPUBIND_SHARED
# names, and those of tests/ that no compiler reads; and nothing of this machine. Its random numbers
# are the same in each run. One that is built without sanitizers starts the command, too.
BUILD=${BUILD:-build}
. tests/support/kept.sh
commands=
case $1 in "$BUILD/tests/"*) commands="$BUILD/cpubind $CPUBIND_SANITIZED" ;; esac
keep_by "$1 $commands fixtures fuzz ${CPUBIND_SHARED:-../shared}/npu-smi/captures
    $(find tests -type f ! -name '*.[ch]')" "" "$@"
exec "$1"
