#!/bin/sh
# witness.sh - stores what a build of the command prints of every fixture host
# SPDX-License-Identifier: MIT
#
#   tests/support/witness.sh CPUBIND FOLDER     one file for each host in FOLDER
#
# Shows what a change of the code changes for users: run it with the commands of two commits, and
# compare the folders with `diff -r`. Reads fixtures/hosts of the current folder.
set -u
export LC_ALL=C CPUBIND_RULES=

cpubind=$1
out=$2
mkdir -p "$out" || exit 2

# Prints a command line, what it prints, and its exit status.
say() { # arguments
    echo "== $*"
    "$cpubind" "$@" --root "$host" 2>&1 </dev/null
    echo "-- exit $?"
}

witness() {
    for rules in near reference; do
        say plan --rules $rules
        say plan --rules $rules --json
        say plan --rules $rules --rank 0 --explain all
        say plan --rules $rules --rank 1 --json
        for scope in host own; do
            say plan --rules $rules --scope $scope --json
        done
        say plan --rules $rules --format map
        say plan --rules $rules --format slurm --rank 0
        say plan --rules $rules --allowed 0-17,40-60 --json
        say plan --rules $rules --keep 2 --exclude 5 --json
        say plan --rules $rules --processes 2 --index 1 --json
        say plan --rules $rules --svg -
    done
    say plan --compare
    say topo
    say topo --json
    say topo --nics --json
    say topo --slurm
    for pci in $("$cpubind" topo --root "$host" 2>&1 |
        sed -n 's/^\([0-9a-f]*:[0-9a-f]*:[0-9a-f]*\.[0-9]\) .*/\1/p'); do
        say plan --pci "$pci" --json
    done
}

for host in fixtures/hosts/*.host; do
    witness >"$out/$(basename "$host" .host)"
done
