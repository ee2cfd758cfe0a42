// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Collectives, from the call to the completion.

#include "transfer/collectives.hpp"

#include "transfer/engine.hpp"

#include <algorithm>

namespace odrc::transfer {
namespace {

// Where the next block may begin, whatever its type.
size_t aligned(size_t bytes) noexcept { return (bytes + 15) / 16 * 16; }

bool suffices(const Collective& c, const void* buffer) noexcept { return c.block == 0 || buffer; }

// The buffers that the member's part in the collective needs are there.
bool has_buffers(const Collective& c) noexcept {
    const bool gives = c.kind != FI_SCATTER || c.is_root();
    const bool takes =
        c.kind != FI_BROADCAST && (c.is_root() || !c.has_root() || c.kind == FI_SCATTER);
    return (!gives || suffices(c, c.data)) && (!takes || suffices(c, c.result));
}

} // namespace

size_t element_size(fi_collective_op kind, fi_datatype type, fi_op op) noexcept {
    static_assert(FI_MIN == 0 && FI_BXOR + 1 == FI_ATOMIC_READ);
    const bool combines = Collective{.kind = kind}.combines();
    if (kind == FI_BARRIER || kind > FI_GATHER || (combines && op > FI_BXOR)) return 0;
    const AtomicOperation* operation =
        find_operation(AtomicCall::update, type, combines ? op : FI_ATOMIC_WRITE);
    return operation ? operation->size : 0;
}

Collectives::Collectives(Engine& engine, const verbs::Port& port,
                         const ondemand::AddressTable& addresses, const Settings& settings) noexcept
    : engine_{engine}
    , port_{port}
    , addresses_{addresses}
    , settings_{settings}
    , multicast_{engine,
                 port,
                 groups_,
                 *this,
                 {.completions = settings.completions, .size = settings.size}} {
    engine_.tell_of_parts(*this);
}

ssize_t Collectives::begin(const CollectiveArguments& a) noexcept {
    const size_t element = element_size(a.kind, a.type, a.op);
    if (a.kind != FI_BARRIER && element == 0) return -FI_EOPNOTSUPP;
    if (element > 0 && a.count > kMaxCollective / element) return -FI_EMSGSIZE;
    CollectiveGroup* group = find_group(a.group);
    if (!group) return -FI_EINVAL;
    if (!group->joined) return -FI_EOPBADSTATE;
    if (operations_.size() >= settings_.size ||
        (settings_.completions && settings_.completions->full()))
        return -FI_EAGAIN;

    Collective what{.kind = a.kind, .rank = group->rank, .size = group->size()};
    what.block = a.count * element;
    what.elements = a.count;
    what.data = static_cast<std::byte*>(const_cast<void*>(a.data));
    what.result = static_cast<std::byte*>(a.result);
    if (what.combines()) what.operation = find_operation(AtomicCall::update, a.type, a.op);
    if (what.has_root()) {
        const auto root = std::ranges::find(group->members, a.root);
        if (root == group->members.end()) return -FI_EINVAL;
        what.root = static_cast<uint32_t>(root - group->members.begin());
    }
    if (!has_buffers(what)) return -FI_EINVAL;

    CollectiveOperation* op = make_operation(*group, what);
    if (!op) return -FI_ENOMEM;
    op->number = group->next++;
    op->context = a.context;
    op->wanted = (a.flags & FI_COMPLETION) != 0;
    contribute(op->what);
    if (Multicast::takes(op->what))
        multicast_.begin(*op);
    else
        advance(*op);
    return 0;
}

// Null when memory is out.
CollectiveOperation* Collectives::make_operation(CollectiveGroup& group,
                                                 const Collective& what) noexcept {
    CollectiveOperation* op = operations_.create();
    if (!op) return nullptr;
    op->group = &group;
    op->what = what;
    if (what.combines()) {
        const size_t bytes = 2 * aligned(what.block);
        op->what.sum = op->inside;
        if (bytes > CollectiveOperation::kInside) {
            op->outside.reset(new (std::nothrow) std::byte[bytes]);
            op->what.sum = op->outside.get();
        }
        if (!op->what.sum) {
            operations_.destroy(op);
            return nullptr;
        }
        op->what.incoming = op->what.sum + aligned(what.block);
    }
    group.operations.push_back(*op);
    return op;
}

// Goes on from round to round, as long as nothing has to be waited for.
void Collectives::advance(CollectiveOperation& op) noexcept {
    if (std::exchange(op.advancing, true)) return;
    while (op.under_way == 0 && !op.error) {
        if (std::exchange(op.round.combine, false)) combine(op.what);
        const auto next = round_of(op.what, op.next_round);
        if (!next) break;
        op.round = *next;
        ++op.next_round;
        begin_round(op);
    }
    op.advancing = false;
    if (op.under_way == 0) finish(op);
}

void Collectives::begin_round(CollectiveOperation& op) noexcept {
    op.under_way = op.round.send.has_value() + op.round.receive.has_value();
    if (op.round.receive) {
        if (const int error = receive_part(op)) part_over(op, error);
    }
    if (!op.round.send) return;
    if (const int error = op.error ? op.error : send_part(op)) not_sent(op, error);
}

void Collectives::part_over(CollectiveOperation& op, int error) noexcept {
    --op.under_way;
    if (error) break_off(op, error);
    advance(op);
}

// The current round's message does not reach its member: the error goes in its place.
void Collectives::not_sent(CollectiveOperation& op, int error) noexcept {
    break_off(op, error);
    send_error(op, op.round.send->rank);
    part_over(op, error);
}

// What is left of the operation is to send the error, in place of its messages, to those who
// await them; nothing more is waited for.
void Collectives::break_off(CollectiveOperation& op, int error) noexcept {
    if (op.error) return;
    op.error = error;
    if (engine_.withdraw_part(&op)) --op.under_way;
    while (const auto round = round_of(op.what, op.next_round++))
        if (round->send) send_error(op, round->send->rank);
    engine_.discard_parts(op.tag(), 0);
}

void Collectives::ended(CollectiveOperation& op, int error) noexcept {
    op.error = error;
    finish(op);
}

void Collectives::finish(CollectiveOperation& op) noexcept {
    CollectiveGroup& group = *op.group;
    if (!op.error) transfer::conclude(op.what);
    List<CollectiveOperation>::erase(op);
    if (op.join) {
        group.joined = !op.error;
        if (!group.left) group.joining->joined(op.error);
    } else {
        complete(op);
    }
    operations_.destroy(&op);
    if (group.left && group.operations.empty()) groups_.erase(group.number());
}

void Collectives::complete(const CollectiveOperation& op) noexcept {
    void* const buffer = op.what.result ? op.what.result : op.what.data;
    engine_.count_sent(op.error);
    if (!settings_.completions) return;
    if (op.error) {
        fi_cq_err_entry entry{};
        entry.op_context = op.context;
        entry.flags = FI_COLLECTIVE;
        entry.buf = buffer;
        entry.err = op.error;
        entry.prov_errno = op.error;
        settings_.completions->push_error(entry);
    } else if (op.wanted) {
        settings_.completions->push({.context = op.context,
                                     .flags = FI_COLLECTIVE,
                                     .length = 0,
                                     .buffer = buffer,
                                     .data = 0,
                                     .tag = 0,
                                     .source = FI_ADDR_NOTAVAIL});
    }
}

} // namespace odrc::transfer
