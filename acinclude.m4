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

dnl The flags of sanitizers, the macros by which tests know them, and the libraries that a program which
dnl was built without them is to load first: clang's is linked statically unless it is told not to, which
dnl libFuzzer would not bear. A C program may pass any number as an enum of libfabric's, and no compiler
dnl counts on better unasked.
AC_DEFUN([AX_SANITIZERS], [
  AS_CASE([$1],
    [no], [],
    [SANITIZER_FLAGS="-fsanitize=$1 -fno-sanitize=enum -fno-sanitize-recover=all dnl
-fno-omit-frame-pointer"])
  AS_CASE([$1],
    [*thread*], [SANITIZER_CPPFLAGS=-DODRC_THREAD_SANITIZER],
    [*address*], [SANITIZER_CPPFLAGS=-DODRC_ADDRESS_SANITIZER])
  AS_CASE([$1],
    [*fuzzer*], [],
    [*address*], [
      SANITIZER_LIBRARIES=`$CXX -print-file-name=libclang_rt.asan-$host_cpu.so`
      AS_CASE([$SANITIZER_LIBRARIES],
        [/*], [
          SANITIZER_LDFLAGS="-shared-libasan -Wl,-rpath,`dirname "$SANITIZER_LIBRARIES"`"],
        [SANITIZER_LIBRARIES="`$CXX -print-file-name=libasan.so` `$CXX -print-file-name=libubsan.so`"])
    ])
  AC_SUBST([SANITIZER], [$1])
  AC_SUBST([SANITIZER_FLAGS])
  AC_SUBST([SANITIZER_CPPFLAGS])
  AC_SUBST([SANITIZER_LDFLAGS])
  AC_SUBST([SANITIZER_LIBRARIES])
])
