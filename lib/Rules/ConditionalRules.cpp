//===- ConditionalRules.cpp - Adjoint of scf.if and scf.index_switch ------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdjointRules.h"
#include "fad/Rules/Rules.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// Builds the adjoint of one conditional, each region of which is a branch: the
/// same conditional, which computes the branch taken again and then the
/// cotangents of the values that it captures.
class ConditionalAdjoint {
public:
  ConditionalAdjoint(AdjointBuilder &adjoint, Operation *op,
                     ValueRange cotangents)
      : adjoint(adjoint), rewriter(adjoint.rewriter), op(op),
        cotangents(cotangents),
        captured(adjoint.findCaptured(op->getRegions())) {}

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

  AdjointBuilder &adjoint;
  RewriterBase &rewriter;
  Operation *op;
  ValueRange cotangents;
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
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(&to);
  IRMapping mapping;
  return adjoint.differentiateBlock(from, mapping, cotangents, [&] {
    for (Value value : captured)
      if (Value cotangent = adjoint.takeCotangent(value))
        found[value] = cotangent;
  });
}

void ConditionalAdjoint::yield(Block &block, ArrayRef<Value> values,
                               const Found &found) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(&block);
  SmallVector<Value> yielded;
  for (Value value : values) {
    Value cotangent = found.lookup(value);
    yielded.push_back(cotangent ? cotangent
                                : makeZerosLike(rewriter, op->getLoc(), value));
  }
  scf::YieldOp::create(rewriter, op->getLoc(), yielded);
}

LogicalResult ConditionalAdjoint::run() {
  // The types of results follow from the finished branches.
  Operation *unfinished = createLike(TypeRange());
  SmallVector<Found> found(op->getNumRegions());
  LogicalResult valid = success();
  for (auto [from, to, cotangents] :
       llvm::zip_equal(op->getRegions(), unfinished->getRegions(), found))
    if (failed(buildBranch(from.front(), to.emplaceBlock(), cotangents)))
      valid = failure();
  SmallVector<Value> values;
  for (Value value : captured)
    if (llvm::any_of(
            found, [&](const Found &branch) { return branch.contains(value); }))
      values.push_back(value);
  for (auto [to, cotangents] : llvm::zip_equal(unfinished->getRegions(), found))
    yield(to.front(), values, cotangents);

  Operation *finished = createLike(TypeRange(ValueRange(values)));
  for (auto [to, from] :
       llvm::zip_equal(finished->getRegions(), unfinished->getRegions()))
    to.takeBody(from);
  rewriter.eraseOp(unfinished);
  for (auto [value, cotangent] :
       llvm::zip_equal(values, finished->getResults()))
    adjoint.addCotangent(value, cotangent);
  return failed(valid) ? valid : adjoint.finishRegions(finished);
}

namespace {
template <typename OpTy>
struct Conditional : AdjointRule<Conditional<OpTy>, OpTy> {
  static LogicalResult buildAdjoint(AdjointBuilder &adjoint, OpTy op,
                                    ValueRange cotangents) {
    return ConditionalAdjoint(adjoint, op, cotangents).run();
  }
};
} // namespace

void fad::registerSCFRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, scf::SCFDialect *) {
    attachRules<Conditional<scf::IfOp>, Conditional<scf::IndexSwitchOp>>(
        context);
    attachLoopRule(context);
  });
}
