// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Tagged messages of eight bytes between two endpoints of one process, each step of them a
// function of its own, for a program that counts instructions: bench/instructions.

#include "bench/job.hpp"
#include "fabtests_ext/support/options.hpp"

#include <array>
#include <rdma/fi_errno.h>

namespace {

using namespace fabtests_ext;

struct Options {
    Choice choice;
    int messages{1'000};
    bool job{false};
};

constexpr uint64_t kCaps = FI_TAGGED | FI_DIRECTED_RECV;

struct Side {
    Side(const Options& options, uint32_t rank)
        : endpoint{options.choice,
                   options.job ? bench::wishes_in_job(rank, 2, kCaps) : Wishes{.caps = kCaps}} {}

    void post_receive() {
        check(fi_trecv(endpoint.ep(), bytes.data(), bytes.size(), nullptr, peer, 0, 0, &context),
              "fi_trecv");
    }
    ssize_t try_send() {
        return fi_tsend(endpoint.ep(), bytes.data(), bytes.size(), nullptr, peer, 0, &context);
    }
    void inject() {
        check(fi_tinject(endpoint.ep(), bytes.data(), bytes.size(), peer, 0), "fi_tinject");
    }
    bool look() {
        fi_cq_tagged_entry entry;
        const ssize_t n = fi_cq_read(endpoint.cq(), &entry, 1);
        if (n != -FI_EAGAIN) check(n, "fi_cq_read");
        return n == 1;
    }
    void complete() {
        while (!look()) {
        }
    }

    Endpoint endpoint;
    std::array<char, 8> bytes{};
    fi_context2 context{};
    fi_addr_t peer{FI_ADDR_NOTAVAIL};
};

// Makes the connection, and whatever else is made once.
void warm_up(Side& from, Side& to, int messages) {
    for (int i = 0; i < messages; ++i) {
        to.post_receive();
        ssize_t result;
        while ((result = from.try_send()) == -FI_EAGAIN) {
            from.look();
            to.look();
        }
        check(result, "fi_tsend");
        bool sent = false, received = false;
        while (!sent || !received) {
            sent = from.look() || sent;
            received = to.look() || received;
        }
    }
}

} // namespace

// The steps that are counted, under names that can be asked for.
extern "C" {

[[gnu::noinline]] void step_post_receive(Side& side) { side.post_receive(); }
[[gnu::noinline]] void step_post_send(Side& side) { check(side.try_send(), "fi_tsend"); }
[[gnu::noinline]] void step_inject(Side& side) { side.inject(); }
[[gnu::noinline]] void step_complete_send(Side& side) { side.complete(); }
[[gnu::noinline]] void step_complete_receive(Side& side) { side.complete(); }
[[gnu::noinline]] void step_look_in_vain(Side& side) { side.look(); }

} // extern "C"

int main(int argc, char** argv) {
    Options options;
    CLI::App app{"Tagged messages of eight bytes, step by step."};
    add_choice(app, options.choice);
    app.add_option("-n,--messages", options.messages)->capture_default_str();
    app.add_flag("-j,--job", options.job, "the endpoints are of one job: odrc's addresses");
    CLI11_PARSE(app, argc, argv);
    Side from{options, 0}, to{options, 1};
    from.peer = from.endpoint.insert(to.endpoint.name());
    to.peer = to.endpoint.insert(from.endpoint.name());
    warm_up(from, to, options.messages);
    for (int i = 0; i < options.messages; ++i) {
        step_post_receive(to);
        step_post_send(from);
        step_complete_send(from);
        step_complete_receive(to);
        step_look_in_vain(to);
    }
    for (int i = 0; i < options.messages; ++i) {
        to.post_receive();
        step_inject(from);
        from.look();
        to.complete();
    }
}
