// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// IDA* on the 15-puzzle: a position goes to the rank that has its entry in a table which is
// distributed over all, in a job that nobody waits for, many to a message.

#include "bench/apps/one_way.hpp"
#include "bench/problems/fifteen.hpp"

namespace {

using namespace bench;

constexpr uint64_t kPatience = 16; // jobs done before others' are looked for

class Search {
public:
    Search(const Ranks& ranks, size_t jobs_in_message)
        : ranks_{ranks}
        , messages_{ranks, jobs_in_message} {}

    SearchResult solve(const Job& root) {
        SearchResult result;
        for (unsigned bound = root.left; result.solutions == 0; bound += 2) {
            found_[0] = found_[1] = 0;
            iterate(root, bound);
            uint64_t all[2];
            MPI_Allreduce(found_, all, 2, MPI_UINT64_T, MPI_SUM, ranks_.comm);
            result.nodes += all[0];
            result.solutions = all[1];
            result.length = bound;
        }
        return result;
    }

private:
    void iterate(const Job& root, unsigned bound) {
        seen_.clear();
        if (owner(root) == ranks_.rank) open_.push_back(root);
        do {
            work(bound);
            take_in();
        } while (!open_.empty() || !messages_.ended());
    }

    void work(unsigned bound) {
        while (!open_.empty()) {
            const Job job = open_.back();
            open_.pop_back();
            if (!seen_.insert(job)) continue;
            ++found_[0];
            found_[1] += job.left == 0;
            expand(job, bound, [&](const Job& next) {
                if (owner(next) == ranks_.rank)
                    open_.push_back(next);
                else
                    messages_.put(owner(next), next);
            });
            if (found_[0] % kPatience == 0) take_in();
        }
        messages_.flush_all();
    }

    void take_in() {
        messages_.poll([this](const Job& job) { open_.push_back(job); });
    }
    int owner(const Job& job) const noexcept {
        return int(hash_of(job.tiles) % uint64_t(ranks_.size));
    }

    const Ranks& ranks_;
    OneWay<Job> messages_;
    JobSet seen_;
    std::vector<Job> open_;
    uint64_t found_[2]{}; // in this iteration: nodes and solutions
};

} // namespace

int main(int argc, char** argv) {
    const Mpi mpi{argc, argv};
    int moves = 50;
    size_t jobs = 64;
    CommandLine command{"IDA* on the 15-puzzle."};
    command.option("-s,--size", moves, "moves of a random walk away from the goal");
    command.option("-j,--jobs", jobs, "in a message").positive();
    if (!command.read(argc, argv)) return command.status();
    const Ranks ranks{MPI_COMM_WORLD};
    const Job root = shuffled(moves, 1);
    Search search{ranks, jobs};
    const SearchResult together = measure([&] { return search.solve(root); });
    return conclude(together == search_alone(root));
}
