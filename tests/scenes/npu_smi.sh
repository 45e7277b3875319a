#!/bin/sh
# npu_smi.sh - how npu-smi is started, what is taken of it, and how its answer is shared
# SPDX-License-Identifier: MIT
# runs: check-all
# The commands of the stand-in are in single quotes.
# shellcheck disable=SC2016
#
# A script stands in for npu-smi. A capture has its outputs, exit codes and stderr as files, and
# does not share them; a plan of a live host does.
. tests/scenes/lib.sh
use_live_npus
map=npu-smi-info-m

# What the script does at `npu-smi info -m`; its other commands print nothing.
does() { # commands
    printf '#!/bin/sh\n[ "$2" = -m ] || exit 0\n%s\n' "$1" >"$live/bin/npu-smi"
}

# The outputs are in the folder of the capture.
captured() { # folder, command that runs cpubind ...
    captured_to=$1
    shift
    rm -rf "$captured_to"
    "$@" "$CPUBIND" capture -o "$captured_to" --name x --quiet >"$out/said" 2>"$out/err"
    [ -d "$captured_to" ] && return 0
    cat "$out/said" "$out/err"
    return 1
}

# The answer of a script, and the suffix of its file: txt, exit or txt.err.
answers() { # commands, text [, suffix]
    does "$1" && captured "$out/host" env && holds "$out/host" "$2" "$3"
}

holds() { # folder, text [, suffix]
    printf '%s' "$2" | cmp - "$1/cmd/$map.${3:-txt}" && return 0
    head -c 1000 "$1/cmd/$map.${3:-txt}"
    return 1
}

line='
'

# -- Answers ------------------------------------------------------------------------

check "its output is the answer" answers 'echo "$# $@"' "2 info -m$line"
check "its exit code comes with it" answers 'echo x; exit 7' "7$line" exit
check "an end by a signal is 128 and its number" answers 'kill -KILL $$' "137$line" exit
check "exit code 127 is not absent" answers 'echo x; exit 127' "127$line" exit
check "a megabyte is complete" answers 'yes 1234567 | head -n 131072' "$(yes 1234567 |
    head -n 131072)$line"
check "its stderr comes apart" answers 'echo x; echo y >&2' "y$line" txt.err
check "and is no part of the output" holds "$out/host" "x$line"
check "of a long stderr the first 4 KiB are kept" answers 'head -c 5000 /dev/zero | tr "\0" e >&2' \
    "$(head -c 4096 /dev/zero | tr '\0' e)" txt.err
check "two full pipes do not block each other" answers \
    'for i in 1 2 3; do head -c 70000 /dev/zero | tr "\0" e >&2; head -c 70000 /dev/zero | tr "\0" o; done' \
    "$(head -c 210000 /dev/zero | tr '\0' o)"
check "stdin is empty" answers 'cat; echo end' "end$line"
check "closing stdout early is no failure" answers 'echo x; exec >&-; sleep 0.2; exit 7' "7$line" exit
check "nor is closing stderr" answers 'exec 2>&-; echo x; sleep 0.2' "x$line"
check "it has the C locale" answers 'echo $LC_ALL $LANG $LANGUAGE; exit 0' "C C$line"
kept_variable() {
    export KEPT=here
    answers 'echo $KEPT' "here$line"
}
check "and the rest of the environment" kept_variable
hands_on() {
    does 'exec ls /proc/self/fd' && answers 'exec ls /proc/self/fd' "$("$live/bin/npu-smi" info -m)$line"
}
check "no descriptor is handed on" hands_on
signals() { # commands before
    does 'exec grep -cE "^Sig(Blk|Ign):[[:space:]].{8}[08]0{7}$" /proc/self/status' &&
        captured "$out/host" sh -c 'trap "" INT PIPE USR1; exec "$@"' sh && holds "$out/host" "2$line"
}
check "signals are as usual, whatever the caller ignores" signals
check "a child that holds the pipes is not waited for" answers 'sleep 600 & echo done; exit 3' "3$line" exit

closed_files() {
    does 'cat; echo x; echo y >&2'
    rm -rf "$out/host"
    "$CPUBIND" capture -o "$out/host" --name x --quiet <&- >&- 2>&-
    holds "$out/host" "x$line" && holds "$out/host" "y$line" txt.err
}
check "it works with the standard files closed" closed_files

# -- Where it is found ---------------------------------------------------------------

searched=$PATH
planned() { # exit status, words [, PATH]
    says "$1" "$2" env PATH="${3:-$searched}" "$CPUBIND" plan
}
not_here="npu-smi is not on this host"
does 'exit 0'
mv "$live/bin/npu-smi" "$out/npu-smi"
check "a command that is not on PATH is absent" planned 3 "$not_here"
relative_folders() {
    (cd "$out" && says 3 "$not_here" env PATH=":.:bin:$searched" "$CPUBIND" plan)
}
check "no relative folder of PATH is searched" relative_folders
closed_folder() { # as in a PATH that root had
    mkdir -p "$out/closed/bin" && chmod 700 "$out/closed" || return 1
    # shellcheck disable=SC2086
    says 3 "$not_here" $user env PATH="$out/closed/bin:$searched" "$CPUBIND" plan
}
check_user "a folder of PATH that may not be searched has no command" closed_folder
install -m 644 "$out/npu-smi" "$live/bin/npu-smi"
check "one that may not be executed fails" planned 3 "Permission denied"
echo 'echo x' >"$live/bin/npu-smi" && chmod 755 "$live/bin/npu-smi"
check "one that is no program is run by no shell" planned 3 "Exec format error"

# -- Limits --------------------------------------------------------------------------

