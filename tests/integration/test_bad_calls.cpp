// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// What no call of fi_msg(3), fi_tagged(3), fi_rma(3) and fi_atomic(3) takes: flags that are not
// its own, lengths over the limits, pieces that are not there.

#include "atomics.hpp"

using namespace duo;

namespace {

// One call of each *msg function that sends, with the same pieces.
struct Calls {
    explicit Calls(Duo& duo)
        : d{duo}
        , there{duo.b, 4096} {}

    ssize_t send(uint64_t flags) {
        const fi_msg m{.msg_iov = iov,
                       .desc = nullptr,
                       .iov_count = count,
                       .addr = d.to_b,
                       .context = nullptr,
                       .data = 0};
        return fi_sendmsg(d.a.ep(), &m, flags);
    }
    ssize_t tagged_send(uint64_t flags) {
        const fi_msg_tagged m{.msg_iov = iov,
                              .desc = nullptr,
                              .iov_count = count,
                              .addr = d.to_b,
                              .tag = 1,
                              .ignore = 0,
                              .context = nullptr,
                              .data = 0};
        return fi_tsendmsg(d.a.ep(), &m, flags);
    }
    ssize_t write(uint64_t flags) {
        const fi_rma_iov remote{there.at(0), length, there.key()};
        fi_msg_rma m = rma_message(d.to_b, {}, {&remote, 1}, nullptr);
        m.msg_iov = iov;
        m.iov_count = count;
        return fi_writemsg(d.a.ep(), &m, flags);
    }
    std::array<ssize_t, 3> all(uint64_t flags) {
        return {send(flags), tagged_send(flags), write(flags)};
    }
    static std::array<ssize_t, 3> thrice(ssize_t result) { return {result, result, result}; }

    Duo& d;
    Shared there;
    const iovec* iov{nullptr};
    size_t count{0};
    size_t length{0};
};

} // namespace

TEST_CASE("flags that are not a call's own are refused") {
    Duo d{kAtomicWishes};
    Calls calls{d};
    for (const uint64_t flag : {FI_COMMIT_COMPLETE, FI_MULTICAST, FI_MULTI_RECV, FI_PEEK, FI_CLAIM,
                                FI_DISCARD, FI_TAGGED, FI_MSG, FI_READ, FI_RECV}) {
        CAPTURE(flag);
        CHECK(calls.all(flag) == Calls::thrice(-FI_EBADFLAGS));
    }
    for (const uint64_t flag : {FI_COMMIT_COMPLETE, FI_MULTICAST, FI_INJECT, FI_FENCE, FI_TAGGED,
                                FI_MSG, FI_REMOTE_CQ_DATA, FI_SEND}) {
        CAPTURE(flag);
        const fi_msg m{};
        CHECK(fi_recvmsg(d.b.ep(), &m, flag) == -FI_EBADFLAGS);
        const fi_msg_tagged t{};
        CHECK(fi_trecvmsg(d.b.ep(), &t, flag) == -FI_EBADFLAGS);
    }
    CHECK(d.a.outcomes.empty());
    CHECK(d.b.outcomes.empty());
}

TEST_CASE("pieces that are said to be there, and are not") {
    Duo d{kAtomicWishes};
    Calls calls{d};
    calls.count = 1;
    CHECK(calls.all(0) == Calls::thrice(-FI_EINVAL));
    fid_ep* ep = d.a.ep();
    CHECK(fi_sendv(ep, nullptr, nullptr, 2, d.to_b, nullptr) == -FI_EINVAL);
    CHECK(fi_recvv(ep, nullptr, nullptr, 2, d.to_b, nullptr) == -FI_EINVAL);
    CHECK(fi_tsendv(ep, nullptr, nullptr, 2, d.to_b, 1, nullptr) == -FI_EINVAL);
    CHECK(fi_trecvv(ep, nullptr, nullptr, 2, d.to_b, 1, 0, nullptr) == -FI_EINVAL);
    CHECK(fi_writev(ep, nullptr, nullptr, 2, d.to_b, 0, 0, nullptr) == -FI_EINVAL);
    CHECK(fi_readv(ep, nullptr, nullptr, 2, d.to_b, 0, 0, nullptr) == -FI_EINVAL);
    CHECK(fi_atomicv(ep, nullptr, nullptr, 2, d.to_b, 0, 0, FI_UINT64, FI_SUM, nullptr) ==
          -FI_EINVAL);
    char byte = 0;
    const iovec iov{&byte, 1};
    fi_msg_rma m = rma_message(d.to_b, {&iov, 1}, {}, nullptr);
    m.rma_iov_count = 1;
    CHECK(fi_writemsg(ep, &m, 0) == -FI_EINVAL);
    CHECK(fi_readmsg(ep, &m, 0) == -FI_EINVAL);

    // None is none, and fine.
    calls.count = 0;
    CHECK(calls.all(0) == Calls::thrice(0));
    for (int i = 0; i < 3; ++i) CHECK_FALSE(d.outcome(d.a, nullptr).error);
}

TEST_CASE("more bytes than a message may have are refused, however they come about") {
    Duo d{kAtomicWishes};
    Calls calls{d};
    const size_t most = d.a.endpoint.info().ep_attr->max_msg_size;
    char byte = 0;
    const std::vector<std::vector<iovec>> lists{
        {{&byte, most + 1}},
        {{&byte, most}, {&byte, 1}},
        {{&byte, SIZE_MAX}, {&byte, 1}},
        {{&byte, SIZE_MAX / 2 + 1}, {&byte, SIZE_MAX / 2 + 1}}};
    for (const auto& list : lists) {
        calls.iov = list.data();
        calls.count = list.size();
        calls.length = 0;
        for (const iovec& v : list) calls.length += v.iov_len;
        CHECK(calls.all(0) == Calls::thrice(-FI_EMSGSIZE));
    }
}

TEST_CASE("what is injected has its limit in every call, and may be as long as that") {
    Duo d{kAtomicWishes};
    Calls calls{d};
    fid_ep* ep = d.a.ep();
    const size_t most = d.a.endpoint.info().tx_attr->inject_size;
    std::vector<char> bytes(most + 1);
    const char* b = bytes.data();
    const uint64_t at = calls.there.at(0), key = calls.there.key();
    for (const bool over : {true, false}) {
        const size_t n = most + over;
        const ssize_t result = over ? -FI_EMSGSIZE : 0;
        const iovec halves[2] = {{bytes.data(), n / 2}, {bytes.data(), n - n / 2}};
        calls.iov = halves;
        calls.count = 2;
        calls.length = n;
        CHECK(calls.all(FI_INJECT) == Calls::thrice(result));
        CHECK(fi_inject(ep, b, n, d.to_b) == result);
        CHECK(fi_injectdata(ep, b, n, 1, d.to_b) == result);
        CHECK(fi_tinject(ep, b, n, d.to_b, 1) == result);
        CHECK(fi_tinjectdata(ep, b, n, 1, d.to_b, 1) == result);
        CHECK(fi_inject_write(ep, b, n, d.to_b, at, key) == result);
        CHECK(fi_inject_writedata(ep, b, n, 1, d.to_b, at, key) == result);
        CHECK(fi_inject_atomic(ep, b, n, d.to_b, at, key, FI_UINT8, FI_BOR) == result);
        const fi_ioc ioc{bytes.data(), n};
        const fi_rma_ioc remote{at, n, key};
        const fi_msg_atomic m =
            atomic_message(d.to_b, {&ioc, 1}, {&remote, 1}, FI_UINT8, FI_BOR, nullptr);
        CHECK(fi_atomicmsg(ep, &m, FI_INJECT) == result);
    }
}
