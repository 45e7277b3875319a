#!/bin/sh
# records.sh - records of bindings: where they may be, damaged ones, those of other versions
# SPDX-License-Identifier: MIT
# runs: check
. tests/scenes/lib.sh
use_npus

# -- The place -------------------------------------------------------------------

# A file of another user must not be changed.
is_kept() { # file
    [ "$(cat "$1")" = kept ]
}

folder_is_no_link() {
    mkdir "$out/target" && ln -s "$out/target" /run/cpubind &&
        refuses 4 "nothing was" apply --device npu0 && rm /run/cpubind &&
        [ -z "$(ls -A "$out/target")" ] && all_is_free
}
rm -rf /run/cpubind
check_worker "a folder of records that is a link is refused" folder_is_no_link

folder_is_ours_alone() {
    for way in "chmod 777" "chmod 775" "chown 65534"; do
        rm -rf /run/cpubind && mkdir /run/cpubind && $way /run/cpubind &&
            refuses 4 "nothing was" apply --device npu0 && no_record &&
            refuses 3 "the records cannot be read: folder: " "$CPUBIND" restore --all ||
            return 1
    done
    rm -r /run/cpubind
    echo kept >/run/cpubind && refuses 4 "nothing was" apply --device npu0 && is_kept /run/cpubind &&
        rm /run/cpubind && all_is_free
}
check_worker "a folder of records that others may write to is refused" folder_is_ours_alone

# A link, a FIFO or a folder in place of a file in /run/cpubind: the command does not follow it,
# does not wait for it, and does not use it.
is_in_the_way() { # name, status, words
    mkdir -p /run/cpubind && echo kept >"$out/kept" || return 1
    for way in "ln -s $out/kept" "ln -s $out/nothing" mkfifo mkdir; do
        $way "/run/cpubind/$1" && refuses "$2" "$3" apply --device npu0 && is_kept "$out/kept" &&
            [ ! -e "$out/nothing" ] && is_on "$worker" "$all" || return 1
        rm -r "/run/cpubind/$1"
    done
    echo "{}" >"/run/cpubind/$1" && chown 65534 "/run/cpubind/$1" &&
        refuses "$2" "$3" apply --device npu0 && is_on "$worker" "$all" && rm "/run/cpubind/$1" &&
        apply --device npu0 && restore && all_is_free
}

record_is_a_file_of_ours() {
    is_in_the_way "$worker.record" 3 "the record of process $worker cannot be read" &&
        apply --device npu0 && chmod 666 "$state" && refuses 3 "writable by nobody else" restore &&
        refuses 3 "writable by nobody else: $state" verify && is_on "$worker" $main &&
        chmod 600 "$state" && says 0 "put back" restore && all_is_free
}
check_worker "a record that is no file of the user is refused" record_is_a_file_of_ours

lock_is_a_file_of_ours() {
    is_in_the_way "$worker.record.lock" 4 "the changes could not be recorded: lock: "
}
check_worker "a lock that is no file of the user is refused" lock_is_a_file_of_ours

record_without_room() {
    folder=/run/cpubind
    mkdir -p $folder && mount -t tmpfs -o ro,mode=755 tmpfs $folder &&
        refuses 4 "lock: Read-only file system; its file system must be \
writable and have room: $folder/$worker.record" apply --device npu0
    room_status=$?
    umount $folder && mount -t tmpfs -o size=4k,mode=755 tmpfs $folder || return 1
    head -c 4096 /dev/zero >$folder/zeros
    refuses 4 "No space left on device" apply --device npu0 && [ "$(ls -A $folder)" = zeros ]
    full_status=$?
    umount $folder && [ $room_status = 0 ] && [ $full_status = 0 ] && all_is_free
}
check_worker "a full or read-only file system is named, and nothing is changed" \
    record_without_room

# Root's records are in one place.
odd_environment() {
    mkdir "$out/odd" && cd "$out/odd" || return 1
    for folder in "$out/odd" /proc/self /nowhere "" "../.." "$(printf 'a\nb')"; do
        (
            for name in HOME TMPDIR XDG_RUNTIME_DIR XDG_STATE_HOME XDG_CONFIG_HOME \
                RUNTIME_DIRECTORY; do
                export "$name=$folder"
            done
            PATH="$folder:$PATH" apply --device npu0 --quiet
        ) && [ "$(ls -A /run/cpubind)" = "$worker.record" ] && [ -z "$(ls -A "$out/odd")" ] &&
            restore --quiet && no_record || break
    done
    cd "$OLDPWD" && all_is_free
}
check_worker "root writes nothing to paths from the environment" odd_environment

# -- The place of an ordinary user -------------------------------------------------

# Starts a worker of the user, and sets the words that bind it, in an environment.
# shellcheck disable=SC2086
of_user() { # NAME=VALUE ... command ...
    as_user="$user env -u XDG_RUNTIME_DIR -u TMPDIR"
    while [ "${1%%=*}" != "$1" ]; do
        as_user="$as_user $1" && shift
    done
    command=$1 && shift
    $as_user "$CPUBIND" "$command" --pid "$worker" "$@"
}

start_users_worker() {
    as=$user
    start_sleeper
    as=
    worker=$sleeper
}

