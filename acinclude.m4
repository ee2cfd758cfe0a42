dnl SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
dnl Copyright (c) 2026 The odrc authors

dnl The compiler speaks C++20, by itself or with -std=c++20.
AC_DEFUN([AX_REQUIRE_CXX20], [
  AC_MSG_CHECKING([for C++20])
  save_CXXFLAGS=$CXXFLAGS
  CXXFLAGS="$CXXFLAGS -std=c++20"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <span>
#include <concepts>]], [[std::span<int> s; (void)s;]])],
    [AC_MSG_RESULT([-std=c++20])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([a C++20 compiler is needed: GCC 12 or clang 14, or later])])
  CXXFLAGS=$save_CXXFLAGS
])

dnl Warn of a local name that hides another one, in the words of the compiler at hand.
AC_DEFUN([AX_SHADOW_WARNING], [
  save_CXXFLAGS=$CXXFLAGS
  CXXFLAGS="$CXXFLAGS -Werror -Wshadow=local"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
    [SHADOW_WARNING=-Wshadow=local], [SHADOW_WARNING=-Wshadow])
  CXXFLAGS=$save_CXXFLAGS
  AC_SUBST([SHADOW_WARNING])
])
