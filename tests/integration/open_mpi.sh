#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Debian's Open MPI through its OFI MTL: NetPIPE and HPC Challenge, with the profile as the proof
# that it was us who moved their messages.

. "$(dirname "$0")/lib.sh"
. "$here/hpcc.sh"
need mpirun NPopenmpi hpcc

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
over_odrc() { # RANKS PROGRAM...
    local ranks=$1
    shift
    mpirun -np "$ranks" --oversubscribe --mca pml cm --mca mtl ofi \
        --mca mtl_ofi_provider_include odrc env "${foreign_environment[@]}" "$@"
}
foreign true

went_through_us() { # PROFILE RANKS
    [[ $(cat "$1".* | grep -c "\"device\":\"$device\"") == "$2" ]] || fail "not $2 endpoints of ours"
    [[ $(profile_sum "$1" messages_sent) -gt 100 ]] || fail "few messages went through us"
    echo "through odrc: $(profile_sum "$1" messages_sent) messages, $(profile_sum "$1" bytes_sent) bytes"
}

export FI_ODRC_PROFILE=$scratch/netpipe
over_odrc 2 NPopenmpi -u 100000 -n 20 -o "$scratch/np.out" 2>&1 | tail -n 5
[[ -s $scratch/np.out ]] || fail "NetPIPE has no results"
went_through_us "$scratch/netpipe" 2

for ranks in 2 4; do
    [[ $ranks == 2 || $device == soft0 ]] || continue
    export FI_ODRC_PROFILE=$scratch/hpcc$ranks
    mkdir "$scratch/run$ranks"
    cd "$scratch/run$ranks"
    hpcc_input $ranks 100 >hpccinf.txt
    over_odrc $ranks hpcc
    hpcc_passed hpccoutf.txt || fail "hpcc did not pass: $(tail -n 100 hpccoutf.txt)"
    went_through_us "$scratch/hpcc$ranks" $ranks
    cd "$here"
done
