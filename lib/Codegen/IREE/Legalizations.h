//===- Legalizations.h - Parts of fad-legalize-for-iree ---------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CODEGEN_IREE_LEGALIZATIONS_H
#define FAD_LIB_CODEGEN_IREE_LEGALIZATIONS_H

#include "mlir/Support/LLVM.h"

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace mlir::fad {

/// Adds the pattern that splits, for IREE, sums of products with a broadcast
/// factor into two steps.
void populateSplitSumPatterns(RewritePatternSet &patterns);

/// Copies the arguments that operations under `root` would write to. IREE takes
/// arguments for its own, so the caller, and other users of the same argument,
/// would see these writes. Emits an error if a copy is impossible.
LogicalResult copyWrittenArguments(Operation *root);

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_IREE_LEGALIZATIONS_H
