#!/bin/sh
# tree.sh - run --tree and apply --tree bind a real tree of processes
# SPDX-License-Identifier: MIT
# runs: check
#
# A server of sh starts a process without a device and workers, which the list of the driver
# has.
. tests/scenes/lib.sh
use_driver_host
export list out program
mkfifo "$out/ctl"
exec 8<>"$out/ctl"
options="--root $host --allowed 0-47 -o rules=reference"

# The server does what the lines of the FIFO "ctl" say, and writes each pid to the file NAME.
cat >"$out/server" <<'END'
unset LD_PRELOAD
trap 'echo usr1 >"$out/usr1"' USR1
trap 'exit 7' TERM
echo $$ >"$out/server.pid"
started() { # pid, NAME, NPU or "-"
    [ "$3" = - ] || : >"$list/$1-1-dev-$3"
    echo "$1" >"$out/new" && mv "$out/new" "$out/$2.pid"
}
while :; do
    read -r what name npu <"$out/ctl" || continue
    case $what in
    start)
        "$program" >"$out/null" &
        started $! "$name" "$npu"
        ;;
    exec) # the driver lists the process before it runs the program that stays
        sh -c 'sleep 0.5; exec "$program"' >"$out/null" &
        started $! "$name" "$npu"
        ;;
    orphan) # its parent ends at once
        (
            "$program" >"$out/null" &
            started $! "$name" "$npu"
        )
        ;;
    exit) exit "$name" ;;
    esac
done
END

# -- The server and its processes ------------------------------------------------

pid_of() { # NAME
    cat "$out/$1.pid"
}

name_is_on() { # NAME, CPUs
    name_pid=$(pid_of "$1") && [ "$(cpus_of "$name_pid")" = "$2" ] && return 0
    echo "$1, process $name_pid, is on $(cpus_of "$name_pid"), not on $2"
    return 1
}

# A line for the server; one that names a process is done when its file is there.
tell() { # word, NAME, NPU
    rm -f "$out/$2.pid"
    echo "$*" >&8
    [ "$1" = exit ] || becomes test -s "$out/$2.pid"
}

