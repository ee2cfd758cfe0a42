#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Debian's Open MPI through its OFI MTL, and through its OFI BTL: NetPIPE and HPC Challenge, with the
# profile as the proof that it was us who moved their messages.

. "$(dirname "$0")/lib.sh"
. "$here/hpcc.sh"
. "$here/mpirun.sh"
need mpirun NPopenmpi hpcc
foreign true

netpipe() { # NAME OPTION...
    export FI_ODRC_PROFILE=$scratch/netpipe-$1
    on_one_host 2 "${@:2}" env "${foreign_environment[@]}" \
        NPopenmpi -u 100000 -n 5 -o "$scratch/np.$1" 2>&1 | tail -n 5
    [[ -s $scratch/np.$1 ]] || fail "NetPIPE has no results"
}

hpc_challenge() { # NAME RANKS OPTION...
    export FI_ODRC_PROFILE=$scratch/hpcc-$1
    mkdir "$scratch/run-$1"
    cd "$scratch/run-$1"
    hpcc_input "$2" 100 >hpccinf.txt
    on_one_host "$2" "${@:3}" env "${foreign_environment[@]}" hpcc
    hpcc_passed hpccoutf.txt || fail "hpcc did not pass: $(tail -n 100 hpccoutf.txt)"
    cd "$here"
}

netpipe mtl "${over_mtl[@]}"
went_through_us "$scratch/netpipe-mtl" 2 messages_sent
netpipe btl "${over_btl[@]}"
went_through_us "$scratch/netpipe-btl" 2 messages_sent rma_operations

hpc_challenge mtl2 2 "${over_mtl[@]}"
went_through_us "$scratch/hpcc-mtl2" 2 messages_sent
if [[ $device == soft0 ]]; then # others may be emulated
    hpc_challenge btl2 2 "${over_btl[@]}"
    went_through_us "$scratch/hpcc-btl2" 2 messages_sent rma_operations
    hpc_challenge mtl4 4 "${over_mtl[@]}"
    went_through_us "$scratch/hpcc-mtl4" 4 messages_sent
fi
