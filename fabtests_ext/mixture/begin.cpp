// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// How operations begin.

#include "fabtests_ext/mixture/member.hpp"

#include <bit>
#include <cstring>
#include <rdma/fi_errno.h>

namespace fabtests_ext::mixture {

// Around every power of two, and so around every limit there may be.
size_t Member::size_from(uint64_t r) const noexcept {
    const auto bits = r % uint64_t(std::bit_width(options_.max_size));
    const size_t size = (size_t{1} << bits) + (r >> 8) % 81;
    return std::min(size < 40 ? 0 : size - 40, options_.max_size);
}

uint64_t Member::message_id(int from, int to, uint64_t k) const noexcept {
    return scramble(options_.seed ^ scramble(uint64_t(from) << 48 ^ uint64_t(to) << 32 ^ k));
}

uint64_t Member::flags_for(size_t size) {
    uint64_t flags = FI_COMPLETION;
    if (random_() % 2) flags |= FI_MORE;
    if (random_() % 8 == 0) flags |= FI_DELIVERY_COMPLETE;
    if (size <= endpoint_.info().tx_attr->inject_size && random_() % 2) flags |= FI_INJECT;
    return flags;
}

bool Member::begin(int to) {
    switch (random_() % 8) {
    case 0:
    case 1:
        return send(to);
    case 2:
        return mark(to);
    case 3:
    case 4:
        return read(to);
    default:
        return write(to);
    }
}

std::unique_ptr<Operation> Member::make(Kind kind, int peer, size_t size, size_t limit) {
    return std::unique_ptr<Operation>{new Operation{.context = {},
                                                    .kind = kind,
                                                    .peer = peer,
                                                    .number = 0,
                                                    .pieces = {size, limit, random_},
                                                    .expected = {}}};
}

bool Member::keep(std::unique_ptr<Operation> op, ssize_t result, const char* call) {
    if (result == -FI_EAGAIN) return false;
    check(result, call);
    under_way_ += op->kind != Kind::receive && op->kind != Kind::farewell;
    operations_[&op->context] = std::move(op);
    return true;
}

bool Member::send(int to) {
    Peer& p = peers_[size_t(to)];
    const uint64_t id = message_id(team_.rank(), to, p.sent);
    std::vector<std::byte> bytes(size_from(id));
    fill(bytes.data(), bytes.size(), id);
    if (bytes.size() >= kMarkSize) std::memcpy(bytes.data(), &p.mark, kMarkSize);
    auto op = make(Kind::send, to, bytes.size(), endpoint_.info().tx_attr->iov_limit);
    op->pieces.put(bytes);
    const auto& iov = op->pieces.iov();
    const fi_msg_tagged m{.msg_iov = iov.data(),
                          .desc = nullptr,
                          .iov_count = iov.size(),
                          .addr = p.address,
                          .tag = kTag,
                          .ignore = 0,
                          .context = &op->context,
                          .data = 0};
    const uint64_t flags = flags_for(bytes.size());
    const ssize_t result = fi_tsendmsg(endpoint_.ep(), &m, flags);
    if (flags & FI_INJECT) op->pieces.put(std::vector<std::byte>(bytes.size()));
    if (!keep(std::move(op), result, "fi_tsendmsg")) return false;
    ++p.sent;
    bytes_ += bytes.size();
    return true;
}

// Pieces of the peer's memory, one behind the other.
std::vector<fi_rma_iov> Member::places(const Peer& p, size_t size) {
    const auto lengths = cut(size, endpoint_.info().tx_attr->rma_iov_limit, random_);
    const size_t gap = (slice_ - kMarkRoom - size) / lengths.size();
    std::vector<fi_rma_iov> list;
    uint64_t at = p.memory.addr + kMarkRoom;
    for (const size_t length : lengths) {
        at += random_() % (gap + 1);
        list.push_back({at, length, p.memory.key});
        at += length;
    }
    return list;
}

ssize_t Member::move(Operation& op, Peer& p, const std::vector<fi_rma_iov>& remote, uint64_t data,
                     uint64_t flags) {
    const auto& iov = op.pieces.iov();
    const fi_msg_rma m{.msg_iov = iov.data(),
                       .desc = nullptr,
                       .iov_count = iov.size(),
                       .addr = p.address,
                       .rma_iov = remote.data(),
                       .rma_iov_count = remote.size(),
                       .context = &op.context,
                       .data = data};
    return op.kind == Kind::read ? fi_readmsg(endpoint_.ep(), &m, flags)
                                 : fi_writemsg(endpoint_.ep(), &m, flags);
}

bool Member::write(int to) {
    Peer& p = peers_[size_t(to)];
    std::vector<std::byte> bytes(size_from(random_()));
    fill(bytes.data(), bytes.size(), random_());
    auto op = make(Kind::write, to, bytes.size(), endpoint_.info().tx_attr->iov_limit);
    op->pieces.put(bytes);
    const auto remote = places(p, bytes.size());
    uint64_t flags = flags_for(bytes.size());
    if (p.read_since) flags |= FI_FENCE;
    const ssize_t result = move(*op, p, remote, 0, flags);
    if (flags & FI_INJECT) op->pieces.put(std::vector<std::byte>(bytes.size()));
    if (!keep(std::move(op), result, "fi_writemsg")) return false;
    p.read_since = false;
    ++p.written;
    auto from = bytes.begin();
    for (const fi_rma_iov& r : remote) {
        std::copy_n(from, r.len, p.expected.begin() + long(r.addr - p.memory.addr));
        from += long(r.len);
    }
    bytes_ += bytes.size();
    return true;
}

bool Member::mark(int to) {
    Peer& p = peers_[size_t(to)];
    auto op = make(Kind::mark, to, kMarkSize, 1);
    const uint64_t mark = p.mark + 1;
    const auto* raw = reinterpret_cast<const std::byte*>(&mark);
    op->pieces.put({raw, raw + kMarkSize});
    uint64_t flags = flags_for(kMarkSize);
    if (random_() % 2) flags |= FI_REMOTE_CQ_DATA;
    const uint64_t data = uint64_t(team_.rank()) << 32 | mark;
    const ssize_t result = move(*op, p, {{p.memory.addr, kMarkSize, p.memory.key}}, data, flags);
    if (!keep(std::move(op), result, "fi_writemsg")) return false;
    p.mark = mark;
    ++p.written;
    std::memcpy(p.expected.data(), &mark, kMarkSize);
    return true;
}

bool Member::read(int to) {
    Peer& p = peers_[size_t(to)];
    const size_t size = size_from(random_());
    auto op = make(Kind::read, to, size, endpoint_.info().tx_attr->iov_limit);
    const auto remote = places(p, size);
    for (const fi_rma_iov& r : remote) {
        const auto from = p.expected.begin() + long(r.addr - p.memory.addr);
        op->expected.insert(op->expected.end(), from, from + long(r.len));
    }
    const ssize_t result = move(*op, p, remote, 0, flags_for(SIZE_MAX));
    if (!keep(std::move(op), result, "fi_readmsg")) return false;
    p.read_since = true;
    ++p.read;
    bytes_ += size;
    return true;
}

// As late as it may be, and some at a time.
void Member::post_receives() {
    const auto from = int(random_() % peers_.size());
    Peer& p = peers_[size_t(from)];
    for (uint64_t n = random_() % 8; n > 0 && p.receives < p.received + 8; --n)
        p.receives += post_receive(from, Kind::receive,
                                   size_from(message_id(from, team_.rank(), p.receives)));
}

bool Member::post_receive(int from, Kind kind, size_t size) {
    auto op = make(kind, from, size, endpoint_.info().rx_attr->iov_limit);
    op->number = peers_[size_t(from)].receives;
    const auto& iov = op->pieces.iov();
    const ssize_t result =
        fi_trecvv(endpoint_.ep(), iov.data(), nullptr, iov.size(), peers_[size_t(from)].address,
                  kind == Kind::receive ? kTag : kFarewellTag, 0, &op->context);
    return keep(std::move(op), result, "fi_trecvv");
}

} // namespace fabtests_ext::mixture
