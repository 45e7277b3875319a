#!/bin/sh
# service.sh - the service binds the workers of accelerators, keeps them bound, and says so
# SPDX-License-Identifier: MIT
# runs: check
. tests/scenes/lib.sh
use_gpus
cp "$program" "$out/engine"

start_engine_on() { # number of the file, VARIABLE=VALUE ...
    engine_on=$1
    shift
    start_on "$engine_on" "$@" -x "$out/engine"
}

# -- Workers ---------------------------------------------------------------------

binds_workers_that_run_and_that_come() {
    settings "textfile = $prom" && start_engine_on 5 && first=$worker && start_service &&
        becomes is_on "$first" "$a" && start_engine_on 7 && second=$worker &&
        becomes is_on "$second" "$b" && becomes logged "process $first (worker), gpu0: " &&
        becomes logged "process $second (worker), gpu1: " && ! grep npu "$out/service.log"
}
check "workers that run and workers that come are bound" binds_workers_that_run_and_that_come

threads_and_programs_stay_bound() {
    kill -USR1 "$second" && becomes has_threads "$second" 2 && becomes is_on "$second" "$b" &&
        move_to "$b" "$first" && becomes is_on "$first" "$a" && kill -USR2 "$second" &&
        becomes is_program "$second" engine && becomes is_on "$second" "$b"
}
check "a new thread is bound, a moved one moved back, another program stays bound" \
    threads_and_programs_stay_bound

writes_the_textfile() {
    becomes metric 'cpubind_device_workers{device="0000:02:00.0"} 1' &&
        metric 'cpubind_workers 2' &&
        metric 'cpubind_threads{device="0000:01:00.0",place="right"} 1' &&
        metric 'cpubind_threads{device="0000:01:00.0",place="unbound"} 0' &&
        ! grep 'npu\|interrupts{' "$prom" && [ "$(stat -c %a "$prom")" = 644 ] || return 1
    ! command -v promtool >"$out/promtool" || promtool check metrics <"$prom"
}
check "the textfile has the figures of each device" writes_the_textfile

# -- Other commands --------------------------------------------------------------

# The settings of the test are not those of the host: the commands find the usual socket.
commands_ask_it() {
    says 0 "" "$CPUBIND" verify --all --json && fits host_report &&
        has .service.pid "$service" &&
        has '.workers[0].pid' "$first" && has '.workers[0].pci' 0000:01:00.0 &&
        has '.workers[1].state' right &&
        says 0 "" "$CPUBIND" verify --all &&
        [ "$(awk -v p="$first" '$2 == p { print $1, $3, $4, $5, $8 }' "$out/said")" = \
            "gpu0 worker $a 1 right" ] && says 0 "" "$CPUBIND" status --memory none --json &&
        has .service.pid "$service" && has .service.workers 2 &&
        says 0 "" "$CPUBIND" status --memory none && grep -q \
        "^the service (process $service) looked [0-9]* s ago; [0-9]* moved, [0-9]* faults" \
            "$out/said"
}
check "verify --all and status ask the service" commands_ask_it

# What others could have made is not asked.
is_not_asked() { # argument of verify ...
    says 0 "" "$CPUBIND" verify --all --json "$@" && has .service.pid ""
}
check "a snapshot is not asked of it" is_not_asked --root "$host"
chmod 777 /run/cpubind
check "a socket that others could have made is not asked" is_not_asked
chmod 755 /run/cpubind
check "a second service is refused" says 1 "another cpubind service runs on this host" \
    "$CPUBIND" service "$conf" --root "$host"

# -- Settings --------------------------------------------------------------------

a_bad_file_keeps_the_settings() {
    settings 'rulez = near' && kill -HUP "$service" &&
        becomes logged 'line 3, column 1: there is no key "rulez"; did you mean "rules" or "roles"?' &&
        logged "the settings stay as they were" && is_on "$first" "$a" && kill -0 "$service"
}
check "a bad file of settings is said, and the old settings stay" a_bad_file_keeps_the_settings

# What --thread gives to all threads of a process is not what main threads get.
main_cpus_are() { # pid, CPUs, argument of verify ...
    main_of=$1
    main_cpus=$2
    shift 2
    "$CPUBIND" verify --all "$@" >"$out/said" 2>"$out/err"
    [ "$(awk -v p="$main_of" '$2 == p { print $5 }' "$out/said")" = "$main_cpus" ]
}

