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

# -- The service -------------------------------------------------------------

start_service() {
    cpubind service --config /run/service.conf >>/run/service.log 2>&1 &
    service=$!
}

service_answers() {
    [ -S /run/cpubind/service.sock ] && ! has_ended "$service" && return 0
    tail -n 8 /run/service.log
    return 1
}

end_service() { # signal
    kill "-$1" "$service"
    wait "$service" 2>/dev/null
    return 0
}

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
    tries=0
    while [ $tries -lt 300 ]; do
        for task in /proc/trs_core/proc/*-dev-"$1"; do
            task=${task##*/}
            [ "$task" = "*-dev-$1" ] || grep -q -x -e "$task" /run/tasks.before ||
                { echo "${task%%-*}" >"$file" && return 0; }
        done
        tries=$((tries + 1))
        sleep 0.1
    done
    return 1
}

all_threads_run() { # pid
    [ "$(threads "$1" | wc -l)" -ge 20 ]
}

# The expected CPUs of one of the two workers of an NPU, or of the only one.
part() { # logic id, number, number of workers
    npu "$1"
    read -r pid <"/run/workers/$1.$2"
    [ "$3" -eq 1 ] && return
    main=$((first + 2 + 3 * $2))
    # shellcheck disable=SC2034 # threads_run_on reads both
    acl=$((main + 1)) release=$((main + 2))
}

n_workers() { # logic id
    n=0
    for file in "/run/workers/$1".[01]; do
        [ -e "$file" ] && read -r pid <"$file" && [ -d "/proc/$pid" ] && n=$((n + 1))
    done
    echo $n
}

one_is_right() { # logic id, number
    part "$1" "$2" "$(n_workers "$1")"
    threads_run_on "$1"
}

all_are_right() {
    bad=0
    for i in $all; do
        one_is_right "$i" 0 && one_is_right "$i" 1 || bad=1
    done
    # shellcheck disable=SC2086
    irqs_are_right $all || bad=1
    return $bad
}

tenths() {
    tr -d . </proc/uptime | cut -d ' ' -f 1 | sed 's/.$//'
}

# Waits until a worker is right, and notes the time since all its threads run.
becomes_right() { # logic id, number
    read -r pid <"/run/workers/$1.$2"
    while ! all_threads_run "$pid"; do
        [ -d "/proc/$pid" ] || return 1
        sleep 0.1
    done
    since=$(tenths)
    while ! one_is_right "$1" "$2" >/run/right.said; do
        [ $(($(tenths) - since)) -lt $((patience * 10)) ] && continue
        cat /run/right.said
        tail -n 4 /run/service.log
        return 1
    done
    took=$(($(tenths) - since))
    echo "$1.$2 $took" >>/run/times
}

starts_right() { # logic id, number
    start_one "$1" "$2" && becomes_right "$1" "$2"
}

# -- What workers do ---------------------------------------------------------

pid_of() { # logic id, number
    cat "/run/workers/$1.$2"
}

is_gone() { # pid
    [ ! -d "/proc/$1" ]
}

# The other worker of the NPU has the whole pool until the NPU has two workers again.
killed_and_started() { # logic id
    dead=$(pid_of "$1" 1)
    kill -9 "$dead"
    while [ -d "/proc/$dead" ]; do sleep 0.1; done
    rm -f "/run/workers/$1.1"
    becomes_right "$1" 0 && starts_right "$1" 1
}

executes_again() { # logic id, number
    kill -HUP "$(pid_of "$1" "$2")"
    sleep 1
    becomes_right "$1" "$2"
}

storms() { # logic id of the host, number
    kill -QUIT "$(pid_of "$1" "$2")"
    while ! grep storm "/run/workers/$1.$2.said"; do sleep 0.2; done
    becomes_right "$1" "$2" && service_answers
}

moves_itself() { # logic id, number
    kill -USR2 "$(pid_of "$1" "$2")"
    sleep 0.5
    becomes_right "$1" "$2"
}

has_younger_threads() { # logic id, number
    kill -USR1 "$(pid_of "$1" "$2")"
    sleep 0.5
    becomes_right "$1" "$2"
}

# -- The section -------------------------------------------------------------

# Prints "process name CPUs" of all workers, and the interrupts.
workers_state() {
    # shellcheck disable=SC2046
    threads $(cat /run/workers/?.?) | cut -d ' ' -f 1,3,4 | sort -u
    irqs | awk '{ print $3, $4, $5 }'
}

# All threads may use all CPUs, as when they were started.
all_is_restored() {
    workers_state | awk -v everywhere="$everywhere" '$3 != everywhere { print; bad = 1 }
        END { exit bad || NR < 16 * 4 }'
}

status_shows_16() {
    exits 0 cpubind status --json --memory none || return 1
    for i in $all; do
        for k in 0 1; do
            grep -q "\"pid\": $(pid_of "$i" "$k")" /run/said || {
                echo "no worker $(pid_of "$i" "$k") of NPU $i"
                return 1
            }
        done
    done
}

service() {
    mkdir -p /run/workers
    printf 'memory = none\nwatch = 1\n' >/run/service.conf
    check "the settings are right" exits 0 cpubind service --check /run/service.conf
    check "container one starts" start_container one 0 1
    check "container two starts" start_container two 2 3
    npu-smi look
    start_service
    check_soon "the service answers" service_answers
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
    check "a worker executes itself again" executes_again 6 0
    check "1,000 threads a second" storms 7 0
    grep -h storm /run/workers/7.0.said | sed 's/^/# /'
    check "a worker in a container moves itself" moves_itself 1 0
    check "a worker starts threads" has_younger_threads 4 1
    end_service KILL
    check "the service is killed: the workers stay bound" all_are_right
    kill -USR2 "$(pid_of 4 0)"
    start_service
    check_soon "the service is started again, and puts right what was moved" all_are_right
    check_soon "it answers" service_answers
    end_service TERM
    check "the service has ended: the workers stay bound" all_are_right
    check "restore --all" exits 0 cpubind restore --all
    check "all is as before" all_is_restored
    check "no record is left" no_record_is_left
    # shellcheck disable=SC2046
    kill -9 $(cat /run/workers/?.?)
    for name in one two; do crun --root /run/crun delete --force $name; done
}
