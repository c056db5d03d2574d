//===- CheckSizes.cpp - Sizes that no memory holds ------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/SizeExpr.h"
#include "fad/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
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

/// Refuses an output shape that differs from the type of the result, which the
/// verifier of tensors accepts, and that of buffers does not.
static LogicalResult checkExpansion(tensor::ExpandShapeOp op) {
  for (auto [size, known] :
       llvm::zip_equal(op.getStaticOutputShape(), op.getType().getShape()))
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(known) &&
        size != known)
      return op.emitOpError("has the output shape [")
             << op.getStaticOutputShape() << "], which is not that of "
             << op.getType() << "; give both the same sizes";
  return success();
}

/// A number that `map` divides by and that is not positive. Such a division has
/// no value, which the parser and upstream's verifiers do not see.
static std::optional<int64_t> findInvalidDivisor(AffineMap map) {
  std::optional<int64_t> invalid;
  map.walkExprs([&](AffineExpr expr) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary ||
        !llvm::is_contained({AffineExprKind::Mod, AffineExprKind::FloorDiv,
                             AffineExprKind::CeilDiv},
                            expr.getKind()))
      return;
    auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (divisor && divisor.getValue() <= 0)
      invalid = divisor.getValue();
  });
  return invalid;
}

static LogicalResult checkDivisors(linalg::LinalgOp op) {
  for (auto [number, map] : llvm::enumerate(op.getIndexingMapsArray()))
    if (std::optional<int64_t> divisor = findInvalidDivisor(map))
      return op.emitOpError("divides by ")
             << *divisor << " in the indexing map of operand #" << number
             << "; give a divisor of at least 1";
  return success();
}

template <typename Op> static LogicalResult checkDivisors(Op op) {
  std::optional<int64_t> divisor = findInvalidDivisor(op.getMap());
  if (!divisor)
    return success();
  return op.emitOpError("divides by ")
         << *divisor << "; give a divisor of at least 1";
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
      if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
        valid &= succeeded(checkExpansion(expand));
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
        valid &= succeeded(checkDivisors(linalgOp));
      if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
        valid &= succeeded(checkDivisors(apply));
      if (auto min = dyn_cast<affine::AffineMinOp>(op))
        valid &= succeeded(checkDivisors(min));
      if (auto max = dyn_cast<affine::AffineMaxOp>(op))
        valid &= succeeded(checkDivisors(max));
    });
    if (!valid)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
