#!/bin/sh
# new_folder.sh - a folder of a host is there as a whole or not at all, and replaces nothing
# SPDX-License-Identifier: MIT
# runs: check-all
#
# That every call may fail, and the command be killed at each, is in tests/faults.
. tests/scenes/lib.sh
mkdir "$out/d" && cd "$out/d" || exit 1
cpubind=$CPUBIND
db=$BUILD/fixtures.db

export_to() { # target, argument ...
    exported=$1
    shift
    "$cpubind" fixture export a2-holes "$exported" --db "$db" --quiet "$@"
}

# Calls a function in an empty folder.
anew() { # function, argument ...
    find . -mindepth 1 -delete && "$@"
}

is_alone() { # no other name is left
    [ "$(ls -A)" = new ] && return 0
    ls -A
    return 1
}

is_new() {
    [ -f new/cmd/npu-smi-info.txt ] && grep -q '^name: a2-holes' new/host.txt && return 0
    find .
    return 1
}

# -- Written ---------------------------------------------------------------------

is_written() { # path
    mkdir sub && says 0 "" export_to "$1" && is_new && rmdir sub && is_alone
}
check "a folder is written" anew is_written new
for path in ./new new/// sub/../new sub//..//new/; do
    check "by another path: $path" anew is_written $path
done

has_modes() { # umask
    umask 027
    export_to new
    umask 022
    [ "$(stat -c %a new) $(stat -c %a new/cmd) $(stat -c %a new/host.txt)" = "750 750 640" ]
}
check "its modes follow the umask" anew has_modes

passes_leftovers() {
    for number in $(seq 0 3000); do : >".new.$number.0.tmp"; done
    says 0 "" export_to new && is_new
}
check "what a killed command has left does no harm" anew passes_leftovers

replaces_empty() { # argument ...
    mkdir new && says 0 "" export_to new "$@" && is_new && is_alone
}
check "an empty folder is replaced" anew replaces_empty

# -- What is there stays ---------------------------------------------------------

refuses_to_replace() { # commands that make it, words
    mkdir sub && eval "$1" && tar -cf ../before.tar . &&
        says 1 "$2" export_to new && says 1 "$2" export_to new --replace &&
        tar -cf ../after.tar . && cmp ../before.tar ../after.tar
}
there="is there already"
for made in "echo mine >new" "ln -s nothing new" "ln -s sub new" "mkdir new; echo mine >new/file" \
    "mkdir new; echo mine >new/.hidden" "mkdir -p new/sub; echo mine >new/sub/host.txt" \
    "mkdir -p new/host.txt" "mkdir new; ln -s /etc/passwd new/host.txt"; do
    check "it is no snapshot: $made" anew refuses_to_replace "$made" "$there"
done

refuses_a_host() {
    export_to new && echo old >>new/host.txt && says 1 "NAME.host" export_to new &&
        says 1 "$there" export_to new --replace && grep -q old new/host.txt && is_alone
}
check "a folder of a host is replaced by nobody" anew refuses_a_host

# -- Where there is no way -------------------------------------------------------

for path in "" / // . .. ./ new/. new/.. ../ /.; do
    check "a folder without a name of its own: \"$path\"" says 3 "cannot be the name of a folder" \
        export_to "$path"
done
check "no parent" says 4 "No such file" export_to nothing/new
find . -mindepth 1 -delete
echo x >file
check "a file as a parent" says 4 "Not a directory" export_to file/new
check "a name that is too long" says 4 "File name too long" export_to "$(printf 'n%.0s' $(seq 256))"
check "no room" says 4 "File too large" sh -c 'ulimit -f 1; trap "" XFSZ; exec "$@"' sh "$CPUBIND" \
    fixture export a2-holes full --db "$db" --quiet
nothing_is_left() {
    ls -A
    [ "$(ls -A)" = file ]
}
check "and nothing is left" nothing_is_left

# The words of $user are split on purpose.
# shellcheck disable=SC2086
no_right() {
    chmod 755 . && says 4 "Permission denied" $user "$CPUBIND" fixture export a2-holes other --db "$db"
}
check_user "no right" no_right
finish
