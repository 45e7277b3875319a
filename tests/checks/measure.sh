#!/bin/sh
# measure.sh - figures of a tree: files, lines, long functions, circles, names
# SPDX-License-Identifier: MIT
#
#   tests/checks/measure.sh [FOLDER]      a tree of cpubind, default the current folder
#
# Prints and judges nothing; the same script runs on an older tree, so that two outputs can be
# compared. Reads objects and libraries in FOLDER/build when they are there. Writes nothing in
# FOLDER. Needs universal-ctags and nm.
set -u
export LC_ALL=C

cd "${1:-.}" || exit 2
[ -f cpubind.h ] && [ -d adapters ] || {
    echo "measure.sh: this is not a tree of cpubind: $PWD" >&2
    exit 2
}
temp=$(mktemp -d) || exit 2
trap 'rm -rf "$temp"' EXIT

title() {
    printf '\n%s\n' "$1"
}

# -- Files and lines ---------------------------------------------------------

production() {
    find cpubind.h adapters -name '*.[ch]'
}

# Files of people: no captured host, no input of a fuzz target, nothing built.
written() {
    find . \( -name build -o -name .git -o -path ./fixtures/hosts -o -path ./fuzz/crashes \
        -o -path ./fuzz/corpus \) -prune -o -type f -print | sed 's|^\./||'
}

count() { # text, files on stdin
    tr '\n' '\0' | xargs -0 cat | wc -l >"$temp/lines"
    printf '  %-38s %5d files %7d lines\n' "$1" "$2" "$(cat "$temp/lines")"
}

count_find() { # text, find arguments ...
    text=$1
    shift
    find "$@" -type f >"$temp/files" 2>/dev/null
    [ -s "$temp/files" ] && count "$text" "$(wc -l <"$temp/files")" <"$temp/files"
}

title "Lines"
count_find "production" cpubind.h adapters -name '*.[ch]'
count_find "  cpubind.h" cpubind.h
for folder in $(find adapters -type d | sort); do
    count_find "  $folder" "$folder" -maxdepth 1 -name '*.[ch]'
done
count_find "tests, C" tests -name '*.[ch]'
for folder in $(find tests -mindepth 1 -maxdepth 1 -type d | sort); do
    count_find "  $folder" "$folder" -name '*.[ch]'
done
count_find "tests, scripts" tests -name '*.sh'
count_find "fuzz, C" fuzz -name '*.[ch]'
written >"$temp/written"
printf '  %-38s %5d files\n' "all that people write" "$(wc -l <"$temp/written")"

# -- Functions ---------------------------------------------------------------

functions() { # FILE LINE END NAME (SIGNATURE), files on stdin
    ctags -x --language-force=C --c-kinds=f -I 'CPUBIND_API,CPUBIND_NODISCARD' \
        --fields=+neS --_xformat='%F %n %e %N %S' -L -
}

title "Functions"
production | functions >"$temp/functions"
echo "  functions in production: $(wc -l <"$temp/functions")"
awk '$3 - $2 + 1 > 60 { n++; text = text "    " $1 ": " $4 ", " $3 - $2 + 1 " lines\n" }
    END { printf "  longer than 60 lines: %d\n%s", n, text }' "$temp/functions"
awk '{
        signature = $0
        sub(/^[^(]*\(/, "", signature)
        depth = 0
        commas = 0
        for (i = 1; i <= length(signature); i++) {
            c = substr(signature, i, 1)
            depth += (c == "(") - (c == ")")
            commas += c == "," && depth == 0
        }
        if (commas + 1 > 6) {
            n++
            text = text "    " $1 ": " $4 ", " commas + 1 "\n"
        }
    }
    END { printf "  more than 6 parameters: %d\n%s", n, text }' "$temp/functions"

# -- Circles -----------------------------------------------------------------

# The sets of nodes that reach one another, from lines "A B": each on a line.
circles() {
    awk '{ if (!($1 in at)) at[$1] = n++; if (!($2 in at)) at[$2] = n++; edge[at[$1], at[$2]] = 1 }
        END {
            for (name in at) names[at[name]] = name
            for (k = 0; k < n; k++)
                for (i = 0; i < n; i++)
                    if ((i, k) in edge)
                        for (j = 0; j < n; j++)
                            if ((k, j) in edge)
                                edge[i, j] = 1
            for (i = 0; i < n; i++) {
                if (done[i]) continue
                set = ""
                for (j = 0; j < n; j++)
                    if (i != j && (i, j) in edge && (j, i) in edge) {
                        set = set " " names[j]
                        done[j] = 1
                    }
                if (set != "") print "    " names[i] set
            }
        }'
}

print_circles() { # text, edges on stdin
    sort -u | awk '$1 != $2' | circles >"$temp/circles"
    printf '  %s: %d\n' "$1" "$(wc -l <"$temp/circles")"
    cat "$temp/circles"
}

title "Circles, where X.c and X.h are one"
for file in $(production); do
    sed -n 's/^ *# *include *"\(.*\)".*/\1/p' "$file" | while read -r target; do
        for try in "${file%/*}/$target" "adapters/$target" "$target"; do
            if [ -f "$try" ]; then
                echo "${file%.[ch]} $(realpath --relative-to=. "$try" | sed 's/\.[ch]$//')"
                break
            fi
        done
    done
done | print_circles "of includes"

# An object whose source is gone does not count.
objects=$(find adapters -name '*.c' | sort | while read -r file; do
    [ -f "build/obj/${file%.c}.o" ] && echo "build/obj/${file%.c}.o"
done)
if [ -n "$objects" ]; then
    # shellcheck disable=SC2086
    nm -A $objects | sed 's|^build/obj/adapters/\([^:]*\)\.o:|\1 |' >"$temp/names"
    awk 'NF == 4 && $3 ~ /^[TDBRV]$/ { print $4, $1 }' "$temp/names" | sort >"$temp/defined"
    awk '$2 == "U" { print $3, $1 }' "$temp/names" | sort >"$temp/used"
    join "$temp/used" "$temp/defined" | awk '{ print $2, $3 }' | sort -u >"$temp/calls"
    print_circles "of calls" <"$temp/calls"
    awk '{ edge[$1, $2] = 1 } END { for (e in edge) {
            split(e, f, SUBSEP)
            if (f[1] < f[2] && (f[2], f[1]) in edge) print "    " f[1] " <-> " f[2] } }' \
        "$temp/calls" | sort >"$temp/pairs"
    echo "  pairs of files that call both ways: $(wc -l <"$temp/pairs")"
    cat "$temp/pairs"
else
    echo "  of calls: not known, there are no objects in build/obj"
fi

# -- Names -------------------------------------------------------------------

title "Names"
sed 's|.*/||' "$temp/written" | grep -v '^README\.md$' | sort | uniq -d >"$temp/twice"
echo "  names of files that two files have: $(wc -l <"$temp/twice") $(tr '\n' ' ' <"$temp/twice")"
for library in build/*.a build/*.so; do
    [ -f "$library" ] || continue
    case $library in *.so) dynamic=-D ;; *) dynamic= ;; esac
    # shellcheck disable=SC2086
    nm -g $dynamic --defined-only "$library" 2>/dev/null | awk 'NF == 3 { print $3 }' |
        sort -u >"$temp/exported"
    printf '  %-38s %5d names exported\n' "$library" "$(wc -l <"$temp/exported")"
done
