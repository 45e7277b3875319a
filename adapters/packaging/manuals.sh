#!/bin/sh
# manuals.sh - writes the manual pages: of each command from its help, of the library from its
# header, of the service's file from its example
# SPDX-License-Identifier: MIT
#
#   adapters/packaging/manuals.sh COMMAND FOLDER     from the top folder
#
# COMMAND is cpubind.
# Pages go to FOLDER/man1, man3 and man5.
# SOURCE_DATE_EPOCH is the date of manual pages. Options and functions are written nowhere else: a
# page has what the help or the header has.
set -eu
export LC_ALL=C

command=$1
out=$2
version=$("$command" --version)
version=${version%%,*}
date=$(date -u -d "@${SOURCE_DATE_EPOCH:-0}" +%Y-%m-%d)
commands=$("$command" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
mkdir -p "$out/man1" "$out/man3" "$out/man5"

title() { # name, section, one line of text
    printf '.TH %s %s %s "%s" "cpubind"\n' "$(echo "$1" | tr '[:lower:]' '[:upper:]')" "$2" \
        "$date" "$version"
    printf '.SH NAME\n%s \\- %s\n' "$(echo "$1" | sed 's/-/\\-/g')" "$3"
}

# What groff would take for something else: of awk.
safe='
    function safe(s) {
        gsub(/\\/, "\\e", s); gsub(/-/, "\\-", s)
        gsub(/~/, "\\(ti", s); gsub(/\^/, "\\(ha", s)
        return s ~ /^[.\047]/ ? "\\&" s : s
    }'

# Turns a text of help into a page: "Usage:" is the synopsis; a line "  --name VALUE   text" with
# its lines of 24 blanks is an option; "Word:" alone is a heading.
page_of_help() { # level of the headings: SH or SS
    awk -v level="$1" "$safe"'
        function upper(s) { return level == "SH" ? toupper(s) : s }
        function put(s) { print safe(s) }
        /^Usage: / || (/^       cpubind / && usage) {
            sub(/^(Usage:| *) */, "")
            if (!usage) print "." level " " upper("Synopsis")
            else print ".br"
            print ".B " safe($0); usage = 1; next
        }
        usage && !described { print "." level " " upper("Description"); described = 1 }
        /^$/ { gap = 1; item = 0; next }
        /^[A-Z][A-Za-z ]*:$/ {
            sub(/:$/, ""); print "." level " " upper(safe($0)); gap = 0; item = 0; next
        }
        /^  [^ ]/ { sub(/\.\.\.\] /, "&  ") }
        /^  -/ && !has_options && level == "SH" {
            print ".SH OPTIONS"; has_options = 1; gap = 0
        }
        /^  [^ ](.*[^ ])?  +[^ ]/ {
            match($0, /[^ ]  +[^ ]/)
            print ".TP"; print ".B " safe(substr($0, 3, RSTART - 2))
            put(substr($0, RSTART + RLENGTH - 1)); gap = 0; item = 1; next
        }
        item && /^       [^ ]/ { sub(/^ */, ""); put($0); next }
        /^                        [^ ]/ {
            rest = substr($0, 25)
            if (match(rest, /  +/)) {
                print ".TP 14"; print ".B " safe(substr(rest, 1, RSTART - 1))
                put(substr(rest, RSTART + RLENGTH)); next
            }
            put(rest); next
        }
        {
            if (/^  -/ && !options) { print ".PP"; options = 1 }
            else if (gap || item) print ".PP"
            if (!/^  -/) options = 0
            gap = 0; item = 0
            sub(/^ */, ""); put($0)
        }' | without_empty_paragraphs
}

# A paragraph needs a text: not after a heading, not before another macro of a paragraph.
without_empty_paragraphs() {
    awk '$0 == ".PP" { held = !heading; next }
        held && !/^\.(S[HS]|TP|PP)/ { print ".PP" }
        { held = 0; heading = /^\.S[HS]/; print }'
}

see_also() { # pages but this one
    echo '.SH SEE ALSO'
    printf '.BR %s ,\n' "$@" | sed 's/-/\\-/g; s/(/ (/; $s/ ,$//'
}

# "  plan         print which CPUs each NPU would get": the line of a command in the list of them.
line_of() { # command
    "$command" --help | sed -n "s/^  $1  *\([^:]*\).*/\1/p" | head -n 1
}

