#!/bin/sh
# topo.sh - test cpubind topo on this host and on real dumps of /sys; prints TAP
# SPDX-License-Identifier: MIT
# runs: check
#
# CPUBIND_SHARED is the folder that may hold dumps/NAME.tar.gz. What topo says of fixtures is in
# tests/cases/command_topo.txt.
LC_ALL=C
export LC_ALL

dumps=${CPUBIND_SHARED:-../shared}/dumps
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
CPUBIND=$(cd "$BUILD" && pwd)/cpubind
. tests/support/tap.sh

topo() { # argument ...
    "$CPUBIND" topo "$@"
}

# Exits with a status, and says these words.
says() { # status, words, argument ...
    want=$1
    words=$2
    shift 2
    topo "$@" >"$out/said" 2>&1
    got=$?
    cat "$out/said"
    [ "$got" -eq "$want" ] && grep -qF -e "$words" "$out/said"
}

# The answer of an SQL query on a file of JSON, which it reads as :file.
query() { # file, SQL
    sqlite3 -batch -bail -init /dev/null :memory: "WITH file(body) AS (SELECT readfile('$1')) $2"
}

# "PCI BRIDGE,BRIDGE" of each device, the nearest bridge first.
bridges_of() { # file
    query "$1" "SELECT d.value ->> 'pci' || ' ' || coalesce(
            (SELECT group_concat(b.value) FROM json_each(d.value, '\$.bridges') b), '')
        FROM file, json_each(body, '\$.devices') d"
}

works_here() {
    topo --nics >"$out/here" 2>&1
    got=$?
    cat "$out/here"
    [ "$got" -le 1 ] || return 1
    [ "$got" -eq 0 ] || grep -qE 'has no accelerator|there is no /sys/bus/pci' "$out/here"
}

# -- Real machines -----------------------------------------------------------

unpack() { # name
    mkdir -p "$out/$1" && tar -xzf "$dumps/$1.tar.gz" -C "$out/$1" && chmod -R u+rwX "$out/$1"
}

# In a real /sys the links of the functions lead through the folders of their bridges.
bridges_are_those_of_the_links() {
    root=$out/bare-metal_worker2.internal
    unpack bare-metal_worker2.internal || return 1
    for link in "$root"/sys/bus/pci/devices/*; do
        readlink "$link"
    done | awk -F/ '{
        bridges = ""
        for (i = NF - 1; $i !~ /^pci/; i--)
            bridges = bridges (bridges == "" ? "" : ",") $i
        print $NF " " bridges
    }' | sort >"$out/expected"
    # Classes hold no blanks.
    # shellcheck disable=SC2013
    for class in $(cat "$root"/sys/bus/pci/devices/*/class | cut -c 3-4 | sort -u); do
        topo --root "$root" --class "$class" --json >"$out/devices" || return 1
        bridges_of "$out/devices"
    done | sort >"$out/got"
    [ "$(wc -l <"$out/expected")" -gt 200 ] && diff "$out/expected" "$out/got"
}

cards_are_near_their_root() {
    root=$out/bare-metal_worker2.internal
    says 1 "name one with --pci" --root "$root" || return 1
    topo --root "$root" --pci 0000:17:1e.4 --nics --json >"$out/near" || return 1
    [ "$(query "$out/near" "SELECT group_concat(value ->> 'near')
        FROM file, json_each(body, '\$.devices[0].nics')")" = phb,phb,phb,phb,sys,sys ]
}

gpus_of_power_have_memory_nodes() {
    unpack nvidiagpunumanodes || return 1
    topo --root "$out/nvidiagpunumanodes" --json >"$out/power" || return 1
    [ "$(query "$out/power" "SELECT group_concat(value ->> 'node' || ':' || (value ->> 'memory_node'))
        FROM file, json_each(body, '\$.devices')")" = 0:255,0:254,0:253,8:252,8:251,8:250 ]
}

others_are_refused() {
    for name in 128arm-2pa2n8cluster4co 16em64t-4s2c2t-offlines 48amd64-4pa2n6c-sparse \
        fakememinitiators-1np2c+1npp+gi; do
        unpack "$name" && says 1 "there is no /sys/bus/pci/devices" --root "$out/$name" || return 1
    done
}

on_dumps() { # text, command
    if [ -d "$dumps" ]; then
        check "$1" "$2"
    else
        skip "$1" "there is no folder $dumps"
    fi
}

check "topo works on this host, or says what to do" works_here
on_dumps "bridges are those of the links of a real /sys" bridges_are_those_of_the_links
on_dumps "network cards of a real host are near by root complex and node" cards_are_near_their_root
on_dumps "the memory of GPUs of a real host is nodes" gpus_of_power_have_memory_nodes
on_dumps "real hosts without a PCI bus are refused" others_are_refused
finish
