#!/bin/sh
# fleet.sh - test cpubind fixture import --shapes and groups on a made fleet; prints TAP
# runs: check-all
# build: plain
#
#   tests/sqlite/fleet.sh        from the top folder; BUILD is where outputs go
#
# FLEET_HOSTS is the number of hosts (default 200); with 10000 (make check-fleet) the times and
# the memory that are printed are those that CORPUS.md promises. fleet_hosts.c makes the hosts, and
# says of which kind each is.
LC_ALL=C
export LC_ALL

BUILD=${BUILD:-build}
n=${FLEET_HOSTS:-200}
tries='1 2 3 4 5 6 7 8'
[ "$n" -le 1000 ] || tries='1 4 7'
out=$BUILD/fleet
rm -rf "$out"
mkdir -p "$out/day1" "$out/day2"
out=$(cd "$out" && pwd)
CPUBIND=$(cd "$BUILD" && pwd)/cpubind
. tests/support/tap.sh

fixture() { # arguments of cpubind fixture
    "$CPUBIND" fixture "$@"
}

ask() { # database, SQL
    sqlite3 -batch -bail -init /dev/null "$1" "$2"
}

says() { # exit status, words that the output must hold, command ...
    want=$1
    words=$2
    shift 2
    "$@" >"$out/said" 2>&1
    got=$?
    head -c 2000 "$out/said"
    [ "$got" -eq "$want" ] && tr -s '\n ' ' ' <"$out/said" | grep -qF -e "$words"
}

# What there is of each host: which capture, and which shape.
contents_of() { # database
    ask "$1" 'SELECT host, capture, program, shape FROM shapes ORDER BY host'
}

# Runs a command, and notes its seconds and its memory.
measured() { # name, command ...
    measured_name=$1
    shift
    if [ -x /usr/bin/time ]; then
        /usr/bin/time -f "# $measured_name: %e s (%U s of a CPU), %M KiB" -a -o "$out/times" "$@"
    else
        "$@"
    fi
}

# -- Groups ------------------------------------------------------------------

import_a_folder() {
    says 0 "$n hosts added, 0 unchanged, 0 left out" measured "import of $n hosts" \
        "$CPUBIND" fixture import "$out/day1" --db "$out/fleet.db" --shapes
}

groups_as_text() {
    measured "groups of $n hosts" "$CPUBIND" fixture groups --db "$out/fleet.db" >"$out/text" &&
        fixture groups --db "$out/fleet.db" --json >"$out/json" &&
        grep -q "^$n hosts in 10 groups" "$out/text"
}

# Each group has the hosts of one kind, and all of them. Hosts of "autonuma" have the shape of
# "npu".
groups_are_those_that_were_made() {
    rm -f "$out/made.db"
    sed 's/ autonuma$/ npu/' "$out/made" >"$out/kinds"
    sqlite3 -batch -bail -init /dev/null "$out/made.db" >"$out/counted" <<END
CREATE TABLE made (name TEXT PRIMARY KEY, kind TEXT);
CREATE TABLE grouped (name TEXT PRIMARY KEY, number INTEGER);
.separator ' '
.import '$out/kinds' made
INSERT INTO grouped SELECT h.value, g.value ->> 'group'
    FROM json_each(readfile('$out/json'), '\$.groups') AS g, json_each(g.value, '\$.hosts') AS h;
SELECT count(*), count(DISTINCT kind), count(DISTINCT number),
    count(DISTINCT kind || ' ' || number) FROM made JOIN grouped USING (name);
END
    cat "$out/counted"
    [ "$(cat "$out/counted")" = "$n 10 10 10" ]
}

