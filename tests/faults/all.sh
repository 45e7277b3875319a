#!/bin/sh
# all.sh - each use of each system call of the command fails, in every scene; prints TAP
# SPDX-License-Identifier: MIT
# runs: by hand
exec tests/faults/sample.sh --all
