#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# A key from the environment: who has it connects, who has another one is told so and does not, and
# nobody reads it in the log.

. "$(dirname "$0")/lib.sh"
. "$here/pingpong.sh"
need fi_pingpong ss

key=nobody-may-read-this
FI_LOG_LEVEL=debug FI_LOG_PROV=odrc FI_ODRC_KEY=$key FI_ODRC_PROFILE=$scratch/profile \
    "$ODRC_BUILD/odrc_traffic" -d "$device" -n 4 -m 500 -s 20000 >"$scratch/out" 2>&1 ||
    fail "traffic among those with one key fails: $(tail "$scratch/out")"
[[ $(profile_sum "$scratch/profile" messages_received) != 0 ]] || fail "there was no traffic"
! grep -q "$key" "$scratch/out" "$scratch"/profile.* || fail "the key is in the log"

FI_ODRC_KEY=$key pingpong "$device" 10 >/dev/null || fail "two with one key do not talk"

# The server's is another one.
export FI_LOG_LEVEL=warn FI_LOG_PROV=odrc
port=$((20000 + RANDOM % 10000))
foreign env FI_ODRC_KEY=$key timeout 60 \
    fi_pingpong -p odrc -d "$device" -e rdm -I 10 -B "$port" >"$scratch/server" 2>&1 &
server=$!
until ss -Hltn "sport = :$port" | grep -q .; do
    kill -0 $server 2>/dev/null || fail "the server ended: $(<"$scratch/server")"
    sleep 0.1
done
# (Its client would wait for ever, for what it does not ask how it went.)
ends_saying 'no connection to .*another key' "$scratch/client" \
    env "${foreign_environment[@]}" FI_ODRC_KEY=another \
    fi_pingpong -p odrc -d "$device" -e rdm -I 10 -P "$port" 127.0.0.1 ||
    fail "two with different keys talk, or the client does not say why: $(<"$scratch/client")"
kill $server 2>/dev/null || true
wait $server || true
[[ $(grep -c 'is refused: it is not sealed' "$scratch/server") == 1 ]] ||
    fail "the server does not say once why: $(<"$scratch/server")"
! grep -q "$key" "$scratch/server" || fail "the key is in the server's log"
