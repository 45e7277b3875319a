#!/bin/sh
# watch.sh - apply --watch: new threads, drift, its end; one cpubind at a time on a process
# SPDX-License-Identifier: MIT
# runs: check
# machines: yes
. tests/scenes/lib.sh
use_npus

one_at_a_time() {
    start_watch --device npu0 && becomes watched "process $worker" &&
        refuses 1 "another cpubind is at work on process $worker" apply --device npu5 &&
        said "it is process $watcher; " &&
        says 0 "as it should be" verify && is_on "$worker" $main
    result=$?
    kill "$watcher"
    wait "$watcher"
    [ $result -eq 0 ] && watched "the watch has ended; process $worker stays bound" &&
        says 0 "put back" restore && all_is_free
}
check_worker "one cpubind at a time works on a process" one_at_a_time

restore_ends_a_watch() {
    for signal in CONT STOP; do
        start_watch --device npu0 && becomes watched "process $worker" && kill -$signal "$watcher" &&
            says 0 "put back" restore && all_is_free || return 1
        wait "$watcher"
        [ $? -eq 143 ] || return 1 # SIGTERM
    done
}
check_worker "restore ends a watch, stopped or not" restore_ends_a_watch

# The kernel gives a thread the CPUs of the one that starts it, the shim all. A thread that is seen
# before it has its name goes to the main CPUs first.
acl_thread_was_moved() {
    thread=$(thread_named acl_thread)
    watched "thread $thread (acl_thread): $main -> $acl, moved" ||
        watched "thread $thread (acl_thread): $all -> $acl, moved"
}

catches_new_threads_and_drift() {
    start_watch --device npu0 && becomes is_on "$worker" $main && kill -USR1 "$worker" &&
        becomes thread_named late_thread &&
        kill -USR1 "$worker" && becomes is_at late_thread $main &&
        becomes is_at acl_thread $acl &&
        becomes acl_thread_was_moved &&
        move_to "$elsewhere" "$worker" && becomes is_at worker $main &&
        becomes watched "thread $worker (worker): $elsewhere -> $main, moved"
}
check_worker "--watch catches new threads and drift" catches_new_threads_and_drift \
    -- late_thread acl_thread

watch_ends_with_the_process() {
    # One that ends while it is bound is another case: nothing is watched then.
    start_watch --device npu0 --quiet && becomes is_on "$worker" $main &&
        becomes says 0 "as it should be" verify || return 1
    end_worker
    wait "$watcher" && cat "$out/watched" && [ "$(wc -l <"$out/watched")" -eq 3 ] &&
        says 0 "process $worker: " restore && no_record
}
check_worker "--watch ends with the process" watch_ends_with_the_process
finish
