#!/bin/sh
# deploy.sh - the unit, the example of settings and the recipe for containers; prints TAP
# SPDX-License-Identifier: MIT
# runs: check-all
BUILD=${BUILD:-build/san}
CPUBIND=$BUILD/cpubind
deploy=adapters/service/deploy
manifest=$deploy/kubernetes/all-nodes/daemonset.yaml
out=$BUILD/out/deploy
mkdir -p "$out"
. tests/support/tap.sh

# systemd reads the unit. Versions before 253 do not know notify-reload, and keep notify.
unit_is_valid() {
    sed "s|@PREFIX@/bin/cpubind|$(realpath "$CPUBIND")|" $deploy/cpubind.service >"$out/cpubind.service" &&
        systemd-analyze verify "$out/cpubind.service" >"$out/verify" 2>&1
    grep -v -e 'Failed to parse service type, ignoring: notify-reload' "$out/verify" |
        grep cpubind
    [ $? -eq 1 ]
}

# The system calls of a group, and of the groups in it.
calls_of() { # group or call ...
    for word in "$@"; do
        case $word in
        @*)
            # shellcheck disable=SC2046
            calls_of $(systemd-analyze syscall-filter "$word" | sed -n 's/^    \([@a-z0-9_-]*\)$/\1/p')
            ;;
        *) echo "$word" ;;
        esac
    done
}

# The calls that cpubind makes are allowed; those are not that change how others run.
calls_are_allowed() {
    calls_of @default >"$out/allowed"
    sed -n 's/^SystemCallFilter=//p' $deploy/cpubind.service >"$out/filter"
    while read -r words; do
        # shellcheck disable=SC2086
        case $words in
        '~'*)
            calls_of ${words#?} >"$out/removed"
            grep -vxFf "$out/removed" "$out/allowed" >"$out/left"
            mv "$out/left" "$out/allowed"
            ;;
        *) calls_of $words >>"$out/allowed" ;;
        esac
    done <"$out/filter"
    {
        grep -rhoE 'SYS_[a-z0-9_]+' adapters --include='*.c' --include='*.h' |
            sed 's/^SYS_//' | grep -vx -e '.*64' -e perf_event_open # no service measures
        printf '%s\n' read write openat close fcntl getdents64 faccessat2 readlinkat prlimit64 \
            poll kill pipe2 flock unlinkat mmap mprotect munmap epoll_create1 timerfd_create \
            signalfd4 socket bind listen accept4 sendmsg recvmsg getsockopt setsockopt mkdirat \
            fchmod fsync renameat execve clone clone3 wait4 ioctl uname sysinfo
    } | sort -u >"$out/needed"
    if grep -vxFf "$out/allowed" "$out/needed"; then return 1; fi
    for word in chown mount bpf init_module setpriority sched_setscheduler migrate_pages; do
        ! grep -x $word "$out/allowed" || return 1
    done
}

# The exposure that systemd computes is below 3.0, of 10.
exposure_is_low() {
    systemd-analyze security --offline=true --threshold=30 "$out/cpubind.service" >"$out/exposure" 2>&1
    status=$?
    tail -n 1 "$out/exposure"
    return $status
}

keys_of() { # file, mark before a key
    sed -n "s/^$2\\([a-z-]*\\) = .*/\\1/p" "$1"
}

# The example names each key once.
example_has_every_key() {
    sed -n 's/^    {"\([a-z-]*\)", .*/\1/p' adapters/api/keys.c >"$out/keys" &&
        keys_of $deploy/cpubind.conf.example '#' >"$out/named" &&
        diff "$out/keys" "$out/named"
}

# Without its marks it is right, and as it is all settings are the usual ones.
example_is_right() {
    sed 's/^#\([a-z-]* = \)/\1/' $deploy/cpubind.conf.example >"$out/all.conf" &&
        cp $deploy/cpubind.conf.example "$out/none.conf" && echo "# usual" >"$out/empty.conf" &&
        chmod 644 "$out"/*.conf && "$CPUBIND" service --check --quiet "$out/all.conf" &&
        "$CPUBIND" service --check --json "$out/none.conf" | sed 's/"config": "[^"]*"//' >"$out/none" &&
        "$CPUBIND" service --check --json "$out/empty.conf" | sed 's/"config": "[^"]*"//' >"$out/empty" &&
        diff "$out/none" "$out/empty"
}

# The usual values of the example are those of the command.
example_has_usual_values() {
    "$CPUBIND" service --check "$out/empty.conf" | grep -v '^#' >"$out/usual" || return 1
    [ -s "$out/usual" ] || return 1
    while read -r line; do
        grep -qxF "#$line" $deploy/cpubind.conf.example || {
            echo "the example lacks: $line"
            return 1
        }
    done <"$out/usual"
}

# The unit and the container recipes give the same capabilities.
capabilities_agree() {
    sed -n 's/^CapabilityBoundingSet=//p' $deploy/cpubind.service | tr ' ' '\n' |
        sed 's/^CAP_//' | sort >"$out/unit"
    sed -n 's/^ *- \([A-Z_]*\) #.*/\1/p' $manifest | sort >"$out/pod"
    grep -o -e '--cap-add [A-Z_]*' $deploy/Dockerfile | sed 's/.* //' | sort >"$out/docker"
    [ -s "$out/unit" ] && diff "$out/unit" "$out/pod" && diff "$out/unit" "$out/docker"
}

