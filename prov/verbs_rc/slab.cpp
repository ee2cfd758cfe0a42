// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "verbs_rc/objects.hpp"

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/log.hpp"

namespace odrc::verbs {

Slab::Slab(Context& context, const Port& port, ibv_pd* pd, size_t bytes, int access)
    : context_{&context} {
    void* memory = context.allocate(bytes);
    if (!memory) {
        ODRC_WARN(FI_LOG_EP_CTRL, "{}: no memory for {} bytes of buffers", port.name(), bytes);
        throw Error{FI_ENOMEM};
    }
    ibv_mr* mr = context.reg_mr(pd, memory, bytes, access);
    if (!mr) {
        const int error = errno;
        context.release(memory, bytes);
        ODRC_WARN(
            FI_LOG_EP_CTRL,
            "{}: cannot register {} bytes of buffers: {} (locked memory limit, ulimit -l: {})",
            port.name(), bytes, fi_strerror(error), locked_memory_limit());
        throw Error{error};
    }
    bytes_ = {static_cast<std::byte*>(memory), bytes};
    mr_ = Mr{context, mr};
}

Slab::~Slab() {
    if (bytes_.empty()) return;
    mr_ = Mr{};
    context_->release(bytes_.data(), bytes_.size());
}

} // namespace odrc::verbs
