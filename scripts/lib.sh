# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Sourced by the scripts in this folder: the set-up they have in common, on Debian 12.
#
# shellcheck shell=bash disable=SC2034 # what is set here, the scripts use

set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
trap 'echo "$(basename "$0"): failed: $BASH_COMMAND" >&2' ERR

build_packages=(
    autoconf automake g++ libtool make pkg-config
    libcli11-dev libfabric-dev libfmt-dev libibverbs-dev libpmix-dev libsodium-dev
)
run_packages=(
    hpcc iproute2 libfabric-bin netpipe-openmpi openmpi-bin openssh-client openssh-server
)
# What tests/rdma_vm needs is listed there.
check_packages=(
    ccache clang-14 clang-format doctest-dev git gnuplot-nox ibverbs-utils libclang-rt-14-dev
    libopenmpi-dev llvm perftest qperf shellcheck valgrind
)

say() { printf '\n==> %s\n' "$*"; }

# Installs what is missing, as root or through sudo.
install_packages() { # PACKAGE...
    local package missing=() root=()
    for package; do
        dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
            missing+=("$package")
    done
    ((${#missing[@]})) || return 0
    say "Installing Debian packages: ${missing[*]}"
    if ((EUID != 0)); then
        command -v sudo >/dev/null || {
            echo "Please install these packages as root, and run this again." >&2
            exit 1
        }
        root=(sudo)
    fi
    "${root[@]}" apt-get -qq update
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq install --no-install-recommends "${missing[@]}" >/dev/null
}

# Configures a build directory, unless it is.
configure_in() { # DIRECTORY CONFIGURE-OPTION...
    local directory=$1
    shift
    [[ -x $top/configure ]] || (cd "$top" && autoreconf --install)
    mkdir -p "$directory"
    [[ -e $directory/Makefile ]] || (cd "$directory" && "$top/configure" --quiet "$@")
}
