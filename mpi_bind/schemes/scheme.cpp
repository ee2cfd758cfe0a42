// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "schemes/scheme.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace odrc::mpi {
namespace {

constexpr std::array<std::string_view, kSchemes> kNames{"generic", "bc-spup", "rwg-up", "p-rrs",
                                                        "multi-w"};

bool has_segments(Scheme scheme) noexcept {
    return scheme == Scheme::bc_spup || scheme == Scheme::rwg_up || scheme == Scheme::p_rrs;
}

bool read_detail(std::string_view text, WantedScheme& wanted) noexcept {
    if (text == "whole") return wanted.whole = wanted.scheme == Scheme::rwg_up;
    if (text == "single") return wanted.single = wanted.scheme == Scheme::multi_w;
    if (!has_segments(*wanted.scheme)) return false;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), wanted.segment);
    return error == std::errc{} && end == text.data() + text.size() && wanted.segment > 0;
}

WantedScheme of_environment() noexcept {
    const char* text = std::getenv("ODRC_MPI_DATATYPE");
    if (!text || !*text) return {};
    if (const auto wanted = scheme_of(text)) return *wanted;
    std::fprintf(stderr,
                 "odrc-mpi: ODRC_MPI_DATATYPE=%s: not auto, generic, bc-spup, rwg-up, p-rrs or "
                 "multi-w, the bytes of a segment behind a colon, rwg-up:whole or "
                 "multi-w:single\n",
                 text);
    return {};
}

} // namespace

std::string_view name_of(Scheme scheme) noexcept { return kNames[static_cast<size_t>(scheme)]; }

std::optional<WantedScheme> scheme_of(std::string_view text) noexcept {
    WantedScheme wanted;
    if (text == "auto") return wanted;
    const size_t colon = text.find(':');
    const std::string_view name = text.substr(0, colon);
    for (size_t i = 0; i < kNames.size(); ++i)
        if (name == kNames[i]) wanted.scheme = static_cast<Scheme>(i);
    if (!wanted.scheme) return std::nullopt;
    if (colon != text.npos && !read_detail(text.substr(colon + 1), wanted)) return std::nullopt;
    return wanted;
}

const WantedScheme& wanted_scheme() noexcept {
    static const WantedScheme wanted = of_environment();
    return wanted;
}

} // namespace odrc::mpi
