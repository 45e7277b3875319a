#!/bin/sh
# numa_statements.sh - what the unit tests of vLLM and SGLang state about --numa-bind, tried on
# cpubind run
# SPDX-License-Identifier: MIT
# runs: check-all
#
# numa_statements.txt has them, a row each, and says what a row is.
. tests/scenes/lib.sh
take_two_cpus
host=$out/host
put_two_nodes "$a,$b"
put env ""

# -- Hosts -----------------------------------------------------------------------

variant() { # name; makes $host a copy of the host
    cp -r "$out/host" "$out/$1"
    host=$out/$1
}

bus=sys/bus/pci/devices
variant placeless
put "$bus/0000:02:00.0/numa_node" -1
variant amd
for at in "$host/$bus"/*; do echo 0x1002 >"$at/vendor" && echo 0x74a1 >"$at/device"; done
variant none
rm -r "${host:?}/$bus"
mkdir -p "$host/$bus"
variant one_node
rm -r "$host/sys/devices/system/node/node1"
put sys/devices/system/node/node0/cpulist "$a,$b"
put sys/devices/system/node/node0/distance 10
put_gpu 0000:02:00.0 0
variant wide # one GPU; a third node with a CPU that this machine does not have
rm -r "${host:?}/$bus/0000:02:00.0"
put sys/devices/system/cpu/online "$a,$b,$((b + 1))"
put sys/devices/system/node/node2/cpulist $((b + 1))
for n in 0 1 2; do put sys/devices/system/node/node$n/distance "20 20 20"; done
put_gpu 0000:01:00.0 -1
put "$bus/0000:01:00.0/local_cpulist" "$a,$b"
variant masks
rm "$host"/sys/devices/system/node/node*/cpulist
put sys/devices/system/node/node0/cpumap "$(awk -v n="$a" 'BEGIN { printf "%x", 2 ^ n }')"
put sys/devices/system/node/node1/cpumap "$(awk -v n="$b" 'BEGIN { printf "%x", 2 ^ n }')"
variant four
put_gpu 0000:02:00.0 0
put_gpu 0000:03:00.0 1
put_gpu 0000:04:00.0 1
variant together
put_gpu 0000:02:00.0 0
host=$out/host

# -- Workers and what is before them -----------------------------------------------

script() { # name; its text is the input
    {
        echo '#!/bin/sh'
        cat
    } >"$out/$1"
    chmod +x "$out/$1"
}

# Prints its CPUs and its memory policy, those CPUs of the process that started it, and whether
# process and environment are those of with_notes.
script worker <<'SCRIPT'
mask() { sed -n 's/^Cpus_allowed_list:[^0-9]*//p' "/proc/$1/status"; }
policy=$(sed -n '1s/^[^ ]* \([^ ]*\).*/\1/p' /proc/self/numa_maps 2>/dev/null)
echo "cpus $(mask self) policy ${policy:-unknown} parent $(mask $PPID)"
[ "$NOTED" = $$ ] && echo "the same process"
[ -n "$NOTED" ] && env | grep -v '^_=' | sort | diff "$NOTES" - && echo "the same environment"
exit 0
SCRIPT
script with_notes <<'SCRIPT'
export NOTED=$$ NOTES="${0%/*}/notes"
env | grep -v '^_=' | sort >"$NOTES"
exec "$@"
SCRIPT
script without_path <<'SCRIPT'
PATH=/var/empty exec "$@"
SCRIPT
script verify_me <<SCRIPT
exec "$CPUBIND" verify --pid \$\$
SCRIPT
sed -i "2i PATH=$PATH" "$out/worker"

# -- The rows ----------------------------------------------------------------------

fill() { # text with @words
    echo "$1" | sed "s/@ab/$both/g;s/@a/$a/g;s/@b/$b/g;s/@own/$(cpus_of $$)/g
        s|@deny|$programs/deny|g;s|@with_notes|$out/with_notes|g;s|@without_path|$out/without_path|g
        s|@verify_me|$out/verify_me|g;s|@/|$out/|g"
}

try() { # exit status, words, host, before, arguments
    case $5 in
    *" -- "*) command=$5 ;;
    *) command="$5 -- $out/worker" ;;
    esac
    # The arguments are split on purpose.
    # shellcheck disable=SC2086,SC2046
    says "$1" "$(fill "$2")" $(fill "$4") "$CPUBIND" run --root "$out/$3" $(fill "$command")
}

can_deny=1
"$programs/deny" set_mempolicy true 2>/dev/null || can_deny=0
has_policies=0
[ -r /proc/self/numa_maps ] && has_policies=1

n_row=0
while IFS='|' read -r number statement verdict code words on before arguments; do
    case $number in '' | '#'*) continue ;; esac
    n_row=$((n_row + 1))
    text="$number: $statement ($verdict)"
    case $verdict in
    "not meant: "?*) [ -z "$code" ] && pass "$text" && continue ;;
    same | "better: "?*) ;;
    *) code= ;;
    esac
    if [ -z "$code" ]; then
        echo "this row is not of a known form" >"$out/output"
        fail "$text" "$out/output"
    elif [ $can_deny = 0 ] && [ "$before" != "${before#@deny}" ]; then
        skip "$text" "no filter of system calls can be set"
    elif [ $has_policies = 0 ] && [ "$words" != "${words%policy*}" ]; then
        skip "$text" "this kernel has no memory policies"
    else
        check "$text" try "$code" "$words" "${on:-host}" "$before" "$arguments"
    fi
done <tests/scenes/numa_statements.txt
check "there are $n_row rows" test "$n_row" -eq 80
finish
