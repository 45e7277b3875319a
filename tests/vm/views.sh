# shellcheck shell=sh disable=SC2154 # guest.sh sets the variables of an NPU
# views.sh - the section of guest.sh on what a host, an ordinary user and containers see
#
# Two containers have NPUs 0 and 1, and NPUs 2 and 3; both may use all CPUs. Each of the views
# must plan the same pools for the same NPUs, from the files of the driver and from npu-smi, and
# no view may open a davinci device, since an open assigns the device to a container.
#
# A view is one of
#   host        root on the host
#   user        an ordinary user
#   part        an ordinary user who may open the davinci devices from 2 on
#   one, two    root in a container
#   masked      as two, but does not see /proc/interrupts
#   own         root in a container that has CPUs 0-31 for its NPUs 4 and 5

containers="one two masked own"

# Runs a command in a view.
seen_by() { # view, command ...
    view=$1
    shift
    # shellcheck disable=SC2016
    case $view in
    host) "$@" ;;
    user) su -c 'exec "$0" "$@"' -- user "$@" ;;
    part)
        chmod 600 /dev/davinci[01]
        seen_by user "$@"
        got=$?
        chmod 666 /dev/davinci[01]
        return $got
        ;;
    *) crun --root /run/crun exec "$view" "$@" ;;
    esac
}

# Prints the folder of host.sh for a view.
described() { # view
    case $1 in host | user) echo /host ;; *) echo "/views/$1" ;; esac
}

phys_of() { # view
    cut -d ' ' -f 4 "$(described "$1")/npus"
}

# -- The files of the driver -----------------------------------------------------------------

# The mailbox interrupt, the table of the driver and the PCI function name the same NPU.
function_is_right() { # logic id
    npu "$1"
    at=/sys/bus/pci/devices/$address
    mailbox=$(grep -c "^$address $place .* trs-mbox-$phy-0\$" /run/irqs)
    read -r number <"$at/davinci_dev_num"
    read -r least <"$at/dev_id"
    table=$(grep -c "^${address#0000:}  $phy  *$phy  *\$" "$at/devdrv_sysfs_bdf_to_devid")
    echo "NPU $1: $mailbox interrupts, $number NPUs, first $least, $table rows"
    [ "$product" = 950 ] && mailbox=$((mailbox + 1))
    [ "$mailbox" -eq 1 ] && [ "$table" -eq 1 ] && [ $((least + place)) -eq "$phy" ] &&
        [ "$number" -eq "$(cut -d ' ' -f 5 /host/npus | grep -c "$address")" ]
}

# The device has the physical id as its minor number, and no link to PCI.
device_is_right() { # logic id
    npu "$1"
    at=/sys/class/devdrv-class/davinci$phy
    read -r number <"$at/dev"
    [ "${number#*:}" = "$phy" ] && [ ! -e "$at/device" ] && [ -c "/dev/davinci$phy" ] &&
        case $(readlink -f "$at") in /sys/devices/virtual/*) ;; *) false ;; esac
}

only_root_reads() { # file ...
    for file in "$@"; do
        cat "$file" >/dev/null || return 1
        if seen_by user cat "$file" 2>/dev/null; then
            echo "an ordinary user reads $file"
            return 1
        fi
    done
}

# The own row of namespace_node has the NPUs of the view, numbered from 0.
namespace_is_right() { # view
    seen_by "$1" cat /proc/uda/namespace_node >/run/said || return 1
    awk '/^ns_id / { own = /\(#\), udev list:$/; next } own && /^ *[0-9]+ +[0-9]+$/ {
        print $1, $2 }' /run/said >/run/own
    awk '{ print $1, $4 }' "$(described "$1")/npus" | diff - /run/own && return 0
    cat /run/said
    return 1
}

has_no_namespace() { # view
    ! seen_by "$1" grep '(#)' /proc/uda/namespace_node
}

# -- Plans -----------------------------------------------------------------------------------

opens_are() { # number
    read -r opens </sys/module/npu/parameters/opens
    [ "$opens" -eq "$1" ] && return 0
    echo "davinci devices were opened $opens times, should be $1"
    return 1
}

has_its_devices() { # view
    seen_by "$1" ls /dev | sed -n 's/^davinci\([0-9][0-9]*\)$/\1/p' >/run/own
    phys_of "$1" | sort | diff - /run/own
}

# Prints "logic id, pool" for each NPU of a plan.
pools() { # file
    tr '{' '\n' <"$1" | sed -n 's/^.*"npu": \([0-9]*\), .*"pool": "\([^"]*\)".*/\1 \2/p'
}