# The numbers of hosts of each kind are those of fleet_hosts.c.
names_what_differs() {
    sed 's/  */ /g' "$out/text" >"$out/rows"
    while read -r row; do
        grep -qE -e "^$row\$" "$out/rows" || {
            echo "there is no row: $row"
            return 1
        }
    done <<END
3 1 cgroup node[0-9]+, node[0-9]+, node[0-9]+ and 3 more
4 1 allowed,plan,quality node[0-9]+, .* and 2 more
5 1 driver node[0-9]+, node[0-9]+, node[0-9]+ and node[0-9]+
6 2 devices,nps,nodes,distances node[0-9]+, node[0-9]+ and node[0-9]+
[89] 1 kernel node[0-9]+ and node[0-9]+
[89] 2 smt,cpus,nodes,siblings,plan,quality node[0-9]+ and node[0-9]+
10 2 devices,plan,quality node[0-9]+
autonuma moderate 1 node[0-9]+, node[0-9]+, node[0-9]+ and 9 more
END
    grep -q '"why": "npu-smi info -m, line 1, column 1: npu-smi refused to answer' "$out/json"
}

# The output of groups as text and as JSON.
all_outputs() { # database, file
    fixture groups --db "$1" >"$2" && fixture groups --db "$1" --json >>"$2"
}

# In another order, in several calls, compressed, and as a folder.
another_order_is_the_same() {
    mkdir -p "$out/shuffled" &&
        cp "$out"/day1/*.host "$out/shuffled" &&
        fixture import "$out/shuffled/node00000.host" --db "$out/one.db" --quiet &&
        fixture export node00000 "$out/shuffled/node00000" --db "$out/one.db" --quiet &&
        rm "$out/shuffled/node00000.host" &&
        gzip -1 "$out"/shuffled/node0000[1-9].host || return 1
    for part in '*[02468]*' '*'; do
        # The order of the names is a random one.
        # shellcheck disable=SC2086
        find "$out/shuffled" -mindepth 1 -maxdepth 1 -name "$part" ! -name fleet.db | shuf |
            head -n 9000 | xargs "$CPUBIND" fixture import --db "$out/shuffled/fleet.db" --shapes \
            --quiet || return 1
    done
    fixture import "$out/shuffled" --db "$out/shuffled/fleet.db" --shapes --quiet &&
        all_outputs "$out/fleet.db" "$out/all" &&
        all_outputs "$out/shuffled/fleet.db" "$out/all.shuffled" &&
        cmp "$out/all" "$out/all.shuffled"
}

# A corpus of whole hosts says the same of them. A hundred are enough.
inputs_say_the_same() {
    find "$out/day1" -name '*.host' | sort | head -n 100 >"$out/hundred" &&
        xargs "$CPUBIND" fixture import --db "$out/whole.db" --quiet <"$out/hundred" &&
        xargs "$CPUBIND" fixture import --db "$out/shapes.db" --shapes --quiet <"$out/hundred" &&
        all_outputs "$out/whole.db" "$out/all.whole" &&
        all_outputs "$out/shapes.db" "$out/all.shapes" &&
        cmp "$out/all.whole" "$out/all.shapes"
}

# -- Again -------------------------------------------------------------------

the_same_is_not_read_again() {
    contents_of "$out/fleet.db" >"$out/before" &&
        says 0 "0 hosts added, $n unchanged, 0 left out" measured "import of $n unchanged hosts" \
            "$CPUBIND" fixture import "$out/day1" --db "$out/fleet.db" --shapes &&
        contents_of "$out/fleet.db" | cmp - "$out/before"
}

another_capture_needs_replace() {
    says 1 '--replace puts the new one in its place' fixture import "$out/day2" \
        --db "$out/fleet.db" --shapes &&
        contents_of "$out/fleet.db" | cmp - "$out/before"
}

another_capture_takes_its_place() {
    cp "$out/fleet.db" "$out/later.db" &&
        says 0 "$n hosts added, 0 unchanged, 0 left out" fixture import "$out/day2" \
            --db "$out/later.db" --shapes --replace &&
        contents_of "$out/later.db" >"$out/after" && ! cmp -s "$out/before" "$out/after" &&
        all_outputs "$out/later.db" "$out/all.later" && cmp "$out/all" "$out/all.later"
}

# -- Faults ------------------------------------------------------------------

# The file is replaced as a whole: of a killed import no more is left than a temporary file.
a_killed_import_loses_nothing() {
    start=$(date +%s%N)
    cp "$out/fleet.db" "$out/killed.db"
    fixture import "$out/day2" --db "$out/killed.db" --shapes --replace --quiet || return 1
    took=$((($(date +%s%N) - start) / 1000000))
    for try in $tries; do
        rm -f "$out"/killed.db*
        cp "$out/fleet.db" "$out/killed.db"
        "$CPUBIND" fixture import "$out/day2" --db "$out/killed.db" --shapes --replace --quiet &
        import=$!
        # The last ones are killed while they commit, or have ended.
        sleep "$(awk -v took=$took -v try=$try -v seed=$$ 'BEGIN { srand(seed + try)
            print took / 1000 * (try > 5 ? 0.97 + rand() * 0.06 : rand()) }')"
        kill -9 $import 2>/dev/null
        wait $import 2>/dev/null
        contents_of "$out/killed.db" >"$out/left"
        cmp -s "$out/left" "$out/before" || cmp -s "$out/left" "$out/after" || {
            echo "after a kill the corpus is neither the former nor the new one"
            return 1
        }
        [ "$(ask "$out/killed.db" 'PRAGMA integrity_check')" = ok ] || return 1
    done
}

# One that cannot be read is said with its place, and the others are stored.
damaged_captures_are_left_out() {
    mkdir -p "$out/damaged" && cp "$out"/day1/node0000[0-4].host "$out/damaged" &&
        head -c 3000 "$out/day1/node00001.host" >"$out/damaged/node00001.host" &&
        : >"$out/damaged/node00002.host" &&
        sed 's/^name: .*/name:/; s/^ name: .*/ name: /' "$out/day1/node00003.host" \
            >"$out/damaged/node00003.host" || return 1
    says 3 "2 hosts added, 0 unchanged, 3 left out" fixture import "$out/damaged" \
        --db "$out/damaged.db" --shapes &&
        grep -q 'left out: ".*/node00001.host", line [0-9]*, column' "$out/said" &&
        grep -q 'left out: ".*/node00002.host", line 1, column 1' "$out/said" &&
        grep -q 'left out: ".*/node00003.host/host.txt", line [0-9]*, column' "$out/said" &&
        [ "$(ask "$out/damaged.db" 'SELECT group_concat(host) FROM shapes')" = node00000,node00004 ] &&
        says 3 '"left_out": [{"path"' fixture import "$out/damaged" --db "$out/damaged.db" \
            --shapes --json
}

