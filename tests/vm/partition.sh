# shellcheck shell=sh disable=SC2154 # guest.sh sets the variables of an NPU
# partition.sh - the section of guest.sh on apply and run --with cpuset
#
# A worker has a cgroup of its own, whose cpuset has the CPUs of its NPU but for those of irq. The
# tree is looked at from the kernel alone: after each restore it must be as before. What is refused,
# and what others change meanwhile, is in tests/scenes/cpuset.sh.

tree=/sys/fs/cgroup

# Prints the cgroups, what is enabled in each, its type and who is in it.
tree_state() {
    find $tree -name cgroup.subtree_control | sort | while read -r at; do
        at=${at%/*}
        echo "$at $(cat "$at/cgroup.subtree_control") $(cat "$at/cgroup.type" 2>/dev/null)"
    done
    cat /proc/[0-9]*/cgroup | sort | uniq -c | grep -v ' 0::/$'
}

tree_is_as_before() {
    tree_state | diff /run/tree.before - && nothing_differs /run/before
}

# The process of an NPU is put in a cgroup.
put_in() { # logic id, cgroup
    npu "$1"
    echo "$pid" >"$tree$2/cgroup.procs"
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

bind_confined() { # logic id, more options
    npu "$1"
    shift
    exits 0 cpubind apply --pid "$pid" --npu "$logic" --memory none --with cpuset "$@"
}

# Binds in a service and restores; between, another command must succeed.
while_confined() { # command ...
    bind_confined 1 && is_confined 1 /a/service1 && "$@" && restore_npu 1 && tree_is_as_before
}

binds_service() {
    grep -q "cgroup cpubind-$pid .* $((first + 2))-$last .*moved" /run/said &&
        threads_are_right 1 && verify_npu 1 &&
        grep "cgroup  *$pid  *cpubind-$pid .*right" /run/said
}

# As systemd does when it looks at a service again: it disables what it has not enabled.
resists_systemd() {
    # shellcheck disable=SC2320
    ! echo -cpuset >$tree/a/service1/cgroup.subtree_control 2>/run/systemd &&
        is_confined 1 /a/service1
}

# Two workers of one service: the first that is restored takes nothing from the other one.
shares_service() {
    put_in 2 /a/service1 && bind_confined 1 && bind_confined 2 && is_confined 1 /a/service1 &&
        is_confined 2 /a/service1 && restore_npu 1 && is_confined 2 /a/service1 &&
        threads_are_right 2 && restore_npu 2 && put_in 2 /a/service2 && tree_is_as_before
}

# A process that a bound worker has started gets a cpuset of its own, and goes back to that.
nests() {
    put_in 3 /a/service1 && bind_confined 1 || return 1
    outer=/a/service1/cpubind-$pid
    put_in 3 "$outer" && bind_confined 3 --allowed 0-63 && is_confined 3 /a/service1 &&
        restore_npu 3 && [ "$(group_of "$pid")" = "$outer" ] && restore_npu 1 || return 1
    npu 3
    [ "$(group_of "$pid")" = /a/service1 ] || return 1
    taskset -a -p ffffffffffffffff "$pid" >/dev/null
    put_in 3 /a/service3 && tree_is_as_before
}

runs_in_root() {
    put_in 4 "" && bind_confined 4 && is_confined 4 '' && restore_npu 4 &&
        put_in 4 /a/service4 && tree_is_as_before
}

# What is born stays there, even if it asks for all CPUs; a child is in it, too.
keeps_births() {
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
    exits 0 cpubind apply --pid "$pid" --npu 2 --memory none &&
        [ "$(cat "$tree/a/service1/cpubind-$pid/cpuset.cpus.effective")" = "$again" ] && verify_npu 1
}

# kill -9 at any moment, then restore.
survives_a_kill() {
    npu 1
    for moment in 0.05 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1 1.2 1.4 1.6 2 3; do
        cpubind apply --pid "$pid" --npu 1 --memory none --with cpuset >/run/said 2>&1 &
        killed=$!
        sleep $moment
        kill -9 $killed 2>/dev/null
        wait $killed 2>/dev/null
        group_of "$pid" >>/run/killed
        restore_npu 1 && tree_is_as_before && continue
        echo "killed after $moment s"
        return 1
    done
    sort /run/killed | uniq -c
}

# A worker that has ended: its cgroup goes, and its children to the cgroup above.
ends() {
    npu 5
    mkdir -p $tree/a/service5
    sh -c 'echo $$ >/sys/fs/cgroup/a/service5/cgroup.procs
        cpubind run --npu 5 --memory none --with cpuset --quiet -- \
            sh -c "sleep 100000 & echo \$! >/run/child; sleep 100000"' >/run/run.said 2>&1 &
    parent=$!
    becomes test -s /run/child && read -r child </run/child &&
        [ "$(group_of "$child")" = "/a/service5/cpubind-$parent" ] || return 1
    kill -9 $parent
    wait $parent
    exits 0 cpubind restore --ended && [ "$(group_of "$child")" = /a/service5 ] || return 1
    kill -9 "$child"
    becomes rmdir $tree/a/service5 && tree_is_as_before
}

chain_says() { # how often
    [ "$(grep -c '^chain' /run/chain)" = "$1" ]
}

# Binds a chain of threads, each of which starts the next one: none is born outside of the pool.
chain() { # logic id
    npu "$1"
    mkdir -p $tree/a/chain
    worker --chain $((first + 2)) "$last" >/run/chain &
    pid=$!
    echo $pid >$tree/a/chain/cgroup.procs
    becomes grep -q ready /run/chain
    exits 0 cpubind apply --pid $pid --npu "$1" --memory none --with cpuset
    bound=$?
    kill -USR1 $pid
    becomes chain_says 1
    sleep 5
    kill -USR1 $pid
    becomes chain_says 2
    exits 0 cpubind restore --pid $pid && [ "$(group_of $pid)" = /a/chain ] || bound=1
    kill -9 $pid
    wait $pid 2>/dev/null
    rmdir $tree/a/chain
    cat /run/chain
    [ $bound -eq 0 ] && tail -n 1 /run/chain | awk '{ exit !($2 > 10 && $3 == 0) }'
}

as_user() {
    # shellcheck disable=SC2016
    su -c 'exec "$0" "$@"' -- user "$@"
}

# A service whose cgroup is delegated to its user: nobody else needs to help.
binds_delegated() {
    npu 6
    user_group=$tree/a/user
    mkdir -p $user_group
    chown 1000 $user_group $user_group/cgroup.procs $user_group/cgroup.threads \
        $user_group/cgroup.subtree_control
    su -c 'exec worker 8 1 6' user >/run/ready.6 2>&1 &
    pid=$!
    echo $pid >/run/npus/6
    becomes worker_is_ready 6 && put_in 6 /a/user && tree_state >/run/tree.user &&
        exits 0 as_user cpubind apply --pid "$pid" --npu 6 --memory none --with cpuset &&
        is_confined 6 /a/user && threads_are_right 6 &&
        exits 0 as_user cpubind restore --pid "$pid" && tree_state | diff /run/tree.user -
}

partition() {
    echo +cpuset >$tree/cgroup.subtree_control
    mkdir -p $tree/a
    echo +cpuset >$tree/a/cgroup.subtree_control
    for i in 1 2 3 4; do
        start_npu "$i"
        mkdir -p "$tree/a/service$i"
        put_in "$i" "/a/service$i"
    done
    npu-smi look
    for i in 1 2 3 4; do check_soon "the worker of NPU $i is ready" worker_is_ready "$i"; done
    everything /run/before
    tree_state >/run/tree.before
    check "apply --with cpuset moves the worker of a service to a cgroup of its own" \
        while_confined binds_service
    check "nobody disables the controller meanwhile" while_confined resists_systemd
    check "two workers of a service" shares_service
    check "a worker in the cpuset of another one" nests
    check "a worker in the uppermost cgroup" runs_in_root
    check "apply is killed at 16 moments, then restored" survives_a_kill
    check "run --with cpuset; its child goes back after its end" ends
    check "a chain of threads: none is born outside" chain 7
    check "bound once more" bind_confined 1
    check "what is born there stays there" keeps_births
    check "bound for another NPU it has the CPUs of that one" binds_again
    check "a user binds in a cgroup that is delegated to it" binds_delegated
    end_workers
}
