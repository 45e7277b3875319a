#!/bin/sh
# users.sh - which device a process uses, by the files that it has open and by its variables; TAP
# SPDX-License-Identifier: MIT
# runs: check
# shellcheck disable=SC2086 # lists are split on purpose
#
# Each row is a process of a pid namespace of its own, whose parent is process 1 there.
. tests/scenes/lib.sh
use_gpus

# What runs there: starts the process of a row, looks, and says the devices that it uses.
cat >"$out/row" <<'END'
env -i PATH="$PATH" $(printf '%b' "$1") bash -c "$2 exec sleep 600" &
pid=$!
until [ "$(cat /proc/$pid/comm)" = sleep ]; do kill -0 $pid || exit 1; done
"$CPUBIND" status --root "$host" --json >"$out/said" 2>"$out/err"
kill -KILL $pid
echo "SELECT coalesce(group_concat(d.key, ' '), '-') FROM json_each(readfile('$out/said'), '\$.devices') d,
    json_each(d.value, '\$.workers') w WHERE w.value ->> 'pid' = $pid" | sqlite3 :memory: >"$out/used"
END

# VARIABLES OF PROCESS 1|OF THE PROCESS|FILES|DEVICES: `5` and `7` are files of the first and of the
# second device, as often as they are open.
uses() { # table
    while IFS='|' read -r parent own files devices; do
        opened=
        fd=10
        for file in $files; do
            opened="$opened exec $fd</dev/nvidia$file;"
            fd=$((fd + 1))
        done
        [ -z "$files" ] || opened="$opened exec 5</dev/nvidia-uvm;"
        [ "$own" != - ] || own=
        unshare -p -f --mount-proc env -i PATH="$PATH" CPUBIND="$CPUBIND" host="$host" out="$out" $parent \
            bash "$out/row" "$own" "$opened" 2>"$out/grep" || return 1
        [ "$(cat "$out/used")" = "$devices" ] || {
            echo "$parent|$own|$files uses $(cat "$out/used"), not $devices"
            return 1
        }
    done <"$1"
}

# Files decide, the environment which of several, and after that how often each is open.
cat >"$out/files" <<'END'
|-|5|0
|-|7|1
|CUDA_VISIBLE_DEVICES=1|5|0
|LOCAL_RANK=1|5 7|1
|LOCAL_RANK=0|5 7 7 7 7|0
|CUDA_VISIBLE_DEVICES=1|5 7|1
|LOCAL_RANK=0 CUDA_VISIBLE_DEVICES=1,0|5 7|1
|LOCAL_RANK=2|5 5 5 5 7 7|0
|LOCAL_RANK=x|5 7 7 7|1
|-|5 5 5 7 7|0 1
|CUDA_VISIBLE_DEVICES=0,1|5 7|0 1
END

# Without open files, variables that are not those of its parent.
cat >"$out/variables" <<'END'
HOME=/|-||-
HOME=/|LOCAL_RANK=1||1
HOME=/|SLURM_LOCALID=0||0
HOME=/|LOCAL_RANK=2||-
HOME=/|CUDA_VISIBLE_DEVICES=1||1
HOME=/|CUDA_VISIBLE_DEVICES=0,1||-
HOME=/|CUDA_VISIBLE_DEVICES=||-
HOME=/|CUDA_VISIBLE_DEVICES=\377\376||-
HOME=/|LOCAL_RANK=\377||-
CUDA_VISIBLE_DEVICES=0|CUDA_VISIBLE_DEVICES=1||1
CUDA_VISIBLE_DEVICES=10|CUDA_VISIBLE_DEVICES=1||1
CUDA_VISIBLE_DEVICES=1|CUDA_VISIBLE_DEVICES=1||-
CUDA_VISIBLE_DEVICES=0,1|CUDA_VISIBLE_DEVICES=0,1||-
CUDA_VISIBLE_DEVICES=1,0|CUDA_VISIBLE_DEVICES=1,0 LOCAL_RANK=1||0
LOCAL_RANK=1|LOCAL_RANK=1||-
LOCAL_RANK=0|LOCAL_RANK=0 CUDA_VISIBLE_DEVICES=0,1||-
HOME=/|SLURM_LOCALID=1 SLURM_GPUS_ON_NODE=2 SLURM_STEP_GPUS=0,1||1
HOME=/|CUDA_VISIBLE_DEVICES=MIG-1 LOCAL_RANK=1||-
END

# A name of two million characters, and one of a million devices.
a_variable_of_any_length_is_read() {
    for n in 100 10000 100000; do
        echo "HOME=/|CUDA_VISIBLE_DEVICES=$(head -c $n /dev/zero | tr '\0' 1)||-" >"$out/long" &&
            uses "$out/long" ||
            return 1
    done
}

check "files decide, and of several the environment or their number" uses "$out/files"
check "variables of its own name the device of a process without open files" uses "$out/variables"
check "a variable of any length names a device or none" a_variable_of_any_length_is_read
finish
