#!/bin/sh
# kernel.sh - CPUs go offline, cpusets change, threads refuse, numbers are given again; prints TAP
# SPDX-License-Identifier: MIT
# runs: check
# shellcheck disable=SC2046,SC2086,SC3045 # lists are split on purpose
#
# The masks are those of a model of the kernel (programs/affinity_shim.c), since Linux 6.2 and
# before. The CPUs of main are 2-3, that of acl is 4.
. tests/scenes/lib.sh
use_shim 8
host=$out/root
put proc/self/status "Cpus_allowed_list:	0-7"
put sys/devices/system/cpu/online 0-7
put sys/devices/system/node/node0/cpulist 2-4
put sys/devices/system/node/node1/cpulist 0-1,5-7
put uname x86_64
put_gpu 0000:01:00.0 0
host="--root $host --allowed 2-4 -o roles=0,2,1,0 -o thread=acl_thread=4"
cpus=/sys/devices/system/cpu
mount -t tmpfs tmpfs $cpus || skip_all "there is no $cpus here"
mkdir $cpus/cpu2 $cpus/cpu3 $cpus/cpu4

# For the model, and the files of the kernel.
online() { # CPUs, those of 2-4 that are not
    echo "$1" >"$CPUBIND_SHIM/online"
    echo "$1" >$cpus/online
    for cpu in 2 3 4; do echo 1 >$cpus/cpu$cpu/online; done
    for cpu in $2; do echo 0 >$cpus/cpu$cpu/online; done
}

# Before 6.2 all threads have all of it then.
cpuset() { # CPUs
    echo "$1" >"$CPUBIND_SHIM/cpuset"
    [ ! -e "$CPUBIND_SHIM/old" ] || move_to "$1" $(ls "/proc/$worker/task")
}

refuse() { # errno, thread ...
    refused_by=$1
    shift
    for refusing in "$@"; do echo "$refused_by" >"$CPUBIND_SHIM/$refusing.error"; done
}

