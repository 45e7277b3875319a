#!/bin/sh
# seeds.sh - make seeds from fixtures/hosts; the other seeds are written by hand
#
#   fuzz/seeds.sh               from the top folder, after `make`: write the seeds of all hosts
#   fuzz/seeds.sh FOLDER        print one snapshot as an input of the target facts
#   fuzz/seeds.sh databases     write only the seeds of the target corpus (needs sqlite3)
#
# A seed has the name of its host. If several hosts have the same bytes, only the first gives a
# seed. Commit only new seeds that add coverage. The seeds of host_txt, input_list and redact
# are copied by hand, as few hosts add coverage there; targets/fuzz_NAME.c explains their first
# line.

# The mark of a command's entry, as targets/fuzz_facts.c explains it: "t" if the command did not
# end in time, a digit of an exit code that is not 0, else nothing.
mark_of() { # folder, name
    read -r code 2>/dev/null <"$1/${2%.txt}.exit" || return 0
    case $code in
    timeout) echo t ;;
    *) echo "$code" | tr -d 0 | cut -c 1 ;;
    esac
}

# The inputs that a plan reads, in the format of fuzz/targets/fuzz_facts.c.
snapshot() { # folder
    (cd "$1" && find . -type f | sed 's|^\./||' | LC_ALL=C sort) |
        grep -E '^(env|uname|cmd/.*\.txt|proc/self/status|sys/devices/system/cpu/online|sys/devices/system/cpu/cpu[0-9]+/online|sys/devices/system/cpu/smt/active|sys/devices/system/cpu/cpu[0-9]+/topology/(thread_siblings_list|physical_package_id)|sys/devices/system/node/online|sys/devices/system/node/node[0-9]+/(cpulist|cpumap|distance)|sys/bus/pci/devices/[^/]*/(vendor|device|numa_node|local_cpulist))$' |
        while read -r name; do
            mark=$(mark_of "$1" "$name")
            if [ -z "$mark" ] && [ -n "$(tail -c 1 "$1/$name")" ]; then
                mark=-
            fi
            echo "=${mark:-=} $name"
            cat "$1/$name"
            # The next entry starts on a new line.
            [ -z "$(tail -c 1 "$1/$name")" ] || echo
        done
}

# Copies a file to the corpus, unless the file is missing, empty, or there with another name.
seed() { # file, target, name
    [ -s "$1" ] || return 0
    mkdir -p "fuzz/corpus/$2"
    for other in "fuzz/corpus/$2"/*; do
        if [ "$other" != "fuzz/corpus/$2/$3" ] && cmp -s "$1" "$other"; then
            return 0
        fi
    done
    cp "$1" "fuzz/corpus/$2/$3"
}

# Makes a small database for the target corpus: pages of 512 bytes, the schema, a few rows.
database() { # name, SQL after the schema
    rm -f "$made"
    {
        echo 'PRAGMA page_size = 512;'
        cat fixtures/schema.sql
        echo 'DELETE FROM readme; VACUUM;'
        echo "$2"
    } | sqlite3 -batch -bail -init /dev/null "$made" || exit 1
    cp "$made" "fuzz/corpus/corpus/$1"
}

databases() {
    mkdir -p fuzz/corpus/corpus
    nothing=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
    zero=$(printf '0\n' | sha256sum | cut -c 1-64)
    host="INSERT INTO hosts VALUES ('a', 'p', 'synthetic', 'none', 'n');"
    bytes="INSERT INTO contents VALUES ('$nothing', x''), ('$zero', x'300a');"
    inputs="INSERT INTO inputs VALUES ('a', 'cmd/a.txt', '$zero', 187),
        ('a', 'cmd/b.txt', '$nothing', NULL), ('a', 'sys/x/y', '$zero', 0),
        ('a', 'sys/x/z', '$zero', 0), ('a', 'env', '$nothing', 0);"
    expected="INSERT INTO expectations VALUES ('a', 'default',
        '{\"args\": [], \"exit\": 1, \"error\": {}}');"
    database empty ''
    database host "$host $bytes $inputs $expected"
    database hosts "$host $bytes $inputs INSERT INTO hosts VALUES
        ('b', 'p', 'captured', 'none', 'n'), ('c.d', 'p', 'documented', 'none', 'n');
        INSERT INTO inputs SELECT 'b', name, content, exit_code FROM inputs WHERE host = 'a';"
    database fuzz "$(echo "$host $bytes $inputs $expected" | sed "s/'a'/'fuzz'/g")"
    database newer 'PRAGMA user_version = 3;'
    database shapes "$host $bytes $inputs $(cat fixtures/shapes.sql)
        INSERT INTO shapes VALUES ('a', '$nothing', '1', '{\"properties\": {}}');"
    database another 'PRAGMA application_id = 7;'
    database trigger "$host CREATE TRIGGER t AFTER INSERT ON hosts BEGIN
        DELETE FROM inputs; END;"
    database computed "DROP TABLE inputs; CREATE TABLE inputs (host, name, exit_code,
        content AS (hex(zeroblob(30000000)))); $host"
    database wrong-sum "$host $(echo "$bytes $inputs" | sed "s/x'300a'/x'310a'/")"
    database no-bytes "$host PRAGMA foreign_keys = OFF; $inputs"
    database free-pages "$host $bytes $inputs INSERT INTO contents VALUES
        ('$(printf '%064d' 1)', zeroblob(3000)); DELETE FROM contents WHERE
        length(bytes) = 3000;"
    : >fuzz/corpus/corpus/nothing
}

all() {
    folder=$(mktemp -d) || exit 1
    trap 'rm -rf "$folder"' EXIT
    made=$folder/made
    for file in fixtures/hosts/*.host; do
        name=$(basename "$file" .host)
        host=$folder/$name
        build/cpubind fixture export "$name" "$host" --quiet || exit 1
        seed "$host/cmd/npu-smi-info-m.txt" npusmi_map "$name"
        seed "$host/cmd/npu-smi-info-t-topo.txt" npusmi_topo "$name"
        seed "$host/cmd/npu-smi-info.txt" npusmi_info "$name"
        seed "$host/cmd/lscpu-e.txt" lscpu_nodes "$name"
        seed "$host/cmd/lscpu.txt" lscpu_threads "$name"
        seed "$host/proc/interrupts" interrupts "$name"
        seed "$host/proc/self/status" status "$name"
        seed "$host/cmd/npu-smi-info-l.txt" npusmi_list "$name"
        for board in "$host"/cmd/npu-smi-info-t-board-*.txt; do
            part=${board##*board-}
            seed "$board" npusmi_board "$name-${part%.txt}"
        done
        snapshot "$host" >"$made"
        seed "$made" facts "$name"
    done
    databases
}

case ${1:-} in
'') all ;;
databases)
    made=$(mktemp) || exit 1
    trap 'rm -f "$made"' EXIT
    databases
    ;;
*) snapshot "$1" ;;
esac
