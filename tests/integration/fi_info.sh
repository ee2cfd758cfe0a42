#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# libfabric loads the provider and lists its domains and parameters.

. "$(dirname "$0")/lib.sh"
need fi_info

list=$(foreign fi_info -p odrc 2>&1)
echo "$list"
grep -q "domain: $device\$" <<<"$list" || fail "$device is not listed"
[[ $(grep -c 'provider: ' <<<"$list") == 1 ]] || fail "more than FI_ODRC_DEVICE allows"
! grep -qi warn <<<"$list" || fail "a warning where there is nothing to warn of"

# Only for reliable unconnected endpoints, and no other layer comes on top.
! foreign fi_info -p odrc -t FI_EP_MSG >/dev/null 2>&1 || fail "offers message endpoints"
! foreign fi_info -p odrc -t FI_EP_DGRAM >/dev/null 2>&1 || fail "offers datagram endpoints"
all=$(foreign fi_info 2>/dev/null)
! grep -q 'provider: odrc;' <<<"$all" || fail "another provider has layered itself on top"

explained=$(foreign fi_info -e | tr -d '\0')
for parameter in FI_ODRC_DEVICE FI_ODRC_PROFILE FI_ODRC_CACHE_BYTES FI_ODRC_CACHE_COUNT; do
    grep -q "# $parameter:" <<<"$explained" || fail "$parameter is not explained"
done

# soft0 comes last, so that hardware is the first choice.
unset FI_ODRC_DEVICE
list=$(foreign fi_info -p odrc)
[[ $(grep domain: <<<"$list" | tail -n 1) == *soft0 ]] || fail "soft0 is not last"
if [[ ! -e /sys/class/infiniband ]]; then
    [[ $(grep -c domain: <<<"$list") == 1 ]] || fail "more than soft0"
fi

# What the processes that load it see of it: its entry point, and no storage for their every thread.
object=$FI_PROVIDER_PATH/libodrc-fi.so
shown=$(nm --dynamic --defined-only --format=just-symbols "$object")
[[ $shown == fi_prov_ini ]] || fail "shows more than its entry point: $shown"
segments=$(readelf --program-headers --wide "$object")
[[ $segments == *LOAD* && $segments != *TLS* ]] || fail "has thread-local storage: $segments"
