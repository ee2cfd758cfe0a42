// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// What the processes of one host share: the node's table of processes and queue pair numbers,
// and each process's arena. Everything here is plain data in memory that others may have
// scribbled over, so whoever reads an offset, an index or a length checks it before use.
//
// Who writes what is noted at each field: "owner" is the process whose arena it is, "senders"
// are the processes whose queue pairs are connected to the owner's.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace odrc::soft {

static_assert(std::atomic<uint64_t>::is_always_lock_free);
static_assert(std::atomic<uint32_t>::is_always_lock_free);

inline constexpr size_t kLine = 64;
inline constexpr uint32_t kLayoutVersion = 12;

// ---- the node: one for each user of a host ------------------------------------------------

inline constexpr uint64_t kNodeMagic = 0x65646f6e6372646f; // "odrcnode"
inline constexpr uint32_t kMaxProcesses = 4096;
inline constexpr uint32_t kQpNumbers = 1 << 24; // IBTA: queue pair numbers have 24 bits
inline constexpr uint32_t kFirstQpNumber = 2;   // 0 and 1 are the management queue pairs
inline constexpr uint32_t kMaxVisitors = 256;
// The last numbers stand for visitors (below), and for no queue pair.
inline constexpr uint32_t kFirstVisitorNumber = kQpNumbers - kMaxVisitors;

struct ProcessSlot {
    std::atomic<uint32_t> pid;        // 0: free
    std::atomic<uint32_t> generation; // counts the processes that had the slot
    uint64_t start_time;              // of the process (proc(5), stat field 22): tells reused pids
    int32_t arena_fd;                 // the arena's descriptor in that process
    uint32_t unused;
};

// Where a queue pair lives: the process's slot (12 bits) and generation (20 bits), and the
// place of its port in that process's arena, in lines (32 bits). 0: no such queue pair.
using QpLocation = uint64_t;

struct Node {
    uint64_t magic;
    uint32_t version;
    std::atomic<uint32_t> next_qp_number;
    uint8_t id[16];    // the GID of every soft port of this node
    uint64_t instance; // random: tells it from others of that GID
    alignas(kLine) ProcessSlot processes[kMaxProcesses];
    std::atomic<QpLocation> qps[kQpNumbers];
};

// ---- an arena: one for each process that has the device open -------------------------------

inline constexpr uint64_t kArenaMagic = 0x616e65726163726f;
// Of address space; only what is used takes memory. The owner chooses (arena.cpp).
inline constexpr size_t kLeastArenaBytes = size_t{32} << 20;
inline constexpr size_t kMostArenaBytes = size_t{8} << 30;
inline constexpr uint32_t kMaxRegions = 1 << 16;

// A memory region. The owner writes it while the key is 0; senders read it and then find the key
// unchanged, or start again.
struct alignas(kLine) Region {
    std::atomic<uint32_t> key; // index << 8 | lower bits of the life; 0: none
    uint32_t access;           // IBV_ACCESS_*
    uint32_t pd;
    uint64_t base; // where it begins in the addresses that senders use
    uint64_t length;
    uint64_t address;           // where it begins in the owner
    std::atomic<uint64_t> life; // counts the regions that had this entry: tells them apart
};

// A pipe of the owner's that others write events into (numbers of 64 bits).
struct EventPipe {
    uint64_t inode; // tells it from another descriptor of the same number
    int32_t fd;     // the read end, in the owner; -1: none
};

// A sender of datagrams, which may come from any process unannounced, signs in for the time of an
// operation, so that the owner can wait until it has left, and take back what it held if it died.
struct alignas(kLine) Visitor {
    std::atomic<uint64_t> who;   // VisitorId; 0: free
    std::atomic<uint32_t> holds; // 1 + the receive claimed and not completed
    std::atomic<uint32_t> qpn;   // the queue pair visited
};

//   slot (12 bits) | generation (20) | count of visits (32, never all zero)
using VisitorId = uint64_t;

// Whoever changes private memory of the owner atomically holds one of these, chosen by address,
// by the slot and generation of its process (as in a VisitorId). 0: free.
inline constexpr uint32_t kAtomicLocks = 64;

// Where the kernel keeps processes out of each other's memory, the owner's agent moves bytes
// between its private memory and this, for a sender that has taken the place.
inline constexpr uint32_t kErrands = 16;
inline constexpr uint32_t kErrandBytes = 1 << 16;
enum class ErrandState : uint32_t { idle = 0, posted = 1, taken = 2, done = 3 };

struct alignas(kLine) Errand {
    std::atomic<uint64_t> who; // as a VisitorId; 0: free
    std::atomic<ErrandState> state;
    int32_t error;    // of a done one: an errno value
    uint32_t outward; // 1: into private memory, 0: out of it
    uint32_t key;     // under which the sender may do so, and what else it must match:
    uint32_t pd;      // see Region
    uint32_t access;
    uint64_t address;
    uint64_t length; // at most kErrandBytes
};

