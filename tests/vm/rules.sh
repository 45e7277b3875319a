# shellcheck shell=sh disable=SC2154 # guest.sh sets the variables of an NPU
# rules.sh - the section of guest.sh on how much of eight workers is at home under each rule
#
# The home of an NPU is the node of its PCI function. Binds eight workers by the rule of the
# reference and by `near`, and counts for each worker, from /proc and /sys: threads that run on
# CPUs of the home alone, pages on the home, and interrupts (SQ and CQ) that go to CPUs of the
# home. Prints both as a table. Asserts that under `near` all interrupts, all pages and the
# threads acl_thread and release_thread are at home, and the other threads at home or on nodes
# of its socket that have no NPU.

# Prints the CPUs that threads of an NPU may have beside its home: the nodes of its socket that
# are near no NPU.
free_cpus() { # node of the home
    read -r distances <"/sys/devices/system/node/node$1/distance"
    while read -r free cpus; do
        # shellcheck disable=SC2086
        set -- $distances
        shift "$free"
        [ "$1" -lt 20 ] && ! cut -d ' ' -f 6 /host/npus | grep -qx "$free" && echo "$cpus"
    done </host/nodes
}

# Prints "home threads all roles all allowed all pages all interrupts all": of each, how many
# are at home. roles: acl_thread and release_thread. allowed: threads that run on the home or on
# free CPUs alone.
at_home() { # logic id
    npu "$1"
    home=$(sed -n "s/^$near //p" /host/nodes)
    {
        threads "$pid" | sed 's/^/thread /'
        grep -v file= "/proc/$pid/numa_maps" | sed 's/^/memory /'
        irqs | awk -v address="$address" -v place="$place" '
            $1 == address && $2 == place && $4 ~ /^(sq_send_trigger|cq_update)_irq$/ {
                print "interrupt", $6
            }'
    } | awk -v node="N$near" -v home="$home" -v free="$(free_cpus "$near")" '
        function is_in(list, ranges,    n, i, k, m, range, inside, cpu, good) {
            n = split(list, range, ",")
            m = split(ranges, inside, /[ \n]+/)
            for (i = 1; i <= n; i++) {
                split(range[i] "-" range[i], cpu, "-")
                good = 0
                for (k = 1; k <= m; k++) {
                    split(inside[k] "-" inside[k], limit, "-")
                    if (cpu[1] + 0 >= limit[1] + 0 && cpu[2] + 0 <= limit[2] + 0)
                        good = 1
                }
                if (!good)
                    return 0
            }
            return n > 0
        }
        $1 == "thread" {
            is_home = is_in($5, home)
            n_thread++
            threads += is_home
            allowed += is_in($5, home " " free)
            if ($4 == "acl_thread" || $4 == "release_thread") {
                n_role++
                roles += is_home
            }
        }
        $1 == "memory" {
            for (i = 2; i <= NF; i++)
                if ($i ~ /^N[0-9]+=/) {
                    split($i, page, "=")
                    n_page += page[2]
                    if (page[1] == node)
                        pages += page[2]
                }
        }
        $1 == "interrupt" { n_irq++; irqs += is_in($2, home) }
        END {
            print substr(node, 2), threads + 0, n_thread, roles + 0, n_role, allowed + 0, \
                n_thread, pages + 0, n_page, irqs + 0, n_irq
        }'
}

# Binds all workers by a rule, and writes a line of at_home for each to /run/home.RULE.
bound_by() { # rule
    check "eight applies by the rule $1" apply_all --rules "$1"
    grep -h "of memory stay" /run/apply.* | sed 's/^/# /'
    for i in $all; do at_home "$i"; done >"/run/home.$1"
    check "restore" for_all restore_npu
}

# The columns of at_home for all NPUs are equal in pairs, and the last one is what it should be.
all_are_home() { # column, number
    awk -v at="$1" -v number="$2" '
        $at != $(at + 1) || $(at + 1) < number {
            print "NPU " NR - 1 ", home " $1 ": " $at " of " $(at + 1)
            bad = 1
        }
        END { exit bad || NR != 8 }' /run/home.near
}

# "2+18/20": two threads at home, 18 more on free CPUs, 20 in all.
print_table() {
    echo "# at home:      reference                      near"
    echo "# NPU  node     threads      pages    irqs     threads      pages    irqs"
    paste -d ' ' /run/home.reference /run/home.near | awk '
        function cells(k) {
            return sprintf("%5d+%d/%d  %5d/%d  %3d/%d", $(k + 1), $(k + 5) - $(k + 1), \
                $(k + 2), $(k + 7), $(k + 8), $(k + 9), $(k + 10))
        }
        { printf "# %3d  %4d %s %s\n", NR - 1, $1, cells(1), cells(12) }'
}

# The variable counts like the option.
prefers_home() { # logic id
    npu "$1"
    # shellcheck disable=SC2016
    CPUBIND_RULES=near run_bound "$1" sh -c 'cat /proc/$$/numa_maps' || return 1
    grep -q " prefer:$near " /run/said && return 0
    cat /run/said /run/complained
    return 1
}

rules() {
    [ "$product" = 950 ] && return
    for i in $all; do start_npu "$i"; done
    npu-smi look
    check_soon "eight workers are ready, to be bound by two rules" for_all worker_is_ready
    everything /run/unbound
    bound_by reference
    bound_by near
    print_table
    check "near: interrupts are at home" all_are_home 10 17
    check "near: pages are at home" all_are_home 8 2048
    check "near: acl_thread and release_thread are at home" all_are_home 4 2
    check "near: other threads are at home, or on nodes of its socket without NPUs" \
        all_are_home 6 20
    check "run with CPUBIND_RULES=near prefers the home" for_all prefers_home
    check "then all is as before" nothing_differs /run/unbound
    for i in $all; do
        npu "$i"
        kill "$pid"
    done
    check_soon "no worker is left" for_all worker_has_ended
    rm /run/npus/*
}

worker_has_ended() { # logic id
    npu "$1"
    has_ended "$pid"
}
