# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Sourced: HPC Challenge on a small problem.
#
# shellcheck shell=bash

# The input file of hpcc: HPL's, with PTRANS' part at the end.
hpcc_input() { # RANKS SIZE
    local rows=1
    (($1 % 2)) || rows=2
    ((rows * rows <= $1)) || rows=1
    cat <<END
HPL input file
of a small problem
HPL.out output file name
8       device out
1       number of problem sizes
$2      Ns
1       number of NBs
16      NBs
0       PMAP
1       number of process grids
$rows   Ps
$(($1 / rows))  Qs
16.0    threshold
1       number of panel facts
2       PFACTs
1       number of recursive stopping criteria
4       NBMINs
1       number of panels in recursion
2       NDIVs
1       number of recursive panel facts
1       RFACTs
1       number of broadcasts
1       BCASTs
1       number of lookahead depths
1       DEPTHs
2       SWAP
64      swapping threshold
0       L1 in transposed form
0       U in transposed form
1       equilibration
8       memory alignment in doubles
##### (separator)
0       additional problem sizes for PTRANS
1200    values of N
0       additional blocking sizes for PTRANS
16      values of NB
END
}

# Every test has reported success, and HPL its residual.
hpcc_passed() { # OUTPUT
    grep -q '^Success=1' "$1" && grep -q 'PASSED' "$1" && ! grep -q 'FAILED' "$1" &&
        grep -q 'End of HPC Challenge tests' "$1"
}
