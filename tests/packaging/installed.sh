#!/bin/sh
# installed.sh - what is installed beside the command: the shared library, the files for pkg-config
# and CMake, pages, completion; prints TAP
# runs: check-all
# build: plain
#
#   tests/packaging/installed.sh     from the top folder, after `make install` to BUILD/stage

BUILD=${BUILD:-build}
out=$BUILD/installed
rm -rf "$out"
mkdir -p "$out"
. tests/support/tap.sh
stage=$(cd "$BUILD/stage/usr" && pwd) || exit 1
out=$(cd "$out" && pwd)
command=$stage/bin/cpubind
commands=$("$command" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
options=$BUILD/doc/options

everything_is_there() {
    for file in bin/cpubind lib/libcpubind.so.1 lib/libcpubind.a lib/libcpubind_ascend.a \
        lib/libcpubind_linux.a lib/libcpubind_corpus.a lib/pkgconfig/cpubind.pc \
        lib/pkgconfig/cpubind-corpus.pc \
        lib/cmake/cpubind/cpubind-config.cmake lib/cmake/cpubind/cpubind-config-version.cmake \
        lib/systemd/system/cpubind.service include/cpubind.h include/cpubind_api.h \
        include/cpubind.hpp include/cpubind/cpubind_ascend.h share/cpubind/fixtures.db \
        share/man/man1/cpubind.1 share/man/man3/cpubind.3 share/man/man5/cpubind.conf.5 \
        share/bash-completion/completions/cpubind share/zsh/site-functions/_cpubind \
        share/doc/cpubind/README.md share/doc/cpubind/CHANGELOG.md share/doc/cpubind/LICENSE \
        share/doc/cpubind/adapters/plan/RULES.md share/doc/cpubind/fuzz/README.md; do
        [ -f "$stage/$file" ] || [ -f "$stage/$(echo "$file" | sed 's|cpubind/cpubind_asc|cpubind/ascend/cpubind_asc|')" ] ||
            { echo "missing: $file" && return 1; }
    done
    [ "$(readlink "$stage/lib/libcpubind.so")" = libcpubind.so.1 ]
}

no_mark_is_left() {
    ! grep -rnIE '@[A-Z]+@' "$stage/lib" "$stage/share/man" --include='*.pc' --include='*.cmake' \
        --include='*.service' --include='*.[135]' && ! grep -rlF "$stage" "$stage"
}

has_its_soname() {
    readelf -d "$stage/lib/libcpubind.so.1" | grep -q 'SONAME.*\[libcpubind.so.1\]' &&
        [ "$(readelf -d "$stage/lib/libcpubind.so.1" | grep -c 'NEEDED')" -le 2 ] &&
        ! readelf -d "$stage/lib/libcpubind.so.1" | grep NEEDED | grep -vE '\[(libc\.so\.6|ld-linux-.*)\]'
}

exports_its_map() {
    sed -n 's/^ *\(cpb_[a-z0-9_]*\);/\1/p' adapters/api/cpubind_api.map | sort >"$out/map"
    nm -D --defined-only "$stage/lib/libcpubind.so.1" | awk '$2 == "T" { print $3 }' |
        sed 's/@.*//' | sort | diff "$out/map" - &&
        nm -g --defined-only "$stage/lib/libcpubind.a" | awk 'NF == 3 { print $3 }' | sort |
        diff "$out/map" -
}

# A program that plans a host of the installed corpus' folders.
cat >"$out/user.c" <<'EOF'
#include <cpubind.h>
#include <cpubind_api.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    cpb_error *error = NULL;
    cpb_host *host = argc > 1 ? cpb_host_folder(argv[1], &error) : NULL;
    cpb_plan *plan = host ? cpb_plan_make(host, NULL, &error) : NULL;
    const int32_t *devices, n = plan ? cpb_plan_devices(plan, &devices) : 0;
    printf("%d %s\n", (int)n, plan ? CPUBIND_VERSION : cpb_error_text(error));
    cpb_plan_free(plan);
    cpb_host_close(host);
    return n == 16 ? 0 : 1;
}
EOF
host=fixtures/hosts/a3-640cpu-16npu.host

# The installed tree is not at its PREFIX: --define-prefix moves the paths.
pkg() { # options of pkg-config
    PKG_CONFIG_PATH=$stage/lib/pkgconfig pkg-config --define-prefix "$@"
}
pkg_config_builds() { # compiler, language, options of pkg-config
    compiler=$1 language=$2
    shift 2
    # shellcheck disable=SC2046
    "$compiler" -Wall -Wextra -Werror -x "$language" "$out/user.c" -x none \
        $(pkg --cflags --libs "$@") -o "$out/user" &&
        LD_LIBRARY_PATH=$stage/lib "$out/user" $host
}
pkg_config_knows_the_version() {
    [ "cpubind $(pkg --modversion cpubind)" = "$("$command" --version | cut -d, -f1)" ] &&
        [ "$(pkg --modversion cpubind)" = "$(pkg --modversion cpubind-corpus)" ]
}
pkg_config_builds_with_the_corpus() {
    # shellcheck disable=SC2046
    cc -Wall -Wextra -Werror tests/consumers/consumer_corpus.c \
        $(pkg --cflags --libs cpubind-corpus) -o "$out/corpus" &&
        "$out/corpus" "$(pkg --variable=fixtures cpubind-corpus)" a3-640cpu-16npu
}
the_archive_builds() {
    cc -I "$stage/include" "$out/user.c" "$stage/lib/libcpubind.a" -pthread -o "$out/user_a" &&
        ! readelf -d "$out/user_a" | grep -q cpubind && "$out/user_a" $host
}