// A long copy between private memory of the owner and of a sender, cut into pieces: the sender
// takes one after the other, and so does the owner, if it has nothing else to do. The process with
// the smaller number takes them from the first on, the other one from the last: so the same bytes
// are moved by the same processor time and again, both ways, and may lie in its cache.
inline constexpr uint32_t kJointCopies = 4;
inline constexpr uint32_t kJointOpen = 1u << 31;

struct alignas(kLine) JointCopy {
    std::atomic<uint64_t> who;   // as a VisitorId; 0: free
    std::atomic<uint32_t> state; // kJointOpen, as long as the owner may join; and how often it has
    uint32_t outward;            // 1: into the owner's memory, 0: out of it
    uint32_t key;                // under which the sender may do so; see Errand
    uint32_t pd;
    uint32_t access;
    uint32_t piece;   // bytes
    uint64_t address; // of the owner's memory, as the sender's work request has it
    uint64_t there;   // of the sender's
    uint64_t length;
    alignas(kLine) std::atomic<uint64_t> taken; // pieces: the first ones, 32 bits, and the last
    std::atomic<uint32_t> failed;               // the owner could not move one that it took
};

// What each poll of the owner's looks at, and does if it has nothing else to do: the joint copies
// that are open, a bit for each; and an atomic operation on its private memory, whose sender has
// the place (atomic_sender). Each of both sides writes into a line of its own, once: a line that
// both wrote into would go to and fro between them.
// There is one to be done while the turn is another one than the answer's.
inline constexpr uint32_t kAtomicTurn = 1u << 31;
inline constexpr uint32_t kAtomicWithdrawn = 1u << 30; // who has not taken it leaves it alone

struct alignas(kLine) Asked {
    std::atomic<uint32_t> what;
    uint32_t compare; // 1: compare and swap, 0: fetch and add
    uint32_t key;     // see Errand
    uint32_t pd;
    uint64_t address;
    uint64_t operand; // what is added, or what is swapped in
    uint64_t compared;
};
static_assert(sizeof(Asked) == kLine);

struct alignas(kLine) Answer { // the owner's
    std::atomic<uint32_t> turn;
    int32_t error;  // an errno value
    uint64_t found; // what was there
};

struct Arena {
    uint64_t magic;
    uint32_t version;
    uint32_t pid;
    uint64_t base;   // where the owner has the arena mapped
    EventPipe agent; // wakes the owner's agent: see Agent
    alignas(kLine) std::atomic<uint64_t> atomic_locks[kAtomicLocks];
    Visitor visitors[kMaxVisitors];
    Errand errands[kErrands];
    JointCopy joint_copies[kJointCopies];
    alignas(kLine) std::atomic<uint64_t> atomic_sender; // as a VisitorId; 0: free
    Asked asked;
    Answer answer;
    // The owner is at it, and it is too late to withdraw it. Senders look only if they would.
    alignas(kLine) std::atomic<uint32_t> atomic_taken;
    alignas(kLine) Region regions[kMaxRegions];
    alignas(4096) std::byte errand_bytes[kErrands][kErrandBytes];
};

// ---- receive queue -------------------------------------------------------------------------

// Tickets make the ring: each names a posted work request. A sender claims the ticket at the
// head by changing it from posted to claimed, with its queue pair's number in it, so that at any
// instant the memory itself says who holds what: if a sender dies, the owner takes back what it
// held.
//
//   lap (16 bits) | state (2) | work request (22) | number of the receiving queue pair, or of the
//   visitor that claims (24)
using Ticket = uint64_t;
enum class TicketState : uint64_t { free = 0, posted = 1, claimed = 2 };

constexpr Ticket make_ticket(uint64_t lap, TicketState state, uint64_t wr,
                             uint64_t claimer) noexcept {
    return (lap & 0xffff) << 48 | static_cast<uint64_t>(state) << 46 | wr << 24 | claimer;
}
constexpr uint64_t ticket_lap(Ticket t) noexcept { return t >> 48; }
constexpr TicketState ticket_state(Ticket t) noexcept {
    return static_cast<TicketState>(t >> 46 & 3);
}
constexpr uint32_t ticket_wr(Ticket t) noexcept { return t >> 24 & 0x3fffff; }
constexpr uint32_t ticket_claimer(Ticket t) noexcept { return t & 0xffffff; }
inline constexpr uint32_t kMaxReceives = 1 << 20;

struct Segment { // as ibv_sge
    uint64_t address;
    uint32_t length;
    uint32_t lkey;
};

struct ReceiveRequest { // followed by max_segments segments
    uint32_t segments;
    uint32_t unused;
};

