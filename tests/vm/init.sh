#!/bin/sh
# runs: by make
# init.sh - the first process of a virtual machine: sets up the host, runs guest.sh, powers off
#
# Must not run outside of the machine that vm.sh boots: it mounts and loads a driver.

/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmpfs /run
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p /run/npus /var/run
ip link set lo up

# Linux 6.1 to 6.4 hide pages from move_pages(2) that NUMA balancing has marked: the sooner, the
# slower the machine is.
echo 0 >/proc/sys/kernel/numa_balancing

read -r parameters </host/module
# shellcheck disable=SC2086
insmod /npu.ko $parameters || echo "not ok - npu.ko"
while read -r _ _ _ _ address node _; do
    echo "$node" >"/sys/bus/pci/devices/$address/numa_node"
done </host/npus
[ -e /host/gpus ] && while read -r _ _ address node _; do
    echo "$node" >"/sys/bus/pci/devices/$address/numa_node"
done </host/gpus

# As the driver does that is installed for all users.
chmod 666 /dev/davinci*
mkdir -p /etc /run/user/1000
chown 1000 /run/user/1000
chmod 1777 /tmp
echo 'user::1000:1000::/:/bin/sh' >/etc/passwd

npu-smi look
sh /guest.sh 2>&1
sync
poweroff -f
