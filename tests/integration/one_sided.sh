#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# MPI's one-sided communication (one_sided/) under Debian's Open MPI, through its OFI BTL.

. "$(dirname "$0")/lib.sh"
. "$here/mpirun.sh"
need mpirun
[[ -x $ODRC_BUILD/one_sided ]] || skip "the test program was not built: Open MPI or doctest is missing"
foreign true
program=(env "${foreign_environment[@]}" "$ODRC_BUILD/one_sided" --minimal --no-colors)

for ranks in 2 4; do
    [[ $ranks == 2 || $device == soft0 ]] || continue
    # Each rank has an endpoint for messages, and one for what is one-sided.
    export FI_ODRC_PROFILE=$scratch/host$ranks
    on_one_host $ranks "${over_both[@]}" "${program[@]}"
    went_through_us "$FI_ODRC_PROFILE" $((2 * ranks)) messages_sent rma_operations
    export FI_ODRC_PROFILE=$scratch/hosts$ranks
    on_hosts_of_their_own $ranks "${over_both[@]}" "${program[@]}"
    went_through_us "$FI_ODRC_PROFILE" $((2 * ranks)) messages_sent rma_operations atomics
done
