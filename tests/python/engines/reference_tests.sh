#!/bin/sh
# runs: by make
# reference_tests.sh - run vllm-ascend's tests of its CPU binding with bind_cpus of cpubind
# SPDX-License-Identifier: MIT
#
#   tests/python/engines/reference_tests.sh CHECKOUT [reference]
#
# CHECKOUT is a checkout of vllm-ascend at 182b75ea or near. See reference_tests.py. Not a part
# of make check: it needs that checkout.
PYTHONPATH=adapters/python${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1 \
    exec python3 tests/python/engines/reference_tests.py "$@" 2>/dev/null
