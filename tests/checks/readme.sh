#!/bin/sh
# readme.sh - the claims, links and examples of all pages are true; prints TAP
# runs: check-all
# pids: shared
# build: plain
#
#   tests/checks/readme.sh       from the top folder, after `make all lib`; BUILD as there
#
# Every fenced block of a page is an example. The language of the fence says how it is tested:
#   console   "$ COMMAND" and its stdout; one shell runs all commands of the block
#   c, python   a program; the text block after it is its output. The first line
#             may name a file ("# worker.py"), which later blocks of the page use
#   conf      settings of the service, which `cpubind service --check` accepts
#   sh        commands that end well; their output is not compared
# A comment before a fence changes that:
#   <!-- not run: REASON -->   the block cannot run here; its commands have only options that
#                              the help names. The blocks and reasons are listed
#   <!-- host: NAME -->        the fixture host that the block runs on
# The commands run in a folder of their own, as if this machine were a host of 192 CPUs:
# affinity_shim.c replaces the calls that set CPUs. A block that names process 4711 runs beside a
# worker, whose number takes the place of 4711; without a named host the machine is then
# a2-driver-host, with 48 CPUs, and the worker drives its NPU 1. Commands that bind need root, which has a /run of its own.
LC_ALL=C
export LC_ALL
unset LOCAL_RANK SLURM_LOCALID OMPI_COMM_WORLD_LOCAL_RANK MPI_LOCALRANKID PMI_LOCAL_RANK \
    PALS_LOCAL_RANKID MV2_COMM_WORLD_LOCAL_RANK FLUX_TASK_LOCAL_ID CPUBIND_RULES CPUBIND_FACTS \
    ASCEND_RT_VISIBLE_DEVICES ASCEND_VISIBLE_DEVICES CUDA_VISIBLE_DEVICES

if [ -z "$README_MOUNTS" ]; then
    README_MOUNTS=shared
    export README_MOUNTS
    if [ "$(id -u)" -eq 0 ] && unshare -m mount -t tmpfs -o mode=755 tmpfs /run 2>/dev/null; then
        README_MOUNTS=own exec unshare -m "$0" "$@"
    fi
fi
[ "$README_MOUNTS" = shared ] || mount -t tmpfs -o mode=755 tmpfs /run || exit 1

BUILD=${BUILD:-build}
mkdir -p "$BUILD/readme"
top=$(pwd)
build=$(cd "$BUILD" && pwd)
out=$build/readme
rm -rf "$out"
mkdir -p "$out/bin" "$out/shim" "$out/lib"
ln -s "$build/libcpubind.so.1" "$out/lib/libcpubind.so.1"
ln -s libcpubind.so.1 "$out/lib/libcpubind.so"
. tests/support/tap.sh

pages=$(find README.md adapters fixtures/README.md fuzz/README.md -name '*.md')

# -- The examples ------------------------------------------------------------

# Writes the blocks of a page to $work/block.N, and a line for each to $work/list: number,
# language, place, what the comment before it says.
split_page() { # page
    awk -v work="$work" '
        on && /^```$/ { on = 0; close(file); remark = ""; next }
        on { print >file; next }
        /^```/ {
            on = 1; n++
            file = work "/block." n
            printf "" >file
            printf "%d|%s|%s:%d|%s\n", n, substr($0, 4), FILENAME, FNR, remark
            next
        }
        /^<!-- (not run|host): .* -->$/ { remark = substr($0, 6, length($0) - 9); next }
        NF { remark = "" }
        END { exit on }' "$1" >"$work/list"
}

make_tools() {
    flags='-std=c11 -D_DEFAULT_SOURCE -O1'
    # shellcheck disable=SC2086
    cc $flags -shared -fPIC tests/scenes/programs/affinity_shim.c -o "$out/shim.so" -ldl &&
        cc $flags tests/scenes/programs/worker.c -o "$out/VLLM::Worker_TP" -pthread || return 1
    # Commands use the fixture host as this machine, unless an option names a host.
    cat >"$out/bin/cpubind" <<EOF
#!/bin/sh
command=\$1
shift
export CPUBIND_SHIM_CPUS=192
host="--fixture \$EXAMPLE_HOST" cpus="--allowed 0-191"
[ "\$EXAMPLE_HOST" != gpu-interleaved-4h20 ] || cpus="--allowed 0-95" # its cpuset
if [ "\$EXAMPLE_HOST" = worker ]; then
    export CPUBIND_SHIM_CPUS=48
    host="--root $out/host" cpus="--allowed 0-47"
fi
case "\$command \$* " in
*' --fixture '* | *' --root '* | fixture\ *) exec "$build/cpubind" "\$command" "\$@" ;;
restore\ *) set -- "\$command" "\$@" ;;
run\ * | apply\ * | status\ * | verify\ --all*) set -- "\$command" \$host \$cpus "\$@" ;;
plan\ * | topo\ * | doctor\ *) set -- "\$command" \$host "\$@" ;;
capture\ *) set -- "\$command" --root "fixtures/hosts/\$EXAMPLE_HOST.host" "\$@" ;;
*) set -- "\$command" "\$@" ;;
esac
export LD_PRELOAD="$out/shim.so" CPUBIND_SHIM="$out/shim" CPUBIND_SHIM_MACHINE=aarch64
exec "$build/san/cpubind" "\$@"
EOF
    chmod +x "$out/bin/cpubind"
}

