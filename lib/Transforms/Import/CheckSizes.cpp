//===- CheckSizes.cpp - Sizes that no memory holds ------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/SizeExpr.h"
#include "fad/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADCHECKSIZES
#include "fad/Transforms/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

static LogicalResult checkType(Location loc, Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank() || !hasTooManyElements(shaped.getShape()))
    return success();
  return emitError(loc) << type
                        << " has 2^59 elements or more, which no memory "
                           "holds; give it smaller sizes";
}

/// Refuses paddings equal to the marker of dynamic sizes, which upstream's
/// verifier accepts.
static LogicalResult checkPadding(tensor::PadOp op) {
  auto check = [&](ArrayRef<int64_t> known, ValueRange dynamic) {
    return llvm::count(known, ShapedType::kDynamic) == int64_t(dynamic.size());
  };
  if (check(op.getStaticLow(), op.getLow()) &&
      check(op.getStaticHigh(), op.getHigh()))
    return success();
  return op.emitOpError("has a padding of ")
         << ShapedType::kDynamic << ", which no tensor is large enough for";
}

namespace {
struct FadCheckSizesPass : fad::impl::FadCheckSizesBase<FadCheckSizesPass> {
  void runOnOperation() override {
    bool valid = true;
    getOperation()->walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        valid &= succeeded(checkType(op->getLoc(), type));
      for (Region &region : op->getRegions())
        for (BlockArgument argument : region.getArguments())
          valid &= succeeded(checkType(argument.getLoc(), argument.getType()));
      if (auto pad = dyn_cast<tensor::PadOp>(op))
        valid &= succeeded(checkPadding(pad));
    });
    if (!valid)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
