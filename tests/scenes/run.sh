#!/bin/sh
# run.sh - run becomes the command, which finds all as without it; and what happens if it cannot
# SPDX-License-Identifier: MIT
# runs: check
# machines: yes
. tests/scenes/lib.sh
use_npus

passes_the_exit_on() {
    says 0 "" run --device npu0 -- cat /proc/self/comm && [ "$(cat "$out/said")" = cat ] &&
        [ ! -s "$out/err" ] && says 7 "" run --device npu0 -- sh -c 'exit 7' &&
        says 143 "" run --device npu0 -- sh -c 'kill -TERM $$'
}
check "run: exit status and signals are those of the command" passes_the_exit_on

# shellcheck disable=SC2016,SC2086
becomes_the_command() {
    sh -c 'echo $$; exec "$@"' sh "$CPUBIND" run $host --memory none --quiet --device npu0 \
        -- sh -c 'echo $$; echo $PPID; exec sleep 100' >"$out/pids" &
    worker=$!
    becomes is_program $worker sleep &&
        [ "$(paste -sd' ' "$out/pids")" = "$worker $worker $$" ] && is_on $worker $main &&
        grep -qx "process $worker [0-9]*" "/run/cpubind/$worker.record" &&
        says 0 "put back" restore && is_on $worker "$all"
    result=$?
    end_worker
    return $result
}
check "run: no process in between" becomes_the_command

# Prints the files, folder, environment and limits that a command inherits. Signals are tested
# without a shell, which would change them.
world='ls /proc/self/fd | tr "\n" " "; readlink /proc/self/fd/0; pwd; umask; nice
    grep -E "^(CapEff|NoNewPrivs|Seccomp:|Threads|Uid|Gid)" /proc/self/status; env | sort'

# shellcheck disable=SC2086
is_the_same() { # env and its arguments, command ...
    way=$1
    shift
    $way "$@" >"$out/without" </dev/null && $way "$CPUBIND" run $host --memory none --quiet \
        --device npu0 -- "$@" >"$out/with" </dev/null && [ -s "$out/with" ] &&
        diff "$out/without" "$out/with"
}

leaves_nothing_behind() {
    for way in "env --block-signal=USR1,CHLD --ignore-signal=CHLD,PIPE,INT" \
        "env --default-signal --unset=HOME" \
        "env -i PATH=$PATH LD_PRELOAD=$LD_PRELOAD CPUBIND_SHIM=$CPUBIND_SHIM \
CPUBIND_SHIM_MACHINE=aarch64 ASAN_OPTIONS=$ASAN_OPTIONS"; do
        is_the_same "$way" sh -c "$world" &&
            is_the_same "$way" grep -E '^Sig[BIC]' /proc/self/status || return 1
    done
    is_the_same "env --ignore-signal=CHLD" grep '^SigIgn' /proc/self/status &&
        [ $((0x$(cut -f 2 "$out/with") >> 16 & 1)) -eq 1 ] # signal 17 is SIGCHLD
}
if env --default-signal true 2>"$out/other"; then
    check "run: files, signals and environment are unchanged" leaves_nothing_behind
else
    skip "run: files, signals and environment" "this env sets no signals"
fi

