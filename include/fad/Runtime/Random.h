//===- Random.h - Numbers that are the same everywhere ----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_RUNTIME_RANDOM_H
#define FAD_RUNTIME_RANDOM_H

#include <cstdint>

namespace mlir::fad {

/// SplitMix64. Unlike the distributions of the standard library, it gives the
/// same numbers with every compiler.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next();
  /// Uniform in (0, 1).
  double uniform();
  /// Normal with mean 0 and variance 1.
  double normal();

private:
  uint64_t state;
};

} // namespace mlir::fad

#endif // FAD_RUNTIME_RANDOM_H
