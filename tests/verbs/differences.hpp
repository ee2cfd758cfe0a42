// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Where a device does not do what the specification (IBTA volume 1, release 1.4, and the manual
// pages of libibverbs) demands. A test case that meets one still checks what the device does.

#include <span>
#include <string_view>

namespace rig {

enum class Differs {
    unknown_key_of_a_send,
    receive_too_short,
    receive_memory_refused,
    refused_request_unnamed,
    receive_posted_in_error,
    misaligned_atomic,
    drained_queue_resumes,
    datagram_send_error,
    failed_send_solicited,
    last_receive_event,
};

struct Difference {
    Differs where;
    std::string_view driver; // how the names of its devices begin
    std::string_view does;
    std::string_view demanded;
};

inline constexpr Difference kDifferences[] = {
    {Differs::unknown_key_of_a_send, "rxe",
     "a send or write from a key that is none of this protection domain: LOC_QP_OP_ERR",
     "LOC_PROT_ERR, as it gives itself for a segment past the end of its region (11.6.2)"},
    {Differs::receive_too_short, "rxe",
     "a receive too short for its message completes with LOC_QP_OP_ERR, the send with REM_OP_ERR",
     "LOC_LEN_ERR, and REM_INV_REQ_ERR as the message, not the peer, is at fault (11.6.2)"},
    {Differs::receive_memory_refused, "rxe",
     "a receive into memory that may not be written completes with LOC_QP_OP_ERR",
     "LOC_PROT_ERR (11.6.2)"},
    {Differs::refused_request_unnamed, "rxe",
     "ibv_post_send to a queue pair not yet in RTS fails, but names no bad request",
     "bad_wr points to the first request that was not posted (ibv_post_send(3))"},
    {Differs::receive_posted_in_error, "rxe",
     "a receive posted to a queue pair in ERR stays there until it is moved to ERR again",
     "it completes with WR_FLUSH_ERR (10.3.1)"},
    {Differs::misaligned_atomic, "rxe",
     "ibv_post_send refuses an atomic of a misaligned address with EINVAL",
     "the responder refuses it, and it completes with REM_INV_REQ_ERR (11.6.2)"},
    {Differs::drained_queue_resumes, "rxe",
     "what was posted in SQD stays there after the move to RTS, until more is posted",
     "processing goes on with the move (10.3.1)"},
    {Differs::datagram_send_error, "rxe",
     "a datagram that cannot be gathered moves its queue pair to ERR",
     "to SQE, where it still receives, and from where it can be moved to RTS (10.3.1)"},
    {Differs::failed_send_solicited, "rxe",
     "a send that fails wakes nobody who waits for solicited completions",
     "a completion that is not successful is solicited (ibv_req_notify_cq(3))"},
    {Differs::last_receive_event, "rxe",
     "no event tells that a queue pair in ERR takes no more from its shared receive queue",
     "QP_LAST_WQE_REACHED (11.6.3.1)"},
};

// Whether the device under test differs there. It is said at the end of the run.
bool differs(Differs where);

template <class T>
T expected(Differs where, T demanded, T instead) {
    return differs(where) ? instead : demanded;
}

// Those that were met so far.
std::span<const Difference* const> differences_met();

} // namespace rig