binds_in() { # folder, NAME=VALUE ...
    place=$1 && shift
    says 0 "npu0" of_user "$@" apply $host --device npu0 --memory none && [ -e "$place/$worker.record" ] &&
        says 0 "as it should be" of_user "$@" verify && says 0 "put back" of_user "$@" restore &&
        [ ! -e "$place/$worker.record" ]
}

# In a session, in one that su(1) has left another user's variables, and in a container.
# shellcheck disable=SC2086
places_of_a_user() {
    own=/tmp/own && mkdir -p $own /tmp/roots && chown 65534 $own && start_users_worker &&
        binds_in $own/cpubind XDG_RUNTIME_DIR=$own TMPDIR=/tmp/roots &&
        binds_in /run/user/65534/cpubind && binds_in /run/user/65534/cpubind \
            XDG_RUNTIME_DIR=/tmp/roots && rm -r /run/user/65534 &&
        binds_in /tmp/cpubind-65534 XDG_RUNTIME_DIR=/run/user/65534 TMPDIR=relative &&
        [ "$(stat -c %a:%u /tmp/cpubind-65534)" = 700:65534 ] &&
        binds_in $own/cpubind-65534 TMPDIR=$own
}
check_user "an ordinary user has a place for records" places_of_a_user

# Somebody else was there first, or may come later.
# shellcheck disable=SC2086
squatted_place() {
    place=/tmp/cpubind-65534 && rm -rf $place /run/user/65534 && start_users_worker || return 1
    for way in "mkdir -m 700" "ln -s $out" "touch" "install -d -o 65534 -m 777"; do
        $way $place || return 1
        refuses 4 "its folder must exist, be owned by you and writable by \
nobody else: $place/$worker.record" of_user apply $host --device npu0 --memory none && rm -rf $place || return 1
    done
    mkdir -m 777 /tmp/open && refuses 4 "nobody else: /tmp/open/cpubind-65534/" of_user \
        TMPDIR=/tmp/open apply $host --device npu0 --memory none && [ -z "$(ls /tmp/open)" ]
}
check_user "a place that is not the user's alone is refused and named" squatted_place

# -- What is in them -------------------------------------------------------------

# The command names the line of a damaged record, as text and as JSON.
says_line() { # line, text of the record
    printf '%s\n' "$2" >"$state"
    for command in "apply --device npu0" verify restore; do
        refuses 3 "is damaged: line $1; if nothing" $command || return 1
    done
    says 3 "" restore --json && json .error.text | grep -qF "is damaged: line $1; if nothing"
}

damaged_record() {
    apply --device npu0 && cp "$state" "$out/good" || return 1
    lines=$(($(wc -l <"$state")))
    was=$(grep -n '^before ' "$state" | cut -d: -f1)
    thread=$(grep -n -m 1 '^thread ' "$state" | cut -d: -f1)
    says_line "$was: a valid line \"before\" belongs there" "$(sed 's/^before .*/before x/' "$out/good")" &&
        says_line "$was: a valid line \"before\" belongs there" "$(grep -v '^before ' "$out/good")" &&
        says_line "$thread: it begins with no word of a record" "$(sed 's/^thread/&s/' "$out/good")" &&
        says_line "$lines: a valid line \"sum\" belongs there" "$(sed 's/^npu 0/npu 1/' "$out/good")" &&
        says_line "1: a valid line \"cpubind-record\" belongs there" "kept" || return 1
    for text in "" "cpubind-record" "[]" "kept" "$(sed 's/^thread/&s/' "$out/good")"; do
        printf %s "$text" >"$state"
        for command in "apply --device npu0" verify restore; do
            refuses 3 "the record of process $worker is damaged" $command || return 1
        done
        [ "$(cat "$state")" = "$text" ] && is_on "$worker" $main || return 1
    done
    cp "$out/good" "$state" && says 0 "put back" restore && all_is_free
}
check_worker "a damaged record is refused" damaged_record

# A record of a form that is not known is left alone, with the form and the version named.
record_of_a_later_version() {
    apply --device npu0 && cp "$state" "$out/good" || return 1
    for text in "cpubind-record 5 0.2.0" "cpubind-record 8 9.9.9"; do
        echo "$text" >"$state"
        form=$(echo "$text" | cut -d' ' -f2)
        words="has form $form, which cpubind ${text##* } wrote"
        refuses 3 "$words" apply --device npu0 && refuses 3 "$words" verify &&
            refuses 3 "$words; this one, cpubind " restore &&
            said "run the restore of that one or of a later one" &&
            [ "$(cat "$state")" = "$text" ] && is_on "$worker" $main || return 1
    done
    cp "$out/good" "$state" && says 0 "put back" restore && all_is_free
}
check_worker "a record of a form that is not known is left alone and named" \
    record_of_a_later_version

# The advice of the messages: a damaged record of the host is removed, one of a later form is not.
damaged_host_record_is_named() {
    mkdir -p /run/cpubind && echo damaged >/run/cpubind/host.record &&
        says 4 "/run/cpubind/host.record, is damaged; if no interrupt is to be put back, remove it" \
            "$CPUBIND" restore --ended && echo cpubind-host 7 9.9.9 >/run/cpubind/host.record &&
        says 4 "/run/cpubind/host.record, has form 7, which cpubind 9.9.9 wrote" \
            "$CPUBIND" restore --ended && rm /run/cpubind/host.record &&
        says 0 "nothing is on record of a process that has ended" "$CPUBIND" restore --ended
}
check "a damaged record of the host is named, with what to do" damaged_host_record_is_named
finish