# Runs a command as the examples run.
example() { # command ...
    (cd "$work" && PATH=$out/bin:$PATH PYTHONPATH=$top/adapters/python \
        PYTHONDONTWRITEBYTECODE=1 CPUBIND_LIBRARY=$build/libcpubind.so.1 \
        LD_LIBRARY_PATH=$out/lib "$@")
}

start_worker() {
    rm -rf "$out"/shim/* "$out/ready" "$out/host"
    "$BUILD/cpubind" fixture export a2-driver-host "$out/host" --quiet
    mkfifo "$out/ready"
    RANK=1 "$out/VLLM::Worker_TP" acl_thread release_thread hccl_watchdog_t pt_main_thread \
        pt_autograd_0 >"$out/ready" &
    worker=$!
    rm -r "$out"/host/proc/trs_core/proc/*
    mkdir "$out/host/proc/trs_core/proc/$worker-0-dev-1"
    : >"$out/host/proc/trs_core/proc/$worker-0-dev-1/summary"
    "$BUILD/cpubind" status --root "$out/host" --allowed 0-47 --json 2>"$out/err" |
        grep -o '"irq": [0-9]*, "kind": "[a-z]*", "cpu": [0-9]*' | tr -d , >"$out/irqs"
    while read -r _ irq _ _ _ cpu; do
        mkdir -p "$out/host/proc/irq/$irq"
        echo "$cpu" >"$out/host/proc/irq/$irq/smp_affinity_list"
    done <"$out/irqs"
    read -r ready <"$out/ready" && [ "$ready" = ready ]
}

end_worker() {
    [ -n "$worker" ] || return 0
    kill "$worker"
    wait "$worker" 2>/dev/null
    worker=
}

run_console() { # block
    awk '/^\$ / {
        line = $0
        gsub(/\047/, "\047\\\047\047", line)
        print "printf \"%s\\n\" \047" line "\047"
        print substr($0, 3)
    }' "$1" >"$work/script"
    [ -s "$work/script" ] || return 1
    worker=
    ! grep -q 4711 "$1" || start_worker || return 1
    sed -i "s/4711/${worker:-4711}/g" "$work/script"
    example sh ./script 2>"$work/err" >"$work/got"
    number=4711
    for task in ${worker:+/proc/$worker/task/*}; do
        sed -i "s/\b${task##*/}\b/$number/g" "$work/got"
        number=$((number + 1))
    done
    end_worker
    # The number may have more digits than 4711, so columns may be wider.
    diff -b "$1" "$work/got" || {
        cat "$work/err"
        return 1
    }
}

# A program with the core, or with the shared library, as C and as C++.
run_c() { # block
    rm -f "$work/first"
    library=
    ! grep -q cpubind_api.h "$1" || library="-L $out/lib -lcpubind"
    cp "$1" "$work/program.c" || return 1
    for compiler in "cc -std=c99" "cc -std=c17" \
        "c++ -std=c++20 -Wpedantic -Wno-missing-field-initializers -x c++"; do
        # shellcheck disable=SC2086
        $compiler -Wall -Wextra -Werror -fsanitize=address,undefined -I . -I adapters/api \
            "$work/program.c" $library -o "$work/program" && example ./program >"$work/got" ||
            return 1
        [ ! -e "$work/first" ] || diff "$work/first" "$work/got" >&2 || return 1
        cp "$work/got" "$work/first"
    done
    cat "$work/got"
}

# The program prints the text block after it.
run_program() { # block, language, block of its output
    case $2 in
    python) example python3 "$1" ;;
    *) "run_$2" "$1" ;;
    esac >"$work/printed" 2>"$work/err" && diff "$3" "$work/printed" && return 0
    cat "$work/err"
    return 1
}

