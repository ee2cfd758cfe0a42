// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

// Goes through all orders of a run that asks, step by step, which of so many things comes next:
//
//     Orders orders;
//     do run(orders); while (orders.next());
//
// Where something else has a say in it, as a device that tries again in its own time, the same
// choices may lead elsewhere: then it goes on from there, and sees most orders.
class Orders {
public:
    explicit Orders(bool alone = true)
        : alone_{alone} {}

    size_t choose(size_t of) {
        if (at_ == path_.size()) path_.push_back({0, of});
        if (path_[at_].of != of) {
            if (alone_) throw std::logic_error{"the same choices led elsewhere"};
            path_.resize(at_ + 1);
            path_[at_] = {std::min(path_[at_].taken, of - 1), of};
        }
        return path_[at_++].taken;
    }

    // False when there is no other order.
    bool next() {
        ++count_;
        while (!path_.empty() && path_.back().taken + 1 == path_.back().of) path_.pop_back();
        if (path_.empty()) return false;
        ++path_.back().taken;
        at_ = 0;
        return true;
    }

    uint64_t count() const { return count_; }

    // The choices of this order, to be told of it.
    std::string text() const {
        std::string all;
        for (const Step& step : path_)
            all += std::to_string(step.taken) + "/" + std::to_string(step.of) + " ";
        return all;
    }

private:
    struct Step {
        size_t taken;
        size_t of;
    };
    const bool alone_;
    std::vector<Step> path_;
    size_t at_{0};
    uint64_t count_{0};
};
