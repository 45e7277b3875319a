# shellcheck shell=sh disable=SC2154 # guest.sh sets the variables of an NPU
# crowd.sh - the section of guest.sh on sixteen ranks that are bound at once
#
# Two workers of each NPU, each bound by a cpubind of its own, all started at the same time: none
# is refused because another one is at work, and none is lost. The two share the CPUs of irq;
# each has half of the rest of the pool.

part_of() { # number of the worker of its NPU: 0 or 1
    main=$((first + 2 + 3 * $1))
    # shellcheck disable=SC2034 # threads_run_on reads both
    acl=$((main + 1)) release=$((main + 2))
}

crowd_ranks() { # command ...; all of them must succeed, for NPU and number
    bad=0
    for i in $all; do
        "$@" "$i" 0 || bad=1
        "$@" "$i" 1 || bad=1
    done
    return $bad
}

rank_is_ready() { # logic id, number
    grep -q ready "/run/crowd/$1.$2.said"
}

# Starts a command for all ranks at the same time, with the pid of each in $rank. Each must exit
# with 0.
at_once() { # command ...
    started=
    for i in $all; do
        for k in 0 1; do
            read -r rank <"/run/crowd/$i.$k"
            {
                "$@" >"/run/crowd/$i.$k.out" 2>&1
                echo $? >"/run/crowd/$i.$k.status"
            } &
            started="$started $!"
        done
    done
    # shellcheck disable=SC2086
    wait $started
    crowd_ranks rank_succeeded
}

rank_succeeded() { # logic id, number
    read -r got <"/run/crowd/$1.$2.status"
    [ "$got" = 0 ] && return 0
    echo "NPU $1, process $2: exit $got"
    cat "/run/crowd/$1.$2.out"
    return 1
}

bind_rank() {
    cpubind apply --pid "$rank" --device "npu$i" --rules near --processes 2 --index "$k" --memory none
}

restore_rank() {
    cpubind restore --pid "$rank"
}

rank_is_bound() { # logic id, number
    npu "$1"
    part_of "$2"
    read -r pid <"/run/crowd/$1.$2"
    threads_run_on "$1" && exits 0 cpubind verify --pid "$pid"
}

crowd_is_as_before() {
    # shellcheck disable=SC2046
    threads $(cat /run/crowd/?.[01]) | diff /run/crowd/before - && irqs_are_right
}

crowd() {
    mkdir -p /run/crowd
    for i in $all; do
        for k in 0 1; do
            worker 1 1 "$i" >"/run/crowd/$i.$k.said" 2>&1 &
            echo $! >"/run/crowd/$i.$k"
        done
    done
    cp /run/crowd/?.0 /run/npus
    for i in $all; do mv "/run/npus/$i.0" "/run/npus/$i"; done
    npu-smi look
    check_soon "sixteen workers are ready" crowd_ranks rank_is_ready
    # shellcheck disable=SC2046
    threads $(cat /run/crowd/?.[01]) >/run/crowd/before
    check "sixteen applies at the same time succeed" at_once bind_rank
    check "all threads of the sixteen are where the plan has them" crowd_ranks rank_is_bound
    # shellcheck disable=SC2086
    check "and so are the interrupts of their NPUs" irqs_are_right $all
    check "sixteen records and that of the host" \
        test "$(find /run/cpubind -name '*.record' | wc -l)" -eq 17
    check "sixteen restores at the same time succeed" at_once restore_rank
    check "all is as before" crowd_is_as_before
    check "no record is left" no_record_is_left
    # shellcheck disable=SC2046
    kill -9 $(cat /run/crowd/?.[01])
    rm /run/npus/*
}
