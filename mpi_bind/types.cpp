// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "types.hpp"

#include <map>
#include <optional>

namespace odrc::mpi {
namespace {

// Of so many, each so far from the last: the least and the most that its elements' bounds are.
struct Bounds {
    ptrdiff_t lb;
    ptrdiff_t ub;

    static Bounds of(const Datatype& type, size_t count, ptrdiff_t stride) noexcept {
        const ptrdiff_t last = count > 0 ? static_cast<ptrdiff_t>(count - 1) * stride : 0;
        return {type.lb() + std::min<ptrdiff_t>(0, last), type.ub() + std::max<ptrdiff_t>(0, last)};
    }
};

LayoutRef row(size_t count, const Datatype& type) {
    return Layout::repeat(count, type.extent(), type.layout());
}

} // namespace

Datatype* make_contiguous(size_t count, const Datatype& type) {
    if (count == 0) return new Datatype{Layout::run(0, 1), 0, 0, 1};
    const Bounds bounds = Bounds::of(type, count, type.extent());
    return new Datatype{row(count, type), bounds.lb, bounds.ub, type.alignment()};
}

Datatype* make_vector(size_t count, size_t length, ptrdiff_t stride, const Datatype& type) {
    if (count == 0 || length == 0) return new Datatype{Layout::run(0, 1), 0, 0, 1};
    const Bounds block = Bounds::of(type, length, type.extent());
    const ptrdiff_t last = static_cast<ptrdiff_t>(count - 1) * stride;
    return new Datatype{Layout::repeat(count, stride, row(length, type)),
                        block.lb + std::min<ptrdiff_t>(0, last),
                        block.ub + std::max<ptrdiff_t>(0, last), type.alignment()};
}

Datatype* make_blocks(std::span<const Block> blocks) {
    std::vector<Layout::Part> parts;
    std::map<std::pair<const Datatype*, size_t>, LayoutRef> rows; // most blocks are like others
    std::optional<Bounds> all;
    size_t alignment = 1;
    for (const Block& block : blocks) {
        if (block.count == 0) continue;
        LayoutRef& blocks_row = rows[{block.type, block.count}];
        if (!blocks_row) blocks_row = row(block.count, *block.type);
        parts.push_back({block.at, blocks_row, 0});
        const Bounds bounds = Bounds::of(*block.type, block.count, block.type->extent());
        const Bounds here{block.at + bounds.lb, block.at + bounds.ub};
        all = all ? Bounds{std::min(all->lb, here.lb), std::max(all->ub, here.ub)} : here;
        alignment = std::max(alignment, block.type->alignment());
    }
    const Bounds bounds = all.value_or(Bounds{0, 0});
    return new Datatype{Layout::list(std::move(parts)), bounds.lb, bounds.ub, alignment};
}

Datatype* make_struct(std::span<const Block> blocks) {
    const std::unique_ptr<Datatype> whole{make_blocks(blocks)};
    const auto alignment = static_cast<ptrdiff_t>(whole->alignment());
    const ptrdiff_t beyond = whole->extent() % alignment;
    return new Datatype{whole->layout(), whole->lb(),
                        whole->ub() + (beyond > 0 ? alignment - beyond : 0), whole->alignment()};
}

Datatype* make_resized(const Datatype& type, ptrdiff_t lb, ptrdiff_t extent) {
    // Nothing rounds up what a program has set.
    return new Datatype{type.layout(), lb, lb + extent, 1};
}

Datatype* make_array_part(std::span<const Share> dimensions, const Datatype& type) {
    LayoutRef layout = type.layout();
    ptrdiff_t stride = type.extent();
    for (size_t i = dimensions.size(); i-- > 0;) { // from the elements that are next to each other
        std::vector<Layout::Part> parts;
        for (const Share::Run& run : dimensions[i].runs)
            if (run.count > 0)
                parts.push_back({static_cast<ptrdiff_t>(run.first) * stride,
                                 Layout::repeat(run.count, stride, layout), 0});
        layout = Layout::list(std::move(parts));
        stride *= static_cast<ptrdiff_t>(dimensions[i].size);
    }
    return new Datatype{std::move(layout), 0, stride, type.alignment()};
}

} // namespace odrc::mpi
