#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Once there is a connection, nobody can tell how it was made: a small message takes the same
# instructions, whether its peer was connected on demand or with all others beforehand. (On the
# average of many, among which what is done now and then, by the clock, comes to less than one.)

. "$(dirname "$0")/lib.sh"

[[ $ODRC_SANITIZER == no ]] || skip "a sanitizer does not run under valgrind"
need valgrind

export BUILD=$ODRC_BUILD
steps() { # CONNECT
    FI_ODRC_CONNECT=$1 FI_ODRC_PROFILE=$scratch/$1 "$here/../../bench/instructions" \
        "odrc $device job" | tail -n +2 | awk '{ NF -= 1; print }' # not what lies in which line
}
ondemand=$(steps ondemand)
all=$(steps all)
printf 'on demand:\n%s\nbeforehand:\n%s\n' "$ondemand" "$all"
[[ $ondemand ]] || fail "nothing was counted"
(($(profile_sum "$scratch/ondemand" connections_answered) > 0)) || fail "who connected on demand?"
(($(profile_sum "$scratch/all" connections_answered) == 0)) || fail "who connected beforehand?"
[[ $(wc -w <<<"$ondemand") == $(wc -w <<<"$all") ]] || fail "not the same was counted"
paste <(tr ' ' '\n' <<<"$ondemand") <(tr ' ' '\n' <<<"$all") | awk '
    { difference = $1 - $2 }
    $1 != $2 && ($1 !~ /^[0-9.]+$/ || difference >= 1 || difference <= -1) { exit 1 }
' || fail "they differ"
