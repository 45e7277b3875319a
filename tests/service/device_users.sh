#!/bin/sh
# device_users.sh - test who counts as a user of an accelerator, by real processes; prints TAP
# SPDX-License-Identifier: MIT
#
#   tests/service/device_users.sh     from the top folder; BUILD has the command and outputs
#
# Forks, processes of Python's multiprocessing, containers, and strangers with files that are
# called as devices are. Two workers share the pool of one GPU, a CPU each: a third one would
# move both. strace counts what is written. It needs root, as device_service.sh does.
needs_own_run=yes
. tests/support/start.sh
. tests/support/device_host.sh

# One GPU, whose pool is both CPUs.
rm -r "$root/sys/bus/pci/devices/0000:02:00.0"
put sys/devices/system/node/node0/cpulist "$a,$b"
put sys/devices/system/node/node1/cpulist ""

# A command that is counted: the process is the command itself (-D), strace is its child.
cat >"$out/counted" <<'END'
#!/bin/sh
exec strace -D -A -f -qq -o "$out/calls" -e trace=sched_setaffinity -e signal=none "$command" "$@"
END
chmod 755 "$out/counted"
command=$CPUBIND
export out command

# Forks N children, which end and come again at each signal USR1, and writes how often they came
# to the file NAME.
cat >"$out/forker.c" <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void be_a_child(pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    signal(SIGUSR1, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    static pid_t child[1000];
    const pid_t own = getpid();
    const int n = argc > 2 ? atoi(argv[2]) : 0;
    char new_name[4096];
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    for (int turn = 1;; turn++) {
        int number;
        FILE *file;
        for (int i = 0; i < n; i++)
            if ((child[i] = fork()) == 0)
                be_a_child(own);
        snprintf(new_name, sizeof new_name, "%s.new", argv[1]);
        file = fopen(new_name, "w");
        if (!file || fprintf(file, "%d\n", turn) < 0 || fclose(file) != 0 ||
            rename(new_name, argv[1]) != 0 || sigwait(&set, &number) != 0)
            return 1;
        for (int i = 0; i < n; i++)
            kill(child[i], SIGKILL);
        for (int i = 0; i < n; i++)
            waitpid(child[i], NULL, 0);
    }
}
END
cc -std=c11 -D_DEFAULT_SOURCE -O1 -Wall -Wextra -Werror "$out/forker.c" -o "$out/forker" || exit 1

# -- Workers ---------------------------------------------------------------------

start_forker() { # number of children
    rm -f "$out/turn"
    "$out/forker" "$out/turn" "$1" 3</dev/nvidia5 5</dev/nvidia-uvm &
    forker=$!
    pids="$pids $forker"
    becomes 100 grep -qx 1 "$out/turn"
}

# All children end, and as many come.
turn() { # number of the turn
    kill -USR1 "$forker" && becomes 100 grep -qx "$1" "$out/turn"
}

children_of() { # pid
    cat "/proc/$1/task/$1/children"
}

# A process and all that it has forked.
all_are_on() { # pid, CPUs
    is_on "$1" "$2" || return 1
    for child in $(children_of "$1"); do
        is_on "$child" "$2" || return 1
    done
}

writes() { # pid: how often its mask was written
    grep -c "sched_setaffinity($1," "$out/calls"
}

# Without a service the host of the folder is asked.
says_children() { # pid, words or nothing
    "$CPUBIND" status --root "$root" >"$out/status" 2>"$out/err"
    grep -A 1 "^ *$1 " "$out/status" >"$out/row"
    if [ -n "$2" ]; then
        grep -qF -e "$2" "$out/row"
    else
        ! grep -q 'child' "$out/row"
    fi || {
        cat "$out/status"
        return 1
    }
}

is_bound_once() { # N
    [ "$(writes "$forker")" = 1 ] && [ "$(writes "$first")" -le 1 ] || {
        cat "$out/calls"
        return 1
    }
}


# -- Forks -----------------------------------------------------------------------

starts_counted() {
    : >"$out/calls"
    settings "textfile = $prom"
    CPUBIND=$out/counted
    start_service
    status=$?
    CPUBIND=$command
    return $status
}

under_the_service() { # N
    start_forker "$1" && starts_counted && becomes 100 is_on "$first" "$a" &&
        becomes 100 all_are_on "$forker" "$b" || return 1
    for number in 2 3 4; do
        turn $number && sleep 1 && all_are_on "$forker" "$b" && is_on "$first" "$a" || return 1
    done
    said "$forker" && ! said "share" && says_children "$forker" "$2" && is_bound_once &&
        end_service TERM && says_children "$forker" "$2" && puts_back
}

by_apply() { # N
    start_forker "$1" && : >"$out/calls" || return 1
    for number in 2 3 4; do
        "$out/counted" apply --all --root "$root" --json >"$out/apply" 2>"$out/apply.err" &&
            all_are_on "$forker" "$b" && is_on "$first" "$a" && turn $number &&
            all_are_on "$forker" "$b" || return 1
    done
    says_children "$forker" "$2" && is_bound_once && puts_back
}

# What the forks of a worker have is what it has, also when another worker ends or comes.
forks_follow() {
    start_forker 12 && starts_counted && becomes 100 all_are_on "$forker" "$b" && turn 2 &&
        end_worker "$first" && becomes 100 all_are_on "$forker" "$both" && start_worker 5 &&
        first=$worker && becomes 100 is_on "$first" "$b" && becomes 100 all_are_on "$forker" "$a" &&
        [ "$(writes "$forker")" -le 3 ] && puts_back && end_service TERM
}

# The forker is there before the other worker of its tree, and the parent of that one.
under_run_tree() { # N
    : >"$out/calls"
    rm -f "$out/turn" "$out/tree"
    # shellcheck disable=SC2016
    "$out/counted" run --tree --root "$root" -- sh -c '"$out/worker" 3</dev/nvidia5 \
        5</dev/nvidia-uvm & echo $$ $! >"$out/tree"
        exec "$out/forker" "$out/turn" "$1" 3</dev/nvidia5 5</dev/nvidia-uvm' \
        sh "$1" 2>"$out/said" &
    run=$!
    becomes 100 grep -qx 1 "$out/turn" && read -r forker worker <"$out/tree" &&
        pids="$pids $forker $worker" && becomes 100 is_on "$worker" "$b" &&
        becomes 100 all_forks_are_on "$a" || return 1
    for number in 2 3 4; do
        turn $number && sleep 1 && all_forks_are_on "$a" && is_on "$worker" "$b" || return 1
    done
    [ "$(writes "$forker")" = 1 ] && [ "$(writes "$worker")" = 1 ] &&
        says_children "$forker" "$2" && end_worker "$worker" && end_worker "$forker"
    status=$?
    wait "$run"
    return $status
}

# The other worker is a child of the forker, too, and no fork.
all_forks_are_on() { # CPUs
    for child in "$forker" $(children_of "$forker"); do
        [ "$child" = "$worker" ] || is_on "$child" "$1" || return 1
    done
}

puts_back() {
    "$CPUBIND" restore --all 2>"$out/err" && all_are_on "$forker" "$before" &&
        is_on "$first" "$before" && end_worker "$forker"
}

# -- Python's multiprocessing -------------------------------------------------------

cat >"$out/loader.py" <<'END'
import multiprocessing, os, sys, time

def use():
    return [os.open(name, os.O_RDWR) for name in ("/dev/nvidia5", "/dev/nvidia-uvm")]

def work(name, parent, uses):
    files = use() if uses else []
    with open(name + ".new", "w") as file:
        file.write("%d\n" % os.getpid())
    os.rename(name + ".new", name)
    while os.path.exists("/proc/%d/exe" % parent):
        time.sleep(0.1)

if __name__ == "__main__":
    files = use()
    method, n, uses = sys.argv[2], int(sys.argv[3]), sys.argv[4] == "uses"
    context = multiprocessing.get_context(method)
    for i in range(n):
        name = "%s.%d" % (sys.argv[1], i)
        context.Process(target=work, args=(name, os.getpid(), uses), daemon=True).start()
    time.sleep(1000)
END

# Starts a loader of data; has its pid in loader, those of the children in loaded.
start_loader() { # method, number of children, uses: each opens the device, too
    rm -f "$out"/loaded.*
    python3 "$out/loader.py" "$out/loaded" "$@" &
    loader=$!
    pids="$pids $loader"
    loaded=
    for i in $(seq 0 $(($2 - 1))); do
        becomes 300 test -s "$out/loaded.$i" && loaded="$loaded $(cat "$out/loaded.$i")" || return 1
    done
}

are_on() { # CPUs, pid ...
    cpus=$1
    shift
    for pid in "$@"; do
        is_on "$pid" "$cpus" || return 1
    done
}

# shellcheck disable=SC2086
ends_loader() {
    "$CPUBIND" restore --all 2>"$out/err" && is_on "$loader" "$before" &&
        are_on "$before" $loaded && end_worker "$loader"
}

applies() {
    "$CPUBIND" apply --all --root "$root" --json >"$out/apply" 2>"$out/apply.err"
}

# shellcheck disable=SC2086
forks_of_python() {
    start_loader fork 12 none && applies && is_on "$first" "$a" && are_on "$b" "$loader" $loaded &&
        says_children "$loader" "12 children share its pool" && ends_loader
}

# shellcheck disable=SC2086
others_of_python() { # method
    start_loader "$1" 2 none && applies && is_on "$first" "$a" && is_on "$loader" "$b" &&
        are_on "$before" $loaded && says_children "$loader" "" && ends_loader
}

# Each has executed a program since the loader was started, or was forked by one that has.
# shellcheck disable=SC2086
users_of_python() { # method
    start_loader "$1" 1 uses && applies && is_on "$loader" "$a" && are_on "$b" $loaded &&
        says_children "$loader" "" && grep -q "2 workers: 2 right" "$out/status" && ends_loader
}

# shellcheck disable=SC2086
one_of_python() {
    start_loader fork 1 uses && applies && are_on "$both" "$loader" $loaded &&
        says_children "$loader" "1 child shares its pool" && ends_loader
}

# -- Containers and strangers --------------------------------------------------------

# Holds a file with a descriptor that takes no right on it, and executes a command.
cat >"$out/by_path.c" <<'END'
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const int fd = argc > 2 ? open(argv[1], O_PATH) : -1;
    if (fd < 0 || dup2(fd, 3) != 3 || (fd != 3 && close(fd) != 0))
        return 1;
    execv(argv[2], argv + 2);
    return 1;
}
END
cc -std=c11 -D_DEFAULT_SOURCE -D_GNU_SOURCE -O1 -Wall -Wextra -Werror "$out/by_path.c" \
    -o "$out/by_path" || exit 1

