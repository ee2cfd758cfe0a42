// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "hostrc/context.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "hostrc/completion_queue.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>

namespace odrc::host {
namespace {

constexpr uint32_t kNumbers = 0xffffff; // they have 24 bits, and none is 0

// ---- the data path, as ibv_context::ops finds it ----

int poll_cq(ibv_cq* cq, int count, ibv_wc* wc) {
    return static_cast<CompletionQueue*>(cq)->poll(count, wc);
}
int req_notify_cq(ibv_cq* cq, int) {
    static_cast<CompletionQueue*>(cq)->arm();
    return 0;
}
int post_srq_recv(ibv_srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad) {
    return static_cast<SharedReceiveQueue*>(srq)->receives.post(wr, bad);
}
int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad) {
    return QueuePair::of(qp).post_send(wr, bad);
}
int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad) {
    return QueuePair::of(qp).post_receive(wr, bad);
}

// What a constructor throws is an errno and no object, as in verbs.
template <class Make>
auto made(Make&& make) noexcept -> decltype(make()) {
    decltype(make()) object = nullptr;
    const int error = guarded([&] {
        object = make();
        return 0;
    });
    if (error) errno = -error;
    return object;
}

// Numbers of late are not given again soon, nor by the next process: its packets would be taken
// for those of the last.
uint32_t random_number() {
    uint32_t number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number) throw Error{errno};
    return number;
}

} // namespace

HostContext::HostContext(std::unique_ptr<verbs::Context> device, ibv_device& name,
                         const verbs::Port& port, size_t room)
    : HostContext{*device, std::move(device), nullptr, name, port, room} {}

HostContext::HostContext(verbs::Context& device, ibv_pd* pd, ibv_device& name,
                         const verbs::Port& port, size_t room)
    : HostContext{device, nullptr, pd, name, port, room} {}

HostContext::HostContext(verbs::Context& device, std::unique_ptr<verbs::Context> owned, ibv_pd* pd,
                         ibv_device& name, const verbs::Port& port, size_t room)
    : owned_{std::move(owned)}
    , device_{device}
    , port_{port}
    , room_{room}
    , pd_{pd}
    , own_events_{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)}
    , events_{epoll_create1(EPOLL_CLOEXEC)}
    , numbers_{random_number()} {
    const int below = device_.async_fd(); // of a shared one the others take the events
    if (!own_events_ || !events_ || !watch(own_events_.get()) ||
        (!shared() &&
         (fcntl(below, F_SETFL, fcntl(below, F_GETFL) | O_NONBLOCK) || !watch(below)))) {
        ODRC_WARN(FI_LOG_DOMAIN, "{}: no descriptor for its events: {}", port.name(),
                  fi_strerror(errno));
        throw Error{errno};
    }
    verbs_.device = &name;
    verbs_.cmd_fd = -1;
    verbs_.async_fd = events_.get();
    verbs_.num_comp_vectors = 1;
    verbs_.ops.poll_cq = poll_cq;
    verbs_.ops.req_notify_cq = req_notify_cq;
    verbs_.ops.post_srq_recv = post_srq_recv;
    verbs_.ops.post_send = post_send;
    verbs_.ops.post_recv = post_recv;
    ticks_of(std::chrono::nanoseconds{0}); // measures the counter's speed, which takes a moment
}

HostContext::~HostContext() = default;

bool HostContext::watch(int fd) const noexcept {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    return epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

int HostContext::dealloc_pd(ibv_pd* pd) noexcept {
    if (shared()) return 0;
    const int error = device_.dealloc_pd(pd);
    if (!error && pd_ == pd) pd_ = nullptr;
    return error;
}

// What peers reach they reach by this process: the device itself lets nobody else in.
ibv_mr* HostContext::reg_mr(ibv_pd* pd, void* address, size_t length, int access) noexcept {
    ibv_mr* mr = device_.reg_mr(pd, address, length, access);
    if (!mr) return nullptr;
    if (guarded([&] {
            regions_.add(*mr, access);
            return 0;
        })) {
        device_.dereg_mr(mr);
        errno = ENOMEM;
        return nullptr;
    }
    return mr;
}

// Datagrams that are on their way out may still be read from it.
int HostContext::dereg_mr(ibv_mr* mr) noexcept {
    regions_.remove(*mr);
    const std::lock_guard guard{queues_lock_};
    for (CompletionQueue* queue : queues_) queue->wait_for_datagrams();
    return device_.dereg_mr(mr);
}

ibv_comp_channel* HostContext::create_comp_channel() noexcept {
    return made([this] { return new CompletionChannel{device_, verbs_}; });
}

int HostContext::destroy_comp_channel(ibv_comp_channel* channel) noexcept {
    auto* used = static_cast<CompletionChannel*>(channel);
    if (used->leaning > 0) return EBUSY;
    delete used;
    return 0;
}

int HostContext::get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) noexcept {
    CompletionQueue* queue = static_cast<CompletionChannel*>(channel)->take_event();
    if (!queue) return -1;
    *cq = queue;
    *cq_context = queue->cq_context;
    return 0;
}

