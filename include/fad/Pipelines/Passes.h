//===- Passes.h - Passes that run pipelines ---------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_PIPELINES_PASSES_H
#define FAD_PIPELINES_PASSES_H

#include "fad/Transforms/Residuals/SelectionOptions.h"
#include "mlir/Pass/Pass.h"

namespace mlir::fad {

#define GEN_PASS_DECL
#include "fad/Pipelines/Passes.h.inc"

std::unique_ptr<Pass> createFadSelectLeast(FadSelectLeastOptions request,
                                           const SelectionOptions &selection);

#define GEN_PASS_REGISTRATION
#include "fad/Pipelines/Passes.h.inc"

} // namespace mlir::fad

#endif // FAD_PIPELINES_PASSES_H
