# shellcheck shell=sh disable=SC2154 # guest.sh sets the variables of an NPU
# partition.sh - the section of guest.sh on apply and run --with cpuset
#
# A worker has a cgroup of its own, whose cpuset has the CPUs of its NPU but for those of irq. The
# tree is looked at from the kernel alone: after each restore it must be as before.

tree=/sys/fs/cgroup

# Prints the cgroups, what is enabled in each, its type and who is in it.
tree_state() {
    find $tree -name cgroup.subtree_control | sort | while read -r at; do
        at=${at%/*}
        echo "$at $(cat "$at/cgroup.subtree_control") $(cat "$at/cgroup.type" 2>/dev/null)"
    done
    cat /proc/[0-9]*/cgroup | sort | uniq -c | grep -v ' 0::/$'
}

# The worker of an NPU is in a service of its own, as systemd starts one.
serve() { # logic id, user
    start_worker "$1"
    npu "$1"
    mkdir -p "$tree/a/service$1"
    echo "$pid" >"$tree/a/service$1/cgroup.procs"
}

# Prints the cgroup of a process.
group_of() { # pid
    sed 's/^0:://' "/proc/$1/cgroup"
}

# The process is in its own cgroup below one, with the CPUs of the pool after those of irq.
is_confined() { # logic id, the cgroup above
    npu "$1"
    own=$2/cpubind-$pid
    [ "$(group_of "$pid")" = "$own" ] || { group_of "$pid" && return 1; }
    read -r has <"$tree$own/cpuset.cpus.effective"
    [ "$has" = "$((first + 2))-$last" ] && return 0
    echo "$own has the CPUs $has"
    return 1
}

tree_is_as_before() {
    tree_state | diff /run/tree.before - && nothing_differs /run/before
}

restore_confined() { # logic id
    exits 0 restore "$1" && tree_is_as_before
}

bind_confined() { # logic id, exit status, more options
    npu "$1"
    code=$2
    shift 2
    exits "$code" cpubind apply --pid "$pid" --npu "$logic" --memory none --with cpuset "$@"
}

binds_service() {
    bind_confined 1 0 && is_confined 1 /a/service1 && threads_are_right 1 || return 1
    grep -q "cgroup cpubind-$pid .* $((first + 2))-$last .*moved" /run/said && return 0
    grep -v : /run/said | tail -n 20
    return 1
}

verifies() {
    npu 1
    exits 0 cpubind verify --pid "$pid" && grep "cgroup  *$pid  *cpubind-$pid .*right" /run/said
}

# What is born stays there, even if it asks for all CPUs; a child is in it, too.
keeps_births() {
    npu 1
    kill -USR1 "$pid"
    kill -USR2 "$pid"
    sleep 1
    threads "$pid" | awk -v least=$((first + 2)) -v most="$last" '
        { lo = hi = $4; sub(/[-,].*/, "", lo); sub(/.*[-,]/, "", hi)
          if (lo + 0 < least || hi + 0 > most) { print; bad = 1 } }
        $3 == "born_later" { n++ }
        END { exit bad || !n }'
}

# Bound again for another NPU: the cpuset has the CPUs of that one.
binds_again() {
    npu 2
    again=$((first + 2))-$last
    npu 1
    exits 0 cpubind apply --pid "$pid" --npu 2 --memory none || return 1
    read -r has <"$tree/a/service1/cpubind-$pid/cpuset.cpus.effective"
    echo "$has, should be $again"
    [ "$has" = "$again" ] && exits 0 cpubind verify --pid "$pid"
}

# A call that fails leaves the cgroup and the masks of the call before.
undoes_again() {
    npu 1
    threads "$pid" >/run/threads.before
    tree_state >/run/tree.now
    cat "$tree/a/service1/cpubind-$pid/cpuset.cpus" >>/run/tree.now
    exits 4 cpubind apply --pid "$pid" --npu 3 --memory none --strict --thread main_thread=leave ||
        return 1
    threads "$pid" | diff /run/threads.before - || return 1
    { tree_state && cat "$tree/a/service1/cpubind-$pid/cpuset.cpus"; } | diff /run/tree.now -
}

# Two workers of one service: the first that is restored takes nothing from the other one.
shares_service() {
    npu 2
    echo "$pid" >$tree/a/service1/cgroup.procs
    bind_confined 1 0 && bind_confined 2 0 && is_confined 1 /a/service1 &&
        is_confined 2 /a/service1 && exits 0 restore 1 && is_confined 2 /a/service1 &&
        threads_are_right 2 && exits 0 restore 2 || return 1
    npu 2
    echo "$pid" >$tree/a/service2/cgroup.procs
    tree_is_as_before
}

# As systemd does when it looks at a service again: it disables what it has not enabled.
resists_systemd() {
    bind_confined 1 0 || return 1
    # shellcheck disable=SC2320
    echo -cpuset >$tree/a/service1/cgroup.subtree_control 2>/run/systemd && return 1
    is_confined 1 /a/service1 && restore_confined 1
}

# What somebody else has changed is left, and said.
leaves_changes() {
    bind_confined 1 0 || return 1
    own=$tree/a/service1/cpubind-$pid
    echo 0-40 >"$own/cpuset.cpus"
    exits 1 cpubind verify --pid "$pid" && exits 0 cpubind restore --pid "$pid" &&
        grep "cgroup cpubind-$pid is left as it is: somebody else has changed its CPUs" /run/said &&
        [ "$(group_of "$pid")" = "/a/service1/cpubind-$pid" ] || return 1
    # Bound again, it is in that one.
    bind_confined 1 0 --allowed 0-63 && is_confined 1 /a/service1 && exits 0 restore 1 || return 1
    npu 1
    taskset -a -p ffffffffffffffff "$pid" >/dev/null
    tree_is_as_before
}

leaves_moved() {
    bind_confined 1 0 || return 1
    echo "$pid" >$tree/a/service2/cgroup.procs
    exits 1 cpubind verify --pid "$pid" && exits 0 cpubind restore --pid "$pid" &&
        grep "somebody else has moved the process to another cgroup" /run/said &&
        [ "$(group_of "$pid")" = /a/service2 ] && [ ! -e "$tree/a/service1/cpubind-$pid" ] || return 1
    echo "$pid" >$tree/a/service1/cgroup.procs
    tree_state | diff /run/tree.before -
}

# A process that a bound worker has started gets a cpuset of its own, and goes back to that.
nests() {
    npu 3
    echo "$pid" >$tree/a/service1/cgroup.procs
    bind_confined 1 0 || return 1
    outer=/a/service1/cpubind-$pid
    npu 3
    echo "$pid" >"$tree$outer/cgroup.procs"
    exits 0 cpubind apply --pid "$pid" --npu 3 --memory none --allowed 0-63 &&
        is_confined 3 /a/service1 &&
        exits 0 restore 3 && [ "$(group_of "$pid")" = "$outer" ] && exits 0 restore 1 || return 1
    npu 3
    [ "$(group_of "$pid")" = /a/service1 ] || return 1
    taskset -a -p ffffffffffffffff "$pid" >/dev/null
    echo "$pid" >$tree/a/service3/cgroup.procs
    tree_is_as_before
}

# No controller in the cgroup: masks alone, with the reason; --strict fails and undoes all.
needs_controller() {
    npu 1
    mkdir -p "$tree/a/bare/inner"
    echo "$pid" >$tree/a/bare/inner/cgroup.procs
    bind_confined 1 0 && grep "lacks the controller cpuset" /run/said && threads_are_right 1 &&
        exits 0 restore 1 && bind_confined 1 4 --strict &&
        grep "lacks the controller cpuset" /run/said || return 1
    npu 1
    echo "$pid" >$tree/a/service1/cgroup.procs
    rmdir $tree/a/bare/inner $tree/a/bare
    tree_is_as_before
}

runs_in_root() {
    npu 4
    echo "$pid" >$tree/cgroup.procs
    bind_confined 4 0 && is_confined 4 '' && exits 0 restore 4 || return 1
    npu 4
    echo "$pid" >$tree/a/service4/cgroup.procs
    tree_is_as_before
}

# kill -9 at any moment, then restore.
survives_kills() {
    npu 1
    for moment in 0.05 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1 1.2 1.4 1.6 2 3; do
        cpubind apply --pid "$pid" --npu 1 --memory none --with cpuset >/run/said 2>&1 &
        killed=$!
        sleep $moment
        kill -9 $killed 2>/dev/null
        wait $killed 2>/dev/null
        group_of "$pid" >>/run/killed
        cpubind restore --pid "$pid" >/run/restored 2>&1
        got=$?
        tree_is_as_before >/run/differs && continue
        echo "killed after $moment s; restore: exit $got"
        cat /run/restored /run/differs
        return 1
    done
}

# A worker that has ended: its cgroup goes, and its children to the cgroup above.
ends() {
    npu 5
    mkdir -p $tree/a/service5
    sh -c 'echo $$ >/sys/fs/cgroup/a/service5/cgroup.procs
        cpubind run --npu 5 --memory none --with cpuset --quiet -- \
            sh -c "sleep 100000 & echo \$! >/run/child; sleep 100000"' >/run/run.said 2>&1 &
    parent=$!
    while [ ! -s /run/child ]; do sleep 0.2; done
    read -r child </run/child
    pid=$parent
    [ "$(group_of "$child")" = "/a/service5/cpubind-$parent" ] || return 1
    kill -9 $parent
    wait $parent
    cpubind restore --ended >/run/said 2>&1
    [ "$(group_of "$child")" = /a/service5 ] || { cat /run/said && return 1; }
    kill -9 "$child"
    sleep 0.5
    rm /run/child
    rmdir $tree/a/service5 && tree_is_as_before
}

chain() { # logic id; binds a chain of threads, and counts births outside of the pool
    npu "$1"
    mkdir -p $tree/a/chain
    worker --chain $((first + 2)) "$last" >/run/chain &
    pid=$!
    echo $pid >$tree/a/chain/cgroup.procs
    while ! grep -q ready /run/chain; do sleep 0.2; done
    exits 0 cpubind apply --pid $pid --npu "$1" --memory none --with cpuset
    bound=$?
    kill -USR1 $pid
    while ! grep -q '^chain' /run/chain; do sleep 0.2; done
    sleep 5
    kill -USR1 $pid
    while [ "$(grep -c '^chain' /run/chain)" -lt 2 ]; do sleep 0.2; done
    echo "# births in and outside of the pool while and after it was bound:" \
        "$(grep '^chain' /run/chain | paste -s -d ' ')" >/run/comment
    cpubind restore --pid $pid >/run/said 2>&1
    group_of $pid >/run/chain.group
    kill -9 $pid
    wait $pid 2>/dev/null
    rmdir $tree/a/chain
    cat /run/comment /run/chain.group /run/said
    [ $bound -eq 0 ] && [ "$(cat /run/chain.group)" = /a/chain ] &&
        tail -n 1 /run/chain | awk '{ exit !($2 > 10 && $3 == 0) }'
}

# A service whose cgroup is delegated to its user: nobody else needs to help.
delegate() { # logic id
    npu "$1"
    user_group=$tree/a/user
    mkdir -p $user_group
    chown 1000 $user_group $user_group/cgroup.procs $user_group/cgroup.threads \
        $user_group/cgroup.subtree_control
    su -c 'exec worker 8 1 '"$1" user >"/run/ready.$1" 2>&1 &
    pid=$!
    echo $pid >"/run/npus/$1"
    while ! grep -q ready "/run/ready.$1"; do sleep 0.2; done
    echo "$pid" >$user_group/cgroup.procs
}

as_user() {
    # shellcheck disable=SC2016
    su -c 'exec "$0" "$@"' -- user "$@"
}

binds_delegated() {
    npu 6
    tree_state >/run/tree.user
    exits 0 as_user cpubind apply --pid "$pid" --npu 6 --memory none --with cpuset &&
        is_confined 6 /a/user && threads_are_right 6 &&
        exits 0 as_user cpubind restore --pid "$pid" && tree_state | diff /run/tree.user -
}

# The same user, in a cgroup that is not delegated.
needs_delegation() {
    npu 6
    echo "$pid" >$tree/a/service1/cgroup.procs
    exits 0 as_user cpubind apply --pid "$pid" --npu 6 --memory none --with cpuset &&
        grep "let its cgroup be delegated to its user" /run/said && threads_are_right 6 &&
        exits 0 as_user cpubind restore --pid "$pid" &&
        exits 4 as_user cpubind apply --pid "$pid" --npu 6 --memory none --with cpuset --strict
    got=$?
    echo "$pid" >$tree/a/user/cgroup.procs
    return $got
}

# A watch puts a thread that is born or renamed on the CPUs of its role.
watches() { # logic id, how cpubind is started
    npu "$1"
    shift
    "$@" --watch 1 >/run/watch.said 2>&1 &
    watch=$!
    while ! grep -q "^process" /run/watch.said; do sleep 0.2; done
    sleep 2
    kill -USR1 "$pid"
    while ! grep -q acl_thread /run/watch.said; do sleep 0.2; done
    is_confined "$logic" "$above" && threads_are_right "$logic"
}

ends_watch() {
    kill "$watch"
    wait "$watch"
    exits 0 "$@" cpubind restore --pid "$pid"
}

partition() {
    echo +cpuset >$tree/cgroup.subtree_control
    mkdir -p $tree/a
    echo +cpuset >$tree/a/cgroup.subtree_control
    for i in 1 2 3 4; do serve "$i"; done
    npu-smi look
    for i in 1 2 3 4; do check_soon "the worker of NPU $i is ready" worker_is_ready "$i"; done
    everything /run/before
    tree_state >/run/tree.before
    check "apply --with cpuset moves the worker of a service to a cgroup of its own" binds_service
    check "verify shows it" verifies
    check "what is born there stays there" keeps_births
    check "bound for another NPU it has the CPUs of that one" binds_again
    check "a call that fails leaves them" undoes_again
    kill "$(cat /run/npus/1)"
    wait "$(cat /run/npus/1)" 2>/dev/null
    cpubind restore --ended >/run/said 2>&1
    serve 1
    npu-smi look
    check_soon "another worker of NPU 1 is ready" worker_is_ready 1
    everything /run/before
    check "the cgroup of a worker that has ended is gone" tree_is_as_before
    check "restore puts back all" eval "bind_confined 1 0 && restore_confined 1"
    check "two workers of a service" shares_service
    check "nobody disables the controller meanwhile" resists_systemd
    check "a cpuset that somebody else has changed is left" leaves_changes
    check "so is a worker that somebody else has moved" leaves_moved
    check "a worker in the cpuset of another one" nests
    check "without the controller: masks, or with --strict nothing" needs_controller
    check "a worker in the uppermost cgroup" runs_in_root
    check "apply is killed at 16 moments, then restored" survives_kills
    sort /run/killed | uniq -c | sed 's/^/# killed in/'
    check "run --with cpuset; its child goes back after its end" ends
    check "a chain of threads: none is born outside" chain 7
    cat /run/comment
    delegate 6
    check "a user binds in a cgroup that is delegated to it" binds_delegated
    check "and in another one by masks, or with --strict not at all" needs_delegation
    above=/a/service1
    npu 1
    check "a watch places what is born" watches 1 \
        cpubind apply --pid "$pid" --npu 1 --memory none --with cpuset
    check "restore after that" ends_watch
    end_workers
}
