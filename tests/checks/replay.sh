#!/bin/sh
# replay.sh - each fixture host has the plans that are kept with it; prints TAP
# runs: check
exec "${BUILD:-build}/cpubind" fixture replay --db "${BUILD:-build}/fixtures.db" --format tap
