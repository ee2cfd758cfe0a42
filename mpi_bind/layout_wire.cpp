// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "layout_wire.hpp"

#include <map>
#include <unordered_map>
#include <utility>

namespace odrc::mpi {
namespace {

constexpr size_t kDeepest = 100;
// Two of these added up do not overflow, nor do two of such sums.
constexpr int64_t kFarthest = int64_t{1} << 60;

bool is_near(int64_t place) noexcept { return place >= -kFarthest && place <= kFarthest; }
bool is_near(const Layout& layout) noexcept {
    return layout.size() <= size_t{kFarthest} && is_near(layout.begin()) && is_near(layout.end());
}

class Encoder {
public:
    std::vector<std::byte> encode(const Layout& layout) {
        write(layout);
        if (failed_) bytes_.clear();
        return std::move(bytes_);
    }

private:
    struct Node {
        size_t number;
        size_t depth; // of the tree below it
    };

    // Writes it behind all that it is made of, unless it is there.
    Node write(const Layout& layout) {
        if (layout.is_run()) return {write_run(layout), 1};
        const auto known = nodes_.find(&layout);
        if (known != nodes_.end()) return known->second;
        size_t depth = 0;
        std::vector<size_t> made_of;
        const auto write_first = [&](const Layout& part) {
            const Node node = write(part);
            depth = std::max(depth, node.depth);
            made_of.push_back(node.number);
        };
        if (layout.what()) write_first(*layout.what());
        for (const Layout::Part& part : layout.parts()) write_first(*part.layout);
        const Node node{count_++, depth + 1};
        if (node.depth > kDeepest || !is_near(layout)) failed_ = true;
        put(static_cast<uint64_t>(layout.kind()));
        ptrdiff_t last = 0;
        if (layout.kind() == Layout::Kind::repeat) {
            put(layout.count());
            put_signed(layout.stride());
            put(node.number - made_of[0]);
        } else if (layout.kind() == Layout::Kind::places) {
            put(layout.count());
            put(node.number - made_of[0]);
            for (const ptrdiff_t at : layout.places()) put_place(at, last);
        } else {
            put(made_of.size());
            for (size_t i = 0; i < made_of.size(); ++i) {
                put_place(layout.parts()[i].at, last);
                put(node.number - made_of[i]);
            }
        }
        return nodes_[&layout] = node;
    }
    size_t write_run(const Layout& run) {
        const size_t element_size = run.count() > 0 ? run.size() / run.count() : 1;
        const auto [known, is_new] = runs_.try_emplace({run.count(), element_size}, count_);
        if (is_new) {
            if (!is_near(run)) failed_ = true;
            put(static_cast<uint64_t>(Layout::Kind::run));
            put(run.count());
            put(element_size);
            ++count_;
        }
        return known->second;
    }
    void put(uint64_t value) {
        for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<std::byte>(value | 0x80));
        bytes_.push_back(static_cast<std::byte>(value));
    }
    void put_signed(int64_t value) {
        put(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
    }
    void put_place(ptrdiff_t at, ptrdiff_t& last) {
        if (!is_near(at)) {
            failed_ = true;
            return;
        }
        put_signed(at - std::exchange(last, at));
    }

    std::vector<std::byte> bytes_;
    std::unordered_map<const Layout*, Node> nodes_;
    std::map<std::pair<size_t, size_t>, size_t> runs_; // others may say the same
    size_t count_{0};
    bool failed_{false};
};

// Once something is wrong, all that is read is 0, and nothing comes of it.
class Decoder {
public:
    explicit Decoder(std::span<const std::byte> bytes) noexcept
        : left_{bytes} {}

    LayoutRef decode() {
        while (!left_.empty()) {
            deepest_ = 0;
            LayoutRef layout = next();
            if (!layout || !is_near(*layout) || deepest_ == kDeepest) return nullptr;
            nodes_.push_back({std::move(layout), deepest_ + 1});
        }
        return nodes_.empty() ? nullptr : nodes_.back().layout;
    }

private:
    struct Node {
        LayoutRef layout;
        size_t depth;
    };

