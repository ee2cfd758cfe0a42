// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include "layout.hpp"

// Layouts as bytes, for another process: the tree and not what it stands for, each node once, those
// that it is made of before it. All numbers are of variable length, seven bits in a byte.
//
//     layout    nodes (the last one is the layout)
//     run       0, elements, size of one
//     repeat    1, count, stride, node
//     places    2, how many, node, each place
//     list      3, how many, for each: place, node
//
// A node is told as how many before the one that it is part of, a place as how far behind the one
// before it. Strides and places have their sign in the lowest bit.
namespace odrc::mpi {

// Nothing: it is nested too deep, or reaches too far, for anybody to take it.
std::vector<std::byte> encode(const Layout& layout);

// Null: these bytes are no layout. They may be any; what is made of them takes memory in proportion
// to their number, its places and sizes are such that adding them up does not overflow, and the
// depth of its tree is bounded.
LayoutRef decode(std::span<const std::byte> bytes);

} // namespace odrc::mpi
