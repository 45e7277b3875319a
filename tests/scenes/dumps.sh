#!/bin/sh
# dumps.sh - test cpubind topo on this machine and on real dumps of /sys
# SPDX-License-Identifier: MIT
# runs: check
#
# CPUBIND_SHARED is the folder that may hold dumps/NAME.tar.gz, which are no part of the project.
# What topo says of fixtures is in tests/cases/command_topo.txt.
. tests/scenes/lib.sh
dumps=${CPUBIND_SHARED:-../shared}/dumps

works_here() {
    "$CPUBIND" topo --nics >"$out/here" 2>&1 ||
        { [ $? -eq 1 ] && grep -E 'has no accelerator|there is no /sys/bus/pci' "$out/here"; }
}

# In memory: these are some thousands of small files.
unpack() { # name
    root=/tmp/dump-$1
    [ ! -d "$root" ] || return 0
    mkdir -p "$root" && tar -xzf "$dumps/$1.tar.gz" -C "$root" && chmod -R u+rwX "$root"
}

query() { # SQL of a value of each device
    sqlite3 -batch -bail -init /dev/null :memory: "SELECT $1 FROM
        json_each(readfile('$out/devices'), '\$.devices') d"
}

# In a real /sys the links of the functions lead through the folders of their bridges.
bridges_are_those_of_the_links() {
    unpack bare-metal_worker2.internal || return 1
    for link in "$root"/sys/bus/pci/devices/*; do
        readlink "$link"
    done | awk -F/ '{
        bridges = ""
        for (i = NF - 1; $i !~ /^pci/; i--)
            bridges = bridges (bridges == "" ? "" : ",") $i
        print $NF " " bridges
    }' | sort >"$out/expected"
    for functions in $(ls "$root"/sys/bus/pci/devices | xargs -n 32 | tr ' ' ,); do
        "$CPUBIND" topo --root "$root" --devices "$functions" --json >"$out/devices" || return 1
        query "d.value ->> 'pci' || ' ' || coalesce((SELECT group_concat(b.value)
            FROM json_each(d.value, '\$.bridges') b), '')"
    done | sort >"$out/got"
    [ "$(wc -l <"$out/expected")" -gt 200 ] && diff "$out/expected" "$out/got"
}

cards_are_near_their_root() {
    unpack bare-metal_worker2.internal &&
        says 1 "name one as lspci -D prints it" "$CPUBIND" topo --root "$root" || return 1
    "$CPUBIND" topo --root "$root" --device 0000:17:1e.4 --nics --json >"$out/devices" || return 1
    [ "$(query "(SELECT group_concat(value ->> 'near') FROM json_each(d.value, '\$.nics'))")" = \
        phb,phb,phb,phb,sys,sys ]
}

gpus_of_power_have_memory_nodes() {
    unpack nvidiagpunumanodes && "$CPUBIND" topo --root "$root" --json >"$out/devices" || return 1
    [ "$(query "group_concat(d.value ->> 'node' || ':' || (d.value ->> 'memory_node'))")" = \
        0:255,0:254,0:253,8:252,8:251,8:250 ]
}

others_are_refused() {
    for name in 128arm-2pa2n8cluster4co 16em64t-4s2c2t-offlines 48amd64-4pa2n6c-sparse \
        fakememinitiators-1np2c+1npp+gi; do
        unpack "$name" && says 1 "there is no /sys/bus/pci/devices" "$CPUBIND" topo --root "$root" ||
            return 1
    done
}

on_dumps() { # text, command
    if [ -d "$dumps" ]; then check "$1" "$2"; else skip "$1" "there is no folder $dumps"; fi
}

check "topo works on this machine, or says what to do" works_here
on_dumps "bridges are those of the links of a real /sys" bridges_are_those_of_the_links
on_dumps "network cards of a real host are near by root complex and node" cards_are_near_their_root
on_dumps "the memory of GPUs of a real host is nodes" gpus_of_power_have_memory_nodes
on_dumps "real hosts without a PCI bus are refused" others_are_refused
finish
