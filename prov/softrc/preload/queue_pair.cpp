// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Queue pairs, with the calls of ibv_wr_post(3) for those that were created to have them.

#include "softrc/preload/send_calls.hpp"
#include "softrc/preload/verbs.hpp"

#include <memory>
#include <unordered_map>

namespace odrc::soft {
namespace {

// The send calls of this process's queue pairs.
class SendCallsTable {
public:
    // False when memory is out.
    bool add(ibv_qp& qp) noexcept {
        std::lock_guard lock{mutex_};
        try {
            calls_[&qp] = std::make_unique<SendCalls>(qp);
            return true;
        } catch (const std::bad_alloc&) {
            return false;
        }
    }
    void remove(const ibv_qp* qp) noexcept {
        std::lock_guard lock{mutex_};
        calls_.erase(qp);
    }
    SendCalls* find(const ibv_qp* qp) noexcept {
        std::lock_guard lock{mutex_};
        const auto found = calls_.find(qp);
        return found == calls_.end() ? nullptr : found->second.get();
    }

private:
    std::mutex mutex_;
    std::unordered_map<const ibv_qp*, std::unique_ptr<SendCalls>> calls_;
};

// Never destroyed: other threads may use verbs until the process is gone.
SendCallsTable& table() noexcept {
    static SendCallsTable& only = *new SendCallsTable;
    return only;
}

bool supported(const ibv_qp_init_attr_ex& attr) noexcept {
    constexpr uint32_t kKnown =
        IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    if (attr.comp_mask & ~kKnown) return false;
    if (attr.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS && attr.create_flags) return false;
    return !(attr.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) ||
           !(attr.send_ops_flags & ~SendCalls::kOffered);
}

} // namespace

ibv_qp* create_qp_extended(ibv_context* context, ibv_qp_init_attr_ex* attr) {
    if (!supported(*attr)) {
        errno = EOPNOTSUPP;
        return nullptr;
    }
    if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD)) {
        errno = EINVAL;
        return nullptr;
    }
    SoftContext& soft = SoftContext::of(context);
    // The extended attributes begin as the others (verbs.h relies on it, too).
    ibv_qp* qp = soft.create_qp(attr->pd, reinterpret_cast<ibv_qp_init_attr*>(attr));
    if (!qp || !(attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)) return qp;
    if (table().add(*qp)) return qp;
    soft.destroy_qp(qp);
    errno = ENOMEM;
    return nullptr;
}

} // namespace odrc::soft

using namespace odrc::soft;

ODRC_VERBS ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) {
    return SoftContext::of(pd->context).create_qp(pd, attr);
}

ODRC_VERBS ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* qp) { return table().find(qp); }

ODRC_VERBS int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) {
    return SoftContext::of(qp->context).modify_qp(qp, attr, mask);
}

ODRC_VERBS int ibv_query_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask, ibv_qp_init_attr* init) {
    return SoftContext::of(qp->context).query_qp(qp, attr, mask, init);
}

ODRC_VERBS int ibv_destroy_qp(ibv_qp* qp) {
    table().remove(qp); // before another is created at its address
    return SoftContext::of(qp->context).destroy_qp(qp);
}
