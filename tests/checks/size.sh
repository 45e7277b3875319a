#!/bin/sh
# size.sh - no room is larger than its ceiling, in lines of code; prints TAP
# runs: check
#
#   tests/checks/size.sh      from the top folder
#
# Lines of code as cloc counts them, without comments and blanks, of C, headers, C++, Python and
# shell. A room may not have more than `most`; `goal` is what it is to come down to. To raise a
# number is a decision, which the commit explains, with what was taken out for it.
export LC_ALL=C
BUILD=${BUILD:-build}
out=$BUILD/out/size
mkdir -p "$out"
. tests/support/tap.sh

if ! command -v cloc >/dev/null 2>&1; then
    skip_all "no cloc"
fi

# room                 most    goal
rooms='
cpubind.h              1622    1600
adapters/text           3629    1700
adapters/model          3925    1400
adapters/ascend         5584    2500
adapters/pci            1423    1300
adapters/plan           4170    1200
adapters/linux         12736    9500
adapters/host           4254    3300
adapters/service        1793    1500
adapters/sqlite          953     600
adapters/archive         109       0
adapters/words          1666    5600
adapters/api            9677    1000
adapters/doctor         3113    2000
adapters/measure        2009    1700
adapters/cli           13103    7500
adapters/nri            1198    1000
adapters/slurm           261     260
adapters/python          809     700
adapters/cpp             463     440
adapters/packaging       773     400
fuzz                     400     400
tests                  40701   30000'

cloc --quiet --csv --by-file --include-lang='C,C/C++ Header,C++,Python,Bourne Shell,Bourne Again Shell' \
    cpubind.h adapters tests fuzz >"$out/lines" || exit 1

lines_of() { # room
    awk -F , -v room="$1" '$2 == room || index($2, room "/") == 1 { sum += $5 }
        END { print sum + 0 }' "$out/lines"
}

is_small() { # lines, most
    echo "$1 lines of code, where $2 are allowed"
    [ "$1" -le "$2" ]
}

echo "$rooms" | sed '/^$/d' >"$out/rooms"
while read -r room most goal; do
    lines=$(lines_of "$room")
    check "$room: $lines lines, at most $most, goal $goal" is_small "$lines" "$most"
done <"$out/rooms"

# The files that HOUSE.md names as the binder, in the order of reading.
core='kernel/(files|bytes|process|cpu_sets)|bind/(threads|knob|lines|record.*|host.*|placement)'
core="$core|bind/(apply.*|restore.*|verify|watch|report|binding|process_lock|bind)"
binder_is_small() {
    lines=$(awk -F , -v core="^adapters/linux/($core)\\.[ch]$" '
        $2 ~ core && $2 !~ /irqbalance/ { sum += $5 }
        END { print sum + 0 }' "$out/lines")
    is_small "$lines" 6684
}
check "the binder is small: goal 6000" binder_is_small

every_room_has_a_row() {
    for folder in adapters/*/; do
        folder=${folder%/}
        [ "$(lines_of "$folder")" -eq 0 ] || grep -q "^$folder " "$out/rooms" ||
            { echo "no ceiling for $folder"; return 1; }
    done
}
check "every folder of adapters has a ceiling" every_room_has_a_row

makefile_is_short() {
    wc -l Makefile
    [ "$(wc -l <Makefile)" -le 250 ]
}
check "the Makefile has at most 250 lines" makefile_is_short
finish