# One project with a program for each target.
find_package_builds() {
    mkdir -p "$out/cmake"
    cp "$out/user.c" "$out/cmake/user.c"
    cp tests/consumers/consumer_corpus.c tests/consumers/consumer_bind.c \
        tests/packaging/link_readers.c "$out/cmake"
    printf '#define CPUBIND_IMPLEMENTATION\n#include <cpubind.h>\n%s\n' \
        'int main(void) { return cpubind_version() == CPUBIND_VERSION_HEX ? 0 : 1; }' \
        >"$out/cmake/header.c"
    cat >"$out/cmake/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.13)
project(user C)
find_package(cpubind 0.1 REQUIRED CONFIG)
if(NOT EXISTS "${cpubind_FIXTURES}")
  message(FATAL_ERROR "no corpus: ${cpubind_FIXTURES}")
endif()
foreach(pair header:header user:cpubind archive:static corpus:corpus bind:linux readers:ascend)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 program)
  list(GET pair 1 target)
  set(source ${program}.c)
  if(program STREQUAL "archive")
    set(source user.c)
  elseif(program STREQUAL "corpus" OR program STREQUAL "bind")
    set(source consumer_${program}.c)
  elseif(program STREQUAL "readers")
    set(source link_readers.c)
  endif()
  add_executable(${program} ${source})
  target_link_libraries(${program} PRIVATE cpubind::${target})
endforeach()
EOF
    version=$("$command" --version | sed 's/cpubind \([0-9]*\.[0-9]*\).*/\1/')
    sed -i "s/cpubind 0.1 REQUIRED/cpubind $version REQUIRED/" "$out/cmake/CMakeLists.txt"
    cmake -S "$out/cmake" -B "$out/cmake/build" -DCMAKE_PREFIX_PATH="$stage" &&
        cmake --build "$out/cmake/build" && cd "$out/cmake/build" && ./header && ./readers &&
        cd - >/dev/null && "$out/cmake/build/user" $host && "$out/cmake/build/archive" $host &&
        "$out/cmake/build/corpus" "$stage/share/cpubind/fixtures.db" a3-640cpu-16npu
}
find_package_refuses_another_version() {
    sed 's/find_package(cpubind [0-9.]* /find_package(cpubind 99.1 /' \
        "$out/cmake/CMakeLists.txt" >"$out/cmake/new" &&
        mkdir -p "$out/cmake99" && cp "$out/cmake/"*.c "$out/cmake99" &&
        mv "$out/cmake/new" "$out/cmake99/CMakeLists.txt" &&
        ! cmake -S "$out/cmake99" -B "$out/cmake99/build" -DCMAKE_PREFIX_PATH="$stage"
}

# -- Pages -------------------------------------------------------------------

each_command_has_a_page() {
    for word in $commands; do
        [ -f "$stage/share/man/man1/cpubind-$word.1" ] || { echo "no page: $word" && return 1; }
        grep -q "cpubind..$word" "$stage/share/man/man1/cpubind.1" || return 1
    done
    [ "$(find "$stage/share/man/man1" -type f | wc -l)" -eq $(($(echo "$commands" | wc -l) + 1)) ]
}
pages() {
    find "$stage/share/man" -type f | sort
}
pages_have_no_warnings() { # program with its arguments
    for page in $(pages); do
        "$@" "$page" >"$out/warnings" 2>&1 && [ ! -s "$out/warnings" ] ||
            { echo "$page" && cat "$out/warnings" && return 1; }
    done
}
man_renders_each_page() {
    for page in $(pages); do
        MANWIDTH=80 man --warnings -l "$page" >"$out/page" 2>"$out/errors" && [ ! -s "$out/errors" ] &&
            grep -q '^NAME' "$out/page" && grep -q '^SEE ALSO' "$out/page" ||
            { cat "$out/errors" && echo "$page" && return 1; }
    done
}
# Rows of the table that the program of the build prints: "fixture list|--db|file|".
pages_name_each_option() {
    sed -n 's/^\([a-z]*\)[^|]*|\(--[^|]*\)|.*/\1 \2/p' "$options" | sort -u >"$out/options"
    [ "$(wc -l <"$out/options")" -ge 200 ] || return 1
    while read -r word option; do
        sed 's/\\-/-/g' "$stage/share/man/man1/cpubind-$word.1" | grep -q -e "$option" && continue
        echo "cpubind-$word(1) does not name $option"
        return 1
    done <"$out/options"
}
pages_name_each_key_and_call() {
    sed -n 's/^#\([a-z-]*\) = .*/\1/p' "$stage/share/cpubind/cpubind.conf.example" >"$out/keys"
    [ "$(wc -l <"$out/keys")" -ge 20 ] || return 1
    while read -r key; do
        sed 's/\\-/-/g' "$stage/share/man/man5/cpubind.conf.5" | grep -q "^\.B $key = " ||
            { echo "cpubind.conf(5) does not name $key" && return 1; }
    done <"$out/keys"
    while read -r call; do
        grep -q "^\.B .*[ *]$call(" "$stage/share/man/man3/cpubind.3" ||
            { echo "cpubind(3) does not name $call" && return 1; }
    done <"$out/map"
}

