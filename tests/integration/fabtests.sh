#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# fabtests' own programs, in the sets that its runfabtests.sh calls quick. FABTESTS says where it is
# installed. What fabtests_ext/odrc.exclude names does not apply; all else has to end well.

. "$(dirname "$0")/lib.sh"

[[ -n ${FABTESTS-} ]] || skip "FABTESTS does not say where fabtests is installed"
[[ -r $FABTESTS/bin/runfabtests.sh ]] || skip "there is no fabtests in $FABTESTS"
need ss
foreign true

# Some programs meet at port 3000 of their address, whatever ports they are given: on soft0, that of
# an address which nobody else uses.
meeting=3000
address=127.$((1 + RANDOM % 254)).$((RANDOM % 256)).$((1 + RANDOM % 254))
[[ $device == soft0 ]] || address=$(hostname -I | awk '{ print $1 }')
patience=30 # seconds for a program
no_data=61  # ENODATA: no provider offers what was asked for

# The lists of tests are those of the version that is installed.
unit_tests=() neg_unit_tests=() functional_tests=() short_tests=()
lists=$(sed -n '/^\(unit\|neg_unit\|functional\|short\)_tests=($/,/^)/p' "$FABTESTS/bin/runfabtests.sh")
eval "$lists"
mapfile -t excluded < <(grep -vE '^(#|[[:space:]]*$)' "$here/../../fabtests_ext/odrc.exclude")

passed=0 failed=0 not_applying=0
port=$((20000 + RANDOM % 10000))

excluded() { # TEST
    local pattern
    for pattern in "${excluded[@]}"; do
        if [[ $1 =~ $pattern ]]; then
            not_applying=$((not_applying + 1))
            return 0
        fi
    done
    return 1
}

# What runs a test: its program, with the options that stand in the list.
command_of() { # TEST
    local words
    read -ra words <<<"$1"
    command=(env "${foreign_environment[@]}" timeout "$patience" "$FABTESTS/bin/${words[0]}"
        "${words[@]:1}" -p odrc)
}

tell() { # TEST STATUS...
    local test=$1 output
    shift
    if [[ $* =~ ^[0\ ]+$ ]]; then
        passed=$((passed + 1))
        echo "passed: $test"
        return
    fi
    failed=$((failed + 1))
    echo "failed ($*): $test"
    for output in "$scratch"/{server,client}; do
        [[ ! -s $output ]] || tail -n 10 "$output" | sed "s/^/    ${output##*/}: /"
    done
}

alone() { # TEST EXPECTED-STATUS
    local status=0
    ! excluded "$1" || return 0
    rm -f "$scratch/client"
    command_of "$1"
    "${command[@]}" >"$scratch/server" 2>&1 || status=$?
    tell "$1" $((status == $2 ? 0 : status ? status : 1))
}

# The server has its socket, or has ended.
await() { # PID PORT
    until ss -Htuln "src $address and ( sport = :$2 or sport = :$meeting )" | grep -q .; do
        kill -0 "$1" 2>/dev/null || return 0
        sleep 0.05
    done
}

pair() { # TEST
    local server client_status=0 server_status=0
    ! excluded "$1" || return 0
    port=$((port + 2))
    command_of "$1"
    "${command[@]}" -s "$address" -B $port >"$scratch/server" 2>&1 &
    server=$!
    await $server $port
    "${command[@]}" -s "$address" -P $port "$address" >"$scratch/client" 2>&1 || client_status=$?
    ((client_status == 0)) || kill $server 2>/dev/null || true
    wait $server || server_status=$?
    tell "$1" $server_status $client_status
}

# The lists name the addresses by words of their own.
addressed=("${unit_tests[@]//GOOD_ADDR/$address}")
addressed=("${addressed[@]//SERVER_ADDR/$address}")
for test in "${addressed[@]}"; do alone "$test" 0; done
for test in "${neg_unit_tests[@]}"; do alone "$test" $no_data; done
for test in "${functional_tests[@]}" "${short_tests[@]}"; do pair "$test"; done

echo "$passed passed, $failed failed, $not_applying do not apply"
((passed > 0 && failed == 0)) || fail "fabtests"
