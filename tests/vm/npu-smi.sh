#!/bin/sh
# runs: by make
# npu-smi.sh - npu-smi of a virtual machine: prints the tables of host.sh and the running workers
#
#   npu-smi look                 writes the table with the workers of now, so that other calls
#                                are quick; guest.sh calls it when a worker started or ended
#   npu-smi info [-m | -t topo]
#
# /host is the folder of host.sh; /run/npus/<logic id> has the pid of the process that drives
# that NPU. Must not read anything else.

# Prints the lines of a file that begin with a number, without the number.
lines_of() { # file, number
    while read -r of line; do
        [ "$of" = "$2" ] && printf '%s\n' "$line"
    done <"$1"
}

# Prints for each card the processes on its chips, or that there is none.
processes() {
    for card in $(cut -d ' ' -f 2 /host/npus | uniq); do
        free=yes
        while read -r logic of _; do
            if [ "$of" = "$card" ] && [ -e "/run/npus/$logic" ]; then
                free=no
                read -r pid <"/run/npus/$logic"
                lines_of /host/rows "$logic" | sed "s/@PID@/$(printf '%-5s' "$pid")/"
            fi
        done </host/npus
        [ $free = yes ] && lines_of /host/none "$card"
        cat /host/end
    done
}

case "$*" in
look)
    # With another time this is another program, whose outputs no process has read yet.
    { cat /host/table && processes; } >/run/table.new && mv /run/table.new /run/table && touch "$0"
    ;;
info) exec cat /run/table ;;
"info -m") exec cat /host/map ;;
"info -t topo") exec cat /host/topo ;;
*) echo "Error parameter of ${1:-}" && exit 211 ;;
esac
exit 0
