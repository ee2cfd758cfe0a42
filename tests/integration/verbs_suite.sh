#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# One suite of plain verbs for both kinds of device: the kernel's is found by libibverbs, soft0 comes
# with the preload library.

. "$(dirname "$0")/lib.sh"

suite=$ODRC_BUILD/verbs_suite
[[ -x $suite ]] || skip "the verbs suite was not built (no doctest)"
export ODRC_TEST_DOMAIN=$device

preloaded=()
if [[ $device == soft0 ]]; then
    preloaded=("$ODRC_BUILD/.libs/libodrc-verbs.so")
    # This sanitizer's library must come before all others.
    [[ $ODRC_SANITIZER != *address* ]] ||
        preloaded=("$ODRC_SANITIZER_LIBRARIES" "${preloaded[@]}")
fi
# What it asks for in vain, to see it refused, is no error to report.
env LD_PRELOAD="${preloaded[*]}" ASAN_OPTIONS=allocator_may_return_null=1 "$suite"
