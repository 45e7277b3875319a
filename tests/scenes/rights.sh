#!/bin/sh
# rights.sh - what apply says and leaves where it may not do all: users, filters, containers
# SPDX-License-Identifier: MIT
# runs: check
. tests/scenes/lib.sh
use_npus

# -- Users -----------------------------------------------------------------------

# shellcheck disable=SC2086
another_users_process() {
    refuses 4 "it belongs to another user: run it as root, with the capability SYS_NICE; all is as before" $user "$CPUBIND" \
        apply --pid "$worker" $host --device npu0 --memory none &&
        grep -q "^cpubind: thread $worker (worker) cannot be put on" \
            "$out/err" && all_is_free && apply --device npu0 &&
        says 0 "process $worker, npu0: as it should be" $user "$CPUBIND" verify \
            --pid "$worker" $host --device npu0
}
check_users_worker "a process of another user is refused" another_users_process

# The environment of a process that is not dumpable is not known to its own user.
unread_environment() {
    $user /usr/bin/python3 -c 'import ctypes, time
ctypes.CDLL(None).prctl(4, 0)
print("ready", flush=True); time.sleep(100)' >"$out/python" &
    worker=$!
    becomes grep -q ready "$out/python" &&
        says 0 "the environment of process $worker may not be read (Permission denied)" \
            $user "$CPUBIND" apply --pid "$worker" --fixture a2-192cpu-8npu --allowed 0-191 \
            --device npu0 --memory none && $user "$CPUBIND" restore --pid "$worker"
}
if $user /usr/bin/python3 -c pass 2>"$out/python"; then
    check_user "an environment that may not be read is not known" unread_environment
else
    skip "an environment that may not be read" "an ordinary user cannot run python3"
fi

# shellcheck disable=SC2086
hidden_process() {
    refuses 3 "process $worker: it is hidden from this user (/proc is mounted with hidepid)" \
        unshare -m sh -c 'mount -t proc -o hidepid=2 proc /proc && exec "$@"' sh $user \
        "$CPUBIND" apply --pid "$worker" $host --device npu0 --memory none && all_is_free
}
check_users_worker "a process that hidepid hides is refused" hidden_process

# -- Containers ------------------------------------------------------------------

# The sanitizers read their options from there: without them they end the command in their way.
# shellcheck disable=SC2086
empty_proc() {
    unshare -m sh -c 'mount -t tmpfs tmpfs /proc && exec "$@"' sh "$CPUBIND" apply \
        --pid "$worker" $host --device npu0 --memory none >"$out/said" 2>"$out/err"
    [ $? -ne 0 ] && said "/proc is not mounted here, or is empty" && all_is_free
}
check_worker "an empty /proc is named" empty_proc

another_namespace() {
    for command in "apply $host --device npu0" verify restore; do
        # shellcheck disable=SC2086
        refuses 1 "process $worker: there is no such process here; a process of a container has another number outside of it" \
            unshare -p -f --mount-proc "$CPUBIND" $command --pid "$worker" || return 1
    done
    all_is_free
}
check_worker "a process of another pid namespace is not found" another_namespace

# Threads are bound, and a warning names each part that is skipped.
# shellcheck disable=SC2086
no_sys() {
    says 0 "npu0" unshare -m sh -c 'mount -t tmpfs tmpfs /sys && exec "$@"' sh "$CPUBIND" \
        apply \
        --pid "$worker" $host --device npu0 && is_at worker $main && is_at acl_thread $acl &&
        said 'cpubind: warning: no interrupt is bound: the kernel lists no interrupts' &&
        said 'cpubind: warning: memory ' && restore &&
        refuses 4 "no interrupt can be bound: " apply --device npu0 --strict && all_is_free
}
check_worker "without /sys threads are bound and the rest is a warning" no_sys acl_thread

narrow_cpuset() {
    CPUBIND_SHIM_CPUSET=0-155 says 4 \
        "its cpuset allows some of them only; plan inside of it: --allowed LIST" \
        apply --device npu0 --strict && no_record && is_on "$worker" 0-155 &&
        rm -f "$CPUBIND_SHIM"/[0-9]* &&
        CPUBIND_SHIM_CPUSET=0-63 says 4 "none of its CPUs is online and in its cpuset" apply \
            --device npu0 &&
        no_record && rm -f "$CPUBIND_SHIM"/[0-9]* &&
        CPUBIND_SHIM_CPUSET=0-155 says 0 \
            "warning: thread $worker (worker) is not on all of its CPUs, $main: its cpuset allows" \
            apply --device npu0 && is_on "$worker" 146-155 && restore
}
check_worker "a cpuset narrower than the plan is refused" narrow_cpuset

# -- Filters of system calls -----------------------------------------------------

# shellcheck disable=SC2086
filter_of_setaffinity() {
    refuses 4 "a filter of system calls (seccomp) forbids sched_setaffinity here; all is as before" \
        "$programs/deny" sched_setaffinity "$CPUBIND" apply --pid "$worker" $host --device npu0 \
        --memory none && all_is_free
}

filter_of_getaffinity() {
    apply --device npu0 && refuses 4 "sched_getaffinity: Operation not permitted" \
        "$programs/deny" sched_getaffinity "$CPUBIND" verify --pid "$worker"
}

"$programs/deny" sched_setaffinity true 2>"$out/other"
if [ $? -eq 77 ]; then
    skip "seccomp refuses" "no filter can be set here"
else
    check_worker "seccomp refuses sched_setaffinity" filter_of_setaffinity
    check_worker "seccomp refuses sched_getaffinity" filter_of_getaffinity
fi
finish
