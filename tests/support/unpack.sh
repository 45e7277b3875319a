#!/bin/sh
# unpack.sh - a function that writes the fixture hosts as folders, which tests change
# SPDX-License-Identifier: MIT

unpack_hosts() { # new folder
    mkdir "$1" || return 1
    for file in fixtures/hosts/*.host; do
        "$CPUBIND" fixture export "$(basename "$file" .host)" "$1/$(basename "$file" .host)" --quiet ||
            return 1
    done
}
