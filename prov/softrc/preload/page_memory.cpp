// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Memory that a program asks for by whole pages, while it has the device open, comes from the
// arena: it is what verbs programs register, and peers reach it there without the kernel. All
// other memory is left to whoever gives it out.

#include "softrc/preload/verbs.hpp"
#include "softrc/process.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <unordered_map>

namespace odrc::soft {
namespace {

constexpr size_t kPage = 4096;

// The function of a name that would be there without us.
template <class Result, class... Arguments>
class Next {
public:
    explicit constexpr Next(const char* name) noexcept
        : name_{name} {}
    Result operator()(Arguments... arguments) noexcept {
        auto* function = function_.load(std::memory_order_relaxed);
        if (!function) {
            function = reinterpret_cast<Result (*)(Arguments...)>(dlsym(RTLD_NEXT, name_));
            function_.store(function, std::memory_order_relaxed);
        }
        return function(arguments...);
    }

private:
    const char* name_;
    std::atomic<Result (*)(Arguments...)> function_{nullptr};
};

constinit Next<void*, size_t, size_t> next_memalign{"memalign"};
constinit Next<void*, size_t, size_t> next_aligned_alloc{"aligned_alloc"};
constinit Next<int, void**, size_t, size_t> next_posix_memalign{"posix_memalign"};
constinit Next<void, void*> next_free{"free"};
constinit Next<void*, void*, size_t> next_realloc{"realloc"};
constinit Next<size_t, void*> next_malloc_usable_size{"malloc_usable_size"};

class Pages {
public:
    // Null where the arena is not for it, or is full.
    void* allocate(size_t alignment, size_t bytes) noexcept;

    bool hold(const void* p) const noexcept {
        const auto address = reinterpret_cast<uintptr_t>(p);
        return address - first_.load(std::memory_order_relaxed) <
               bytes_.load(std::memory_order_relaxed);
    }
    // Of memory that they hold.
    size_t size(void* p) noexcept;
    void release(void* p) noexcept;

private:
    struct Block {
        void* start; // before the pointer given out, where more than a page was to be aligned to
        size_t taken;
        size_t bytes;
    };
    // What a fork's child has of its parent's is not its own to free, nor to add to.
    bool inherited() const noexcept {
        const pid_t owner = owner_.load(std::memory_order_relaxed);
        return owner != 0 && owner != getpid();
    }

    static constexpr uintptr_t kNowhere = uintptr_t{1} << 63; // no address is near
    std::atomic<uintptr_t> first_{kNowhere};                  // of the arena
    std::atomic<size_t> bytes_{0};
    std::atomic<pid_t> owner_{0};
    std::mutex mutex_;
    std::shared_ptr<Process> process_; // as long as there are blocks: it may outlive its contexts
    std::unordered_map<void*, Block> blocks_;
};

// Never destroyed: memory is freed until the process is gone.
Pages& pages() noexcept {
    alignas(Pages) static std::byte place[sizeof(Pages)];
    static Pages& only = *new (place) Pages;
    return only;
}

void* Pages::allocate(size_t alignment, size_t bytes) noexcept {
    if (alignment < kPage || !std::has_single_bit(alignment) || bytes == 0 ||
        bytes > kMostArenaBytes)
        return nullptr;
    const auto process = Process::current();
    if (!process || inherited()) return nullptr;
    try {
        std::lock_guard lock{mutex_};
        // The arena gives whole pages only to who asks for one or more.
        const size_t taken = alignment > kPage ? bytes + alignment : std::max(bytes, kPage);
        const uint64_t offset = process->arena().allocate(taken);
        if (offset == 0) return nullptr;
        auto* start = process->arena().at<std::byte>(offset);
        void* aligned = start;
        size_t space = taken;
        std::align(alignment, bytes, aligned, space);
        try {
            blocks_.emplace(aligned, Block{start, taken, bytes});
        } catch (const std::bad_alloc&) {
            process->arena().release(offset, taken);
            throw;
        }
        process_ = process;
        owner_.store(getpid(), std::memory_order_relaxed);
        bytes_.store(process->view().size(), std::memory_order_relaxed);
        first_.store(reinterpret_cast<uintptr_t>(process->arena().at<std::byte>(0)),
                     std::memory_order_relaxed);
        return aligned;
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

size_t Pages::size(void* p) noexcept {
    std::lock_guard lock{mutex_};
    const auto block = blocks_.find(p);
    return block == blocks_.end() ? 0 : block->second.bytes;
}

void Pages::release(void* p) noexcept {
    if (inherited()) return;
    std::shared_ptr<Process> last; // ends outside the lock
    std::lock_guard lock{mutex_};
    const auto block = blocks_.find(p);
    if (block == blocks_.end()) return;
    process_->arena().release(process_->arena().offset_of(block->second.start),
                              block->second.taken);
    blocks_.erase(block);
    if (!blocks_.empty()) return;
    first_.store(kNowhere, std::memory_order_relaxed);
    owner_.store(0, std::memory_order_relaxed);
    last = std::move(process_);
}

} // namespace
} // namespace odrc::soft

using namespace odrc::soft;

ODRC_VERBS void* memalign(size_t alignment, size_t bytes) {
    if (void* p = pages().allocate(alignment, bytes)) return p;
    return next_memalign(alignment, bytes);
}

ODRC_VERBS void* aligned_alloc(size_t alignment, size_t bytes) {
    if (void* p = pages().allocate(alignment, bytes)) return p;
    return next_aligned_alloc(alignment, bytes);
}

ODRC_VERBS int posix_memalign(void** memory, size_t alignment, size_t bytes) {
    if (void* p = pages().allocate(alignment, bytes)) {
        *memory = p;
        return 0;
    }
    return next_posix_memalign(memory, alignment, bytes);
}

ODRC_VERBS void* valloc(size_t bytes) { return memalign(kPage, bytes); }

ODRC_VERBS void free(void* memory) {
    if (pages().hold(memory)) [[unlikely]]
        pages().release(memory);
    else
        next_free(memory);
}

ODRC_VERBS void* realloc(void* memory, size_t bytes) {
    if (!pages().hold(memory)) [[likely]]
        return next_realloc(memory, bytes);
    void* moved = bytes > 0 ? std::malloc(bytes) : nullptr;
    if (moved) std::memcpy(moved, memory, std::min(bytes, pages().size(memory)));
    if (moved || bytes == 0) pages().release(memory);
    return moved;
}

ODRC_VERBS size_t malloc_usable_size(void* memory) {
    if (pages().hold(memory)) [[unlikely]]
        return pages().size(memory);
    return next_malloc_usable_size(memory);
}
