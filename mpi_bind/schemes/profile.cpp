// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#define FMT_HEADER_ONLY // no shared library for the programs that are linked to us
#include <fmt/format.h>

#include "schemes/profile.hpp"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace odrc::mpi {

SchemeProfile::SchemeProfile() {
    if (const char* path = std::getenv("ODRC_MPI_PROFILE")) path_ = path;
}

void SchemeProfile::count_alike(const Offer& offer, const Shape& receiver, uint64_t bytes,
                                const Plan& plan) {
    Decision& decision = count({plan.scheme, plan.segment, std::bit_width(bytes),
                                std::bit_width(offer.shape.piece), std::bit_width(receiver.piece)},
                               receiver, bytes);
    decision.sender = offer.shape;
    decision.expected = plan.expected;
}

void SchemeProfile::count_alike(const Shape& receiver, uint64_t bytes, const char* why) {
    count({std::nullopt, 0, std::bit_width(bytes), 0, std::bit_width(receiver.piece)}, receiver,
          bytes)
        .why = why;
}

SchemeProfile::Decision& SchemeProfile::count(const Alike& alike, const Shape& receiver,
                                              uint64_t bytes) {
    Decision& decision = decisions_[alike];
    ++decision.messages;
    decision.bytes += bytes;
    decision.receiver = receiver;
    return decision;
}

void SchemeProfile::report(int rank) const noexcept {
    if (decisions_.empty()) return;
    std::string text;
    for (const auto& [alike, d] : decisions_) {
        const std::optional<Scheme> scheme = std::get<0>(alike);
        text += fmt::format(R"({{"rank":{},"scheme":"{}","segment":{},"messages":{},"bytes":{},)"
                            R"("receiver_piece":{},"receiver_median":{},)",
                            rank, scheme ? name_of(*scheme) : "as-it-is", std::get<1>(alike),
                            d.messages, d.bytes, d.receiver.piece, d.receiver.median);
        if (!scheme) {
            text += fmt::format(R"("why":"{}"}})", d.why);
            text += '\n';
            continue;
        }
        text += fmt::format(R"("sender_piece":{},"sender_median":{},"expected_us":{{)",
                            d.sender.piece, d.sender.median);
        const char* separator = "";
        for (size_t i = 0; i < kSchemes; ++i) {
            if (std::isinf(d.expected[i])) continue; // it could not be taken
            text += fmt::format(R"({}"{}":{:.2f})", separator, name_of(static_cast<Scheme>(i)),
                                d.expected[i] / 1000);
            separator = ",";
        }
        text += "}}\n";
    }
    const bool is_file = path_ != "1";
    std::FILE* file =
        is_file ? std::fopen(fmt::format("{}.{}", path_, rank).c_str(), "ae") : stderr;
    if (!file) return;
    std::fwrite(text.data(), 1, text.size(), file);
    if (is_file) std::fclose(file);
}

} // namespace odrc::mpi
