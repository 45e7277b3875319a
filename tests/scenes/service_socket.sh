#!/bin/sh
# service_socket.sh - the service, its manager and its clients, whatever these do; prints TAP
# SPDX-License-Identifier: MIT
# runs: check
# shellcheck disable=SC2086 # lists are split on purpose
#
# The service binds a worker of a GPU. Its clients are made here: they talk nonsense, say nothing,
# read nothing, or are of another user.
. tests/scenes/lib.sh
use_gpus

client() { # word, argument ...
    python3 tests/scenes/programs/client.py "$@"
}

ask() { # text ...
    client ask $socket "$@" >"$out/said"
}

told() { # lines
    printf '%s\n' "$@" | diff - "$out/said"
}

# -- The manager -----------------------------------------------------------------

start_manager() { # address
    : >"$out/heard" # the last one said that it was ready, too
    client listen "$1" >"$out/heard" 2>&1 &
    manager=$!
    becomes grep -qx ready "$out/heard"
}

heard() { # pattern
    grep -q "$1" "$out/heard" && return 0
    cat "$out/heard"
    return 1
}

a_manager_hears_each_state() {
    for address in "$out/notify" @cpubind-scene; do
        rm -f "$out/notify"
        start_manager $address || return 1
        NOTIFY_SOCKET=$address start_service && becomes heard '^STATUS=1 workers; ' &&
            becomes heard '^READY=1$' &&
            kill -HUP "$service" && becomes heard '^RELOADING=1 MONOTONIC_USEC=[0-9]*$' || return 1
        usec=$(sed -n 's/.*MONOTONIC_USEC=//p' "$out/heard")
        [ $((usec / 1000000)) -le "$(seconds)" ] &&
            [ $((usec / 1000000)) -gt $(($(seconds) - 60)) ] &&
            becomes grep -c '^READY=1$' "$out/heard" && end_service TERM &&
            becomes heard '^STOPPING=1$' &&
            logged "signal 15 of process " && [ ! -e $socket ] || return 1
        end_worker $manager
    done
}

the_watchdog_is_fed() {
    rm -f "$out/notify"
    start_manager "$out/notify" &&
        NOTIFY_SOCKET=$out/notify WATCHDOG_USEC=100000 start_service || return 1
    becomes fed 6 && end_service TERM || return 1
    # The time is that of another process, or none.
    for words in "WATCHDOG_USEC=100000 WATCHDOG_PID=1" WATCHDOG_USEC=1s WATCHDOG_USEC=-1 WATCHDOG_USEC= \
        WATCHDOG_USEC=1999 WATCHDOG_USEC=99999999999999999999999 "WATCHDOG_USEC=100000 WATCHDOG_PID=x"; do
        : >"$out/heard"
        last_socket=
        env $words NOTIFY_SOCKET="$out/notify" "$CPUBIND" service "$conf" --root "$host" \
            2>"$out/service.log" &
        service=$!
        becomes heard '^READY=1$' && sleep 0.3 && ! grep WATCHDOG "$out/heard" &&
            end_service TERM || return 1
    done
    end_worker $manager
}

fed() { # times
    [ "$(grep -c '^WATCHDOG=1$' "$out/heard")" -ge "$1" ]
}

# A manager that is not there, or is full, costs nothing.
a_wrong_manager_is_no_fault() {
    long=/$(printf 'a%.0s' $(seq 120))
    for address in vsock:2:1234 @ "$long" /nowhere/notify; do
        NOTIFY_SOCKET=$address start_service && becomes is_on "$worker" "$a" &&
            end_service TERM || return 1
    done
    rm -f "$out/notify"
    start_manager "$out/notify" && kill -STOP $manager &&
        NOTIFY_SOCKET=$out/notify WATCHDOG_USEC=2000 start_service && sleep 1 &&
        client ask $socket 'status\n' | grep -q '"workers": 1' && end_service TERM
    result=$?
    end_worker $manager
    return $result
}

# Without events and clients it sleeps from one look to the next.
nothing_to_do_wakes_nobody() {
    kill_service
    every_setting='memory = none
watch = 600'
    settings && start_service && becomes is_on "$worker" "$a" && sleep 0.5 &&
        grep -h '^voluntary' /proc/$service/task/*/status >"$out/woken" && sleep 1.5 &&
        grep -h '^voluntary' /proc/$service/task/*/status | diff "$out/woken" -
    result=$?
    every_setting='memory = none
watch = 1'
    kill_service
    settings "textfile = $prom"
    return $result
}

