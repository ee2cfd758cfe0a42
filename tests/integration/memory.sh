#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Many send to one that sleeps, and one that looks but has no receives: all comes, in order, and the
# memory of the receiver's buffers stays within what it may have, however much is sent.

. "$(dirname "$0")/lib.sh"

scale=1
[[ $ODRC_SANITIZER == no && $device == soft0 ]] || scale=10

counts() { # COUNTER: of all endpoints, the smallest first
    cat "$scratch"/profile.* | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" | sort -n
}
most() { counts "$1" | tail -n 1; }

burst() { # BYTES OPTION...: with at most so much memory
    local bytes=$1 peak
    shift
    rm -f "$scratch"/profile.*
    FI_ODRC_PROFILE=$scratch/profile "$ODRC_BUILD/odrc_burst" -d "$device" "$@"
    peak=$(most memory_bytes_peak)
    echo "  $peak bytes of buffers at most, $(most unexpected_bytes_peak) of messages without" \
        "receives, $(most srq_buffers_peak) receives, $(profile_sum "$scratch/profile" rnr) RNR NAKs"
    ((peak <= bytes)) || fail "$peak bytes of buffers, where $bytes are allowed"
}

mib=$((1 << 20))
burst $((4 * mib)) -n $((63 / scale)) -m $((1000 / scale))
burst $((4 * mib)) -n $((63 / scale)) -m $((500 / scale)) --sleep 0 --poll 1
burst $((4 * mib)) -n 10 -e $((100 / scale)) -m $((50 / scale)) # windows of one
# Receives for 16 messages, and 16 kB for those that come before theirs; and the least there is.
export FI_ODRC_MEMORY=65536
burst $mib -n $((63 / scale)) -m $((500 / scale)) --poll 1
export FI_ODRC_MEMORY=1
burst $mib -n $((63 / scale)) -m $((500 / scale))
least=$(counts registered_bytes_peak | head -n 1)
((scale > 1)) || [[ $(most srq_buffers_peak) == 16 ]] || fail "the shared receive queue had more than 16"

# What datagrams lie in is counted, too: half as much again, or an eighth, and not less than 64 of
# them, and 256 headers.
packets=$((64 * (40 + 4096) + 256 * 64)) # of the largest MTU
for way in host ladder; do
    FI_ODRC_RELIABILITY=$way burst $mib -n $((31 / scale)) -m $((200 / scale))
    (($(counts registered_bytes_peak | head -n 1) >= least + packets)) ||
        fail "$way: $(counts registered_bytes_peak | head -n 1) bytes registered, $least without packets"
done
export FI_ODRC_MEMORY=$((4 * mib))
FI_ODRC_RELIABILITY=host burst $((6 * mib)) -n $((63 / scale)) -m $((200 / scale)) --poll 1
FI_ODRC_RELIABILITY=ladder burst $((5 * mib)) -n $((63 / scale)) -m $((200 / scale)) --poll 1
