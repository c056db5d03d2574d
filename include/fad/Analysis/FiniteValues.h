//===- FiniteValues.h - Scalars that take few values ------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_ANALYSIS_FINITEVALUES_H
#define FAD_ANALYSIS_FINITEVALUES_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace mlir::fad {

/// Folds `op`, if its operands are in `known`, and adds its results to that.
/// Whether it folds to constants.
bool foldConstants(Operation *op, llvm::DenseMap<Value, Attribute> &known);

/// The values that `scalar`, computed in a body, can take, if they follow from
/// constants and conditions alone: the derivative of a rectifier is 0 or 1 for
/// every operand. Folding for each combination of the conditions finds the
/// values, in this order, as attributes of the type of `scalar`; some of them
/// may never occur. `nullopt` if `scalar` depends on other values, or has more
/// than 16 values.
std::optional<SmallVector<Attribute>> findFiniteValues(Value scalar);

} // namespace mlir::fad

#endif // FAD_ANALYSIS_FINITEVALUES_H
