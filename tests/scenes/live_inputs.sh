#!/bin/sh
# live_inputs.sh - what is read of a live host beside its files: variables, device nodes, the machine
# SPDX-License-Identifier: MIT
# runs: check
#
# A capture has them as files.
. tests/scenes/lib.sh
use_live_npus
unset CPUBIND_RULES
line='
'

captures() { # name of a file of the capture, text, command that runs cpubind ...
    captured=$1
    text=$2
    shift 2
    rm -rf /tmp/host
    "$@" "$CPUBIND" capture -o /tmp/host --name x --quiet >"$out/said" 2>"$out/err"
    if [ -z "$text" ]; then
        [ -d /tmp/host ] && [ ! -s "/tmp/host/$captured" ] && return 0
    else
        printf '%s' "$text" | cmp - "/tmp/host/$captured" && return 0
    fi
    cat "$out/said" "$out/err"
    head -c 300 "/tmp/host/$captured"
    return 1
}

# -- Variables -------------------------------------------------------------------

visible=ASCEND_RT_VISIBLE_DEVICES
check "a variable is a line" captures env "$visible=0,2$line" env $visible=0,2
check "an empty one, too" captures env "$visible=$line" env $visible=
check "without any there is no line" captures env "" env
check "those of a cpuset follow sorted" captures env \
    "CPUBIND_RULES=near${line}${visible}=1${line}DRA_CPUSET_=${line}DRA_CPUSET_A_1=0-1${line}DRA_CPUSET_B=2-3$line" \
    env DRA_CPUSET_B=2-3 DRA_CPUSET_A_1=0-1 DRA_CPUSET_= DRA_CPUSETS=no $visible=1 CPUBIND_RULES=near
for value in $visible DRA_CPUSET_B; do
    check "a line feed in $value is refused" says 3 "a value holds a line feed" env "$value=0${line}1" \
        "$CPUBIND" plan
done
is_too_long() {
    says 3 "too long" env "$visible=$(head -c 100000 /dev/zero | tr '\0' 1)" "$CPUBIND" plan
}
check "a long one is too long" is_too_long
check "the machine is a line" captures uname "aarch64$line" env

# -- Device nodes, which nobody opens: there is no driver of this number ---------------

make_dev || skip_all "no device files can be made here"
for number in 0 1 10 2; do mknod -m 666 /dev/davinci$number c 236 $number || exit 1; done
mkdir /dev/dri
for node in davinci03 davinci_manager davinci vdavinci7 davinci2x nvidia1 nvidia0 nvidiactl \
    dri/renderD128 dri/card0; do
    mknod -m 666 "/dev/$node" c 236 "$(echo "${node}0" | tr -dc 0-9 | sed 's/^0*\(.\)/\1/;s/.$//;s/^$/0/')"
done
chmod 600 /dev/davinci1
mkfifo /dev/davinci7
echo 236:8 >/dev/davinci8

check "a node is its number" captures dev/davinci10 "236:10$line" env
lists() { # nodes
    listed=$(cd /tmp/host/dev && find . -type f | sort | tr '\n' ' ')
    [ "$listed" = "$1" ] && return 0
    echo "$listed"
    return 1
}
check "those of NPUs and of other accelerators are listed" lists \
    "./davinci0 ./davinci1 ./davinci10 ./davinci2 ./dri/renderD128 ./nvidia/nvidia0 ./nvidia/nvidia1 "
# The words of $user are split on purpose.
# shellcheck disable=SC2086
users_nodes() {
    chmod 1777 /tmp && rm -rf /tmp/host && captures dev/davinci1 "" $user
}
check_user "one that this user may not open is not there" users_nodes
finish