# Starts a process with a /dev of its own: commands make what is there, others open it as
# descriptor 3. Has its pid in held, as /proc of this script has it, and what it waits for in
# holder.
start_container() { # words of unshare, commands that make, commands that open
    rm -f "$out/held"
    mkdir -p "$out/dev"
    # The words are split on purpose; the variables are those of the shell inside.
    # shellcheck disable=SC2016,SC2086
    unshare $1 sh -c '
        mount -t tmpfs tmpfs "$out/dev" && cd "$out/dev" && : >nvidia-uvm &&
            mount --bind /dev/nvidia-uvm nvidia-uvm && eval "$1" && mount --rbind . /dev &&
            read -r pid rest </proc/self/stat && echo "$pid" >"$out/held" &&
            exec 5<>/dev/nvidia-uvm && eval "$2" && exec "$out/worker" "$out/engine"' \
        sh "$2" "$3" &
    holder=$!
    becomes 100 test -s "$out/held" && held=$(cat "$out/held") && pids="$pids $held" &&
        becomes 100 grep -qx worker "/proc/$held/comm"
}

# What apply does to a process and to the worker beside it, and what status says.
is_judged() { # a user or a stranger, what its descriptor 3 is
    [ "$(stat -L -c '%F %t:%T' "/proc/$held/fd/3")" = "$2" ] && applies || return 1
    "$CPUBIND" status --root "$root" >"$out/status" 2>"$out/err"
    if [ "$1" = user ]; then
        is_on "$first" "$a" && is_on "$held" "$b" && grep -q "^ *$held " "$out/status" &&
            grep -q "; 2 workers: 2 right" "$out/status"
    else
        is_on "$first" "$both" && is_on "$held" "$before" &&
            ! grep -q "^ *$held " "$out/status" && grep -q "; 1 workers: 1 right" "$out/status"
    fi && "$CPUBIND" restore --all 2>"$out/err" && is_on "$held" "$before" &&
        is_on "$first" "$before"
}