# Each option of a command of cpubind is one that the help names.
options_are_known() { # block
    sed -e ':join' -e '/\\$/ { N; s/\\\n//; b join' -e '}' "$1" | grep -oE 'cpubind [a-z].*' |
        sed -e 's/ -- .*//' -e 's/[#|)].*//' >"$work/commands"
    while read -r _ command rest; do
        [ "$command" != fixture ] || command="fixture ${rest%% *}"
        # Words are split on purpose.
        # shellcheck disable=SC2086
        "$BUILD/cpubind" $command --help >"$work/help" 2>&1 || {
            echo "there is no command $command"
            return 1
        }
        for option in $(echo "$rest" | grep -oE -e '(^| )--[a-z][a-z-]*'); do
            grep -q -e "$option" "$work/help" || {
                echo "cpubind $command has no option $option"
                return 1
            }
        done
    done <"$work/commands"
}

run_block() { # number, language, remark
    block=$work/block.$1
    name=$(sed -n '1s/^\(# \|\/\* \)\([a-z_]*\.[a-z]*\).*/\2/p' "$block")
    EXAMPLE_HOST=a2-192cpu-8npu
    ! grep -q 4711 "$block" || EXAMPLE_HOST=worker
    case $3 in host:*) EXAMPLE_HOST=${3#host: } ;; esac
    export EXAMPLE_HOST
    case $2 in
    console) run_console "$block" ;;
    c | python)
        if [ -n "$name" ]; then
            cp "$block" "$work/$name"
        else
            output=$(grep "^$(($1 + 1))|text|" "$work/list" | cut -d '|' -f 1)
            [ -n "$output" ] || {
                echo "no text block with the output of the program"
                return 1
            }
            run_program "$block" "$2" "$work/block.$output"
        fi
        ;;
    text) grep -qE "^$(($1 - 1))\|(c|python)\|" "$work/list" ;;
    conf) example cpubind service --check "$block" >"$work/got" ;;
    sh) example sh -eu "$block" >"$work/got" ;;
    *)
        echo "no rule for a block of the language \"$2\""
        return 1
        ;;
    esac
}

# Whether a block needs something that this machine lacks.
lacks() { # number, language
    case $2 in
    python) ! command -v python3 >/dev/null 2>&1 ;;
    *)
        [ "$README_MOUNTS" = shared ] && grep -qE '4711|cpubind (run|apply) ' "$work/block.$1"
        ;;
    esac
}

examples_are_true() { # page
    split_page "$1" || return 1
    while IFS='|' read -r number language place remark; do
        case $remark in
        'not run: '?*)
            echo "$place: $remark" >>"$out/not_run"
            options_are_known "$work/block.$number" && continue
            ;;
        *)
            if lacks "$number" "$language"; then
                echo "$place: not run: needs root that may mount, or a compiler" >>"$out/not_run"
                continue
            fi
            run_block "$number" "$language" "$remark" </dev/null && echo "$place" >>"$out/ran" &&
                continue
            ;;
        esac
        echo "$place: the example is not true"
        return 1
    done <"$work/list"
}

check_examples() {
    : >"$out/not_run"
    : >"$out/ran"
    work=$out/work
    for page in $pages; do
        rm -rf "$work"
        mkdir "$work"
        ln -s "$top/fixtures" "$top/tests" "$top/adapters" "$work"
        ln -s "$top" "$work/cpubind"
        check "the examples of $page run and print the outputs in it" examples_are_true "$page"
    done
    sed 's/^/# /' "$out/not_run"
    echo "# $(grep -c . "$out/ran") examples run, $(grep -c . "$out/not_run") do not"
}

# -- The claims --------------------------------------------------------------

# A page has each of these words; at least N of them must be given.
are_named() { # page, N, pattern of a line around WORD, words on stdin
    cat >"$out/words"
    [ "$(wc -l <"$out/words")" -ge "$2" ] || return 1
    while read -r word; do
        grep -q -e "$(echo "$3" | sed "s/WORD/$word/")" "$1" || {
            echo "$1 does not name $word"
            return 1
        }
    done <"$out/words"
}

warnings_are_named() {
    sed -n '/^#define CPUBIND_[A-Z]*_LIST/,/^typedef/ {
            s/^ *X([A-Z0-9_]*, "\([a-z_]*\)".*/\1/p; }; /^\/\* == Devices of any vendor/q' \
        adapters/model/facts.h | sort -u >"$out/model"
    for page in $pages; do grep -oE '`[a-z_]+`' "$page"; done | tr -d '`' | sort -u >"$out/named"
    echo auto >>"$out/named"
    sort -u "$out/named" | comm -23 "$out/model" - >"$out/missing"
    cat "$out/missing"
    [ -s "$out/model" ] && [ ! -s "$out/missing" ]
}

