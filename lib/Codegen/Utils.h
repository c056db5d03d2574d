//===- Utils.h - Helpers of the passes out of the dialect -------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CODEGEN_UTILS_H
#define FAD_LIB_CODEGEN_UTILS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::fad {

/// A tensor of `type` to be overwritten, with its dynamic sizes taken from
/// `source`, a tensor of a compatible shape.
Value createEmptyLike(OpBuilder &builder, Location loc, RankedTensorType type,
                      Value source);

/// `tensor` with its first `count` dimensions collapsed to one or, for a
/// `count` of 0, with a new first dimension of size 1.
Value collapseFirst(ImplicitLocOpBuilder &b, Value tensor, int64_t count);

/// The result of a linalg.generic whose last `reductions` loops are reductions;
/// the others are parallel. `body` returns the value to yield.
Value createGeneric(
    ImplicitLocOpBuilder &b, ValueRange inputs, Value init,
    ArrayRef<AffineMap> maps, unsigned reductions,
    llvm::function_ref<Value(ImplicitLocOpBuilder &, ValueRange)> body);

/// Emits an error for a truncation below `root` with another rounding mode than
/// to the nearest, ties to even. LLVM assumes the mode in the operation, but
/// does not set it.
LogicalResult checkRoundings(Operation *root);

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_UTILS_H
