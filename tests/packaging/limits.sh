#!/bin/sh
# limits.sh - every command, and the library in a thread, with 64 KiB of stack; npu-smi that
# cannot be started; prints TAP
# SPDX-License-Identifier: MIT
# runs: check-all
# build: plain
#
#   tests/packaging/limits.sh     from the top folder; BUILD has the command and the library
#
# What is built for users is tried: frames of a build with sanitizers are larger.
. tests/scenes/lib.sh
. tests/support/own_host.sh

# Whatever the command says, no signal ends it.
small() { # command ...
    (ulimit -S -s 64 && "$@" >"$out/said" 2>"$out/err")
    small_status=$?
    [ "$small_status" -lt 128 ] || {
        echo "exit status $small_status: $*"
        return 1
    }
}

all_hosts() { # argument ...
    for host in fixtures/hosts/*.host; do
        small "$CPUBIND" "$@" --root "$host" || return 1
    done
}

check "plan" all_hosts plan
check "plan by the reference" all_hosts plan --rules reference
check "plan by npu-smi" all_hosts plan -o facts=npu-smi --scope host
check "plan --explain all" all_hosts plan --explain all
check "plan --json --explain all" all_hosts plan --json --explain all
for format in json log map svg slurm systemd; do
    check "plan --format $format" all_hosts plan --format "$format"
done
check "plan --processes" all_hosts plan --processes 2 --index 1
check "topo" all_hosts topo
check "topo --json" all_hosts topo --json
check "doctor" all_hosts doctor
check "doctor --json" all_hosts doctor --json
check "status" all_hosts status
check "verify --all" all_hosts verify --all

# -- A corpus --------------------------------------------------------------------

corpus() {
    db=$out/corpus.db
    for words in "import fixtures/hosts/a3-640cpu-16npu.host fixtures/hosts/gpu-2socket-8h100.host" list \
        "show a3-640cpu-16npu" replay "accept gpu-2socket-8h100" \
        "export a3-640cpu-16npu $out/exported" "remove a3-640cpu-16npu"; do
        # The words are split on purpose.
        # shellcheck disable=SC2086
        small "$CPUBIND" fixture $words --db "$db" && [ "$small_status" -eq 0 ] || {
            cat "$out/said" "$out/err"
            return 1
        }
    done
}
check "fixture" corpus

# -- The library -----------------------------------------------------------------

in_a_thread() {
    cc -std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow \
        -Werror -Iadapters/api tests/packaging/small_stack.c -o "$out/small_stack" \
        -L "$BUILD" -lcpubind -Wl,-rpath,"$(cd "$BUILD" && pwd)" -pthread &&
        make_own_host "$out/own" && "$out/small_stack" "$own_cpu" fixtures/hosts/*.host "$out/own"
}
if [ -e "$BUILD/libcpubind.so" ]; then
    check "the library, in a thread" in_a_thread
else
    skip "the library, in a thread" "no libcpubind.so: make lib"
fi

# -- This machine ----------------------------------------------------------------

# A double of npu-smi, which prints what a fixture host has.
make_npusmi() {
    mkdir -p "$out/bin" && rm -rf "$out/a2" &&
        "$CPUBIND" fixture export a2-192cpu-8npu "$out/a2" --quiet &&
        cat >"$out/bin/npu-smi" <<END
#!/bin/sh
: >"$out/asked"
cd "$out/a2/cmd" || exit
exec cat "npu-smi-\$(echo "\$*" | tr ' ' - | sed 's|--|-|').txt"
END
    chmod 755 "$out/bin/npu-smi"
}

asks_npusmi() {
    PATH=$out/bin:$PATH npu-smi info | grep -q 910B || return 1
    for words in plan "plan --json" doctor status "verify --all" "apply --all" \
        "run --device npu0 -- true" "capture $out/capture" "capture --redact $out/redacted" \
        "service --once"; do
        # shellcheck disable=SC2086
        small env PATH="$out/bin:$PATH" "$CPUBIND" $words || return 1
    done
    [ -e "$out/asked" ]
}

# Says why npu-smi cannot be started, and what helps.
names_fault() { # words, command ...
    words=$1
    shift
    env PATH="$out/bin:$PATH" "$@" >"$out/said" 2>&1
    status=$?
    cat "$out/said"
    [ "$status" -eq 3 ] &&
        grep -q "npu-smi info .*: it could not be started: .*; .*$words" "$out/said" &&
        ! grep -qe 'total=\|strategy=\|--devices' "$out/said"
}

fails_to_start() { # error, words, system calls, argument of plan ...
    calls=$3
    error=$1
    words=$2
    shift 3
    names_fault "$words" strace -f -qq -o "$out/trace" -e inject="$calls:error=$error" \
        "$CPUBIND" plan "$@"
}

starts='?fork,?vfork,clone,?clone3'

says_why_it_does_not_start() {
    fails_to_start EAGAIN "raise ulimit -u, or pids.max" $starts &&
        fails_to_start EAGAIN "raise ulimit -u" $starts --devices npu0-7 -o device-type=a3 \
            --rules reference &&
        fails_to_start EAGAIN "raise ulimit -u" $starts --devices npu0-7 -o device-type=a2 &&
        fails_to_start ENOMEM "memory.max" $starts &&
        fails_to_start EMFILE "ulimit -n" '?pipe,pipe2' &&
        fails_to_start ENFILE "fs.file-max" '?pipe,pipe2' &&
        chmod 644 "$out/bin/npu-smi" &&
        names_fault "set the mode" "$CPUBIND" plan && chmod 755 "$out/bin/npu-smi" &&
        cp "$out/bin/npu-smi" "$out/kept" && printf '\177ELFjunk' >"$out/bin/npu-smi" &&
        names_fault "architecture of this machine" "$CPUBIND" plan &&
        cp "$out/kept" "$out/bin/npu-smi"
}

succeeds() { # command ...
    small "$@" && [ "$small_status" -eq 0 ] || {
        cat "$out/said" "$out/err"
        return 1
    }
}

binds() {
    start_on 5 && first=$worker && start_on 7 &&
        succeeds "$CPUBIND" apply --root "$host" --pid "$first" && is_on "$first" "$a" &&
        succeeds "$CPUBIND" verify --pid "$first" && succeeds "$CPUBIND" restore --pid "$first" &&
        succeeds "$CPUBIND" apply --all --root "$host" && is_on "$worker" "$b" &&
        succeeds "$CPUBIND" verify --all --root "$host" &&
        succeeds "$CPUBIND" status --memory none --root "$host" &&
        succeeds "$CPUBIND" apply --pid "$first" --root "$host" --json &&
        succeeds "$CPUBIND" restore --all && is_on "$worker" "$before" &&
        succeeds "$CPUBIND" run --root "$host" --rank 1 -- true &&
        succeeds "$CPUBIND" run --tree --root "$host" -- true &&
        succeeds "$CPUBIND" run --numa-bind --root "$host" --rank 0 -- true
}

serves() {
    settings "textfile = $prom" && succeeds "$CPUBIND" service --check "$conf" || return 1
    (ulimit -S -s 64 && exec "$CPUBIND" service "$conf" --root "$host" 2>"$out/service.log") &
    service=$!
    becomes is_on "$first" "$a" && becomes is_on "$worker" "$b" &&
        succeeds "$CPUBIND" status && succeeds "$CPUBIND" verify --all &&
        succeeds "$CPUBIND" restore --pid "$first" && is_on "$first" "$before" &&
        succeeds "$CPUBIND" apply --pid "$first" --root "$host" &&
        becomes is_on "$first" "$a" && kill -HUP "$service" &&
        becomes logged "are in force" && end_service TERM
}

use_gpus
make_npusmi
if strace -qq -e trace=none true 2>"$out/err"; then
    check "npu-smi that cannot be started" says_why_it_does_not_start
else
    skip "npu-smi that cannot be started" "no strace, or it may not trace"
fi
check "npu-smi" asks_npusmi # after that others have its outputs, and do not start it
check "apply, verify, restore, status, run" binds
check "the service, and what asks it" serves
finish
