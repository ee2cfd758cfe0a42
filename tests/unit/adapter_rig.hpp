// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// An adapter over a device that counts, and registers nothing but memory that is there.

#include "cache_rig.hpp"
#include "verbs_rc/adapter.hpp"

#include <functional>
#include <map>
#include <sys/eventfd.h>
#include <sys/uio.h>

namespace rig {

class PinningDevice final : public RegisteringDevice {
public:
    std::function<void()> before_registering{[] {}};
    int refused{0};

    // That has the key.
    verbs::Range memory_of(uint32_t key) const {
        const auto region = regions_.find(key);
        return region == regions_.end() ? verbs::Range{} : region->second;
    }

    ibv_mr* reg_mr(ibv_pd* pd, void* address, size_t length, int access) noexcept override {
        before_registering();
        const auto begin = reinterpret_cast<uintptr_t>(address);
        const verbs::Range memory{begin, begin + length};
        if (!is_there(memory)) {
            ++refused;
            return errno = EFAULT, nullptr;
        }
        ibv_mr* mr = RegisteringDevice::reg_mr(pd, address, length, access);
        if (mr) regions_[mr->lkey] = memory;
        return mr;
    }
    ibv_pd* alloc_pd() noexcept override { return &pd_; }
    int async_fd() const noexcept override { return events_.get(); }

private:
    static bool is_there(const verbs::Range& memory) noexcept {
        const verbs::Range pages = verbs::pages_of(memory);
        for (uintptr_t page = pages.begin; page < pages.end; page += kPage) {
            char byte;
            const iovec here{&byte, 1}, there{reinterpret_cast<void*>(page), 1};
            if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != 1) return false;
        }
        return true;
    }

    ibv_pd pd_{};
    Fd events_{eventfd(0, EFD_CLOEXEC)};
    std::map<uint32_t, verbs::Range> regions_;
};

class PinningPort final : public verbs::Device {
public:
    PinningPort()
        : verbs::Device{make_port()} {}
    std::unique_ptr<verbs::Context> open() const override {
        auto context = std::make_unique<PinningDevice>();
        opened = context.get();
        return context;
    }
    mutable PinningDevice* opened{nullptr};

private:
    static verbs::Port make_port() {
        verbs::Port port;
        port.device = "pinning";
        return port;
    }
};

struct AdapterRig {
    Watchdog watchdog;
    PinningPort port;
    verbs::Adapter adapter{port, Gate::Kind::one_thread, watchdog};
    PinningDevice& device{*port.opened};
};

} // namespace rig