a_good_file_is_in_force() {
    reload "textfile = $prom" "thread = engine=$a" "device-type = 910B" &&
        becomes is_on "$second" "$a" engine &&
        logged "the key device-type is for NPUs alone: it is ignored on this host" &&
        main_cpus_are "$second" "$b" && main_cpus_are "$second" "$b" --root "$host" &&
        reload "textfile = $prom" && becomes is_on "$second" "$b"
}
check "a good file is in force after SIGHUP, and keys of NPUs are named" a_good_file_is_in_force

bad_settings_end_it() {
    printf 'memory-time = often\n' >"$out/bad.conf" && chmod 644 "$out/bad.conf" &&
        says 2 "line 1, column 15: " "$CPUBIND" service "$out/bad.conf" --root "$host"
}
check "bad settings end a service with 2" bad_settings_end_it

# -- Its end ---------------------------------------------------------------------

a_worker_that_starts_again_is_bound() {
    end_worker "$second" && becomes logged "process $second (engine), gpu1: ended" &&
        start_engine_on 7 && second=$worker && becomes is_on "$second" "$b"
}
check "a worker that ends and starts again is bound" a_worker_that_starts_again_is_bound

a_killed_service_goes_on() {
    kill_service
    is_on "$first" "$a" && move_to "$b" "$first" && start_service &&
        becomes is_on "$first" "$a" && becomes is_on "$second" "$b"
}
check "a service that was killed goes on where it was" a_killed_service_goes_on

restore_ends_it_if_asked() {
    says 0 "the service (process $service) was ended by this command" \
        "$CPUBIND" restore --all --service && is_on "$first" "$before" &&
        is_on "$second" "$before" && [ ! -e $socket ] && wait "$service" &&
        logged "signal 15 of process " && service=
}
check "restore --all --service ends it, puts all back, and each says so" \
    restore_ends_it_if_asked

sigterm_leaves_all_bound() {
    start_service && becomes is_on "$second" "$b" && end_service TERM && is_on "$first" "$a" &&
        [ ! -e $socket ]
}
check "SIGTERM ends the service and leaves all bound" sigterm_leaves_all_bound

the_end_restores_if_asked() {
    rm -f "$prom" && settings 'restore-at-end = yes' "textfile = $prom" && start_service &&
        becomes metric 'cpubind_device_workers{device="0000:01:00.0"} 1' &&
        is_on "$first" "$a" &&
        end_service TERM && is_on "$first" "$before" &&
        logged "process $first (worker), gpu0: put back"
}
check "restore-at-end puts all back" the_end_restores_if_asked
every_setting="$every_setting
restore-at-end = yes"

# -- Which processes -------------------------------------------------------------

# One process of both devices: it has no device of its own in the figures.
a_process_of_several_devices() {
    start_worker 3</dev/nvidia5 4</dev/nvidia7 5</dev/nvidia-uvm && third=$worker
    rm -f "$prom"
    settings "textfile = $prom" && start_service &&
        becomes metric 'cpubind_device_workers{device="several"} 1' &&
        metric 'cpubind_device_workers{device="0000:01:00.0"} 1' && end_worker "$third" &&
        becomes logged "process $third (worker), 2 devices: ended" && end_service TERM
}
check "a process of several devices has figures of its own" a_process_of_several_devices

# Two processes of one device have parts of its pool, which is both CPUs.
two_workers_share_a_device() {
    cp -r "$host" "$out/one" && rm -r "$out/one/sys/bus/pci/devices/0000:02:00.0" &&
        put_one_node "$out/one" && settings && start_on 5 && third=$worker &&
        start_service --root "$out/one" && becomes is_on "$first" "$a" &&
        becomes is_on "$third" "$b" && end_service TERM && end_worker "$third"
}
check "two workers of one device share its pool" two_workers_share_a_device

only_chooses() {
    settings 'only = eng*' && start_service &&
        becomes logged "process $first (worker), gpu0: left" && kill -USR2 "$second" &&
        becomes is_on "$second" "$b" && reload 'only = eng*' 'only = work?r' &&
        becomes is_on "$first" "$a" && end_service TERM
}
check "only chooses the processes" only_chooses