# shellcheck disable=SC2086
start_server() { # option of run ...
    rm -f "$out"/*.pid "${list:?}"/*
    "$CPUBIND" run --tree $options "$@" -- sh "$out/server" >"$out/server.out" \
        2>"$out/server.err" &
    tree=$!
    echo "$tree" >"$out/cpubind.pid"
    becomes test -s "$out/server.pid"
}

ends_with() { # exit status of the server
    for file in "$out"/*.pid; do
        case $file in */server.pid | */cpubind.pid) ;; *) kill "$(cat "$file")" 2>/dev/null ;; esac
    done
    rm -f "${list:?}"/*
    wait "$tree"
    got=$?
    cat "$out/server.err"
    echo "exit status $got, expected $1"
    [ "$got" -eq "$1" ]
}

start_stranger() {
    start_on_npu 3 && echo "$worker" >"$out/stranger.pid"
}

# -- run --tree ------------------------------------------------------------------

binds_by_device() {
    start_server --keep 0-1 && becomes name_is_on server 0-1 &&
        becomes name_is_on cpubind 0-1 &&
        tell start api - && tell start w0 0 && tell start w1 1 && becomes name_is_on w0 26-33 &&
        becomes name_is_on w1 38-45 && becomes name_is_on api 0-1 && name_is_on server 0-1 &&
        [ ! -s "$out/server.out" ] &&
        becomes grep -q "$(pid_of w0) (worker), npu0" "$out/server.err"
}
check "run --tree binds workers by their NPU, and the others to the kept CPUs" binds_by_device

leaves_strangers() {
    start_stranger && tell start w3 3 && becomes name_is_on w3 15-21 &&
        name_is_on stranger "$all"
}
check "a worker that is not below the command stays as it is" leaves_strangers

# Two workers of one NPU have parts of its pool.
follows_restarts() {
    old=$(pid_of w1)
    rm -f "$list/$old-"*
    kill -9 "$old"
    tell start w1 1 && [ "$(pid_of w1)" != "$old" ] && becomes name_is_on w1 38-45 &&
        tell start second 1 && becomes name_is_on w1 38-40 && becomes name_is_on second 43-45
}
check "a worker that is killed and started again is bound, also beside another" follows_restarts

follows_exec_and_orphans() {
    tell exec e 0 && becomes name_is_on e 31-33 && becomes name_is_on w0 26-28 &&
        becomes is_program "$(pid_of e)" worker && stays name_is_on e 31-33 &&
        tell orphan o 3 && becomes name_is_on o 20-21 && becomes name_is_on w3 15-17
}
check "a worker stays bound over exec, and one whose parent has ended is bound" \
    follows_exec_and_orphans

# The shell runs its trap when a command has ended.
passes_signals_on() {
    kill -USR1 "$tree"
    tell start x - && becomes test -s "$out/usr1" || return 1
    kill -TERM "$tree"
    echo start y - >&8
    ends_with 7
}
check "signals reach the command, and its exit status is passed on" passes_signals_on

leaves_no_record_of_the_ended() {
    becomes "$CPUBIND" restore --all && says 0 "nothing is on record" "$CPUBIND" restore --all
}
check "nothing of the ended processes stays on record" leaves_no_record_of_the_ended

says_that_nothing_is_kept() {
    start_server && tell start w0 0 && tell start api - && becomes name_is_on w0 26-33 &&
        name_is_on api "$all" && name_is_on server "$all" && name_is_on cpubind "$all" &&
        grep -q "no CPUs are kept" "$out/server.err" && tell exit 5 && ends_with 5
}
check "without --keep the others stay on all CPUs, which is said" says_that_nothing_is_kept
"$CPUBIND" restore --all --quiet

# shellcheck disable=SC2016,SC2086
has_statuses_of_run() {
    set -- "$CPUBIND" run --tree $options
    says 3 '' "$@" --quiet -- sh -c 'exit 3' && says 143 '' "$@" --quiet -- sh -c 'kill $$' &&
        says 0 out "$@" --quiet -- echo out &&
        says 127 "cannot be run" "$@" --quiet -- "$out/no-such" &&
        says 126 "cannot be run" "$@" --quiet -- "$out" &&
        says 125 '' "$CPUBIND" run --tree --strict --root "$CPUBIND_SHIM" -- sh -c 'exit 3' &&
        says 3 "without being bound" "$CPUBIND" run --tree --root "$CPUBIND_SHIM" -- \
            sh -c 'exit 3' && says 0 value "$@" --env NAME=value -- sh -c 'echo $NAME'
}
check "exit statuses are those of run" has_statuses_of_run

# The first line of stderr is read, and later ones are written to a closed pipe.
# shellcheck disable=SC2016,SC2086
outlives_the_reader_of_its_messages() {
    {
        "$CPUBIND" run --tree $options -- sh -c \
            'unset LD_PRELOAD; sleep 0.5; : >"$list/$$-1-dev-1"; sleep 1.5; exit 6'
        echo $? >"$out/status"
    } 2>&1 | head -n 1
    rm -f "${list:?}"/*
    [ "$(cat "$out/status")" = 6 ]
}
check "a closed stderr ends neither cpubind nor the binding" outlives_the_reader_of_its_messages
"$CPUBIND" restore --all --quiet

# -- apply --tree ----------------------------------------------------------------

# shellcheck disable=SC2086
apply_tree() { # argument ...
    "$CPUBIND" apply --tree --pid "$(pid_of server)" $options --keep 0-1 "$@"
}

applies_to_a_running_tree() {
    rm -f "$out"/*.pid
    sh "$out/server" >"$out/server.out" 2>&1 &
    becomes test -s "$out/server.pid" && tell start api - && tell start w0 0 &&
        tell start w1 1 && start_stranger && says 0 bound apply_tree && name_is_on w0 26-33 &&
        name_is_on w1 38-45 && name_is_on api 0-1 && name_is_on server 0-1 &&
        name_is_on stranger "$all"
}
check "apply --tree binds a running tree, and no other worker" applies_to_a_running_tree

has_its_rows_of_json() {
    says 0 '' apply_tree --json && has '.workers[0].pid' "$(pid_of w0)" &&
        has '.workers[1].pid' "$(pid_of w1)" && has '.workers[2].pid' "" &&
        has '.others[0].state' bound && has '.others[1].state' bound && has '.others[2]' "" &&
        says 0 "put back" "$CPUBIND" restore --all && name_is_on w0 "$all"
}
check "apply --tree --json has a row for each process" has_its_rows_of_json

# The first process that is there, of which all others come.
binds_the_tree_of_init() {
    rm -f "$list/$(pid_of stranger)-"*
    # shellcheck disable=SC2086
    says 0 bound "$CPUBIND" apply --tree --pid 1 $options && name_is_on w0 26-33 &&
        says 0 "put back" "$CPUBIND" restore --all && name_is_on w0 "$all"
}
check "apply --tree binds the tree of the init process" binds_the_tree_of_init

watches_to_the_end() {
    # shellcheck disable=SC2086
    "$CPUBIND" apply --tree --pid "$(pid_of server)" $options --keep 0-1 --watch 1 \
        >"$out/server.err" 2>&1 &
    tree=$!
    becomes name_is_on w0 26-33 && tell start w3 3 && becomes name_is_on w3 15-21 &&
        tell exit 0 && ends_with 0
}
check "apply --tree --watch ends with the tree" watches_to_the_end
finish
