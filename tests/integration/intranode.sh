#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Two endpoints of one host in a domain of hardware, in an emulated machine: they meet on soft0, with
# all that they do, unless one of them is not to; and then on the device.

. "$(dirname "$0")/lib.sh"

if [[ ! ${RDMA_VM_NODE-} ]]; then
    [[ $device == soft0 ]] || skip "it makes its own device"
    [[ $ODRC_SANITIZER == no ]] || skip "emulated and sanitized is too slow"
    unset FI_ODRC_DEVICE ODRC_TEST_DOMAIN
    exec "$here/../rdma_vm/run" --timeout 1200 --env ODRC_BUILD --env ODRC_SANITIZER \
        "$here/intranode.sh"
fi

export FI_ODRC_DEVICE=rxe0 ODRC_TEST_DOMAIN=rxe0

declare -A count

# Runs it, and says what its endpoints counted.
counted() { # NAME COMMAND...
    "${@:2}" >"$scratch/log-$1" 2>&1 || { tail -n 40 "$scratch/log-$1"; fail "$1"; }
    local counter
    for counter in connections_made connections_soft messages_sent rma_operations atomics; do
        count[$counter]=$(profile_sum "$scratch/$1" "$counter")
    done
    made=${count[connections_made]} soft=${count[connections_soft]}
    echo "$1: $made connections, $soft of them on soft0; ${count[messages_sent]} messages," \
        "${count[rma_operations]} reads and writes, ${count[atomics]} atomics"
}

run() { # NAME WHERE COMMAND...
    counted "$1" env FI_ODRC_INTRANODE="$2" FI_ODRC_PROFILE="$scratch/$1" "${@:3}"
}

# Each half with a setting of its own.
pair() { # NAME WHERE WHERE
    local listener=0
    FI_ODRC_INTRANODE=$2 FI_ODRC_PROFILE=$scratch/$1 "$ODRC_BUILD/odrc_traffic" -d rxe0 \
        --listen -n 4 -m 500 &
    FI_ODRC_INTRANODE=$3 FI_ODRC_PROFILE=$scratch/$1 "$ODRC_BUILD/odrc_traffic" -d rxe0 \
        --connect 10.0.0.1 -n 4 -m 500 || return
    wait $! || listener=$?
    return $listener
}

run traffic soft "$ODRC_BUILD/odrc_traffic" -d rxe0 -m 2000
((made > 0 && soft == made)) || fail "not all are on soft0"

run mixture auto "$ODRC_BUILD/odrc_mixture" -d rxe0 -o 200
((count[rma_operations] > 0 && soft == made)) || fail "not all are on soft0"

run device device "$ODRC_BUILD/odrc_traffic" -d rxe0 -m 500
((made > 0 && soft == 0)) || fail "some are on soft0"

for wheres in "auto device" "device soft"; do
    # shellcheck disable=SC2086 # they are two words
    counted "${wheres/ /_and_}" pair "${wheres/ /_and_}" $wheres
    ((made > 0 && made > soft)) || fail "all are on soft0"
done

[[ -x $ODRC_BUILD/contract_tests ]] || exit 0
# Everything that names memory, whose keys are different ones there, and its order. (What waits for
# the dead, and random mixtures, take long here; the mixture above has the like.)
run contract auto "$ODRC_BUILD/contract_tests" \
    -sf='*test_rma*,*test_atomic*,*test_memory*,*test_messages*,*test_orders*,*test_pieces*' \
    -tce='a descriptor of other memory*,*killed*,*any mixture*' # soft0 does not look at the first
((soft > made / 2 && count[rma_operations] > 0 && count[atomics] > 0)) || fail "few are on soft0"
