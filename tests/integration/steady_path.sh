#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# A small message takes no allocation and no system call, on either side.

. "$(dirname "$0")/lib.sh"

[[ $ODRC_SANITIZER == no ]] || skip "a sanitizer allocates and asks the kernel on its own account"
[[ $device == soft0 ]] || skip "$device may be driven through the kernel"
"$ODRC_BUILD/steady_path" "$device"
