//===- PoisonToEmpty.cpp - Buffers for values that nothing reads ----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Codegen/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADPOISONTOEMPTY
#include "fad/Codegen/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

namespace {
struct PoisonToEmptyPass : fad::impl::FadPoisonToEmptyBase<PoisonToEmptyPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](ub::PoisonOp poison) {
      auto type = dyn_cast<RankedTensorType>(poison.getType());
      if (!type)
        return;
      rewriter.setInsertionPoint(poison);
      SmallVector<Value> sizes;
      for (unsigned i = 0, e = type.getNumDynamicDims(); i != e; ++i)
        sizes.push_back(
            arith::ConstantIndexOp::create(rewriter, poison.getLoc(), 0));
      rewriter.replaceOpWithNewOp<tensor::EmptyOp>(poison, type, sizes);
    });
  }
};
} // namespace
