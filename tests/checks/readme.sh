#!/bin/sh
# readme.sh - the claims of the README are true; prints TAP
#
#   tests/checks/readme.sh       from the top folder, after `make`; BUILD as there

BUILD=${BUILD:-build}
out=$BUILD/readme
mkdir -p "$out"
. tests/support/tap.sh

# Writes the first block of README.md with the fence $1 to $2.
block() {
    awk -v fence='^```'"$1"'$' '$0 ~ fence && !done { on = 1; next }
        /^```$/ && on { on = 0; done = 1 } on' README.md >"$2"
    [ -s "$2" ]
}

program_runs() {
    block c "$out/program.c" && block text "$out/expected" || return 1
    for std in c99 c17; do
        cc -std=$std -Wall -Wextra -Werror -fsanitize=address,undefined -I . "$out/program.c" \
            -o "$out/program" || return 1
        "$out/program" | diff "$out/expected" - || return 1
    done
    c++ -std=c++20 -Wall -Wpedantic -Werror -I . -x c++ "$out/program.c" \
        -o "$out/program" && "$out/program" | diff "$out/expected" -
}

# The Python program, and the text block after it.
python_runs() {
    block python "$out/program.py" || return 1
    awk '/^```python$/ { seen = 1 } /^```$/ && on { exit } on { print }
        /^```text$/ && seen { on = 1 }' README.md >"$out/expected"
    [ -s "$out/expected" ] && CPUBIND_LIBRARY="$(cd "$BUILD" && pwd)/libcpubind.so.1" \
        PYTHONPATH=adapters/python PYTHONDONTWRITEBYTECODE=1 python3 "$out/program.py" |
        diff "$out/expected" -
}

# Each console block: "$ cpubind ..." and its output on a pipe.
consoles_are_true() {
    rm -f "$out"/console.*
    awk -v out="$out/console." '/^```console$/ { on = 1; n++; next } /^```$/ { on = 0 }
        on { print >(out n) }' README.md
    [ "$(find "$out" -name 'console.*' | wc -l)" -ge 4 ] || return 1
    for console in "$out"/console.*; do
        command=$(sed -n '1s/^\$ cpubind //p' "$console")
        [ -n "$command" ] || return 1
        sed 1d "$console" >"$out/expected"
        # shellcheck disable=SC2086
        "$BUILD/cpubind" $command 2>/dev/null | diff "$out/expected" - || return 1
    done
}

# Compares the table of status codes with the X-macro.
codes_are_those_of_the_header() {
    awk '/define CPUBIND_STATUS_LIST/ { on = 1; next }
        on && match($0, /X\([A-Z_]+, -?[0-9]+, "[^"]*"\)/) {
            split(substr($0, RSTART + 2, RLENGTH - 3), f, ", ")
            text = substr($0, index($0, "\"") + 1); sub(/".*/, "", text)
            print "| `" f[1] "` | " f[2] " | " text " |" }
        on && !/\\$/ { exit }' cpubind.h >"$out/codes"
    [ -s "$out/codes" ] && grep -E '^\| `(OK|ERR_)' README.md | diff "$out/codes" -
}

words_are_in_readme() {
    for word in $(sed -n 's/^ *X([A-Z0-9_]*, "\([a-z_]*\)".*/\1/p' adapters/ascend/facts.h); do
        grep -q "\`$word\`" README.md || [ "$word" = auto ] || {
            echo "README.md does not name $word"
            return 1
        }
    done
}

options_are_in_readme() {
    for option in $(for command in plan apply run verify restore status doctor service topo capture "fixture replay" "fixture accept"; do
        # Words are split on purpose.
        # shellcheck disable=SC2086
        "$BUILD/cpubind" $command --help-all
    done | grep -o -- '--[a-z][a-z-]*' | sort -u); do
        case $option in --help | --help-all | --version) continue ;; esac
        grep -q -- "$option" README.md || {
            echo "README.md does not name $option"
            return 1
        }
    done
}

keys_are_in_readme() {
    sed -n 's/^    {"\([a-z-]*\)", .*/\1/p' adapters/cli/settings.c >"$out/keys"
    [ "$(wc -l <"$out/keys")" -ge 20 ] || return 1
    while read -r key; do
        grep -q "^| \`$key\` |" README.md || {
            echo "README.md does not name the key $key"
            return 1
        }
    done <"$out/keys"
}

