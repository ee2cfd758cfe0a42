// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "hints.hpp"

#include "info.hpp"

namespace odrc::mpi {
namespace {

constexpr std::string_view kDatatype = "odrc_datatype";

} // namespace

void Hints::take(const Info& info) {
    const std::string* text = info.find(kDatatype);
    const auto wanted = text ? scheme_of(*text) : std::nullopt;
    if (!wanted) return;
    scheme_ = *wanted;
    scheme_text_ = *text;
}

void Hints::tell(Info& info) const {
    if (!scheme_text_.empty()) info.set(kDatatype, scheme_text_);
}

} // namespace odrc::mpi
