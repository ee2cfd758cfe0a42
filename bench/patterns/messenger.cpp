// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "bench/patterns/messenger.hpp"

#include <chrono>
#include <future>
#include <thread>

namespace bench {

struct Messenger::Buffer : Operation {
    explicit Buffer(size_t room)
        : bytes(sizeof(Header) + room) {}

    void append(Bytes piece) {
        if (piece.size() > bytes.size() - length) throw std::length_error{"a message is too long"};
        std::ranges::copy(piece, bytes.data() + length);
        length += piece.size();
    }

    int to{0};
    size_t length{0};
    std::vector<std::byte> bytes;
};

namespace {

fabtests_ext::Wishes wishes_for(const fabtests_ext::Choice& choice, bool groups) {
    fabtests_ext::Wishes wishes{.caps = FI_MSG | FI_ATOMIC,
                                .mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY,
                                .order = FI_ORDER_SAS};
    if (!groups) return wishes;
    fabtests_ext::Wishes with_groups{wishes};
    with_groups.caps |= FI_COLLECTIVE;
    with_groups.events = true;
    return fabtests_ext::find_info(choice, with_groups) ? with_groups : wishes;
}

} // namespace

Messenger::Messenger(fabtests_ext::Team& team, const fabtests_ext::Choice& choice,
                     size_t most_bytes, Groups groups)
    : team_{team}
    , endpoint_{choice, wishes_for(choice, groups == Groups::if_offered)}
    , peers_{endpoint_.introduce(team)}
    , most_bytes_{most_bytes}
    , patience_{unsigned(team.size()) <= std::thread::hardware_concurrency() ? kPatience
                                                                             : kPatienceOfMany} {
    for (size_t i = 0; i < kReceives; ++i)
        post_receive(*receives_.emplace_back(std::make_unique<Buffer>(most_bytes_)));
}

Messenger::~Messenger() = default;

void Messenger::post_receive(Buffer& buffer) {
    buffer.done_ = false;
    fabtests_ext::insist(endpoint_, "fi_recv", [&] {
        return fi_recv(endpoint_.ep(), buffer.bytes.data(), buffer.bytes.size(), nullptr,
                       FI_ADDR_UNSPEC, buffer.context());
    });
}

Messenger::Buffer& Messenger::empty_buffer() {
    if (free_.empty())
        free_.push_back(sends_.emplace_back(std::make_unique<Buffer>(most_bytes_)).get());
    Buffer& buffer = *free_.back();
    free_.pop_back();
    buffer.length = 0;
    return buffer;
}

void Messenger::send(int to, Kind kind, std::initializer_list<Bytes> pieces) {
    Buffer& buffer = empty_buffer();
    const Header header{rank(), kind};
    buffer.append(bytes_of(header));
    for (const Bytes piece : pieces) buffer.append(piece);
    buffer.to = to;
    if (to == rank()) return own_.push_back(&buffer);
    ++sent_;
    sent_bytes_ += buffer.length;
    if (!waiting_.empty() || !post_send(buffer)) waiting_.push_back(&buffer);
}

void Messenger::send_by(const Call& call, Bytes bytes) {
    Buffer& buffer = empty_buffer();
    buffer.append(bytes);
    buffer.released_ = &buffer;
    wait_until([&] {
        const ssize_t result = call({buffer.bytes.data(), buffer.length}, buffer.context());
        if (result != -FI_EAGAIN) fabtests_ext::check(result, "a call that sends");
        return result == 0;
    });
    ++sent_;
    sent_bytes_ += bytes.size();
}

bool Messenger::post_send(Buffer& buffer) {
    const bool injected = buffer.length <= endpoint_.info().tx_attr->inject_size;
    buffer.released_ = &buffer;
    const ssize_t result =
        injected ? fi_inject(endpoint_.ep(), buffer.bytes.data(), buffer.length, peer(buffer.to))
                 : fi_send(endpoint_.ep(), buffer.bytes.data(), buffer.length, nullptr,
                           peer(buffer.to), buffer.context());
    if (result == -FI_EAGAIN) return false;
    fabtests_ext::check(result, "fi_send");
    if (injected) free_.push_back(&buffer);
    return true;
}

void Messenger::push() {
    while (!waiting_.empty() && post_send(*waiting_.front())) waiting_.pop_front();
}

bool Messenger::progress() {
    fi_cq_tagged_entry entry;
    if (!endpoint_.poll(entry)) return false;
    auto& operation = *static_cast<Operation*>(entry.op_context);
    operation.done_ = true;
    operation.length_ = entry.len;
    if (operation.released_) free_.push_back(operation.released_);
    return true;
}

void Messenger::handle(Bytes message) {
    const auto header = take<Header>(message);
    if (header.from < 0 || header.from >= size() || header.kind >= Kind::count)
        throw std::runtime_error{"a message is nonsense"};
    handlers_[static_cast<size_t>(header.kind)](header.from, message);
}

bool Messenger::poll() {
    push();
    if (!own_.empty()) {
        Buffer& buffer = *own_.front();
        own_.pop_front();
        handle({buffer.bytes.data(), buffer.length});
        free_.push_back(&buffer);
        return true;
    }
    Buffer& buffer = *receives_[next_];
    while (!buffer.done())
        if (!progress()) return other_way_ && other_way_();
    next_ = (next_ + 1) % kReceives;
    handle({buffer.bytes.data(), buffer.length_});
    post_receive(buffer);
    return true;
}

// Who comes first may still be needed by others on their way, and cannot wait and poll at once.
void Messenger::leave() {
    wait_until([&] { return free_.size() == sends_.size(); });
    const auto barrier = std::async(std::launch::async, [&] { team_.barrier(); });
    wait_until(
        [&] { return barrier.wait_for(std::chrono::seconds{0}) == std::future_status::ready; });
}

} // namespace bench
