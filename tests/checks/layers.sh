#!/bin/sh
# layers.sh - the rules of which folder may include and call what
# SPDX-License-Identifier: MIT
# runs: check
#
#   layers.sh               check the tree in the current folder
#   layers.sh --self-test   break each rule in a copy of the tree: each breach must be found
#
# Prints TAP; exit 1 if a rule is broken. Also reads the objects in BUILD/obj (default build/obj)
# if there are any. Comments and string literals do not count.
set -u
export LC_ALL=C

build=${BUILD:-build}
out=$build/layers

. "$(dirname "$0")/../support/tap.sh"

# The rule holds if the file $out/found, a list of breaches, is empty.
rule() { # text
    if [ -s "$out/found" ]; then
        fail "$1" "$out/found"
    else
        pass "$1"
    fi
}

# -- Sources -----------------------------------------------------------------

# Prints "FILE:LINE: CODE" for every line, without comments and without the text in quotes, except
# that of an #include.
plain_lines() { # file ...
    awk '
        FNR == 1 { in_comment = 0 }
        {
            rest = $0
            code = ""
            include = rest ~ /^[ \t]*#[ \t]*include/
            while (rest != "") {
                if (in_comment) {
                    end = index(rest, "*/")
                    rest = end ? substr(rest, end + 2) : ""
                    in_comment = !end
                } else if (!match(rest, /\/\*|\/\/|["\047]/)) {
                    code = code rest
                    rest = ""
                } else {
                    code = code substr(rest, 1, RSTART - 1)
                    token = substr(rest, RSTART, RLENGTH)
                    rest = substr(rest, RSTART + RLENGTH)
                    if (token == "/*") {
                        code = code " "
                        in_comment = 1
                    } else if (token == "//") {
                        rest = ""
                    } else {
                        code = code token
                        for (i = 1; i <= length(rest); i++) {
                            c = substr(rest, i, 1)
                            if (c == "\\")
                                i++
                            if (c == token)
                                break
                        }
                        code = code (include ? substr(rest, 1, i - 1) : "") token
                        rest = substr(rest, i + 1)
                    }
                }
            }
            if (code ~ /[^ \t]/)
                print FILENAME ":" FNR ": " code
        }' "$@"
}

# Prints "FILE:LINE: TARGET" for every include: <name>, or the path of a file of the tree.
includes() { # plain lines on stdin
    sed -n 's/^\([^ ]*\) [ \t]*#[ \t]*include[ \t]*\(.*[^ \t]\)[ \t]*$/\1 \2/p' |
        while read -r where target; do
            case $target in
            \"*\")
                name=${target#\"}
                name=${name%\"}
                from=${where%%:*}
                case $from in
                */*) path=${from%/*}/$name ;;
                *) path=$name ;;
                esac
                for try in "$path" "adapters/$name" "$name"; do
                    if [ -f "$try" ]; then
                        path=$try
                        break
                    fi
                done
                echo "$where $path"
                ;;
            *) echo "$where $target" ;;
            esac
        done |
        awk '{ # a/b/../c is a/c
            while (match($2, /[^\/.]+\/\.\.\//))
                $2 = substr($2, 1, RSTART - 1) substr($2, RSTART + RLENGTH)
            print
        }'
}

# Includes of the files that match `from` whose target does not match `allowed`.
includes_outside() { # from, allowed
    awk -v from="^($1)" -v allowed="^($2)\$" '$1 ~ from && $2 !~ allowed' "$out/includes"
}

# Includes of the files that match `from` whose target matches `banned`.
includes_of() { # from, banned
    awk -v from="^($1)" -v banned="^($2)" '$1 ~ from && $2 ~ banned' "$out/includes"
}

# Calls of these functions by files that match `from`; members of structs do not count.
calls_of() { # from, names
    grep -E "^($1)" "$out/plain" |
        grep -E ": (.*([^[:alnum:]_.>]|[^-]>))?[[:space:]]*($2)[[:space:]]*\("
}

# -- Objects -----------------------------------------------------------------

# Prints "OBJECT: NAME" for every undefined name in the objects of a folder. Fails without objects.
undefined_of() { # folder
    objects=$(find "$build/obj/$1" -name '*.o' 2>/dev/null)
    [ -n "$objects" ] || return 1
    # shellcheck disable=SC2086 # names without blanks
    nm -A -u $objects | awk '{ print $1, $NF }'
}

# Prints "FILE FILE" for each file of adapters that calls another one, by the objects whose sources
# are there.
calls_between() {
    find "$build/obj/adapters" -name '*.o' 2>/dev/null | while read -r object; do
        source=${object#"$build/obj/"}
        [ -f "${source%.o}.c" ] && echo "$object"
    done >"$out/objects"
    [ -s "$out/objects" ] || return 1
    xargs nm -A -g <"$out/objects" | awk -v build="$build/obj/" '
        {
            file = $1
            sub(/:.*/, "", file)
            file = substr(file, length(build) + 1)
            type = $(NF - 1)
            if (type ~ /[TDBRC]$/)
                defined[$NF] = file
            else if (type ~ /U$/)
                used[file " " $NF] = 1
        }
        END {
            for (pair in used) {
                split(pair, part, " ")
                if (part[2] in defined && defined[part[2]] != part[1])
                    print part[1], defined[part[2]]
            }
        }'
}

# -- The rules ---------------------------------------------------------------

prints='v?f?printf|f?puts|f?putc|putchar|perror|exit|_exit|quick_exit'
system='open|openat|read|write|close|fopen|fdopen|popen|system|fork|vfork|exec[lv]p?e?|execvpe'
system="$system|posix_spawnp?|pipe2?|dup[23]?|poll|kill|syscall|ioctl|opendir|readdir|stat|lstat"
system="$system|fstat|mkdir|unlink|rename|sched_[a-z]+|pthread_[a-z_]+|waitpid|uname"
environment='getenv|secure_getenv|setenv|setlocale|time|clock_gettime'
memory='malloc|calloc|realloc|free|strdup|alloca'
system_headers='<(unistd|fcntl|sched|dirent|spawn|poll|pthread|numa|numaif|glob|ftw)\.h>'
system_headers="$system_headers|<(sys|linux|asm)/"
runtime='__(asan|ubsan|sanitizer|tsan|msan|gcov|llvm|sanitizer_cov)_.*|__stack_chk_fail'
runtime="$runtime|__(mem|str)[a-z]+_chk|_GLOBAL_OFFSET_TABLE_|__afl_.*|__start_.*|__stop_.*"
bytes='mem(cmp|cpy|set|move|chr)|strlen'

below_model='<(stdint|stddef|string)\.h>|cpubind\.h|adapters/source\.h'
any='<[a-z0-9_/]*\.h>|cpubind\.h|adapters/source\.h'
rooms="cpubind.h <stdint\.h>|<stddef\.h>
adapters/source.h <stdint\.h>|<stddef\.h>
adapters/text/ $below_model|<sanitizer/asan_interface\.h>|adapters/text/.*
adapters/model/ $below_model|adapters/(text|model)/.*
adapters/ascend/ $below_model|adapters/(text|model|ascend)/.*
adapters/pci/ $below_model|adapters/(text|model|pci)/.*
adapters/plan/ $below_model|adapters/(text|model|ascend|pci|plan)/.*
adapters/doctor/ $below_model|<stdarg\.h>|adapters/(text|model|ascend|plan|doctor)/.*
adapters/archive/ $below_model|<stdlib\.h>|<zlib\.h>|adapters/(text|archive)/.*
adapters/linux/ $any|adapters/(text|model|ascend|pci|plan|linux)/.*
adapters/host/ $any|adapters/(text|model|ascend|pci|plan|linux|host)/.*
adapters/measure/ $any|adapters/(text|model|ascend|pci|plan|linux|host|measure)/.*
adapters/service/ $any|adapters/(text|model|ascend|pci|plan|linux|host|service)/.*
adapters/sqlite/ $any|adapters/(text|model|ascend|pci|plan|sqlite)/.*
adapters/words/ $any|adapters/(text|words)/.*
adapters/api/ $any|adapters/(text|model|ascend|pci|plan|linux|sqlite|words|api)/.*
adapters/slurm/ $any|adapters/api/cpubind_api\.h
adapters/nri/ $any|<nri\.pb-c\.h>|adapters/(text|model|linux|words|service|nri)/.*
adapters/cli/ $any|adapters/.*
adapters/packaging/ $any|adapters/.*"

check_tree() {
    if [ ! -f cpubind.h ]; then
        echo "layers.sh: run it from the folder that holds cpubind.h" >&2
        exit 2
    fi
    mkdir -p "$out" || exit 2
    # Names of files contain no blanks.
    # shellcheck disable=SC2046
    plain_lines $(find cpubind.h adapters -name '*.[ch]' | sort) >"$out/plain"
    includes <"$out/plain" >"$out/includes"

    while read -r where target; do
        case $target in
        \<*\>) ;;
        *) [ -f "$target" ] || echo "$where $target" ;;
        esac
    done <"$out/includes" >"$out/found"
    rule "an include in quotes names a file of the tree"

    # folder, and a pattern of everything that its files may include
    while read -r room allowed; do
        includes_outside "$room" "$allowed" >"$out/found"
        rule "$room includes only what the table of rooms allows"
    done <<TABLE
$rooms
TABLE
    includes_of 'cpubind.h|adapters/(source.h|text/|model/|plan/|ascend/|doctor/|pci/|linux/|host/|measure/|api/|cli/)' \
        '<sqlite3|sqlite3\.h' >"$out/found"
    rule "only adapters/sqlite includes <sqlite3.h>"
    includes_of adapters/ '<jansson' >"$out/found"
    rule "nothing but tests includes <jansson.h>"
    includes_of 'cpubind.h|adapters/(source.h|text/|model/|plan/|ascend/|doctor/|pci/|linux/|measure/|sqlite/|service/|api/|cli/)' '<zlib' >"$out/found"
    rule "only adapters/archive includes <zlib.h>"

    # A file of tests may have the name of what it is about.
    find cpubind.h adapters -name "*.[ch]" | sed "s|.*/||" | sort | uniq -d >"$out/found"
    rule "no two files have one name"
    awk '{ sub(/:.*/, "", $1) } $2 !~ /^</ { print $1, $2 }' "$out/includes" >"$out/arrows"
    tsort "$out/arrows" 2>&1 >/dev/null | grep -v 'input contains a loop' >"$out/found"
    rule "no circle of includes"

    calls_of 'cpubind.h|adapters/(source.h|text/|model/|plan/|ascend/|doctor/|pci/|linux/|host/|measure/|sqlite/|service/|words/|api/|archive/)' "$prints" >"$out/found"
    rule "only adapters/cli prints or exits"
    includes_of 'cpubind.h|adapters/(source.h|text/|model/|plan/|ascend/|doctor/|pci/)' '<stdio\.h>' >"$out/found"
    rule "core, adapters/text, model, plan, ascend, doctor and pci do not include <stdio.h>"
    grep -E '^adapters/(linux|host|measure|sqlite|service|words|api)/' "$out/plain" |
        grep -E '[^[:alnum:]_](stdout|stderr)' >"$out/found"
    rule "adapters/linux, host, measure, sqlite, service, words and api do not mention stdout or stderr"

    # A device is a device: what one vendor's have of their own is in its row. The list of vendors,
    # the command npu-smi as a source of facts, and the state of its reading have their names.
    grep -E '^adapters/(model|plan|pci|host|service|linux|measure)/' "$out/plain" |
        grep -v -e '^adapters/model/products\.' -e '^adapters/pci/vendor_' -e '# *include' |
        grep -iE '(^|[^[:alnum:]])([[:alnum:]]*_)*(npus?|ascend)(_|[^[:alnum:]]|$)' |
        grep -vE 'X\((ASCEND, ascend|NPU_SMI|NO_NPU_SMI)|struct ascend_reading|int32_t npus;' >"$out/found"
    rule "adapters/model, plan, pci, host, service, linux and measure name the devices of no vendor"

    includes_of 'cpubind.h|adapters/(source.h|text/|model/|plan/|ascend/|doctor/|pci/|sqlite/)' "$system_headers" >"$out/found"
    rule "only adapters/linux includes headers of system calls"
    includes_of adapters/cli/ "$system_headers" |
        grep -E -v ' (<unistd\.h>|<sys/ioctl\.h>)$' >"$out/found"
    rule "adapters/cli includes <unistd.h> and <sys/ioctl.h> of them at most"
    includes_of adapters/api/ "$system_headers" | grep -E -v ' <unistd\.h>$' >"$out/found"
    calls_of adapters/api/ "$system" >>"$out/found"
    rule "adapters/api includes <unistd.h> of them at most, and makes no system call"
    calls_of 'cpubind.h|adapters/(source.h|text/|model/|plan/|ascend/|doctor/|pci/)' "$system|$environment|$memory" >"$out/found"
    rule "core, adapters/text, model, plan, ascend, doctor and pci call neither system, environment nor malloc"
    calls_of adapters/archive/ "$system|$environment" >"$out/found"
    rule "adapters/archive calls neither system nor environment"
    calls_of adapters/cli/ "$system" |
        grep -E -v '[^[:alnum:]_]ioctl[[:space:]]*\(.*TIOCGWINSZ' >"$out/found"
    rule "adapters/cli makes no system call but for the terminal"

    for room in text model plan ascend pci doctor; do
        text="objects of adapters/$room need a handful of functions on bytes"
        if undefined_of adapters/$room >"$out/undefined"; then
            grep -E -v " ((cpubind|doctor)_.*|$bytes|$runtime)\$" "$out/undefined" >"$out/found"
            rule "$text"
        else
            skip "$text" "nothing is built in $build/obj"
        fi
    done
    text="objects of adapters/linux call no SQLite"
    if undefined_of adapters/linux >"$out/undefined"; then
        grep ' sqlite3_' "$out/undefined" >"$out/found"
        rule "$text"
    else
        skip "$text" "nothing is built in $build/obj"
    fi
    text="no circle of calls among files"
    if calls_between >"$out/arrows"; then
        tsort "$out/arrows" 2>&1 >/dev/null | grep -v 'input contains a loop' >"$out/found"
        rule "$text"
    else
        skip "$text" "nothing is built in $build/obj"
    fi
    finish
}

