#!/bin/sh
# pack.sh - the host folders as a database: whole, the same each time, or not at all; prints TAP
#
#   tests/sqlite/pack.sh         from the top folder; BUILD is where outputs go
LC_ALL=C
export LC_ALL

BUILD=${BUILD:-build}
out=$BUILD/pack
rm -rf "$out"
mkdir -p "$out/db"
out=$(cd "$out" && pwd)
. tests/support/tap.sh

db=$out/db/corpus.db
newline='
'
tab=$(printf '\t')

ask() { # database, SQL
    sqlite3 -batch -bail -init /dev/null "$1" "$2"
}

# -- What is packed ----------------------------------------------------------

# Writes a host folder for each host again; host.txt with its keys in the usual order.
unpack() { # database, folder
    ask "$1" "
        SELECT writefile('$2/' || name || '/host.txt',
            'name: ' || name || char(10) || 'product: ' || product || char(10) || 'origin: ' ||
            origin || char(10) || 'npu-smi: ' || npu_smi || char(10) || 'notes: ' || notes ||
            char(10)) FROM hosts;
        SELECT writefile('$2/' || host || '/' || name, bytes)
            FROM inputs JOIN contents ON sha256 = content;
        SELECT writefile('$2/' || host || '/' || replace(name || char(10), '.txt' || char(10),
            '.exit'), exit_code || char(10)) FROM inputs WHERE exit_code <> 0;
        SELECT writefile('$2/' || host || '/expect/' || name || '.json', body)
            FROM expectations;" >/dev/null
}

comes_back() { # hosts, database, folder to unpack to
    unpack "$2" "$3" && diff -r "$1" "$3"
}

sums_are_right() { # hosts, database
    ask "$2" "SELECT content || '  ' || host || '/' || name FROM inputs" >"$out/sums"
    (cd "$1" && sha256sum --check --quiet "$out/sums") &&
        [ "$(ask "$2" 'SELECT count(*) - count(DISTINCT bytes) FROM contents')" = 0 ]
}

is_clean() { # database
    [ "$(ask "$1" 'PRAGMA integrity_check')" = ok ] &&
        [ -z "$(ask "$1" 'PRAGMA foreign_key_check')" ] &&
        [ "$(ask "$1" 'PRAGMA user_version')" = 1 ] &&
        [ "$(ask "$1" 'PRAGMA application_id')" = $((0x43505542)) ] &&
        [ "$(ask "$1" 'SELECT count(*) > 5 FROM readme')" = 1 ]
}

packs_the_same() { # hosts
    fixtures/pack.sh "$1" "$out/db/again.db" && cmp "$db" "$out/db/again.db" &&
        rm "$out/db/again.db"
}

# Another folder, another time stamp, other modes.
packs_a_copy_the_same() {
    cp -R fixtures/hosts "$out/copy" && chmod -R u+w "$out/copy" || return 1
    (cd "$out" && umask 077 && "$OLDPWD/fixtures/pack.sh" copy db/copy.db) &&
        cmp "$db" "$out/db/copy.db" && rm "$out/db/copy.db"
}

nothing_is_left_behind() {
    [ "$(ls -A "$out/db")" = corpus.db ]
}

# -- Odd names and bytes -----------------------------------------------------

make_host() { # folder, name
    mkdir -p "$1/$2/cmd" "$1/$2/expect"
    printf 'name: %s\nproduct: p\norigin: synthetic\nnpu-smi: none\nnotes: n\n' "$2" \
        >"$1/$2/host.txt"
    printf '{"args": [], "exit": 1, "error": {}}\n' >"$1/$2/expect/default.json"
    echo refused >"$1/$2/cmd/a.txt"
    echo 187 >"$1/$2/cmd/a.exit"
}

make_odd_host() {
    make_host "$out/odd" odd
    mkdir -p "$out/odd/odd/sys/a b/0000:04:00.0"
    # The names are meant as they stand.
    # shellcheck disable=SC2016
    for name in "it's" 'a "b"' 'back\slash' '$HOME' '-n' ' ' '*' "';DROP TABLE hosts;--" \
        '.hidden' 'a=b' '%s' "$(printf '\303\244')" 'vendor'; do
        printf '%s' "$name" >"$out/odd/odd/sys/a b/0000:04:00.0/$name"
    done
    : >"$out/odd/odd/env"
    printf 'a\000b\r\n\377\n\n' >"$out/odd/odd/uname"
}

odd_host_comes_back() {
    make_odd_host
    fixtures/pack.sh "$out/odd" "$out/db/odd.db" &&
        comes_back "$out/odd" "$out/db/odd.db" "$out/odd-back" && rm "$out/db/odd.db"
}

