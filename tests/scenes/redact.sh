#!/bin/sh
# redact.sh - a redacted capture has no name of a container, job or user, and the same plan
# SPDX-License-Identifier: MIT
# runs: check-all
#
# Three hosts are made, as a pod of Kubernetes, a step of Slurm and a service of a user see them.
# Names that are planted in them are searched for in what is captured: in bytes, in the names of
# files, in the targets of links.
. tests/scenes/lib.sh

id=8f14e45fceea167a5a36dedd4bea2543f14e45fceea167a5a36dedd4bea25431
other=1679091c5a880faf6fb5e6087eb1b2dc679091c5a880faf6fb5e6087eb1b2dc0
pod=1f0e3dad_9990_8345_b7439f8ffabdffc4
names="$id $other 1f0e3dad 9990 8345 b7439f8ffabdffc4 acmebank ledger quarkhost
    fraudmodel traderone borealis claim7f2a secretimage
    jupiter 48213771 tensorlab 30417 genomics orchid
    marguerite 20481 nightrun violetapp 5521 cobalt sapphire opal77 mistral zephyr"

# A host whose NPU 0 is driven by process 73120, with what it and its neighbour say of themselves.
make_host() { # folder, path of the cgroup, that of the neighbour
    rm -rf "$1" && "$CPUBIND" fixture export a2-192cpu-8npu "$1" --quiet && rm -r "$1/expect" &&
        mkdir -p "$1/etc" "$1/sys/fs/cgroup$2" "$1/sys/fs/cgroup$3" &&
        echo quarkhost >"$1/etc/hostname" && echo "0::$2" >"$1/proc/self/cgroup" &&
        echo 0-191 >"$1/sys/fs/cgroup$2/cpuset.cpus.effective" &&
        echo 0-63 >"$1/sys/fs/cgroup$3/cpuset.cpus.effective" &&
        sed -i 's/^Uid:.*/Uid:\t20481\t20481\t20481\t20481/; s/^Groups:.*/Groups:\t30417 20481 /' \
            "$1/proc/self/status" || return 1
    for pid in 73120 73201; do
        at=$1/proc/$pid
        mkdir -p "$at/task/$pid" &&
            echo "$pid (fraudmodel) S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0" >"$at/stat" &&
            cp "$at/stat" "$at/task/$pid/stat" && echo fraudmodel >"$at/comm" &&
            printf 'Name:\tfraudmodel\nPid:\t%s\nUid:\t20481\t20481\t20481\t20481\nCpus_allowed_list:\t0-191\n' $pid >"$at/status" &&
            cp "$at/status" "$at/task/$pid/status" &&
            printf 'HOME=/home/marguerite\0TOKEN=zephyr\0OMP_PROC_BIND=true\0' >"$at/environ" &&
            printf 'python3\0/data/acmebank/traderone.py\0--job\0nightrun\0' >"$at/cmdline" &&
            echo '7f00 default file=/home/marguerite/models/mistral.bin mapped=9 N0=9 kernelpagesize_kB=4' >"$at/numa_maps" ||
            return 1
    done
    echo "0::$2" >"$1/proc/73120/cgroup"
    echo "0::$3" >"$1/proc/73201/cgroup"
    printf '%s\n' "22 28 0:20 / /proc rw,nosuid shared:5 - proc proc rw,hidepid=2,gid=100" \
        "41 22 0:50 /lib/borealis/online /proc/irq ro shared:7 - overlay sapphire rw,lowerdir=/var/opal77/cobalt" \
        >"$1/proc/self/mountinfo"
    echo "npu-smi: cannot open /home/marguerite/orchid.conf of job nightrun for traderone on quarkhost: Permission denied" \
        >"$1/cmd/npu-smi-info-m.txt.err"
    echo "DRA_CPUSET_claim7f2a_zephyr_secretimage=0-191" >"$1/env"
}

kubernetes() { # folder
    slice=/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod$pod.slice
    make_host "$1" "$slice/cri-containerd-$id.scope" "$slice/cri-containerd-$other.scope/acmebank-ledger"
}
slurm() { # folder
    make_host "$1" /slurm/jupiter/uid_20481/job_48213771/step_0/task_3/tensorlab \
        /system.slice/slurmstepd.scope/job_48213772/step_batch/genomics_borealis
}
systemd() { # folder
    make_host "$1" /user.slice/user-20481.slice/user@20481.service/app.slice/app-violetapp-5521.scope \
        /system.slice/marguerite-nightrun.service/jupiter
}

# Prints where a name is left: in bytes, in the names of files, in the targets of links.
find_names() { # folder
    for name in $names; do
        grep -rlaF -e "$name" "$1" | sed "s/^/$name in /"
        find "$1" -mindepth 1 -name "*$name*"
        find "$1" -type l -lname "*$name*"
    done
}

# What is planted is found before: the search works.
plants() { # kind
    $1 "$out/$1" && "$CPUBIND" capture --root "$out/$1" -o "$out/$1-plain" --quiet &&
        find_names "$out/$1-plain" >"$out/found" && cat "$out/found" && [ "$(wc -l <"$out/found")" -ge 12 ]
}

