#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# What a user may have set up wrongly ends in one clear line, and harms nothing else.

. "$(dirname "$0")/lib.sh"
need fi_info unshare

export FI_LOG_LEVEL=warn FI_LOG_PROV=odrc

# A device that is not there.
if FI_ODRC_DEVICE=nodev7 foreign fi_info -p odrc >"$scratch/out" 2>&1; then
    fail "a device that is not there was found"
fi
[[ $(grep -c "FI_ODRC_DEVICE=nodev7.*'nodev7'" "$scratch/out") == 1 ]] ||
    fail "not one line about nodev7: $(<"$scratch/out")"
FI_ODRC_DEVICE=nodev7,$device foreign fi_info -p odrc >"$scratch/out" 2>&1 ||
    fail "the device beside it is not used"

# A profile that cannot be written: the traffic goes on.
FI_ODRC_PROFILE=/nonexistent/profile "$ODRC_BUILD/odrc_patterns" -d "$device" -n 2 -r 1 ring \
    >"$scratch/out" 2>&1 || fail "the missing profile stopped the program"
grep -q 'profile cannot be written' "$scratch/out" || fail "nothing said of the profile"

# A full /dev/shm: we do not use it.
if unshare --mount true 2>/dev/null; then
    # shellcheck disable=SC2016 # for the inner shell
    unshare --mount bash -ec '
        mount -t tmpfs -o size=4k tmpfs /dev/shm
        head -c 4096 /dev/zero >/dev/shm/full
        ! echo more 2>/dev/null >/dev/shm/more
        "$ODRC_BUILD/odrc_traffic" -d "$1" -n 2 -m 500 -s 20000
    ' - "$device" || fail "a full /dev/shm stopped the program"
else
    echo "not tested: a full /dev/shm (no right to mount one)"
fi

# Less lockable memory than the device needs, for its buffers and for what a program sends: only
# devices that pin memory need any.
with_locked() { # BYTES COMMAND...
    setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set -all \
        prlimit --memlock="$1" "${@:2}" >"$scratch/out" 2>&1
}
if [[ $device != soft0 && $EUID == 0 ]]; then
    chmod a+rw /dev/infiniband/*
    ! with_locked 65536 "$ODRC_BUILD/odrc_patterns" -d "$device" -n 1 idle ||
        fail "buffers were registered with 64 KiB of lockable memory"
    grep -q 'of buffers: .*ulimit -l: 64 KiB' "$scratch/out" ||
        fail "the limit is not named: $(<"$scratch/out")"
    ! with_locked $((8 << 20)) "$ODRC_BUILD/odrc_traffic" -d "$device" -n 2 -m 20 -s 40000000 ||
        fail "messages of 40 MB were registered with 8 MiB of lockable memory"
    grep -q 'of user memory: .*ulimit -l: 8192 KiB' "$scratch/out" ||
        fail "the limit is not named: $(<"$scratch/out")"
fi

# Less address space than soft0 would take if there was no limit. (A sanitizer takes more by itself.)
if [[ $ODRC_SANITIZER == no ]]; then
    (ulimit -v $((1 << 20)) && exec "$ODRC_BUILD/odrc_traffic" -d "$device" -n 4 -m 500 -s 20000) ||
        fail "a limit of 1 GiB of address space stopped the program"
fi

# Too few descriptors: some are enough for the endpoint, and for some of its peers that are met on
# soft0, each of which takes one. Beside a device, the others are met there.
short=0 messages=600
[[ $device == soft0 ]] || messages=100 # others may be emulated
for limit in {20..44..3}; do
    sent=yes
    (ulimit -n "$limit" && FI_ODRC_INTRANODE=auto exec "$ODRC_BUILD/odrc_traffic" -d "$device" \
        -n 6 -m $messages -s 20000) >"$scratch/out" 2>&1 || sent=no
    [[ $sent == yes ]] || grep -q 'Too many open files' "$scratch/out" ||
        fail "nothing said of $limit descriptors: $(<"$scratch/out")"
    grep -q "soft0: process .* cannot be reached: .*ulimit -n: $limit)" "$scratch/out" || continue
    short=$((short + 1))
    [[ $device == soft0 || $sent == yes ]] ||
        fail "not met on the device, with $limit descriptors: $(<"$scratch/out")"
done
((short > 0)) || fail "no number of descriptors was enough for some peers only"
[[ $sent == yes ]] || fail "$limit descriptors are not enough: $(<"$scratch/out")"

# An address that is not this host's.
if [[ $device == soft0 ]]; then
    ! foreign fi_info -p odrc -d soft0 -n 192.0.2.1 -P 5 >/dev/null 2>&1 ||
        fail "soft0 claims to reach another host"
fi
