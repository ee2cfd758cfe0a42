# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Sourced by run: what it was measured on, as lines of a name, a tab and what it is.
#
# shellcheck shell=bash disable=SC2154 # of run and served.sh

version() { # PROGRAM ARGUMENT...
    if command -v "$1" >/dev/null; then "$@" 2>&1 | grep -m 1 '[0-9]' || true; else echo "not here"; fi
}

machine() {
    fact() { printf '%s\t%s\n' "$1" "$(tr '\t' ' ' <<<"$2")"; }
    fact date "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    fact command "bench/run $flags"
    fact mode "$([[ $full ]] && echo full || echo quick)"
    fact seed "$seed"
    fact rounds "$rounds"
    fact device "$device"
    fact host "$(uname -n)"
    fact processor "$(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1)"
    fact processors "$(nproc) ($first and $second have the pair)"
    fact governor "$(cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor 2>/dev/null || echo unknown)"
    fact memory "$(awk '/^MemTotal/ { printf "%.1f GiB", $2 / 1048576 }' /proc/meminfo)"
    fact kernel "$(uname -srm)"
    fact "load at the end" "$(cut -d ' ' -f 1-3 /proc/loadavg)"
    fact odrc "$(git -C "$here" describe --always --dirty 2>/dev/null || echo "not from a repository")"
    fact compiler "$(sed -n "s/^S\[\"CXX\"\]=\"\(.*\)\"/\1/p" "$build/config.status" 2>/dev/null)"
    fact "compiler flags" "$(sed -n "s/^S\[\"CXXFLAGS\"\]=\"\(.*\)\"/\1/p" "$build/config.status" 2>/dev/null)"
    fact libfabric "$(libfabric_version)"
    fact UCX "$(version ucx_info -v)"
    fact "Open MPI" "$(version mpirun --version)"
    fact perftest "$(version ib_send_lat --version)"
    fact gnuplot "$(version gnuplot --version)"
    fact valgrind "$(version valgrind --version)"
    fact environment "$(env | grep -E '^(FI_|ODRC_|UCX_|OMPI_MCA_)' | sort | paste -sd ' ')"
}