# The settings of the first step of a roll-out.
watches_only() {
    rm -f "$prom"
    settings 'except = *' "textfile = $prom" && start_service &&
        becomes logged "process $first (worker), gpu0: left" && is_on "$first" "$before" &&
        becomes metric 'cpubind_threads{device="0000:01:00.0",place="unbound"} 1' &&
        metric 'cpubind_threads{device="0000:01:00.0",place="right"} 0' && end_service TERM &&
        is_on "$first" "$before"
}
check "except = * watches only" watches_only

# One has a mask of its own, one is moved time after time: both are left where they are.
is_moved_and_left() {
    move_to "$a" "$second" && logged "process $second (engine), gpu1: left" >"$out/other"
}

masks_of_their_own_are_respected() {
    move_to "$b" "$first" && settings 'respect-masks = yes' && start_service &&
        becomes is_on "$second" "$b" && logged "process $first (worker), gpu0: left" &&
        becomes is_moved_and_left && move_to "$a" "$second" && stays is_on "$second" "$a" &&
        is_on "$first" "$b" && end_service TERM && move_to "$before" "$first" "$second"
}
check "respect-masks leaves masks that others have set" masks_of_their_own_are_respected

# As where a filter hides which program a process runs.
a_hidden_program_is_said() {
    LD_PRELOAD=$programs/proc_shim CPUBIND_HIDES=exe
    export LD_PRELOAD CPUBIND_HIDES
    settings 'except = bash' && start_service
    result=$?
    unset LD_PRELOAD CPUBIND_HIDES
    [ $result -eq 0 ] && becomes logged "its program may not be read (/proc/$first/exe): only and \
except compare its name alone" && becomes is_on "$first" "$a" && end_service TERM
}
check "a program that may not be read is said" a_hidden_program_is_said

# -- Probes, and troubles of the host --------------------------------------------

probe() { # exit status, what is asked, sentence
    "$CPUBIND" service "$conf" --ask "$2" >"$out/said" 2>&1
    [ $? -eq "$1" ] && grep -q -e "$3" "$out/said"
}

# A host without a plan is alive and not ready, and is tried again; a stopped service is
# neither.
probes_tell_alive_from_ready() {
    probe 1 alive "no service can be asked at $socket: No such file" &&
        settings 'any-arch = yes' && mv "$host/sys" "$host/away" && start_service &&
        becomes grep -q . "$out/service.log" &&
        probe 0 alive "^the service (process $service) goes on: its last turn was [0-9]*\.[0-9] s ago$" &&
        probe 1 ready "; it has not looked at the workers of this host yet$" &&
        mv "$host/away" "$host/sys" && becomes probe 0 ready "goes on" &&
        becomes is_on "$first" "$a" && kill -STOP "$service" &&
        becomes probe 1 alive "the service.* does not answer: it is stopped or hangs .*$" &&
        kill -CONT "$service" && becomes probe 0 alive "goes on" && end_service TERM &&
        says 2 "leave out --check" "$CPUBIND" service --ask alive --check
}
check "probes tell a service that goes on from one that is ready; a host without a device is \
tried again" probes_tell_alive_from_ready

a_full_disk_stops_nothing() {
    mkdir "$out/small" && mount -t tmpfs -o size=4k tmpfs "$out/small" &&
        head -c 4096 /dev/zero >"$out/small/zero" &&
        settings "textfile = $out/small/a.prom" && start_service &&
        becomes logged "the textfile could not be written" && move_to "$b" "$first" &&
        becomes is_on "$first" "$a" &&
        [ "$(grep -c 'could not be written' "$out/service.log")" -eq 1 ] &&
        rm "$out/small/zero" && becomes test -s "$out/small/a.prom" && end_service TERM
}
check "a full disk is said once and stops nothing" a_full_disk_stops_nothing

