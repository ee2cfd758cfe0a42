// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "keyvals.hpp"

#include <unordered_map>

namespace odrc::mpi {

namespace {

std::unordered_map<int, Keyval>& keyvals() {
    static auto& all = *new std::unordered_map<int, Keyval>;
    return all;
}

} // namespace

int make_keyval(const Keyval& keyval) {
    static int last = kFirstKeyval;
    keyvals().emplace(++last, keyval);
    return last;
}

Keyval* keyval_of(int number) noexcept {
    const auto found = keyvals().find(number);
    return found == keyvals().end() ? nullptr : &found->second;
}

namespace {

void forget_if_over(int number, const Keyval& keyval) noexcept {
    if (keyval.freed && keyval.users == 0) keyvals().erase(number);
}

} // namespace

void free_keyval(int number) noexcept {
    Keyval* keyval = keyval_of(number);
    if (!keyval) return;
    keyval->freed = true;
    forget_if_over(number, *keyval);
}

void drop_keyval(int number) noexcept {
    Keyval* keyval = keyval_of(number);
    if (!keyval) return;
    --keyval->users;
    forget_if_over(number, *keyval);
}

} // namespace odrc::mpi