# -- What is not packed ------------------------------------------------------

# A good host "good" beside a host "bad" that a command has spoilt: refused by name, and the
# old file is as it was.
refuses() { # text, words of the message, command that runs in the folder of "bad"
    rm -rf "$out/bad"
    make_host "$out/bad" good
    make_host "$out/bad" bad
    (cd "$out/bad/bad" && eval "$3") || return
    check "refused: $1" is_refused "$out/bad" "$2"
}

is_refused() { # hosts, words of the message
    before=$(sha256sum <"$db")
    fixtures/pack.sh "$1" "$db" >"$out/said" 2>&1
    status=$?
    cat "$out/said"
    [ $status -eq 1 ] && grep -qF -e "$2" "$out/said" && nothing_is_left_behind &&
        [ "$(sha256sum <"$db")" = "$before" ]
}

refuse_all() {
    refuses "no host.txt" "bad: no host.txt" 'rm host.txt'
    refuses "an empty folder" "bad: no host.txt" 'rm -r cmd expect host.txt'
    refuses "a host.txt of another host" "bad: host.txt: name" \
        'sed -i s/bad/worse/ host.txt'
    refuses "a host.txt without a key" "bad: host.txt: no notes" 'sed -i /notes/d host.txt'
    refuses "a host.txt with a key twice" "bad: host.txt: not understood: notes: b" \
        'echo "notes: b" >>host.txt'
    refuses "a host.txt with a key of its own" "bad: host.txt: not understood: cann: 8" \
        'echo "cann: 8" >>host.txt'
    refuses "an unknown origin" "'bad'" 'sed -i s/synthetic/guessed/ host.txt'
    refuses "an expectation that is no JSON" "bad/expect/default.json" \
        'echo "{" >expect/default.json'
    refuses "an expectation without plan or error" "bad/expect/default.json" \
        'echo "{\"args\": [], \"exit\": 0}" >expect/default.json'
    refuses "another file in expect/" "bad/expect/notes.txt" 'echo a >expect/notes.txt'
    refuses "a folder in expect/" "bad/expect/a/b.json" \
        'mkdir expect/a; echo {} >expect/a/b.json'
    refuses "an exit code without an output" "bad/cmd/a.exit" 'rm cmd/a.txt'
    for code in '' -1 256 1000 '1 2' x; do
        refuses "the exit code '$code'" "bad/cmd/a.exit" "echo '$code' >cmd/a.exit"
    done
    refuses "a symbolic link" "bad/env" 'ln -s host.txt env'
    refuses "a FIFO" "bad/env" 'mkfifo env'
    refuses "a line feed in a name" "bad/a" ": >'a${newline}b'"
    refuses "a TAB in the name of a folder" "bad/a?b" "mkdir 'a${tab}b'"
    refuses "a host with an odd name" "it's: the name" "mkdir \"../it's\""
    mkdir -p "$out/none"
    check "refused: a folder without hosts" is_refused "$out/none" "no host folder"
    check "refused: a folder that is not there" is_refused "$out/nowhere" "no such folder"
}

usage_is_2() {
    fixtures/pack.sh "$out/odd"
    [ $? -eq 2 ]
}

# -- The questions of fixtures/README.md -------------------------------------

# Every statement of the section, ended by a line with ";" at its end.
check_questions() {
    awk '/^## /{ inside = ($0 == "## The corpus as a database") }
        inside && /^    SELECT/ { open = 1 }
        open { text = text " " $0 }
        open && /;$/ { print text; text = ""; open = 0 }' fixtures/README.md >"$out/questions"
    check "fixtures/README.md asks five questions" [ "$(wc -l <"$out/questions")" -eq 5 ]
    while read -r question; do
        check "it answers: $question" gives_rows "$question"
    done <"$out/questions"
}

gives_rows() { # SQL
    ask "$db" "$1" >"$out/rows" && [ -s "$out/rows" ]
}

check "the hosts are packed" fixtures/pack.sh fixtures/hosts "$db"
check "packed again, the same bytes" packs_the_same fixtures/hosts
check "a copy elsewhere: the same bytes" packs_a_copy_the_same
check "every file comes back byte for byte" comes_back fixtures/hosts "$db" "$out/back"
check "the sums are those of the files, and no bytes stand twice" \
    sums_are_right fixtures/hosts "$db"
check "the database is clean" is_clean "$db"
check "odd names and bytes come back" odd_host_comes_back
check "no other file is left behind" nothing_is_left_behind
refuse_all
check "usage: exit 2" usage_is_2
check_questions
finish