# -- Requests --------------------------------------------------------------------

nonsense_is_dropped() {
    ask 'hello\n' 'status\nstatus\n' 'statusx' '\n' 'leave\n' 'leave 0 1\n' 'leave 01 1\n' 'leave 1 2 3\n' \
        'leave 2147483648 1\n' 'leave 1 18446744073709551616\n' 'adopt all\n' 'stop\n' 'place 0 1\n' \
        'place 0  1:5\n' 'place 0 1 a;b\n' 'place 0 1 2 3\n' "place - - $(printf '1%.0s' $(seq 4090))\\n" &&
        told - - - - - - - - - - - - - - - - - && logged "" && kill -0 "$service"
}

# A request comes in pieces, and each of its beginnings is none.
requests_come_in_pieces() {
    python3 - $socket <<'END' || return 1
import socket, sys, time
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
for byte in b"place - - -\n":
    client.sendall(bytes([byte]))
    time.sleep(0.01)
sys.exit(b'"devices": 0' not in client.recv(4096))
END
    ask "place - - $(printf '1:5,%.0s' $(seq 1000))\\n" && grep -q '"devices": 1' "$out/said"
}

# What each may ask for: about a process that has ended, is another one, or is not its own.
start_of() { # pid
    awk '{ print $22 }' "/proc/$1/stat"
}

what_is_asked_of_processes() {
    start=$(start_of "$worker")
    ask "leave $worker $((start + 1))\\n" "take $worker 1\\n" "leave 4000000 1\\n" "adopt $worker $start\\n" \
        "leave $worker $start\\n" "take $worker $start\\n" 'take all\n' || return 1
    cat "$out/said"
    [ "$(grep -c '"error": {' "$out/said")" = 3 ] && becomes is_on "$worker" "$a"
}

users_ask_for_less() {
    users=/run/cpubind/users.sock
    start=$(start_of "$worker")
    [ "$(stat -c %a $users) $(stat -c %a $socket)" = "666 600" ] || return 1
    CLIENT_UID=65534 client ask $users 'status\n' 'verify\n' 'alive\n' 'reload\n' 'place - - -\n' \
        'leave all\n' 'take all\n' "adopt $worker $start\n" "leave $worker $start\n" >"$out/said"
    cat "$out/said"
    [ "$(head -n 3 "$out/said" | grep -c '"error": {')" = 0 ] &&
        [ "$(tail -n 6 "$out/said" | grep -c '"error": {')" = 6 ] &&
        ! logged "are in force" >"$out/grep" &&
        is_on "$worker" "$a"
}

# The mode of the socket alone would keep another user out.
the_owners_socket_is_the_owners() {
    chmod 666 $socket && CLIENT_UID=65534 ask 'status\n' && told - && chmod 600 $socket
}

a_socket_that_others_could_have_made() {
    for wrong in "chmod 777 /run/cpubind" "chown 65534 $socket"; do
        $wrong && says 0 "" "$CPUBIND" status --json
        [ -z "$(json .service.pid)" ] || return 1
        chmod 755 /run/cpubind
        chown 0 $socket
    done
    "$CPUBIND" status --json >"$out/said" && [ "$(json .service.pid)" = "$service" ]
}

# -- Many clients ----------------------------------------------------------------

start_holding() { # user, socket, number, text
    rm -f "$out/held" "$out/go"
    mkfifo "$out/go" || return 1
    CLIENT_UID=$1 client hold "$2" "$3" "$4" <"$out/go" >"$out/held" 2>"$out/held.err" &
    holding=$!
    exec 7>"$out/go"
    becomes grep -qx ready "$out/held"
}

# Ends them; sets closed to the number of those that the service had closed.
end_holding() {
    exec 7>&-
    wait $holding
    closed=$(tail -n 1 "$out/held")
    echo "closed: $closed"
}

# More than it takes are closed; what it has taken is closed when its time is over; and meanwhile
# others are answered.
silent_clients_stall_nobody() {
    start_holding 0 $socket 56 'stat' && sleep 1 && end_holding && [ "$closed" -ge 24 ] &&
        start_holding 0 $socket 8 'verify\n' && ask 'status\n' && grep -q '"pid"' "$out/said" &&
        end_holding &&
        start_holding 0 $socket 20 '' && ask 'alive\n' 'status\n' &&
        grep -q '"ready": true' "$out/said" &&
        sleep 7 && end_holding && [ "$closed" = 20 ]
}

