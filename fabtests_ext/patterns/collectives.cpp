// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "fabtests_ext/patterns/patterns.hpp"

#include <bit>

namespace fabtests_ext {
namespace {

// With the ranks whose number differs in one bit.
void double_recursively(Member& m, int size) {
    for (int distance = 1; distance < size; distance *= 2)
        m.exchange(m.rank() ^ distance, m.rank() ^ distance);
}

bool power_of_two(int n) noexcept { return std::has_single_bit(static_cast<unsigned>(n)); }

} // namespace

void idle(Member&) {}

void ring(Member& m) {
    m.exchange((m.rank() + 1) % m.size(), (m.rank() + m.size() - 1) % m.size());
}

void barrier(Member& m) {
    const auto core = static_cast<int>(std::bit_floor(static_cast<unsigned>(m.size())));
    if (m.rank() >= core) {
        m.send(m.rank() - core);
        m.receive(m.rank() - core);
        return;
    }
    const bool has_another = m.rank() < m.size() - core;
    if (has_another) m.receive(m.rank() + core);
    double_recursively(m, core);
    if (has_another) m.send(m.rank() + core);
}

void allreduce(Member& m) { barrier(m); }

void broadcast(Member& m) {
    int bit = 1;
    while (bit < m.size() && !(m.rank() & bit)) bit *= 2;
    if (m.rank() != 0) m.receive(m.rank() - bit);
    for (bit /= 2; bit > 0; bit /= 2)
        if (m.rank() + bit < m.size()) m.send(m.rank() + bit);
}

void gather(Member& m) {
    if (m.rank() != 0) return m.send(0);
    for (int from = 1; from < m.size(); ++from) m.receive(from);
}

void allgather(Member& m) {
    if (power_of_two(m.size())) return double_recursively(m, m.size());
    for (int i = 1; i < m.size(); ++i) ring(m);
}

void alltoall(Member& m) {
    for (int shift = 1; shift < m.size(); ++shift)
        m.exchange((m.rank() + shift) % m.size(), (m.rank() + m.size() - shift) % m.size());
}

} // namespace fabtests_ext
