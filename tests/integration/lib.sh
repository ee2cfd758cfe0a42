# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Sourced by the tests in this folder. `make check` sets
#   FI_PROVIDER_PATH  where the provider under test is
#   ODRC_BUILD        the build directory, with our own programs
#   ODRC_SANITIZER    the sanitizers it was built with, or "no"
#   ODRC_SANITIZER_LIBRARIES  what a program that was built without AddressSanitizer loads first
#   ODRC_TEST_DOMAIN  the device to test on (default: soft0)
#
# shellcheck shell=bash disable=SC2034 # what is set here, the tests use

set -eEuo pipefail
trap 'echo "FAIL: line $LINENO: $BASH_COMMAND" >&2' ERR

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
device=${ODRC_TEST_DOMAIN:-soft0}
scratch=$(mktemp -d)
# A background process that is killed before it becomes its program gets here, too.
trap '((BASHPID != $$)) || { kill $(jobs -p) 2>/dev/null || true; rm -rf "$scratch"; }' EXIT

# Open MPI opens the first domain: only the one under test is there.
export FI_ODRC_DEVICE=$device
# What is measured differs from machine to machine, and would be kept in the user's cache.
export FI_ODRC_CROSSOVERS=fixed

skip() { # REASON
    echo "SKIP: $1" >&2
    exit 77
}

fail() { # REASON
    echo "FAIL: $1" >&2
    exit 1
}

need() { # PROGRAM...
    local program
    for program; do
        command -v "$program" >/dev/null || skip "$program is not installed"
    done
}

# The settings under which a program that was built without the provider's sanitizers can load it.
# What such a program leaks, or frees in another library's way, is its own affair.
foreign_environment=()
case $ODRC_SANITIZER in
no) ;;
address,undefined)
    foreign_environment=(
        "LD_PRELOAD=$ODRC_SANITIZER_LIBRARIES"
        ASAN_OPTIONS=detect_leaks=0:alloc_dealloc_mismatch=0
    ) ;;
*) foreign_environment=(impossible) ;;
esac

foreign() { # COMMAND...
    [[ ${foreign_environment[*]} != impossible ]] ||
        skip "a program that is not built for it does not run under -fsanitize=$ODRC_SANITIZER"
    env "${foreign_environment[@]}" "$@"
}

# Ends a program as soon as its output has those words, behind which it would wait for ever. False if
# it ends without them.
ends_saying() { # WORDS LOG COMMAND...
    local words=$1 log=$2 pid
    shift 2
    timeout 60 "$@" >"$log" 2>&1 &
    pid=$!
    until grep -q "$words" "$log"; do
        kill -0 $pid 2>/dev/null || {
            grep -q "$words" "$log" # the last that it said
            return
        }
        sleep 0.1
    done
    kill $pid 2>/dev/null || true
    wait $pid || true
}

# The sum of a counter over the profiles written below a path.
profile_sum() { # PATH COUNTER
    cat "$1".* | sed -n "s/.*\"$2\":\([0-9]*\).*/\1/p" | awk '{ n += $1 } END { printf "%.0f\n", n }'
}