ibv_cq* HostContext::create_cq(int cqe, void* cq_context, ibv_comp_channel* channel) noexcept {
    auto* used = static_cast<CompletionChannel*>(channel);
    // Of the domain its datagrams are; and a channel has the timer of one queue.
    if (cqe < 1 || !pd_ || (used && used->leaning > 0)) {
        errno = EINVAL;
        return nullptr;
    }
    return made([&] { return new CompletionQueue{*this, cqe, cq_context, used}; });
}

int HostContext::destroy_cq(ibv_cq* cq) noexcept {
    auto* queue = static_cast<CompletionQueue*>(cq);
    if (queue->in_use()) return EBUSY;
    delete queue;
    return 0;
}

ibv_srq* HostContext::create_srq(ibv_pd* pd, ibv_srq_init_attr* init) noexcept {
    if (init->attr.max_wr < 1 || init->attr.max_sge > kReceiveSegments) {
        errno = EINVAL;
        return nullptr;
    }
    auto* srq = made([&] { return new SharedReceiveQueue{init->attr.max_wr}; });
    if (!srq) return nullptr;
    srq->context = &verbs_;
    srq->srq_context = init->srq_context;
    srq->pd = pd;
    return srq;
}

int HostContext::modify_srq(ibv_srq* srq, ibv_srq_attr* attr, int mask) noexcept {
    if (mask != IBV_SRQ_LIMIT) return EINVAL;
    if (static_cast<SharedReceiveQueue*>(srq)->receives.set_limit(attr->srq_limit))
        raise_limit(*srq);
    return 0;
}

int HostContext::destroy_srq(ibv_srq* srq) noexcept {
    auto* queue = static_cast<SharedReceiveQueue*>(srq);
    if (queue->leaning > 0) return EBUSY;
    {
        const std::lock_guard guard{lock_};
        std::erase(low_, srq);
    }
    delete queue;
    return 0;
}

void HostContext::raise_limit(ibv_srq& srq) noexcept {
    const std::lock_guard guard{lock_};
    const int error = guarded([&] {
        low_.push_back(&srq);
        return 0;
    });
    const uint64_t one = 1;
    if (error || write(own_events_.get(), &one, sizeof one) < 0)
        ODRC_INFO(FI_LOG_EP_CTRL, "{}: nobody is told that receives run low", port_.name());
}

int HostContext::get_async_event(ibv_async_event* event) noexcept {
    {
        const std::lock_guard guard{lock_};
        if (!low_.empty()) {
            event->event_type = IBV_EVENT_SRQ_LIMIT_REACHED;
            event->element.srq = low_.back();
            low_.pop_back();
            return 0;
        }
        uint64_t count;
        (void)!read(own_events_.get(), &count, sizeof count);
    }
    if (shared()) {
        errno = EAGAIN;
        return -1;
    }
    return device_.get_async_event(event);
}

void HostContext::ack_async_event(ibv_async_event* event) noexcept {
    if (event->event_type != IBV_EVENT_SRQ_LIMIT_REACHED) device_.ack_async_event(event);
}

ibv_qp* HostContext::create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) noexcept {
    const ibv_qp_cap& cap = attr->cap;
    const bool fits = attr->qp_type == IBV_QPT_RC && attr->send_cq == attr->recv_cq &&
                      cap.max_send_sge <= kSegments && cap.max_recv_sge <= kReceiveSegments &&
                      cap.max_inline_data <= kInline;
    if (!fits) {
        errno = EINVAL;
        return nullptr;
    }
    return made([&] {
        const uint32_t number = numbers_.fetch_add(1) % kNumbers + 1;
        auto& cq = static_cast<CompletionQueue&>(*attr->send_cq);
        return (new QueuePair{cq, pd, number, *attr})->verbs();
    });
}

int HostContext::modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) noexcept {
    return QueuePair::of(qp).modify(*attr, mask);
}

int HostContext::destroy_qp(ibv_qp* qp) noexcept {
    delete &QueuePair::of(qp);
    return 0;
}

std::optional<verbs::Identity> HostContext::identity(const ibv_qp& qp) const noexcept {
    return verbs::Identity{static_cast<CompletionQueue*>(qp.send_cq)->number(), qp.qp_num};
}

uint32_t HostContext::datagrams(ibv_cq& cq) const noexcept {
    return static_cast<CompletionQueue&>(cq).number();
}

size_t HostContext::bytes_for_datagrams(ibv_cq& cq) const noexcept {
    return static_cast<CompletionQueue&>(cq).datagrams().bytes();
}

std::atomic<bool>* HostContext::called(ibv_cq& cq) const noexcept {
    return static_cast<CompletionQueue&>(cq).called();
}

void HostContext::count_packets(ibv_cq& cq, PacketCounts& counts) noexcept {
    static_cast<CompletionQueue&>(cq).count_in(counts);
}

void HostContext::add(CompletionQueue& queue) {
    const std::lock_guard guard{queues_lock_};
    queues_.push_back(&queue);
}
void HostContext::remove(CompletionQueue& queue) noexcept {
    const std::lock_guard guard{queues_lock_};
    std::erase(queues_, &queue);
}

} // namespace odrc::host