two_captures_of_a_host_are_refused() {
    mkdir -p "$out/twice" && cp "$out/day1/node00000.host" "$out/twice/a.host" &&
        cp "$out/day2/node00000.host" "$out/twice/b.host" || return 1
    says 1 'are both of a host "node00000"; nothing has changed' fixture import "$out/twice" \
        --db "$out/twice.db" --shapes --replace && [ ! -e "$out/twice.db" ]
}

a_damaged_corpus_is_refused() {
    cp "$out/fleet.db" "$out/spoilt.db" &&
        dd if=/dev/urandom of="$out/spoilt.db" bs=4096 seek=9 count=20 conv=notrunc 2>/dev/null
    says 3 'the corpus is damaged' fixture groups --db "$out/spoilt.db" &&
        says 3 'the corpus is damaged' fixture import "$out/day1" --db "$out/spoilt.db" --shapes &&
        cp "$out/fleet.db" "$out/spoilt.db" &&
        ask "$out/spoilt.db" "PRAGMA ignore_check_constraints = ON;
            UPDATE shapes SET shape = '{\"properties\": {' WHERE host = 'node00003'" &&
        says 3 'the shape of the host "node00003" is damaged, at byte 1' fixture groups \
            --db "$out/spoilt.db"
}

# Texts of a corpus of a stranger end in no control character on the terminal, and in no crash.
hostile_shapes_are_shown() {
    cp "$out/fleet.db" "$out/hostile.db" &&
        ask "$out/hostile.db" "UPDATE shapes SET shape = json_set(shape,
            '\$.properties.devices', ';;=;[ [x]=;a [', '\$.properties.nodes', 7,
            '\$.properties.kernel', char(27) || '[2J', '\$.properties.quality', 'near_percent',
            '\$.found', json('[1, \"none\", \"autonuma\"]')) WHERE host < 'node00004'" &&
        fixture groups --db "$out/hostile.db" >"$out/said" &&
        ! grep -q "$(printf '\033')" "$out/said" &&
        fixture groups --db "$out/hostile.db" --json >"$out/said" &&
        [ "$(ask :memory: "SELECT json_valid(readfile('$out/said'))")" = 1 ]
}