manifests() { # command of manifests.py, argument ...
    python3 tests/packaging/manifests.py "$@"
}

# The settings in the ConfigMaps are right; those that only watch leave every process alone.
pod_settings_are_right() {
    for folder in $deploy/kubernetes/*; do
        manifests settings "$folder" >"$out/pod.conf" && [ -s "$out/pod.conf" ] &&
            chmod 644 "$out/pod.conf" && "$CPUBIND" service --check --quiet "$out/pod.conf" || return 1
        case $folder in
        *watch-only) grep -qxF 'except = *' "$out/pod.conf" ;;
        *) ! grep -q except "$out/pod.conf" ;;
        esac || return 1
    done
}

# kubectl reads an object into its types, and writes it: what these lack is lost. No server is
# asked: --dry-run=client asks one for its types.
types_know() { # manifest of a DaemonSet
    kubectl set image --local -f "$1" cpubind=other -o yaml >"$out/typed.yaml" 2>"$out/kubectl" &&
        manifests lost "$1" "$out/typed.yaml"
}

types_know_the_manifest() {
    sed '1,/^---/d' $manifest >"$out/daemonset.yaml" && types_know "$out/daemonset.yaml" || {
        cat "$out/kubectl"
        return 1
    }
    for wrong in s/hostPID:/hostPid:/ s/livenessProbe:/aliveProbe:/ s/readOnly:/readonly:/; do
        sed "$wrong" "$out/daemonset.yaml" >"$out/wrong.yaml"
        ! types_know "$out/wrong.yaml" >"$out/lost" || {
            echo "$wrong is not found"
            return 1
        }
    done
}

folders_are_built() {
    for folder in $deploy/kubernetes/*; do
        kubectl kustomize "$folder" >"$out/built.yaml" 2>"$out/kubectl" &&
            sed '1,/^---/d' "$out/built.yaml" >"$out/daemonset.yaml" &&
            types_know "$out/daemonset.yaml" || {
            cat "$out/kubectl"
            return 1
        }
        case $folder in
        */gpu) ! grep -q -e 'privileged: true' -e davinci -e npu-smi "$out/built.yaml" ;;
        *one-node | *watch-only) grep -q 'cpubind: first' "$out/built.yaml" ;;
        esac || return 1
    done
}

knows_kustomize() {
    kubectl kustomize $deploy/kubernetes/one-node >"$out/built.yaml" 2>"$out/kubectl" ||
        ! grep -q 'json: cannot unmarshal object into Go struct' "$out/kubectl"
}

if command -v systemd-analyze >/dev/null 2>&1; then
    check "systemd accepts the unit" unit_is_valid
    if systemd-analyze --help | grep -q -e --offline; then
        check "the unit allows the system calls of cpubind, and few others" calls_are_allowed
        check "systemd rates the exposure of the unit below 3.0" exposure_is_low
    else
        skip "system calls and exposure of the unit" "systemd-analyze is older than 250"
    fi
else
    skip "systemd accepts the unit" "systemd-analyze is not installed"
fi
check "the example names each key of the settings once" example_has_every_key
check "the example is right, with and without its marks" example_is_right
check "the example has the usual values of the command" example_has_usual_values
check "unit, image and pod have the same capabilities" capabilities_agree
if python3 -c 'import yaml' 2>"$out/python"; then
    check "the manifests parse, and what they name is there" manifests tree
    check "the page has each right of the manifests, and no other" manifests page
    check "the image has the command of the probes" manifests image
    check "the settings of the pods are right" pod_settings_are_right
    if command -v kubectl >"$out/kubectl"; then
        check "the types of kubectl know each key of the manifest" types_know_the_manifest
        if knows_kustomize; then
            check "each folder is built, with its rights" folders_are_built
        else
            skip "each folder is built" "this kubectl is older than 1.21"
        fi
    else
        skip "the types of kubectl know each key" "kubectl is not installed"
    fi
else
    skip "the manifests" "python3 has no yaml"
fi
finish