takes_out() { # kind
    "$CPUBIND" capture --root "$out/$1" -o "$out/$1-redacted" --redact >"$out/said" || return 1
    cat "$out/said"
    grep -q 'what was written gives the same' "$out/said" && grep -q '^taken out: .* of containers, jobs and users' "$out/said" &&
        find_names "$out/$1-redacted" >"$out/found"
    cat "$out/found"
    [ ! -s "$out/found" ]
}

same_plan() { # kind
    for folder in "$1" "$1-plain" "$1-redacted"; do
        "$CPUBIND" plan --root "$out/$folder" --json >"$out/$folder.json" || return 1
    done
    cmp "$out/$1.json" "$out/$1-plain.json" && cmp "$out/$1.json" "$out/$1-redacted.json" &&
        for folder in "$1-plain" "$1-redacted"; do
            "$CPUBIND" doctor --root "$out/$folder" --json >"$out/$folder.doctor"
            sed 's/"value".*//; s/"evidence".*//' "$out/$folder.doctor" | grep -o '"check": *"[^"]*"\|"state": *"[^"]*"' >"$out/$folder.checks"
        done && [ -s "$out/$1-plain.checks" ] && diff "$out/$1-plain.checks" "$out/$1-redacted.checks"
}

# The paths in the files of processes lead to the files of these cgroups, and to no others.
paths_agree() { # kind
    at=$out/$1-redacted
    one=$(sed 's/^0:://' "$at/proc/73120/cgroup")
    two=$(sed 's/^0:://' "$at/proc/73201/cgroup")
    echo "$one $two"
    [ "$(sed 's/^0:://' "$at/proc/self/cgroup")" = "$one" ] && [ "$one" != "$two" ] &&
        [ "$(cat "$at/sys/fs/cgroup$one/cpuset.cpus.effective")" = 0-191 ] &&
        [ "$(cat "$at/sys/fs/cgroup$two/cpuset.cpus.effective")" = 0-63 ] &&
        [ "$(echo "$one" | tr -d '[:alnum:]')" = "$(sed 's/^0:://' "$out/$1/proc/self/cgroup" | tr -d '[:alnum:]')" ]
}

# What is left is listed: each file that differs from the plain capture in nothing, and no other.
lists_what_is_left() { # kind
    (cd "$out/$1-redacted" && find . -type f ! -path './expect/*' ! -name host.txt) | sed 's|^\./||' |
        while read -r file; do
            ! cmp -s "$out/$1-plain/$file" "$out/$1-redacted/$file" || echo "$file"
        done | wc -l >"$out/n_same"
    sum=$(sed -n 's/^left as it is: .* (\([0-9]*\))$/\1/p' "$out/said" |
        awk '{ n += $1 } END { print n + 0 }')
    echo "$sum listed, $(cat "$out/n_same") the same"
    [ "$sum" -eq "$(cat "$out/n_same")" ]
}

# Each name is planted in one of the hosts at least: a search for any other could not fail.
all_are_planted() {
    n_name=0
    for name in $names; do
        n_name=$((n_name + 1))
        grep -rqaF -e "$name" "$out"/*-plain || find "$out"/*-plain -name "*$name*" | grep -q . || {
            echo "$name is in none"
            return 1
        }
    done
    [ $n_name -ge 30 ]
}

# A name has one word wherever it is: in a text of stderr, in a path of a text, in that of a file.
one_word_for_one_name() {
    at=$out/systemd-redacted
    said=$(sed -n 's/.* of [^ ]* \([^ ]*\) for .*/\1/p' "$at/cmd/npu-smi-info-m.txt.err")
    listed=$(sed -n 's|.*/[^/]*-\([^/-]*\)\.service/.*|\1|p' "$at/proc/73201/cgroup")
    user=$(sed -n 's|.*/\([^/-]*\)-[^/]*\.service/.*|\1|p' "$at/proc/73201/cgroup")
    echo "job $said, $listed; user $user"
    cat "$at/cmd/npu-smi-info-m.txt.err"
    [ -n "$said" ] && [ "$said" = "$listed" ] && [ "$said" != nightrun ] && [ "$user" != "$said" ] &&
        [ -n "$(find "$at/sys/fs/cgroup" -name "$user-$listed.service")" ] &&
        grep -q "open /[a-z]*/$user/" "$at/cmd/npu-smi-info-m.txt.err"
}

for kind in kubernetes slurm systemd; do
    check "$kind: the names are in a plain capture" plants $kind
    check "$kind: no name is in a redacted capture" takes_out $kind
    check "$kind: what is left as it is is listed" lists_what_is_left $kind
    check "$kind: the plan and the findings are the same" same_plan $kind
    check "$kind: paths lead to the same files" paths_agree $kind
done
check "each name is planted" all_are_planted
check "a name has one word in texts, paths and stderr" one_word_for_one_name
finish