# -- Completion --------------------------------------------------------------

# Prints what bash offers for the words, the last of which is being written.
offers() { # word ...
    PATH=$stage/bin:$PATH bash -c '
        . "$1" || exit 1
        shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _cpubind
        printf "%s\n" "${COMPREPLY[@]}"' bash \
        "$stage/share/bash-completion/completions/cpubind" "$@" | tr '\n' ' '
}
is_offered() { # what, word ...
    expected=$1
    shift
    got=$(offers "$@")
    [ "$got" = "$expected " ] || { echo "expected: $expected; got: $got" && return 1; }
}
bash_completes() {
    is_offered 'plan' cpubind pl &&
        is_offered 'status' cpubind help st &&
        is_offered '--scope' cpubind plan --root X --sc &&
        is_offered '--rules' cpubind apply --rul &&
        is_offered 'near reference' cpubind plan --rules '' &&
        is_offered 'json' cpubind plan --format js &&
        is_offered 'a3-640cpu-16npu' cpubind plan --fixture a3-640cpu-16 &&
        is_offered 'replay' cpubind fixture rep &&
        is_offered '--format' cpubind fixture replay --fo &&
        is_offered 'a3-640cpu-16npu' cpubind fixture show a3-640cpu-16 &&
        is_offered 'adapters' cpubind plan --root adap &&
        is_offered '' cpubind plan --devices ''
}
# Every row of the table is offered, and nothing that its command does not have.
bash_completes_each_option() {
    cut -d '|' -f 1,2 "$options" >"$out/table"
    cut -d '|' -f 1 "$out/table" | uniq | while read -r words; do
        grep "^$words|" "$out/table" | sed 's/.*|//' | tr '\n' ' ' >"$out/wanted"
        # shellcheck disable=SC2086
        offers cpubind $words - >"$out/offered"
        diff "$out/wanted" "$out/offered" >&2 || echo "$words"
    done >"$out/wrong"
    [ -s "$out/table" ] && [ ! -s "$out/wrong" ]
}
zsh_reads_it() {
    zsh -n "$stage/share/zsh/site-functions/_cpubind" &&
        head -1 "$stage/share/zsh/site-functions/_cpubind" | grep -qx '#compdef cpubind' &&
        zsh -f -c 'autoload -Uz compinit; fpath=("$1" $fpath); compinit -D -u; [[ $_comps[cpubind] == _cpubind ]]' \
            zsh "$stage/share/zsh/site-functions"
}

options_are_those_of_the_table() {
    diff adapters/cli/COMMANDS.md "$BUILD/doc/COMMANDS.md" >&2 && return 0
    echo "make pages writes them" >&2
    return 1
}

check_with() { # needed command, text, command ...
    tool=$1
    shift
    if command -v "$tool" >/dev/null 2>&1; then
        check "$@"
    else
        skip "$1" "no $tool"
    fi
}

check "command, libraries, headers, pages and texts are installed" everything_is_there
check "no mark of a template is left, and no path of the build" no_mark_is_left
check "libcpubind.so.1 has its soname and needs libc alone" has_its_soname
check "libcpubind.so.1 and libcpubind.a export the names of cpubind_api.map" exports_its_map
check_with pkg-config "pkg-config builds a C program" pkg_config_builds cc c cpubind
check_with pkg-config "pkg-config builds a C++ program" pkg_config_builds c++ c++ cpubind
check_with pkg-config "pkg-config has the version of the command" pkg_config_knows_the_version
check_with pkg-config "pkg-config builds a program that reads the installed corpus" \
    pkg_config_builds_with_the_corpus
check "libcpubind.a builds a program that needs no libcpubind.so.1" the_archive_builds
check_with cmake "find_package(cpubind) builds a program of each target" find_package_builds
check_with cmake "find_package refuses another version" find_package_refuses_another_version
check "each command has a page" each_command_has_a_page
check_with groff "no page has a warning of groff" pages_have_no_warnings groff -man -Tutf8 -ww -z
check_with mandoc "no page has a warning of mandoc" pages_have_no_warnings mandoc -Tlint -Wwarning
check_with man "man renders each page" man_renders_each_page
check "the page of a command names each of its options" pages_name_each_option
check "the pages name each key of cpubind.conf and each call" pages_name_each_key_and_call
check "the page of options is that of their table" options_are_those_of_the_table
check_with bash "bash completes commands, options, values, hosts and files" bash_completes
check_with bash "bash completes each option of each command" bash_completes_each_option
check_with zsh "zsh reads the completion" zsh_reads_it
finish