struct ReceiveRing {
    uint32_t capacity;     // work requests
    uint32_t tickets;      // a power of two, at least four times the capacity
    uint32_t max_segments; // of one work request
    uint32_t pd;
    uint64_t ticket_offset; // of the tickets and of the requests, in the arena
    uint64_t request_offset;
    uint32_t request_stride;
    std::atomic<uint32_t> limit; // SRQ: fewer receives raise an event, once; 0: not armed
    alignas(kLine) EventPipe events;
    uint64_t limit_event;                      // what is written into it
    std::atomic<uint64_t> tail;                // owner: the next ticket to post
    alignas(kLine) std::atomic<uint64_t> head; // senders: the next ticket to claim
};

// ---- completion queue ----------------------------------------------------------------------

// A producer claims the place at the tail, which says from then on who fills the entry, should it
// die; then it fills the entry and makes it full, and the owner takes it. Claims lie apart from
// the entries: the owner watches the line of the next entry, and should lose it once only.
//
//   turn (40 bits): 1 + the times that the ring was gone round | number of the queue pair or
//   visitor (24)
using EntryClaim = uint64_t;
constexpr EntryClaim make_claim(uint64_t turn, uint64_t producer) noexcept {
    return turn << 24 | producer;
}
constexpr uint64_t claim_turn(EntryClaim c) noexcept { return c >> 24; }
constexpr uint32_t claim_producer(EntryClaim c) noexcept { return c & 0xffffff; }
inline constexpr uint64_t kTurnMask = (uint64_t{1} << 40) - 1;

struct alignas(kLine) CompletionEntry {
    std::atomic<uint64_t> full; // the turn of what it holds; before that it is empty
    uint32_t byte_len;
    uint32_t imm_data;
    uint32_t qp_num;
    uint32_t src_qp;   // receive: the sender's
    uint32_t qp_index; // in the owner's table of queue pairs
    uint32_t request;  // receive: the work request; send: the send queue's position after it
    uint8_t status;    // ibv_wc_status
    uint8_t opcode;    // ibv_wc_opcode, or kNoCompletion
    uint16_t flags;    // ibv_wc_flags
};
static_assert(sizeof(CompletionEntry) == kLine);
inline constexpr uint8_t kNoCompletion = 0xff; // its producer died: to be passed over
inline constexpr uint8_t kReceiveBit = 0x80;   // in the opcode, as IBV_WC_RECV: ends a receive

struct CompletionRing {
    uint32_t entries;      // a power of two
    uint64_t entry_offset; // of the entries and of their claims, in the arena
    uint64_t claim_offset;
    EventPipe channel; // the completion channel
    uint64_t token;    // what is written into it: which queue it is
    EventPipe events;  // the device's asynchronous events
    uint64_t overrun_event;
    alignas(kLine) std::atomic<uint64_t> tail;  // producers: the next entry to claim
    std::atomic<uint64_t> limit;                // producers: the tail may come so far, they know
    alignas(kLine) std::atomic<uint64_t> taken; // owner: it has taken all before
    alignas(kLine) std::atomic<uint32_t> armed; // Arm: the owner sets it, a producer takes it
};
enum Arm : uint32_t { kNotArmed = 0, kArmedSolicited = 1, kArmedAny = 2 };

// ---- queue pair ----------------------------------------------------------------------------

inline constexpr uint32_t kPortClosed = ~0u; // beside ibv_qp_state: the queue pair is gone

// What others see of a queue pair. The first two lines are for senders to read; the third is this
// queue pair's own progress as a sender, which its peer reads to know when memory may go away, and
// what to take back if the sender died. Senders write into it nothing but
// the state and the mark that something has come, so that one that comes late, to a port that is
// gone, does no harm.
struct alignas(kLine) QpPort {
    std::atomic<uint32_t> state;  // ibv_qp_state; a sender that is refused for good sets ERR
    std::atomic<uint32_t> qp_num; // zero when the queue pair is gone
    std::atomic<uint64_t> sender; // the only one that may send here (sender_name); 0: none
    std::atomic<uint32_t> access; // IBV_ACCESS_REMOTE_*
    std::atomic<uint32_t> qkey;   // of datagrams
    uint32_t pd;
    uint32_t qp_index;                  // in the owner's table of queue pairs
    uint8_t type;                       // ibv_qp_type
    std::atomic<uint8_t> min_rnr_timer; // IBTA code
    std::atomic<bool> established;      // something has come in
    uint64_t receive_ring;
    std::atomic<uint64_t> completion_ring; // moves when the queue is resized
    alignas(kLine) EventPipe events;
    uint64_t event; // what is written into it, or-ed with the type of the event
    alignas(kLine) std::atomic<uint32_t> busy; // odd: inside an operation on the peer
    std::atomic<uint32_t> holds; // 1 + the receive claimed from the peer and not completed
};
static_assert(sizeof(QpPort) == 3 * kLine);

// Packets are not counted here: those of two queue pairs stay in step if they begin so.
constexpr uint64_t sender_name(uint32_t qp_num, uint32_t first_psn) noexcept {
    return uint64_t{first_psn} << 32 | qp_num;
}

} // namespace odrc::soft
