#!/bin/sh
# settings.sh - /etc/cpubind.conf: what the commands that bind take from it
# SPDX-License-Identifier: MIT
# runs: check
. tests/scenes/lib.sh
use_npus
unset CPUBIND_RULES
rm -rf "$out/host"
"$CPUBIND" fixture export a2-192cpu-8npu "$out/host" --quiet || exit 1
mkdir "$out/host/etc" || exit 1
host="--root $out/host --allowed 0-191"

host_settings() { # line ...
    printf '%s\n' "$@" >"$out/host/etc/cpubind.conf"
}

# shellcheck disable=SC2086 # the words of host are split on purpose

# The threads of a name go elsewhere, and memory stays.
commands_take_the_file() {
    host_settings "thread = other=acl" "memory = none" "others = keep" "keep = 1" &&
        says 0 "" apply --device npu0 --json && has .device npu0 && items "kind = 'memory'" 0 &&
        acl_now=$(cpus_of "$(thread_named acl_thread)") && is_at other "$acl_now" &&
        says 0 "as it should be" verify && says 0 "put back" restore && all_is_free
}
check_worker "apply takes the settings of the host" commands_take_the_file acl_thread other

an_option_takes_the_place() {
    host_settings "rules = reference" "thread = other=acl" &&
        says 0 "" apply --device npu0 --thread other=release && is_at other $release &&
        says 0 "put back" restore &&
        host_settings "rules = reference" "keep = 2" &&
        says 0 "" apply --device npu0 --keep 0 && is_at other $main && is_at acl_thread $acl &&
        says 0 "put back" restore && all_is_free
}
check_worker "an option takes the place of its key" an_option_takes_the_place acl_thread other

a_fault_binds_nothing() {
    host_settings "keep = x" &&
        says 2 'etc/cpubind.conf, line 1, column 8: keep "x" is neither' apply --device npu0 &&
        all_is_free && host_settings "rules = reference" && says 0 "" apply --device npu0 &&
        host_settings "rule = near" && says 2 'there is no key "rule"' \
            "$CPUBIND" verify --pid "$worker" $host --device npu0 &&
        says 0 "put back" restore && all_is_free
}
check_worker "a fault of the file binds nothing, and restore needs none" a_fault_binds_nothing

# -- This host -------------------------------------------------------------------

# An /etc of its own.
mkdir /tmp/etc && cp -a /etc/. /tmp/etc && mount --bind /tmp/etc /etc || exit 1

by_nodes() { # option ...
    "$CPUBIND" run --numa-bind --numa-bind-nodes 0 --index 0 "$@" -- echo started
}

run_starts_unbound() {
    echo "rule = near" >/etc/cpubind.conf &&
        says 0 '/etc/cpubind.conf, line 1, column 1: there is no key "rule"' by_nodes &&
        grep -qx started "$out/said" && says 125 'there is no key "rule"' by_nodes --strict &&
        says 2 'there is no key "rule"' "$CPUBIND" status &&
        echo "rules = near" >/etc/cpubind.conf && chmod o+w /etc/cpubind.conf &&
        says 2 "/etc/cpubind.conf: others than its owner may write to it" "$CPUBIND" plan &&
        rm /etc/cpubind.conf && says 0 "" by_nodes && ! grep -q cpubind.conf "$out/err"
}
check "run starts its command unbound where the file is wrong" run_starts_unbound
finish
