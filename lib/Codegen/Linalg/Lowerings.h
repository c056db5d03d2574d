//===- Lowerings.h - Parts of the lowering to linalg ------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CODEGEN_LINALG_LOWERINGS_H
#define FAD_LIB_CODEGEN_LINALG_LOWERINGS_H

#include "mlir/Support/LLVM.h"

namespace mlir {
class DialectRegistry;
class RewritePatternSet;
} // namespace mlir

namespace mlir::fad {

/// Adds the pattern that lowers fad.scatter_add, to a loop or to reductions.
void populateScatterAddPatterns(RewritePatternSet &patterns, bool asReductions);

/// Adds the patterns that lower fad.pack and fad.unpack.
void populatePackPatterns(RewritePatternSet &patterns);

/// Adds the pattern that writes scf.index_switch on tensors with scf.if.
void populateSwitchPatterns(RewritePatternSet &patterns);

/// Makes operations that read or write a vector of a tensor verifiable at run
/// time.
void registerVectorVerification(DialectRegistry &registry);

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_LINALG_LOWERINGS_H