# Four places each; none of them is the owner's.
users_have_places_of_their_own() {
    start_holding 65534 $users 8 'stat' && sleep 1 && ask 'status\n' &&
        grep -q '"pid"' "$out/said" &&
        end_holding && [ "$closed" -ge 4 ] && becomes users_are_answered
}

users_are_answered() {
    CLIENT_UID=65534 client ask $users 'status\n' | grep -q '"pid"'
}

# The queue of the socket is full of one user's when the service gets to it.
one_user_keeps_nobody_out() {
    kill -STOP "$service"
    CLIENT_UID=65534 client hold $users 400 'stat' </dev/null >"$out/flood" 2>&1 &
    flood=$!
    becomes full_of_users && kill -CONT "$service" &&
        CLIENT_UID=65533 CLIENT_LIMIT=1 client ask $users 'status\n' | grep -q '"pid"'
    result=$?
    kill -CONT "$service"
    kill $flood
    wait $flood
    [ $result = 0 ] && becomes users_are_answered
}

full_of_users() {
    [ "$(grep -c "$users" /proc/net/unix)" -gt 40 ]
}

# A slow disk keeps the loop at work: others hear at once that it is, and a probe does not wait.
a_service_at_work_says_so() {
    kill_service
    mkdir -p "$out/slow" && echo ".tmp 0 sleep 3" >"$out/refused" && mount -t tmpfs tmpfs /sys/fs &&
        settings "textfile = /sys/fs/cpubind.prom" || return 1
    LD_PRELOAD=$programs/kernel_shim CPUBIND_REFUSED=$out/refused start_service
    : >"$out/said"
    ask 'status\n' 'alive\n' &
    becomes grep -q . "$out/said" && grep -q '^{"accepted": true} {.*"pid"' "$out/said"
    result=$?
    wait $!
    umount /sys/fs
    cat "$out/said"
    return $result
}

# -- Files -----------------------------------------------------------------------

a_file_in_place_of_the_socket_is_kept() {
    kill_service
    rm -f $socket && echo mine >$socket &&
        "$CPUBIND" service "$conf" --root "$host" 2>"$out/service.log" &
    service=$!
    becomes logged "no command can ask the service: socket: File exists" &&
        becomes is_on "$worker" "$a" &&
        [ "$(cat $socket)" = mine ] && end_service TERM && [ "$(cat $socket)" = mine ] && rm $socket
}

a_reload_moves_the_socket() {
    settings "textfile = $prom" && start_service || return 1
    was=$(stat -c %i $socket) # of settings with the same socket it stays
    ask 'reload\n' 'status\n' && grep -q '"pid"' "$out/said" &&
        [ "$(stat -c %i $socket)" = "$was" ] || return 1
    settings "textfile = $prom" "socket = $out/moved"
    ask 'reload\n' && grep -q '{"reloaded": true}$' "$out/said" && becomes test -S "$out/moved" &&
        becomes test ! -e $socket &&
        client ask "$out/moved" 'status\n' | grep -q '"pid"' && settings "textfile = $prom" &&
        client ask "$out/moved" 'reload\n' && becomes test -S $socket
}

