//===- TensorElementRules.cpp - Reverse rules of elements of tensors ------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorRules.h"
#include "fad/Interfaces/DerivativeOpInterface.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// y = z with x at i: x' = y'[i], z' = y' with zero there.
struct Insert : OperandRule<Insert, tensor::InsertOp> {
  static Value pullback(OpBuilder &b, Op op, Value cotangent,
                        unsigned operand) {
    if (operand == op.getScalarMutable().getOperandNumber())
      return tensor::ExtractOp::create(b, op.getLoc(), cotangent,
                                       op.getIndices());
    if (operand != op.getDestMutable().getOperandNumber())
      return Value();
    Value zero = createZero(b, op.getLoc(), op.getScalar().getType());
    return tensor::InsertOp::create(b, op.getLoc(), zero, cotangent,
                                    op.getIndices());
  }
};

/// y = [x0, x1, ...]: xi' = y'[i].
struct FromElements : OperandRule<FromElements, tensor::FromElementsOp> {
  static Value pullback(OpBuilder &b, Op op, Value cotangent,
                        unsigned operand) {
    Location loc = op.getLoc();
    SmallVector<Value> indices;
    for (int64_t index :
         delinearize(operand, computeStrides(op.getType().getShape())))
      indices.push_back(arith::ConstantIndexOp::create(b, loc, index));
    return tensor::ExtractOp::create(b, loc, cotangent, indices);
  }
};

/// y = x everywhere: x' = the sum of y', rounded once.
struct Splat : ViewRule<Splat, tensor::SplatOp> {
  static Value pullback(OpBuilder &b, Op op, Value cotangent) {
    Location loc = op.getLoc();
    Type type = op.getInput().getType();
    Type sumType = getTangentType(type);
    Value empty = tensor::EmptyOp::create(b, loc, ArrayRef<int64_t>(), sumType);
    Value zero = createZero(b, loc, sumType);
    Value init = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
    int64_t rank = op.getType().getRank();
    SmallVector<AffineMap> maps = {b.getMultiDimIdentityMap(rank),
                                   AffineMap::get(rank, 0, b.getContext())};
    SmallVector<utils::IteratorType> iterators(rank,
                                               utils::IteratorType::reduction);
    auto add = [&](OpBuilder &inside, Location loc, ValueRange arguments) {
      ExprBuilder eb(inside, loc, sumType);
      Expr sum =
          convert(Expr(eb, arguments[0]), sumType) + Expr(eb, arguments[1]);
      linalg::YieldOp::create(inside, loc, sum.getValue());
    };
    auto sum = linalg::GenericOp::create(b, loc, empty.getType(), cotangent,
                                         init, maps, iterators, add);
    Value element = tensor::ExtractOp::create(b, loc, sum.getResult(0));
    ExprBuilder eb(b, loc, type);
    return convert(Expr(eb, element), type).getValue();
  }
};
} // namespace

void fad::attachTensorElementRules(MLIRContext *context) {
  attachPullbacks<FromElements, Insert, Splat>(context);
}
