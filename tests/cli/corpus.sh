#!/bin/sh
# corpus.sh - test cpubind fixture and cpubind capture; prints TAP
#
#   tests/cli/corpus.sh          from the top folder; BUILD has the command, or CPUBIND names it
#
# It writes thousands of files, to a new folder of /tmp, which tests/run.sh has in memory.
LC_ALL=C
export LC_ALL

BUILD=${BUILD:-build}
CPUBIND=${CPUBIND:-$BUILD/cpubind}
out=/tmp/cpubind-corpus-$$
trap 'rm -rf "$out"' EXIT
mkdir -p "$out/db" "$out/back" "$out/captured"
out=$(cd "$out" && pwd)
CPUBIND=$(cd "$(dirname "$CPUBIND")" && pwd)/$(basename "$CPUBIND")
. tests/support/tap.sh
. tests/support/unpack.sh
hosts=$out/hosts
unpack_hosts "$hosts" || exit 1

db=$out/db/corpus.db
newline='
'
tab=$(printf '\t')

ask() { # database, SQL
    sqlite3 -batch -bail -init /dev/null "$1" "$2"
}

fixture() { # arguments of cpubind fixture
    "$CPUBIND" fixture "$@"
}

says() { # exit status, words that the output must hold, command ...
    want=$1
    words=$2
    shift 2
    "$@" >"$out/said" 2>&1
    got=$?
    cat "$out/said"
    [ "$got" -eq "$want" ] && grep -qF -e "$words" "$out/said"
}

is_json() { # file
    [ "$(ask :memory: "SELECT json_valid(readfile('$1'))")" = 1 ]
}

json() { # file, path
    ask :memory: "SELECT readfile('$1') ->> '$2'"
}

sum_of() { # file
    sha256sum <"$1"
}

# -- Import and export -------------------------------------------------------

