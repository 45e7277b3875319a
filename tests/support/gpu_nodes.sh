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
