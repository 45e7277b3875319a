# shellcheck shell=sh disable=SC2154 # guest.sh sets the variables of an NPU
# service.sh - the section of guest.sh on all workers of a host, which a service binds
#
# 16 workers on an A2, two for each NPU: those of NPUs 0 and 1 in one container, those of 2 and 3
# in another, the others on the host. They are started one after another while the service runs.
# Then they are killed, started again, execute themselves again, start 1,000 threads a second and
# move themselves; the service is killed and started again. On a host a worker is right a second
# after it is ready; the machine is emulated, so that the time is printed and has no limit.
#
# Two workers of an NPU share its interrupt CPUs; each has half of the other CPUs of the pool, the
# one that was started first the lower half.

# -- Workers -----------------------------------------------------------------

view_of() { # logic id of the host
    case $1 in 0 | 1) echo one ;; 2 | 3) echo two ;; *) echo host ;; esac
}

# Starts a worker; its pid of the host is written to /run/workers/NPU.NUMBER.
start_one() { # logic id of the host, number
    view=$(view_of "$1")
    file=/run/workers/$1.$2
    n_node=$(wc -l </host/nodes)
    rm -f "$file"
    if [ "$view" = host ]; then
        worker "$n_node" 1 "$1" >"$file.said" 2>&1 &
        echo $! >"$file"
        return 0
    fi
    ls /proc/trs_core/proc >/run/tasks.before
    # shellcheck disable=SC2016
    seen_by "$view" sh -c 'worker "$2" 1 "$0" >/tmp/said.$1 2>&1 &' "$(($1 % 2))" \
        "$1.$2" "$n_node"
    becomes new_task "$1" "$file"
}

new_task() { # logic id of the host, file for its pid
    for task in /proc/trs_core/proc/*-dev-"$1"; do
        task=${task##*/}
        [ "$task" = "*-dev-$1" ] || grep -q -x -e "$task" /run/tasks.before ||
            { echo "${task%%-*}" >"$2" && return 0; }
    done
    return 1
}

pid_of() { # logic id, number
    cat "/run/workers/$1.$2"
}

all_threads_run() { # pid
    [ "$(threads "$1" | wc -l)" -ge 20 ]
}

n_workers() { # logic id
    n=0
    for file in "/run/workers/$1".[01]; do
        [ -e "$file" ] && read -r pid <"$file" && [ -d "/proc/$pid" ] && n=$((n + 1))
    done
    echo $n
}

# On the CPUs of one of the two workers of an NPU, or of the only one.
one_is_right() { # logic id, number
    npu "$1"
    pid=$(pid_of "$1" "$2")
    [ "$(n_workers "$1")" -eq 1 ] || part_of "$2"
    threads_run_on "$1"
}

each_worker() { # command ...; all of them must succeed, for NPU and number
    bad=0
    for i in $all; do
        "$@" "$i" 0 && "$@" "$i" 1 || bad=1
    done
    return $bad
}

all_are_right() {
    # shellcheck disable=SC2086
    each_worker one_is_right && irqs_are_right $all
}

tenths() {
    tr -d . </proc/uptime | cut -d ' ' -f 1 | sed 's/.$//'
}

# Waits until a worker is right, and notes the time since all its threads run.
becomes_right() { # logic id, number
    becomes all_threads_run "$(pid_of "$1" "$2")" && since=$(tenths) &&
        becomes one_is_right "$1" "$2" && echo "$1.$2 $(($(tenths) - since))" >>/run/times
}

starts_right() { # logic id, number
    start_one "$1" "$2" && becomes_right "$1" "$2"
}

# The other worker of the NPU has the whole pool until the NPU has two workers again.
killed_and_started() { # logic id
    dead=$(pid_of "$1" 1)
    kill -9 "$dead"
    rm -f "/run/workers/$1.1"
    becomes test ! -d "/proc/$dead" && becomes_right "$1" 0 && starts_right "$1" 1
}

does() { # signal, logic id, number
    kill "-$1" "$(pid_of "$2" "$3")"
    [ "$1" != QUIT ] || becomes grep storm "/run/workers/$2.$3.said"
    sleep 1
    becomes_right "$2" "$3" && kill -0 "$service"
}

# -- The section -------------------------------------------------------------

# All threads may use all CPUs, as when they were started.
all_is_restored() {
    # shellcheck disable=SC2046
    threads $(cat /run/workers/?.?) | awk -v all="$everywhere" '$4 != all { print; bad = 1 }
        END { exit bad || NR < 16 * 4 }' && irqs_are_right
}

has_status() { # logic id, number
    grep -q "\"pid\": $(pid_of "$1" "$2")" /run/said
}

status_shows_16() {
    exits 0 cpubind status --json --memory none && each_worker has_status
}

service() {
    mkdir -p /run/workers
    check "container one starts" start_container one 0 1
    check "container two starts" start_container two 2 3
    npu-smi look
    settings
    check "the service starts" start_service
    for i in $all; do
        for k in 0 1; do
            check "worker $k of NPU $i is right soon after its start" starts_right "$i" "$k"
        done
    done
    echo "# longest time from ready to right: $(sort -n -k 2 /run/times | tail -n 1) tenths"
    check_soon "all 16 workers and all interrupts are right" all_are_right
    check "status shows 16 workers" status_shows_16
    check "verify --all agrees" exits 0 cpubind verify --all
    check "a worker is killed, and another is started" killed_and_started 5
    check "a worker executes itself again" does HUP 6 0
    check "1,000 threads a second" does QUIT 7 0
    grep -h storm /run/workers/7.0.said | sed 's/^/# /'
    check "a worker in a container moves itself" does USR2 1 0
    check "a worker starts threads" does USR1 4 1
    kill_service
    check "the service is killed: the workers stay bound" all_are_right
    kill -USR2 "$(pid_of 4 0)"
    check "it is started again" start_service
    check_soon "it puts right what was moved" all_are_right
    end_service TERM
    check "the service has ended: the workers stay bound" all_are_right
    check "restore --all" exits 0 cpubind restore --all
    check "all is as before" all_is_restored
    check "no record is left" no_record_is_left
    # shellcheck disable=SC2046
    kill -9 $(cat /run/workers/?.?)
    for name in one two; do crun --root /run/crun delete --force $name; done
}