shapes_of_another_version_are_said() {
    cp "$out/fleet.db" "$out/old.db" &&
        ask "$out/old.db" "UPDATE shapes SET program = '0.0.1' WHERE host < 'node00004'" &&
        says 0 "the shapes of 4 of $n hosts were read by another version" fixture groups \
            --db "$out/old.db" &&
        says 0 "4 hosts added, $((n - 4)) unchanged" fixture import "$out/day1" --db "$out/old.db" \
            --shapes --replace
}

# Without room for the new shapes the corpus stays the former one.
a_full_disk_changes_nothing() {
    unshare -m true || return 2
    mkdir -p "$out/small"
    # shellcheck disable=SC2016
    unshare -m sh -c 'mount -t tmpfs -o size=$(($(stat -c %s "$1/fleet.db") * 3 / 2)) tmpfs \
        "$1/small" || exit 2
        cp "$1/fleet.db" "$1/small/fleet.db" &&
        "$2" fixture import "$1/day2" --db "$1/small/fleet.db" --shapes --replace >"$1/said" 2>&1
        status=$?
        cat "$1/said"
        [ $status -eq 4 ] && grep -q "No space left" "$1/said" &&
        cp "$1/small/fleet.db" "$1/full.db"' sh "$out" "$CPUBIND" || return
    contents_of "$out/full.db" | cmp - "$out/before"
}

# Of the host alone its shape is there: what needs its inputs says so.
a_shape_is_no_host() {
    says 3 'has the shape of this host alone' "$CPUBIND" plan --fixture node00000 \
        --db "$out/fleet.db"
}

"$BUILD/fleet_hosts" "$out/day1" "$n" 01 >"$out/made" &&
    "$BUILD/fleet_hosts" "$out/day2" "$n" 02 >/dev/null || exit 1
check "the captures in a folder are imported" import_a_folder
check "groups prints text and JSON" groups_as_text
check "the groups are those that were made" groups_are_those_that_were_made
check "what differs is named, and what doctor finds" names_what_differs
check "another order of imports gives the same bytes" another_order_is_the_same
check "whole hosts and shapes give the same bytes" inputs_say_the_same
check "a capture that is known is not read again" the_same_is_not_read_again
check "a host with another capture needs --replace" another_capture_needs_replace
check "a host with another capture takes its place" another_capture_takes_its_place
check "an import that is killed loses nothing" a_killed_import_loses_nothing
check "captures that are damaged are left out and said" damaged_captures_are_left_out
check "two captures of one host are refused" two_captures_of_a_host_are_refused
check "a damaged corpus is refused with the place" a_damaged_corpus_is_refused
check "hostile shapes are shown without control characters" hostile_shapes_are_shown
check "shapes of another version are said, and read again" shapes_of_another_version_are_said
check "a command that needs the inputs of a host says that there are none" a_shape_is_no_host
a_full_disk_changes_nothing >"$out/output" 2>&1
case $? in
0) pass "a full disk changes nothing" ;;
2) skip "a full disk changes nothing" "no file system can be mounted" ;;
*) fail "a full disk changes nothing" "$out/output" ;;
esac
cat "$out/times" 2>/dev/null
rm -rf "$out"
finish
