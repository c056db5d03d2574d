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

/// Adds the pattern that sums products with a broadcast factor in two steps,
/// for IREE.
void populateSplitSumPatterns(RewritePatternSet &patterns);

/// Copies what operations under `root` would write to in the memory of an
/// argument, for IREE, which takes arguments for its own: other functions that
/// have the same argument, and its caller, would see what was written. Emits an
/// error where it cannot be copied.
LogicalResult copyWrittenArguments(Operation *root);

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_IREE_LEGALIZATIONS_H
