#!/bin/sh
# faults.sh - uses of each system call of the command fail, in every scene; prints TAP
# SPDX-License-Identifier: MIT
# runs: check
# seconds: 800, in check-all
#
# In check some faults of each scene, of a command without sanitizers; in check-all all of them
# (CPUBIND_LEVEL, of tests/run), most by such a command. faults.py says what they are, and runs one
# scene, or one fault, by name.
. tests/support/tap.sh

[ "$(id -u)" -eq 0 ] && unshare -m -p -f --mount-proc true 2>/dev/null ||
    skip_all "namespaces of its own need root"
command -v python3 >/dev/null || skip_all "there is no python3"
setpriv --pdeathsig KILL true 2>/dev/null || skip_all "there is no setpriv that knows --pdeathsig"
case $CPUBIND_LEVEL in
check-all) export CPUBIND_FAST="${BUILD%/san}/faulty" ;;
check-sanitized) ;;
*) set -- --sample ;;
esac
exec python3 tests/faults/faults.py "$@"
