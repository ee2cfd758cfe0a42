# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Sourced by fabtests.sh: how a test of each kind is run, and when it has passed.
#
# shellcheck shell=bash disable=SC2034,SC2154 # what fabtests.sh uses, and what lib.sh sets

# Some programs meet at a port of their own, whatever ports they are given: on soft0, that of an
# address which nobody else uses.
address=127.$((1 + RANDOM % 254)).$((RANDOM % 256)).$((1 + RANDOM % 254))
[[ $device == soft0 ]] || address=$(hostname -I | awk '{ print $1 }')
port=$((20000 + RANDOM % 10000))

patience=300 # seconds for a program
# The kernel's own device is emulated as a rule, in a machine that is. fabtests has buffers for 128
# of its longest messages, a gigabyte in each process, which takes minutes there: programs that can
# be told have 64 KiB for the longest.
sized='^fi_(rma_bw|rdm_atomic|rdm_pingpong|rdm_tagged_(pingpong|bw)|rdm_cntr_pingpong|(msg_)?inject)'
sizes=()
[[ $device != rxe* ]] || patience=900 sizes=(-S r:1,21845,65536)
no_data=61   # ENODATA: no provider offers what was asked for
passed=0 failed=0 not_applying=0
processes=() # of the test that runs
began=0      # when it was started

mapfile -t excluded < <(grep -vE '^(#|[[:space:]]*$)' "$here/../../fabtests_ext/odrc.exclude")

applies() { # TEST
    local pattern
    for pattern in "${excluded[@]}"; do
        if [[ $1 =~ $pattern ]]; then
            not_applying=$((not_applying + 1))
            return 1
        fi
    done
    # Not every version has every program.
    [[ -x $FABTESTS/bin/${1%% *} ]]
}

# Starts a process of a test, with the options that stand in the list.
launch() { # NAME TEST OPTION...
    local words
    ((${#processes[@]} > 0)) || began=$SECONDS
    read -ra words <<<"$2"
    env "${foreign_environment[@]}" timeout "$patience" "$FABTESTS/bin/${words[0]}" \
        "${words[@]:1}" "${@:3}" >"$scratch/$1.out" 2>&1 &
    processes+=($!)
}

# The process listens at the address, or has ended.
await() { # PID
    until ss -Htuln "src $address" | grep -q .; do
        kill -0 "$1" 2>/dev/null || return 0
        sleep 0.05
    done
}

# Until all processes have ended. What one that failed leaves alone would wait for it in vain.
collect() {
    local ended pid status still
    statuses=()
    while ((${#processes[@]} > 0)); do
        status=0 ended=
        wait -n -p ended "${processes[@]}" || status=$?
        # It knows nothing of those that ended when the shell was waiting for something else.
        if [[ ! ${ended-} ]]; then
            for ended in "${processes[@]}"; do kill -0 "$ended" 2>/dev/null || break; done
            status=0
            wait "$ended" || status=$?
        fi
        statuses+=("$status")
        still=()
        for pid in "${processes[@]}"; do ((pid == ended)) || still+=("$pid"); done
        processes=("${still[@]}")
        ((status == 0 || ${#still[@]} == 0)) || kill "${still[@]}" 2>/dev/null || true
    done
}

tell() { # TEST STATUS...
    local test="$1 ($((SECONDS - began)) s)" output
    shift
    if [[ $* =~ ^[0\ ]+$ ]]; then
        passed=$((passed + 1))
        echo "passed: $test"
    else
        failed=$((failed + 1))
        echo "failed ($*): $test"
        for output in "$scratch"/*.out; do
            tail -n 10 "$output" | sed "s/^/    $(basename "$output" .out): /"
        done
    fi
    rm -f "$scratch"/*.out
}

alone() { # TEST EXPECTED-STATUS
    applies "$1" || return 0
    launch program "$1" -p odrc
    collect
    tell "$1" $((statuses[0] == $2 ? 0 : statuses[0] ? statuses[0] : 1))
}

pair() { # TEST
    local more=()
    applies "$1" || return 0
    [[ ! $1 =~ $sized ]] || more=("${sizes[@]}")
    port=$((port + 2))
    launch server "$1" "${more[@]}" -p odrc -s "$address" -B $port
    await "${processes[0]}"
    launch client "$1" "${more[@]}" -p odrc -s "$address" -P $port "$address"
    collect
    tell "$1" "${statuses[@]}"
}

# Whoever is first has the others come to it.
crowd() { # TEST SIZE
    local i
    applies "$1" || return 0
    launch rank0 "$1" -n "$2" -p odrc -s "$address"
    await "${processes[0]}"
    for ((i = 1; i < $2; ++i)); do launch "rank$i" "$1" -n "$2" -p odrc -s "$address"; done
    collect
    tell "$1 -n $2" "${statuses[@]}"
}

# fi_ubertest: its status does not tell of all that may go wrong, its summary does.
configured() { # FILE
    local test=fi_ubertest patience=1200 summary
    applies "$test" || return 0
    port=$((port + 2))
    launch server "$test" -x -s "$address" -q $port
    await "${processes[0]}"
    launch client "$test" -u "$1" -s "$address" -q $port "$address"
    collect
    summary=$(grep -E '^(Success|Skipped|ENODATA|ENOSYS|EIO|ERROR) *:' "$scratch/client.out" |
        tr -s ' \n' ' ' || true)
    [[ $summary =~ ^Success:\ [1-9][0-9]*\ ([A-Za-z]+\ ?:\ 0\ ){5}$ ]] || statuses+=(summary)
    tell "$test (${summary% })" "${statuses[@]}"
}

# fi_rdm_stress: one server, and clients by the dozen that do what a script says, the last line of
# which is to exit. Nothing but what they print tells whether they have come that far. The server
# has to serve on when some of them have left in the middle.
besieged() { # CLIENTS SCRIPT...
    local test=fi_rdm_stress clients=$1 options=() script left
    applies "$test" || return 0
    shift
    # Its threads share all there is; a version that has the option says otherwise without it.
    ! grep -q -e --threading "$FABTESTS/bin/$test" || options=(--threading safe)
    port=$((port + 2))
    launch server "$test" -p odrc -s "$address" -B $port --timeout "$patience" "${options[@]}"
    await "${processes[0]}"
    statuses=()
    for script; do
        launch client "$test" -p odrc -s "$address" -P $port --timeout "$patience" \
            "${options[@]}" -C "$clients" -u "$script" "$address"
        wait "${processes[1]}" || statuses+=($?)
        processes=("${processes[0]}")
        left=$(grep -c 'rpc op exit' "$scratch/client.out" || true)
        ((left == clients)) || statuses+=("$left of $clients: $(basename "$script")")
        ((${#statuses[@]} == 0)) || break
    done
    kill -0 "${processes[0]}" 2>/dev/null || statuses+=(server)
    kill "${processes[0]}" 2>/dev/null || true
    wait "${processes[0]}" || true
    processes=()
    tell "$test" "${statuses[@]:-0}"
}
