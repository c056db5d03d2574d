//===- Random.cpp - Reproducible random numbers ---------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Runtime/Random.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir::fad;

uint64_t Random::next() {
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

double Random::uniform() {
  return (double(next() >> 11) + 0.5) * std::ldexp(1.0, -53);
}

double Random::normal() {
  // Box and Muller's transform, without its second number.
  double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(2 * llvm::numbers::pi * uniform());
}
