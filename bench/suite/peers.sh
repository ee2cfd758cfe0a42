# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Sourced by run: who is compared, how to run a program over each, and what is not there.
#
# shellcheck shell=bash disable=SC2154,SC2034 # of run: build, device, scratch, first; for the others

providers=(odrc shm tcp "tcp;ofi_rxm" "udp;ofi_rxd" "verbs;ofi_rxm")
mpis=(odrc_mpi open_mpi_odrc open_mpi)
everybody=("${providers[@]}" ucx perftest soft_verbs handover blocks "${mpis[@]}") # ours first
declare -A title=(
    [odrc]="odrc"
    [shm]="libfabric shm"
    [tcp]="libfabric tcp"
    ["tcp;ofi_rxm"]="libfabric tcp;ofi_rxm"
    ["udp;ofi_rxd"]="libfabric udp;ofi_rxd"
    ["verbs;ofi_rxm"]="libfabric verbs;ofi_rxm"
    [ucx]="UCX"
    [perftest]="perftest, raw verbs"
    [soft_verbs]="soft0's verbs themselves"
    [handover]="a line of the cache, handed over"
    [blocks]="as many bytes, copied in and out by a bare loop"
    [odrc_mpi]="odrc_mpi"
    [open_mpi_odrc]="Open MPI over odrc (MTL)"
    [open_mpi]="Open MPI, its own shared memory"
)

# What is measured of ours is the device, not what it has beside it for one host.
export FI_PROVIDER_PATH=$build/.libs FI_ODRC_DEVICE=$device
[[ $device == soft0 ]] || export FI_ODRC_INTRANODE=device
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# What rxm wants of a device for more peers than these, soft-RoCE does not have.
export FI_UNIVERSE_SIZE=8

is_ours() { [[ $1 == odrc || $1 == odrc_mpi || $1 == open_mpi_odrc ]]; } # CONTENDER

domain_of() { # PROVIDER
    case $1 in
    odrc | verbs*) echo "$device" ;;
    tcp* | udp*) echo lo ;;
    esac
}

# One of our programs for any libfabric provider, over this one. It pins its processes itself.
over() { # PROVIDER PROGRAM ARGUMENT...
    local domain
    domain=$(domain_of "$1")
    timeout 120 "$build/$2" -p "$1" ${domain:+-d "$domain"} "${@:3}"
}

# The lines of such a program, "METRIC.X VALUE UNIT ...", as "METRIC X VALUE UNIT ...".
split_names() {
    awk '{
        n = match($1, /\.[0-9]+$/)
        x = substr($1, n + 1)
        metric = substr($1, 1, n - 1)
        $1 = metric " " x
        print
    }'
}

ucx_transports() { if [[ $device == soft0 ]]; then echo posix,cma,self; else echo rc_v,ud_v,self; fi; }

# A column of the last line: 2 the median latency in us, 6 MiB/s, 8 messages/s.
ucx() { # COLUMN OPTION...
    local column=$1 command
    command=(env "UCX_TLS=$(ucx_transports)" ucx_perftest -p PORT)
    [[ $device == soft0 ]] || command=(env "UCX_NET_DEVICES=$device:1" "${command[@]}")
    served "${command[@]}" -- "${command[@]}" localhost "${@:2}" -f |
        awk -v column="$column" '$1 ~ /^[0-9]+$/ { print $column }'
}

# A column of the line of this size. A program that is not built for soft0 is lent it.
perftest() { # COLUMN SIZE PROGRAM OPTION...
    local command=("$3" -d "$device" -F -p PORT "${@:4}")
    [[ $3 == ib_atomic_* ]] || command+=(-s "$2")
    [[ $device != soft0 ]] || command=(env "LD_PRELOAD=$build/.libs/libodrc-verbs.so" "${command[@]}")
    served "${command[@]}" -- "${command[@]}" localhost |
        awk -v size="$2" -v column="$1" '$1 == size { print $column }'
}

mpi() { # MPI PROGRAM ARGUMENT...
    local program=$build/$2 options=()
    case $1 in
    odrc_mpi) program=$build/our_$2 ;;
    open_mpi_odrc) options=(--mca opal_common_ofi_provider_include odrc --mca pml cm --mca mtl ofi) ;;
    open_mpi) options=(--mca pml ob1 --mca btl "self,vader") ;;
    esac
    timeout 120 mpirun -np 2 --bind-to core "${options[@]}" "$program" "${@:3}" </dev/null
}

# Why there is nothing to be measured of this contender on this machine; nothing where there is.
why_missing() { # CONTENDER
    case $1 in
    ucx) lacks ucx_perftest "Debian: ucx-utils" ;;
    perftest) lacks ib_send_lat "Debian: perftest" ;;
    soft_verbs | handover | blocks) [[ $device == soft0 ]] || echo "it is measured beside soft0" ;;
    odrc_mpi) lacks mpirun "Debian: openmpi-bin" || lacks "$build/our_mpi_sizes" "it needs PMIx" ;;
    open_mpi*) lacks mpirun "Debian: openmpi-bin" ||
        lacks "$build/mpi_sizes" "it needs libopenmpi-dev" ;;
    *)
        over "$1" odrc_latency -b 1 -i 1 >"$scratch/tried" 2>&1 || true
        ! grep -q 'fi_getinfo: No data' "$scratch/tried" ||
            echo "libfabric $(libfabric_version) offers no such endpoint here"
        ;;
    esac
}
# Why this one is not measured there, of those that would only hang or fail.
why_not() { # MEASUREMENT CONTENDER
    [[ $2 == "udp;ofi_rxd" ]] || return 0
    case $1 in
    atomics)
        [[ $(libfabric_version) != 1.17.* ]] ||
            echo "what fetches of libfabric 1.17 give there is wrong, or they crash"
        ;;
    instructions | cycles) echo "a send is over only while the other endpoint is polled as well" ;;
    esac
}
# Why a measurement is not made of anybody.
why_nothing() { # MEASUREMENT
    case $1 in
    instructions) lacks callgrind_annotate "Debian: valgrind" ;;
    cycles)
        lacks perf "Debian: linux-perf" || cycles_of true 2>/dev/null | grep -q . ||
            echo "perf counts no cycles on this machine"
        ;;
    esac
}
# Says so, and is true, where a program is not there.
lacks() { # PROGRAM WHENCE
    ! command -v "$1" >/dev/null || return 1
    echo "$(basename "$1") is not there ($2)"
}
libfabric_version() { fi_info --version 2>/dev/null | sed -n 's/^libfabric: //p'; }
