#!/bin/sh
# runs: by make
# stand_in.sh - npu-smi, lscpu, taskset and migratepages of lab.sh, by the name of the link
# SPDX-License-Identifier: MIT
name=${0##*/}
echo "$name $*" >>"$LAB_DIR/started"
case $name in
npu-smi)
    [ -z "$LAB_NPU_SMI_SECONDS" ] || sleep "$LAB_NPU_SMI_SECONDS"
    file=$(echo "npu-smi $*" | sed 's/ -\([ic]\) / -\1/g; s/ -*/-/g')
    exec cat "$LAB_HOST/cmd/$file.txt"
    ;;
lscpu) exec cat "$LAB_DIR/lscpu" ;;
ps) PATH=$LAB_PATH exec ps "$@" ;;
esac
