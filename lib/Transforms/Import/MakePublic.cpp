//===- MakePublic.cpp - The entry as a public function --------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/Entry.h"
#include "fad/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADMAKEPUBLIC
#include "fad/Transforms/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

namespace {
struct MakePublicPass : fad::impl::FadMakePublicBase<MakePublicPass> {
  using FadMakePublicBase::FadMakePublicBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> function = findEntry(getOperation(), entry);
    if (failed(function))
      return signalPassFailure();
    if (function->isPublic())
      markAllAnalysesPreserved();
    function->setPublic();
  }
};
} // namespace