in_a_container() { # a user or a stranger, words of unshare, commands, commands, what 3 is
    held=
    start_container "$2" "$3" "$4" && is_judged "$1" "$5"
    status=$?
    [ $status = 0 ] || cat "$out/status" "$out/err" "$out/apply.err"
    kill -KILL "${held:-$holder}"
    wait "$holder" 2>/dev/null
    return $status
}

# A descriptor of a device whose node was deleted has the device open as before: by the number
# it is a user.
containers() {
    node='mknod nvidia5 c 1 5'
    bound=': >nvidia5 && mount --bind /dev/nvidia5 nvidia5'
    open='exec 3<>/dev/nvidia5'
    device='character special file 1:5'
    while IFS='|' read -r kind text words make by what; do
        check "$kind: $text" in_a_container "$kind" "$words" "$make" "$by" "$what"
    done <<END
user|a node in a /dev of its own|-m|$node|$open|$device
user|a node of another name|-m|mknod other c 1 5|exec 3<>/dev/other|$device
user|a pid namespace of its own|-m -p -f|$node|$open|$device
user|a user namespace of its own|-m -U -r|$bound|$open|$device
user|all three namespaces|-m -p -f -U -r|$bound|$open|$device
user|a node that was deleted since|-m|$node|$open && rm /dev/nvidia5|$device
stranger|a plain file|-m|: >nvidia5|$open|regular empty file 0:0
stranger|a FIFO|-m|mkfifo nvidia5|$open|fifo 0:0
stranger|a link to a plain file|-m|: >file && ln -s file nvidia5|$open|regular empty file 0:0
stranger|a device of another number|-m|mknod nvidia5 c 1 3|$open|character special file 1:3
stranger|a descriptor of O_PATH|-m|$node|exec "\$out/by_path" /dev/nvidia5 "\$out/worker"|$device
END
}

