#!/bin/sh
# claims.sh - which CPUs a worker may have: its cpuset, its pod, its claims, what is hidden; TAP
# SPDX-License-Identifier: MIT
# runs: check
# shellcheck disable=SC2086 # lists are split on purpose
#
# The workers are in real cgroups of version 1, as those of pods, and of GPUs whose node has both
# CPUs, so that a worker has what nobody else may have.
. tests/scenes/lib.sh
use_gpus
put_one_node "$host"
if ! make_pod 2>"$out/pod"; then
    remove_pod 2>"$out/pod"
    skip_all "no cpuset of cgroups of version 1 can be made here"
fi
name_pod

# A member of what is said of the worker of the pod.
of_pod() { # member
    json ".workers[0].$1" "$out/explained"
}

explain() {
    "$CPUBIND" status --root "$host" --explain "$uid" --json >"$out/explained" 2>"$out/err" || {
        cat "$out/explained" "$out/err"
        return 1
    }
}

# In the pod, with variables of its own.
start_in_pod() { # VARIABLE=VALUE ...
    start_on 5 "$@" && echo "$worker" >"$cgroup/cgroup.procs"
}

apply_all() {
    "$CPUBIND" apply --all --root "$host" --memory none --json >"$out/said" 2>"$out/err" &&
        fits host_report
}

restore_and_end() {
    "$CPUBIND" restore --all --quiet && end_worker
}

# VARIABLES|CLAIMED|CPUS: a claim that the cpuset holds is what the worker has, and nobody else;
# another one changes nothing, and is known.
claims_count_as_far_as_they_are_held() {
    while IFS='|' read -r variables claimed cpus; do
        start_in_pod $variables && explain || return 1
        [ "$(of_pod claimed)" = "$claimed" ] && [ "$(of_pod allowed)" = "$both" ] && apply_all &&
            is_on "$worker" "$cpus" && restore_and_end || {
            echo "$variables: claimed $(of_pod claimed), allowed $(of_pod allowed)"
            return 1
        }
    done <<TABLE
A=1 DRA_CPUSET_c1=$b|$b|$b
DRA_CPUSET_c1=$a DRA_CPUSET_c2=$b|$both|$both
DRA_CPUSET_c1=$a DRA_CPUSET_c2=500|$a,500|$a
DRA_CPUSET_c1=3-1||$a
DRA_CPUSET_c1=$a DRA_CPUSET_c2=$a|$a|$a
DRA_CPUSET_c1= DRA_CPUSET=1||$a
TABLE
}

a_service_says_claims_that_are_not_held() {
    settings 'restore-at-end = yes' && start_in_pod DRA_CPUSET_c1=$a,500 && first=$worker &&
        start_service &&
        becomes is_on "$first" "$a" && becomes logged "500" && end_worker &&
        start_in_pod DRA_CPUSET_c1=x &&
        becomes is_on "$worker" "$a" && becomes logged "DRA_CPUSET_" && end_service TERM &&
        end_worker
}

# Of a pod alone nobody can tell by the CPUs whether others get them: its class does.
the_cpus_of_a_guaranteed_pod_are_its_own() {
    burstable=$cgroup
    cgroup=$pods
    for part in kubepods/pod$uid $id; do
        cgroup=$cgroup/$part
        mkdir "$cgroup" && cat "${cgroup%/*}/cpuset.mems" >"$cgroup/cpuset.mems" &&
            echo "$b" >"$cgroup/cpuset.cpus" ||
            return 1
    done
    start_in_pod && explain && [ "$(of_pod pod.qos)" = guaranteed ] &&
        [ "$(of_pod allowed)" = "$b" ] && apply_all &&
        is_on "$worker" "$b" && restore_and_end
    result=$?
    cgroup=$burstable
    return $result
}

# A container whose cgroups are hidden: those that it sees itself count, if it is in them.
hidden_cgroups_are_looked_for() {
    echo "$b" >"$cgroup/cpuset.cpus"
    echo "mount --bind $cgroup /sys/fs/cgroup/cpuset && exec \"\$@\"" >"$out/contain"
    as="unshare -m sh $out/contain"
    start_on 5 || return 1
    as=
    echo "$worker" >"$cgroup/cgroup.procs" &&
        echo "3:cpuset:/kubepods/burstable/pod$uid/$id" >"$out/cgroup" &&
        mount --bind "$out/cgroup" "/proc/$worker/cgroup" && explain &&
        [ "$(of_pod allowed)" = "$b" ] &&
        echo "$worker" >$pods/cgroup.procs && taskset -apc "$a" "$worker" >"$out/taskset" &&
        explain &&
        [ "$(of_pod allowed)" = "$a" ]
    result=$?
    echo "allowed: $(of_pod allowed)"
    umount "/proc/$worker/cgroup"
    end_worker
    echo "$a,$b" >"$cgroup/cpuset.cpus"
    return $result
}

# A worker that cannot be read is said, and the other is bound. Its CPUs alone may be unknown.
damaged_rows_are_said() {
    start_on 7 && second=$worker && start_on 5 && first=$worker || return 1
    for file in "status Cpus_allowed_list:	3-1" "status nothing" "task/$first/stat $first (w"; do
        echo "${file#* }" >"$out/damaged" &&
            mount --bind "$out/damaged" "/proc/$first/${file%% *}" || return 1
        apply_all
        umount "/proc/$first/${file%% *}"
        is_on "$second" "$b" && case $file in
        status*) is_on "$first" "$a" ;;
        *) is_on "$first" "$before" && [ "$(json '.workers[0].state')" != bound ] ;;
        esac && "$CPUBIND" restore --all --quiet || {
            cat "$out/said" "$out/err"
            return 1
        }
    done
    end_worker "$first" "$second"
}

# The kernel moves a worker by force whose cpuset lacks its CPUs, and gives them back with these.
a_cpuset_that_shrank_hides_no_binding() {
    settings && start_in_pod || return 1
    for way in all watch service; do
        case $way in
        all) apply_all ;;
        watch)
            "$CPUBIND" apply --pid "$worker" --root "$host" --device gpu0 --memory none \
                --watch 1 >"$out/watched" 2>&1 &
            ;;
        service) start_service ;;
        esac
        becomes is_on "$worker" "$a" && echo "$b" >"$cgroup/cpuset.cpus" && sleep 2 &&
            is_on "$worker" "$b" && says 0 "put back" restore && ! grep -q "somebody" "$out/err" &&
            echo "$a,$b" >"$cgroup/cpuset.cpus" && is_on "$worker" "$both" &&
            [ ! -e "/run/cpubind/$worker.record" ] || return 1
    done
    kill_service
    end_worker
}

check "claims count as far as the cpuset holds them" claims_count_as_far_as_they_are_held
check "restore frees what a cpuset that shrank has moved" a_cpuset_that_shrank_hides_no_binding
check "the service says claims that are not held" a_service_says_claims_that_are_not_held
check "the CPUs of a guaranteed pod are its own" the_cpus_of_a_guaranteed_pod_are_its_own
check "cgroups that are hidden are looked for where the worker sees them" hidden_cgroups_are_looked_for
check "a worker that cannot be read is said, and others are bound" damaged_rows_are_said
kill_service
end_worker $(find "$pods" -name cgroup.procs -exec cat {} +)
remove_pod
finish
