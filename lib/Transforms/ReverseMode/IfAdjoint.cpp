//===- IfAdjoint.cpp - Adjoint of scf.if ----------------------------------===//
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
/// Builds the adjoint of one conditional.
class IfAdjoint {
public:
  IfAdjoint(ReverseMode &mode, scf::IfOp op, ValueRange cotangents)
      : mode(mode), rewriter(mode.getRewriter()), op(op),
        cotangents(cotangents),
        captured(
            mode.findCaptured({&op.getThenRegion(), &op.getElseRegion()})) {}

  LogicalResult run();

private:
  /// The cotangents that one branch adds to, by what it captures.
  using Found = llvm::DenseMap<Value, Value>;

  /// Fills `to` with the branch `from` and its adjoint.
  LogicalResult buildBranch(Block &from, Block &to, Found &found);
  /// Ends `block` with the cotangents of `values`.
  void yield(Block &block, ArrayRef<Value> values, const Found &found);

  ReverseMode &mode;
  RewriterBase &rewriter;
  scf::IfOp op;
  ValueRange cotangents;
  llvm::SetVector<Value> captured;
};
} // namespace

LogicalResult IfAdjoint::buildBranch(Block &from, Block &to, Found &found) {
  return mode.withNewTable([&] {
    rewriter.setInsertionPointToStart(&to);
    IRMapping mapping;
    SmallVector<Operation *> clones = mode.clonePrimal(from, mapping);
    for (auto [value, cotangent] :
         llvm::zip_equal(from.getTerminator()->getOperands(), cotangents))
      if (cotangent && mode.isVaried(value))
        mode.getTable().add(mapping.lookupOrDefault(value), cotangent);
    LogicalResult valid = mode.differentiate(clones, to);
    for (Value value : captured)
      if (Value cotangent = mode.getTable().take(value))
        found[value] = cotangent;
    return valid;
  });
}

void IfAdjoint::yield(Block &block, ArrayRef<Value> values,
                      const Found &found) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(&block);
  SmallVector<Value> yielded;
  for (Value value : values) {
    Value cotangent = found.lookup(value);
    yielded.push_back(cotangent ? cotangent
                                : makeZerosLike(rewriter, op.getLoc(), value));
  }
  scf::YieldOp::create(rewriter, op.getLoc(), yielded);
  mode.eraseDead(block);
}

LogicalResult IfAdjoint::run() {
  Location loc = op.getLoc();
  // What the branches return is known only when they are there.
  auto branches = scf::IfOp::create(rewriter, loc, TypeRange(),
                                    op.getCondition(), /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
  Block *thenBlock = branches.thenBlock(), *elseBlock = branches.elseBlock();
  Found foundInThen, foundInElse;
  LogicalResult valid = buildBranch(*op.thenBlock(), *thenBlock, foundInThen);
  if (failed(buildBranch(*op.elseBlock(), *elseBlock, foundInElse)))
    valid = failure();
  SmallVector<Value> values;
  for (Value value : captured)
    if (foundInThen.contains(value) || foundInElse.contains(value))
      values.push_back(value);
  yield(*thenBlock, values, foundInThen);
  yield(*elseBlock, values, foundInElse);

  auto adjoint = scf::IfOp::create(rewriter, loc, TypeRange(ValueRange(values)),
                                   op.getCondition());
  adjoint.getThenRegion().takeBody(branches.getThenRegion());
  adjoint.getElseRegion().takeBody(branches.getElseRegion());
  rewriter.eraseOp(branches);
  for (auto [value, cotangent] : llvm::zip_equal(values, adjoint.getResults()))
    mode.getTable().add(value, cotangent);
  if (failed(valid) || failed(mode.checkRepeatable(adjoint)))
    return failure();
  mode.hoistSizes(adjoint);
  return success();
}

LogicalResult fad::addAdjoint(ReverseMode &mode, scf::IfOp op,
                              ValueRange cotangents) {
  return IfAdjoint(mode, op, cotangents).run();
}
