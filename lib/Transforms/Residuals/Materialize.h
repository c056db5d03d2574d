//===- Materialize.h - Residuals and what is computed again -----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_RESIDUALS_MATERIALIZE_H
#define FAD_LIB_TRANSFORMS_RESIDUALS_MATERIALIZE_H

#include "Encoding.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SetVector.h"
#include <functional>

namespace mlir {
class OpOperand;

namespace fad {
class JointFunction;

/// Why a value is saved.
struct ResidualReason {
  StringRef text;
  /// How far off the derivative is that backward gets from it, where that is
  /// not exact.
  std::optional<QuantizationError> error = std::nullopt;
};

/// What a policy has decided of the values of the forward part.
struct ResidualChoice {
  /// Whether a value is saved, rather than computed again.
  std::function<bool(Value)> isSaved;
  /// How a value that is saved is kept; `nullopt`: as it is.
  std::function<std::optional<Encoding>(Value)> getEncoding;
  /// Why operands of an operation that is executed again are saved.
  std::function<ResidualReason(Operation *)> getOperandReason;
};

/// Calls `callback` on each operand in the backward part of `joint`, gradients
/// included, that is a value of its forward part.
void forEachPrimalRead(const JointFunction &joint,
                       llvm::function_ref<void(OpOperand &)> callback);

/// These values.
llvm::SetVector<Value> findReadValues(const JointFunction &joint);

/// Makes the backward part of `joint` read values of the forward part through
/// `fad.residual` only: the operations that depend on a cotangent come last,
/// before them what is computed again, before that what is saved.
void materialize(const JointFunction &joint, const ResidualChoice &choice);

} // namespace fad
} // namespace mlir

#endif // FAD_LIB_TRANSFORMS_RESIDUALS_MATERIALIZE_H
