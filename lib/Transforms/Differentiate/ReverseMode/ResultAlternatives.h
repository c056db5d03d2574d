//===- ResultAlternatives.h - Results from other results --------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_DIFFERENTIATE_REVERSEMODE_RESULTALTERNATIVES_H
#define FAD_LIB_TRANSFORMS_DIFFERENTIATE_REVERSEMODE_RESULTALTERNATIVES_H

namespace mlir {
class Block;
class RewriterBase;

namespace fad {

/// Makes values inside the bodies of the `fad.elementwise` in `block` results,
/// where keeping such a value can take less than keeping what it is computed
/// from, or what is computed from it: those that were tensors in the program as
/// written and are narrow, or take long to compute.
void exposeIntermediates(RewriterBase &rewriter, Block &block);

/// Where a result of an `fad.elementwise` in `block` that is no adjoint can be
/// computed from its other results, or by part of the body, adds that as an
/// alternative: these may be there in backward where the source is not, and a
/// part may be cheap. What is returned stays.
void addResultAlternatives(RewriterBase &rewriter, Block &block);

} // namespace fad
} // namespace mlir

#endif // FAD_LIB_TRANSFORMS_DIFFERENTIATE_REVERSEMODE_RESULTALTERNATIVES_H
