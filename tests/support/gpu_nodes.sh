#!/bin/sh
# gpu_nodes.sh - functions for tests with GPUs on two CPUs of this machine, a node each
# SPDX-License-Identifier: MIT

# -- The folder of a host, $host ------------------------------------------------

# The CPUs of this process, one a line.
own_cpus() {
    sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status | tr ',' '\n' |
        awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }'
}

put() { # file, text
    mkdir -p "$(dirname "$host/$1")"
    printf '%s\n' "$2" >"$host/$1"
}

put_gpu() { # address, node [, number of its device file]
    put "sys/bus/pci/devices/$1/vendor" 0x10de
    put "sys/bus/pci/devices/$1/device" 0x2330
    put "sys/bus/pci/devices/$1/class" 0x030200
    put "sys/bus/pci/devices/$1/numa_node" "$2"
    [ -z "$3" ] || put "proc/driver/nvidia/gpus/$1/information" "Device Minor: 	 $3"
}

# The CPUs a and b on a node each, and a GPU near each.
put_two_nodes() { # allowed CPUs of the process [, numbers of the device files]
    put proc/self/status "Cpus_allowed_list:	$1"
    put sys/devices/system/cpu/online "$a,$b"
    put sys/devices/system/node/node0/cpulist "$a"
    put sys/devices/system/node/node1/cpulist "$b"
    put sys/devices/system/node/node0/distance "10 20"
    put sys/devices/system/node/node1/distance "20 10"
    put uname x86_64
    put_gpu 0000:01:00.0 0 "$2"
    put_gpu 0000:02:00.0 1 "$3"
}

# -- Device files ---------------------------------------------------------------

# These need root and mounts of one's own. A user of a device is known by its number, so that tests
# give two devices of memory the numbers of GPUs, in the folder of a host:
#   /dev/nvidia5      c 1 5, zero
#   /dev/nvidia7      c 1 7, full
#   /dev/nvidia-uvm   c 136 0, a terminal: the driver has the minor 0

# Lets the drivers of a host have these numbers.
put_gpu_drivers() { # folder of the host
    mkdir -p "$1/proc" &&
        printf 'Character devices:\n  1 nvidia\n136 nvidia-uvm\n\nBlock devices:\n  7 loop\n' \
            >"$1/proc/devices"
}

# Makes a /dev with these devices and those that a shell needs; gpu_terminal is a process that
# ends with the script, or is killed by it.
make_gpu_nodes() { # a new folder
    mkdir -p "$1/dev" "$1/pts" || return 1
    cat >"$1/pty.c" <<'END'
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const int unlocked = 0;
    const int fd = open(argv[argc - 1], O_RDWR | O_NOCTTY);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (fd < 0 || ioctl(fd, TIOCSPTLCK, &unlocked) < 0 || write(1, "\n", 1) != 1)
        return 1;
    close(1);
    for (;;)
        pause();
}
END
    cc -std=c11 -D_DEFAULT_SOURCE -D_GNU_SOURCE -O1 -Wall -Wextra -Werror "$1/pty.c" \
        -o "$1/pty" || return 1
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/pts" && mkfifo "$1/ready" || return 1
    "$1/pty" "$1/pts/ptmx" >"$1/ready" &
    gpu_terminal=$!
    read -r gpu_ready <"$1/ready" && [ -z "$gpu_ready" ] && [ -c "$1/pts/0" ] &&
        mount --rbind /dev "$1/dev" && mount -t tmpfs -o mode=755 tmpfs /dev || return 1
    ln -s /proc/self/fd /dev/fd
    for gpu_name in null zero full urandom; do
        : >"/dev/$gpu_name"
        mount --bind "$1/dev/$gpu_name" "/dev/$gpu_name" || return 1
    done
    : >/dev/nvidia-uvm
    mount --bind "$1/pts/0" /dev/nvidia-uvm && mknod -m 666 /dev/nvidia5 c 1 5 &&
        mknod -m 666 /dev/nvidia7 c 1 7
}
