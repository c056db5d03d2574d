//===- DerivedValues.h - Residuals that share a root ------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_RESIDUALS_CANDIDATES_DERIVEDVALUES_H
#define FAD_TRANSFORMS_RESIDUALS_CANDIDATES_DERIVEDVALUES_H

#include "fad/IR/Fad.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::fad {

/// The rules of a policy for the operations and values of a forward part.
struct SavingRules {
  Policy policy;
  /// Whether backward repeats an operation in any case.
  llvm::function_ref<bool(Operation *)> isRecomputed;
  /// Whether a value is live in backward whatever is saved.
  llvm::function_ref<bool(Value)> isFree;
};

/// A value is *derived* from another one of as many elements if it is
/// elementwise in that one and otherwise reads tensors of far fewer elements:
/// the normalized input, the input scaled and shifted, and the input widened to
/// f64 all derive from the input of a normalization, given its statistics. If
/// several of the values `saved` derive from one root, or from a narrower one,
/// keeping the root in their place takes fewer bytes.
/// Returns the operations that backward then has to repeat. Under the policy
/// `fad` these are only arithmetic, never an activation.
DenseSet<Operation *> findDerived(ArrayRef<Value> saved,
                                  const SavingRules &rules);

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_RESIDUALS_CANDIDATES_DERIVEDVALUES_H
