// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// soft0 as the only device: the list, and opening it.

#include "base/error.hpp"
#include "softrc/device.hpp"
#include "softrc/preload/verbs.hpp"

#include <cstring>

namespace odrc::soft {
namespace {

struct Listed {
    std::unique_ptr<verbs::Device> soft{make_soft_device()};
    ibv_device device{};

    Listed() {
        device.node_type = IBV_NODE_CA;
        device.transport_type = IBV_TRANSPORT_IB;
        std::strcpy(device.name, soft->port().device.c_str());
        std::strcpy(device.dev_name, device.name);
    }
};

// Never destroyed: other threads may use verbs until the process is gone.
Listed& listed() { // throws std::bad_alloc, the first time
    static Listed& only = *new Listed;
    return only;
}

// Null and errno on failure.
SoftContext* open() noexcept {
    try {
        return static_cast<SoftContext*>(listed().soft->open().release());
    } catch (const Error& e) {
        errno = e.code();
    } catch (const std::bad_alloc&) {
        errno = ENOMEM;
    } catch (...) {
        errno = EIO;
    }
    return nullptr;
}

} // namespace

const verbs::Port& soft_port() noexcept { return listed().soft->port(); }

} // namespace odrc::soft

using namespace odrc::soft;

ODRC_VERBS ibv_device** ibv_get_device_list(int* count) {
    if (count) *count = 0;
    try {
        auto** list = new ibv_device* [2] { &listed().device, nullptr };
        if (count) *count = 1;
        return list;
    } catch (const std::bad_alloc&) {
        errno = ENOMEM;
        return nullptr;
    }
}

ODRC_VERBS void ibv_free_device_list(ibv_device** list) { delete[] list; }

ODRC_VERBS const char* ibv_get_device_name(ibv_device* device) { return device->name; }

// The kernel knows nothing of it, and has no number for it.
ODRC_VERBS int ibv_get_device_index(ibv_device*) { return -1; }

ODRC_VERBS __be64 ibv_get_device_guid(ibv_device*) {
    // The node's, which may be founded by this very call: held open, so that it stays the same.
    static const SoftContext* const context = open();
    return context ? context->gid().global.interface_id : 0;
}

ODRC_VERBS ibv_context* ibv_open_device(ibv_device* device) {
    SoftContext* soft = open();
    if (!soft) return nullptr;
    verbs_context& context = soft->extended();
    context.context.device = device;
    context.query_port = query_port_extended;
    context.query_device_ex = query_device_extended;
    context.create_qp_ex = create_qp_extended;
    return &context.context;
}

ODRC_VERBS int ibv_close_device(ibv_context* context) {
    delete &SoftContext::of(context);
    return 0;
}