# -- Self-test ---------------------------------------------------------------

self=$0
case $self in
/*) ;;
*) self=$PWD/$self ;;
esac

# Adds a file to the copy: the rule must fail; the other rules do not matter.
plant() { # text of the rule, file, line
    printf '%s\n' "$3" >"$2"
    BUILD=$PWD/build sh "$self" >tap 2>&1
    status=$?
    rm -f "$2"
    if [ $status -eq 1 ] && grep -q "^not ok [0-9]* - $1\$" tap; then
        pass "found: $2: $3"
    else
        fail "found: $2: $3" tap
    fi
}

plant_object() { # text of the rule, folder, line
    mkdir -p "build/obj/$2"
    printf '%s\n' "$3" >planted.c
    if ! ${CC:-cc} -c planted.c -o "build/obj/$2/planted.o" 2>tap; then
        fail "found in an object of $2: $3" tap
        return
    fi
    BUILD=$PWD/build sh "$self" >tap 2>&1
    status=$?
    rm -rf build planted.c
    if [ $status -eq 1 ] && grep -q "^not ok [0-9]* - $1\$" tap; then
        pass "found in an object of $2: $3"
    else
        fail "found in an object of $2: $3" tap
    fi
}

# Two objects that call each other.
plant_circle() { # folder
    mkdir -p "build/obj/$1"
    for one in a b; do
        [ $one = a ] && other=b || other=a
        echo "int planted_$other(void); int planted_$one(void) { return planted_$other(); }" >"$1/planted_$one.c"
        ${CC:-cc} -c "$1/planted_$one.c" -o "build/obj/$1/planted_$one.o"
    done
    BUILD=$PWD/build sh "$self" >tap 2>&1
    rm -rf build "$1/planted_a.c" "$1/planted_b.c"
    if grep -q "^not ok [0-9]* - no circle of calls" tap; then
        pass "found: two objects of $1 call each other"
    else
        fail "found: two objects of $1 call each other" tap
    fi
}

holds() { # text, file, line: every rule holds
    printf '%s\n' "$3" >"$2"
    if BUILD=$PWD/build sh "$self" >tap 2>&1; then
        pass "$1"
    else
        fail "$1" tap
    fi
    rm -f "$2"
}

plant_all() {
    text=adapters/text/planted.c
    ascend=adapters/ascend/planted.c
    doctor=adapters/doctor/planted.c
    pci=adapters/pci/planted.c
    linux=adapters/linux/bind/planted.c
    api=adapters/api/planted.c
    sqlite=adapters/sqlite/planted.c
    cli=adapters/cli/planted.c

    holds "a file without a breach is accepted" $text '#include "text.h"'
    holds "comments do not count" $text '/* #include <stdio.h>
printf("x"); */ int a; /* exit(1) */ // getenv("x")'
    holds "string literals do not count" $text 'const char *a = "read(1) /*", b = (int)0;'
    holds "members of structs do not count" $cli 'int a(void) { return s->read(s.open(1)); }'
    holds "snprintf does not print" $linux 'void a(void) { snprintf(b, 1, c); }'

    plant "an include in quotes names a file of the tree" $linux '#include "nowhere.h"'
    allowed='includes only what the table of rooms allows'
    plant "adapters/text/ $allowed" $text '#include <stdlib.h>'
    plant "adapters/text/ $allowed" $text '# include "../linux/sys.h" /* far */'
    plant "adapters/text/ $allowed" $text '#include "../ascend/npusmi.h"'
    plant "adapters/ascend/ $allowed" $ascend '#include "../linux/sys.h"'
    plant "adapters/ascend/ $allowed" $ascend '#include <errno.h>'
    plant "adapters/doctor/ $allowed" $doctor '#include "../linux/sys.h"'
    plant "adapters/doctor/ $allowed" $doctor '#include <stdio.h>'
    plant "adapters/ascend/ $allowed" $ascend '#include "../doctor/doctor.h"'
    plant "adapters/pci/ $allowed" $pci '#include "../ascend/npusmi.h"'
    plant "adapters/linux/ $allowed" $linux '#include "../../cli/cli.h"'
    plant "adapters/linux/ $allowed" $linux '#include "../../sqlite/corpus.h"'
    plant "adapters/host/ $allowed" adapters/host/planted.c '#include "../cli/cli.h"'
    plant "adapters/linux/ $allowed" $linux '#include "../../host/host_workers.h"'
    plant "adapters/sqlite/ $allowed" $sqlite '#include "../linux/sys.h"'
    plant "adapters/api/ $allowed" $api '#include "../cli/cli.h"'
    plant "no two files have one name" adapters/ascend/sys.h 'int a;'
    printf '#include "planted.c"\n' >adapters/linux/bind/planted.h
    plant "no circle of includes" $linux '#include "planted.h"'
    rm adapters/linux/bind/planted.h
    plant "only adapters/sqlite includes <sqlite3.h>" $cli '#include <sqlite3.h>'
    plant "only adapters/sqlite includes <sqlite3.h>" $text '#include <sqlite3.h>'
    plant "nothing but tests includes <jansson.h>" $cli '#include <jansson.h>'
    plant "adapters/api includes <unistd.h> of them at most, and makes no system call" $api '#include <poll.h>'
    plant "adapters/api includes <unistd.h> of them at most, and makes no system call" $api 'int a(void) { return kill(1, 9); }'
    plant "only adapters/cli prints or exits" $linux 'void a(void) { printf("x"); }'
    plant "only adapters/cli prints or exits" $sqlite 'void a(void) { exit(1); }'
    plant "only adapters/cli prints or exits" $text 'void a(void) { (void)puts("x"); }'
    plant "core, adapters/text, model, plan, ascend, doctor and pci do not include <stdio.h>" $text '#include <stdio.h>'
    plant "adapters/linux, host, measure, sqlite, service, words and api do not mention stdout or stderr" $linux \
        'void a(void) { fwrite(b, 1, 1, stderr); }'
    plant "only adapters/linux includes headers of system calls" $sqlite '#include <sys/stat.h>'
    plant "only adapters/linux includes headers of system calls" $text '#include <unistd.h>'
    plant "adapters/cli includes <unistd.h> and <sys/ioctl.h> of them at most" $cli \
        '#include <fcntl.h>'
    plant "core, adapters/text, model, plan, ascend, doctor and pci call neither system, environment nor malloc" $text \
        'char *a(void) { return getenv("A"); }'
    plant "core, adapters/text, model, plan, ascend, doctor and pci call neither system, environment nor malloc" $text \
        'void *a(void) { return malloc(1); }'
    plant "adapters/model, plan, pci, host, service, linux and measure name the devices of no vendor" $linux \
        'static int n_npu;'
    plant "adapters/model, plan, pci, host, service, linux and measure name the devices of no vendor" $linux \
        'int a(int is_ascend) { return is_ascend; }'
    plant "only adapters/archive includes <zlib.h>" $cli '#include <zlib.h>'
    plant "adapters/archive calls neither system nor environment" adapters/archive/planted.c \
        'void a(void) { write(1, "a", 1); }'
    plant "adapters/cli makes no system call but for the terminal" $cli \
        'void a(void) { write(1, "a", 1); }'
    plant_object "objects of adapters/text need a handful of functions on bytes" adapters/text \
        'extern char *getenv(const char *); char *a(void) { return getenv("A"); }'
    plant_object "objects of adapters/linux call no SQLite" adapters/linux \
        'extern int sqlite3_open(void); int a(void) { return sqlite3_open(); }'

    plant_circle adapters/linux/bind

    cp cpubind.h kept.h
    for line in '#include <stdlib.h>' '#include <unistd.h>'; do
        printf '%s\n' "$line" | cat - kept.h >cpubind.h
        BUILD=$PWD/build sh "$self" >tap 2>&1
        if grep -q "^not ok [0-9]* - cpubind.h includes only what the table of rooms allows\$" tap; then
            pass "found: cpubind.h: $line"
        else
            fail "found: cpubind.h: $line" tap
        fi
    done
    cp kept.h cpubind.h
    cp adapters/source.h kept.h
    printf '%s\n' '#include <stdio.h>' | cat - kept.h >adapters/source.h
    BUILD=$PWD/build sh "$self" >tap 2>&1
    if grep -q "^not ok [0-9]* - adapters/source.h includes only what the table of rooms allows\$" tap; then
        pass "found: adapters/source.h: #include <stdio.h>"
    else
        fail "found: adapters/source.h: #include <stdio.h>" tap
    fi
}

self_test() {
    tree=$build/layers-self-test
    rm -rf "$tree"
    mkdir -p "$tree" || exit 2
    cp -R cpubind.h adapters fuzz tests "$tree" || exit 2
    cd "$tree" || exit 2
    # A rule is asked of a planted file: the headers, which it includes, are enough beside it.
    find adapters fuzz tests -name '*.c' -delete
    mkdir -p adapters/pci adapters/api build
    out=$PWD/build
    plant_all
    finish
}

case ${1:-} in
'') check_tree ;;
--self-test)
    self_test
    ;;
*)
    echo "usage: layers.sh [--self-test]" >&2
    exit 2
    ;;
esac
