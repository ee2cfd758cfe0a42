// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Tagged messages between two processes of this host: how long one takes, the first one with the
// connection that it needs or those after it, or how many go through.

#include "support/options.hpp"
#include "support/pin.hpp"
#include "support/samples.hpp"
#include "support/spin.hpp"

#include <algorithm>

namespace fabtests_ext {
namespace {

struct Options {
    Choice choice;
    uint32_t format{FI_FORMAT_UNSPEC};
    std::vector<size_t> sizes{8};
    int batches{50};
    int iterations{1'000};
    int window{0}; // 0: to and fro
    bool first{false};
};

// Bytes after which a batch of large messages has lasted long enough.
constexpr size_t kBatchBytes = 64u << 20;

class Member {
public:
    Member(Team& team, const Options& options)
        : team_{team}
        , options_{options}
        , endpoint_{options.choice,
                    {.caps = FI_TAGGED | FI_DIRECTED_RECV, .address_format = options.format}}
        , peer_{endpoint_.introduce(team)[team.rank() == 0 ? 1 : 0]}
        , out_(std::max(std::ranges::max(options.sizes), kAcknowledgement), 'o')
        , in_(out_.size())
        , contexts_(static_cast<size_t>(options.window) + 4) {}

    void run() {
        for (const size_t size : options_.sizes) {
            if (options_.window > 0)
                stream(size);
            else
                ping_pong(size);
        }
        team_.barrier();
    }

    // Nothing has gone between the two before: how long it takes there and back.
    void first_word(Samples& samples) {
        const size_t size = options_.sizes.front();
        post_receive(size);
        team_.barrier();
        const Stopwatch watch;
        if (first()) send(size);
        drain();
        if (!first()) send(size);
        drain();
        samples.add(watch.nanoseconds() / 1e3);
        team_.barrier();
    }

private:
    static constexpr size_t kAcknowledgement = 8;

    bool first() const noexcept { return team_.rank() == 0; }
    int iterations(size_t size) const noexcept {
        const auto most = static_cast<int>(kBatchBytes / std::max<size_t>(size, 1));
        return std::clamp(options_.iterations, 1, std::max(most, 1));
    }

    // A receive always stands before the message that it is for, and is posted while another one is
    // on its way: there are two of them.
    void ping_pong(size_t size) {
        const int times = iterations(size);
        post_receive(size);
        post_receive(size);
        team_.barrier();
        Samples samples;
        for (int batch = 0; batch <= options_.batches; ++batch) {
            const Stopwatch watch;
            for (int i = 0; i < times; ++i) {
                if (!first()) drain(1);
                send(size);
                post_receive(size);
                if (first()) drain(2);
            }
            if (batch > 0) samples.add(watch.nanoseconds() / 2e3 / times);
        }
        if (first()) samples.report("latency." + std::to_string(size), "us");
        // The receives that are left take a last word each.
        send(size);
        send(size);
        drain();
    }

    // One way, a window at a time, which the receiver acknowledges.
    void stream(size_t size) {
        const int windows = (iterations(size) + options_.window - 1) / options_.window;
        Samples rate, bandwidth;
        for (int batch = 0; batch <= options_.batches; ++batch) {
            team_.barrier();
            const Stopwatch watch;
            for (int i = 0; i < windows; ++i) {
                if (first())
                    send_window(size);
                else
                    receive_window(size);
            }
            if (batch == 0) continue;
            const double messages = double(windows) * options_.window;
            rate.add(messages * 1e3 / watch.nanoseconds());
            bandwidth.add(messages * static_cast<double>(size) / watch.nanoseconds());
        }
        if (!first()) return;
        rate.report("rate." + std::to_string(size), "M/s");
        bandwidth.report("bandwidth." + std::to_string(size), "GB/s");
    }

    void send_window(size_t size) {
        post_receive(kAcknowledgement);
        for (int i = 0; i < options_.window; ++i) post_send(size);
        drain();
    }
    void receive_window(size_t size) {
        for (int i = 0; i < options_.window; ++i) post_receive(size);
        drain();
        send(kAcknowledgement);
        drain();
    }

    void post_receive(size_t size) {
        ++pending_;
        void* context = next_context();
        retry("fi_trecv", [&] {
            return fi_trecv(endpoint_.ep(), in_.data(), size, nullptr, peer_, 0, 0, context);
        });
    }
    void post_send(size_t size) {
        ++pending_;
        void* context = next_context();
        retry("fi_tsend", [&] {
            return fi_tsend(endpoint_.ep(), out_.data(), size, nullptr, peer_, 0, context);
        });
    }
    void send(size_t size) {
        if (size > endpoint_.info().tx_attr->inject_size) return post_send(size);
        retry("fi_tinject",
              [&] { return fi_tinject(endpoint_.ep(), out_.data(), size, peer_, 0); });
    }

    // Until all that was posted has completed, or all but so many.
    void drain(int left = 0) {
        spin_until([&] {
            if (pending_ > left) reap();
            return pending_ <= left;
        });
    }
    void reap() {
        fi_cq_tagged_entry entries[16];
        const ssize_t n = fi_cq_read(endpoint_.cq(), entries, std::size(entries));
        if (n > 0)
            pending_ -= static_cast<int>(n);
        else if (n != -FI_EAGAIN)
            endpoint_.poll(entries[0]); // says what the error is
    }

    template <class Call>
    void retry(const char* what, Call&& call) {
        ssize_t result;
        spin_until([&] {
            result = call();
            if (result == -FI_EAGAIN) reap();
            return result != -FI_EAGAIN;
        });
        check(result, what);
    }

    // A provider may use a context until its operation completes: there are more of them than
    // there are operations between two drains.
    void* next_context() noexcept { return &contexts_[next_++ % contexts_.size()]; }

    Team& team_;
    const Options& options_;
    Endpoint endpoint_;
    fi_addr_t peer_;
    std::vector<char> out_, in_;
    std::vector<fi_context2> contexts_;
    size_t next_{0};
    int pending_{0};
};

void run(Team& team, const Options& options) {
    if (!options.first) return Member{team, options}.run();
    Samples samples;
    for (int i = 0; i < options.batches; ++i) Member{team, options}.first_word(samples);
    if (team.rank() == 0) samples.report("first." + std::to_string(options.sizes.front()), "us");
}

} // namespace
} // namespace fabtests_ext

int main(int argc, char** argv) {
    using namespace fabtests_ext;
    Options options;
    CLI::App app{"Latency or rate of tagged messages between two processes."};
    add_choice(app, options.choice);
    add_format(app, options.format);
    app.add_option("-s,--size", options.sizes,
                   "of a message, in bytes; several are measured in turn")
        ->capture_default_str();
    app.add_option("-b,--batches", options.batches)->capture_default_str();
    app.add_option("-i,--iterations", options.iterations, "of a batch; fewer for large messages")
        ->capture_default_str();
    app.add_option("-w,--window", options.window,
                   "stream one way, so many messages at a time, instead of to and fro")
        ->check(CLI::NonNegativeNumber);
    app.add_flag("-f,--first", options.first,
                 "the first word between new endpoints, there and back, once in a batch");
    CLI11_PARSE(app, argc, argv);
    return run_team(2, [&](Team& team) {
        pin(team.rank());
        run(team, options);
        return 0;
    });
}
