#!/bin/sh
# forks.sh - who counts as a user of an accelerator: forks, Python's processes, containers
# SPDX-License-Identifier: MIT
# runs: check-all
#
# Two workers share the pool of one GPU, a CPU each: a third one would move both. strace counts
# what is written.
. tests/scenes/lib.sh
use_gpus
command -v strace >"$out/other" && strace -qq -e trace=none true 2>"$out/other" ||
    skip_all "no strace, or it may not trace"

# One GPU, whose pool is both CPUs.
rm -r "$host/sys/bus/pci/devices/0000:02:00.0"
put_one_node "$host"

# A command that is counted: the process is the command itself (-D), strace is its child.
cat >"$out/counted" <<END
#!/bin/sh
exec strace -D -A -f -qq -o "$out/calls" -e trace=sched_setaffinity -e signal=none "$CPUBIND" "\$@"
END
chmod 755 "$out/counted"

# -- Workers ---------------------------------------------------------------------

start_forker() { # number of children
    rm -f "$out/turn"
    "$programs/forker" "$out/turn" "$1" 3</dev/nvidia5 5</dev/nvidia-uvm &
    forker=$!
    becomes grep -qx 1 "$out/turn"
}

# All children end, and as many come.
turn() { # number of the turn
    kill -USR1 "$forker" && becomes grep -qx "$1" "$out/turn"
}

children_of() { # pid
    cat "/proc/$1/task/$1/children"
}

# A process and all that it has forked.
# shellcheck disable=SC2046
family_is_on() { # CPUs
    are_on "$1" "$forker" $(children_of "$forker")
}

writes() { # pid: how often its mask was written
    grep -c "sched_setaffinity($1," "$out/calls"
}

was_bound_once() {
    [ "$(writes "$forker")" = 1 ] && [ "$(writes "$first")" -le 1 ] && return 0
    cat "$out/calls"
    return 1
}

# Without a service the host of the folder is asked.
status_row_says() { # pid, words or nothing of children
    "$CPUBIND" status --root "$host" >"$out/said" 2>"$out/err"
    cat "$out/said"
    grep -e " $1 " -e "^process $1, " "$out/said" >"$out/row"
    if [ -n "$2" ]; then grep -qF -e "$2" "$out/row"; else ! grep -q 'child' "$out/row"; fi
}

forks_are_put_back() {
    "$CPUBIND" restore --all 2>"$out/err" && family_is_on "$before" &&
        is_on "$first" "$before" && end_worker "$forker"
}

# -- Forks -----------------------------------------------------------------------

start_counted_service() {
    : >"$out/calls"
    own=$CPUBIND
    CPUBIND=$out/counted
    settings && start_service
    counted_status=$?
    CPUBIND=$own
    return $counted_status
}

by_the_service() { # N, words
    start_forker "$1" && start_counted_service && becomes is_on "$first" "$a" &&
        becomes family_is_on "$b" || return 1
    for number in 2 3 4; do
        turn $number && sleep 1 && family_is_on "$b" && is_on "$first" "$a" || return 1
    done
    logged "$forker" && ! grep share "$out/service.log" && status_row_says "$forker" "$2" &&
        was_bound_once && end_service TERM && status_row_says "$forker" "$2" &&
        forks_are_put_back
}

by_apply() { # N, words
    start_forker "$1" && : >"$out/calls" || return 1
    for number in 2 3 4; do
        "$out/counted" apply --all --root "$host" --json >"$out/said" 2>"$out/err" &&
            family_is_on "$b" && is_on "$first" "$a" && turn $number && family_is_on "$b" ||
            return 1
    done
    status_row_says "$forker" "$2" && was_bound_once && forks_are_put_back
}

# The other worker is a child of the forker, too, and no fork.
forks_are_on() { # CPUs
    for child in "$forker" $(children_of "$forker"); do
        [ "$child" = "$worker" ] || is_on "$child" "$1" || return 1
    done
}

# The forker is there before the other worker of its tree, and the parent of that one.
by_run_tree() { # N, words
    : >"$out/calls"
    rm -f "$out/turn" "$out/tree"
    # shellcheck disable=SC2016
    "$out/counted" run --tree --root "$host" -- sh -c '"$2/worker" >"$1/output" 3</dev/nvidia5 \
        5</dev/nvidia-uvm & echo $$ $! >"$1/tree"
        exec "$2/forker" "$1/turn" "$3" 3</dev/nvidia5 5</dev/nvidia-uvm' \
        sh "$out" "$programs" "$1" 2>"$out/err" &
    tree=$!
    becomes grep -qx 1 "$out/turn" && read -r forker worker <"$out/tree" &&
        becomes is_on "$worker" "$b" && becomes forks_are_on "$a" || return 1
    for number in 2 3 4; do
        turn $number && sleep 1 && forks_are_on "$a" && is_on "$worker" "$b" || return 1
    done
    [ "$(writes "$forker")" = 1 ] && [ "$(writes "$worker")" = 1 ] &&
        status_row_says "$forker" "$2"
    result=$?
    kill -KILL "$worker" "$forker"
    wait "$tree"
    return $result
}

# A check that fails leaves nothing to the next one.
check_forks() { # text, command ...
    failed_before=$failed
    check "$@"
    [ "$failed" != "$failed_before" ] || return 0
    service=
    end_all_but "$first"
    "$CPUBIND" restore --all --quiet
}

