#!/bin/sh
# runs: by make
# bundle.sh - makes the OCI bundle of a container with some of the NPUs and GPUs
#
#   bundle.sh NAME PHY|renderD<n>...
#                                in a virtual machine; writes only below /run/bundle/NAME
#
# A container of this bundle has mount, pid, ipc and uts namespaces of its own, root without the
# capabilities that Docker drops, the davinci devices of these physical ids and the DRM devices
# of these names. Its /bin is the one of the host, or BIN; its /host is /views/NAME, and /run is
# its own. The kernel's files of the host are there, with the paths masked and read-only that
# Docker masked before version 28.0.2. With MASK=/proc/interrupts they are those of Docker since
# then. CPUS=0-31 gives it a cpuset, GROUP=/a/b another cgroup than /NAME.
#
# SERVICE='"CAP_SYS_NICE", ...' makes it the container of a service: it has these capabilities
# alone, the processes of the host, and its /run/cpubind.

set -eu
name=$1
shift
dir=/run/bundle/$name
for folder in bin host proc sys dev run tmp; do mkdir -p "$dir/rootfs/$folder"; done

# Prints an object of JSON for each device.
for_devices() { # keys of the object; PATH stands for the path of the device
    comma=
    for device in $devices; do
        IFS=: read -r major minor <"/sys/class/$device/dev"
        number="\"type\": \"c\", \"major\": $major, \"minor\": $minor"
        case $device in drm/*) path=/dev/dri/${device#*/} ;; *) path=/dev/${device#*/} ;; esac
        echo "$comma{$1, $number}" | sed "s,PATH,$path,"
        comma=", "
    done
}

# Adds devices, each once.
add() { # class/name ...
    for device in "$@"; do
        case " $devices " in *" $device "*) ;; *) devices="$devices $device" ;; esac
    done
}

devices=
for asked in "$@"; do
    case $asked in
    renderD*) add kfd/kfd "drm/$asked" ;;
    *) add misc/davinci_manager "devdrv-class/davinci$asked" ;;
    esac
done
capabilities='["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL",
        "CAP_SETGID", "CAP_SETUID", "CAP_SETPCAP", "CAP_NET_RAW", "CAP_SYS_CHROOT", "CAP_MKNOD"]'
pid='{"type": "pid"}, '
records=
if [ -n "${SERVICE:-}" ]; then
    capabilities="[$SERVICE]"
    pid=
    records='{"destination": "/run/cpubind", "type": "bind", "source": "/run/cpubind", "options": ["bind"]},'
fi

cat >"$dir/config.json" <<END
{
  "ociVersion": "1.0.0",
  "hostname": "$name",
  "root": {"path": "rootfs"},
  "process": {
    "args": ["sleep", "100000"],
    "cwd": "/",
    "env": ["PATH=/bin"${CPUBIND_RULES:+, \"CPUBIND_RULES=$CPUBIND_RULES\"}],
    "user": {"uid": 0, "gid": 0},
    "capabilities": {
      "bounding": $capabilities,
      "effective": $capabilities,
      "permitted": $capabilities
    }
  },
  "mounts": [
    {"destination": "/proc", "type": "proc", "source": "proc"},
    {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["ro"]},
    {"destination": "/sys/fs/cgroup", "type": "cgroup", "source": "cgroup", "options": ["ro"]},
    {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"},
    {"destination": "/run", "type": "tmpfs", "source": "tmpfs"},
    $records
    {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs"},
    {
      "destination": "/bin", "type": "bind", "source": "${BIN:-/bin}",
      "options": ["bind", "ro"]
    },
    {
      "destination": "/host", "type": "bind", "source": "/views/$name",
      "options": ["bind", "ro"]
    }
  ],
  "linux": {
    "cgroupsPath": "${GROUP:-/$name}",
    "namespaces": [
      {"type": "mount"}, $pid{"type": "ipc"}, {"type": "uts"}, {"type": "cgroup"}
    ],
    "devices": [
      $(for_devices '"path": "PATH", "fileMode": 438')
    ],
    "resources": {
      ${CPUS:+\"cpu\": {\"cpus\": \"$CPUS\"\},}
      "devices": [
        {"allow": false, "access": "rwm"},
        $(for_devices '"allow": true, "access": "rwm"')
      ]
    },
    "maskedPaths": [
      "/proc/asound", "/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
      "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi",
      "/sys/firmware", "${MASK:-/sys/devices/virtual/powercap}"
    ],
    "readonlyPaths": [
      "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"
    ]
  }
}
END
