#!/bin/sh
# topo.sh - test cpubind topo: real dumps of /sys, this host, a capture, the command line; prints TAP
# SPDX-License-Identifier: MIT
#
#   tests/cli/topo.sh            from the top folder; BUILD is where outputs go, CPUBIND the command,
#                                CPUBIND_SHARED the folder that may hold dumps/NAME.tar.gz
LC_ALL=C
export LC_ALL

BUILD=${BUILD:-build}
CPUBIND=${CPUBIND:-$BUILD/cpubind}
dumps=${CPUBIND_SHARED:-../shared}/dumps
out=$BUILD/topo
rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
CPUBIND=$(cd "$(dirname "$CPUBIND")" && pwd)/$(basename "$CPUBIND")
. tests/support/tap.sh
. tests/support/unpack.sh
hosts=$out/hosts
unpack_hosts "$hosts" || exit 1

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

# It has the file of its GPU alone, and no npu-smi.
hides_npus() {
    at=$out/one
    gpu=$at/proc/driver/nvidia/gpus/0000:61:00.0
    cp -r "$hosts/gpu-beside-npu" "$at"
    rm -r "$at/cmd"
    mkdir -p "$at/dev/nvidia" "$gpu"
    echo "Device Minor: 5" >"$gpu/information"
    echo 195:5 >"$at/dev/nvidia/nvidia5"
    says 0 "0000:03:00.0  Ascend a2  0     0-23       hidden" --root "$at" &&
        "$CPUBIND" plan --root "$at" | grep "0000:61:00.0  2     24    48-71"
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

# -- The command line --------------------------------------------------------

has_no_line() { # host, its number of devices
    says 1 "there is no line for gres.conf: no device has a file below /dev" --slurm \
        --root "$hosts/$1" && [ "$(grep -c 'tells its device file' "$out/said")" -eq "$2" ] &&
        [ -z "$(topo --slurm --root "$hosts/$1" 2>"$out/err")" ]
}

# One device of two with a file is a line, and no failure.
has_some_line() {
    cp -r "$hosts/gpu-vm-2l4" "$out/some"
    mkdir -p "$out/some/proc/driver/nvidia/gpus/0000:00:06.0"
    echo "Device Minor: 	 0" >"$out/some/proc/driver/nvidia/gpus/0000:00:06.0/information"
    says 0 "Name=gpu Type=l4 File=/dev/nvidia0" --slurm --root "$out/some" &&
        ! grep -q "there is no line" "$out/said"
}

is_narrow() { # file
    awk 'length > 80 { print; bad = 1 } END { exit bad }' "$1"
}

tables_fit_80_columns() {
    for host in "$hosts"/gpu-* "$hosts"/a2-192cpu-8npu "$hosts"/a3-640cpu-16npu; do
        case $host in *-none | *-damaged-node) continue ;; esac
        topo --root "$host" --nics >"$out/table" 2>&1 && is_narrow "$out/table" || return 1
    done
    is_narrow "$out/table" && "$CPUBIND" topo --help >"$out/table" && is_narrow "$out/table"
}

works_here() {
    topo --nics >"$out/here" 2>&1
    got=$?
    cat "$out/here"
    [ "$got" -le 1 ] || return 1
    [ "$got" -eq 0 ] || grep -qE 'has no accelerator|there is no /sys/bus/pci' "$out/here"
}

by_name_and_by_class() {
    topo --root "$hosts/gpu-mixed-vendors" --json --pci 17:00.0 --pci 0000:B3:00.0 >"$out/named"
    topo --root "$hosts/gpu-mixed-vendors" --json --class 0x03 >"$out/classed"
    [ "$(query "$out/named" "SELECT group_concat(value ->> 'product')
        FROM file, json_each(body, '\$.devices')")" = A10,Gaudi2 ] &&
        [ "$(query "$out/classed" "SELECT count(*) FROM file, json_each(body, '\$.devices')")" = 5 ]
}

