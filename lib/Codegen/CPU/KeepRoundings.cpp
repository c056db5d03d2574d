//===- KeepRoundings.cpp - Conversions that may not be left out -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADKEEPROUNDINGS
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

namespace {
struct FadKeepRoundingsPass
    : fad::impl::FadKeepRoundingsBase<FadKeepRoundingsPass> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (auto extension = dyn_cast<arith::ExtFOp>(op))
        extension.removeFastmathAttr();
      if (auto truncation = dyn_cast<arith::TruncFOp>(op))
        truncation.removeFastmathAttr();
    });
  }
};
} // namespace
