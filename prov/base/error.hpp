// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Errors of the control path. Where an error is decided it is logged and thrown as an Error; the
// C boundary turns it into a negative fi_errno. The data path never throws.

#include <cerrno>
#include <exception>
#include <new>
#include <rdma/fi_errno.h>

namespace odrc {

class Error : public std::exception {
public:
    // code: a positive fi_errno value.
    explicit Error(int code) noexcept
        : code_{code} {}
    int code() const noexcept { return code_; }
    const char* what() const noexcept override { return fi_strerror(code_); }

private:
    int code_;
};

// Runs a control path function and gives its result, or a negative fi_errno, to C.
template <class F>
auto guarded(F&& f) noexcept -> decltype(f()) {
    try {
        return f();
    } catch (const Error& e) {
        return -e.code();
    } catch (const std::bad_alloc&) {
        return -FI_ENOMEM;
    } catch (...) {
        return -FI_EOTHER;
    }
}

} // namespace odrc