# The command contains each sentence of the section "Into effect"; "..." is a part that varies.
sentences_are_those_of_the_command() {
    awk '/^## /{ on = $0 == "## Into effect" } on && /^\|/ { print }' README.md |
        grep -o '"[^"]*"' | tr -d '"' | sed 's/ *\.\.\. */\n/g' | grep . >"$out/sentences"
    # Joins the lines of a string in the source.
    cat adapters/cli/*.c adapters/api/*.c | tr '\n' ' ' | sed 's/" *"//g' >"$out/source"
    [ "$(wc -l <"$out/sentences")" -ge 10 ] || return 1
    while read -r sentence; do
        grep -qF -e "$sentence" "$out/source" || {
            echo "no sentence of the command: $sentence"
            return 1
        }
    done <"$out/sentences"
}

doctor_words_are_in_readme() {
    words=$(sed -n 's/^ *{{"\([a-z_]*\)", CPUBIND_SEVERITY.*/\1/p' adapters/doctor/doctor.c)
    [ "$(echo "$words" | wc -l)" -ge 24 ] || return 1
    for word in $words; do
        grep -q "^| .*\`$word\`.* | " README.md || {
            echo "README.md does not name the check $word"
            return 1
        }
    done
}

no_irq_words_are_in_readme() {
    words=$(sed -n 's/^ *X([A-Z_]*, "\(no_[a-z]*\|ambiguous\)", .*/\1/p' adapters/ascend/process_goal.h)
    [ -n "$words" ] || return 1
    for word in $words; do
        grep -q "\`$word\`" README.md || [ "$word" = no_role ] || {
            echo "README.md does not name $word"
            return 1
        }
    done
}

commands_are_on_the_first_screen() {
    head -60 README.md | grep -q '^make run' && head -60 README.md | grep -q '^make check'
}

# Files, headers and targets of make that README.md names.
names_exist() {
    grep -oE '`[^` ]+`' README.md | tr -d '`' | sort -u >"$out/names"
    grep -oE '(adapters|tests|fixtures|fuzz)/[a-zA-Z0-9_./-]*' README.md | sort -u >"$out/paths"
    while read -r path; do
        [ -e "${path%.}" ] || {
            echo "README.md names $path"
            return 1
        }
    done <"$out/paths"
    grep -E '^[a-z_/]+\.h$' "$out/names" | sed 's|^cpubind/||' | while read -r header; do
        [ -f "$header" ] || [ -f "adapters/$header" ] || [ -f "adapters/linux/$header" ] ||
            [ -f "adapters/ascend/$header" ] || [ -f "adapters/api/$header" ] || [ -f "adapters/sqlite/$header" ] || echo "$header"
    done >"$out/missing"
    grep -oE '`make [a-z-]+' README.md | sed 's/.* //' | sort -u | while read -r target; do
        grep -qE "^$target:|^\.PHONY:.* $target( |\$)" Makefile || echo "make $target"
    done >>"$out/missing"
    cat "$out/missing"
    [ ! -s "$out/missing" ]
}

versions_agree() {
    version=$(sed -n '1s/.* v\([0-9.]*\) .*/\1/p' cpubind.h)
    [ "$("$BUILD/cpubind" --version)" = "cpubind $version" ] &&
        grep -q "define CPUBIND_VERSION *\"$version\"" cpubind.h
}

has_no_foreign_path() {
    ! grep -rnIE '/work/|/tmp/w/' --include='*' cpubind.h adapters fixtures tests Makefile \
        README.md CHANGELOG.md .ci | grep -v 'tests/checks/readme.sh'
}

check "the program of README.md compiles, runs, and prints the output in README.md" program_runs
if command -v python3 >/dev/null 2>&1; then
    check "the Python program of README.md prints the output in README.md" python_runs
else
    skip "the Python program of README.md prints the output in README.md" "no python3"
fi
check "the commands of README.md print the outputs in README.md" consoles_are_true
check "the status codes of README.md are those of the header" codes_are_those_of_the_header
check "README.md names every error and warning code" words_are_in_readme
check "README.md names every option" options_are_in_readme
check "README.md names every key of the service" keys_are_in_readme
check "README.md names every check of doctor" doctor_words_are_in_readme
check "the sentences of README.md are those of the command" sentences_are_those_of_the_command
check "README.md names every reason why no interrupt is bound" no_irq_words_are_in_readme
check "the two commands are on its first screen" commands_are_on_the_first_screen
check "README.md names files, headers and targets that exist" names_exist
check "the version is the same everywhere" versions_agree
check "no path of a build machine" has_no_foreign_path
finish