doctor_words_are_named() {
    sed -n 's/^ *{{"\([a-z_]*\)", CPUBIND_SEVERITY.*/\1/p' adapters/doctor/doctor.c |
        are_named adapters/doctor/DOCTOR.md 24 '^- .*`WORD`.*: '
}

codes_are_named() {
    sed -n '/^#define CPUBIND_WARNING_LIST/,/^$/ s/^.*"\([a-z_]*\)").*/\1/p' adapters/model/facts.h |
        sort -u | are_named adapters/cli/MESSAGES.md 15 '^- `WORD`'
}

no_irq_words_are_named() {
    sed -n 's/^ *X([A-Z_]*, "\(no_[a-z]*\|ambiguous\)", .*/\1/p' adapters/model/driver_names.h |
        grep -v no_role | are_named adapters/cli/MESSAGES.md 2 '`WORD`'
}

picture_is_that_of_the_command() {
    "$BUILD/cpubind" plan --fixture gpu-beside-npu --format svg | cmp - adapters/api/plan.svg &&
        grep -qF '](adapters/api/plan.svg)' README.md
}

# Of command_line.c the words that people look for are left out, and are in its tables alone.
sentences_name_options() {
    {
        grep -oE '^- `[^`]*' adapters/cli/COMMANDS.md
        echo '--additional-config --banirq --cap-add --cpu-bind --gpu-bind --gpus-per-task --interleave --mem-bind'
        echo '--membind --no-numa-bind --physcpubind --remove-args --security-opt --update-kernel'
    } | grep -oE -e '--[a-z-]+' | sort -u >"$out/options"
    cat adapters/api/*.c adapters/cli/*.c adapters/words/*.c adapters/doctor/*.c adapters/plan/*.c adapters/model/*.c \
        adapters/text/*.c adapters/pci/*.c adapters/ascend/*.c | grep -vE '^ *\{("-|CPUBIND_ENGINE_)' | grep -oE '"([^"\\]|\\.)*"' |
        grep -oE -e '--[a-z][a-z-]+' | sort -u >"$out/named"
    [ "$(wc -l <"$out/named")" -ge 50 ] && ! comm -13 "$out/options" "$out/named" | grep .
}

# The command contains each sentence of the tables of MESSAGES.md; "..." is a part that varies.
sentences_are_those_of_the_command() {
    grep '^|' adapters/cli/MESSAGES.md | grep -o '"[^"]*"' | tr -d '"' | sed 's/ *\.\.\. */\n/g' |
        grep . >"$out/sentences"
    # Joins the lines of a string in the source.
    cat adapters/cli/*.c adapters/api/*.c adapters/words/*.c | tr '\n' ' ' | sed 's/" *"//g' >"$out/source"
    [ "$(wc -l <"$out/sentences")" -ge 10 ] || return 1
    while read -r sentence; do
        grep -qF -e "$sentence" "$out/source" || {
            echo "no sentence of the command: $sentence"
            return 1
        }
    done <"$out/sentences"
}

readme_is_short() {
    [ "$(wc -l <README.md)" -le 200 ] && head -60 README.md | grep -q '^make run' &&
        head -60 README.md | grep -q '^make check'
}

no_page_is_long() {
    # Words are split on purpose.
    # shellcheck disable=SC2086
    wc -l $pages | awk '$2 != "total" && $1 > 300 { print; long = 1 } END { exit long }'
}

# -- Links, and names of files -----------------------------------------------

# Prints the anchors of a page: its headings in small letters, with - for blanks.
anchors() { # page
    awk '/^```/ { code = !code } !code && /^##* / { print }' "$1" | tr '[:upper:]' '[:lower:]' |
        sed 's/^#* //; s/[^a-z0-9 _-]//g; s/ /-/g'
}

# Prints the links of a page to files, as "FILE ANCHOR"; the file is seen from the top folder.
links() { # page
    awk '/^```/ { code = !code } !code' "$1" | grep -oE '\]\([^)]*\)' | tr -d '])(' |
        grep -v '^https:' | while IFS='#' read -r file anchor; do
        echo "$(realpath -m --relative-to=. "$(dirname "$1")/${file:-${1##*/}}") $anchor"
    done
}

links_lead_somewhere() { # page
    links "$1" | while read -r file anchor; do
        [ -f "$file" ] || echo "$1 has a link to $file"
        [ -z "$anchor" ] || anchors "$file" | grep -qx -e "$anchor" ||
            echo "$1 has a link to $file#$anchor"
    done >"$out/broken"
    cat "$out/broken"
    [ ! -s "$out/broken" ]
}

