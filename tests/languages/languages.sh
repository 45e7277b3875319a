#!/bin/sh
# languages.sh - the example in C++, Rust and Go, and the tests of the header of C++
# SPDX-License-Identifier: MIT
# runs: check-all
# build: plain
#
#   tests/languages/languages.sh            from the top folder, after `make all lib`
#
# Prints TAP. Tests of a language without a compiler are skipped, and those of Rust without the
# command bindgen. Nothing is downloaded: Rust and Go find the header and the library by
# pkg-config, as where cpubind is installed, and need no other crate or module. The
# example plans every fixture host and binds itself: its lines are the same in all languages,
# and its JSON, map and errors are those of the command.
LC_ALL=C
export LC_ALL

BUILD=${BUILD:-build}
out=$BUILD/languages
mkdir -p "$out"
out=$(cd "$out" && pwd)
build=$(cd "$BUILD" && pwd)
. tests/support/tap.sh
. tests/support/own_host.sh

warnings='-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror'
languages='c++17 c++20 rust go'

if [ ! -e "$build/libcpubind.so.1" ]; then
    skip "the examples of the library" "no libcpubind.so.1: make lib"
    finish
    exit
fi
mkdir -p "$out/lib"
ln -sf "$build/libcpubind.so.1" "$out/lib/libcpubind.so.1"
ln -sf libcpubind.so.1 "$out/lib/libcpubind.so"
LD_LIBRARY_PATH=$out/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

# cargo and go write below $out, and download nothing.
sed -e "s|@PREFIX@|$PWD|; s|/include|/adapters/api|; s|@LIBDIR@|$out/lib|; s|@VERSION@|0|" \
    adapters/packaging/cpubind.pc.in >"$out/lib/cpubind.pc"
export PKG_CONFIG_PATH="$out/lib" CARGO_TARGET_DIR="$out/cargo" CARGO_NET_OFFLINE=true
export GOCACHE="$out/go-cache" GOPROXY=off GOFLAGS=-mod=mod GO111MODULE=on CGO_ENABLED=1

# -- Compilers ---------------------------------------------------------------

why_not() { # language: prints why it cannot be built here; nothing when it can
    case $1 in
    c++17) command -v "${CXX:-c++}" >/dev/null || echo "no C++ compiler" ;;
    c++20)
        echo 'int main() {}' >"$out/empty.cpp"
        "${CXX:-c++}" -std=c++20 -c "$out/empty.cpp" -o "$out/empty.o" 2>/dev/null ||
            echo "no compiler of C++20"
        ;;
    rust)
        { cargo --version && rustc --version && bindgen --version && pkg-config --version; } \
            >/dev/null 2>&1 || echo "no cargo, rustc, bindgen and pkg-config"
        ;;
    go) { go version && pkg-config --version; } >/dev/null 2>&1 || echo "no go and pkg-config" ;;
    esac
}

compile() { # language: its example is $out/example-LANGUAGE
    rm -f "$out/example-$1"
    case $1 in
    c++*)
        # shellcheck disable=SC2086
        "${CXX:-c++}" -std="$1" -O1 $warnings -Iadapters/api -Iadapters/cpp \
            adapters/cpp/examples/plan_and_bind.cpp -L"$out/lib" -lcpubind -o "$out/example-$1"
        ;;
    rust)
        cargo build --quiet --manifest-path adapters/api/examples/rust/Cargo.toml &&
            cp "$out/cargo/debug/plan_and_bind" "$out/example-rust"
        ;;
    go) (cd adapters/api/examples/go && go vet . && go build -o "$out/example-go" .) ;;
    esac
}

# -- The example -------------------------------------------------------------

json() { # file, path
    sqlite3 :memory: "SELECT readfile('$1') ->> '$2'"
}

run_example() { # language, host: prints what it printed, and its exit status
    "$out/example-$1" "fixtures/hosts/$2.host" "$out/own" "$own_cpu" \
        >"$out/said" 2>"$out/err"
    status=$?
}

# The lines about the plan that the example has to print, from the command. Maps are of NPUs
# alone: with other accelerators the example prints its devices, and ends.
expect_lines() { # host
    cpubind="$build/cpubind plan --root fixtures/hosts/$1.host"
    $cpubind --rules near --json >"$out/plan.json" 2>"$out/warnings"
    want=$?
    if [ $want -ne 0 ]; then
        json "$out/plan.json" '$.error.text'
        return
    fi
    cat "$out/plan.json"
    $cpubind --rules near --format map 2>"$out/warnings"
    $cpubind --allowed 0 --scope own --rules reference -o strategy=global_slice --json >"$out/json" 2>"$out/warnings" ||
        json "$out/json" '$.error.text'
}

# Options are written in another way there, and some advice is for the command.
advice='/no accelerator that cpubind knows\|^there is no .sys.bus.pci/s/; .*//; s/-o //g; s/--//g; s/=/ /g'
agrees_on_every_host() { # language
    n=0
    for host in fixtures/hosts/*.host; do
        name=$(basename "$host" .host)
        run_example "$1" "$name"
        if [ ! -e "$out/lines-$name" ]; then
            expect_lines "$name" >"$out/expected"
            if [ -n "$(json "$out/plan.json" '$.devices')" ] &&
                [ -z "$(json "$out/plan.json" '$.device_type')" ]; then
                grep -q '^device 0: ' "$out/said" || return 1
                cat "$out/said" "$out/err" >"$out/lines-$name"
                continue
            fi
            if [ $status -ne $want ]; then
                echo "$name: exit status $status, of the command $want"
                return 1
            fi
            # Without the lists of CPUs, and what it says about itself.
            sed -i "$advice" "$out/expected"
            cat "$out/said" "$out/err" | sed "/^device /d; /^bound to /,\$d; s/^error .*, have [-0-9]*: //; $advice" |
                diff -B "$out/expected" - || return 1
            cat "$out/said" "$out/err" >"$out/lines-$name"
        fi
        cat "$out/said" "$out/err" | diff "$out/lines-$name" - || return 1
        [ $status -ne 0 ] || n=$((n + 1))
    done
    echo "$n plans"
    [ $n -ge 50 ]
}

binds_itself() { # language
    run_example "$1" a2-192cpu-8npu
    cat "$out/said" "$out/err"
    [ $status -eq 0 ] && grep -qx "bound to $own_cpu" "$out/said" &&
        grep -qx "not in place: 0" "$out/said" && grep -qx "restored: yes" "$out/said"
}

test_cxx() { # standard
    # shellcheck disable=SC2086
    "${CXX:-c++}" -std="$1" -O1 $warnings -pthread -Iadapters/api -Iadapters/cpp \
        tests/languages/test_cpubind.cpp -L"$out/lib" -lcpubind -o "$out/test-$1" &&
        "$out/test-$1" fixtures/hosts
}

make_own_host "$out/own" || exit 1
rm -f "$out"/lines-* "$out"/example-*
for language in $languages; do
    reason=$(why_not $language)
    if [ -n "$reason" ]; then
        skip "$language: the example" "$reason"
        continue
    fi
    check "$language: the example compiles" compile $language
    [ ! -x "$out/example-$language" ] ||
        check "$language: plans, maps and errors of every fixture are those of the command" \
            agrees_on_every_host $language
    [ ! -x "$out/example-$language" ] ||
        check "$language: the example binds itself and restores itself" binds_itself $language
    case $language in
    c++*) check "$language: the tests of the header" test_cxx $language ;;
    esac
done
finish
