// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// IDA* on the 15-puzzle, as in Multigame: a position goes to the process that has its entry in a
// table which is distributed over all, in a job that nobody waits for, many to a message.

#include "bench/patterns/program.hpp"
#include "bench/patterns/termination.hpp"
#include "bench/problems/fifteen.hpp"

namespace bench {
namespace {

struct Options : Setting {
    int moves{50};
    size_t jobs{64}; // in a message
};

class Search {
public:
    Search(Process& process, size_t jobs_in_message)
        : process_{process}
        , most_{jobs_in_message}
        , outgoing_(size_t(process.size()))
        , termination_{process.messenger} {
        process.messenger.on(Kind::jobs, [this](int, Bytes body) {
            termination_.received();
            while (!body.empty()) open_.push_back(take<Job>(body));
        });
        for (auto& jobs : outgoing_) jobs.reserve(most_);
    }

    SearchResult solve(const Job& root) {
        SearchResult result;
        for (unsigned bound = root.left; result.solutions == 0; bound += 2) {
            const auto [nodes, solutions] = iterate(root, bound);
            result.nodes += process_.agreement.sum(nodes);
            result.solutions = process_.agreement.sum(solutions);
            result.length = bound;
        }
        return result;
    }

private:
    struct Found {
        uint64_t nodes{0}, solutions{0};
    };

    Found iterate(const Job& root, unsigned bound) {
        Found found;
        seen_.clear();
        if (owner(root) == process_.rank()) open_.push_back(root);
        do {
            work(bound, found);
            process_.messenger.poll_or_yield();
        } while (!open_.empty() || !termination_.ended());
        return found;
    }

    void work(unsigned bound, Found& found) {
        while (!open_.empty()) {
            const Job job = open_.back();
            open_.pop_back();
            if (!seen_.insert(job)) continue;
            ++found.nodes;
            if (job.left == 0) ++found.solutions;
            expand(job, bound, [&](const Job& next) { pass_on(next); });
            if (found.nodes % kPatience == 0) process_.messenger.poll();
        }
        for (int to = 0; to < process_.size(); ++to) flush(to);
    }

    int owner(const Job& job) const noexcept {
        return int(hash_of(job.tiles) % uint64_t(process_.size()));
    }

    void pass_on(const Job& job) {
        const int to = owner(job);
        if (to == process_.rank()) return open_.push_back(job);
        outgoing_[size_t(to)].push_back(job);
        if (outgoing_[size_t(to)].size() == most_) flush(to);
    }

    void flush(int to) {
        auto& jobs = outgoing_[size_t(to)];
        if (jobs.empty()) return;
        termination_.sent();
        process_.messenger.send(to, Kind::jobs, {std::as_bytes(std::span{jobs})});
        jobs.clear();
    }

    static constexpr uint64_t kPatience = 16; // jobs done before others' are looked for

    Process& process_;
    size_t most_;
    JobSet seen_;
    std::vector<Job> open_;
    std::vector<std::vector<Job>> outgoing_; // by rank
    Termination termination_;
};

int run(fabtests_ext::Team& team, const Options& options) {
    Process process{team, options, options.jobs * sizeof(Job)};
    const Job root = shuffled(options.moves, options.seed);
    Search search{process, options.jobs};
    SearchResult result;
    process.measure([&] { result = search.solve(root); });
    if (process.rank() == 0)
        std::printf("length %u\nnodes %lu\nsolutions %lu\n", result.length, result.nodes,
                    result.solutions);
    return process.conclude(result == search_alone(root));
}

} // namespace
} // namespace bench

int main(int argc, char** argv) {
    bench::Options options;
    fabtests_ext::CommandLine command{"IDA* on the 15-puzzle."};
    bench::add_setting(command, options);
    command.option("-m,--moves", options.moves, "of a random walk away from the goal");
    command.option("-j,--jobs", options.jobs, "in a message").positive();
    if (!command.read(argc, argv)) return command.status();
    return fabtests_ext::run_team(options.processes,
                                  [&](auto& team) { return bench::run(team, options); });
}
