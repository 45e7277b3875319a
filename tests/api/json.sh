#!/bin/sh
# json.sh - every JSON object that the command prints keeps to the lists of JSON*.md
# SPDX-License-Identifier: MIT
# runs: check-all
# build: plain
#
#   tests/api/json.sh      from the top folder; BUILD is where the command and outputs are
#
# Prints TAP. Collects the outputs for all fixture hosts, and for a process of this machine that
# is bound; an output is an object of one line. The lists are the schema.
LC_ALL=C
export LC_ALL

BUILD=${BUILD:-build}
out=$BUILD/json
here=tests/api
rm -rf "$out"
mkdir -p "$out"
. tests/support/tap.sh
. tests/support/own_host.sh

if ! command -v python3 >/dev/null 2>&1; then
    skip "JSON keeps to its schema" "no python3"
    finish
    exit
fi

# Appends an output to the file of its form.
collect() { # form, arguments ...
    form=$1
    shift
    "$BUILD/cpubind" "$@" --json >>"$out/$form.all" 2>"$out/err"
}

# Moves errors to the file of their form, but for explanations that there is no plan.
part_errors() { # form
    [ "$1" = error ] && return
    awk -v errors="$out/error.all" '/^{"cpubind": "[^"]*", "error": / && !/}, "explain": / {
        print >>errors
        next
    } 1' "$out/$1.all" >"$out/parted" && mv "$out/parted" "$out/$1.all"
}

collect_host() { # folder
    collect plan plan --root "$1"
    collect plan plan --root "$1" --rules reference --rank 1
    collect plan plan --root "$1" --exclude 3 --keep 1 --processes 2 --index 1
    collect plan plan --root "$1" --allowed 0-3
    collect plan plan --root "$1" --rules reference -o overlap=refuse --devices npu1,npu2
    collect topo topo --root "$1" --nics
    collect topo topo --root "$1" --choose 1
    collect doctor doctor --root "$1"
    collect doctor doctor --root "$1" --fix --dry-run
    collect status status --root "$1" --memory none
    collect cpu_workers plan --root "$1" --cpu-workers 2 -o cpu-nodes=0 -o reserve=1
    collect_explanations "$1"
}

keeps_to() { # form, number of objects at least
    part_errors "$1"
    [ "$(wc -l <"$out/$1.all")" -ge "$2" ] || wc -l "$out/$1.all"
    python3 $here/json_pages.py check "$1" "$out/$1.all" >"$out/faults"
    status=$?
    head -n 20 "$out/faults" | cut -c 1-300
    [ $status -eq 0 ] && [ "$(wc -l <"$out/$1.all")" -ge "$2" ]
}

# Binds a process, lets it drift, and restores it.
collect_binding() {
    make_own_host "$out/own" || return 1
    sleep 60 &
    worker=$!
    collect report apply -o any-arch=yes --pid $worker --device npu0 --root "$out/own" --scope own \
        --rules reference -o strategy=global_slice --allowed "$own_cpu"
    collect report verify --pid $worker
    taskset -pc "$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)" \
        $worker >"$out/err" 2>&1
    collect report verify --pid $worker
    collect report restore --pid $worker
    collect error verify --pid $worker
    collect error apply --pid $worker --no-such-option
    kill $worker
    wait $worker 2>"$out/err"
    collect error verify --pid $worker
    cat "$out/report.all"
    [ "$(wc -l <"$out/report.all")" -eq 4 ]
}

# Explanations are long; their sentences are tests of their own.
collect_explanations() {
    for target in npu0 cpu5 acl npu0.main; do
        collect explain plan --root "$1" --explain $target
        collect explain plan --root "$1" --rules reference --explain $target
    done
}

# doctor --fix and --restore, with a /run and a switch of numa_balancing of their own. Prints
# nothing where --fix would change anything else.
fix_and_restore() { # the switch
    # shellcheck disable=SC2016
    unshare -m sh -c '
        mount -t tmpfs -o mode=755 tmpfs /run &&
            mount --bind "$1" /proc/sys/kernel/numa_balancing || exit
        "$2" doctor --fix --dry-run --json >"$1.dry"
        [ "$(grep -o "\"kind\": " "$1.dry" | wc -l)" -eq 1 ] &&
            grep -q "\"file\": \"/proc/sys/kernel/numa_balancing\"" "$1.dry" || exit
        "$2" doctor --fix --json
        "$2" doctor --restore --json' sh "$1" "$BUILD/cpubind"
}

collect_fix() {
    cat "$out/fixed"
    head -n 1 "$out/fixed" >>"$out/doctor.all"
    tail -n 1 "$out/fixed" >>"$out/doctor_restore.all"
    grep -q '"result": "made"' "$out/fixed" && [ "$(cat "$out/switch")" = 1 ]
}

for host in fixtures/hosts/*.host; do
    collect_host "$host"
done
check "objects that are wrong are refused, and tables without sense" python3 $here/json_pages.py self-test
check "plans keep to the schema" keeps_to plan 270
check "topo keeps to the schema" keeps_to topo 100
echo 1 >"$out/switch"
fix_and_restore "$out/switch" >"$out/fixed" 2>"$out/err"
if [ -s "$out/fixed" ]; then
    check "doctor --fix changes the switch, and --restore puts it back" collect_fix
    check "doctor --restore keeps to the schema" keeps_to doctor_restore 1
else
    skip "doctor --fix and --restore keep to the schema" "no mounts, or more than a switch to change"
fi
check "doctor keeps to the schema" keeps_to doctor 100
check "status keeps to the schema" keeps_to status 50
check "a process is bound, verified and restored" collect_binding
check "reports of a binding keep to the schema" keeps_to report 4
for host in a2-192cpu-8npu 950-smt2-640cpu too-few; do
    collect explain plan --root fixtures/hosts/$host.host --explain all
done
collect explain plan --explain threads
collect explain plan --explain threads -o threads=reference
for host in gpu-switches-4a100 gpu-4max1550 gpu-vm-2l4 gpu-cpuset-far-2l20; do
    collect explain plan --root fixtures/hosts/$host.host --keep 1 --explain all
done
check "explanations keep to the schema" keeps_to explain 700
check "plans of CPU workers keep to the schema" keeps_to cpu_workers 100
check "errors keep to the schema" keeps_to error 200
finish
