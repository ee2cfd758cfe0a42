// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Iterative linear equations (Jacobi) with the vector replicated: in each iteration everybody
// broadcasts its part of the next one, at the same time, and then how much it changed, to agree on
// whether that was enough.

#include "bench/patterns/program.hpp"
#include "bench/patterns/total_order.hpp"
#include "bench/problems/linear_system.hpp"

#include <utility>

namespace bench {
namespace {

struct Options : Setting {
    size_t equations{512};
    Ordering ordering;
};

// The replicated vector, and how much it changed. Either is whole when all have sent their part,
// and nobody sends one of the next before that.
class Replica {
public:
    Replica(Process& process, size_t size, const Ordering& ordering)
        : process_{process}
        , next_(size)
        , order_{make_order(ordering, process.messenger, bytes_of_part(process, size),
                            [this](int, Bytes b) { update(b); })} {}

    // Of the longest.
    static size_t bytes_of_part(const Process& process, size_t size) noexcept {
        const size_t most = (size + size_t(process.size()) - 1) / size_t(process.size());
        return 1 + sizeof(size_t) + most * sizeof(double);
    }

    // The next vector.
    const std::vector<double>& exchange(size_t first, const std::vector<double>& part) {
        const Bytes values = std::as_bytes(std::span{part});
        std::vector<std::byte> bytes{std::byte{kPart}};
        bytes.insert(bytes.end(), bytes_of(first).begin(), bytes_of(first).end());
        bytes.insert(bytes.end(), values.begin(), values.end());
        broadcast(bytes, parts_);
        return next_;
    }

    // The most that anybody's changed.
    double agree(double change) {
        std::vector<std::byte> bytes{std::byte{kChange}};
        bytes.insert(bytes.end(), bytes_of(change).begin(), bytes_of(change).end());
        broadcast(bytes, changes_);
        return std::exchange(most_, 0);
    }

private:
    static constexpr unsigned char kPart = 0, kChange = 1;

    void broadcast(Bytes bytes, int& come) {
        order_->broadcast(bytes);
        process_.messenger.wait_until([&] { return come == process_.size(); });
        come = 0;
    }

    void update(Bytes body) {
        if (take<unsigned char>(body) == kChange) {
            most_ = std::max(most_, take<double>(body));
            ++changes_;
            return;
        }
        const auto first = take<size_t>(body);
        if (first > next_.size() || body.size() > (next_.size() - first) * sizeof(double))
            throw std::out_of_range{"a part is outside of the vector"};
        std::memcpy(next_.data() + first, body.data(), body.size());
        ++parts_;
    }

    Process& process_;
    std::vector<double> next_;
    double most_{0};
    int parts_{0}, changes_{0};
    std::unique_ptr<TotalOrder> order_;
};

Solution solve(Process& process, const LinearSystem& system, Replica& replica) {
    Solution solution{std::vector<double>(system.size())};
    const size_t first = process.first_of(system.size()), end = process.end_of(system.size());
    std::vector<double> part(end - first);
    for (double change = 1; change > kPrecision; ++solution.iterations) {
        change = 0;
        for (size_t i = first; i < end; ++i) {
            part[i - first] = system.improve(solution.x, i);
            change = std::max(change, std::abs(part[i - first] - solution.x[i]));
        }
        solution.x = replica.exchange(first, part);
        change = replica.agree(change);
    }
    return solution;
}

int run(fabtests_ext::Team& team, const Options& options) {
    Process process{team, options, sizeof(double) * (options.equations + 3),
                    options.ordering.groups()};
    const LinearSystem system{options.equations, options.seed};
    Replica replica{process, options.equations, options.ordering};
    Solution solution;
    process.measure([&] { solution = solve(process, system, replica); });
    if (process.rank() == 0) std::printf("iterations %lu\n", solution.iterations);
    return process.conclude(solution == solve_alone(system));
}

} // namespace
} // namespace bench

int main(int argc, char** argv) {
    bench::Options options;
    fabtests_ext::CommandLine command{
        "Linear equations, with simultaneous updates of a replicated vector."};
    bench::add_setting(command, options);
    command.option("-e,--equations", options.equations);
    bench::add_ordering(command, options.ordering);
    if (!command.read(argc, argv)) return command.status();
    return fabtests_ext::run_team(options.processes,
                                  [&](auto& team) { return bench::run(team, options); });
}