sets_what_is_asked() {
    n_main=$((${main#*-} - ${main%-*} + 1))
    # shellcheck disable=SC2016
    says 0 "$main|$acl|$release|$irq|$pool|$n_main|0|$node|{other}|{|a=b|" run --device npu0 \
        --env 'L={main}|{acl}|{release}|{irq}|{pool}|{threads}|{npu}|{node}|{other}|{|a=b|' \
        --env E= --env PATH="$PATH" -- sh -c 'echo "$L"; [ -z "$E" ] && [ "${E+set}" ]' &&
        refuses 125 "--env" run --device npu0 --env =x -- true &&
        refuses 125 "--env" run --device npu0 --env x -- true
}
check "run --env sets variables" sets_what_is_asked

names_cards() {
    # shellcheck disable=SC2016
    (host="--fixture gpu-network-4l40s --allowed 0-63" &&
        says 0 "mlx5_0 mlx5_0:1 mlx5_0,mlx5_1,mlx5_2 ens1f0np0" run --device gpu0 --or-unbound \
            --env 'L={nic} {port} {nics} {netdev}' -- sh -c 'echo "$L"') &&
        (host="--root $out/bonded.host --allowed 0-63" &&
            says 0 "mlx5_0,mlx5_1 bond0" run --device gpu0 --or-unbound --env 'L={nic} {netdev}' -- sh -c 'echo "$L"') &&
        says 0 "none" run --device npu0 --env 'L={nic}' -- sh -c 'echo "${L-none}"' &&
        said "no name is known for {nic}"
}
if "$CPUBIND" fixture export gpu-network-4l40s "$out/shown.host" >/dev/null 2>&1; then
    sed '/net.ens1f/s,$,/master/uevent\n DEVTYPE=bond\n INTERFACE=bond0,; /^file .*0000:14:00.0/,+1d' \
        "$out/shown.host" >"$out/bonded.host"
    check "run --env names network cards" names_cards
else
    skip "run --env names network cards" "no corpus is here"
fi

# By the kernel, where the node is there.
# shellcheck disable=SC2086
prefers_a_node() {
    if [ -n "$host" ]; then
        says 0 "" "$CPUBIND" run $host --device npu0 -- true &&
            grep -q "set_mempolicy" "$CPUBIND_SHIM/calls"
    else
        says 0 "prefer:$node" "$CPUBIND" run --device npu0 -- cat /proc/self/numa_maps
    fi
}
check "run prefers the memory of the node" prefers_a_node
"$CPUBIND" restore --all --quiet

# That of the shim; tests/vm has real ones.
in_narrow_cpuset() { # command ...
    [ -z "$CPUBIND_SHIM" ] || CPUBIND_SHIM_CPUSET=0-63 "$@"
}

# The statuses of cpubind itself are not those of the command.
has_statuses_of_its_own() {
    refuses 125 "(exit status 1 of cpubind)" run --device npu8 -- true &&
        refuses 125 "(exit status 2 of cpubind)" run --nonsense &&
        refuses 125 "(exit status 3 of cpubind)" "$CPUBIND" run --root "$out/none" --device npu0 -- \
            true &&
        says 125 "" run --device npu8 --json -- true &&
        json .error.text | grep -qF "(exit status 1 of cpubind)" &&
        in_narrow_cpuset refuses 125 "(exit status 4 of cpubind)" run --device npu0 -- true &&
        says 1 "" run --device npu0 -- false && says 0 "Usage: cpubind run" "$CPUBIND" run --help
}
check "run: its own exit statuses are 125 to 127" has_statuses_of_its_own
"$CPUBIND" restore --all --quiet

# shellcheck disable=SC2016
starts_unbound() {
    says 0 "started unbound, E=1 F=" run --device npu8 --or-unbound --env E=1 --env 'F={main}' \
        -- sh -c 'echo "started unbound, E=$E F=$F"' &&
        said "the command is started without being bound" && said "--env F={main}: not set" &&
        no_record && says 7 "" run --device npu8 --or-unbound -- sh -c 'exit 7' &&
        says 0 "{x" run --device npu8 --or-unbound --env 'E={x' -- sh -c 'echo "$E"' &&
        says 127 "cannot be run" run --device npu8 --or-unbound -- "$out/no-such-command" &&
        in_narrow_cpuset says 0 "all is as before" run --device npu0 --or-unbound -- true &&
        says 125 "(exit status 2 of cpubind)" run --or-unbound -- true &&
        says 0 "bound on $main" run --device npu0 --or-unbound --env 'M={main}' -- \
            sh -c 'echo "bound on $M"'
}
check "run --or-unbound starts the command after a refusal" starts_unbound
"$CPUBIND" restore --all --quiet

# What is missing is said, and the command starts; what was asked wrongly is an error.
# shellcheck disable=SC2086
starts_with_what_there_is() {
    rm -r /run/user/65534
    for way in --auto --numa-bind --tree; do
        set -- $user env TMPDIR=/nowhere LOCAL_RANK=0 "$CPUBIND" run $host $way
        says 7 "" "$@" -- sh -c 'exit 7' || return 1
        [ $way = --tree ] && continue
        said ": No such file or directory; its folder must exist, be \
owned by you and writable by nobody else: /nowhere/cpubind-65534/" &&
            said "warning: the command is started without being bound" &&
            refuses 125 "/nowhere/cpubind-65534/" "$@" --strict -- true || return 1
    done
    refuses 125 "rank 99" $user env LOCAL_RANK=99 "$CPUBIND" run $host --auto -- true &&
        says 0 "" $user env LOCAL_RANK=0 "$CPUBIND" run $host --auto -- true &&
        ! said "without being bound" >"$out/other" && [ -d /tmp/cpubind-65534 ]
}
check_user "run --auto, --numa-bind and --tree start with what there is" starts_with_what_there_is
rm -rf /tmp/cpubind-65534

# That of the process, too, which has ended.
every_mask_is() { # CPUs
    ! grep -vx "$1" "$CPUBIND_SHIM"/[0-9]*
}

# shellcheck disable=SC2086
puts_back_without_a_command() { # command, exit status
    rm -f "${CPUBIND_SHIM:-/nowhere}"/[0-9]*
    says "$2" "$1" "$CPUBIND" run $host --memory none --device npu0 -- "$1" && said "cannot be run" &&
        no_record && { [ -z "$CPUBIND_SHIM" ] || every_mask_is "$all"; }
}
check "run: no such command: exit 127, and the binding is undone" \
    puts_back_without_a_command "$out/no-such-command" 127
echo text >"$out/no-program"
check "run: a file that is not executable: exit 126, and the binding is undone" \
    puts_back_without_a_command "$out/no-program" 126
finish
