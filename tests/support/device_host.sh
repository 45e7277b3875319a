#!/bin/sh
# device_host.sh - a host with two GPUs on two CPUs of this machine, workers, and the service
# SPDX-License-Identifier: MIT
#
# For scripts that source it after start.sh, in a mount and pid namespace of their own with a /run
# of its own.
# The host is a snapshot with two CPUs of this machine, each on a node of its own, and a GPU near
# each; the processes are real. Sets root, conf, prom, a and b (the CPUs), before (the CPUs that
# a process has at first), pids and service; user (the words that run a command as an ordinary
# user) and has_user; without one, user is empty.

a=$(own_cpus | sed -n 1p)
b=$(own_cpus | sed -n 2p)
if [ -z "$b" ] || [ ! -d /sys/bus/pci/devices ]; then
    skip "the service on accelerators" "this machine has one CPU, or no PCI bus"
    finish
    exit
fi

root=$out/root
host=$root
put_two_nodes 0-511 5 7
put_gpu_drivers "$root"

# Commands that read this machine find the same devices on its bus.
make_gpu_nodes "$out/nodes" &&
    mount --bind "$root/sys/bus/pci/devices" /sys/bus/pci/devices || exit 1

conf=$out/conf
prom=$out/cpubind.prom
before=$(sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status)

# A process with a thread that is born later, at the first signal USR1, and executes itself as
# another program at USR2.
cat >"$out/worker.c" <<'END'
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static void *wait_on(void *ctx)
{
    for (;;)
        pause();
    return ctx;
}

int main(int argc, char **argv)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    for (;;) {
        int number = 0;
        pthread_t thread;
        if (sigwait(&set, &number) == 0 && number == SIGUSR1)
            pthread_create(&thread, NULL, wait_on, NULL);
        else if (argc > 1)
            execl(argv[1], argv[1], (char *)NULL);
    }
}
END
cc -std=c11 -D_DEFAULT_SOURCE -O1 -Wall -Wextra -Werror "$out/worker.c" -o "$out/worker" \
    -pthread && cp "$out/worker" "$out/engine" || exit 1

# -- Workers and the service ---------------------------------------------------

pids=
start_worker() { # number of the GPU
    "$out/worker" "$out/engine" 3<"/dev/nvidia$1" 5</dev/nvidia-uvm &
    worker=$!
    pids="$pids $worker"
}

user='setpriv --reuid=65534 --regid=65534 --clear-groups'
mkdir -p /run/user/65534 && chown 65534:65534 /run/user/65534 && chmod 700 /run/user/65534
has_user=no
[ -x "$(command -v setpriv)" ] && $user test -x "$CPUBIND" -a -x "$out/worker" && has_user=yes
[ $has_user = yes ] || user=

# Starts a worker of an ordinary user.
start_users_worker() { # number of the GPU
    # The words are split on purpose.
    # shellcheck disable=SC2086
    $user "$out/worker" "$out/engine" 3<"/dev/nvidia$1" 5</dev/nvidia-uvm &
    worker=$!
    pids="$pids $worker"
}

end_worker() { # pid
    kill -KILL "$1"
    wait "$1" 2>/dev/null
    :
}

settings() { # lines
    printf 'memory = none\nwatch = 1\n' >"$conf.new"
    printf '%s\n' "$@" >>"$conf.new"
    chmod 644 "$conf.new"
    mv "$conf.new" "$conf"
}

service=
start_service() { # argument ...
    kill_service
    last_socket=$(stat -c %i /run/cpubind/service.sock 2>/dev/null)
    : >"$out/said"
    "$CPUBIND" service --config "$conf" --root "$root" "$@" 2>>"$out/said" &
    service=$!
    becomes 100 has_own_socket
}

# A service that was killed has left its socket, which nobody answers at.
has_own_socket() {
    [ -S /run/cpubind/service.sock ] &&
        [ "$(stat -c %i /run/cpubind/service.sock)" != "$last_socket" ]
}

end_service() { # signal
    kill "-$1" "$service" && wait "$service" && service=
}

# Also after a test that has failed: a service that is left would bind what the next one does.
kill_service() {
    [ -n "$service" ] || return 0
    kill -KILL "$service" 2>/dev/null
    wait "$service" 2>/dev/null
    service=
}

# Every thread of a process is on these CPUs.
is_on() { # pid, CPUs
    for task in /proc/"$1"/task/*; do
        grep -qx "Cpus_allowed_list:	$2" "$task/status" 2>"$out/grep" || return 1
    done
}

has_threads() { # pid, number
    [ "$(find "/proc/$1/task" -mindepth 1 -maxdepth 1 | wc -l)" = "$2" ]
}

said() { # words
    grep -qF -e "$1" "$out/said"
}

metric() { # line
    grep -qxF -e "$1" "$prom" 2>/dev/null
}

json() { # file, path
    sqlite3 :memory: "SELECT readfile('$1') ->> '$2'"
}
