#!/bin/sh
# orders.sh - apply, doctor --fix, restore, crashes and reboots in random orders leave what was there
# SPDX-License-Identifier: MIT
# runs: check
# seconds: 300, in check-all
#
#   CPUBIND_ORDERS=10000      how many orders (default 40), 10 a second
#   CPUBIND_TEST_SEED=N       others than those of seed 1; the scheduler draws, too
#
# In check-all 400 more, of seed 2, by the command without sanitizers.
#
# A law, on the made host of mend.sh: programs/orders.py draws the orders, and says the one that has
# left something.
. tests/scenes/lib.sh
[ -n "$(command -v python3)" ] || skip_all "there is no python3"
use_live_npus
LD_PRELOAD="$LD_PRELOAD $programs/kernel_shim"

mkdir "$out/daemon" && : >"$out/daemon/bans"
env -u LD_PRELOAD python3 tests/scenes/programs/irqbalance_double.py "$out/daemon" run stays \
    >"$out/daemon/ready" &
for file in kernel/numa_balancing kernel/random/boot_id; do
    echo 1 >"$out/${file##*/}" && mount --bind "$out/${file##*/}" /proc/sys/$file || exit 1
done
becomes grep -q ready "$out/daemon/ready" || exit 1
mkdir -p $(seq -f "/sys/devices/system/cpu/cpu%g/cpufreq" 0 191) /run/cpubind
for n in $(seq 0 191); do echo performance >/sys/devices/system/cpu/cpu"$n"/cpufreq/scaling_governor; done

# npu-smi prints the workers in place of those of its table.
table=$out/live/cmd/npu-smi-info.txt
cp "$table" "$out/table"
orders() { # command, how many, seed
    cp "$out/table" "$table"
    env -u LD_PRELOAD python3 tests/scenes/programs/orders.py "$1" "$programs/worker" "$out" "$LD_PRELOAD" \
        "$2" "$3" >"$out/orders"
    orders_status=$?
    tail -n 40 "$out/orders"
    return $orders_status
}
law="what orders of apply, fix, restore, crash and reboot leave is what was there"
check "$law" orders "$CPUBIND" "${CPUBIND_ORDERS:-40}" "${CPUBIND_TEST_SEED:-1}"
sed 's/^/# /' "$out/orders" | tail -n 3
[ "${CPUBIND_LEVEL:-check}" != check-all ] || check "$law, of others" orders "${BUILD%/san}/faulty" 400 2
finish
