#!/bin/sh
# corpus.sh - all fixture hosts through a corpus and through captures; a disk that is full, and a
# file that others own
# SPDX-License-Identifier: MIT
# runs: check-all
# build: plain
#
# What one command makes of one host or of a damaged file is in tests/cases/command_corpus.txt,
# command_capture.txt and command_store.txt, with the sanitized command.
. tests/scenes/lib.sh
hosts=$out/hosts
mkdir "$hosts"
for file in fixtures/hosts/*.host; do
    name=$(basename "$file" .host)
    "$CPUBIND" fixture export "$name" "$hosts/$name" --quiet || exit 1
done
db=$out/corpus.db

ask() { # database, SQL
    sqlite3 -batch -bail -init /dev/null "$1" "$2"
}

fixture() { # arguments of cpubind fixture
    "$CPUBIND" fixture "$@"
}

# -- All hosts ---------------------------------------------------------------

# Each went from its file through a folder and a corpus.
every_host_comes_back() {
    for file in fixtures/hosts/*.host; do
        name=$(basename "$file" .host)
        grep -qx "name: $name" "$hosts/$name/host.txt" &&
            fixture export "$name" "$out/back.host" --db "$db" --replace --quiet &&
            cmp "$file" "$out/back.host" || return 1
    done
}

sums_are_right() {
    ask "$db" "SELECT content || '  ' || host || '/' || name FROM inputs
               WHERE exit_code IS NOT NULL" >"$out/sums"
    (cd "$hosts" && sha256sum --check --quiet "$out/sums") &&
        [ "$(ask "$db" 'SELECT count(*) - count(DISTINCT bytes) FROM contents')" = 0 ] &&
        [ "$(ask "$db" 'PRAGMA integrity_check')" = ok ] &&
        [ -z "$(ask "$db" 'PRAGMA foreign_key_check')" ]
}

# Another folder, other time stamps, other modes; and the plain build, where there is one.
packs_the_same() {
    cp -R "$hosts" "$out/copy" && chmod -R u+w "$out/copy" &&
        (cd "$out" && umask 077 && fixture import copy/* --db again.db --quiet) &&
        cmp "$db" "$out/again.db" && rm -r "$out/copy" "$out/again.db" || return 1
    [ ! -e "$BUILD/../fixtures.db" ] || cmp "$BUILD/fixtures.db" "$BUILD/../fixtures.db"
}

one_by_one_is_the_same_corpus() {
    for host in "$hosts"/a2-*; do
        fixture import "$host" --db "$out/single.db" --quiet || return 1
    done
    fixture import "$hosts"/a2-* --db "$out/all.db" --quiet &&
        for table in hosts contents inputs expectations; do
            ask "$out/all.db" "SELECT * FROM $table ORDER BY 1, 2" >"$out/a"
            ask "$out/single.db" "SELECT * FROM $table ORDER BY 1, 2" | cmp - "$out/a" || return 1
        done
}

every_plan_has_its_quality() {
    [ "$(ask "$db" "SELECT count(*) FROM expectations WHERE body ->> '\$.plan' IS NOT NULL
        AND body ->> '\$.plan.nodes' IS NULL AND body ->> '\$.plan.quality.idle' IS NULL")" = 0 ]
}

# The plan is the same, and only host.txt and expect/ differ.
captures_every_host() {
    mkdir "$out/captured"
    for host in "$hosts"/*; do
        name=$(basename "$host")
        says 0 "what was written gives the same" "$CPUBIND" capture --root "$host" \
            -o "$out/captured/$name" && [ "$(ls "$out/captured/$name/expect")" = default.json ] ||
            return 1
        diff -r "$host" "$out/captured/$name" |
            grep -v -e "^Only in $hosts/[^:]*/expect: " \
                -e '^Only in [^:]*/gpu-[^:/]*/expect: default.json$' \
                -e "^Only in $hosts/.*/topology: " -e '/cpu: cpu[0-9]*$' >"$out/differs"
        ! grep '^Only in' "$out/differs" || return 1
    done
    fixture import "$out/captured"/* --db "$out/captured.db" --quiet &&
        fixture replay --db "$out/captured.db" && rm -r "$out/captured" "$out/captured.db"
}

# Every statement of the section of fixtures/README.md, ended by a line with ";" at its end.
check_questions() {
    awk '/^## /{ inside = ($0 == "## The corpus as a database") }
        inside && /^    (SELECT|WITH) / { open = 1 }
        open { text = text " " $0 }
        open && /;$/ { print text; text = ""; open = 0 }' fixtures/README.md >"$out/questions"
    check "fixtures/README.md asks two questions" [ "$(wc -l <"$out/questions")" -eq 2 ]
    while read -r question; do
        check "it answers: $question" gives_rows "$question"
    done <"$out/questions"
    check "no plan reads the inputs of which the answer says so" no_plan_reads_them
}

gives_rows() { # SQL
    ask "$db" "$1" >"$out/rows" && [ -s "$out/rows" ]
}

no_plan_reads_them() {
    cp "$db" "$out/unread.db" && ask "$out/unread.db" "DELETE FROM inputs WHERE (host, name) IN
        ($(grep "'uname'" "$out/questions" | tr -d ';'))" && fixture replay --db "$out/unread.db"
}

# -- Files that cannot be written --------------------------------------------

as_nobody() { # command ...
    setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

# Neither the file nor the folder of its journal may be written.
read_only_is_refused() {
    mkdir "$out/closed" && cp "$db" "$out/closed/" && chmod 444 "$out/closed/corpus.db" &&
        chmod 555 "$out/closed" || return 1
    says 4 "could not be written" as_nobody "$CPUBIND" fixture import \
        "$PWD/fixtures/hosts/no-npu.host" --db "$out/closed/corpus.db" --replace &&
        cmp "$db" "$out/closed/corpus.db" &&
        says 0 "" as_nobody "$CPUBIND" fixture list --db "$out/closed/corpus.db"
}

# A file system of 64 KiB.
full_disk_is_refused() {
    mkdir -p "$out/full" && mount -t tmpfs -o size=64k tmpfs "$out/full" || return 2
    fixture import "$hosts/no-npu" --db "$out/full/corpus.db" && cp "$out/full/corpus.db" "$out/small" &&
        says 4 "No space left" fixture import "$hosts"/a3-* --db "$out/full/corpus.db" &&
        cmp "$out/small" "$out/full/corpus.db" &&
        says 4 "No space left" fixture export a3-640cpu-16npu "$out/full/host" --db "$db" &&
        [ "$(ls -A "$out/full")" = corpus.db ]
    result=$?
    umount "$out/full"
    return $result
}

# A reader opens the corpus alone, and a writer makes one more file, which takes its place.
no_call_leaves_the_corpus() {
    mkdir "$out/strange" && cp "$db" "$out/strange/c.db" || return 1
    for command in "list" "import $hosts/no-npu --replace"; do
        # shellcheck disable=SC2086
        strace -f -qq -e trace=%file -o "$out/calls" "$CPUBIND" fixture $command \
            --db "$out/strange/c.db" >"$out/said" 2>&1
        grep -q 'strange/c.db' "$out/calls" || return 1
        ! grep -E 'O_WRONLY|O_RDWR|O_CREAT|^[0-9]+ +(unlink|rename|link|symlink|truncate|chown|chmod)' \
            "$out/calls" | grep -v -e '"/dev/null"' -e "\"$out/strange/c.db\", O_RDWR" \
            -e '"\.c\.db\.[0-9]*\.0\.tmp"' || return 1
        [ "$command" != list ] || ! grep -E 'O_WRONLY|O_RDWR|O_CREAT|unlink' "$out/calls" |
            grep strange || return 1
    done
}

check_or_skip() { # text, what it needs, function; status 2: it cannot be tried here
    "$3" >"$out/output" 2>&1
    case $? in
    0) pass "$1" ;;
    2) skip "$1" "$2" ;;
    *) fail "$1" "$out/output" ;;
    esac
}

check "the hosts are imported" fixture import "$hosts"/* --db "$db"
check "export writes every host as its file in fixtures/hosts" every_host_comes_back
check "the sums are those of the files, and equal bytes are stored once" sums_are_right
check "a copy elsewhere is packed to the same bytes" packs_the_same
check "hosts imported one by one give the same corpus" one_by_one_is_the_same_corpus
check "every plan that is expected of a fixture host has its quality" every_plan_has_its_quality
check "every expectation holds" fixture replay --db "$db"
check "every host is captured and gets the same plan" captures_every_host
check_questions
if [ "$(id -u)" -eq 0 ] && as_nobody test -x "$CPUBIND" 2>/dev/null; then
    chmod a+rx "$out"
    check "a corpus that may not be written is refused" read_only_is_refused
else
    skip "a corpus that may not be written is refused" "needs root, and an ordinary user"
fi
check_or_skip "a full disk is refused" "no file system can be mounted" full_disk_is_refused
if strace -o /dev/null true 2>/dev/null; then
    check "no call opens, writes or deletes another file than the corpus" no_call_leaves_the_corpus
else
    skip "no call opens, writes or deletes another file than the corpus" "needs strace"
fi
finish
