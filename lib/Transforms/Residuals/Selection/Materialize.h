//===- Materialize.h - Residuals and recomputation in the IR ----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_RESIDUALS_SELECTION_MATERIALIZE_H
#define FAD_LIB_TRANSFORMS_RESIDUALS_SELECTION_MATERIALIZE_H

#include "fad/Transforms/Residuals/Candidates/Encoding.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SetVector.h"
#include <functional>

namespace mlir {
class OpOperand;

namespace fad {
class JointFunction;

/// The reason for saving a value.
struct ResidualReason {
  StringRef text;
  /// The error of the derivative that backward computes from the value, if that
  /// is not exact.
  std::optional<QuantizationError> error = std::nullopt;
};

/// The decision of a policy about the values of the forward part.
struct ResidualChoice {
  /// Whether a value is saved, rather than computed again.
  std::function<bool(Value)> isSaved;
  /// The encoding of a saved value; `nullopt` for none.
  std::function<std::optional<Encoding>(Value)> getEncoding;
  /// The memory in which a saved value is between forward and backward.
  std::function<Place(Value)> getPlace = [](Value) { return Place::device; };
  /// The reason for saving the operands of an operation that backward repeats.
  std::function<ResidualReason(Operation *)> getOperandReason;
};

/// Calls `callback` on each operand in the backward part of `joint`, gradients
/// included, that is a value of its forward part.
void forEachPrimalRead(const JointFunction &joint,
                       llvm::function_ref<void(OpOperand &)> callback);

/// The values of these operands.
llvm::SetVector<Value> findReadValues(const JointFunction &joint);

/// Makes the backward part of `joint` read values of the forward part through
/// `fad.residual` only. The operations that depend on a cotangent come last,
/// the repeated operations before them, the residuals before those.
void materialize(const JointFunction &joint, const ResidualChoice &choice);

} // namespace fad
} // namespace mlir

#endif // FAD_LIB_TRANSFORMS_RESIDUALS_SELECTION_MATERIALIZE_H
