//===- OlderGlibc.cpp - Functions that older C libraries lack -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Static libraries of LLVM and C++ call a function of glibc 2.36. With this
// definition, a binary that has them runs with glibc 2.34 or later.

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <sys/random.h>

extern "C" __attribute__((visibility("hidden"))) uint32_t
arc4random() noexcept {
  uint32_t value;
  while (getrandom(&value, sizeof(value), 0) != sizeof(value))
    if (errno != EINTR)
      std::abort();
  return value;
}