# Without a word of npu-smi, which such a host does not need.
plan_names_damage() {
    for command in plan "plan --rank 0" "plan --explain all" "plan --json"; do
        # shellcheck disable=SC2086 # a command and its options
        "$CPUBIND" $command --root "$hosts/gpu-damaged-node" >"$out/said" 2>&1
        got=$?
        cat "$out/said"
        [ "$got" -eq 3 ] && ! grep -qF npu-smi "$out/said" &&
            grep -qF "0000:98:00.0/numa_node: the text does not end" "$out/said" || return 1
    done
}

check "topo --slurm without a device file says that there is no line" has_no_line \
    gpu-2socket-8h100 8
check "topo --slurm with one device file of two prints its line" has_some_line

# A capture keeps which device file belongs to which address, with --redact too.
capture_has_lines() { # name, host, expected lines
    for option in --quiet --redact; do
        rm -rf "$out/kept"
        "$CPUBIND" capture --root "$2" -o "$out/kept" --name "$1" $option || return 1
        topo --slurm --root "$2" >"$out/lines" 2>/dev/null
        topo --slurm --root "$out/kept" 2>/dev/null | diff "$out/lines" - &&
            [ "$(wc -l <"$out/lines")" -eq "$3" ] || return 1
    done
}
host_with_files() { # fixture host, class of its devices
    rm -rf "$out/with"
    cp -r "$hosts/$1" "$out/with"
    n=0
    for class in "$out"/with/sys/bus/pci/devices/*/class; do
        grep -q "^$2" "$class" || continue
        address=$(basename "$(dirname "$class")")
        mkdir -p "$out/with/proc/driver/nvidia/gpus/$address" \
            "$(dirname "$class")/drm/card$n" "$(dirname "$class")/drm/renderD$((128 + n))" \
            "$(dirname "$class")/accel/accel$n"
        printf 'Model: \t\t a GPU\nDevice Minor: \t %s\n' $n \
            >"$out/with/proc/driver/nvidia/gpus/$address/information"
        n=$((n + 1))
    done
}
host_with_files gpu-switches-4a100 0x0302
check "topo --slurm of a capture has the lines of NVIDIA GPUs" capture_has_lines g "$out/with" 4
host_with_files gpu-snc-8nodes-4mi300x 0x1200
check "topo --slurm of a capture has the lines of AMD GPUs" capture_has_lines m "$out/with" 4
check "topo --slurm of a capture has the lines of NPUs" capture_has_lines n \
    "$hosts/a2-driver-host" 4

# Slurm counts all cores, in a capture of a process with a part of the CPUs, too; and it counts the
# lines: they are in the order of the numbers of the files.
every_core_counts() {
    for host in a2-cpuset-node a2-256cpu-hidden; do
        rm -rf "$out/part"
        cp -r "$hosts/$host" "$out/part"
        topo --slurm --root "$out/part" >"$out/lines" 2>/dev/null
        echo "Cpus_allowed_list: 0" >"$out/part/proc/self/status"
        topo --slurm --root "$out/part" 2>"$out/err" | diff "$out/lines" - || return 1
        sed 's/.*davinci\([0-9]*\) Cores=[0-9].*/\1/' "$out/lines" | diff - "$out/lines.numbers" ||
            return 1
    done
}
seq 0 7 >"$out/lines.numbers"
check "topo --slurm counts all cores, and lists devices by number" every_core_counts
check "tables of topo fit 80 columns" tables_fit_80_columns
check "topo works on this host, or says what to do" works_here
check "functions are found by address and by class" by_name_and_by_class
check "to a container of a GPU the NPUs of the host are hidden" hides_npus
check "a wrong address is a usage error" says 2 "--pci is not an address" --pci 17
check "a wrong class is a usage error" says 2 "six hexadecimal digits" --class 030
check "a class with another letter is a usage error" says 2 "--class is not a class" --class 0x3g
check "a host without accelerators is refused, with what to do" \
    says 1 "name one with --pci" --root "$hosts/gpu-none"
