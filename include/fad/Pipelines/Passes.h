//===- Passes.h - Passes that run pipelines ---------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_PIPELINES_PASSES_H
#define FAD_PIPELINES_PASSES_H

#include "fad/Analysis/OptionPass.h"
#include "fad/Transforms/Residuals/SelectionOptions.h"

namespace mlir::fad {

#pragma push_macro("FAD_OPTION")
#undef FAD_OPTION
#define FAD_OPTION(...) __VA_ARGS__
#define GEN_PASS_DECL
#include "fad/Pipelines/Passes.h.inc"
#pragma pop_macro("FAD_OPTION")

std::unique_ptr<Pass> createFadSelectLeast(FadSelectLeastOptions request,
                                           const SelectionOptions &selection);

#define GEN_PASS_REGISTRATION
#include "fad/Pipelines/Passes.h.inc"

} // namespace mlir::fad

#endif // FAD_PIPELINES_PASSES_H
