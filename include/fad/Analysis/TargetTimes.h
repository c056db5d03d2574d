//===- TargetTimes.h - Times of operations on a target ----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_ANALYSIS_TARGETTIMES_H
#define FAD_ANALYSIS_TARGETTIMES_H

#include "mlir/IR/Operation.h"
#include <cstdint>

namespace mlir::fad {

/// Times of one element on a target, in units of the time that moving an eighth
/// of a byte between memory and processor takes.
struct TargetTimes {
  /// A comparison, an addition, a multiplication.
  int64_t arithmetic;
  /// A division or a square root.
  int64_t division;
  /// An exponential, a logarithm, a hyperbolic or error function.
  int64_t transcendental;
  /// A byte on the way between the memories of the device and of the host; 0
  /// for a target that has one memory.
  int64_t link = 0;
};

/// The kinds of machines that programs are compiled for.
enum class Target { cpu, gpu };

/// A CPU core with vector units: 36 GB/s, and 0.23 ns for the value and the
/// derivative of GELU in its tanh form, from polynomials.
inline constexpr TargetTimes kCPUTimes = {1, 8, 64};

/// An A100 with 1,555 GB/s (NVIDIA A100 Tensor Core GPU, data sheet), so that
/// an eighth of a byte takes 0.08 ps. Each of its 108 multiprocessors computes,
/// at 1.41 GHz, 64 additions, multiplications or fma in f32 a clock, and 16
/// special functions (CUDA C++ Programming Guide, throughput of native
/// arithmetic instructions, compute capability 8.0): 0.10 ps and 0.41 ps each.
/// A division or a transcendental function is one special function and two
/// multiplications. PCI Express 4.0 has 64 GB/s for both directions together
/// (the same data sheet): 49 times the 0.64 ps of a byte in memory, in one.
inline constexpr TargetTimes kGPUTimes = {1, 8, 8, 8 * 49};

constexpr const TargetTimes &getTargetTimes(Target target) {
  return target == Target::cpu ? kCPUTimes : kGPUTimes;
}

/// The time of one execution of the operations of `op` and its bodies.
int64_t getArithmeticTime(Operation *op, const TargetTimes &times);

} // namespace mlir::fad

#endif // FAD_ANALYSIS_TARGETTIMES_H
