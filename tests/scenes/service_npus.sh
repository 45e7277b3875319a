#!/bin/sh
# service_npus.sh - the service on a host of NPUs: what differs from other accelerators
# SPDX-License-Identifier: MIT
# runs: check
. tests/scenes/lib.sh
use_driver_host
every_setting="$every_setting
allowed = 0-47
rules = reference"

binds_workers_of_npus() {
    settings "textfile = $prom" && start_on_npu 0 && first=$worker && start_service &&
        becomes is_at acl_thread 34 && start_on_npu 1 && becomes is_at acl_thread 46 &&
        becomes logged "process $first (worker), npu0" &&
        becomes logged "process $worker (worker), npu1" && move_to "$all" "$worker" &&
        becomes is_at worker 38-45
}
check "workers that run and workers that come are bound, and what was moved is moved back" \
    binds_workers_of_npus

has_figures_of_npus() {
    becomes metric 'cpubind_npu_workers{npu="1"} 1' && metric 'cpubind_workers 2' &&
        metric 'cpubind_threads{npu="0",place="right"} 2' &&
        metric 'cpubind_threads{npu="0",place="unbound"} 0'
}
check "the textfile has the figures of each NPU" has_figures_of_npus

verify_asks_it() {
    says 0 "process $first: no interrupt is bound" "$CPUBIND" verify --all &&
        [ "$(awk -v p="$first" '$2 == p { print $1, $3, $5, $6, $7, $8 }' "$out/said")" = \
            "npu0 worker 2 0 0 right" ] && [ "$(wc -l <"$out/said")" = 3 ]
}
check "verify --all asks it" verify_asks_it

takes_nothing_without_its_npu() {
    other=$worker && rm "$list/$first"-* && start_on_npu 0 && becomes is_at acl_thread 34 &&
        becomes is_at worker 26-33 && end_on_npu "$worker" && : >"$list/$first-1-dev-0" &&
        worker=$other
}
check "a bound process that uses its NPU no more takes nothing from one that does" \
    takes_nothing_without_its_npu

# A process that lives on without its NPU is let go, and has not ended.
ends_are_logged() {
    end_on_npu "$worker" && becomes logged "process $worker (worker), npu1: ended" &&
        reload 'restore-at-end = yes' && becomes logged "process $first (worker), npu0: " &&
        end_service TERM &&
        logged "process $first (worker), npu0: put back" && is_on "$first" "$all"
}
check "a worker that ends is said, and restore-at-end puts the others back" ends_are_logged
finish
