#!/bin/sh
# runs: by make
# vm.sh - boots Ascend hosts in ARM virtual machines, where guest.sh checks cpubind
# build: plain
#
#   tests/vm/vm.sh boot HOST...  as many at a time as this machine has CPUs; writes the console
#                                of each to BUILD/vm/HOST.log
#   tests/vm/vm.sh show HOST     prints the results of guest.sh as TAP
#   tests/vm/vm.sh run HOST SH   boots, runs another script in place of guest.sh, and prints the
#                                console
#
# HOST is a2, a3, 300i, 950, or one of three hosts with sections of their own: a2x2, an A2 with two
# nodes and two network cards of virtio; a2x4, an A2 with four nodes and four NPUs; and mixed, two
# NPUs of an A2 beside two GPUs of AMD. Its kernel is 6.1, that of HOST@6.12 is 6.12. make_disk has
# the sections of guest.sh that each runs; VM_SECTIONS="views rules" chooses others, such as
# "binder_start troubles", which are parts of binder, or slurm (make check-slurm, which fetches and
# builds what it needs).
# A machine that prints nothing for VM_SILENCE=1200 seconds is ended.
# fetch.sh and `make check-vm` must have made BUILD/vm. Writes only below BUILD/vm.

set -u
BUILD=${BUILD:-build}
vm=$BUILD/vm
here=$(dirname "$0")
most_silence=${VM_SILENCE:-1200}

# guest.sh reads all sections into one shell, in which a second function of a name would replace
# the first one.
has_one_of_each() { # script ...
    twice=$(sed -n 's/^\([a-z_0-9]*\)() {.*/\1/p' "$@" | sort | uniq -d)
    [ -z "$twice" ] && return 0
    echo "defined twice in $*: $twice" >&2
    return 1
}

# Makes the folder of the root file system of the machine, and packs it.
make_disk() { # host, script
    root=$vm/$1.root
    host=${1%@*}
    rm -rf "$root"
    for folder in bin proc sys dev run host tmp; do mkdir -p "$root/$folder"; done
    cp "$vm/apt/root/bin/busybox" "$root/bin/busybox"
    for name in cpubind worker disturb memory deny; do cp "$vm/bin/$name" "$root/bin/"; done
    cp "$(kernel_of "$1")/npu.ko" "$root/npu.ko"
    cp "$here/npu-smi.sh" "$root/bin/npu-smi"
    cp "$here/bundle.sh" "$root/bin/bundle.sh"
    cp "$here/init.sh" "$root/init"
    cp "$2" "$root/guest.sh"
    for section in views rules crowd binder measure memory service doctor numa driver \
        newcomer mixed cards pods slurm; do
        cp "$here/$section.sh" "$root/"
    done
    add_scenes
    (cd "$root" && has_one_of_each ./*.sh tests/*/lib.sh) || return 1
    ln -s busybox "$root/bin/sh"
    chmod +x "$root/bin/npu-smi" "$root/bin/bundle.sh" "$root/init"
    add_programs
    "$here/host.sh" "$host" "$root/host" || return 1
    "$here/host.sh" "$host" "$root/views/one" 0 1
    "$here/host.sh" "$host" "$root/views/two" 2 3
    "$here/host.sh" "$host" "$root/views/own" 4 5
    "$here/host.sh" "$host" "$root/views/part" 2 3 4 5 6 7
    cp -r "$root/views/two" "$root/views/masked"
    "$here/host.sh" "$host" "$root/views/npu" 1
    mkdir -p "$root/views/gpu"
    cp adapters/host/FIRST.md "$root/host/"
    # Each section runs on the fewest machines that differ in what it is about: the rules of a plan
    # are no matter of the product (an A2 has eight nodes, a 950 has clusters), views are.
    case $1 in
    a2@6.12) sections="service doctor driver numa newcomer" ;;
    a2) sections="measure views rules binding crowd" ;;
    a2x2*) sections="rules memory_moves scenes cards" ;;
    a2x4) sections=pods ;;
    a2x4@6.12) sections=binder ;;
    950*) sections="views rules binding" ;;
    mixed*) sections=mixed ;;
    a3*) sections=views ;;
    *) sections=binding ;;
    esac
    sections=${VM_SECTIONS:-$sections}
    [ "$sections" = slurm ] && add_slurm
    [ "$1" = a2x2 ] && add_cards
    echo "$sections" >"$root/host/sections"
    (cd "$root" && find . | cpio -o -H newc --quiet --owner 0:0) >"$vm/$1.cpio"
}

