#!/bin/sh
# witness.sh - what two builds of the command say, over all fixture hosts: every difference, by kind
# SPDX-License-Identifier: MIT
# runs: by hand
#
#   tests/witness.sh OLD NEW [WORD]     OLD, NEW: commands cpubind; WORD: command lines with it
#
# Run it from the top folder, with a build of before as OLD. Each line of `lines` is asked of each
# fixture host; @PCI is the address of the host's first accelerator. As root, with CPUs to bind to,
# each build also binds real processes, by `scene`, in namespaces of its own. Prints for each command
# line with a difference on how many hosts the exit status, or only the output, differ, and the
# difference of one of them; outputs are kept in BUILD/out/witness. Exit 1 if there is a difference.
set -u
LC_ALL=C
export LC_ALL
unset CPUBIND_RULES CPUBIND_FACTS LOCAL_RANK SLURM_LOCALID ASCEND_RT_VISIBLE_DEVICES CUDA_VISIBLE_DEVICES
out=${BUILD:-build}/out/witness

lines='
plan
plan --json
plan --rules reference
plan --rules reference --json
plan --rules reference -o overlap=keep --json
plan --rules reference -o overlap=refuse
plan --rules reference -o strategy=global_slice --json
plan --rules reference -o strategy=topo_affinity --json
plan --format distances
plan --format log
plan --explain all
plan --rank 0 --explain all
plan --rules reference --rank 1 --explain all
plan --explain cpu17
plan --explain threads
plan --rank 1 --json
plan --rank 0
plan --running --json
plan --visible 0
plan --visible 0,1 --json
plan --visible 1,0 --rank 0 --json
plan --devices 0-1 --json
plan --devices npu0
plan --device @PCI --json
plan --scope host --json
plan --scope own --json
plan --scope auto --json
plan --allowed 0-17,40-60 --json
plan --allowed 0-17,40-60 --scope host
plan --allowed 0 --scope own
plan --keep 2 --exclude 5 --json
plan --keep 0-3 --scope own --json
plan --processes 2 --index 1 --json
plan --processes 3 --index 0 --rank 0
plan -o roles=1,2,1,1 --json
plan --cpu-workers 2 --json
plan --cpu-workers node -o reserve=1
plan --cpu-workers 2 -o reserve-host=4 --json
plan -o cpu-nodes=0 --cpu-workers 1 --json
plan -o facts=npu-smi --json
plan -o facts=driver --json
plan -o device-type=a3 --json
plan -o total=16 --json
plan --thread worker*=acl --explain threads
plan -o threads=reference --rank 0 --json
plan --format map
plan --format log
plan --format taskset
plan --format numactl --rank 0
plan --format cpuset --rank 0
plan --format omp-places --rank 0
plan --format vllm-omp
plan --format systemd --rank 0
plan --format slurm
plan --format env --rank 0
plan --format svg
topo
topo --json
topo --nics
topo --nics --json
topo --format slurm
doctor
doctor --json
doctor --fix --dry-run
doctor --rules reference --json'

# Asks all command lines of a host; they are files N.HOST, whose last line is the exit status.
ask() { # old or new, command, file of a host
    name=$(basename "$3" .host)
    pci=$("$2" topo --json --root "$3" 2>/dev/null |
        grep -oE '[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9]' | head -n 1)
    n=0
    while read -r line; do
        n=$((n + 1))
        # The words of a line are split on purpose, and its * is no file.
        # shellcheck disable=SC2046
        {
            set -f
            timeout 60 "$2" $(echo "$line" | sed "s/@PCI/${pci:-0000:00:00.0}/") --root "$3" </dev/null 2>&1
            echo "exit $?"
        } >"$out/$1/$n.$name"
    done <"$out/lines"
}

# Binds processes of this machine, and prints what the command says of it; numbers of processes, and
# what is measured, are words.
scene() { # command
    . tests/scenes/lib.sh
    . tests/support/own_host.sh
    CPUBIND=$1
    make_own_host "$out/host" || return 1
    options="--root $out/host --device npu0 --scope own -o strategy=global_slice --rules reference -o any-arch=yes"
    start_worker acl_thread release_thread || return 1
    for line in "apply --pid $worker --memory none --allowed $own_cpu $options" "verify --pid $worker" \
        "status --root $out/host --json" "apply --all --root $out/host -o any-arch=yes --memory none" \
        "verify --all --json" "restore --pid $worker" "restore --all" "verify --pid $worker"; do
        echo "== $line"
        # shellcheck disable=SC2086
        "$CPUBIND" $line 2>&1 </dev/null
        echo "-- exit $?"
        grep -h '^Cpus_allowed_list' /proc/"$worker"/task/*/status
    done | sed "s/\\b$worker\\b/PID/g; s/[0-9.]* \\(ms\\|seconds\\)/N \\1/g; s/[0-9]\{5,\}/N/g"
    kill "$worker"
}

# What is asked: this script again, for a host or a scene, as many at a time as there are CPUs.
case ${1:-} in
--ask) ask "$2" "$3" "$4" && exit ;;
--scene) scene "$2" && exit ;;
esac
[ $# -ge 2 ] || {
    sed -n 's/^# *//; 6p' "$0" >&2
    exit 2
}
rm -rf "$out"
mkdir -p "$out/old" "$out/new" || exit 2
echo "$lines" | grep -F -e "${3:-}" >"$out/lines"
for side in old new; do
    command=$1
    [ $side = old ] || command=$2
    find fixtures/hosts -name '*.host' | sort |
        xargs -P "$(nproc)" -I{} "$0" --ask $side "$(realpath "$command")" {}
    [ -n "${3:-}" ] || "$0" --scene "$(realpath "$command")" >"$out/$side/scene" 2>&1
done

n=0
differences=0
while read -r line; do
    n=$((n + 1))
    found=$(diff -rq "$out/old" "$out/new" | sed -n "s|.*/new/\($n\..*\) differ\$|\1|p")
    [ -n "$found" ] || continue
    differences=$((differences + 1))
    other=0
    for name in $found; do
        [ "$(tail -n 1 "$out/old/$name")" = "$(tail -n 1 "$out/new/$name")" ] || other=$((other + 1))
    done
    first=$(echo "$found" | head -n 1)
    echo "== $line: $(echo "$found" | wc -l) hosts, $other with another exit status; ${first#*.}:"
    diff -U0 "$out/old/$first" "$out/new/$first" | sed '1,2d' | head -n 12 | cut -c 1-200
done <"$out/lines"
if [ -e "$out/new/scene" ] && ! cmp -s "$out/old/scene" "$out/new/scene"; then
    differences=$((differences + 1))
    echo "== live processes:"
    diff -U2 "$out/old/scene" "$out/new/scene"
fi
echo "$n command lines, $(find fixtures/hosts -name '*.host' | wc -l) hosts: $differences kinds of difference"
[ "$differences" -eq 0 ]