# No reader needs more than two clicks from README.md to a page.
pages_are_two_clicks_away() {
    for page in README.md $(links README.md | cut -d ' ' -f 1); do
        links "$page"
    done | cut -d ' ' -f 1 | sort -u >"$out/near"
    echo "$pages" | grep -vx README.md | sort | comm -23 - "$out/near" >"$out/far"
    cat "$out/far"
    [ ! -s "$out/far" ]
}

# Files, headers and targets of make that the pages name. The page on
# fuzzing names folders of the reader.
names_exist() {
    for page in $pages; do
        [ "$page" = fuzz/README.md ] || cat "$page"
    done >"$out/all"
    grep -oE '`[^` ]+`' "$out/all" | tr -d '`' | sort -u >"$out/names"
    grep -oE '(^|[^a-z/.-])(adapters|tests|fixtures|fuzz)/[a-zA-Z0-9_./-]*' "$out/all" |
        sed 's/^[^a-z]//; s/\.$//' | sort -u | while read -r path; do
        [ -e "$path" ] || echo "$path"
    done >"$out/missing"
    grep -E '^[a-z_/]+\.h$' "$out/names" | sed 's|^cpubind/||' | while read -r header; do
        [ -f "$header" ] || [ -f "adapters/$header" ] || [ -f "adapters/linux/$header" ] ||
            [ -f "adapters/ascend/$header" ] || [ -f "adapters/api/$header" ] || [ -f "adapters/sqlite/$header" ] || echo "$header"
    done >>"$out/missing"
    grep -oE '`make [a-z-]+' "$out/all" | sed 's/.* //' | sort -u | while read -r target; do
        grep -qE "^$target:|^\.PHONY:.* $target( |\$)" Makefile adapters/packaging/packages.mk || echo "make $target"
    done >>"$out/missing"
    cat "$out/missing"
    [ ! -s "$out/missing" ]
}

versions_agree() {
    version=$(sed -n '1s/.* v\([0-9.]*\) .*/\1/p' cpubind.h)
    [ "$("$BUILD/cpubind" --version | cut -d, -f1)" = "cpubind $version" ] &&
        grep -q "define CPUBIND_VERSION *\"$version\"" cpubind.h &&
        grep -q "^## $version" CHANGELOG.md
}

has_no_foreign_path() {
    ! grep -rnIE '/work/|/tmp/w/' --include='*' cpubind.h adapters fixtures tests Makefile \
        README.md CHANGELOG.md .ci | grep -v 'tests/checks/readme.sh'
}

# In the order of the table: the page on binding, and the module for torch.
rank_variables_agree() {
    sed -n 's/^    X(".*", "\([A-Z0-9_]*\)", ".*") *\\*$/\1/p' adapters/source.h |
        tr '\n' ' ' >"$out/ranks"
    [ "$(wc -w <"$out/ranks")" -ge 8 ] &&
        grep -o 'else the first of `LOCAL_RANK`[^:]*that is set' adapters/linux/bind/BIND.md | grep -o '`[A-Z0-9_]*`' |
        tr -d '`' | tr '\n' ' ' | diff "$out/ranks" - &&
        sed -n '/^RANK_VARIABLES/,/)/p' adapters/python/cpubind/torch.py | grep -o '"[A-Z0-9_]*"' |
        tr -d '"' | tr '\n' ' ' | diff "$out/ranks" -
}

check "the tools of the examples compile" make_tools
check_examples
check "the pages name every error and warning code" warnings_are_named
check "the picture of README.md is the one that the command draws" picture_is_that_of_the_command
check "every check of doctor is named" doctor_words_are_named
check "the sentences of MESSAGES.md are those of the command" sentences_are_those_of_the_command
check "what sentences of the command call an option is one, or another program's" sentences_name_options
check "the page of messages names every code of a warning" codes_are_named
check "every reason why no interrupt is bound is named" no_irq_words_are_named
check "README.md has 200 lines at most, and the two commands on its first screen" readme_is_short
check "no page has more than 300 lines" no_page_is_long
for page in $pages; do
    check "the links of $page lead to pages and headings" links_lead_somewhere "$page"
done
check "every page is two clicks from README.md at most" pages_are_two_clicks_away
check "the pages name files, headers and targets that exist" names_exist
check "the version is the same everywhere" versions_agree
check "the variables of launchers are the same everywhere" rank_variables_agree
check "no path of a build machine" has_no_foreign_path
finish
