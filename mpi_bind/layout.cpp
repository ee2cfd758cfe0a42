// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "layout.hpp"

#include <utility>

namespace odrc::mpi {

LayoutRef Layout::run(size_t elements, size_t element_size) {
    const size_t size = elements * element_size;
    Layout layout{Kind::run, size, 0, static_cast<ptrdiff_t>(size)};
    layout.count_ = elements;
    layout.is_flat_ = size > 0;
    return std::make_shared<const Layout>(std::move(layout));
}

LayoutRef Layout::repeat(size_t count, ptrdiff_t stride, const LayoutRef& what) {
    if (count == 0 || what->size() == 0) return run(0, 1);
    if (count == 1) return what;
    if (what->is_moved()) {
        const Part& only = what->parts_[0];
        return list({{only.at, repeat(count, stride, only.layout), 0}});
    }
    if (what->is_run() && stride == static_cast<ptrdiff_t>(what->size()))
        return run(count * what->count_, what->size() / what->count_);
    const ptrdiff_t last = static_cast<ptrdiff_t>(count - 1) * stride;
    Layout layout{Kind::repeat, count * what->size(), what->begin() + std::min<ptrdiff_t>(0, last),
                  what->end() + std::max<ptrdiff_t>(0, last)};
    layout.count_ = count;
    layout.stride_ = stride;
    layout.what_ = what;
    layout.is_flat_ = what->is_run();
    return std::make_shared<const Layout>(std::move(layout));
}

LayoutRef Layout::alike(std::span<const Part> parts) {
    const LayoutRef& what = parts[0].layout;
    const ptrdiff_t first = parts[0].at, stride = parts[1].at - first;
    size_t regular = 2;
    while (regular < parts.size() && parts[regular].at - parts[regular - 1].at == stride) ++regular;
    if (regular == parts.size()) return list({{first, repeat(regular, stride, what), 0}});
    const auto [least, most] = std::ranges::minmax(parts, {}, &Part::at);
    if (!std::in_range<int32_t>(least.at) || !std::in_range<int32_t>(most.at)) return nullptr;
    Layout layout{Kind::places, parts.size() * what->size(), least.at + what->begin(),
                  most.at + what->end()};
    layout.count_ = parts.size();
    layout.what_ = what;
    layout.places_.reserve(parts.size());
    for (const Part& part : parts) layout.places_.push_back(static_cast<int32_t>(part.at));
    return std::make_shared<const Layout>(std::move(layout));
}

std::vector<Layout::Part> Layout::join(const std::vector<Part>& parts) {
    std::vector<Part> joined;
    for (const Part& part : parts) {
        Part* last = joined.empty() ? nullptr : &joined.back();
        const Layout& next = *part.layout;
        if (last && last->layout->is_run() && next.is_run() &&
            last->at + last->layout->end() == part.at &&
            last->layout->size() / last->layout->count_ == next.size() / next.count_)
            last->layout = run(last->layout->count_ + next.count_, next.size() / next.count_);
        else
            joined.push_back(part);
    }
    return joined;
}

bool Layout::are_alike(std::span<const Part> parts) noexcept {
    const LayoutRef& what = parts[0].layout;
    return std::ranges::all_of(parts, [&what](const Part& part) {
        const Layout& other = *part.layout;
        return part.layout == what || (what->is_run() && other.is_run() &&
                                       other.count_ == what->count_ && other.size_ == what->size_);
    });
}

LayoutRef Layout::list(std::vector<Part> parts) {
    // Short pieces of one size are copied twice as fast as such of many sizes.
    constexpr size_t kShort = 64, kFaster = 2;
    std::erase_if(parts, [](const Part& part) { return part.layout->size() == 0; });
    if (parts.empty()) return run(0, 1);
    for (Part& part : parts) {
        if (!part.layout->is_moved()) continue;
        const Part only = part.layout->parts_[0];
        part = {part.at + only.at, only.layout, 0};
    }
    std::vector<Part> joined = join(parts);
    if (joined.size() == 1 && joined[0].at == 0) return joined[0].layout;
    bool alike = are_alike(joined);
    if (!alike && parts.size() < kFaster * joined.size() && parts[0].layout->size() <= kShort &&
        are_alike(parts)) {
        joined.swap(parts);
        alike = true;
    }
    if (joined.size() > 1 && alike)
        if (LayoutRef layout = Layout::alike(joined)) return layout;
    size_t size = 0;
    ptrdiff_t begin = joined[0].at + joined[0].layout->begin(), end = begin;
    for (Part& part : joined) {
        part.before = size;
        size += part.layout->size();
        begin = std::min(begin, part.at + part.layout->begin());
        end = std::max(end, part.at + part.layout->end());
    }
    Layout layout{Kind::list, size, begin, end};
    layout.is_flat_ =
        std::ranges::all_of(joined, [](const Part& part) { return part.layout->is_run(); });
    layout.parts_ = std::move(joined);
    return std::make_shared<const Layout>(std::move(layout));
}

Pieces Layout::pieces(std::byte* base, size_t count, ptrdiff_t extent, size_t from,
                      size_t most_bytes, std::span<iovec> into) const noexcept {
    Pieces pieces{0, 0};
    const auto take = [&](std::byte* piece, size_t n) {
        iovec* last = pieces.count > 0 ? &into[pieces.count - 1] : nullptr;
        if (last && static_cast<std::byte*>(last->iov_base) + last->iov_len == piece)
            last->iov_len += n;
        else if (pieces.count < into.size())
            into[pieces.count++] = {piece, n};
        else
            return false;
        pieces.bytes += n;
        return true;
    };
    visit(base, count, extent, from, most_bytes, take);
    return pieces;
}

size_t Layout::elements_in(size_t bytes) const noexcept {
    bytes = std::min(bytes, size_);
    switch (kind_) {
    case Kind::run:
        return size_ == 0 ? 0 : bytes / (size_ / count_);
    case Kind::repeat:
    case Kind::places: {
        const size_t whole = bytes / what_->size();
        return whole * what_->elements_in(what_->size()) +
               what_->elements_in(bytes - whole * what_->size());
    }
    case Kind::list:
        break;
    }
    size_t elements = 0;
    for (const Part& part : parts_) {
        if (part.before >= bytes) break;
        elements += part.layout->elements_in(bytes - part.before);
    }
    return elements;
}

bool Layout::ends_within_element(size_t bytes) const noexcept {
    if (bytes == 0 || bytes >= size_) return false;
    switch (kind_) {
    case Kind::run:
        return bytes % (size_ / count_) != 0;
    case Kind::repeat:
    case Kind::places:
        return what_->ends_within_element(bytes % what_->size());
    case Kind::list:
        break;
    }
    const auto part = std::ranges::upper_bound(parts_, bytes, {}, &Part::before) - 1;
    return part->layout->ends_within_element(bytes - part->before);
}

} // namespace odrc::mpi
