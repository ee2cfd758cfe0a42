// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace odrc::mpi {

// Memory for the bytes of a message whose data is not in one piece. For what is short it is kept
// here, and for what is longer by the process, as long as that has enough of it.
class Packed {
public:
    enum class From : uint8_t {
        kept, // by us, if there is enough
        anew, // by the system, for this message alone
    };

    Packed() = default;
    ~Packed() { drop(); }
    Packed(const Packed&) = delete;
    Packed& operator=(const Packed&) = delete;

    std::byte* make(size_t bytes, From from = From::kept);
    void drop() noexcept {
        if (place_) give_up();
    }
    // Null: there is none.
    std::byte* get() const noexcept { return place_; }
    explicit operator bool() const noexcept { return place_ != nullptr; }

private:
    static constexpr size_t kShort = 4096;

    void give_up() noexcept;

    std::byte* place_{nullptr};
    size_t taken_{0};                    // bytes of what the process keeps
    std::unique_ptr<std::byte[]> short_; // of kShort bytes
    std::unique_ptr<std::byte[]> long_;
};

} // namespace odrc::mpi