check "a function that is not there is refused" \
    says 1 "there is no PCI function 0000:17:00.0" --root "$hosts/gpu-none" --pci 0000:17:00.0
check "a host without a bus is refused" \
    says 1 "there is no /sys/bus/pci/devices" --root "$hosts/a2-lscpu-only"
check "a damaged file is unreadable" \
    says 3 "0000:98:00.0/numa_node: the text does not end" --root "$hosts/gpu-damaged-node"
check "a plan names the damaged file, too" plan_names_damage
check "errors are JSON, too" \
    says 1 '"code": "refused"' --json --root "$hosts/gpu-none"

# -- Captures ----------------------------------------------------------------

# A capture says the same as its host; one without UUIDs all but those.
capture_is_the_same() {
    for host in gpu-2socket-8h100 gpu-switches-4a100 gpu-beside-npu gpu-mixed-vendors; do
        rm -rf "$out/captured"
        "$CPUBIND" capture --root "$hosts/$host" -o "$out/captured" >"$out/said" 2>&1 || return 1
        topo --root "$hosts/$host" --nics --json >"$out/before" || return 1
        topo --root "$out/captured" --nics --json >"$out/after" || return 1
        cmp "$out/before" "$out/after" || return 1
    done
}

capture_has_no_uuid() {
    rm -rf "$out/captured"
    "$CPUBIND" capture --root "$hosts/gpu-grace-2gh200" -o "$out/captured" --redact >"$out/said" 2>&1
    cat "$out/said"
    ! grep -rE 'GPU-[0-9a-f]{8}' "$out/captured" || return 1
    topo --root "$out/captured" --json >"$out/after" &&
        [ "$(query "$out/after" "SELECT count(*) FROM file, json_each(body, '\$.devices')
            WHERE value ->> 'node' >= 0 AND value ->> 'uuid' IS NULL")" = 2 ]
}

check "a capture says the same as its host" capture_is_the_same
check "a redacted capture has no UUID of a GPU" capture_has_no_uuid

# -- The corpus --------------------------------------------------------------

fixture() { # argument ...
    "$CPUBIND" fixture "$@" >"$out/said" 2>&1
    got=$?
    cat "$out/said"
    return $got
}

# An expectation of topo is made, held, and found when it differs.
corpus_holds_devices() {
    db=$out/corpus.db
    fixture import "$hosts/gpu-mixed-vendors" --db "$db" &&
        fixture accept gpu-mixed-vendors all --db "$db" -- topo &&
        fixture accept gpu-mixed-vendors cards --db "$db" -- topo --class 12 --nics &&
        fixture replay --db "$db" && grep -q '6 of 6 expectations' "$out/said" &&
        topo --fixture gpu-mixed-vendors --db "$db" --json >"$out/after" || return 1
    sqlite3 -batch "$db" "UPDATE expectations SET body = replace(body, 'Gaudi2', 'Gaudi3')
        WHERE name = 'cards'" || return 1
    ! fixture replay --db "$db" &&
        grep -qF 'devices[0].product: expected "Gaudi3", got "Gaudi2"' "$out/said"
}

corpus_refuses() { # words, argument ...
    words=$1
    shift
    ! fixture accept gpu-mixed-vendors new --db "$out/corpus.db" -- topo "$@" &&
        grep -qF -e "$words" "$out/said"
}

check "a corpus holds expectations of topo" corpus_holds_devices
check "an expectation names no other host" corpus_refuses "leave out --root" --root /
check "an expectation has options of topo alone" corpus_refuses "no such option" --rank 1

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

on_dumps "bridges are those of the links of a real /sys" bridges_are_those_of_the_links
on_dumps "network cards of a real host are near by root complex and node" cards_are_near_their_root
on_dumps "the memory of GPUs of a real host is nodes" gpus_of_power_have_memory_nodes
on_dumps "real hosts without a PCI bus are refused" others_are_refused
finish
