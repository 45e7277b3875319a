#!/bin/sh
# snapshot.sh - a snapshot may come from a stranger: what is in it is read, and nothing outside of it
# SPDX-License-Identifier: MIT
# runs: check-all
#
# Each snapshot is a copy of a fixture host in which something is changed, and is planned twice:
# with openat2(2), and without it, as on a kernel that has none.
. tests/scenes/lib.sh
base=$out/base
snapshot=$out/snapshot
online=sys/devices/system/cpu/online
status=proc/self/status
nodes=sys/devices/system/node
"$CPUBIND" fixture export a2-192cpu-8npu "$base" --quiet || exit 1
echo "not yours" >"$out/secret"
mkdir "$out/outside" && cp "$base/$online" "$out/outside/online" || exit 1

plan() { # argument ...
    "$CPUBIND" plan --format log --root "$snapshot" --rules reference "$@"
}

planned() { # exit status, words
    for way in "" open_beneath:1:ENOSYS:forever; do
        CPUBIND_FAULT=$way
        if [ -z "$way" ]; then unset CPUBIND_FAULT; else export CPUBIND_FAULT; fi
        says "$1" "$2" plan && ! said "not yours" || return 1
    done
    unset CPUBIND_FAULT
}

# A snapshot in which commands of the shell have changed something.
of() { # commands, exit status, words
    rm -rf "$snapshot" && cp -r "$base" "$snapshot" && (cd "$snapshot" && eval "$1") &&
        planned "$2" "$3"
}

# -- Files ------------------------------------------------------------------------

pools="NPU0: main=[146 "
check "as it is" of : 0 "$pools"
check "a file larger than any buffer" of \
    "yes 'x: 1' | head -c 3000000 >proc/meminfo; head -c 300000 /dev/zero | tr '\0' '\n' >>proc/self/status" 0 "$pools"
check "one over the limit of 64 MiB" of "truncate -s 67108865 $online" 3 "too long"
missing="proc/self/status is missing"
check "one that is missing" of "rm $status" 0 "$missing"
check "a folder in place of a file" of "rm $online; mkdir $online" 3 "not a regular file"
check "a FIFO, which nobody waits for" of "rm $online; mkfifo $online" 3 "not a regular file"
check "a socket" of "rm $online; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"s\")' &&
    mv s $online" 3 "No such device or address"
check "a device" of "rm $online; mknod $online c 1 5" 3 "not a regular file"
check "/dev/null over a file, as a container runtime hides it: absent" of \
    "rm $status; mknod $status c 1 3" 0 "$missing"
check "a name of two lines in a folder" of "mkdir \"$nodes/a
b\"" 3 "a name holds a control byte"
check "a file where a folder should be" of "rm -r $nodes; echo x >$nodes" 3 "not a folder"
check "thousands of names" of "cd $nodes; seq -f 'a%05g' 3000 | xargs touch" 0 "$pools"

# The words of $user are split on purpose.
# shellcheck disable=SC2086
users_file() {
    has_user || return 0
    of "chmod 755 . ; chmod 0 $online" 0 "$pools" &&
        says 3 "Permission denied" $user "$CPUBIND" plan --root "$snapshot"
}
check "one that this user may not read" users_file

# -- Links ------------------------------------------------------------------------

# The folder of the CPUs is somewhere else in the snapshot.
check "a link that stays inside is followed" of \
    "mkdir a; mv sys/devices/system a/b; ln -s ../../a/b sys/devices/system" 0 "$pools"
check "and one by way of others" of \
    "mkdir a; mv $online a/o; ln -s ../../../../a/here/../o $online; ln -s . a/here" 0 "$pools"
outside="a symbolic link leads outside the snapshot"
check "an absolute one is refused" of "ln -sf $out/outside/online $online" 3 "$outside"
check "one that leaves" of "ln -sf ../../../../../outside/online $online" 3 "$outside"
check "a folder that leaves" of "rm -r sys/devices/system/cpu &&
    ln -s ../../../../outside sys/devices/system/cpu" 3 "$outside"
check "one that leaves and comes back" of \
    "mv $online o; ln -s ../../../../../snapshot/o $online" 3 "$outside"
check "one in place of a folder that is listed" of \
    "rm -r $nodes; ln -s $out/outside $nodes" 3 "$outside"
check "a dangling one: absent" of "ln -sf nothing $status" 0 "$missing"
check "a loop" of "ln -sf online $online" 3 "Too many levels of symbolic links"
check "one that grows" of "ln -sf online/x $online" 3 "Too many levels of symbolic links"

# -- Commands ---------------------------------------------------------------------

info=cmd/npu-smi-info-m
check "an exit code beside an output" of "echo 187 >$info.exit" 0 "its exit status was not 0"
for code in 256 -1 "" " 1" 0x1 0000 12a Timeout timeouts "timeout 1"; do
    check "no exit code: \"$code\"" of "echo '$code' >$info.exit" 3 "exit code"
done
check "a command that did not end in time" of "echo timeout >$info.exit" 3 "did not end"
check "what it said meanwhile" of \
    "echo timeout >$info.exit; echo waiting for the driver >$info.txt.err" 3 "waiting for the driver"
check "an exit code that leads outside" of "ln -s $out/secret $info.exit" 3 "$outside"
check "stderr that leads outside is none" of \
    "echo 1 >$info.exit; ln -s $out/secret $info.txt.err" 0 "its exit status was not 0"
check "an exit code without an output is no command" of \
    "rm $info.txt; echo 3 >$info.exit" 3 "npu-smi is not on this host"

# -- The folder -------------------------------------------------------------------

check "a folder that is not there" says 3 "cannot be opened: No such file" "$CPUBIND" plan \
    --root "$out/nothing"
check "a file that is no host" says 3 "a host is a folder" "$CPUBIND" plan --root "$out/secret"
relative() {
    of : 0 "$pools" && (cd "$out" && says 0 "$pools" "$CPUBIND" plan --format log --root snapshot/. \
        --rules reference)
}
check "a relative path" relative
finish
