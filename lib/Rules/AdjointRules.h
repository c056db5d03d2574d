//===- AdjointRules.h - Forms of rules for tensors --------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_RULES_ADJOINTRULES_H
#define FAD_LIB_RULES_ADJOINTRULES_H

#include "fad/Interfaces/AdjointOpInterface.h"
#include "fad/Rules/ScalarRules.h"

namespace mlir::fad {

/// The base of a rule for an operation of several operands and one result.
template <typename Rule, typename OpTy>
struct OperandRule
    : AdjointOpInterface::ExternalModel<OperandRule<Rule, OpTy>, OpTy> {
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

/// The base of a rule that gives the cotangents of all operands at once.
template <typename Rule, typename OpTy>
struct AdjointRule
    : AdjointOpInterface::ExternalModel<AdjointRule<Rule, OpTy>, OpTy> {
  using Op = OpTy;

  LogicalResult buildAdjoint(Operation *op, AdjointBuilder &adjoint,
                             ValueRange cotangents) const {
    return Rule::buildAdjoint(adjoint, cast<OpTy>(op), cotangents);
  }
};

void attachLoopRule(MLIRContext *context);
void attachTensorElementRules(MLIRContext *context);
void attachTensorSliceRules(MLIRContext *context);

} // namespace mlir::fad

#endif // FAD_LIB_RULES_ADJOINTRULES_H
