//===- TensorRules.cpp - Reverse rules of the tensor dialect --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Interfaces/PullbackOpInterface.h"
#include "fad/Rules/Rules.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// The base of a rule for an operation with one source tensor and one result.
template <typename Rule, typename OpTy>
struct ViewRule
    : PullbackOpInterface::ExternalModel<ViewRule<Rule, OpTy>, OpTy> {
  using Op = OpTy;

  FailureOr<Value> pullback(Operation *op, OpBuilder &builder,
                            ValueRange cotangents, unsigned operand) const {
    // Operands after the first are sizes.
    if (operand != 0)
      return Value();
    return Rule::pullback(builder, cast<OpTy>(op), cotangents[0]);
  }
};

/// y = reshape(x) to more dimensions: x' = reshape(y') to fewer.
struct ExpandShape : ViewRule<ExpandShape, tensor::ExpandShapeOp> {
  static Value pullback(OpBuilder &b, Op op, Value cotangent) {
    return tensor::CollapseShapeOp::create(b, op.getLoc(), op.getSrcType(),
                                           cotangent,
                                           op.getReassociationIndices());
  }
};

/// y = reshape(x) to fewer dimensions: x' = reshape(y') to those of x.
struct CollapseShape : ViewRule<CollapseShape, tensor::CollapseShapeOp> {
  static Value pullback(OpBuilder &b, Op op, Value cotangent) {
    return tensor::ExpandShapeOp::create(
        b, op.getLoc(), op.getSrcType(), cotangent,
        op.getReassociationIndices(),
        tensor::getMixedSizes(b, op.getLoc(), op.getSrc()));
  }
};

/// y = x with another static shape: x' = y' with that of x.
struct Cast : ViewRule<Cast, tensor::CastOp> {
  static FailureOr<Value> pullback(OpBuilder &b, Op op, Value cotangent) {
    if (!isa<RankedTensorType>(op.getSource().getType()))
      return op.emitOpError("comes from an unranked tensor, which has no "
                            "gradient; give it a rank"),
             failure();
    return Value(tensor::CastOp::create(b, op.getLoc(),
                                        op.getSource().getType(), cotangent));
  }
};
} // namespace

template <typename... Rules>
static void attach(MLIRContext *context) {
  (Rules::Op::template attachInterface<Rules>(*context), ...);
}

void fad::registerTensorRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    attach<Cast, CollapseShape, ExpandShape>(context);
  });
}