plans_the_pools() { # view, origin of its facts, more options ...
    of=$1
    origin=$2
    shift 2
    seen_by "$of" cpubind plan --json "$@" >/run/plan 2>/run/plan.said
    awk '{ print $1, $8 }' "$(described "$of")/npus" >/run/want
    pools /run/plan | diff /run/want - && grep "\"facts\": \"$origin\"" /run/plan && return 0
    cat /run/plan /run/plan.said
    return 1
}

# The launcher may have cut the CPUs of one process further: the cpuset counts.
plans_its_cpuset() { # pools of its two NPUs
    seen_by own taskset 3 cpubind plan --json --scope own --rules reference >/run/plan 2>/run/plan.said
    printf '0 %s\n1 %s\n' "$@" >/run/want
    pools /run/plan | diff /run/want - && return 0
    cat /run/plan /run/plan.said
    return 1
}

# Rank n drives the n-th NPU in view, while no NPU runs.
has_ranks() { # view, more options
    of=$1
    shift
    awk '{ print $1 }' "$(described "$of")/npus" | while read -r rank; do
        seen_by "$of" cpubind plan --json --rank "$rank" "$@" >/run/plan 2>&1 </dev/null
        grep -q "\"rank\": $rank, \"rank_device\": \"npu$rank\", " /run/plan || {
            echo "rank $rank:"
            cat /run/plan
            exit 1
        }
    done
}

plans() {
    read -r before </sys/module/npu/parameters/opens
    origins="npu-smi driver"
    [ "$product" = 950 ] && origins=npu-smi
    for origin in $origins; do
        for view in host user one two; do
            check "$view plans the pools of the host, facts from $origin" \
                plans_the_pools "$view" "$origin" -o facts="$origin"
        done
    done
    for view in host one; do
        check "$view takes facts from $origin by itself" plans_the_pools "$view" "$origin"
    done
    check "container two has its ranks" has_ranks two -o facts="$origin"
    [ "$product" = 950 ] || check "a user who may open six devices plans the pools of the host" \
        plans_the_pools part driver -o facts=driver
    check "a container that does not see the interrupts plans the pools of the host" \
        plans_the_pools masked "$([ "$product" = 950 ] && echo npu-smi || echo driver)"
    [ "$product" = 950 ] || check "it plans them by the files of the driver, too" \
        plans_the_pools masked driver -o facts=driver
    text="the CPUs of a container of its own go to its NPUs"
    case $product in
    a2) check "$text" plans_its_cpuset 16-31 0-15 ;;
    a3) check "$text" plans_its_cpuset 0-15 16-31 ;;
    esac
    check "no plan opened a davinci device" opens_are "$before"
}

# -- Workers ---------------------------------------------------------------------------------

start_inside() { # view, logic id
    # shellcheck disable=SC2016
    seen_by "$1" sh -c 'worker 8 1 "$0" >/tmp/ready 2>&1 & echo $! >/tmp/pid' "$2"
}

# Sets the variables of an NPU of a view, $task to the name of its process in the files of the
# driver, and $inner to the pid of that process in the view.
look_up() { # view, logic id
    phy=$(awk -v of="$2" '$1 == of { print $4 }' "$(described "$1")/npus")
    inner=$(seen_by "$1" cat /tmp/pid)
    task=$(cd /proc/trs_core/proc && echo *-dev-"$phy")
    echo "${task%%-*}" >"/run/npus/$phy"
    npu "$phy"
}

is_ready_inside() { # view
    seen_by "$1" grep ready /tmp/ready
}

# The driver lists the pid of the host, in the container too.
has_host_pid() { # view, logic id
    look_up "$1" "$2"
    awk -v pid="$pid" -v inner="$inner" '/^NSpid:/ { exit $2 != pid || $NF != inner }' \
        "/proc/$pid/status" &&
        seen_by "$1" grep "^pid $pid(worker) task_id .* devid $phy status 0" \
            "/proc/trs_core/proc/$task/summary"
}