    LayoutRef next() {
        const uint64_t kind = number();
        if (kind > static_cast<uint64_t>(Layout::Kind::list)) return nullptr;
        switch (static_cast<Layout::Kind>(kind)) {
        case Layout::Kind::run:
            return run();
        case Layout::Kind::repeat:
            return repeat();
        case Layout::Kind::places:
            return places();
        case Layout::Kind::list:
            return list();
        }
        return nullptr;
    }
    LayoutRef run() {
        const uint64_t elements = number(), element_size = number();
        if (failed_ || element_size == 0 || !is_product_near(elements, element_size))
            return nullptr;
        return Layout::run(elements, element_size);
    }
    LayoutRef repeat() {
        const uint64_t count = number();
        const int64_t stride = signed_number();
        const LayoutRef what = node();
        int64_t last;
        if (failed_ || count == 0 || !is_product_near(count, what->size()) ||
            __builtin_mul_overflow(static_cast<int64_t>(count - 1), stride, &last) ||
            !is_near(last))
            return nullptr;
        return Layout::repeat(count, stride, what);
    }
    LayoutRef places() {
        const uint64_t count = number();
        const LayoutRef what = node();
        if (failed_ || count > left_.size() || !is_product_near(count, what->size()))
            return nullptr;
        std::vector<Layout::Part> parts;
        parts.reserve(count);
        for (int64_t last = 0; parts.size() < count;) parts.push_back({place(last), what, 0});
        return failed_ ? nullptr : Layout::list(std::move(parts));
    }
    LayoutRef list() {
        const uint64_t count = number();
        if (failed_ || count > left_.size() / 2) return nullptr;
        std::vector<Layout::Part> parts;
        parts.reserve(count);
        int64_t last = 0;
        size_t size = 0;
        while (parts.size() < count) {
            const ptrdiff_t at = place(last);
            LayoutRef part = node();
            if (failed_) return nullptr;
            size += part->size();
            if (size > size_t{kFarthest}) return nullptr;
            parts.push_back({at, std::move(part), 0});
        }
        return Layout::list(std::move(parts));
    }

    // Of none that is empty: nothing is made of these.
    LayoutRef node() {
        const uint64_t before = number();
        if (failed_ || before == 0 || before > nodes_.size()) return fail(), nullptr;
        const Node& node = nodes_[nodes_.size() - before];
        if (node.layout->size() == 0) return fail(), nullptr;
        deepest_ = std::max(deepest_, node.depth);
        return node.layout;
    }
    ptrdiff_t place(int64_t& last) noexcept {
        if (__builtin_add_overflow(last, signed_number(), &last) || !is_near(last)) fail();
        return last;
    }
    int64_t signed_number() noexcept {
        const uint64_t value = number();
        return static_cast<int64_t>(value >> 1 ^ -(value & 1));
    }
    uint64_t number() noexcept {
        uint64_t value = 0;
        for (unsigned shift = 0; shift < 64 && !left_.empty(); shift += 7) {
            const auto byte = static_cast<uint64_t>(left_[0]);
            left_ = left_.subspan(1);
            if (shift == 63 && byte > 1) break;
            value |= (byte & 0x7f) << shift;
            if (byte < 0x80) return value;
        }
        return fail();
    }
    uint64_t fail() noexcept {
        failed_ = true;
        left_ = {};
        return 0;
    }
    static bool is_product_near(uint64_t one, uint64_t other) noexcept {
        uint64_t product;
        return !__builtin_mul_overflow(one, other, &product) && product <= uint64_t{kFarthest};
    }

    std::span<const std::byte> left_;
    std::vector<Node> nodes_;
    size_t deepest_{0}; // of what the node being read is made of
    bool failed_{false};
};

} // namespace

std::vector<std::byte> encode(const Layout& layout) { return Encoder{}.encode(layout); }

LayoutRef decode(std::span<const std::byte> bytes) { return Decoder{bytes}.decode(); }

} // namespace odrc::mpi