# Who reads its messages may end before it.
lives_without_a_reader() {
    kill_service
    last_socket=$(stat -c %i $socket 2>/dev/null)
    settings && mkfifo "$out/pipe" || return 1
    head -c 1 <"$out/pipe" >"$out/other" &
    "$CPUBIND" service "$conf" --root "$host" 2>"$out/pipe" &
    service=$!
    becomes has_own_socket && kill -HUP $service && sleep 0.3 &&
        says 0 "" "$CPUBIND" status --json && [ "$(json .service.pid)" = $service ]
}
check "a service lives on when nobody reads its messages" lives_without_a_reader

# A file of settings that is young is read once more, a little later.
waits_with_a_signal() {
    kill_service
    last_socket=$(stat -c %i $socket 2>/dev/null)
    settings && touch "$conf" || return 1
    "$CPUBIND" service "$conf" --root "$host" 2>"$out/service.log" &
    service=$!
    becomes waits_for_nothing && kill -HUP $service && becomes has_own_socket &&
        becomes logged "are in force" && becomes is_on "$first" "$a" && end_service TERM
}

waits_for_nothing() { # or has begun
    grep -qE '^(7|73) 0x0 0x0 ' /proc/$service/syscall || has_own_socket
}
check "SIGHUP while a service starts is obeyed when it has started" waits_with_a_signal

# Both signals wait: the service ends before it has looked at any worker by its new settings.
is_told_to_end_while_it_reloads() {
    settings && start_service && becomes is_on "$first" "$a" && kill -STOP $service &&
        kill -HUP $service && kill -TERM $service && kill -CONT $service && wait $service &&
        service= && is_on "$first" "$before"
}
check "a service that ends with its new settings puts back what it had bound" \
    is_told_to_end_while_it_reloads

lines_have_priorities_in_a_journal() {
    : >"$out/service.log"
    JOURNAL_STREAM=$(stat -c %d:%i "$out/service.log")
    export JOURNAL_STREAM
    settings && start_service
    unset JOURNAL_STREAM
    becomes grep -q "^<[4-6]>process $first (worker), gpu0: " "$out/service.log" &&
        end_service TERM && logged "<6>process $first (worker), gpu0: put back" &&
        ! grep -v '^<[3-6]>' "$out/service.log"
}
check "lines have priorities in the journal" lines_have_priorities_in_a_journal
end_worker "$first" "$second"

# NPUs have their numbers in another pid namespace; the GPU beside them is bound.
the_others_of_a_host_with_npus() {
    gpus=$host
    host=$out/mixed
    "$CPUBIND" fixture export gpu-beside-npu "$host" --quiet
    put proc/driver/nvidia/gpus/0000:61:00.0/information "Device Minor: 	 5"
    put sys/bus/pci/devices/0000:61:00.0/local_cpulist "$a"
    put_gpu_drivers "$host" && settings 'any-arch = yes' && start_on 5 && start_service &&
        becomes logged "process $worker (worker), gpu0: " && is_on "$worker" "$a" &&
        end_service TERM && end_worker
    result=$?
    host=$gpus
    return $result
}
check "the service binds the workers of a GPU beside NPUs" the_others_of_a_host_with_npus

# The command reads this machine: its bus is that of the test, its other classes are hidden.
doctor_judges_workers() {
    amd=sys/bus/pci/devices/0000:03:00.0
    put $amd/vendor 0x1002
    put $amd/device 0x74a1
    put $amd/class 0x120000
    put $amd/numa_node 0
    put $amd/drm/renderD128/dev 1:7
    mkdir -p "$out/class/kfd/kfd" "$out/class/net" && echo 1:9 >"$out/class/kfd/kfd/dev" &&
        mount --bind "$out/class" /sys/class &&
        start_worker OMP_PROC_BIND=true 3</dev/full 4</dev/urandom || return 1
    "$CPUBIND" doctor --json >"$out/said" 2>"$out/err"
    umount /sys/class && fits doctor && sqlite3 :memory: "SELECT value ->> 'evidence',
        value ->> 'pci', value ->> 'device', value ->> 'pid'
        FROM json_each(readfile('$out/said'), '\$.findings')
        WHERE value ->> 'check' = 'omp_proc_bind'" >"$out/found"
    cat "$out/found"
    grep -qxF "process $worker, which drives gpu0, was started with OMP_PROC_BIND=true|\
0000:03:00.0|gpu0|$worker" "$out/found"
}
check "doctor judges the workers of a device" doctor_judges_workers
finish
