//===- ExpandBF16.h - Conversions of bf16 by integers -----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CODEGEN_CPU_EXPANDBF16_H
#define FAD_LIB_CODEGEN_CPU_EXPANDBF16_H

#include "llvm/Support/LogicalResult.h"

namespace mlir {
class Operation;

namespace fad {

/// Rewrites conversions from bf16 to f32 and back, below `root`, to arithmetic
/// on integers. `vector.deinterleave` and `vector.interleave` with such
/// conversions become arithmetic on the even and the odd elements, without
/// moving any.
llvm::LogicalResult expandBF16(Operation *root);

} // namespace fad
} // namespace mlir

#endif // FAD_LIB_CODEGEN_CPU_EXPANDBF16_H