check_kernel() { # text, command, argument of the worker ...
    rm -rf "${CPUBIND_SHIM:?}"/*
    online 0-7
    [ $linux = 6.2 ] || : >"$CPUBIND_SHIM/old"
    check_worker "$@"
}

# -- What is expected ------------------------------------------------------------

thread() { # name, has, result
    thread_should=2-3
    [ "$1" != acl_thread ] || thread_should=4
    items "name = '$1' AND was = '$2' AND should = '$thread_should' AND result = '$3'" 1
}

verified() { # exit status, of main: has, result; of acl: has, result
    says "$1" "" verify --json && thread worker "$2" "$3" && thread plain "$2" "$3" &&
        thread acl_thread "$4" "$5"
}

all_are_right() {
    verified 0 2-3 right 4 right
}

are_at() { # CPUs of main, of acl
    is_at worker "$1" && is_at plain "$1" && is_at acl_thread "$2"
}

put_back() {
    says 0 "put back" restore && all_is_free
}

watch() {
    start_watch && becomes are_at 2-3 4 && becomes watched "end of a period" 1
}

end_watch() {
    kill "$watcher"
    wait "$watcher"
    put_back
}

# -- CPUs that go and come -------------------------------------------------------

offline='(plain) is not on all of its CPUs, 2-3: some of its CPUs are offline'

a_watch_follows_them() {
    watch && online 0-2,4-7 3 && becomes watched "$offline" 1 && verified 0 2 part 4 right &&
        sleep 1.5 && watched "$offline" 1 && online 0-7 && all_are_right || return 1
    # A thread whose only CPU is offline shares main.
    online 0-3,5-7 4 && becomes is_at acl_thread 2-3 && verified 0 2-3 right 2-3 part &&
        online 0-7 && becomes is_at acl_thread 4 && all_are_right || return 1
    cpuset 0-2,5-7 && becomes watched "its cpuset allows some of them only" 1 &&
        becomes verified 1 2 wrong 2 wrong && cpuset 0-7 && becomes are_at 2-3 4 &&
        all_are_right && cpuset 5-6 &&
        becomes watched "(plain), CPUs 2-3: none of its CPUs is online and in its cpuset" 1 &&
        cpuset 0-7 && becomes are_at 2-3 4 && end_watch
}

apply_and_restore_work_meanwhile() {
    online 0-2,5-7 "3 4" && says 0 "" apply --json && thread acl_thread 0-2,5-7 part &&
        thread plain 0-2,5-7 part && says 0 "put back" restore && online 0-7 && all_is_free &&
        says 0 "" apply && online 0-1,5-7 "2 3 4" && verified 0 none part none part &&
        says 0 "put back" restore && online 0-7 && all_is_free
}

# One that had all CPUs has all of them again, also those that were not there at first.
restore_gives_the_widest_mask() {
    plain=$(thread_named plain)
    online 0-6 && says 0 "" apply && says 0 "" restore && online 0-7 && all_is_free &&
        cpuset 0-5 && move_to 0-1 "$plain" && says 0 "" apply && are_at 2-3 4 &&
        cpuset 0-7 && says 0 "" restore && is_at worker 0-7 && is_at acl_thread 0-7 &&
        is_at plain 0-1
}

# The kernel moves a thread by force where its cpuset has none of its CPUs any more, and gives
# them back with the cpuset: restore leaves it without a mask of the binding.
what_the_kernel_has_moved_is_free() {
    for now in 5-6 3,6 4,7 0-1,3-7; do
        says 0 "" apply && cpuset $now && is_put_back && cpuset 0-7 && all_is_free || return 1
    done
    watch && cpuset 5-6 && becomes watched "none of its CPUs is online and in its cpuset" 1 &&
        kill "$watcher" && wait "$watcher"
    is_put_back && cpuset 0-7 && all_is_free || return 1
    # The last of its CPUs goes offline, and it is asked to run: it has all then. Before 6.2 it
    # can have no more than the CPUs that are online.
    [ $linux = 6.1 ] && return
    says 0 "" apply && online 0-1,5-7 "2 3 4" && move_to 0-7 $(ls "/proc/$worker/task") &&
        is_put_back && online 0-7 && all_is_free
}

is_put_back() {
    says 0 "put back" restore && ! grep -qF "somebody else" "$out/err" && no_record
}

# A thread that had a mask of its own has it again if its cpuset still has some of it, else all.
restore_in_a_narrower_cpuset() {
    plain=$(thread_named plain)
    move_to 6 "$plain" && says 0 "" apply && cpuset 5-6 && is_put_back && cpuset 0-7 &&
        is_at plain 6 && is_at worker 0-7 && says 0 "" apply && cpuset 0-3 &&
        move_to 0-3 "$plain" && is_put_back && is_at plain 0-7
}

# lxcfs gives a container a file of its own, with other numbers, which may be those of its CPUs.
another_list_is_not_believed() {
    echo 0-2 >$cpus/online
    says 0 "" apply --json && thread plain 0-7 moved && all_are_right && put_back &&
        move_to 0-2 $(ls "/proc/$worker/task") && says 0 "" apply && all_are_right &&
        says 0 "put back" restore && cpuset 0-2 &&
        says 0 "its cpuset allows some of them only" apply && says 0 "put back" restore
}

for linux in 6.1 6.2; do
    check_kernel "a watch follows CPUs that go offline and cpusets that change (Linux $linux)" \
        a_watch_follows_them acl_thread plain
    check_kernel "what the kernel has moved by force is bound no more after restore (Linux $linux)" \
        what_the_kernel_has_moved_is_free acl_thread plain
done
check_kernel "apply and restore work while CPUs are offline" apply_and_restore_work_meanwhile \
    acl_thread plain
check_kernel "restore gives all CPUs to those that had all" restore_gives_the_widest_mask \
    acl_thread plain
check_kernel "restore in a narrower cpuset gives what it allows" restore_in_a_narrower_cpuset \
    acl_thread plain
check_kernel "a list of online CPUs that is not the kernel's is not believed" \
    another_list_is_not_believed acl_thread plain

# -- Threads that refuse, and threads of others ----------------------------------

# EBUSY is a thread of SCHED_DEADLINE.
the_rest_is_done() {
    plain=$(thread_named plain)
    for error in "16 SCHED_DEADLINE" "13 security module"; do
        refuse "${error%% *}" "$plain" && says 0 "${error#* }" apply --json &&
            thread plain 0-7 skipped && is_at acl_thread 4 && is_at plain 0-7 &&
            says 0 "" restore && says 4 "all is as before" apply --strict && all_is_free ||
            return 1
    done
    start_watch
    becomes is_at acl_thread 4 && sleep 2 && rm "$CPUBIND_SHIM/$plain.error" &&
        becomes are_at 2-3 4 && watched "tries again" 1 && end_watch
}

# The main thread, and one that a rule names.
threads_that_count() {
    for thread in worker acl_thread; do
        for error in "16 SCHED_DEADLINE" "13 security module"; do
            refuse "${error%% *}" "$(thread_named $thread)" && says 4 "${error#* }" apply &&
                said "all is as before" && all_is_free && rm "$CPUBIND_SHIM"/*.error || return 1
        done
    done
}

# What cannot be bound to another goal stays where the first one has put it.
the_first_goal_stays() {
    says 0 "" apply && refuse 16 "$(thread_named plain)" &&
        says 4 "SCHED_DEADLINE" apply --strict -o roles=0,1,2,0 && are_at 2-3 4 &&
        all_are_right && rm "$CPUBIND_SHIM"/*.error && put_back
}

nothing_can_be_moved() {
    refuse 16 $(ls "/proc/$worker/task") && says 4 "SCHED_DEADLINE" apply &&
        all_is_free
}

somebody_else_has_moved_it() {
    says 0 "" apply && move_to 6-7 "$(thread_named plain)" &&
        says 0 "" restore --json && thread_kept plain 6-7 && is_at plain 6-7 &&
        is_at worker 0-7 && no_record
}

thread_kept() { # name, has
    items "name = '$1' AND was = '$2' AND should = '0-7' AND result = 'kept'" 1
}

# /run is full when a thread is born: one on CPUs of its own could not be put back.
a_thread_waits_for_its_record() {
    mount -t tmpfs -o mode=755,size=64k tmpfs /run/cpubind && watch &&
        kill -STOP "$watcher" && kill -USR1 "$worker" && becomes thread_named born && kill -USR1 "$worker" &&
        becomes thread_named own && move_to 2-3 "$(thread_named born)" &&
        move_to 0,7 "$(thread_named own)" || return 1
    head -c 100000 /dev/zero >/run/cpubind/much
    kill -CONT "$watcher" && becomes watched "No space left on device" 1 && is_at own 0,7 &&
        rm /run/cpubind/much && becomes is_at own 2-3 && kill "$watcher" && wait "$watcher"
    says 0 "put back" restore && is_at own 0,7 && is_at born 0-7 && umount /run/cpubind
}

# Before its CPUs are read, for the first and the second time, and before they are read again.
a_thread_ends_meanwhile() {
    for look in 0 1 2; do
        kill -USR1 "$worker" && becomes thread_named acl_thread && tid=$(thread_named acl_thread) &&
            given $look && says 0 "" apply --quiet && is_on "$worker" 2-3 &&
            [ "$(cat "$CPUBIND_SHIM/ends")" = 0 ] && says 0 "put back" restore && all_is_free ||
            return 1
    done
}

# A thread ends, and another process gets its number before the move.
a_number_is_given_again() {
    echo 0,2,5,7 >"$CPUBIND_SHIM/stranger"
    for when in apply watch restore; do
        kill -USR1 "$worker" && becomes thread_named acl_thread && tid=$(thread_named acl_thread) ||
            return 1
        [ $when = apply ] || says 0 "" apply --quiet || return 1
        case $when in
        apply) given 1 && says 0 "" apply --quiet ;;
        watch)
            watch && move_to 1 "$tid" && given 1 && becomes grep -qx 0 "$CPUBIND_SHIM/ends" &&
                becomes is_strangers && sleep 1 && kill "$watcher"
            wait "$watcher"
            ;;
        restore) given 0 && says 0 "" restore --quiet ;;
        esac
        is_strangers && ! thread_named acl_thread || return 1
        rm "$CPUBIND_SHIM/$tid"
        [ $when = restore ] || says 0 "put back" restore || return 1
        all_is_free || return 1
    done
}

given() { # after how many looks
    echo "$1" >"$CPUBIND_SHIM/ends.after"
    echo "$tid" >"$CPUBIND_SHIM/ends"
}

is_strangers() {
    [ "$(cat "$CPUBIND_SHIM/$tid")" = 0,2,5,7 ]
}

check_kernel "a thread that cannot be moved is named, and the rest is done" the_rest_is_done \
    acl_thread plain
check_kernel "without the threads that count nothing is bound" threads_that_count acl_thread plain
check_kernel "another goal that cannot be reached leaves the first" the_first_goal_stays \
    acl_thread plain
check_kernel "apply fails where no thread can be moved" nothing_can_be_moved acl_thread plain
check_kernel "what somebody else has moved stays, and is named" somebody_else_has_moved_it \
    acl_thread plain
check_kernel "a thread is moved when restore could put it back" a_thread_waits_for_its_record \
    acl_thread plain -- born own
check_kernel "a thread that ends meanwhile is no error" a_thread_ends_meanwhile \
    plain -- acl_thread acl_thread acl_thread
check_kernel "a number that another process got is noticed, and that undone" \
    a_number_is_given_again plain -- acl_thread acl_thread acl_thread

# -- Names -----------------------------------------------------------------------

# Here no event tells of them. One that is born when another one ends leaves the number of threads
# as it was.
names_and_births_are_seen() {
    watch && kill -USR1 "$worker" && becomes is_at other 2-3 && kill -USR1 "$worker" &&
        becomes is_at acl_thread 4 || return 1
    kill -STOP "$watcher" && kill -USR1 "$worker" && becomes has_threads "$worker" 2 &&
        kill -USR1 "$worker" && becomes thread_named late_one && kill -CONT "$watcher" &&
        becomes is_at late_one 4 && end_watch
}

seen_with_many_files() {
    names_and_births_are_seen
}

# A watch keeps half of its files for names at most.
seen_with_few_files() {
    n_file=$(ulimit -Sn)
    ulimit -Sn 16
    names_and_births_are_seen
    result=$?
    ulimit -Sn "$n_file"
    return $result
}

host="$host -o thread=late_one=4"
for files in few many; do
    check_kernel "a watch with $files files sees new names, and threads that come for others" \
        seen_with_${files}_files acl_thread plain -- acl_thread=other other=acl_thread \
        acl_thread= late_one
done
finish
