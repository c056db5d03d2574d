//===- CapturedScalars.cpp - Scalars that bodies capture ------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CapturedScalars.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fad;

linalg::GenericOp fad::passScalars(RewriterBase &rewriter, linalg::GenericOp op,
                                   ArrayRef<Value> scalars) {
  SmallVector<Value> inputs(op.getInputs());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  unsigned position = inputs.size();
  for (Value scalar : scalars) {
    auto type = RankedTensorType::get({}, scalar.getType());
    inputs.push_back(
        tensor::FromElementsOp::create(rewriter, op.getLoc(), type, scalar));
    maps.insert(maps.begin() + position,
                AffineMap::get(op.getNumLoops(), 0, op.getContext()));
  }
  auto passed = linalg::GenericOp::create(
      rewriter, op.getLoc(), op.getResultTypes(), inputs, op.getOutputs(), maps,
      op.getIteratorTypesArray());
  passed->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.inlineRegionBefore(op.getRegion(), passed.getRegion(),
                              passed.getRegion().begin());
  for (Value scalar : scalars) {
    BlockArgument argument = passed.getBody()->insertArgument(
        position++, scalar.getType(), scalar.getLoc());
    rewriter.replaceUsesWithIf(scalar, argument, [&](OpOperand &use) {
      return passed.getRegion().isAncestor(use.getOwner()->getParentRegion());
    });
  }
  rewriter.replaceOp(op, passed);
  return passed;
}
