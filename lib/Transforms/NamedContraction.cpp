//===- NamedContraction.cpp - Names for adjoints --------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NamedContraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::linalg;

/// `value`, or what it is extended from.
static Value lookThroughExtension(Value value) {
  auto extension = value.getDefiningOp<arith::ExtFOp>();
  return extension ? extension.getIn() : value;
}

/// Whether the body of `op` is `out + in0 * in1`, with the inputs extended to
/// the type of `out` where they are narrower: the body of the named forms.
static bool isMultiplyAccumulate(GenericOp op) {
  Block *body = op.getBody();
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return false;
  auto isPair = [](Value x, Value y, Value a, Value b) {
    return (x == a && y == b) || (x == b && y == a);
  };
  auto add = body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add)
    return false;
  for (Value product : add->getOperands()) {
    auto mul = product.getDefiningOp<arith::MulFOp>();
    if (mul && isPair(add.getLhs(), add.getRhs(), product, body->getArgument(2)))
      return isPair(lookThroughExtension(mul.getLhs()),
                    lookThroughExtension(mul.getRhs()), body->getArgument(0),
                    body->getArgument(1));
  }
  return false;
}

/// The operand that reads the loop `expr`, or -1 where not exactly one does.
static int findOnlyReader(GenericOp op, AffineExpr expr) {
  int reader = -1;
  for (int index : {0, 1}) {
    AffineMap map = op.getIndexingMapsArray()[index];
    if (!llvm::is_contained(map.getResults(), expr))
      continue;
    if (reader >= 0)
      return -1;
    reader = index;
  }
  return reader;
}

/// `op` as a `linalg.matmul` or, with one more loop in front, as a
/// `linalg.batch_matmul`. Null where it is neither.
static LinalgOp nameMatmul(RewriterBase &rewriter, GenericOp op) {
  unsigned loops = op.getNumLoops();
  bool batch = loops == 4;
  unsigned rank = loops - 1;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if ((loops != 3 && loops != 4) || op.getNumReductionLoops() != 1 ||
      !isMultiplyAccumulate(op) ||
      llvm::any_of(maps, [&](AffineMap map) {
        return !map.isProjectedPermutation() || map.getNumResults() != rank;
      }))
    return {};

  // Rows and columns are the loops of the result; its rows are read by the
  // left operand, its columns by the right one.
  AffineMap out = maps[2];
  AffineExpr row = out.getResult(rank - 2), column = out.getResult(rank - 1);
  int left = findOnlyReader(op, row), right = findOnlyReader(op, column);
  if (left < 0 || right < 0 || left == right)
    return {};
  if (batch && llvm::any_of(maps, [&](AffineMap map) {
        return map.getResult(0) != out.getResult(0);
      }))
    return {};

  // Number the loops as the named operation does: batch, row, column, sum.
  SmallVector<AffineExpr> numbering(loops);
  auto number = [&](AffineExpr expr, unsigned position) {
    numbering[cast<AffineDimExpr>(expr).getPosition()] =
        rewriter.getAffineDimExpr(position);
  };
  for (auto [position, expr] : llvm::enumerate(out.getResults()))
    number(expr, position);
  for (AffineExpr &expr : numbering)
    if (!expr)
      expr = rewriter.getAffineDimExpr(loops - 1);
  SmallVector<Attribute> renumbered;
  for (AffineMap map : {maps[left], maps[right], out})
    renumbered.push_back(AffineMapAttr::get(
        map.replaceDimsAndSymbols(numbering, {}, loops, 0)));

  SmallVector<Value> inputs = {op.getInputs()[left], op.getInputs()[right]};
  rewriter.setInsertionPoint(op);
  NamedAttribute indexing(rewriter.getStringAttr("indexing_maps"),
                          rewriter.getArrayAttr(renumbered));
  LinalgOp named;
  if (batch)
    named = BatchMatmulOp::create(rewriter, op.getLoc(), op.getResultTypes(),
                                  inputs, op.getOutputs(), indexing);
  else
    named = MatmulOp::create(rewriter, op.getLoc(), op.getResultTypes(),
                             inputs, op.getOutputs(), indexing);
  rewriter.replaceOp(op, named);
  return named;
}

/// `op` as a `linalg.transpose`, or null.
static LinalgOp nameTranspose(RewriterBase &rewriter, GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() != 0 ||
      op.getBody()->getOperations().size() != 1 ||
      op.getBody()->getTerminator()->getOperand(0) !=
          op.getBody()->getArgument(0))
    return {};
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!maps[0].isPermutation() || !maps[1].isPermutation())
    return {};
  SmallVector<int64_t> permutation;
  for (AffineExpr expr : maps[1].getResults())
    permutation.push_back(*maps[0].getResultPosition(expr));
  rewriter.setInsertionPoint(op);
  auto named =
      TransposeOp::create(rewriter, op.getLoc(), op.getInputs()[0],
                          op.getOutputs()[0], permutation);
  rewriter.replaceOp(op, named);
  return named;
}

LinalgOp fad::nameContraction(RewriterBase &rewriter, GenericOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  if (LinalgOp matmul = nameMatmul(rewriter, op))
    return matmul;
  if (LinalgOp transpose = nameTranspose(rewriter, op))
    return transpose;
  return op;
}
