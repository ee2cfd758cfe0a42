// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace odrc::mpi {

// What ends a program that has just begun: there is no communicator yet whose handler could be
// asked.
class StartError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// The job that a process is of, as its launcher's PMIx server tells it (PMIx 4, 11.1), or by itself
// where there is no server.
class Launch {
public:
    Launch(); // throws StartError
    ~Launch();
    Launch(const Launch&) = delete;
    Launch& operator=(const Launch&) = delete;

    int rank() const noexcept { return rank_; }
    int size() const noexcept { return size_; }
    int universe_size() const noexcept { return universe_size_; }
    int program() const noexcept { return program_; } // its number among those of the job
    // Ranks of this host, in order, our own among them.
    const std::vector<int>& neighbours() const noexcept { return neighbours_; }

    // How much of what each says of itself all are about to ask for.
    enum class Exchange : uint8_t {
        none, // whoever wants to know asks, and the server asks that of the other host
        all,
    };
    // Says once how others speak to us, and waits until those of this host have, or all. Throws
    // StartError.
    void publish(std::span<const std::byte> contact, Exchange exchange);
    // How to speak to another one. Throws StartError.
    std::vector<std::byte> contact_of(int rank) const;

    // Waits until all are here.
    void meet() const noexcept;
    [[noreturn]] void abort(int code, const char* text) const noexcept;

private:
    struct Server;
    std::unique_ptr<Server> server_; // null: there is none
    int rank_{0};
    int size_{1};
    int universe_size_{1};
    int program_{0};
    std::vector<int> neighbours_{0};
    std::vector<std::byte> own_;
};

} // namespace odrc::mpi
