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

/// Turns values inside the bodies of the `fad.elementwise` in `block` into
/// results, if keeping such a value may take fewer bytes than keeping its
/// operands or its users: values that were tensors in the source program and
/// are narrow, or take long to compute.
void exposeIntermediates(RewriterBase &rewriter, Block &block);

/// Adds alternatives for results of an `fad.elementwise` in `block`, other than
/// adjoints, that its other results, or a part of the body, determine: other
/// results may be available in backward, unlike the source, and a part may be
/// cheap. Returned values stay.
void addResultAlternatives(RewriterBase &rewriter, Block &block);

} // namespace fad
} // namespace mlir

#endif // FAD_LIB_TRANSFORMS_DIFFERENTIATE_REVERSEMODE_RESULTALTERNATIVES_H
