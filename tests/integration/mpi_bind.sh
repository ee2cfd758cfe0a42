#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Our own MPI: what the standard promises, by jobs of all sizes, over this provider and another; what
# becomes of a job that goes wrong; and programs that its wrappers compile.

. "$(dirname "$0")/lib.sh"
. "$here/mpirun.sh"
need mpirun
[[ -x $ODRC_BUILD/mpi_contract ]] || skip "our MPI was not built (no PMIx)"
[[ $device == soft0 ]] || skip "two_hosts_mpi.sh is for kernel verbs"
export ODRC_MPI_PROVIDER=odrc
# What PMIx does not free is its own affair.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

contract() { # PROCESSES [NAME OF WHAT IS LEFT OUT]
    on_one_host "$1" "$ODRC_BUILD/mpi_contract" "${@:2}" >"$scratch/out" 2>&1 ||
        fail "$1 processes: $(cat "$scratch/out")"
    grep ' 0 checks failed' "$scratch/out" || fail "$1 processes: $(cat "$scratch/out")"
}

traffic() { # PROCESSES
    on_one_host "$1" "$ODRC_BUILD/our_mpi_traffic" --rounds 10 >"$scratch/out" 2>&1 ||
        fail "traffic of $1: $(cat "$scratch/out")"
    grep ' 0 wrong' "$scratch/out" || fail "traffic of $1: $(cat "$scratch/out")"
}

"$ODRC_BUILD/mpi_contract" | grep 'by 1 processes, 0 checks failed' # without a launcher
export FI_ODRC_PROFILE=$scratch/profile
contract 2
(($(profile_sum "$scratch/profile" messages_sent) > 0)) || fail "who moved the messages?"
unset FI_ODRC_PROFILE
sizes=(3 4 8)
[[ $ODRC_SANITIZER == no ]] || sizes=(4)
for processes in "${sizes[@]}"; do contract "$processes"; done
for processes in 1 2 "${sizes[@]}"; do traffic "$processes"; done
FI_ODRC_CONNECT=all contract 4
for way in group binomial knomial:8192 binary:whole chain scatter; do
    ODRC_MPI_BCAST=$way contract 5
done
# Each scheme for data in pieces, with segments of all sizes; and one for each rank.
for scheme in generic bc-spup rwg-up p-rrs multi-w; do
    ODRC_MPI_DATATYPE=$scheme contract 3
done
for scheme in bc-spup:777 rwg-up:5000 rwg-up:whole p-rrs:3001 multi-w:single; do
    ODRC_MPI_DATATYPE=$scheme traffic 2
done
cat >"$scratch/each_its_own" <<'END'
#!/bin/bash
schemes=(bc-spup:9000 multi-w rwg-up:2000 p-rrs:10000 auto generic)
export ODRC_MPI_DATATYPE=${schemes[OMPI_COMM_WORLD_RANK]}
exec "$@"
END
chmod +x "$scratch/each_its_own"
on_one_host 6 "$scratch/each_its_own" "$ODRC_BUILD/our_mpi_traffic" --rounds 10 >"$scratch/out" 2>&1 ||
    fail "each its own: $(cat "$scratch/out")"
grep ' 0 wrong' "$scratch/out" || fail "each its own: $(cat "$scratch/out")"
# What a communicator asks for counts more.
ODRC_MPI_PROFILE=$scratch/hints ODRC_MPI_DATATYPE=generic contract 2
for hint in '"bc-spup","segment":8192' '"rwg-up"' '"p-rrs"' '"multi-w"'; do
    grep -q "\"scheme\":$hint" "$scratch/hints.1" || fail "no hint for $hint: $(cat "$scratch/hints.1")"
done
grep -q '"why":"generic is asked for"' "$scratch/hints.1" ||
    fail "what is not offered because of a hint? $(cat "$scratch/hints.1")"
ODRC_MPI_PROFILE=$scratch/schemes ODRC_MPI_DATATYPE=p-rrs:4096 traffic 2
grep -q '"scheme":"p-rrs","segment":4096,.*"multi-w":' "$scratch/schemes.1" ||
    fail "what was decided? $(cat "$scratch/schemes.1")"
grep -q '"scheme":"as-it-is",.*"why":"it is short"' "$scratch/schemes.1" ||
    fail "what was not offered? $(cat "$scratch/schemes.1")"
ODRC_MPI_DATATYPE=fastest contract 2
grep -q 'ODRC_MPI_DATATYPE=fastest: not ' "$scratch/out" || fail "nobody says that there is no such scheme"

# Of libfabric 1.17 it loses the connection over which a message comes that is too long.
ODRC_MPI_PROVIDER="tcp;ofi_rxm" contract 3 "a message that is too long"
grep -q 'over tcp;ofi_rxm' "$scratch/out"
ODRC_MPI_BCAST=star contract 2
grep -q 'ODRC_MPI_BCAST=star: not ' "$scratch/out" || fail "nobody says that there is no such tree"

# A provider that is not there is named, with the call that said so.
! ODRC_MPI_PROVIDER=none "$ODRC_BUILD/mpi_contract" 2>"$scratch/err" || fail "which provider is it?"
grep -q 'fi_getinfo, provider none: ' "$scratch/err" || fail "$(cat "$scratch/err")"

