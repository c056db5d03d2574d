//===- Decider.h - The rule or the cut that chose residuals -----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_RESIDUALS_DECIDER_H
#define FAD_TRANSFORMS_RESIDUALS_DECIDER_H

#include "fad/IR/Fad.h"

namespace mlir::fad {

/// The network of a minimum cut: the values among which it chooses, and the
/// edges between them and the operations.
struct CutSize {
  unsigned candidates = 0, edges = 0;
};

/// The policy whose rule has chosen the residuals of a function, or the size of
/// the minimum cut that has.
struct Decider {
  std::optional<Policy> rule;
  CutSize cut;
};

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_RESIDUALS_DECIDER_H