# Each went from its file through a corpus, a folder and another corpus.
a_host_is_exported_as_its_file() {
    for file in fixtures/hosts/*.host; do
        fixture export "$(basename "$file" .host)" "$out/back.host" --db "$db" --replace --quiet &&
            cmp "$file" "$out/back.host" || return 1
    done
}

every_host_comes_back() {
    for host in "$hosts"/*; do
        fixture export "$(basename "$host")" "$out/back/$(basename "$host")" --db "$db" --quiet ||
            return 1
    done
    diff -r "$hosts" "$out/back"
}

names_are_those_of_the_folders() {
    for host in "$hosts"/*; do
        grep -qx "name: $(basename "$host")" "$host/host.txt" || return 1
    done
}

sums_are_right() {
    ask "$db" "SELECT content || '  ' || host || '/' || name FROM inputs
               WHERE exit_code IS NOT NULL" >"$out/sums"
    (cd "$hosts" && sha256sum --check --quiet "$out/sums") &&
        [ "$(ask "$db" 'SELECT count(*) - count(DISTINCT bytes) FROM contents')" = 0 ]
}

is_clean() { # database
    [ "$(ask "$1" 'PRAGMA integrity_check')" = ok ] &&
        [ -z "$(ask "$1" 'PRAGMA foreign_key_check')" ] &&
        [ "$(ask "$1" 'PRAGMA user_version')" = 1 ] &&
        [ "$(ask "$1" 'PRAGMA application_id')" = $((0x43505542)) ] &&
        [ "$(ask "$1" 'SELECT count(*) > 5 FROM readme')" = 1 ]
}

# Another folder, other time stamps, other modes, another build of the command.
packs_the_same() {
    cp -R "$hosts" "$out/copy" && chmod -R u+w "$out/copy" || return 1
    (cd "$out" && umask 077 && "$sanitized" fixture import copy/* --db db/again.db) &&
        cmp "$db" "$out/db/again.db" && rm "$out/db/again.db"
}

both_builds_pack_the_same() {
    cmp "$BUILD/fixtures.db" "$BUILD/san/fixtures.db" &&
        [ "$(od -An -tx1 -j96 -N4 "$BUILD/fixtures.db" | tr -d ' ')" = 002e5b30 ]
}

one_by_one_is_the_same_corpus() {
    for host in "$hosts"/*; do
        fixture import "$host" --db "$out/db/single.db" --quiet || return 1
    done
    fixture import "$hosts/a2-192cpu-8npu" --db "$out/db/single.db" --replace --quiet &&
        for table in hosts contents inputs expectations; do
            ask "$db" "SELECT * FROM $table ORDER BY 1, 2" >"$out/a"
            ask "$out/db/single.db" "SELECT * FROM $table ORDER BY 1, 2" >"$out/b"
            cmp "$out/a" "$out/b" || return 1
        done && is_clean "$out/db/single.db" && rm "$out/db/single.db"
}

nothing_is_left_behind() {
    [ "$(ls -A "$out/db")" = corpus.db ]
}

make_host() { # folder, name
    mkdir -p "$1/$2/cmd" "$1/$2/expect"
    printf 'name: %s\nproduct: p\norigin: synthetic\nnpu-smi: none\nnotes: n\n' "$2" \
        >"$1/$2/host.txt"
    printf '{"args": [], "exit": 1, "error": {}}\n' >"$1/$2/expect/default.json"
    printf 'Cpus_allowed_list:\t0-3\n' >"$1/$2/env"
    echo text >"$1/$2/cmd/lscpu.txt"
    echo 3 >"$1/$2/cmd/lscpu.exit"
}

# A good host "good" beside a host "bad" that a command has damaged: import refuses both, names
# the place, and leaves the corpus unchanged.
refuses() { # text, words of the message, command that runs in the folder of "bad"
    rm -rf "$out/bad"
    make_host "$out/bad" good
    make_host "$out/bad" bad
    (cd "$out/bad/bad" && eval "$3") || return
    check "import refuses $1" is_refused "$2"
}

is_refused() { # words of the message
    before=$(sum_of "$db")
    says 3 "$1" fixture import "$out/bad/good" "$out/bad/bad" --db "$db" &&
        [ "$(sum_of "$db")" = "$before" ] &&
        says 3 "$1" fixture import "$out/bad/good" "$out/bad/bad" --db "$out/db/new.db" &&
        nothing_is_left_behind
}

refuse_all() {
    while IFS='|' read -r text words command; do
        refuses "$text" "$words" "$command"
    done <<'END'
no host.txt|bad/host.txt": there is none|rm host.txt
a host.txt without a key|host.txt", line 5, column 1: name, product|sed -i /notes/d host.txt
a host.txt with a key twice|line 6, column 1: a key occurs twice|echo "notes: b" >>host.txt
a host.txt with a key of its own|line 6, column 1: a line is one of|echo "cann: 8" >>host.txt
an unknown origin|line 3, column 9: the origin is|sed -i s/synthetic/guessed/ host.txt
a name that is none|line 1, column 7: a name is|sed -i s/bad/-a/ host.txt
an expectation that is no JSON|expect/default.json": the expectation, line|echo "{" >expect/default.json
an expectation without a byte|default.json": the expectation, line 1|: >expect/default.json
an expectation without plan or error|either "plan" or "error"|echo "{\"args\": [], \"exit\": 0}" >expect/default.json
an expectation with more|it holds more|echo "{\"args\": [], \"exit\": 0, \"plan\": {}, \"a\": 1}" >expect/default.json
arguments that are no texts|"args" does not hold|echo "{\"args\": [1], \"exit\": 0, \"plan\": {}}" >expect/default.json
another file in expect/|bad/expect/notes.txt": this is no input|echo a >expect/notes.txt
a file that is no input|bad/cmd/npu-smi-inf.txt": this is no input|echo a >cmd/npu-smi-inf.txt
an exit code without an output|bad/cmd/lscpu.exit": there is no output|rm cmd/lscpu.txt
a stderr without an output|bad/cmd/lscpu-e.txt.err": there is no output|echo a >cmd/lscpu-e.txt.err
a link that leads outside|bad/env": a symbolic link leads outside|ln -sf /etc/passwd env
a link that leads nowhere|bad/env": a symbolic link leads nowhere|ln -sf nowhere env
a FIFO|bad/uname|mkfifo uname
END
    for code in '' -1 256 1000 '1 2' x timeouts; do
        refuses "the exit code '$code'" "bad/cmd/lscpu.txt\": the exit code beside it" \
            "echo '$code' >cmd/lscpu.exit"
    done
    refuses "a line feed in a name" "bad/.\": a name holds a control byte" \
        ": >'a${newline}b'"
    refuses "a TAB in the name of a folder" "bad/.\": a name holds a control byte" \
        "mkdir 'a${tab}b'"
    check "import refuses a host that exists already" is_there_already
    check "import refuses the same host twice" \
        says 1 "already" fixture import "$out/bad/good" "$out/bad/good" --db "$out/db/new.db"
    check "import refuses a folder that does not exist" \
        says 3 "No such file" fixture import "$out/nowhere" --db "$db"
    check "a refused import leaves no file" nothing_is_left_behind
}

is_there_already() {
    before=$(sum_of "$db")
    says 1 "--replace" fixture import "$hosts/idle-a2" --db "$db" &&
        [ "$(sum_of "$db")" = "$before" ]
}

export_keeps_what_is_there() {
    mkdir -p "$out/there/empty" "$out/there/full" && echo mine >"$out/there/full/file" &&
        says 1 "there already" fixture export idle-a2 "$out/there/full" --db "$db" &&
        says 1 "there already" fixture export idle-a2 "$out/there/full" --db "$db" --replace &&
        [ "$(ls "$out/there/full")" = file ] &&
        fixture export idle-a2 "$out/there/empty" --db "$db" &&
        says 1 "there already" fixture export idle-a2 "$out/there/empty" --db "$db" &&
        fixture export no-npu "$out/there/empty" --db "$db" --replace &&
        diff -r "$hosts/no-npu" "$out/there/empty" &&
        [ "$(ls -A "$out/there")" = "empty${newline}full" ]
}

# -- list and show -----------------------------------------------------------

list_is_a_table() {
    fixture list --db "$db" >"$out/list" || return 1
    [ "$(wc -l <"$out/list")" -eq $(($(find "$hosts" -mindepth 1 -maxdepth 1 | wc -l) + 1)) ] &&
        grep -qE '^a2-192cpu-8npu +Atlas 800I A2 .* 192 +8 +8 +documented +[0-9]+ +[0-9]+$' \
            "$out/list" &&
        grep -qE '^950-ub-8npu .* 256 +8 +8 +[a-z]+ +0 +[0-9]+$' "$out/list" &&
        [ "$(awk '{ at = match($0, / (origin|captured|documented|synthetic) +[pr0-9]/); print at }' \
            "$out/list" | sort -u | wc -l)" -eq 1 ]
}

list_is_json() {
    fixture list --db "$db" --json >"$out/list.json" && is_json "$out/list.json" &&
        [ "$(json "$out/list.json" '$.hosts[0].name')" = "$(ls "$hosts" | head -n 1)" ]
}

show_tells_all() {
    fixture show a2-192cpu-8npu --db "$db" >"$out/show" &&
        grep -q '^notes ' "$out/show" && grep -q '^cmd/npu-smi-info-m.txt ' "$out/show" &&
        grep -q '^default  *plan: near' "$out/show" &&
        fixture show a2-192cpu-8npu cmd/npu-smi-info.txt --db "$db" |
        cmp - "$hosts/a2-192cpu-8npu/cmd/npu-smi-info.txt" &&
        fixture show a2-192cpu-8npu --db "$db" --json >"$out/show.json" &&
        [ "$(json "$out/show.json" '$.expectations[0].expected.exit')" = 0 ]
}

# -- replay and accept -------------------------------------------------------

n_expectations() {
    find "$hosts" -path '*/expect/*.json' | wc -l
}

replays_all() {
    fixture replay --db "$db" >"$out/replay" &&
        grep -qE "^$(n_expectations) of $(n_expectations) expectations of " "$out/replay"
}

replays_in_every_format() {
    n=$(n_expectations)
    fixture replay --db "$db" --format tap --jobs 1 >"$out/1.tap" &&
        fixture replay --db "$db" --format tap --jobs 7 >"$out/7.tap" &&
        cmp "$out/1.tap" "$out/7.tap" && grep -qx "1..$n" "$out/1.tap" &&
        [ "$(grep -c '^ok ' "$out/1.tap")" -eq "$n" ] &&
        fixture replay --db "$db" --format junit >"$out/junit.xml" &&
        [ "$(grep -c '<testcase ' "$out/junit.xml")" -eq "$n" ] &&
        grep -q " tests=\"$n\" failures=\"0\" errors=\"0\"" "$out/junit.xml" &&
        fixture replay --db "$db" --json >"$out/replay.json" && is_json "$out/replay.json" &&
        [ "$(json "$out/replay.json" '$.held')" -eq "$n" ]
}

# The words of --format, as --help prints them: in the rows of a table.
formats_of() { # words of the command
    # Words are split on purpose.
    # shellcheck disable=SC2086
    "$CPUBIND" $1 --help | awk '/All formats:$/ { on = 1; next }
        on && /^                        [a-z]/ { print $1; next } { on = 0 }'
}

# Every row of one command: the error names it, and it prints the fixture host.
prints_every_format() { # words of the command, words of a run, number of formats
    formats_of "$1" >"$out/formats"
    [ "$(wc -l <"$out/formats")" -eq "$3" ] || return 1
    known=$(paste -sd , "$out/formats" | sed 's/,/, /g')
    # Words are split on purpose.
    # shellcheck disable=SC2086
    says 2 "--format does not know \"none\"; it knows $known" "$CPUBIND" $2 --format none ||
        return 1
    while read -r format; do
        case $format in systemd) one="--rank 0" ;; *) one= ;; esac # a drop-in is of one rank
        # shellcheck disable=SC2086
        "$CPUBIND" $2 $one --db "$db" --format "$format" >"$out/said" && [ -s "$out/said" ] ||
            return 1
        case $format in json) is_json "$out/said" || return 1 ;; esac
    done <"$out/formats"
}

# --json is a format by another name, in errors too; another format beside it is wrong.
json_is_a_format() {
    "$CPUBIND" plan --fixture idle-a2 --db "$db" --npus 0 --json >"$out/a" &&
        "$CPUBIND" plan --fixture idle-a2 --db "$db" --npus 0 --format json >"$out/b" &&
        cmp "$out/a" "$out/b" &&
        says 1 '"code": "too_few_cpus"' \
            "$CPUBIND" plan --fixture too-few --db "$db" --format json &&
        says 1 "cpubind: " "$CPUBIND" plan --fixture too-few --db "$db" --format map &&
        says 2 "give one" "$CPUBIND" plan --fixture idle-a2 --json --format map &&
        says 2 "give one" fixture replay --json --format tap
}

# The map is the end of the text.
map_is_the_end_of_the_text() {
    "$CPUBIND" plan --fixture a2-192cpu-8npu --db "$db" --format map >"$out/a" &&
        "$CPUBIND" plan --fixture a2-192cpu-8npu --db "$db" >"$out/b" &&
        grep -q '^node 0 |' "$out/a" && tail -n "$(wc -l <"$out/a")" "$out/b" | cmp - "$out/a"
}

# Changes one key of a plan, of an NPU or of a refusal: replay prints one line for it.
spoil() { # host, case, text, its replacement
    rm -rf "$out/spoilt"
    cp -R "$hosts/$1" "$out/spoilt" && chmod -R u+w "$out/spoilt" || return 1
    sed "s/$3/$4/" "$hosts/$1/expect/$2.json" >"$out/spoilt/expect/$2.json"
    ! cmp -s "$hosts/$1/expect/$2.json" "$out/spoilt/expect/$2.json" &&
        fixture import "$out/spoilt" --db "$db" --replace --quiet
}

is_found() { # line, host, case, text, its replacement
    spoil "$2" "$3" "$4" "$5" && says 1 "$1" fixture replay "$2" --db "$db" &&
        grep -q "^$2 $3: 1 difference$" "$out/said" &&
        says 1 "# $1" fixture replay "$2" --db "$db" --format tap &&
        says 1 'failures="1"' fixture replay "$2" --db "$db" --format junit &&
        says 1 '"failures": [{"host"' fixture replay "$2" --db "$db" --json &&
        fixture import "$hosts/$2" --db "$db" --replace --quiet
}

find_all() {
    a2=a2-192cpu-8npu
    while IFS='|' read -r line host case text replacement; do
        check "replay finds: $line" is_found "$line" "$host" "$case" "$text" "$replacement"
    done <<'END'
exit: expected 1, got 0|a2-192cpu-8npu|reference|"exit": 0|"exit": 1
device_type: expected "a3", got "a2"|a2-192cpu-8npu|reference|"a2"|"a3"
overlap: expected "present", got "none"|a2-192cpu-8npu|reference|"none"|"present"
allowed: expected "0-190", got "0-191"|a2-192cpu-8npu|reference|"0-191"|"0-190"
total: expected 9, got 8|a2-192cpu-8npu|reference|"total": 8|"total": 9
more: expected 1, got nothing|a2-192cpu-8npu|reference| "rank": 0,| "rank": 0, "more": 1,
devices[3].main: expected "1", got "122-141"|a2-192cpu-8npu|reference|"122-141"|"1"
devices[7].more: expected 1, got nothing|a2-192cpu-8npu|reference|"npu": 7,|"npu": 7, "more": 1,
devices[0].nodes: expected null, got "6"|a2-192cpu-8npu|reference|"nodes": "6"|"nodes": null
quality.near_percent: expected 3, got 50|a2-192cpu-8npu|reference|"near_percent": 50|"near_percent": 3
devices: expected 7, got 8|a2-192cpu-8npu|reference|^   {"name": "npu0".*,$|
warnings: expected "offline", got nothing|a2-192cpu-8npu|reference|"warnings": \["poor_locality"\]|"warnings": ["poor_locality", "offline"]
warnings: expected nothing, got "resolved"|a2-192cpu-4node-8npu|reference|"warnings": \["resolved"\]|"warnings": []
code: expected "overlap", got "too_few_cpus"|too-few|default|"too_few_cpus"|"overlap"
have: expected 3, got 2|too-few|default|"have": 2|"have": 3
expected a plan, got too_few_cpus: |too-few|default|"error"|"plan"
expected the refusal nothing, got a plan|a2-192cpu-8npu|reference|"plan"|"error"
the arguments of the expectation: --rank "x" is not a number|a2-192cpu-8npu|default|"args": \[\]|"args": ["--rank", "x"]
the arguments of the expectation: this command has no such option: "--root"|a2-192cpu-8npu|default|"args": \[\]|"args": ["--root", "x"]
END
}

# A key of the output that an expectation does not name: of a plan, of an NPU, of a refusal.
ignore_unnamed() {
    while IFS='|' read -r what host text replacement; do
        check "an expectation holds without $what, and accept keeps it so" \
            is_ignored "$host" "$text" "$replacement"
    done <<'END'
a key of the plan|a2-192cpu-8npu| "rank": 0,|
all keys of the plan but devices, quality and warnings|a2-192cpu-8npu|^  "[a-z_]*": [^{]*,$|
a key of each NPU|a2-192cpu-8npu|"card": [0-7], |
a key of one NPU|a2-192cpu-8npu|"npu": 3, |
a key of the refusal|too-few|, "have": 2|
END
}

# Holds as it is; when another key is wrong, accept changes that key and adds none.
is_ignored() { # host, text, its replacement
    spoil "$1" default "$2" "$3" && fixture replay "$1" --db "$db" &&
        cp "$out/spoilt/expect/default.json" "$out/named.json" &&
        says 0 "0 expectations accepted" fixture accept "$1" --db "$db" &&
        sed 's/"exit": \([0-9]\)/"exit": 1\1/' "$out/named.json" \
            >"$out/spoilt/expect/default.json" &&
        fixture import "$out/spoilt" --db "$db" --replace --quiet &&
        says 0 "1 expectation accepted" fixture accept "$1" --db "$db" &&
        rm -rf "$out/kept-keys" && fixture export "$1" "$out/kept-keys" --db "$db" &&
        [ "$(ask :memory: "SELECT json(readfile('$out/named.json')) =
            json(readfile('$out/kept-keys/expect/default.json'))")" = 1 ] &&
        fixture import "$hosts/$1" --db "$db" --replace --quiet
}

# The quality is stored also where nothing differs, and is compared from then on.
accepts_the_quality() {
    spoil a2-192cpu-8npu default '^  "quality": .*,$' '' &&
        fixture replay a2-192cpu-8npu --db "$db" &&
        says 0 "the quality of the plan is new" fixture accept a2-192cpu-8npu --db "$db" &&
        rm -rf "$out/figures" && fixture export a2-192cpu-8npu "$out/figures" --db "$db" &&
        diff -r "$hosts/a2-192cpu-8npu" "$out/figures" &&
        says 0 "0 expectations accepted" fixture accept a2-192cpu-8npu --db "$db"
}

# Every plan that is expected of a shipped host has its quality.
every_plan_has_its_quality() {
    [ "$(ask "$db" "SELECT count(*) FROM expectations WHERE body ->> '\$.plan' IS NOT NULL
        AND body ->> '\$.plan.nodes' IS NULL AND body ->> '\$.plan.quality.idle' IS NULL")" = 0 ]
}

# accept with arguments stores every key, and shows the new ones.
accepts_all_keys_of_a_question() {
    spoil a2-192cpu-8npu default ' "rank": 0,' '' &&
        says 0 "rank: expected nothing, got 0" \
            fixture accept a2-192cpu-8npu default --db "$db" -- --npus 0-7 &&
        says 0 "nothing differs" \
            fixture accept a2-192cpu-8npu default --db "$db" -- --npus 0-7 &&
        fixture import "$hosts/a2-192cpu-8npu" --db "$db" --replace --quiet
}

accepts_a_difference() {
    spoil a2-192cpu-8npu reference '"122-141"' '"1"' &&
        says 0 'devices[3].main: expected "1", got "122-141"' \
            fixture accept a2-192cpu-8npu --db "$db" &&
        fixture replay a2-192cpu-8npu --db "$db" &&
        fixture export a2-192cpu-8npu "$out/accepted" --db "$db" &&
        diff -r "$hosts/a2-192cpu-8npu" "$out/accepted" &&
        fixture export a2-192cpu-8npu "$out/accepted.host" --db "$db" &&
        cmp fixtures/hosts/a2-192cpu-8npu.host "$out/accepted.host" &&
        says 0 "0 expectations accepted" fixture accept a2-192cpu-8npu --db "$db"
}

# accept writes expectations in the form of the folders, so that a diff shows only changes.
accept_writes_the_form_of_the_folders() {
    rm -rf "$out/empty" && cp -R "$hosts" "$out/empty" && chmod -R u+w "$out/empty" &&
        for host in a2-192cpu-8npu a2-192cpu-4node-8npu a3-640cpu-16npu 950-ub-8npu too-few; do
            for file in "$out/empty/$host/expect"/*.json; do
                sed 's/"exit": \([0-9]\)/"exit": 1\1/' "$file" >"$out/file" &&
                    cp "$out/file" "$file" || return 1
            done
            fixture import "$out/empty/$host" --db "$db" --replace --quiet &&
                fixture accept "$host" --db "$db" --quiet &&
                rm -r "${out:?}/empty/$host" &&
                fixture export "$host" "$out/empty/$host" --db "$db" --quiet &&
                diff -r "$hosts/$host" "$out/empty/$host" || return 1
        done
}

accepts_a_new_case() {
    fixture accept idle-a2 asked --db "$db" -- --npus 2,3 --rank 1 &&
        fixture show idle-a2 --db "$db" | grep -q '^asked  *plan: .*--npus 2,3 --rank 1$' &&
        fixture replay idle-a2 --db "$db" &&
        says 0 'args: expected ["--npus", "2,3", "--rank", "1"], got ["--npus", "3"]' \
            fixture accept idle-a2 asked --db "$db" -- --npus 3 &&
        says 0 "nothing differs" fixture accept idle-a2 asked --db "$db" -- --npus 3 &&
        fixture show idle-a2 --db "$db" | grep -q '^asked  *plan: .* --npus 3$' &&
        fixture import "$hosts/idle-a2" --db "$db" --replace --quiet &&
        says 2 "" fixture accept idle-a2 a b --db "$db" -- --rank 1 &&
        says 2 "" fixture accept idle-a2 ../x --db "$db" -- --rank 1 &&
        says 2 "--rank" fixture accept idle-a2 x --db "$db" -- --rank x &&
        says 3 "no expectation" fixture accept idle-a2 nowhere --db "$db"
}

# -- Files that are no corpus, and damaged ones ------------------------------

every_reader_says() { # status, words, database
    for words in list "show idle-a2" replay "replay idle-a2" "accept idle-a2" \
        "export idle-a2 $out/exported"; do
        # Words are split on purpose.
        # shellcheck disable=SC2086
        says "$1" "$2" fixture $words --db "$3" || return 1
    done
    says "$1" "$2" "$CPUBIND" plan --fixture idle-a2 --db "$3" && [ ! -e "$out/exported" ]
}

every_command_says() { # words, database
    before=$(sum_of "$2")
    every_reader_says 3 "$1" "$2" &&
        says 3 "$1" fixture import "$hosts/idle-a2" --db "$2" &&
        [ "$(sum_of "$2")" = "$before" ]
}

# A copy of the corpus that SQL has changed.
spoil_corpus() { # SQL
    cp "$db" "$out/spoilt.db" && ask "$out/spoilt.db" "$1"
}

newer_is_refused() {
    spoil_corpus 'PRAGMA user_version = 3' &&
        every_command_says "newer schema" "$out/spoilt.db"
}

another_is_refused() {
    rm -f "$out/other.db" && ask "$out/other.db" 'CREATE TABLE a (b)' &&
        every_command_says "no corpus of cpubind" "$out/other.db"
}

text_is_refused() {
    cp README.md "$out/text.db" && every_command_says "no SQLite database" "$out/text.db"
}

damaged_is_refused() {
    cp "$db" "$out/damaged.db" &&
        dd if=/dev/urandom of="$out/damaged.db" bs=4096 seek=3 count=6 conv=notrunc 2>/dev/null &&
        says 3 "damaged" fixture list --db "$out/damaged.db" &&
        says 3 "damaged" fixture replay --db "$out/damaged.db" &&
        head -c 20000 "$db" >"$out/cut.db" && says 3 "damaged" fixture list --db "$out/cut.db"
}

# A changed byte that SQLite does not notice.
changed_bytes_are_refused() {
    spoil_corpus "UPDATE contents SET bytes = CAST(bytes || x'00' AS BLOB) WHERE sha256 = (SELECT content
        FROM inputs WHERE host = 'idle-a2' AND name = 'cmd/npu-smi-info.txt')" &&
        says 3 "SHA-256" "$CPUBIND" plan --fixture idle-a2 --db "$out/spoilt.db" &&
        says 3 "SHA-256" fixture replay --db "$out/spoilt.db"
}

missing_is_refused() {
    every_reader_says 3 "No such file" "$out/missing.db" && [ ! -e "$out/missing.db" ] &&
        says 3 "Is a directory" fixture import "$hosts/idle-a2" --db "$out" &&
        mkfifo "$out/fifo" && every_reader_says 3 "no regular file" "$out/fifo" &&
        says 3 "no regular file" fixture import "$hosts/idle-a2" --db "$out/fifo"
}

# Neither the file nor the folder of its journal may be written.
read_only_is_refused() {
    mkdir "$out/closed" && cp "$db" "$out/closed/" && chmod 444 "$out/closed/corpus.db" &&
        chmod 555 "$out/closed" || return 1
    before=$(sum_of "$out/closed/corpus.db")
    says 4 "could not be written" setpriv --reuid=65534 --regid=65534 --clear-groups \
        "$CPUBIND" fixture import "$out/reader/good" --db "$out/closed/corpus.db" &&
        [ "$(sum_of "$out/closed/corpus.db")" = "$before" ] &&
        says 0 "" setpriv --reuid=65534 --regid=65534 --clear-groups \
            "$CPUBIND" fixture list --db "$out/closed/corpus.db"
}

# A file system of 64 KiB.
full_disk_is_refused() {
    mkdir -p "$out/full" && mount -t tmpfs -o size=64k tmpfs "$out/full" || return 2
    cp "$db" "$out/full/corpus.db" 2>/dev/null
    rm -f "$out/full/corpus.db"
    fixture import "$hosts/no-npu" --db "$out/full/corpus.db"
    before=$(sum_of "$out/full/corpus.db")
    says 4 "disk is full" fixture import "$hosts"/a3-* --db "$out/full/corpus.db" &&
        [ "$(sum_of "$out/full/corpus.db")" = "$before" ] && is_clean "$out/full/corpus.db" &&
        says 4 "No space left" fixture export a3-640cpu-16npu "$out/full/host" --db "$db" &&
        [ "$(ls -A "$out/full")" = corpus.db ]
    result=$?
    umount "$out/full"
    return $result
}

# Another process holds the lock for longer than cpubind waits.
locked_is_refused() {
    mkfifo "$out/go" "$out/end"
    { echo 'BEGIN EXCLUSIVE;' && echo ".shell echo > '$out/go'" &&
        echo ".shell cat '$out/end'"; } | sqlite3 -batch -init /dev/null "$db" >"$out/holder" 2>&1 &
    cat "$out/go" >"$out/gone"
    says 3 "being written by another process" fixture list --db "$db" &&
        says 3 "nothing has changed; try again" \
            fixture import "$hosts/idle-a2" --db "$db" --replace
    result=$?
    echo >"$out/end"
    wait
    [ $result -eq 0 ] && says 0 "" fixture replay --db "$db"
}

# No control character reaches a terminal: ASCII ones are refused as damage, and bytes that are
# not ASCII are replaced.
a_stranger_writes_no_escapes() {
    spoil_corpus "PRAGMA ignore_check_constraints = 1;
        UPDATE hosts SET product = char(27) || '[2J' WHERE name = 'idle-a2'" &&
        says 3 "breaks the rules" fixture list --db "$out/spoilt.db" &&
        says 3 "breaks the rules" fixture export idle-a2 "$out/exported" --db "$out/spoilt.db" &&
        [ ! -e "$out/exported" ] &&
        spoil_corpus "UPDATE hosts SET product = char(155) || '2J' WHERE name = 'idle-a2'" &&
        fixture list --db "$out/spoilt.db" >"$out/said" &&
        fixture show idle-a2 --db "$out/spoilt.db" >>"$out/said" &&
        ! grep -q '[^ -~]' "$out/said" && grep -qF '??2J' "$out/said" &&
        fixture list --db "$out/spoilt.db" --json >"$out/said.json" && is_json "$out/said.json"
}

# -- The journal of a stranger (live.md, 7) ----------------------------------

be32() { # number
    # The format is made of the number on purpose.
    # shellcheck disable=SC2059
    printf "$(printf '\\%03o\\%03o\\%03o\\%03o' $(($1 >> 24 & 255)) $(($1 >> 16 & 255)) \
        $(($1 >> 8 & 255)) $(($1 & 255)))"
}

# A journal that SQLite would roll back, and that names another file. Without a name: that of a
# writer of cpubind that was killed.
make_journal() { # database, name or nothing
    mark='\331\325\005\371\040\241\143\327'
    {
        # shellcheck disable=SC2059
        printf "$mark" && be32 0 && be32 0 && be32 $(($(wc -c <"$1") / 4096)) && be32 512 &&
            be32 4096 && head -c 484 /dev/zero
        if [ -n "$2" ]; then
            be32 262145 && printf %s "$2" && be32 ${#2} &&
                be32 "$(printf %s "$2" | od -An -v -tu1 |
                    awk '{ for (i = 1; i <= NF; i++) sum += $i } END { print sum }')"
            # shellcheck disable=SC2059
            printf "$mark"
        fi
    } >"$1-journal"
}

# A corpus of a stranger in a folder of its own, beside a file of the user.
make_stranger() { # name in the journal, or nothing
    rm -rf "$out/strange" && mkdir "$out/strange" && cp "$db" "$out/strange/c.db" &&
        echo mine >"$out/victim" && make_journal "$out/strange/c.db" "$1"
}

is_victim_there() {
    [ "$(cat "$out/victim")" = mine ]
}

# The advice: a copy without the journal works, and the file of the user stays.
a_naming_journal_is_refused() {
    make_stranger "$out/victim" &&
        every_command_says "its journal names another file" "$out/strange/c.db" &&
        says 3 "copy it without its -journal, and use the copy" "$CPUBIND" capture \
            --root "$hosts/no-npu" --db "$out/strange/c.db" --name x1 &&
        is_victim_there && [ "$(ls "$out/strange")" = "c.db${newline}c.db-journal" ] &&
        cp "$out/strange/c.db" "$out/strange/copy.db" &&
        says 0 "" fixture import "$hosts/no-npu" --db "$out/strange/copy.db" --replace &&
        says 0 "" fixture list --db "$out/strange/copy.db" && is_victim_there
}

an_odd_journal_is_refused() {
    for make in 'ln -s ../victim' mkfifo mkdir 'ln ../victim'; do
        make_stranger "" && rm "$out/strange/c.db-journal" || return 1
        (cd "$out/strange" && $make c.db-journal) || return 1
        says 3 "its journal" timeout 20 "$CPUBIND" fixture list --db "$out/strange/c.db" &&
            says 3 "its journal" timeout 20 "$CPUBIND" fixture import "$hosts/no-npu" \
                --db "$out/strange/c.db" --replace && is_victim_there || return 1
    done
}

# The advice of the reader: the next import rolls back.
an_interrupted_write_is_rolled_back() {
    make_stranger "" &&
        every_reader_says 3 "accept on this file rolls it back" "$out/strange/c.db" || return 1
    make_stranger "" && fixture import "$hosts/no-npu" --db "$out/strange/c.db" --replace &&
        [ "$(ls "$out/strange")" = c.db ] && says 0 "" fixture replay --db "$out/strange/c.db"
}

# The words that an operator may mistype, and what the message must offer.
a_mistyped_word_has_a_hint() {
    says 2 'did you mean "plan"?' "$CPUBIND" pln &&
        says 2 'did you mean "export"?' fixture exprot &&
        says 2 'did you mean "--rules" or "--roles"?' "$CPUBIND" plan --rulse near &&
        says 3 'did you mean "a2-192cpu-8npu"?' "$CPUBIND" plan --fixture A2-192CPU-8NPU \
            --db "$db" &&
        says 3 'did you mean "a2-192cpu-8npu"?' fixture show a2-192cpu-8pnu --db "$db" &&
        ! says 3 'did you mean' fixture show 'zzzzzz' --db "$db" &&
        ! grep -q 'row in' "$out/said"
}

# No command writes to the corpus that came with cpubind, unless --db names it.
the_installed_corpus_is_not_written_to() {
    for words in "import $hosts/no-npu" "accept no-npu" "remove no-npu" "rename no-npu x"; do
        # shellcheck disable=SC2086
        says 2 "a corpus of yours, --db FILE" fixture $words || return 1
    done
    says 0 "0 expectations would be accepted" fixture accept no-npu --dry-run
}

hosts_are_removed_and_renamed() {
    cp "$db" "$out/change.db" && before=$(sum_of "$out/change.db") || return 1
    says 0 "would be removed" fixture remove no-npu --db "$out/change.db" --dry-run &&
        says 3 "no expectation of this name" fixture remove no-npu default none --db \
            "$out/change.db" &&
        says 1 "has a host" fixture rename no-npu a2-192cpu-8npu --db "$out/change.db" &&
        says 2 "consists of letters" fixture rename no-npu a/b --db "$out/change.db" &&
        says 3 "No such file" fixture remove no-npu --db "$out/none.db" &&
        [ "$(sum_of "$out/change.db")" = "$before" ] && [ ! -e "$out/none.db" ] || return 1
    says 0 "is other now" fixture rename no-npu other --db "$out/change.db" &&
        says 0 "" fixture replay other --db "$out/change.db" &&
        says 0 "the host other removed" fixture remove other --db "$out/change.db" &&
        says 3 "no host of this name" fixture show other --db "$out/change.db" &&
        is_clean "$out/change.db"
}

# A case with arguments of its own, tried: the difference is shown, and the file stays.
a_dry_accept_stores_nothing() {
    cp "$db" "$out/change.db" && before=$(sum_of "$out/change.db") || return 1
    says 0 "1 expectation would be accepted" fixture accept no-npu tried --db "$out/change.db" \
        --dry-run -- --npus 0 --device-type a2 --total 8 && grep -q 'no-npu tried:' "$out/said" &&
        fixture accept no-npu tried --db "$out/change.db" --dry-run --json \
            -- --npus 0 --device-type a2 --total 8 >"$out/dry.json" &&
        [ "$(json "$out/dry.json" '$.is_dry')" = 1 ] &&
        [ "$(json "$out/dry.json" '$.differences[0].case')" = tried ] &&
        says 2 "--rank" fixture accept no-npu tried --db "$out/change.db" --dry-run -- --rank x &&
        says 2 "one case only" fixture accept no-npu a b --db "$out/change.db" --dry-run \
            -- --rank 0 &&
        says 3 "no expectation" fixture accept no-npu tried --db "$out/change.db" --dry-run &&
        [ "$(sum_of "$out/change.db")" = "$before" ]
}

# Appends --json to a change, and finds its sentence in the object.
says_in_json() { # words, path, arguments of cpubind fixture
    words=$1 path=$2
    shift 2
    fixture "$@" --json >"$out/done.json" 2>&1
    status=$?
    cat "$out/done.json"
    [ $status -eq 0 ] && [ "$(json "$out/done.json" '$.text')" = "$words" ] &&
        [ "$(json "$out/done.json" '$.path')" = "$path" ]
}

changes_are_objects() {
    new=$out/new.db
    says_in_json "1 host added" "$new" import "$hosts/no-npu" --db "$new" &&
        says_in_json "0 expectations accepted" "$new" accept no-npu --db "$new" &&
        says_in_json "the host no-npu is other now" "$new" rename no-npu other --db "$new" &&
        says_in_json "the host other would be removed" "$new" remove other --dry-run --db "$new" &&
        fixture export other "$out/object" --db "$new" --json >"$out/done.json" &&
        is_json "$out/done.json" && [ -e "$out/object/host.txt" ] &&
        says_in_json "the host other removed" "$new" remove other --db "$new"
}

as_nobody() { # command ...
    setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

# The advice where the folder may not be written: both files copied to another folder.
an_interrupted_write_in_a_closed_folder() {
    make_stranger "" && chmod 555 "$out/strange" && chmod 444 "$out/strange"/* &&
        mkdir "$out/own" && chmod 777 "$out/own" || return 1
    before=$(cat "$out/strange"/* | sum_of /dev/stdin)
    says 3 "copy the file and its -journal to a folder of your own" as_nobody "$CPUBIND" \
        fixture list --db "$out/strange/c.db" &&
        says 4 "could not be written" as_nobody "$CPUBIND" fixture import "$out/reader/good" \
            --db "$out/strange/c.db" &&
        [ "$(cat "$out/strange"/* | sum_of /dev/stdin)" = "$before" ] &&
        as_nobody cp "$out/strange/c.db" "$out/strange/c.db-journal" "$out/own" &&
        as_nobody chmod 644 "$out/own/c.db" "$out/own/c.db-journal" &&
        says 0 "" as_nobody "$CPUBIND" fixture import "$out/reader/good" --db "$out/own/c.db" &&
        says 0 "" as_nobody "$CPUBIND" fixture list --db "$out/own/c.db"
}

# SQLite writes and deletes the corpus and its journal alone, and no call names another file.
no_call_leaves_the_corpus() {
    for name in "$out/victim" ""; do
        make_stranger "$name" || return 1
        for command in "list" "import $hosts/no-npu --replace"; do
            # shellcheck disable=SC2086
            ASAN_OPTIONS=detect_leaks=0 strace -f -qq -e trace=%file -o "$out/calls" "$CPUBIND" \
                fixture $command --db "$out/strange/c.db" >"$out/said" 2>&1
            grep -q 'strange/c.db-journal' "$out/calls" && is_victim_there || return 1
            ! grep 'victim' "$out/calls" || return 1
            grep -E 'O_WRONLY|O_RDWR|O_CREAT|^[0-9]+ +(unlink|rename|link|symlink|truncate|chown|chmod)' \
                "$out/calls" | grep -v -e '"/dev/null"' -e "\"$out/strange/c.db\"" \
                -e "\"$out/strange/c.db-journal\"" && return 1
            case $command in
            list) ! grep -E 'O_WRONLY|O_RDWR|O_CREAT|unlink' "$out/calls" | grep strange || return 1 ;;
            esac
        done
    done
    [ "$(ls "$out/strange")" = c.db ]
}

# In WAL mode SQLite makes two more files, as a reader too; a link leads elsewhere.
wal_and_links_are_refused() {
    make_stranger "" && rm "$out/strange/c.db-journal" && ask "$out/strange/c.db" \
        'PRAGMA journal_mode = WAL' &&
        every_command_says "it is in WAL mode" "$out/strange/c.db" &&
        [ "$(ls "$out/strange")" = c.db ] && ask "$out/strange/c.db" \
        'PRAGMA journal_mode = DELETE' && says 0 "" fixture list --db "$out/strange/c.db" &&
        ln -s c.db "$out/strange/link.db" && ln -s ../none.db "$out/strange/none.db" &&
        every_command_says "it is a symbolic link" "$out/strange/link.db" &&
        says 3 "it is a symbolic link" fixture import "$hosts/no-npu" \
            --db "$out/strange/none.db" && [ ! -e "$out/none.db" ]
}

nothing_to_hold_is_no_success() {
    spoil_corpus "DELETE FROM expectations" &&
        says 1 "no expectation to hold" fixture replay --db "$out/spoilt.db"
}

# -- capture -----------------------------------------------------------------

# Every fixture host is captured from its folder: the plan is the same, and only host.txt and
# expect/ differ.
captures_every_host() {
    for host in "$hosts"/*; do
        name=$(basename "$host")
        says 0 "what was written gives the same" "$CPUBIND" capture --root "$host" \
            -o "$out/captured/$name" && [ "$(ls "$out/captured/$name/expect")" = default.json ] ||
            return 1
        diff -r "$host" "$out/captured/$name" |
            grep -v -e "^Only in $hosts/[^:]*/expect: " \
                -e '^Only in [^:]*/gpu-[^:/]*/expect: default.json$' \
                -e "^Only in $hosts/.*/topology: " -e '/cpu: cpu[0-9]*$' >"$out/differs"
        ! grep -q '^Only in' "$out/differs" || return 1
    done
    fixture import "$out/captured"/* --db "$out/captured.db" &&
        fixture replay --db "$out/captured.db"
}

make_npusmi() { # folder, host whose outputs it prints
    mkdir -p "$1"
    cat >"$1/npu-smi" <<END
#!/bin/sh
host=$hosts/$2/cmd
case "\$*" in
"info -m") cat "\$host/npu-smi-info-m.txt" ;;
"info") cat "\$host/npu-smi-info.txt" ;;
"info -t topo") cat "\$host/npu-smi-info-t-topo.txt" && exit 7 ;;
*) exit 9 ;;
esac
END
    chmod +x "$1/npu-smi"
}

# Sixteen ranks that start at once: npu-smi runs once for each command, and the plans are equal.
# The ranks have a /run of their own.
sixteen_ranks_ask_once() {
    make_npusmi "$out/slow" a2-192cpu-8npu
    sed -i "2i echo x >>'$out/slow/runs'; sleep 0.3" "$out/slow/npu-smi"
    # shellcheck disable=SC2016
    PATH=$out/slow:$PATH unshare -m sh -c 'mount -t tmpfs -o mode=755 tmpfs /run || exit 1
        for rank in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
            "$1" plan --npus 0-3 --json >"$2/$rank.json" 2>&1 &
        done
        wait' sh "$CPUBIND" "$out/slow" || return 1
    for rank in 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
        cmp "$out/slow/1.json" "$out/slow/$rank.json" || return 1
    done
    is_json "$out/slow/1.json" && [ "$(wc -l <"$out/slow/runs")" -eq 3 ]
}

captures_this_host() {
    make_npusmi "$out/bin" a2-192cpu-8npu
    PATH=$out/bin:$PATH ASCEND_RT_VISIBLE_DEVICES=1,2 "$CPUBIND" plan --npus 0-3 --json \
        >"$out/live.json"
    live=$?
    PATH=$out/bin:$PATH ASCEND_RT_VISIBLE_DEVICES=1,2 says 0 "gives the same" "$CPUBIND" \
        capture -o "$out/live" --npus 0-3 --product "a stand-in" --notes "seen on a Monday" &&
        "$CPUBIND" plan --root "$out/live" --npus 0-3 --json >"$out/again.json"
    [ $? -eq $live ] && cmp "$out/live.json" "$out/again.json" &&
        cmp "$out/live/cmd/npu-smi-info.txt" \
            "$hosts/a2-192cpu-8npu/cmd/npu-smi-info.txt" &&
        [ "$(cat "$out/live/cmd/npu-smi-info-t-topo.exit")" = 7 ] &&
        [ "$(cat "$out/live/env")" = ASCEND_RT_VISIBLE_DEVICES=1,2 ] &&
        [ "$(cat "$out/live/uname")" = "$(uname -m)" ] &&
        grep -qx "name: live" "$out/live/host.txt" &&
        grep -qx "product: a stand-in" "$out/live/host.txt" &&
        grep -qx "origin: captured" "$out/live/host.txt" &&
        grep -qx "npu-smi: 25.2.0" "$out/live/host.txt" &&
        grep -qx "notes: seen on a Monday" "$out/live/host.txt" &&
        cmp "$out/live/sys/devices/system/cpu/online" /sys/devices/system/cpu/online &&
        fixture import "$out/live" --db "$out/live.db" && fixture replay --db "$out/live.db"
}

# Without npu-smi the capture holds a refusal.
captures_a_refusal() {
    says 0 "refusal: no_npu_smi" "$CPUBIND" capture --db "$out/live.db" --name bare &&
        fixture show bare --db "$out/live.db" | grep -q '^npu-smi  *none$' &&
        fixture replay bare --db "$out/live.db" &&
        says 1 "already" "$CPUBIND" capture --db "$out/live.db" --name bare &&
        says 0 "gives the same" "$CPUBIND" capture --db "$out/live.db" --name bare --replace
}

redacts() {
    host=$(uname -n)
    cp -R "$hosts/a2-192cpu-8npu" "$out/named" && chmod -R u+w "$out/named" &&
        mkdir -p "$out/named/etc" && echo "$host" >"$out/named/etc/hostname" &&
        printf 'Name:\ttrainer\nCpus_allowed_list:\t0-191\n' >"$out/named/proc/self/status" &&
        printf '0:  1  eth0 %s\n1: 2 x.%s\n' "$host" "$host" >"$out/named/proc/interrupts" &&
        echo "npu-smi on $host is old" >"$out/named/cmd/npu-smi-info-m.txt.err" &&
        says 0 "the name of the host 3 times" "$CPUBIND" capture --root "$out/named" \
            -o "$out/redacted" --redact &&
        grep -q 'gives the same' "$out/said" && grep -q 'names of processes' "$out/said" &&
        grep -qx 'npu-smi on x*[.x]* is old' "$out/redacted/cmd/npu-smi-info-m.txt.err" &&
        ! grep -rqw -e "$host" -e trainer -e python3 -e python "$out/redacted"
}

# A name that is a word of the formats is not removed, and the command says so.
says_what_it_cannot_take_out() {
    echo node7 >"$out/named/etc/hostname" &&
        says 0 "not the name of the host, which cannot be told from" "$CPUBIND" capture \
            --root "$out/named" -o "$out/telling" --redact &&
        rm "$out/named/etc/hostname" &&
        says 0 "not the name of the host, which is not known" "$CPUBIND" capture \
            --root "$out/named" -o "$out/unknown" --redact
}

# Each input that cannot be read is named once, and changes the plan.
leaves_out_once() {
    cp -R "$hosts/a2-192cpu-8npu" "$out/halves" && chmod -R u+w "$out/halves" &&
        for name in npu-smi-info-m npu-smi-info-t-topo; do
            ln -sf /etc/passwd "$out/halves/cmd/$name.txt" || return 1
        done
    says 1 "gives another:" "$CPUBIND" capture --root "$out/halves" -o "$out/left" &&
        [ "$(grep -c '^left out: cmd/npu-smi-info-m.txt: ' "$out/said")" -eq 1 ] &&
        [ "$(grep -c '^left out: ' "$out/said")" -eq 2 ] &&
        says 1 '"is_same": false' "$CPUBIND" capture --root "$out/halves" -o "$out/left" \
            --replace --json &&
        [ "$(json "$out/said" '$.left_out[1]' | cut -d : -f 1)" = cmd/npu-smi-info-t-topo.txt ]
}

capture_keeps_what_is_there() {
    mkdir -p "$out/kept" && echo mine >"$out/kept/file" &&
        says 1 "there already" "$CPUBIND" capture --root "$hosts/no-npu" -o "$out/kept" &&
        [ "$(ls "$out/kept")" = file ] &&
        says 2 "cannot name a host" "$CPUBIND" capture -o "$out/-a" &&
        says 2 "either -o DIR" "$CPUBIND" capture && says 2 "" "$CPUBIND" capture -o a --db b &&
        says 2 "--name NAME" "$CPUBIND" capture --db b &&
        says 4 "could not be written" "$CPUBIND" capture -o "$out/nowhere/at/all"
}

# -- The words of fixtures/README.md -----------------------------------------

# Every statement of the section, ended by a line with ";" at its end.
check_questions() {
    awk '/^## /{ inside = ($0 == "## The corpus as a database") }
        inside && /^    (SELECT|WITH) / { open = 1 }
        open { text = text " " $0 }
        open && /;$/ { print text; text = ""; open = 0 }' fixtures/README.md >"$out/questions"
    check "fixtures/README.md asks ten questions" [ "$(wc -l <"$out/questions")" -eq 10 ]
    while read -r question; do
        check "it answers: $question" gives_rows "$question"
    done <"$out/questions"
    check "no plan reads the inputs of which the answer says so" no_plan_reads_them
}

no_plan_reads_them() {
    cp "$BUILD/fixtures.db" "$out/unread.db" &&
        ask "$out/unread.db" "DELETE FROM inputs WHERE (host, name) IN
            ($(grep "'uname'" "$out/questions" | tr -d ';'))" &&
        says 0 "523 of 523" fixture replay --db "$out/unread.db"
}

gives_rows() { # SQL
    ask "$db" "$1" >"$out/rows" && [ -s "$out/rows" ]
}

# Whether no ordinary user can be had, or none that gets at this folder.
has_no_setpriv() {
    [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null ||
        ! setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$CPUBIND"
}

sanitized=$(cd "$BUILD" && pwd)/san/cpubind
check "the hosts are imported" fixture import "$hosts"/* --db "$db"
check "each host is exported as its file in fixtures/hosts" a_host_is_exported_as_its_file
check "the names of the hosts are those of the folders" names_are_those_of_the_folders
check "export writes every file as it was imported" every_host_comes_back
check "the sums are those of the files, and equal bytes are stored once" sums_are_right
check "the database is clean" is_clean "$db"
if [ -x "$sanitized" ]; then
    check "another build packs a copy elsewhere to the same bytes" packs_the_same
    check "make builds the same bytes in both builds" both_builds_pack_the_same
else
    skip "another build packs the same bytes" "no $BUILD/san/cpubind: make check"
fi
check "hosts imported one by one, and one of them twice, give the same corpus" one_by_one_is_the_same_corpus
check "import leaves no other file" nothing_is_left_behind
refuse_all
check "export overwrites nothing without --replace" export_keeps_what_is_there
check "list is a table" list_is_a_table
check "list is JSON" list_is_json
check "show prints a host, its inputs and its expectations" show_tells_all
check "replay finds that every expectation holds" replays_all
check "replay prints TAP, JUnit and JSON" replays_in_every_format
check "plan prints every format" prints_every_format plan "plan --fixture a2-192cpu-8npu" 17
check "replay prints every format" prints_every_format "fixture replay" "fixture replay" 4
check "--json is a format" json_is_a_format
check "the map is the end of the text" map_is_the_end_of_the_text
find_all
ignore_unnamed
check "accept with arguments shows and keeps every key" accepts_all_keys_of_a_question
check "accept stores the quality of a plan that has none" accepts_the_quality
check "every plan that is expected of a fixture host has its quality" every_plan_has_its_quality
check "accept shows a difference, and writes it" accepts_a_difference
check "accept writes the form of the folders" accept_writes_the_form_of_the_folders
check "accept makes a new case" accepts_a_new_case
check "a newer schema is refused" newer_is_refused
check "another database is refused" another_is_refused
check "a file of text is refused" text_is_refused
check "a damaged corpus is refused" damaged_is_refused
check "bytes that do not match their sum are refused" changed_bytes_are_refused
check "a missing file, a folder and a FIFO are refused" missing_is_refused
check "a locked corpus is refused" locked_is_refused
check "no control character is printed" a_stranger_writes_no_escapes
check "a journal that names another file is refused, and a copy is used" a_naming_journal_is_refused
check "a journal that is a link, a FIFO or a folder is refused" an_odd_journal_is_refused
check "a mistyped word has a hint" a_mistyped_word_has_a_hint
check "the installed corpus is not written to unasked" the_installed_corpus_is_not_written_to
check "hosts are removed and renamed, or nothing is" hosts_are_removed_and_renamed
check "accept --dry-run stores nothing" a_dry_accept_stores_nothing
check "a change of a corpus is a JSON object" changes_are_objects
check "an interrupted write is rolled back by the next import" an_interrupted_write_is_rolled_back
check "a corpus in WAL mode and a symbolic link are refused" wal_and_links_are_refused
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
    check "no call opens, writes or deletes another file than the corpus" no_call_leaves_the_corpus
else
    skip "no call opens, writes or deletes another file than the corpus" "needs strace"
fi
check "a corpus without expectations does not replay as a success" nothing_to_hold_is_no_success
if has_no_setpriv; then
    skip "a corpus that may not be written is refused" "needs root, and an ordinary user"
    skip "an interrupted write in a closed folder is rolled back in a copy" "likewise"
else
    make_host "$out/reader" good
    chmod -R a+rX "$out/reader"
    check "a corpus that may not be written is refused" read_only_is_refused
    check "an interrupted write in a closed folder is rolled back in a copy" \
        an_interrupted_write_in_a_closed_folder
fi
full_disk_is_refused >"$out/output" 2>&1
case $? in
0) pass "a full disk is refused" ;;
2) skip "a full disk is refused" "no file system can be mounted" ;;
*) fail "a full disk is refused" "$out/output" ;;
esac
check "every host is captured and gets the same plan" captures_every_host
if [ "$(id -u)" -eq 0 ] && unshare -m mount -t tmpfs tmpfs /run 2>/dev/null; then
    check "sixteen ranks at once ask npu-smi once, and have one plan" sixteen_ranks_ask_once
else
    skip "sixteen ranks at once ask npu-smi once, and have one plan" "needs root that may mount"
fi
check "this host is captured and gets the same plan" captures_this_host
check "a refusal is captured" captures_a_refusal
check "capture --redact removes names" redacts
check "capture --redact says what it cannot remove" says_what_it_cannot_take_out
check "capture leaves out what cannot be read, and says so once" leaves_out_once
check "capture overwrites nothing without --replace" capture_keeps_what_is_there
check_questions
finish