# Each name has its help, its type and its samples, each once, and nothing that is not known.
the_textfile_follows_its_format() {
    becomes metric 'cpubind_threads{device="0000:01:00.0",place="right"} 1' && awk '
        seen[/^#/ ? $0 : $1]++ { print "twice: " $0; bad = 1 }
        /^# HELP [a-z_]+ [A-Z].*[.]$/ { named = $3; next }
        /^# TYPE [a-z_]+ (gauge|counter)$/ && $3 == named &&
            (named ~ /_total$/) == ($4 == "counter") { next }
        { name = $1; sub(/[{].*/, "", name) }
        !/^[a-z_]+([{][a-z_]+="[^"\\]*"(,[a-z_]+="[^"\\]*")*[}])? [0-9]+$/ ||
            name != named { print; bad = 1 }
        END { exit bad || NR < 20 }' "$prom" &&
        { ! command -v promtool >"$out/which" || promtool check metrics <"$prom"; }
}

a_missing_folder_is_named() {
    settings "textfile = /nowhere/at/all/a.prom" && start_service &&
        becomes logged "the textfile could not be written: folder: No such file" &&
        ask 'status\n' &&
        grep -q '"pid"' "$out/said"
}

# What damage leaves of the claims is kept, and what a service that was killed has left is removed.
damaged_claims_are_said() {
    start=$(start_of "$worker")
    kill_service
    says 0 "" "$CPUBIND" restore --all || return 1
    for text in "leave $worker $start\nhello\ntake 4712 2\n" "leave $worker $start\ntake 47" \
        "\nleave $worker $start\n"; do
        printf '%b' "$text" >/run/cpubind/service.claims && chmod 600 /run/cpubind/service.claims &&
            touch /run/cpubind/.service.claims.4711.0.tmp && start_service &&
            becomes logged "claims" &&
            stays is_on "$worker" "$before" &&
            [ ! -e /run/cpubind/.service.claims.4711.0.tmp ] || return 1
        kill_service
    done
    chmod 666 /run/cpubind/service.claims && start_service &&
        becomes logged "not all is known of which processes were let go: those are bound: claims: Operation" &&
        becomes is_on "$worker" "$a"
}

# What a file of settings must be: its owner's, of nobody else's writing, regular, short, at rest.
settings_must_be_safe() {
    good=$out/good.conf
    echo "rules = near" >"$good"
    for mode in 600 644 444; do
        chmod $mode "$good" && says 0 "" "$CPUBIND" service --check "$good" || return 1
    done
    for mode in 664 646 666; do
        chmod $mode "$good" &&
            says 2 "others than its owner may write" "$CPUBIND" service --check "$good" || return 1
    done
    chmod 644 "$good" && chown 4711 "$good" && says 2 "" "$CPUBIND" service --check "$good" &&
        chown 0 "$good" &&
        says 3 "is no regular file" "$CPUBIND" service --check "$out" && mkfifo "$out/fifo.conf" &&
        says 3 "is no regular file" "$CPUBIND" service --check "$out/fifo.conf" &&
        says 3 "" "$CPUBIND" service --check "$out/none" &&
        head -c 2000000 /dev/zero | tr '\0' '#' >"$out/long.conf" &&
        says 3 "" "$CPUBIND" service --check "$out/long.conf" || return 1
    while :; do printf r 1<>"$good"; done & # its first letter
    writer=$!
    becomes says 3 "" "$CPUBIND" service --check "$good"
    result=$?
    end_worker $writer
    return $result
}

# A command that ends the service says so only when it has ended.
has_ended() {
    [ ! -e "/proc/$service/status" ] || grep -q '^State:.Z' "/proc/$service/status"
}

its_end_is_done_or_said() {
    settings
    for call in pidfd_open:1 pidfd_send_signal:1 pidfd_send_signal:2 kill:1 poll:1 poll:2 recv:1 \
        connect:1 openat:9; do
        start_service && becomes is_on "$worker" "$a" || return 1
        CPUBIND_FAULT=$call:EIO "$CPUBIND" restore --all --service >"$out/said" 2>&1
        result=$?
        [ $result -ne 0 ] || has_ended || {
            echo "$call: it lives"
            return 1
        }
        [ -s "$out/said" ] || return 1
    done
}

start_on 5
settings "textfile = $prom"
check "a manager hears each state, at a path and at an abstract name" a_manager_hears_each_state
check "the watchdog is fed in time, where there is one" the_watchdog_is_fed
check "a manager that is not there or full is no fault" a_wrong_manager_is_no_fault
check "nothing to do wakes nobody" nothing_to_do_wakes_nobody
start_service && becomes is_on "$worker" "$a" || exit 1
check "a client that talks nonsense is dropped" nonsense_is_dropped
check "a request comes in pieces, and is of any length" requests_come_in_pieces
check "what is asked of a process is about that process" what_is_asked_of_processes
check "other users ask for less" users_ask_for_less
check "the socket of the owner is for the owner" the_owners_socket_is_the_owners
check "users have places of their own" users_have_places_of_their_own
check "one user who asks for hundreds keeps no other out" one_user_keeps_nobody_out
check "a socket that others could have made is not believed" a_socket_that_others_could_have_made
check "silent clients and those that do not read stall nobody" silent_clients_stall_nobody
check "a service at work says so, and a probe does not wait" a_service_at_work_says_so
check "a file in place of the socket is said, and kept" a_file_in_place_of_the_socket_is_kept
check "a reload moves the socket" a_reload_moves_the_socket
check "the textfile follows its format" the_textfile_follows_its_format
check "a folder that is missing is named" a_missing_folder_is_named
check "damage of what was let go is said, and the rest is kept" damaged_claims_are_said
check "a file of settings that others may write is refused" settings_must_be_safe
check "the end of the service is done, or is said not to be" its_end_is_done_or_said
kill_service
finish