{
    title cpubind 1 'which CPUs belong to which accelerator of a host'
    { "$command" --help && echo && "$command" help environment; } | page_of_help SH
    echo '.SH FILES'
    for file in '/etc/cpubind.conf|the settings of all workers of the host: cpubind.conf(5)' \
        '/run/cpubind/|the records of bindings that apply, run and the service have made' \
        'share/cpubind/fixtures.db|the corpus of fixture hosts, beside the installed command'; do
        printf '.TP\n.I %s\n%s\n' "${file%%|*}" "${file#*|}"
    done
    # shellcheck disable=SC2046
    see_also $(printf 'cpubind-%s(1) ' $commands) 'cpubind(3)' 'cpubind.conf(5)'
} >"$out/man1/cpubind.1"

for word in $commands; do
    {
        title "cpubind-$word" 1 "$(line_of "$word")"
        if [ "$word" = fixture ]; then
            "$command" fixture --help | page_of_help SH
            for sub in $("$command" fixture --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
                echo ".SH CPUBIND FIXTURE $(echo "$sub" | tr '[:lower:]' '[:upper:]')"
                "$command" fixture "$sub" --help | page_of_help SS
            done
        else
            "$command" "$word" --help | page_of_help SH
        fi
        see_also 'cpubind(1)' $([ "$word" != service ] || echo 'cpubind.conf(5)')
    } >"$out/man1/cpubind-$word.1"
done

# The comment above each key of the example is its text.
{
    title cpubind.conf 5 'the settings that all workers of a host share'
    awk "$safe"'
        /^# cpubind.conf - / {
            print ".SH DESCRIPTION"; sub(/^# cpubind.conf - /, "")
            print toupper(substr($0, 1, 1)) safe(substr($0, 2)); next
        }
        /^$/ { text = ""; if (n++ == 0) print ".SH KEYS"; next }
        /^#[a-z-]+ = / {
            print ".TP"; print ".B " safe(substr($0, 2)); print safe(text); text = ""; next
        }
        /^#$/ { print ".PP"; next }
        n == 0 { sub(/^# */, ""); print safe($0); next }
        /^# / { sub(/^# /, ""); text = text (text == "" ? "" : " ") $0 }
    ' adapters/service/deploy/cpubind.conf.example
    see_also 'cpubind-service(1)' 'cpubind-apply(1)'
} >"$out/man5/cpubind.conf.5"

# The header: its first comment, then each declaration after the comment above it.
{
    title cpubind 3 'the C library libcpubind.so.1: plans of hosts, and binding'
    printf '.SH SYNOPSIS\n.B #include <cpubind_api.h>\n.PP\n'
    printf '.B cc \\-o program program.c $(pkg\\-config \\-\\-cflags \\-\\-libs cpubind)\n'
    echo '.SH DESCRIPTION'
    awk "$safe"'
        function comment(    i) { # prints the lines that were kept
            for (i = 1; i <= n; i++) print safe(line[i])
            n = 0
        }
        NR == 1 { next }
        /^ \* SPDX/ { next }
        !head && /^ \*\// { print ".fi"; head = 1; next }
        !head {
            sub(/^ \* ?/, "")
            if (!started++) print ".nf"
            print $0 == "" ? ".sp" : safe($0); next
        }
        /^#ifdef __cplusplus/ { skip = 1 }
        /^#endif/ { skip = 0; next }
        skip || /^#(if|else|include|ifndef)/ || /^#define CP(B_API|UBIND)/ { next }
        /^\/\* == / {
            sub(/^\/\* == /, ""); sub(/ =* *\*\/.*/, "")
            print ".SH " toupper($0); next
        }
        /^\/\*/ { text = 1; n = 0 }
        text {
            end = /\*\//
            sub(/^ *\/?\*+ ?/, ""); sub(/ *\*\/.*/, "")
            line[++n] = $0
            if (end) text = 0
            next
        }
        /^$/ { if (n && !declared) { print ".PP"; print ".nf"; comment(); print ".fi" }
               declared = 0; next }
        /^}/ { next }
        {
            sub(/^CPB_API /, "")
            if (!open) { if (!declared) print ".PP"; print ".nf" }
            print ".B " safe($0); open = !/[;0-9]$/
            if (!open) {
                print ".fi"
                if (n) { print ".RS"; print ".nf"; comment(); print ".fi"; print ".RE" }
                declared = 1
            }
        }
    ' adapters/api/cpubind_api.h | without_empty_paragraphs
    see_also 'cpubind(1)'
} >"$out/man3/cpubind.3"