[[ $ODRC_SANITIZER == no ]] || exit 0 # what follows is about what is installed

make -C "$ODRC_BUILD" --no-print-directory install DESTDIR="$scratch" >"$scratch/out" 2>&1 ||
    fail "$(tail "$scratch/out")"
prefix=$(dirname "$(dirname "$(find "$scratch" -name odrc-mpicc)")")
export PATH=$prefix/bin:$PATH
cd "$scratch"

# An error ends the job, with who, where and what; Abort with its code.
cat >ends.c <<'END'
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int rank = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 2) MPI_Recv(&rank, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1 && argc > 1) MPI_Abort(MPI_COMM_WORLD, atoi(argv[1]));
    if (rank == 1) MPI_Send(&rank, 1, MPI_INT, 7, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
END
odrc-mpicc -std=c99 -Wall -Wextra -Wpedantic -Werror ends.c -o ends
status=0
on_one_host 3 ./ends 42 >out 2>&1 || status=$?
((status == 42)) || fail "MPI_Abort gave $status: $(cat out)"
! on_one_host 3 ./ends >out 2>&1 || fail "there is no rank 7"
grep -q 'odrc-mpi: rank 1: MPI_Send: no such rank, MPI_COMM_WORLD' out || fail "$(cat out)"

# Why messages are not offered: they are short, where ranks share processors up to a greater size; or
# their sender has all in one piece, and has not heard yet that its receiver gains.
cat >pieces.c <<'END'
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    const int bytes = argc > 2 ? atoi(argv[1]) : 0, sends_pieces = argc > 2 ? atoi(argv[2]) : 0;
    char* const data = calloc(2, (size_t)bytes);
    int rank;
    MPI_Datatype pieces;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(bytes / 8, 8, 16, MPI_BYTE, &pieces);
    MPI_Type_commit(&pieces);
    if (rank == 0)
        MPI_Send(data, sends_pieces ? 1 : bytes, sends_pieces ? pieces : MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(data, 1, pieces, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&pieces);
    free(data);
    return MPI_Finalize();
}
END
odrc-mpicc -std=c99 -Wall -Wextra -Wpedantic -Werror pieces.c -o pieces
pieces() { # RANKS BYTES SENDER'S WHY
    rm -f why.*
    ODRC_MPI_PROFILE=$scratch/why on_one_host "$1" ./pieces "$2" "$3" >out 2>&1 || fail "$*: $(cat out)"
    grep -q "\"scheme\":\"as-it-is\",.*\"messages\":1,.*\"why\":\"$4\"" why.1 || fail "$*: $(cat why.1)"
}
processors=$(getconf _NPROCESSORS_ONLN)
pieces 2 8000 1 'it is short'
pieces $((processors + 1)) 16000 1 'it is short'
((processors == 1)) || pieces 2 16000 0 'its sender did not offer it'

# Who waits for a message that never comes ends with the launcher.
ranks() {
    pgrep -fc "^$scratch/ends 0 wait" || true
}
mpirun -np 2 --oversubscribe "$scratch/ends" 0 wait >out 2>&1 &
launcher=$!
for ((i = 0; i < 100 && $(ranks) < 2; ++i)); do sleep 0.1; done
(($(ranks) == 2)) || fail "they have not started: $(cat out)"
kill -KILL $launcher
for ((i = 0; i < 100 && $(ranks) > 0; ++i)); do sleep 0.1; done
(($(ranks) == 0)) || fail "ranks go on without their launcher"

# And with one of them, which the launcher sees.
mpirun -np 4 --oversubscribe "$scratch/ends" 0 wait >out 2>&1 &
launcher=$!
for ((i = 0; i < 100 && $(ranks) < 4; ++i)); do sleep 0.1; done
(($(ranks) == 4)) || fail "they have not started: $(cat out)"
kill -KILL "$(pgrep -f "^$scratch/ends 0 wait" | tail -n 1)"
for ((i = 0; i < 100 && $(ranks) > 0; ++i)); do sleep 0.1; done
(($(ranks) == 0)) || fail "ranks go on without one that was killed"
! wait $launcher || fail "the launcher takes that for a good end"
grep -q 'signal 9' out || fail "nobody says who was killed: $(cat out)"

# Programs for any MPI, which check their results.
odrc-mpicxx -std=c++20 -O0 -c "$here/../../fabtests_ext/support/command_line.cpp" -o command_line.o
printf '%s\n' asp awari leq puzzle qr radix sor | xargs -P "$(nproc)" -I NAME odrc-mpicxx -std=c++20 -O0 \
    -I"$here/../.." "$here/../../bench/apps/NAME.cpp" command_line.o -o NAME
program() { # NAME ARGUMENT...
    local name=$1
    shift
    on_one_host 4 "./$name" "$@" >out 2>&1 || fail "$name $*: $(cat out)"
    echo "$name: $(grep '^time' out)"
}
for name in asp leq qr sor; do program $name -s 64; done
program sor -s 64 --overlap
program awari -s 5000
program puzzle -s 30 -j 4
program puzzle -s 30 -j 64
program radix -s 10000
PKG_CONFIG_SYSROOT_DIR=$scratch PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --libs odrc_mpi |
    grep -q -- -lodrc_mpi
