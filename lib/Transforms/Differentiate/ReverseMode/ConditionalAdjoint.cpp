//===- ConditionalAdjoint.cpp - Adjoint of scf.if and scf.index_switch ----===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReverseMode.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// Builds the adjoint of one conditional, each region of which is a branch.
class ConditionalAdjoint {
public:
  ConditionalAdjoint(ReverseMode &mode, Operation *op, ValueRange cotangents)
      : mode(mode), rewriter(mode.getRewriter()), op(op),
        cotangents(cotangents) {
    for (Region &region : op->getRegions())
      branches.push_back(&region);
    captured = mode.findCaptured(branches);
  }

  LogicalResult run();

private:
  /// The cotangents that one branch adds to, by captured value.
  using Found = llvm::DenseMap<Value, Value>;

  /// A conditional like `op` that returns `types`, its branches without blocks.
  Operation *createLike(TypeRange types);
  /// Fills `to` with the branch `from` and its adjoint.
  LogicalResult buildBranch(Block &from, Block &to, Found &found);
  /// Ends `block` with the cotangents of `values`.
  void yield(Block &block, ArrayRef<Value> values, const Found &found);

  ReverseMode &mode;
  RewriterBase &rewriter;
  Operation *op;
  ValueRange cotangents;
  SmallVector<Region *> branches;
  llvm::SetVector<Value> captured;
};
} // namespace

Operation *ConditionalAdjoint::createLike(TypeRange types) {
  return rewriter.insert(Operation::create(
      op->getLoc(), op->getName(), types, op->getOperands(), NamedAttrList(),
      op->getPropertiesStorage(), BlockRange(), op->getNumRegions()));
}

LogicalResult ConditionalAdjoint::buildBranch(Block &from, Block &to,
                                              Found &found) {
  return mode.withNewTable([&] {
    rewriter.setInsertionPointToStart(&to);
    IRMapping mapping;
    mode.clonePrimal(from, mapping);
    for (auto [value, cotangent] :
         llvm::zip_equal(from.getTerminator()->getOperands(), cotangents))
      if (cotangent && mode.isVaried(value))
        mode.getTable().add(mapping.lookupOrDefault(value), cotangent);
    LogicalResult valid = mode.differentiate(to);
    for (Value value : captured)
      if (Value cotangent = mode.getTable().take(value))
        found[value] = cotangent;
    return valid;
  });
}

void ConditionalAdjoint::yield(Block &block, ArrayRef<Value> values,
                               const Found &found) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(&block);
  SmallVector<Value> yielded;
  for (Value value : values) {
    Value cotangent = found.lookup(value);
    yielded.push_back(cotangent
                          ? cotangent
                          : makeZerosLike(rewriter, op->getLoc(), value));
  }
  scf::YieldOp::create(rewriter, op->getLoc(), yielded);
  mode.eraseDead(block);
}

LogicalResult ConditionalAdjoint::run() {
  // The types of results follow from the finished branches.
  Operation *unfinished = createLike(TypeRange());
  SmallVector<Found> found(branches.size());
  LogicalResult valid = success();
  for (auto [from, to, cotangents] :
       llvm::zip_equal(branches, unfinished->getRegions(), found))
    if (failed(buildBranch(from->front(), to.emplaceBlock(), cotangents)))
      valid = failure();
  SmallVector<Value> values;
  for (Value value : captured)
    if (llvm::any_of(
            found, [&](const Found &branch) { return branch.contains(value); }))
      values.push_back(value);
  for (auto [to, cotangents] :
       llvm::zip_equal(unfinished->getRegions(), found))
    yield(to.front(), values, cotangents);

  Operation *adjoint = createLike(TypeRange(ValueRange(values)));
  for (auto [region, finished] :
       llvm::zip_equal(adjoint->getRegions(), unfinished->getRegions()))
    region.takeBody(finished);
  rewriter.eraseOp(unfinished);
  for (auto [value, cotangent] : llvm::zip_equal(values, adjoint->getResults()))
    mode.getTable().add(value, cotangent);
  if (failed(valid) || failed(mode.checkRepeatable(adjoint)))
    return failure();
  mode.hoistSizes(adjoint);
  return success();
}

LogicalResult fad::addConditionalAdjoint(ReverseMode &mode, Operation *op,
                                         ValueRange cotangents) {
  return ConditionalAdjoint(mode, op, cotangents).run();
}