start_on 5 && first=$worker
for n in 1 2 12 100; do
    words="$n children share its pool"
    [ $n != 1 ] || words="1 child shares its pool"
    check_forks "service: $n forks that come and go are no workers" by_the_service $n "$words"
    check_forks "apply --all: $n forks that come and go are no workers" by_apply $n "$words"
    check_forks "run --tree: $n forks that come and go are no workers" by_run_tree $n "$words"
done

# What the forks of a worker have is what it has, also when another worker ends or comes.
forks_follow() {
    start_forker 12 && start_counted_service && becomes family_is_on "$b" && turn 2 &&
        end_worker "$first" && becomes family_is_on "$both" && start_on 5 && first=$worker &&
        becomes is_on "$first" "$b" && becomes family_is_on "$a" &&
        [ "$(writes "$forker")" -le 3 ] && forks_are_put_back && end_service TERM
}
check_forks "forks have the CPUs of their worker when these change, and are put back" forks_follow

# -- Python's multiprocessing ----------------------------------------------------

# Starts a loader of data; has its pid in loader, those of the children in loaded.
start_loader() { # method, number of children, "uses": each opens the device, too
    rm -f "$out"/loaded.*
    python3 tests/scenes/programs/loader.py "$out/loaded" "$@" &
    loader=$!
    loaded=
    for i in $(seq 0 $(($2 - 1))); do
        becomes test -s "$out/loaded.$i" && loaded="$loaded $(cat "$out/loaded.$i")" || return 1
    done
}

applies_to_all() {
    says 0 "" "$CPUBIND" apply --all --root "$host" --json
}

# shellcheck disable=SC2086
ends_loader() {
    "$CPUBIND" restore --all 2>"$out/err" && are_on "$before" "$loader" $loaded &&
        end_worker "$loader"
}

# shellcheck disable=SC2086
forks_of_python() {
    start_loader fork 12 none && applies_to_all && is_on "$first" "$a" &&
        are_on "$b" "$loader" $loaded &&
        status_row_says "$loader" "12 children share its pool" &&
        ends_loader
}

# shellcheck disable=SC2086
others_of_python() { # method
    start_loader "$1" 2 none && applies_to_all && is_on "$first" "$a" && is_on "$loader" "$b" &&
        are_on "$before" $loaded && status_row_says "$loader" "" && ends_loader
}

# Each has executed a program since the loader was started, or was forked by one that has.
# shellcheck disable=SC2086
users_of_python() { # method
    start_loader "$1" 1 uses && applies_to_all && is_on "$loader" "$a" && are_on "$b" $loaded &&
        status_row_says "$loader" "" && said "2 workers: 2 right" && ends_loader
}

# shellcheck disable=SC2086
one_of_python() {
    start_loader fork 1 uses && applies_to_all && are_on "$both" "$loader" $loaded &&
        status_row_says "$loader" "1 child shares its pool" && ends_loader
}

has_python=$(command -v python3)
if [ -n "$has_python" ]; then
    check "multiprocessing by fork: 12 children share the pool of the loader" forks_of_python
    check "by spawn: children without the device are no workers" others_of_python spawn
    check "by forkserver: nor are these" others_of_python forkserver
else
    skip "Python's multiprocessing" "python3 is not installed"
fi

# -- Containers and strangers ----------------------------------------------------

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
            exec 5<>/dev/nvidia-uvm && eval "$2" && exec "$programs/worker"' \
        sh "$2" "$3" >"$out/other" &
    holder=$!
    becomes test -s "$out/held" && held=$(cat "$out/held") && becomes is_program "$held" worker
}
export out programs

# What apply does to a process and to the worker beside it, and what status says.
is_judged() { # a user or a stranger, what its descriptor 3 is
    [ "$(stat -L -c '%F %t:%T' "/proc/$held/fd/3")" = "$2" ] && applies_to_all || return 1
    "$CPUBIND" status --root "$host" >"$out/said" 2>"$out/err"
    cat "$out/said"
    if [ "$1" = user ]; then
        is_on "$first" "$a" && is_on "$held" "$b" && grep -q " $held " "$out/said" &&
            said "; 2 workers: 2 right"
    else
        is_on "$first" "$both" && is_on "$held" "$before" && ! grep " $held " "$out/said" &&
            said "; 1 workers: 1 right"
    fi && "$CPUBIND" restore --all 2>"$out/err" && are_on "$before" "$held" "$first"
}

in_a_container() { # a user or a stranger, words of unshare, commands, commands, what 3 is
    held=
    start_container "$2" "$3" "$4" && is_judged "$1" "$5"
    result=$?
    kill -KILL "${held:-$holder}"
    wait "$holder"
    return $result
}

# A descriptor of a device whose node was deleted has the device open as before: by the number
# it is a user.
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
stranger|a descriptor of O_PATH|-m|$node|exec "\$programs/by_path" /dev/nvidia5 "\$programs/worker"|$device
END
end_worker "$first"
if [ -n "$has_python" ]; then
    check "by fork: a child that opens the device again is none" one_of_python
    check "by spawn: a child that opens the device is a worker" users_of_python spawn
    check "by forkserver: so is this one" users_of_python forkserver
fi
finish
