//===- RegionAdjoint.cpp - Common parts of adjoints of regions ------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReverseMode.h"
#include "fad/Analysis/Entry.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::fad;

/// Whether `op` has side effects and no results, such as `cf.assert`.
static bool hasOnlyEffects(Operation *op) {
  return op->getNumResults() == 0 && op->getNumRegions() == 0 &&
         !op->hasTrait<OpTrait::IsTerminator>();
}

void ReverseMode::clonePrimal(Block &from, IRMapping &mapping) {
  for (Operation &op : from.without_terminator()) {
    if (hasOnlyEffects(&op))
      continue;
    Operation *clone = rewriter.clone(op, mapping);
    clone->walk([&](Operation *nested) {
      if (hasOnlyEffects(nested))
        rewriter.eraseOp(nested);
    });
  }
  for (auto [primal, clone] : mapping.getValueMap())
    if (isVaried(primal))
      markVaried(clone);
}

LogicalResult
ReverseMode::differentiateBlock(Block &from, IRMapping &mapping,
                                ValueRange cotangents,
                                llvm::function_ref<void()> finish) {
  OpBuilder::InsertionGuard guard(rewriter);
  CotangentTable outer = std::exchange(table, CotangentTable(rewriter));
  Block &to = *rewriter.getInsertionBlock();
  clonePrimal(from, mapping);
  for (auto [value, cotangent] :
       llvm::zip_equal(from.getTerminator()->getOperands(), cotangents))
    if (cotangent && isVaried(value))
      table.add(mapping.lookupOrDefault(value), cotangent);
  LogicalResult valid = differentiate(to);
  finish();
  table = std::move(outer);
  return valid;
}

llvm::SetVector<Value>
ReverseMode::findCaptured(MutableArrayRef<Region> regions) {
  llvm::SetVector<Value> captured;
  visitUsedValuesDefinedAbove(regions, [&](OpOperand *operand) {
    if (isVaried(operand->get()) && isDifferentiable(operand->get().getType()))
      captured.insert(operand->get());
  });
  return captured;
}

void ReverseMode::hoistSizes(Operation *op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  llvm::DenseMap<std::pair<Value, int64_t>, Value> sizes;
  op->walk([&](tensor::DimOp dim) {
    std::optional<int64_t> index = dim.getConstantIndex();
    Value source = dim.getSource();
    if (!index || op->isAncestor(source.getParentRegion()->getParentOp()))
      return;
    Value &size = sizes[{source, *index}];
    if (!size)
      size = tensor::DimOp::create(rewriter, dim.getLoc(), source, *index);
    rewriter.replaceOp(dim, size);
  });
}

/// Replaces `op` by an operation that takes `scalars`, which its body captures,
/// as operands, in tensors of rank 0, because rules apply to operands.
static linalg::GenericOp passScalars(RewriterBase &rewriter,
                                     linalg::GenericOp op,
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

void ReverseMode::passScalars(Block &block) {
  OpBuilder::InsertionGuard guard(rewriter);
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isControlFlow(&op))
      for (Region &region : op.getRegions())
        for (Block &nested : region)
          passScalars(nested);
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (!structured)
      continue;
    llvm::SetVector<Value> captured = findCaptured(op.getRegions());
    captured.remove_if(
        [](Value value) { return isa<RankedTensorType>(value.getType()); });
    if (captured.empty())
      continue;
    rewriter.setInsertionPoint(&op);
    SmallVector<bool> isResultVaried;
    for (Value result : op.getResults())
      isResultVaried.push_back(varied.erase(result));
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic) {
      FailureOr<linalg::GenericOp> general =
          linalg::generalizeNamedOp(rewriter, structured);
      if (failed(general))
        continue;
      generic = *general;
    }
    linalg::GenericOp passed =
        ::passScalars(rewriter, generic, captured.getArrayRef());
    for (OpOperand *input : passed.getDpsInputOperands())
      if (auto scalar = input->get().getDefiningOp<tensor::FromElementsOp>())
        findVaried(scalar);
    for (auto [result, isVaried] :
         llvm::zip_equal(passed.getResults(), isResultVaried))
      if (isVaried)
        markVaried(result);
  }
}
