// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// One datagram (IBTA 1.4, 9.8.3): it arrives whole, or is lost without a word.

#include "softrc/faults.hpp"
#include "softrc/opcodes.hpp"
#include "softrc/queue_pair.hpp"
#include "softrc/transitions.hpp"
#include "softrc/visit.hpp"

#include <algorithm>
#include <cstring>

namespace odrc::soft {
namespace {

constexpr uint32_t kHeaderBytes = sizeof(ibv_grh); // before every datagram in its receive
// Destinations of late. For one that was forgotten and is meant again, its process is mapped anew,
// and faults its pages in.
constexpr size_t kRemembered = 256;
constexpr uint32_t kOwnKeyBit = 1u << 31; // of a Q_Key: the sender's own is meant
constexpr uint8_t kNextHeader = 0x1b;     // IBTA 1.4, 8.3: what follows is a BTH

// The header that says where it comes from, for a reply (IBTA 1.4, 8.3).
ibv_grh make_header(std::span<const uint8_t, 16> node, uint32_t length) noexcept {
    ibv_grh header{};
    header.version_tclass_flow = htobe32(6u << 28);
    header.paylen = htobe16(static_cast<uint16_t>(length));
    header.next_hdr = kNextHeader;
    header.hop_limit = 1;
    std::ranges::copy(node, header.sgid.raw);
    std::ranges::copy(node, header.dgid.raw);
    return header;
}

} // namespace

QueuePair::Outcome QueuePair::send_datagram(const ibv_send_wr& wr, const Data& data) noexcept {
    const Outcome sent{Verdict::done, IBV_WC_SUCCESS};
    const auto* handle = static_cast<const AddressHandle*>(wr.wr.ud.ah);
    // One that is too long is not sent, and that is no error (IBTA 1.4, C10-93.1.1).
    if (!handle || !handle->reachable || data.length > kMaxDatagram) return sent;
    const uint32_t number = wr.wr.ud.remote_qpn & (kQpNumbers - 1);

    Link* to = meet(number);
    if (!to || fault_loses_datagram()) return sent;
    deliver_datagram(wr, data, *to);
    if (fault_doubles_datagram()) deliver_datagram(wr, data, *to);
    return sent;
}

// Null: there is none.
QueuePair::Link* QueuePair::meet(uint32_t number) noexcept {
    const auto is_gone = [](const auto& known) {
        return known.second.port->qp_num != known.first || known.second.process->dead();
    };
    const auto known = met_.find(number);
    if (known != met_.end() && !is_gone(*known)) return &known->second;
    std::erase_if(met_, is_gone);
    Link link = find_link(number, IBV_QPT_UD);
    if (!link) return nullptr;
    if (met_.size() == kRemembered) met_.erase(met_.begin());
    try {
        return &met_.emplace(number, std::move(link)).first->second;
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

void QueuePair::deliver_datagram(const ibv_send_wr& wr, const Data& data, Link& to) noexcept {
    const uint32_t number = wr.wr.ud.remote_qpn & (kQpNumbers - 1);
    const Visit visit{process_.node(), *to.process, number};
    if (!visit) return;
    // Looked at after we are seen to be there: the owner waits for us, or we see that it goes.
    const uint32_t there = to.port->state.load(std::memory_order_seq_cst);
    const uint32_t key = wr.wr.ud.remote_qkey & kOwnKeyBit
                             ? port_->qkey.load(std::memory_order_relaxed)
                             : wr.wr.ud.remote_qkey;
    if (to.port->qp_num != number || key != to.port->qkey.load(std::memory_order_relaxed) ||
        !takes_in(there))
        return;
    if (!to.refresh()) return;
    ReceiveRingView::Claim claim;
    if (!to.receives.claim(visit.number(), visit.holds(), claim)) return;

    ibv_grh header = make_header(process_.node().id(), data.length);
    iovec pieces[kMaxSendSegments + 1];
    pieces[0] = {&header, sizeof header};
    std::ranges::copy(data.pieces, pieces + 1);
    const uint32_t length = kHeaderBytes + data.length;
    const ibv_wc_status status = scatter(to, claim, {pieces, data.pieces.size() + 1}, length);
    const bool immediate = what_is(wr.opcode).immediate;
    const bool room =
        push(to,
             {.byte_len = length,
              .imm_data = immediate ? wr.imm_data : 0,
              .qp_num = number,
              .src_qp = qp_num,
              .qp_index = to.port->qp_index,
              .request = claim.request,
              .status = static_cast<uint8_t>(status),
              .opcode = IBV_WC_RECV,
              .flags = static_cast<uint16_t>(IBV_WC_GRH | (immediate ? IBV_WC_WITH_IMM : 0))},
             visit.number(), (wr.send_flags & IBV_SEND_SOLICITED) || status != IBV_WC_SUCCESS);
    visit.holds().store(0, std::memory_order_release);
    if (status != IBV_WC_SUCCESS || !room) put_in_error(to, IBV_EVENT_QP_FATAL);
}

} // namespace odrc::soft
