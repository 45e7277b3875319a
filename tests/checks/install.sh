#!/bin/sh
# install.sh - the installed headers, libraries and command work; prints TAP
# runs: check-all
# build: plain
#
#   tests/checks/install.sh      from the top folder, after `make install` to BUILD/stage

BUILD=${BUILD:-build}
stage=$BUILD/stage
out=$BUILD/install
mkdir -p "$out"
. tests/support/tap.sh

# Another project includes the installed header.
use_header() {
    printf '#define CPUBIND_IMPLEMENTATION\n#include <cpubind.h>\n%s\n' \
        'int main(void) { return cpubind_version() == CPUBIND_VERSION_HEX ? 0 : 1; }' \
        >"$out/use.c"
    cc -I "$stage/usr/include" "$out/use.c" -o "$out/use" && "$out/use"
}

# Another project reads outputs of npu-smi, in C and in C++, without a core of its own.
use_readers() { # compiler, standard
    "$@" -Wall -Wextra -Wpedantic -Werror -I "$stage/usr/include" \
        tests/packaging/link_readers.c -L "$stage/usr/lib" -lcpubind_ascend -o "$out/readers" &&
        "$out/readers"
}

# Another project makes the goal of a process.
use_goal() { # compiler, standard
    "$@" -Wall -Wextra -Wpedantic -Werror -I "$stage/usr/include" tests/packaging/link_goal.c \
        -L "$stage/usr/lib" -lcpubind_ascend -o "$out/goal" && "$out/goal"
}

# The same program, compiled with the files that cpubind_ascend.h names and no others.
compile_readers() {
    (cd adapters && cc -std=c11 -I "$stage_include" ../tests/packaging/link_readers.c \
        text/cpulist.c text/cpumask.c text/interrupts.c text/lscpu.c text/maps.c text/numa_maps.c \
        text/pci_address.c text/procfs.c text/text.c ascend/driver_files.c ascend/npusmi*.c \
        ascend/table.c -o "$readers") &&
        "$readers"
}

# Another project opens the corpus and plans one of its hosts.
use_corpus() {
    cc -std=c11 -Wall -Wextra -Wpedantic -Werror -I "$stage/usr/include" \
        tests/consumers/consumer_corpus.c -L "$stage/usr/lib" -lcpubind_corpus -lcpubind_ascend -lsqlite3 \
        -lmd -o "$out/corpus" &&
        "$out/corpus" "$stage/usr/share/cpubind/fixtures.db" a3-640cpu-16npu >"$out/pools" &&
        [ "$(grep -c ': 40 CPUs, ' "$out/pools")" -eq 16 ]
}

# Another project binds itself. Without npu-smi and without an NPU on the PCI bus, the device type
# is not known: the program reports that.
use_binding() {
    cc -std=c11 -Wall -Wextra -Wpedantic -Werror -I "$stage/usr/include" \
        tests/consumers/consumer_bind.c -L "$stage/usr/lib" -lcpubind_linux -lcpubind_ascend \
        -lpthread -o "$out/bind" || return 1
    PATH=/nowhere "$out/bind" 0 >"$out/bound"
    [ $? -eq 1 ] && grep -q '^unknown_device_type: ' "$out/bound"
}

# The header of the binding in C++.
include_binding() {
    echo '#include <cpubind/linux/cpubind_linux.h>' >"$out/bind.cc" &&
        c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -I "$stage/usr/include" -c "$out/bind.cc" \
            -o "$out/bind.o"
}

# The CI of another project: the installed command in an empty folder, without this tree.
run_foreign_ci() {
    rm -rf "$out/foreign" && mkdir "$out/foreign" && script=$PWD/tests/consumers/ci.sh &&
        bin=$(cd "$stage/usr/bin" && pwd) &&
        (cd "$out/foreign" && env -i PATH="$bin:/usr/bin:/bin" sh "$script")
}

# The unit of systemd starts the installed command, and the example of its settings is beside it.
unit_is_installed() {
    grep -qx 'ExecStart=/usr/bin/cpubind service' "$stage/usr/lib/systemd/system/cpubind.service" &&
        [ -f "$stage/usr/share/cpubind/cpubind.conf.example" ] && ! grep -r @PREFIX@ "$stage/usr/lib/systemd"
}

only_below_stage() {
    [ -x "$stage/usr/bin/cpubind" ] && [ -f "$stage/usr/share/cpubind/fixtures.db" ] &&
        [ "$(find "$stage" -mindepth 1 -maxdepth 1)" = "$stage/usr" ]
}

check "everything is below DESTDIR/PREFIX" only_below_stage
check "the unit of systemd starts the installed command" unit_is_installed
check "the installed header compiles" use_header
stage_include=$(cd "$stage" && pwd)/usr/include
readers=$(cd "$out" && pwd)/readers
check "the files that cpubind_ascend.h names are all that it needs" compile_readers
check "the installed readers link into a C program" use_readers cc -std=c11
check "the installed readers link into a C++ program" use_readers c++ -std=c++11 -x c++
check "the installed goal links into a C program" use_goal cc -std=c11
check "the installed goal links into a C++ program" use_goal c++ -std=c++11 -x c++
check "the installed adapter opens the corpus in a C program" use_corpus
check "the installed binding links into a C program" use_binding
check "the header of the installed binding is C++ too" include_binding
check "the CI of another project replays with the installed command alone" run_foreign_ci
check "the installed command finds its fixtures" \
    "$stage/usr/bin/cpubind" plan --fixture a3-640cpu-16npu
check "make help lists the targets" make -s help
finish
