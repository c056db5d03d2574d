//===- Passes.h - Conversions out of the fad dialect ------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_CODEGEN_PASSES_H
#define FAD_CODEGEN_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
class RewritePatternSet;

namespace gpu {
class GPUModuleOp;
} // namespace gpu

namespace fad {

#define GEN_PASS_DECL
#include "fad/Codegen/Passes.h.inc"

/// Adds the patterns of `fad-expand-primitives`.
void populateExpandPrimitivesPatterns(RewritePatternSet &patterns);

#define GEN_PASS_REGISTRATION
#include "fad/Codegen/Passes.h.inc"

} // namespace fad
} // namespace mlir

#endif // FAD_CODEGEN_PASSES_H