# A test that fails says who uses the devices, and leaves nothing to the next one.
check_forks() { # text, command ...
    failed_before=$failed
    check "$@"
    [ "$failed" = "$failed_before" ] && return
    "$CPUBIND" status --root "$root" 2>&1 | sed 's/^/# /'
    kill_service
    for pid in $pids; do
        [ "$pid" = "$first" ] || ! [ -e "/proc/$pid" ] || kill -KILL "$pid"
    done
    "$CPUBIND" restore --all --quiet
}

start_worker 5
first=$worker
both=$a-$b
[ $((a + 1)) = "$b" ] || both=$a,$b
for n in 1 2 12 100; do
    words="$n children share its pool"
    [ $n != 1 ] || words="1 child shares its pool"
    check_forks "service: $n forks that come and go are no workers" under_the_service $n "$words"
    check_forks "apply --all: $n forks that come and go are no workers" by_apply $n "$words"
    check_forks "run --tree: $n forks that come and go are no workers" under_run_tree $n "$words"
done
check_forks "forks have the CPUs of their worker when these change, and are put back" forks_follow
check "multiprocessing by fork: 12 children share the pool of the loader" forks_of_python
check "by spawn: children without the device are no workers" others_of_python spawn
check "by forkserver: nor are these" others_of_python forkserver
containers
end_worker "$first"
check "by fork: a child that opens the device again is none" one_of_python
check "by spawn: a child that opens the device is a worker" users_of_python spawn
check "by forkserver: so is this one" users_of_python forkserver
# shellcheck disable=SC2086
kill -KILL $pids "$gpu_terminal" 2>/dev/null
kill_service
finish
