#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Jobs of four processes on two emulated hosts, two on each, started by mpirun from the first one by
# ssh: our own MPI, with all that its contract has, and Open MPI over our MTL; random messages of both.

. "$(dirname "$0")/lib.sh"
. "$here/mpirun.sh"
need mpirun ssh sshd ssh-keygen
keys=${keys-$scratch}
[[ -x $ODRC_BUILD/our_mpi_traffic ]] || skip "our MPI was not built (no PMIx)"

if [[ ! ${RDMA_VM_PEER-} ]]; then
    [[ $device == soft0 ]] || skip "it makes its own devices"
    [[ $ODRC_SANITIZER == no ]] || skip "emulated and sanitized is too slow"
    unset FI_ODRC_DEVICE
    ssh-keygen -q -t ed25519 -N '' -f "$scratch/key"
    keys=$keys "$here/../rdma_vm/run" --pair --timeout 900 --env ODRC_BUILD \
        --env ODRC_SANITIZER --env keys --env FI_PROVIDER_PATH "$here/two_hosts_mpi.sh"
    exit
fi

# Both hosts have the same files, which each writes for itself.
agent="ssh -i $keys/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=error"
secure_shell() { # COMMAND...
    $agent -n "$@"
}
over=/run/two_hosts_mpi.over

if [[ $RDMA_VM_NODE == 2 ]]; then
    mkdir -p /run/sshd
    "$(command -v sshd)" -f /dev/null -h "$keys/key" -o AuthorizedKeysFile="$keys/key.pub" \
        -o StrictModes=no -o UsePAM=no
    until [[ -e $over ]]; do sleep 0.2; done
    exit
fi

trap 'secure_shell "$RDMA_VM_PEER" touch "$over"' EXIT
for ((i = 0; i < 100; ++i)); do
    ! secure_shell "$RDMA_VM_PEER" true 2>/dev/null || break
    sleep 0.2
done
secure_shell "$RDMA_VM_PEER" true

# Each on a processor that it shares with another one.
on_both_hosts() { # OPTION... PROGRAM...
    timeout 300 mpirun --host "10.1.0.1:2,$RDMA_VM_PEER:2" --oversubscribe \
        --mca plm_rsh_agent "$agent" \
        --mca oob_tcp_if_include eth0 --mca mpi_yield_when_idle 1 \
        -x FI_ODRC_DEVICE -x FI_PROVIDER_PATH -x ODRC_MPI_PROVIDER "$@"
}
export FI_ODRC_DEVICE=rxe0 ODRC_MPI_PROVIDER=odrc
cd "$ODRC_BUILD"

says() { # WHAT COMMAND...
    "${@:2}" >"$scratch/out" 2>&1 || fail "${*:2}: $(cat "$scratch/out")"
    grep "$1" "$scratch/out" || fail "${*:2}: $(cat "$scratch/out")"
}

says ' between 4 ranks, 0 wrong' on_both_hosts ./our_mpi_traffic -r 2
says '4 processes, 0 checks failed' on_both_hosts ./mpi_contract
if [[ ! -x mpi_traffic ]]; then
    echo "Open MPI is left out: mpi_traffic was not built (no libopenmpi-dev)"
else
    says ' between 4 ranks, 0 wrong' on_both_hosts "${over_mtl[@]}" ./mpi_traffic -r 2 --without-probes
fi