binds_inside() { # view, logic id
    look_up "$1" "$2"
    exits 0 seen_by "$1" cpubind apply --pid "$inner" --device "npu$2" -o memory-time=300 &&
        threads_are_right "$phy" &&
        pages_are_right "$phy"
}

# The interrupts are not where the plan has them; verify must find no other difference.
verifies_inside() { # view, logic id
    look_up "$1" "$2"
    seen_by "$1" cpubind verify --pid "$inner" >/run/said 2>&1
    awk '$1 == "thread" { n++; if ($NF != "right") { print; bad = 1 } }
        END { exit bad || n < 20 }' /run/said && return 0
    cat /run/said
    return 1
}

restores_inside() { # view, logic id
    look_up "$1" "$2"
    exits 0 seen_by "$1" cpubind restore --pid "$inner" &&
        threads_are_all_on "$everywhere" "$pid"
}

shows_running() { # view, logic id ...
    of=$1
    shift
    seen_by "$of" cpubind plan --json >/run/plan 2>/run/plan.said
    tr '{' '\n' </run/plan | sed -n 's/^.*"npu": \([0-9]*\), .*"running": true.*/\1/p' >/run/own
    printf '%s\n' "$@" | diff - /run/own && return 0
    cat /run/plan /run/plan.said
    return 1
}

# -- The section -----------------------------------------------------------------------------

start_container() { # name, phy ...
    bundle.sh "$@" &&
        crun --root /run/crun --cgroup-manager cgroupfs run --detach --no-pivot \
            --bundle "/run/bundle/$1" "$1" &&
        seen_by "$1" npu-smi look
}

start_containers() {
    start_container one 0 1 && start_container two 2 3 || return 1
    (MASK=/proc/interrupts && export MASK && start_container masked 2 3) &&
        (CPUS=0-31 && export CPUS && start_container own 4 5)
}

end_containers() {
    for name in $containers; do crun --root /run/crun delete --force "$name" || return 1; done
}

no_process_is_listed() {
    ! ls -d /proc/trs_core/proc/*
}

views() {
    check "interrupts and tables of the driver name the NPUs" for_all function_is_right
    check "the devices of the driver have physical ids" for_all device_is_right
    check "only root reads the tables of the driver" only_root_reads /proc/uda/namespace_node \
        /sys/bus/pci/devices/*/dev_id /sys/bus/pci/devices/*/devdrv_sysfs_bdf_to_devid
    check "the host has the logic ids of all NPUs" namespace_is_right host
    check "containers start" start_containers
    for name in $containers; do
        check "container $name has its davinci devices" has_its_devices "$name"
    done
    check "a container that used no NPU has no logic ids yet" has_no_namespace one
    plans
    workers="one:0 two:1 masked:0 user:4"
    for worker in $workers; do
        start_inside "${worker%:*}" "${worker#*:}"
        check_soon "a worker of ${worker%:*} is ready" is_ready_inside "${worker%:*}"
    done
    for name in one two; do
        check "$name has the logic ids of its NPUs" namespace_is_right "$name"
    done
    read -r before </sys/module/npu/parameters/opens
    for worker in $workers; do
        set -- "${worker%:*}" "${worker#*:}"
        check "the driver lists the process of $1 by its pid of the host" has_host_pid "$@"
        check "$1: apply" binds_inside "$@"
        check "$1: verify" verifies_inside "$@"
        check "$1: the interrupts stay, since they are read-only there" irqs_are_right
        check "$1: restore" restores_inside "$@"
    done
    if [ "$product" != 950 ]; then
        check "the host sees which NPUs run" shows_running host 0 2 3 4
        check "an ordinary user sees which NPUs run" shows_running user 0 2 3 4
        check "container two sees which of its NPUs run" shows_running two 0 1
    fi
    check "no apply opened a davinci device" opens_are "$before"
    kill "$pid"
    check "containers end" end_containers
    check_soon "the driver lists no process" no_process_is_listed
    rm /run/npus/*
}
