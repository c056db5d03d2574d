//===- NamedContraction.cpp - Names for adjoints --------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinalgAdjoint.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::linalg;

/// `value`, or its source if it is an extension.
static Value lookThroughExtension(Value value) {
  auto extension = value.getDefiningOp<arith::ExtFOp>();
  return extension ? extension.getIn() : value;
}

/// Whether the body of `op` is `out + in0 * in1`, with narrower inputs extended
/// to the type of `out`: the body of the named forms.
static bool isMultiplyAccumulate(GenericOp op) {
  Block *body = op.getBody();
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return false;
  auto isPair = [](Value x, Value y, Value a, Value b) {
    return (x == a && y == b) || (x == b && y == a);
  };
  auto add =
      body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add)
    return false;
  for (Value product : add->getOperands()) {
    auto mul = product.getDefiningOp<arith::MulFOp>();
    if (mul &&
        isPair(add.getLhs(), add.getRhs(), product, body->getArgument(2)))
      return isPair(lookThroughExtension(mul.getLhs()),
                    lookThroughExtension(mul.getRhs()), body->getArgument(0),
                    body->getArgument(1));
  }
  return false;
}

/// The maps of `op` with its loops numbered as in named operations: those of
/// the result in its order, then the others. Empty unless each dimension of the
/// operands has a loop of its own.
static SmallVector<AffineMap> renumberLoops(GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!llvm::all_of(maps,
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return {};
  unsigned loops = op.getNumLoops(), next = 0;
  SmallVector<AffineExpr> numbering(loops);
  auto number = [&](AffineExpr &expr) {
    expr = getAffineDimExpr(next++, op.getContext());
  };
  for (AffineExpr expr : maps.back().getResults())
    number(numbering[cast<AffineDimExpr>(expr).getPosition()]);
  for (AffineExpr &expr : numbering)
    if (!expr)
      number(expr);
  for (AffineMap &map : maps)
    map = map.replaceDimsAndSymbols(numbering, {}, loops, 0);
  return maps;
}

/// Replaces `op` by an `OpTy` with the inputs in the order `order`.
template <typename OpTy, typename... Attributes>
static LinalgOp replaceBy(RewriterBase &rewriter, GenericOp op,
                          ArrayRef<unsigned> order, Attributes... attributes) {
  SmallVector<Value> inputs;
  for (unsigned index : order)
    inputs.push_back(op.getInputs()[index]);
  rewriter.setInsertionPoint(op);
  auto named = OpTy::create(rewriter, op.getLoc(), op.getResultTypes(), inputs,
                            op.getOutputs(), attributes...);
  rewriter.replaceOp(op, named);
  return named;
}

/// `op` as an `OpTy`, whose maps have the results `left`, `right` and, in
/// order, `result`, or null.
template <typename OpTy>
static LinalgOp nameFixed(RewriterBase &rewriter, GenericOp op,
                          ArrayRef<AffineMap> maps, ArrayRef<unsigned> left,
                          ArrayRef<unsigned> right) {
  auto matches = [&](AffineMap map, ArrayRef<unsigned> results) {
    return map == AffineMap::getMultiDimMapWithTargets(
                      map.getNumDims(), results, op.getContext());
  };
  for (unsigned first : {0, 1})
    if (matches(maps[first], left) && matches(maps[1 - first], right))
      return replaceBy<OpTy>(rewriter, op, {first, 1 - first});
  return {};
}

/// `op` as a product with a vector, or null.
static LinalgOp nameVectorProduct(RewriterBase &rewriter, GenericOp op,
                                  ArrayRef<AffineMap> maps) {
  LinalgOp named;
  if (op.getNumLoops() == 1)
    return nameFixed<DotOp>(rewriter, op, maps, {0}, {0});
  if (op.getNumLoops() == 2)
    (named = nameFixed<MatvecOp>(rewriter, op, maps, {0, 1}, {1})) ||
        (named = nameFixed<VecmatOp>(rewriter, op, maps, {1}, {1, 0}));
  if (op.getNumLoops() == 3)
    (named = nameFixed<BatchMatvecOp>(rewriter, op, maps, {0, 1, 2}, {0, 2})) ||
        (named =
             nameFixed<BatchVecmatOp>(rewriter, op, maps, {0, 2}, {0, 2, 1}));
  return named;
}

/// `maps`, with the inputs in the order `order`, as an attribute.
static ArrayAttr getIndexingMaps(Builder &builder, ArrayRef<AffineMap> maps,
                                 ArrayRef<unsigned> order) {
  return builder.getAffineMapArrayAttr(
      {maps[order[0]], maps[order[1]], maps[2]});
}

/// `op` as a `linalg.matmul` or, with a leading loop, as a
/// `linalg.batch_matmul`, or null.
static LinalgOp nameMatmul(RewriterBase &rewriter, GenericOp op,
                           ArrayRef<AffineMap> maps) {
  unsigned loops = op.getNumLoops();
  unsigned rank = loops - 1;
  bool batch = loops == 4;
  if ((loops != 3 && loops != 4) || llvm::any_of(maps, [&](AffineMap map) {
        return map.getNumResults() != rank ||
               (batch && map.getResult(0) != rewriter.getAffineDimExpr(0));
      }))
    return {};
  // Rows and columns are the loops of the result; its rows are read by the
  // left operand, its columns by the right one.
  auto reads = [&](unsigned input, unsigned loop) {
    return llvm::is_contained(maps[input].getResults(),
                              rewriter.getAffineDimExpr(loop));
  };
  unsigned row = rank - 2, column = rank - 1;
  unsigned left = reads(0, row) ? 0 : 1, right = 1 - left;
  if (!reads(left, row) || reads(right, row) || !reads(right, column) ||
      reads(left, column))
    return {};
  SmallVector<NamedAttribute> indexing = {rewriter.getNamedAttr(
      "indexing_maps", getIndexingMaps(rewriter, maps, {left, right}))};
  if (batch)
    return replaceBy<BatchMatmulOp>(rewriter, op, {left, right}, indexing);
  return replaceBy<MatmulOp>(rewriter, op, {left, right}, indexing);
}

/// `op` as a `linalg.contract`, or null.
static LinalgOp nameContract(RewriterBase &rewriter, GenericOp op,
                             ArrayRef<AffineMap> maps) {
  bool contracts = false;
  for (unsigned loop : llvm::seq(op.getNumLoops())) {
    AffineExpr expr = rewriter.getAffineDimExpr(loop);
    auto reads = [&](AffineMap map) {
      return llvm::is_contained(map.getResults(), expr);
    };
    bool summed = !reads(maps[2]);
    if (summed ? !reads(maps[0]) || !reads(maps[1])
               : !reads(maps[0]) && !reads(maps[1]))
      return {};
    contracts |= summed;
  }
  if (!contracts)
    return {};
  return replaceBy<ContractOp>(rewriter, op, {0, 1},
                               getIndexingMaps(rewriter, maps, {0, 1}));
}

/// `op` as a named contraction, or null.
static LinalgOp nameProduct(RewriterBase &rewriter, GenericOp op) {
  if (!isMultiplyAccumulate(op))
    return {};
  SmallVector<AffineMap> maps = renumberLoops(op);
  if (maps.empty())
    return {};
  LinalgOp named;
  if (op.getNumReductionLoops() == 1)
    (named = nameMatmul(rewriter, op, maps)) ||
        (named = nameVectorProduct(rewriter, op, maps));
  return named ? named : nameContract(rewriter, op, maps);
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
  // Unlike other operations, this one takes no static size for a dynamic one.
  auto input = cast<RankedTensorType>(op.getInputs()[0].getType());
  auto init = cast<RankedTensorType>(op.getOutputs()[0].getType());
  if (applyPermutation(input.getShape(), permutation) !=
      SmallVector<int64_t>(init.getShape()))
    return {};
  rewriter.setInsertionPoint(op);
  auto named = TransposeOp::create(rewriter, op.getLoc(), op.getInputs()[0],
                                   op.getOutputs()[0], permutation);
  rewriter.replaceOp(op, named);
  return named;
}

LinalgOp fad::nameContraction(RewriterBase &rewriter, GenericOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  if (LinalgOp product = nameProduct(rewriter, op))
    return product;
  if (LinalgOp convolution = nameConvolution(rewriter, op))
    return convolution;
  if (LinalgOp transpose = nameTranspose(rewriter, op))
    return transpose;
  return op;
}
