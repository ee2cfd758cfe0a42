// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// Whether a sanitizer watches, which takes address space and time: what visits every state of a
// model visits a part of them then.
#if defined ODRC_ADDRESS_SANITIZER || defined ODRC_THREAD_SANITIZER
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
