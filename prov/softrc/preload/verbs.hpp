// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// What the files of this folder share. Each defines functions of libibverbs, under their own
// names: programs that were built against libibverbs find these first when this library is
// preloaded. Functions that have to do with no device (names of states, rates) stay libibverbs'.
//
// This library is a guest in its process. It never prints but to the log, and never exits; what
// soft0 cannot do ends with EOPNOTSUPP.

#include "softrc/context.hpp"

#include <cerrno>

// Macros, which would rename what we define.
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define ODRC_VERBS extern "C" __attribute__((visibility("default")))

namespace odrc::soft {

// soft0's port. There is one as long as there are contexts.
const verbs::Port& soft_port() noexcept;

// The entry points that verbs.h finds through the context: query.cpp and queue_pair.cpp.
int query_port_extended(ibv_context* context, uint8_t number, ibv_port_attr* attr, size_t size);
int query_device_extended(ibv_context* context, const ibv_query_device_ex_input* input,
                          ibv_device_attr_ex* attr, size_t size);
ibv_qp* create_qp_extended(ibv_context* context, ibv_qp_init_attr_ex* attr);

} // namespace odrc::soft
