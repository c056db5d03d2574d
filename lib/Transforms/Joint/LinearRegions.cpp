//===- LinearRegions.cpp - Linear regions of a backward part --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinearRegions.h"
#include "fad/IR/Fad.h"
#include "fad/Interfaces/DerivativeOpInterface.h"
#include "fad/Transforms/Utils/Linearity.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

Block &fad::getScalarBody(Operation *op) { return op->getRegion(0).front(); }

AffineMap fad::getReadMap(OpOperand &operand) {
  if (auto op = dyn_cast<linalg::LinalgOp>(operand.getOwner()))
    return op.getMatchingIndexingMap(&operand);
  MLIRContext *context = operand.getOwner()->getContext();
  auto op = cast<ElementwiseOp>(operand.getOwner());
  unsigned rank = cast<RankedTensorType>(op.getResult(0).getType()).getRank();
  return isa<RankedTensorType>(operand.get().getType())
             ? AffineMap::getMultiDimIdentityMap(rank, context)
             : AffineMap::get(rank, 0, context);
}

/// Whether `body` consists of scalar operations that read scalars.
static bool isScalarBody(Block &body) {
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  return llvm::all_of(body.without_terminator(), [&](Operation &op) {
    return isPure(&op) && op.getNumRegions() == 0 &&
           !isa<linalg::IndexOp>(op) &&
           llvm::all_of(op.getOperandTypes(), isScalar) &&
           llvm::all_of(op.getResultTypes(), isScalar);
  });
}

bool fad::isElementwiseForm(Operation *op) {
  if (isa<ElementwiseOp>(op))
    return isScalarBody(getScalarBody(op));
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || !generic.hasPureTensorSemantics() ||
      generic.getNumResults() == 0 ||
      generic.getNumParallelLoops() != generic.getNumLoops())
    return false;
  for (OpOperand &operand : generic->getOpOperands()) {
    AffineMap map = generic.getMatchingIndexingMap(&operand);
    if (generic.isDpsInit(&operand)
            ? !map.isIdentity() || generic.payloadUsesValueFromOperand(&operand)
            : !map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return false;
  }
  return isScalarBody(getScalarBody(op));
}

//===----------------------------------------------------------------------===//
// Linear regions
//===----------------------------------------------------------------------===//

/// The most operands of a region: a kernel with more streams gains nothing, and
/// the work would grow faster than the program.
static constexpr unsigned kMaxReads = 32;

/// Whether all linear operations of `body` propagate coefficients, on types
/// with tangents.
static bool isFactorableBody(Block &body, const Linearity &linearity) {
  auto hasTangent = [&](Value value) {
    return !linearity.isLinear(value) || getTangentType(value.getType());
  };
  for (Operation &op : body.without_terminator()) {
    if (llvm::none_of(op.getOperands(),
                      [&](Value v) { return linearity.isLinear(v); }))
      continue;
    if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
             arith::NegFOp, arith::ExtFOp, arith::TruncFOp, arith::SelectOp,
             math::FmaOp>(op) ||
        !llvm::all_of(op.getOperands(), hasTangent) ||
        !llvm::all_of(op.getResults(), hasTangent))
      return false;
  }
  return true;
}

/// Whether `op` may be part of a region: all of its results are linear.
static bool isFactorable(Operation *op, const Linearity &linearity) {
  if (!isElementwiseForm(op) ||
      !isFactorableBody(getScalarBody(op), linearity) ||
      !llvm::all_of(op->getResults(),
                    [&](Value v) { return linearity.isLinear(v); }))
    return false;
  bool readsTensors = true;
  forEachOutsideOperand(op, [&](OpOperand &operand) {
    readsTensors &= !linearity.isLinear(operand.get()) ||
                    isa<RankedTensorType>(operand.get().getType());
  });
  return readsTensors;
}

/// Whether the factors of `op` may be multiplied with those of the operation
/// that reads its result.
static bool joinsReader(Operation *op, const Linearity &linearity,
                        Reassociation reassociation) {
  if (reassociation != Reassociation::inRange)
    return reassociation == Reassociation::always;
  return llvm::none_of(op->getOperands(), [&](Value operand) {
    return linearity.isLinear(operand) && getElementTypeOrSelf(operand).isF16();
  });
}

SmallVector<LinearRegion> fad::findLinearRegions(const JointFunction &joint,
                                                 const Linearity &linearity,
                                                 Reassociation reassociation) {
  SmallVector<LinearRegion> regions;
  SmallVector<unsigned> numReads;
  DenseMap<Operation *, unsigned> regionOf;
  SmallVector<Operation *> backward = joint.getBackward();
  for (Operation *op : llvm::reverse(backward)) {
    if (!isFactorable(op, linearity))
      continue;
    // An operation joins the only region that reads it, element by element.
    std::optional<unsigned> region;
    bool isSink = !joinsReader(op, linearity, reassociation);
    for (OpOperand &use : op->getUses()) {
      auto it = regionOf.find(use.getOwner());
      if (it == regionOf.end() || !getReadMap(use).isIdentity() ||
          region.value_or(it->second) != it->second) {
        isSink = true;
        break;
      }
      region = it->second;
    }
    // The value that links them is no operand of the joint region.
    unsigned reads = op->getNumOperands();
    if (isSink || !region || numReads[*region] + reads - 1 > kMaxReads) {
      region = regions.size();
      regions.emplace_back();
      numReads.push_back(0);
    } else {
      --reads;
    }
    numReads[*region] += reads;
    regionOf[op] = *region;
    regions[*region].push_back(op);
  }
  for (LinearRegion &region : regions)
    std::reverse(region.begin(), region.end());
  std::reverse(regions.begin(), regions.end());
  return regions;
}
