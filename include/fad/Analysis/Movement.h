//===- Movement.h - Operations that move elements ---------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_ANALYSIS_MOVEMENT_H
#define FAD_ANALYSIS_MOVEMENT_H

#include "mlir/IR/Operation.h"

namespace mlir::fad {

/// How an operation makes its results of elements of its operands. All analyses
/// that ask what only moves or views elements ask here.
enum class Movement {
  /// The operation computes elements, or has none.
  none,
  /// All elements of the first operand in their order, under another type.
  reshape,
  /// All elements of the first operand, in another order or repeated.
  arrangement,
  /// Contiguous or strided blocks of elements of one or several operands.
  blocks,
  /// The elements of an operand within a border.
  border,
  /// Single elements at places that operands may name.
  elements
};

/// The movement of `op`, by its name: a `linalg.generic` has none.
Movement getMovement(Operation *op);

/// The operand all of whose elements the only result of `op` has, or some of
/// them: that of a reshape, an arrangement or a slice. Null for other
/// operations, and where `op` is null.
Value getMovedOperand(Operation *op);

/// The operand that the only result of `op` may share its memory with after
/// bufferization: that of a reshape, a bitcast or a slice. Null for other
/// operations, and where `op` is null.
Value getViewedOperand(Operation *op);

} // namespace mlir::fad

#endif // FAD_ANALYSIS_MOVEMENT_H
