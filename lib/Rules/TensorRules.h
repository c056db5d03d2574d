//===- TensorRules.h - Reverse rules of the tensor dialect ------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_RULES_TENSORRULES_H
#define FAD_LIB_RULES_TENSORRULES_H

#include "fad/Interfaces/PullbackOpInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::fad {

/// The base of a rule for an operation of several operands and one result.
template <typename Rule, typename OpTy>
struct OperandRule
    : PullbackOpInterface::ExternalModel<OperandRule<Rule, OpTy>, OpTy> {
  using Op = OpTy;

  FailureOr<Value> pullback(Operation *op, OpBuilder &builder,
                            ValueRange cotangents, unsigned operand) const {
    return Rule::pullback(builder, cast<OpTy>(op), cotangents[0], operand);
  }
};

/// The base of a rule for an operation with one source tensor and one result.
template <typename Rule, typename OpTy>
struct ViewRule : OperandRule<ViewRule<Rule, OpTy>, OpTy> {
  static FailureOr<Value> pullback(OpBuilder &builder, OpTy op, Value cotangent,
                                   unsigned operand) {
    // Operands after the first are sizes and positions.
    if (operand != 0)
      return Value();
    return Rule::pullback(builder, op, cotangent);
  }
};

template <typename... Rules> void attachPullbacks(MLIRContext *context) {
  (Rules::Op::template attachInterface<Rules>(*context), ...);
}

/// A zero of the floating-point type `type`.
Value createZero(OpBuilder &builder, Location loc, Type type);
/// A tensor of zeros of the type and sizes of `like`.
Value createZerosLike(OpBuilder &builder, Location loc, Value like);

void attachTensorElementRules(MLIRContext *context);
void attachTensorGatherRules(MLIRContext *context);
void attachTensorSliceRules(MLIRContext *context);

} // namespace mlir::fad

#endif // FAD_LIB_RULES_TENSORRULES_H