kernel_of() { # host, or host@kernel
    case $1 in *@*) echo "$vm/kernels/${1#*@}" ;; *) echo "$vm/kernels/6.1" ;; esac
}

# The scenes of tests/scenes that run here, and the programs of them.
add_scenes() {
    mkdir -p "$root/tests/scenes" "$root/tests/support" "$root/build/programs"
    cp tests/scenes/lib.sh "$root/tests/scenes/"
    grep -l '^# machines: yes' tests/scenes/*.sh | xargs -I{} cp {} "$root/tests/scenes/"
    cp tests/support/tap.sh "$root/tests/support/"
    cp "$vm/bin/scene_worker" "$root/build/programs/worker"
    ln -s ../bin/cpubind "$root/build/cpubind"
}

# crun and sqlite3 are linked with the libraries of Debian.
add_programs() {
    cp "$vm/apt/root/usr/bin/crun" "$vm/apt/root/usr/bin/sqlite3" "$root/bin/"
    mkdir -p "$root/lib/aarch64-linux-gnu"
    cp "$vm/apt/root/lib/aarch64-linux-gnu/ld-linux-aarch64.so.1" "$root/lib/"
    for name in libc.so.6 libcap.so.2 libgcrypt.so.20 libgpg-error.so.0 liblz4.so.1 liblzma.so.5 \
        libseccomp.so.2 libsystemd.so.0 libyajl.so.2 libzstd.so.1 libm.so.6 libsqlite3.so.0 \
        libreadline.so.8 libtinfo.so.6 libz.so.1; do
        cp -L "$vm/apt/root"/*/aarch64-linux-gnu/$name "$vm/apt/root/usr/lib"/*/$name \
            "$root/lib/aarch64-linux-gnu/" 2>/dev/null
    done
}

# The drivers of virtio's network cards, which the kernel has as modules.
add_cards() {
    mkdir "$root/cards"
    find "$vm/kernels/6.1/root/lib/modules" \( -name 'virtio*.ko' -o -name '*failover.ko' \) \
        -exec cp {} "$root/cards/" ';'
}

# Slurm has the paths of Debian compiled in.
add_slurm() {
    from=$vm/slurm/root
    mkdir -p "$root/usr/sbin" "$root/usr/lib/aarch64-linux-gnu"
    cp -a "$from"/lib/aarch64-linux-gnu/*.so* "$root/lib/aarch64-linux-gnu/"
    cp -a "$from"/usr/lib/aarch64-linux-gnu/*.so* "$from/usr/lib/aarch64-linux-gnu/slurm-wlm" \
        "$root/usr/lib/aarch64-linux-gnu/"
    for name in slurmctld slurmd slurmstepd; do
        cp "$from/usr/sbin/$name-wlm" "$root/usr/sbin/$name"
        ln -s "/usr/sbin/$name" "$root/bin/$name"
    done
    cp "$from/usr/sbin/munged" "$from/usr/bin/srun" "$from/usr/bin/scancel" "$from/usr/bin/sinfo" \
        "$from/usr/bin/squeue" "$root/bin/"
    cp adapters/slurm/epilog.sh "$root/epilog"
    cp -L "$BUILD/arm64/libcpubind.so.1" "$BUILD/arm64/slurm/spank_cpubind.so" "$root/usr/lib/"
}

# Prints the options of each node, and the distances of two sockets.
numa() { # host
    n_cpu=0
    n_node=$(wc -l <"$vm/$1.root/host/nodes")
    # Of eight nodes each has 256 MiB: node 0 has the root file system, too, and a quarter of it
    # is the reserve that a move of memory leaves.
    total=1024
    [ "$n_node" -gt 4 ] && total=2048
    while read -r node cpus; do
        echo "-object memory-backend-ram,id=m$node,size=$((total / n_node))M"
        echo "-numa node,nodeid=$node,memdev=m$node,cpus=$cpus"
        n_cpu=$((${cpus#*-} + 1))
    done <"$vm/$1.root/host/nodes"
    for a in $(seq 0 $((n_node - 1))); do
        for b in $(seq 0 $((n_node - 1))); do
            distance=20
            [ $((a * 2 / n_node)) -eq $((b * 2 / n_node)) ] && distance=12
            [ "$a" -eq "$b" ] && distance=10
            echo "-numa dist,src=$a,dst=$b,val=$distance"
        done
    done
    echo "-smp $n_cpu,sockets=1,clusters=$((n_cpu / 8)),cores=8,threads=1 -m $total"
}

devices() { # host
    for slot in 10 11 12 13 14 15 16 17; do
        echo "-device virtio-rng-pci,disable-legacy=on,vectors=64,rng=r,addr=0x$slot"
    done
    [ "$1" = a2x2 ] || return
    echo "-device virtio-net-pci,disable-legacy=on,romfile=,addr=0x18"
    echo "-device virtio-net-pci,disable-legacy=on,romfile=,addr=0x19"
}

# One CPU of this machine runs all CPUs of the guest. A Cortex-A72 has none of the later extensions,
# which take a fifth of the time to emulate. With KASLR the kernel has page tables of its own, in
# spite of mitigations=off: each system call would empty the emulated TLB. Nor need each new page
# be cleared, but for those that the guest's programs get.
boot() { # host
    # Options are split on purpose.
    # shellcheck disable=SC2046
    qemu-system-aarch64 -M virt,gic-version=3,its=on \
        -accel tcg,thread=single -cpu cortex-a72 $(numa "$1") \
        -object rng-builtin,id=r $(devices "$1") -nodefaults -display none -serial stdio -no-reboot \
        -kernel "$(kernel_of "$1")/vmlinuz" -initrd "$vm/$1.cpio" -append "console=ttyAMA0 panic=-1 quiet \
loglevel=1 rcupdate.rcu_expedited=1 mitigations=off nokaslr kpti=off init_on_alloc=0 cryptomgr.notests" </dev/null >"$vm/$1.log" 2>&1 &
    await_end $! "$vm/$1.log"
    sed -i 's|\r||' "$vm/$1.log"
}

# Waits for a machine, and ends it after its plan of TAP: to power itself off takes it as long as
# to boot. A slow one may take long, but one that prints nothing for long is stuck.
await_end() { # pid, its console
    silence=0
    size=0
    plan="^1\.\.[0-9]*$(printf '\r')"
    while kill -0 "$1" 2>/dev/null; do
        sleep 1
        if grep -q "$plan" "$2"; then
            kill "$1" 2>/dev/null
            break
        fi
        now=$(wc -c <"$2")
        silence=$((now == size ? silence + 1 : 0))
        size=$now
        [ $silence -lt "$most_silence" ] && continue
        kill "$1"
        echo "# nothing was printed for $most_silence s" >>"$2"
    done
    wait "$1" 2>/dev/null
}

boot_all() { # host ...
    jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
    printf '%s\n' "$@" | BUILD=$BUILD xargs -P "$jobs" -I{} "$0" boot-one {}
}

boot_one() { # host
    start=$(date +%s)
    rm -f "$vm/$1.log"
    make_disk "$1" "$here/guest.sh" && boot "$1"
    echo "# $1: $(($(date +%s) - start)) s on this machine" | tee -a "$vm/$1.log"
}

# The console of a machine that stopped early has no plan line of TAP.
show() { # host
    grep -E '^((not )?ok|#|1\.\.)' "$vm/$1.log" | sed -E "s/^((not )?ok [0-9]+ - )/\1$1: /"
    if ! grep -q '^1\.\.' "$vm/$1.log"; then
        echo "not ok - $1: the machine ran to its end"
        tail -n 30 "$vm/$1.log" | sed 's/^/# /'
        exit 1
    fi
    ! grep -q '^not ok' "$vm/$1.log"
}

command=${1:-}
[ $# -ge 2 ] && shift
case $command in
boot) boot_all "$@" ;;
boot-one) boot_one "$1" ;;
show) show "$1" ;;
run) make_disk "$1" "$2" && boot "$1"; cat "$vm/$1.log" ;;
*) sed -n '2,/^$/s/^#//p' "$0" && exit 2 ;;
esac
