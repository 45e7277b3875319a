#!/bin/sh
# npu-smi.sh - npu-smi in a virtual machine: says what host.sh wrote, and which workers run
#
#   npu-smi look                 to be called when a worker has started or ended: writes down
#                                which there are, so that all other calls cost next to nothing
#   npu-smi info [-m | -t topo]
#
# /host is the folder of host.sh; /run/npus/<logic id> holds the number of the process that
# drives that NPU.

# The lines of one file that begin with a number, without it.
lines_of() { # file, number
    while read -r of line; do
        [ "$of" = "$2" ] && printf '%s\n' "$line"
    done <"$1"
}

# A card at a time: what runs on its chips, or that nothing does.
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
look) { cat /host/table && processes; } >/run/table.new && mv /run/table.new /run/table ;;
info) exec cat /run/table ;;
"info -m") exec cat /host/map ;;
"info -t topo") exec cat /host/topo ;;
*) echo "Error parameter of ${1:-}" && exit 211 ;;
esac
exit 0
