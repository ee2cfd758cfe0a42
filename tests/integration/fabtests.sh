#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# fabtests' own programs: those of the lists in its runfabtests.sh, and with FABTESTS_SET=all what
# else it has. FABTESTS says where it is installed. What fabtests_ext/odrc.exclude names does not
# apply; all else has to end well. fabtests' script kills whatever has a name like its programs'.

. "$(dirname "$0")/lib.sh"

[[ -n ${FABTESTS-} ]] || skip "FABTESTS does not say where fabtests is installed"
[[ -r $FABTESTS/bin/runfabtests.sh ]] || skip "there is no fabtests in $FABTESTS"
need ss
foreign true
. "$here/fabtests_kinds.sh"

# The PSM libraries that Debian's libfabric loads would catch the signal that one test is about.
export HFI_NO_BACKTRACE=1 IPATH_NO_BACKTRACE=1

# The lists are those of the version that is installed.
unit_tests=() neg_unit_tests=() regression_tests=() functional_tests=() short_tests=()
standard_tests=() threaded_tests=() multinode_tests=()
lists=$(sed -n '/^[a-z_]*_tests=($/,/^)/p' "$FABTESTS/bin/runfabtests.sh")
eval "$lists"

# What is in none of its lists: other programs, and other ways to wait for completions.
lone_tests=(
    fi_loopback
    fi_mr_cache_evict
)
further_tests=(
    fi_mcast
    fi_stream_msg
    "fi_unmap_mem -e rdm -I 100"
    fi_rdm_deferred_wq
    fi_rdm_multi_domain
    "fi_resmgmt_test -e rdm"
    "fi_resmgmt_test -e rdm -t"
    "fi_multi_recv -e rdm -M"
    "fi_rdm_cntr_pingpong -c fd -I 100"
    fi_rdm_bw
    fi_rma_tx_completion
    "fi_rma_pingpong -o write"
    "fi_rma_pingpong -o writedata"
)
for waiting in "-c sread" "-c fd" "-t counter"; do
    for program in fi_rdm_pingpong fi_rdm_tagged_pingpong "fi_rma_bw -e rdm -o write"; do
        further_tests+=("$program $waiting -I 100")
    done
done

# The lists name the addresses by words of their own.
for test in "${unit_tests[@]}"; do
    test=${test//GOOD_ADDR/$address}
    alone "${test//SERVER_ADDR/$address}" 0
done
for test in "${neg_unit_tests[@]}"; do alone "$test" "$no_data"; done
for test in "${functional_tests[@]}"; do pair "$test"; done

case ${FABTESTS_SET:-quick} in
quick)
    for test in "${short_tests[@]}"; do pair "$test"; done
    ;;
all)
    for test in "${regression_tests[@]}" "${lone_tests[@]}"; do alone "$test" 0; done
    for test in "${standard_tests[@]}" "${threaded_tests[@]}" "${further_tests[@]}"; do
        pair "$test"
    done
    # There may be fewer processors than processes, which spin.
    for size in 3 4 8; do
        for test in "${multinode_tests[@]}"; do crowd "$test -I 10" "$size"; done
    done
    configured "$here/../../fabtests_ext/odrc.test"
    # Those that leave in the middle, between such as stay to the end.
    stress=$here/../../fabtests_ext/stress
    besieged 16 "$stress"/{everything,leave_messages,leave_reads,leave_writes,everything}.json
    ;;
*) fail "FABTESTS_SET is quick or all" ;;
esac

echo "$passed passed, $failed failed, $not_applying do not apply"
((passed > 0 && failed == 0)) || fail "fabtests"
