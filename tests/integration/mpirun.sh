# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Sourced: programs under Open MPI, over odrc.
#
# shellcheck shell=bash disable=SC2034,SC2154 # what is set here, the tests use; lib.sh sets the rest

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# Messages go through the MTL; or through the BTL, as all between two hosts, long ones by RMA; or
# through the MTL, with one-sided communication through the BTL.
odrc=(--mca opal_common_ofi_provider_include odrc)
over_mtl=("${odrc[@]}" --mca pml cm --mca mtl ofi)
over_btl=("${odrc[@]}" --mca pml ob1 --mca btl "ofi,self" --mca btl_ofi_mode 2)
over_both=("${over_mtl[@]}" --mca osc rdma --mca btl "ofi,self")

# A job that hangs is ended, and says so.
on_one_host() { # RANKS OPTION... PROGRAM...
    mpirun --timeout 300 -np "$1" --oversubscribe "${@:2}"
}

# Between processes of one host Open MPI's one-sided communication uses the memory they share. Here
# each rank is told that it has a host to itself, and the network is all there is. It would not know
# that it has to share the processor.
on_hosts_of_their_own() { # RANKS OPTION... PROGRAM...
    TMPDIR=$scratch mpirun --host "$(seq -s, -f 'host%g' "$1")" --mca plm_rsh_agent "$here/here_instead.sh" \
        --mca mpi_yield_when_idle 1 "${@:2}"
}

went_through_us() { # PROFILE ENDPOINTS COUNTER...
    local counter sum
    [[ $(cat "$1".* | grep -c "\"device\":\"$device\"") == "$2" ]] || fail "not $2 endpoints of ours"
    for counter in "${@:3}"; do
        sum=$(profile_sum "$1" "$counter")
        ((sum > 100)) || fail "few went through us: $sum $counter"
        echo "through odrc: $sum $counter"
    done
}
