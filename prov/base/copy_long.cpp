// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "base/copy_long.hpp"

#include <algorithm>
#include <cstring>

namespace odrc {

void copy_long(std::byte* out, const std::byte* in, size_t length) noexcept {
    while (length > 0) {
        size_t piece = std::min(length, kCopiedAtOnce);
        asm("" : "+r"(piece)); // the compiler would use it, if it knew
        std::memcpy(out, in, piece);
        out += piece;
        in += piece;
        length -= piece;
    }
}

} // namespace odrc
