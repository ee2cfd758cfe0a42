#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Where a remote shell is expected: runs the command on this host, whichever was asked for. Daemons
# of Open MPI that share a host trip over each other's files: each has a folder of its own.

export TMPDIR=${TMPDIR:-/tmp}/$1
mkdir -p "$TMPDIR"
shift
exec bash -c "$*"
