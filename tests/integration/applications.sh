#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Small runs of the MPI applications of bench/apps under Debian's Open MPI. Each compares its result
# with that of one process.

. "$(dirname "$0")/lib.sh"
. "$here/mpirun.sh"
need mpirun
[[ -x $ODRC_BUILD/asp ]] || skip "the programs were not built: Open MPI is missing"
foreign true

for ranks in 2 4; do
    [[ $ranks == 2 || $device == soft0 ]] || continue
    export FI_ODRC_PROFILE=$scratch/profile$ranks
    while read -r program options; do
        # shellcheck disable=SC2086 # they are several words
        on_one_host "$ranks" "${over_mtl[@]}" env "${foreign_environment[@]}" \
            "$ODRC_BUILD/$program" $options </dev/null
        went_through_us "$FI_ODRC_PROFILE" "$ranks" messages_sent
        rm "$FI_ODRC_PROFILE".*
    done <<END
asp -s 202
sor -s 102 -i 40
sor -s 102 -i 40 --overlap
qr -s 51
END
done
