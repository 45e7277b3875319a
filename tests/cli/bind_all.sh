#!/bin/sh
# bind_all.sh - test apply --all, verify --all and restore --all on live processes; prints TAP
#
#   tests/cli/bind_all.sh        from the top folder; BUILD is where the command and outputs are
#
# The workers are real processes; the list of workers is a folder. affinity_shim.c replaces the
# calls that set CPUs, for the command only: the plan is that of a host of 48 CPUs. As root the
# script runs with mounts of its own and does not touch the records of this machine.
own_run=-m
wants_shim=yes
. tests/support/start.sh
build_shim "$out/worker" || exit 1
mkdir "$out/shim"
"$CPUBIND" fixture export a2-driver-host "$out/host" --quiet || exit 1
list=$out/host/proc/trs_core/proc
rm -rf "$list"/*
CPUBIND_SHIM=$out/shim
CPUBIND_SHIM_CPUS=48
export CPUBIND_SHIM CPUBIND_SHIM_CPUS
mkfifo "$out/in" "$out/ready"
exec 9<>"$out/in"
workers=

# -- Workers, the command, its output -----------------------------------------

# NPU 0 has 24-35, NPU 1 36-47, NPU 3 12-23; in each two CPUs for interrupts come first.
start_worker() { # NPU or "-"; its pid is in $worker
    # In a process group of its own: --others keep takes all of its group.
    setsid "$out/worker" acl_thread other <"$out/in" >"$out/ready" 2>/dev/null &
    worker=$!
    workers="$workers $worker"
    read -r ready <"$out/ready" && [ "$ready" = ready ] || return 1
    [ "$1" = - ] || : >"$list/$worker-1-dev-$1"
}

end_worker() { # pid
    rm -f "$list/$1-"*
    kill "$1"
    wait "$1" 2>/dev/null
}

cpubind() { # arguments
    env LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 "$CPUBIND" "$@"
}

json() { # path
    sqlite3 :memory: "SELECT readfile('$out/said') ->> '$1'"
}

main_of() { # pid
    if [ -e "$out/shim/$1" ]; then cat "$out/shim/$1"; else echo 0-47; fi
}

is_on() { # pid, CPUs of its first thread
    [ "$(main_of "$1")" = "$2" ] && return 0
    echo "process $1 is on $(main_of "$1"), not on $2"
    return 1
}

comes() { # command: becomes true within a minute
    for _ in $(seq 1200); do
        "$@" >/dev/null && return 0
        sleep 0.05
    done
    "$@"
}

all="--all --root $out/host --allowed 0-47 --rules reference"

# -- Tests --------------------------------------------------------------------

# shellcheck disable=SC2086
{
    no_worker() {
        says 0 "no process uses a device" cpubind apply $all
    }

    applies() {
        start_worker 0 && a=$worker
        start_worker 3 && b=$worker
        start_worker 3 && c=$worker
        says 0 bound cpubind apply $all && is_on "$a" 26-33 && is_on "$b" 14-16 && is_on "$c" 19-21 &&
            [ "$(head -1 "$out/said" | awk '{ print $1, $NF }')" = "device state" ] &&
            [ "$(awk 'length > 80' "$out/said")" = "" ]
    }

    verifies() {
        says 0 right cpubind verify $all || return 1
        echo 0-47 >"$out/shim/$b"
        says 1 drifted cpubind verify $all && is_on "$b" 0-47 &&
            says 1 "cpubind apply --all" cpubind verify $all &&
            says 0 bound cpubind apply $all && is_on "$b" 14-16
    }

    prints_json() {
        says 0 '' cpubind apply $all --json && [ ! -s "$out/err" ] || return 1
        [ "$(json '$.workers[0].npu') $(json '$.workers[0].pid')" = "0 $a" ] &&
            [ "$(json '$.workers[1].process') of $(json '$.workers[1].processes')" = "0 of 2" ] &&
            [ "$(json '$.workers[2].state')" = bound ] && [ "$(json '$.workers[2].error')" = "" ] &&
            [ "$(json '$.workers[2].outcome.items[0].result')" = right ] &&
            [ "$(json '$.others')" = "[]" ]
    }

    keeps_to_its_schema() {
        for word in apply verify restore apply; do
            # shellcheck disable=SC2046
            says 0 '' cpubind $word $([ $word = restore ] && echo --all || echo "$all") --json &&
                python3 tests/api/json_schema.py check \
                    "$([ $word = restore ] || echo host_)report" "$out/said" || return 1
        done
    }

    restores() {
        says 0 "put back" cpubind restore --all && is_on "$a" 0-47 && is_on "$b" 0-47 &&
            says 1 unbound cpubind verify $all &&
            says 0 "nothing is on record" cpubind restore --all
    }

    watches() {
        env LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 "$CPUBIND" apply $all --watch 1 \
            >"$out/watch" 2>&1 &
        watch=$!
        comes is_on "$a" 26-33 || return 1
        start_worker 1 && d=$worker
        comes is_on "$d" 38-45 || return 1
        says 1 "another cpubind is at work" cpubind apply $all || return 1
        end_worker "$c" # its NPU has one worker again
        comes is_on "$b" 14-21 || return 1
        comes grep -q "process $c (worker), npu3: ended" "$out/watch" || return 1
        kill "$watch" # a background command of a script ignores SIGINT
        wait "$watch"
        cat "$out/watch"
        grep -q "the watch has ended; all processes stay bound" "$out/watch" && is_on "$a" 26-33
    }

    ends_watch_by_restore() {
        : >"$out/watch" # not that of the watch before
        env LD_PRELOAD="$out/shim.so" CPUBIND_SHIM_MACHINE=aarch64 "$CPUBIND" apply $all --watch 1 \
            --json >"$out/watch" 2>&1 &
        watch=$!
        comes test -s "$out/watch" || return 1
        says 0 "put back" cpubind restore --all && is_on "$a" 0-47 && is_on "$d" 0-47 || return 1
        wait "$watch"
        [ $? -eq 143 ] # SIGTERM
    }

    keeps_others() {
        says 2 "--keep" cpubind apply $all --others keep || return 1
        # A session of its own, which the shell of this script is not in.
        # shellcheck disable=SC2016
        setsid sh -c '"$1/worker" acl_thread <"$1/in" >"$1/ready" 2>/dev/null &
            echo $! >"$1/w"
            "$1/worker" engine <"$1/in" >/dev/null 2>&1 & echo $! >"$1/e"; wait' sh "$out" &
        read -r _ <"$out/ready"
        comes test -s "$out/e" || return 1
        sleep 0.2
        w=$(cat "$out/w")
        e=$(cat "$out/e")
        : >"$list/$w-1-dev-2"
        cpubind apply $all --others keep --keep 0-1 >"$out/said" 2>"$out/err"
        cat "$out/said" "$out/err"
        is_on "$e" 0-1 && says 0 "put back" cpubind restore --all && is_on "$e" 0-47
        result=$?
        rm -f "$list/$w-"*
        kill "$w" "$e" 2>/dev/null
        return $result
    }

    refuses_options() {
        says 2 "--all" cpubind apply $all --npu 3 && says 2 "--all" cpubind apply $all --pid 1 &&
            says 2 "--all" cpubind apply --npu 3 --respect-masks &&
            says 2 "--processes" cpubind apply $all --processes 2 --index 0 &&
            says 2 "leave, keep" cpubind apply $all --others all
    }

    says_unreadable() {
        says 3 '' cpubind apply --all --root "$out/shim" --any-arch
    }
}


# A GPU beside the NPUs, whose files have the numbers of /dev/full and /dev/urandom. Only
# processes of this script are bound: those of its tree.
gpu=$out/mixed/sys/bus/pci/devices/0000:81:00.0
mixed="--root $out/mixed --allowed 0-47"

put() { # file, text
    mkdir -p "$(dirname "$1")" && printf '%s\n' "$2" >"$1"
}

# shellcheck disable=SC2086
{
    # A process is where plan says that it belongs.
    is_planned() { # process, device, CPUs, option of plan ...
        process=$1 device=$2 cpus=$3
        shift 3
        is_on "$process" "$cpus" &&
            cpubind plan $mixed "$@" 2>/dev/null | grep -qE " $device .* $cpus +"
    }

    binds_both() {
        cp -R "$out/host" "$out/mixed" && rm -f "$out/mixed/proc/trs_core/proc"/* &&
            put "$gpu/vendor" 0x1002 && put "$gpu/device" 0x74a1 && put "$gpu/class" 0x120000 &&
            put "$gpu/numa_node" 1 && put "$gpu/local_cpulist" 12-23 &&
            put "$gpu/drm/renderD128/dev" 1:7 && put "$out/mixed/sys/class/kfd/kfd/dev" 1:9 &&
            put "$out/mixed/dev/dri/renderD128" 1:7 ||
            return 1
        list=$out/mixed/proc/trs_core/proc
        start_worker 0 && n=$worker && start_worker - 3</dev/full 4</dev/urandom && g=$worker
        says 0 "npu0" cpubind apply --tree --pid $$ $mixed && is_planned "$g" gpu0 12-23 &&
            is_planned "$n" npu0 26,42-45 && ! grep -q "other accelerators" "$out/err" &&
            [ "$(awk -v p="$g" '$2 == p { print $1, $NF }' "$out/said")" = "0000:81:00.0 bound" ]
    }

    verifies_both() {
        says 0 0000:81:00.0 cpubind verify --all $mixed && says 0 '' cpubind verify --all $mixed \
            --json && [ "$(json '$.workers[0].npu') $(json '$.workers[0].pid')" = "0 $n" ] &&
            [ "$(json '$.workers[1].pci') $(json '$.workers[1].npu')" = "0000:81:00.0 " ] &&
            [ "$(json '$.workers[1].product')" = "Instinct MI300X" ] || return 1
        ! command -v python3 >"$out/python" ||
            python3 tests/api/json_schema.py check host_report "$out/said" || return 1
        echo 0-47 >"$out/shim/$g"
        says 1 "process $g, 0000:81:00.0: it is not where it belongs" cpubind verify --all $mixed
    }

    # No device has the excluded CPUs.
    parts_them() {
        says 0 bound cpubind apply --tree --pid $$ $mixed --exclude 12-17 &&
            is_planned "$g" gpu0 18-23,42-43 --exclude 12-17 &&
            says 0 bound cpubind apply --tree --pid $$ $mixed --device-type a2 &&
            ! grep -q 0000:81 "$out/said" && says 0 "put back" cpubind restore --all &&
            is_on "$g" 0-47 && is_on "$n" 0-47
    }
}

check "without workers nothing is bound" no_worker
check "apply --all binds each worker to the pool of its NPU, or to its part" applies
check "verify --all finds the process that has drifted" verifies
check "apply --all --json has a row for each process" prints_json
check "the JSON of apply, verify and restore with --all keeps to its schema" keeps_to_its_schema
check "restore --all puts all back" restores
check "a watch finds new workers, and a signal ends it" watches
check "restore --all ends a watch of all workers" ends_watch_by_restore
check "--others keep puts the engine's other processes on the kept CPUs" keeps_others
check "options that contradict --all are refused" refuses_options
check "a host that cannot be read is a refusal" says_unreadable
check "the workers of NPUs and of a GPU are bound at once, to CPUs of their own" binds_both
check "verify --all has both" verifies_both
check "--exclude is for both, an option of NPUs is about these alone, restore has both" parts_them
# shellcheck disable=SC2086
kill $workers 2>/dev/null
finish
