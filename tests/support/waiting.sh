#!/bin/sh
# waiting.sh - functions that wait for what a script has started, for scripts that source this file
# SPDX-License-Identifier: MIT
#
# The script sets `out` before: a folder, in which `said` is what was printed last.

# Waits until a command succeeds, so many tenths of a second; on a busy machine ten times as long.
becomes() { # tenths, command ...
    left=$(($1 * 20))
    shift
    until "$@"; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || {
            echo "never: $*"
            cat "$out/said"
            return 1
        }
        sleep 0.05
    done
}

# Whether a process is a program, and no more the shell that it was forked from. The kernel gives
# it its name before its environment: whoever looks between them finds no variables.
is_program() { # pid, name
    [ "$(cat "/proc/$1/comm")" = "$2" ] && grep -q . "/proc/$1/environ"
}
