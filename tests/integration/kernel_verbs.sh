#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# The tests of this folder on the kernel's verbs, in an emulated machine.

. "$(dirname "$0")/lib.sh"

[[ $ODRC_SANITIZER == no ]] || skip "emulated and sanitized is too slow"
tests=(
    verbs_suite fi_info fi_pingpong traffic mixture more connections registrations bad_setup contract
    killed open_mpi one_sided host_reliability ladder
)
# The set that fabtests calls quick.
[[ -z ${FABTESTS-} ]] || tests+=(fabtests)
# shellcheck disable=SC2016 # for the shell inside
"$here/../rdma_vm/run" --timeout 2400 --env ODRC_BUILD --env ODRC_SANITIZER --env FABTESTS \
    bash -c '
    export ODRC_TEST_DOMAIN=rxe0 FI_ODRC_INTRANODE=device
    cd "$1"
    shift
    failed=0
    for test; do
        echo "---- $test"
        begin=$SECONDS
        "./$test.sh" || { echo "**** $test failed ($?)"; failed=1; }
        echo "($((SECONDS - begin)) s)"
    done
    exit $failed
' - "$here" "${tests[@]}"
