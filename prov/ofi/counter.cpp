// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "ofi/counter.hpp"

#include "base/log.hpp"

namespace odrc::ofi {
namespace {

Counter& of(fid_cntr* cntr) noexcept { return static_cast<Counter&>(*cntr); }

uint64_t cntr_read(fid_cntr* cntr) { return of(cntr).read(); }
uint64_t cntr_readerr(fid_cntr* cntr) { return of(cntr).read_errors(); }
int cntr_add(fid_cntr* cntr, uint64_t value) {
    of(cntr).add({.successes = value, .errors = 0});
    return 0;
}
int cntr_adderr(fid_cntr* cntr, uint64_t value) {
    of(cntr).add({.successes = 0, .errors = value});
    return 0;
}
int cntr_set(fid_cntr* cntr, uint64_t value) {
    of(cntr).set_successes(value);
    return 0;
}
int cntr_seterr(fid_cntr* cntr, uint64_t value) {
    of(cntr).set_errors(value);
    return 0;
}
int cntr_wait(fid_cntr* cntr, uint64_t threshold, int timeout) {
    return of(cntr).wait(threshold, timeout);
}
int cntr_control(fid* f, int command, void* argument) noexcept {
    return as<Counter>(f).control(command, argument);
}

fi_ops cntr_fid_ops = plain_ops<Counter>(unsupported, cntr_control);
fi_ops_cntr cntr_ops = {.size = sizeof(fi_ops_cntr),
                        .read = cntr_read,
                        .readerr = cntr_readerr,
                        .add = cntr_add,
                        .set = cntr_set,
                        .wait = cntr_wait,
                        .adderr = cntr_adderr,
                        .seterr = cntr_seterr};

fi_wait_obj wait_of(const fi_cntr_attr* attr) {
    if (!attr) return FI_WAIT_NONE;
    if (attr->events != FI_CNTR_EVENTS_COMP || attr->flags) {
        ODRC_WARN(FI_LOG_CNTR, "counters count completions, and have no flags");
        throw Error{FI_EINVAL};
    }
    return attr->wait_obj;
}

} // namespace

Counter::Counter(Domain& domain, const fi_cntr_attr* attr, void* context)
    : fid_cntr{}
    , on_domain_{domain.leaning}
    , wait_{wait_of(attr), fid, attr ? attr->wait_set : nullptr}
    , tally_{!domain.one_thread(), wait_.by_descriptor()}
    , progress_{domain} {
    if (wait_.by_descriptor()) wait_.watch(tally_.fd());
    fid = {.fclass = FI_CLASS_CNTR, .context = context, .ops = &cntr_fid_ops};
    ops = &cntr_ops;
}

// The numbers after some progress.
Counter::Numbers Counter::numbers() noexcept {
    return progress_.inside([this] {
        progress_.make();
        return tally_.numbers();
    });
}

uint64_t Counter::read() noexcept {
    const uint64_t successes = numbers().successes;
    if (told_successes_.exchange(successes) == successes)
        progress_.give_way();
    else
        progress_.found();
    return successes;
}

uint64_t Counter::read_errors() noexcept {
    const uint64_t errors = numbers().errors;
    told_errors_ = errors;
    return errors;
}

void Counter::add(const Numbers& more) noexcept {
    progress_.inside([&] { tally_.add(more); });
}

void Counter::set_successes(uint64_t value) noexcept {
    progress_.inside([&] { tally_.set_successes(value); });
}

void Counter::set_errors(uint64_t value) noexcept {
    progress_.inside([&] { tally_.set_errors(value); });
}

int Counter::wait(uint64_t threshold, int timeout) noexcept {
    const uint64_t errors = progress_.inside([this] { return tally_.numbers().errors; });
    const auto attempt = [&]() -> std::optional<ssize_t> {
        const Numbers now = numbers();
        if (now.successes >= threshold) return 0;
        if (now.errors != errors) return -FI_EAVAIL;
        return std::nullopt;
    };
    const auto result = static_cast<int>(wait_.wait(timeout, attempt, [this] { arm(); }));
    return result == -FI_EAGAIN ? -FI_ETIMEDOUT : result;
}

void Counter::arm() noexcept {
    progress_.inside([this] {
        tally_.arm();
        progress_.arm();
    });
    wait_.arm();
}

// fi_poll(3): whether there is news since it was asked last, or since the application changed a
// number.
bool Counter::has_news() noexcept {
    return progress_.inside([this] {
        progress_.make();
        return tally_.take_news();
    });
}

// Arms everything that wakes a sleeper, and then looks whether there is news already.
int Counter::trywait() noexcept {
    if (!wait_.by_descriptor()) return -FI_ENOSYS;
    arm();
    return numbers() == Numbers{told_successes_, told_errors_} ? 0 : -FI_EAGAIN;
}

} // namespace odrc::ofi
