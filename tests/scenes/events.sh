#!/bin/sh
# events.sh - a watch that the kernel tells of births, names and programs; prints TAP
# SPDX-License-Identifier: MIT
# runs: check
# pids: shared
#
# The kernel tells the first pid namespace alone. A period of the watches here is ten minutes: what
# is placed is placed because of an event. On NPU 0 main is on 26-33, acl on 34, release on 35.
. tests/scenes/lib.sh
use_driver_host
trap 'end_all_but 2>/dev/null' EXIT

# A worker on an NPU, which the driver lists.
start_listed() { # NPU, argument of the worker ...
    on_npu=$1
    shift
    start_worker "$@" && : >"$list/$worker-1-dev-$on_npu"
}

# Its words are in $out/watched.
period=600
watch() { # argument ...
    : >"$out/watched"
    "$CPUBIND" apply --root "$host" --allowed 0-47 --rules reference --memory none --watch $period \
        "$@" >"$out/watched" 2>&1 &
    watcher=$!
}

end_watch() {
    kill "$watcher"
    wait "$watcher" 2>"$out/wait"
    says 0 "put back" "$CPUBIND" restore --all && rm -f "$list"/*
}

tell() { # name of a thread, CPUs: after the next word of the worker
    kill -USR1 "$worker" && becomes is_at "$1" "$2"
}

births_and_names() {
    start_listed 0 plain -- acl_thread plain=release_thread release_thread=plain && watch --pid \
        "$worker" && becomes is_at plain 26-33 && tell acl_thread 34 && tell release_thread 35 &&
        tell plain 26-33
}

# Another program may have any threads: all are looked at.
another_program() {
    start_listed 0 -x "$programs/worker" plain && watch --pid "$worker" &&
        becomes is_on "$worker" 26-33 && kill -STOP "$watcher" && move_to 0-47 "$worker" && kill -USR2 "$worker" &&
        becomes has_threads "$worker" 1 && kill -CONT "$watcher" && becomes is_on "$worker" 26-33
}

# The watch does not read them for a while, and the kernel has no room for all. The first event is
# not among these: with it, all threads are looked at.
more_than_there_is_room_for() {
    python3 -c 'import os, signal, threading, time
usr1 = {signal.SIGUSR1}
signal.pthread_sigmask(signal.SIG_BLOCK, usr1)
thread = threading.Thread(target=time.sleep, args=(600,))
thread.start()
def rename(tid, name):
    with open(f"/proc/self/task/{tid}/comm", "w") as comm:
        comm.write(name)
print("ready", flush=True)
signal.sigwait(usr1)
rename(thread.native_id, "release_thread")
signal.sigwait(usr1)
for _ in range(30000):
    rename(os.getpid(), "other")
rename(thread.native_id, "acl_thread")' >"$out/python" &
    worker=$!
    becomes grep -q ready "$out/python" && : >"$list/$worker-1-dev-0" &&
        watch --pid "$worker" && becomes is_on "$worker" 26-33 &&
        tell release_thread 35 && kill -STOP "$watcher" && kill -USR1 "$worker" &&
        becomes thread_named acl_thread && kill -CONT "$watcher" && becomes is_at acl_thread 34
}

# Threads are born all the time, and a period ends all the same: a move makes no event. The record
# has lines of 256 that have ended, at most, and of some that were born since.
a_storm() {
    period=1
    start_listed 0 -c 1 plain && watch --pid "$worker" && becomes is_at plain 26-33 &&
        move_to 0-47 "$(thread_named plain)" && becomes is_at plain 26-33 && sleep 1 &&
        [ "$(grep -c ^thread "/run/cpubind/$worker.record")" -lt 280 ]
    result=$?
    period=600
    return $result
}

# One stream of events for all workers: each is about one of them, and a new worker is seen.
all_of_a_host() {
    start_listed 0 -- acl_thread && first=$worker && start_listed 3 -- acl_thread && second=$worker &&
        watch --all && becomes is_on "$first" 26-33 && becomes is_on "$second" 14-21 &&
        tell acl_thread 22 && worker=$first && tell acl_thread 34 && start_listed 1 -- acl_thread &&
        becomes is_on "$worker" 38-45 && tell acl_thread 46
}

check_watched() { # text, command
    check "$1" "$2"
    end_watch >"$out/left" 2>&1
    end_all_but 2>"$out/left"
}

start_listed 0 && watch --pid "$worker" && becomes is_on "$worker" 26-33 >"$out/left"
if grep -q "the kernel sends no events" "$out/watched"; then
    skip_all "the kernel sends no events here"
fi
end_watch >"$out/left" 2>&1
end_all_but 2>"$out/left"
check_watched "a birth and a name are acted on at once" births_and_names
check_watched "another program in the process is looked at whole" another_program
check_watched "lost events make the watch look at all threads" more_than_there_is_room_for
check_watched "a storm of events does not put off the end of a period" a_storm
check_watched "an event is acted on for the process that it is about" all_of_a_host
finish
