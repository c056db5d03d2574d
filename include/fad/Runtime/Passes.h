//===- Passes.h - Passes of the gradient checker ----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_RUNTIME_PASSES_H
#define FAD_RUNTIME_PASSES_H

#include "fad/Analysis/OptionPass.h"

namespace mlir {
class ModuleOp;

namespace fad {

#pragma push_macro("FAD_OPTION")
#undef FAD_OPTION
#define FAD_OPTION(...) __VA_ARGS__
#define GEN_PASS_DECL
#include "fad/Runtime/Passes.h.inc"
#pragma pop_macro("FAD_OPTION")

#define GEN_PASS_REGISTRATION
#include "fad/Runtime/Passes.h.inc"

} // namespace fad
} // namespace mlir

#endif // FAD_RUNTIME_PASSES_H