does 'exec yes'
check "an endless output is too long" planned 3 "too long"

# Each of these takes its twenty seconds: they wait side by side.
hangs() { # name, commands
    mkdir -p "$out/$1/bin" && printf '#!/bin/sh\n[ "$2" = -m ] || exit 0\n%s\n' "$2" \
        >"$out/$1/bin/npu-smi" && chmod 755 "$out/$1/bin/npu-smi" &&
        captured "$out/$1/host" env PATH="$out/$1/bin:$searched" out="$out" || return 1
    holds "$out/$1/host" "timeout$line" exit && [ ! -s "$out/$1/host/cmd/$map.txt" ]
}
hangs plainly 'echo half; exec sleep 600' >"$out/plainly.log" 2>&1 & plainly=$!
hangs deaf 'trap "" TERM INT HUP; sleep 600 & echo $! $$ >"$out/deaf.pids"; while :; do sleep 1; done' \
    >"$out/deaf.log" 2>&1 & deaf=$!
hangs closed 'echo x; exec >&-; sleep 600' >"$out/closed.log" 2>&1 & closed=$!
hangs loud 'echo waiting for the driver >&2; exec yes >&2' >"$out/loud.log" 2>&1 & loud=$!
ended() { # pid of the wait, name
    wait "$1" || { cat "$out/$2.log"; return 1; }
}
check "one that hangs is killed, and half an output is none" ended $plainly plainly
check "one that ignores signals is killed with its group" ended $deaf deaf
are_gone() { # pid ...
    for pid in "$@"; do
        [ ! -e "/proc/$pid" ] || grep -q '^State:.[ZX]' "/proc/$pid/status" || return 1
    done
}
# shellcheck disable=SC2046
check "and nothing of it is left" becomes are_gone $(cat "$out/deaf.pids")
check "one that closes its output has the limit, too" ended $closed closed
check "and so has endless stderr" ended $loud loud
check "of which the first lines are kept" grep -q "waiting for the driver" "$out/loud/host/cmd/$map.txt.err"

# -- Shared by the processes of a host -------------------------------------------------

# The tables of the host, each run a line of `runs`; `first` runs before.
counts() { # commands
    cat >"$live/bin/npu-smi" <<TEXT
#!/bin/sh
echo "\$*" >>"$out/runs"
$1
case "\$*" in
"info -m") exec cat "$live/cmd/npu-smi-info-m.txt" ;;
"info") exec cat "$live/cmd/npu-smi-info.txt" ;;
"info -t topo") exec cat "$live/cmd/npu-smi-info-t-topo.txt" ;;
esac
exit 9
TEXT
}
ran() { # number of runs of info -m
    ran_count=$(grep -cx 'info -m' "$out/runs")
    [ "$ran_count" = "$1" ] && return 0
    echo "it ran $ran_count times, not $1"
    return 1
}
forget() {
    rm -rf /run/cpubind "$out/runs"
    : >"$out/runs"
}
# The words of $host are split on purpose.
# shellcheck disable=SC2086
plan() { # number of its output
    "$CPUBIND" plan --format log $host >"$out/plan.$1" 2>&1 && grep -q "NPU0: main=" "$out/plan.$1"
}

shares() {
    counts 'sleep 0.3' && forget || return 1
    pids=
    for i in $(seq 16); do
        plan "$i" &
        pids="$pids $!"
    done
    for pid in $pids; do wait "$pid" || return 1; done
    ran 1 && [ "$(sort -u "$out/runs" | wc -l)" = "$(wc -l <"$out/runs")" ]
}
check "sixteen at once run each command once" shares
alone() {
    counts true && forget && captured "$out/host" env && [ ! -e /run/cpubind ] && plan 1 &&
        captured "$out/host" env && ran 3
}
check "a capture neither takes an answer nor keeps one" alone
killed_holder() {
    counts "[ -e $out/second ] || { : >$out/begun; exec sleep 600; }" && forget || return 1
    plan 1 &
    holder=$!
    becomes test -e "$out/begun" && pkill -KILL -P $holder -x cpubind && wait $holder
    : >"$out/second"
    plan 2
}
check "a holder that is killed frees the others" killed_holder
ages() {
    counts true && forget && plan 1 && sleep 6 && plan 2 && ran 2
}
check "an answer of six seconds ago is not taken" ages

# The answers are written anew where something is wrong with them.
answer=/run/cpubind/npu-smi.$(readlink /proc/self/ns/mnt | tr -dc 0-9)
is_anew() { # commands
    counts true && forget && plan 1 && [ -f "$answer" ] && eval "$1" && plan 2 && ran 2
}
for at in 0 8 20 200; do
    check "a damaged byte: $at" is_anew \
        "printf x | dd of=$answer bs=1 seek=$at conv=notrunc status=none"
    check "a file that is cut: $at" is_anew "truncate -s $at $answer"
done
check "a file that others may write" is_anew "chmod 666 $answer"
check "a link in its place" is_anew "mv $answer $out/moved; ln -s $out/moved $answer"
check "another program" is_anew 'counts "true true"'
check "another path of libraries" is_anew 'export LD_LIBRARY_PATH=/nowhere'
unset LD_LIBRARY_PATH
is_off() { # commands
    counts true && forget && eval "$1" && plan 1 && plan 2 && ran 2
}
check "a folder that others may write to is not used" is_off 'mkdir -m 777 /run/cpubind'
check "nor is a link" is_off "mkdir -p $out/else; ln -s $out/else /run/cpubind"
rm -f /run/cpubind
check "and nothing was written there" rmdir "$out/else"
check "what a signal has ended is not kept" is_off 'counts "[ \$# != 1 ] || kill -KILL \$\$"'
finish
