#!/bin/sh
# run_tree.sh - test run --tree and apply --tree on a real tree of processes; prints TAP
#
#   tests/cli/run_tree.sh        from the top folder; BUILD is where the command and outputs are
#
# A server of sh starts a process without a device and workers, which the list of a folder has.
# affinity_shim.c replaces the calls that set CPUs: the plan is that of a host of 48 CPUs. As root
# the script runs with mounts of its own and does not touch the records of this machine.
own_run=-m
wants_shim=yes
. tests/support/start.sh
build_shim "$out/worker" || exit 1
mkdir "$out/shim"
"$CPUBIND" fixture export a2-driver-host "$out/host" --quiet || exit 1
list=$out/host/proc/trs_core/proc
rm -rf "${list:?}"/*
CPUBIND_SHIM=$out/shim
CPUBIND_SHIM_CPUS=48
export CPUBIND_SHIM CPUBIND_SHIM_CPUS out list
mkfifo "$out/in" "$out/ctl"
exec 9<>"$out/in" 8<>"$out/ctl"

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
        "$out/worker" acl_thread <"$out/in" >/dev/null &
        started $! "$name" "$npu"
        ;;
    exec) # the driver lists the process before it runs the program that stays
        sh -c 'sleep 0.5; exec "$out/worker" acl_thread' <"$out/in" >/dev/null &
        started $! "$name" "$npu"
        ;;
    orphan) # its parent ends at once
        (
            "$out/worker" acl_thread <"$out/in" >/dev/null &
            started $! "$name" "$npu"
        )
        ;;
    exit) exit "$name" ;;
    esac
done
END

# -- The command, its output, its processes -----------------------------------

cpubind() { # arguments
    env LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 "$CPUBIND" "$@"
}

json() { # path
    sqlite3 :memory: "SELECT readfile('$out/said') ->> '$1'"
}

is_on() { # NAME, CPUs of its first thread
    pid=$(cat "$out/$1.pid") || return 1
    cpus=0-47
    [ ! -e "$out/shim/$pid" ] || cpus=$(cat "$out/shim/$pid")
    [ "$cpus" = "$2" ] && return 0
    echo "$1, process $pid, is on $cpus, not on $2"
    return 1
}

comes() { # command: becomes true within 5 seconds
    for _ in $(seq 100); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.05
    done
    "$@"
}

tell() { # line for the server; a line that names a process is done when its file is there
    [ -z "$2" ] || rm -f "$out/$2.pid"
    echo "$*" >&8
    [ -z "$2" ] || [ "$1" = exit ] || comes test -s "$out/$2.pid"
}

options="--root $out/host --allowed 0-47 --rules reference"

start_server() { # options of run
    rm -f "$out"/*.pid "${list:?}"/*
    env LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 "$CPUBIND" run --tree "$@" -- \
        sh "$out/server" >"$out/server.out" 2>"$out/server.err" &
    run=$!
    echo "$run" >"$out/cpubind.pid"
    comes test -s "$out/server.pid"
}

end_workers() {
    for file in "$out"/*.pid; do
        case $file in */server.pid | */cpubind.pid) continue ;; esac
        kill "$(cat "$file")" 2>/dev/null
    done
    rm -f "${list:?}"/*
}

# -- Tests --------------------------------------------------------------------

# NPU 0 has 24-35, NPU 1 36-47, NPU 3 12-23; in each two CPUs for interrupts come first. CPUs 0
# and 1 are kept.
# shellcheck disable=SC2086,SC2016
{
    binds_by_device() {
        start_server $options --keep 0-1 && comes is_on server 0-1 && comes is_on cpubind 0-1 ||
            return 1
        tell start api - && tell start w0 0 && tell start w1 1 || return 1
        comes is_on w0 26-33 && comes is_on w1 38-45 && comes is_on api 0-1 && is_on server 0-1 ||
            return 1
        [ ! -s "$out/server.out" ] && comes grep -q "$(cat "$out/w0.pid") (worker), npu0" \
            "$out/server.err"
    }

    leaves_strangers() {
        "$out/worker" acl_thread <"$out/in" >/dev/null &
        echo $! >"$out/stranger.pid"
        : >"$list/$!-1-dev-3"
        tell start w3 3 && comes is_on w3 15-21 && is_on stranger 0-47
    }

    follows_restarts() {
        old=$(cat "$out/w1.pid")
        rm -f "$list/$old-"*
        kill -9 "$old"
        tell start w1 1 && [ "$(cat "$out/w1.pid")" != "$old" ] && comes is_on w1 38-45 || return 1
        # Two workers of one NPU have parts of its pool.
        tell start second 1 && comes is_on w1 38-40 && comes is_on second 43-45
    }

    follows_exec_and_orphans() {
        tell exec e 0 && comes is_on e 31-33 && comes is_on w0 26-28 || return 1
        sleep 0.6
        is_on e 31-33 && tell orphan o 3 && comes is_on o 20-21 && comes is_on w3 15-17
    }

    passes_signals_on() {
        kill -USR1 "$run"
        tell start x - # the shell runs its trap when a command has ended
        comes test -s "$out/usr1" || return 1
        kill -TERM "$run"
        tell start y -
        wait "$run"
        got=$?
        cat "$out/server.err"
        end_workers
        [ "$got" -eq 7 ] || {
            echo "exit status $got"
            return 1
        }
    }

    leaves_no_record_of_the_ended() {
        comes says 0 '' cpubind restore --all && says 0 "nothing is on record" cpubind restore --all
    }

    says_that_nothing_is_kept() {
        start_server $options && tell start w0 0 && tell start api - && comes is_on w0 26-33 &&
            is_on api 0-47 && is_on server 0-47 && is_on cpubind 0-47 &&
            grep -q "no CPUs are kept" "$out/server.err" || return 1
        tell exit 5
        wait "$run"
        got=$?
        end_workers
        cpubind restore --all
        [ "$got" -eq 5 ]
    }

    passes_the_exit_status_on() {
        says 3 '' cpubind run --tree $options --quiet -- sh -c 'exit 3' &&
            says 143 '' cpubind run --tree $options --quiet -- sh -c 'kill $$' &&
            says 0 out cpubind run --tree $options --quiet -- echo out &&
            says 127 "cannot be run" cpubind run --tree $options --quiet -- "$out/no-such" &&
            says 126 "cannot be run" cpubind run --tree $options --quiet -- "$out" &&
            says 125 '' cpubind run --tree --root "$out/shim" -- sh -c 'exit 3' &&
            says 3 "without being bound" cpubind run --tree --or-unbound --root "$out/shim" -- \
                sh -c 'exit 3' &&
            says 0 value cpubind run --tree $options --env NAME=value -- sh -c 'echo $NAME'
    }

    # The first line of stderr is read, and later ones are written to a closed pipe.
    outlives_the_reader_of_its_messages() {
        {
            cpubind run --tree $options -- sh -c \
                'unset LD_PRELOAD; sleep 0.5; : >"$list/$$-1-dev-1"; sleep 1.5; exit 6'
            echo $? >"$out/status"
        } 2>&1 | head -n 1
        rm -f "${list:?}"/*
        cpubind restore --all
        [ "$(cat "$out/status")" = 6 ] || {
            echo "exit status $(cat "$out/status")"
            return 1
        }
    }

    applies_to_a_running_tree() {
        rm -f "$out"/*.pid
        sh "$out/server" >/dev/null 2>&1 &
        comes test -s "$out/server.pid" && tell start api - && tell start w0 0 &&
            tell start w1 1 || return 1
        "$out/worker" acl_thread <"$out/in" >/dev/null &
        echo $! >"$out/stranger.pid"
        : >"$list/$!-1-dev-3"
        says 0 bound cpubind apply --tree --pid "$(cat "$out/server.pid")" $options --keep 0-1 &&
            is_on w0 26-33 && is_on w1 38-45 && is_on api 0-1 && is_on server 0-1 &&
            is_on stranger 0-47
    }

    prints_json() {
        says 0 '' cpubind apply --tree --pid "$(cat "$out/server.pid")" $options --keep 0-1 --json &&
            [ "$(json '$.workers[0].pid') $(json '$.workers[1].pid') $(json '$.workers[2].pid')" = \
                "$(cat "$out/w0.pid") $(cat "$out/w1.pid") " ] &&
            [ "$(json '$.others[0].state') $(json '$.others[1].state') $(json '$.others[2]')" = \
                "bound bound " ] && says 0 "put back" cpubind restore --all && is_on w0 0-47
    }

    watches_a_tree_to_its_end() {
        env LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 "$CPUBIND" apply --tree \
            --pid "$(cat "$out/server.pid")" $options --keep 0-1 --watch 1 >"$out/watch" 2>&1 &
        watch=$!
        rm -f "$list/$(cat "$out/stranger.pid")-"*
        comes is_on w0 26-33 && tell start w3 3 && comes is_on w3 15-21 || return 1
        tell exit 0
        end_workers
        wait "$watch"
        got=$?
        cat "$out/watch"
        [ "$got" -eq 0 ]
    }

    refuses_options() {
        says 2 "--pid N" cpubind apply --tree $options &&
            says 2 "--tree" cpubind apply --tree --all $options &&
            says 2 "--tree" cpubind apply --tree --pid $$ --npu 3 $options &&
            says 125 "--tree" cpubind run --tree --auto $options -- true &&
            says 125 "--tree" cpubind run --tree --numa-bind $options -- true &&
            says 125 "--tree" cpubind run --tree --processes 2 --index 0 $options -- true &&
            says 2 "" cpubind verify --tree
    }
}

check "run --tree binds workers by their NPU, and the others to the kept CPUs" binds_by_device
check "a worker that is not below the command stays as it is" leaves_strangers
check "a worker that is killed and started again is bound, also beside another" follows_restarts
check "a worker stays bound over exec, and one whose parent has ended is bound" \
    follows_exec_and_orphans
check "signals reach the command, and its exit status is passed on" passes_signals_on
check "nothing of the ended processes stays on record" leaves_no_record_of_the_ended
check "without --keep the others stay on all CPUs, which is said" says_that_nothing_is_kept
check "exit statuses are those of run" passes_the_exit_status_on
check "a closed stderr ends neither cpubind nor the binding" outlives_the_reader_of_its_messages
check "apply --tree binds a running tree, and no other worker" applies_to_a_running_tree
check "apply --tree --json has a row for each process" prints_json
check "apply --tree --watch ends with the tree" watches_a_tree_to_its_end
check "options that contradict --tree are refused" refuses_options
kill "$(cat "$out/stranger.pid")" "$(cat "$out/server.pid")" 2>/dev/null
finish
