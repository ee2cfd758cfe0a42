#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Where a remote shell is expected: runs the command on this host, whichever was asked for.

shift # the host
exec bash -c "$*"
