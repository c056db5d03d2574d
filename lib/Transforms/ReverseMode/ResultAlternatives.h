//===- ResultAlternatives.h - Results from other results --------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_REVERSEMODE_RESULTALTERNATIVES_H
#define FAD_LIB_TRANSFORMS_REVERSEMODE_RESULTALTERNATIVES_H

#include "mlir/Support/LLVM.h"

namespace mlir {
class Operation;
class RewriterBase;

namespace fad {

/// Where a result of one of `primal` that is an `fad.elementwise` can be
/// computed from its other results, adds that as an alternative: these may be
/// there in backward where the source is not. What is returned stays.
void addResultAlternatives(RewriterBase &rewriter,
                           ArrayRef<Operation *> primal);

} // namespace fad
} // namespace mlir

#endif // FAD_LIB_TRANSFORMS_REVERSEMODE_RESULTALTERNATIVES_H
