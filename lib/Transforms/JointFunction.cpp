//===- JointFunction.cpp - The parts of a joint function ------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/JointFunction.h"
#include "fad/IR/Fad.h"

using namespace mlir;
using namespace mlir::fad;

bool JointFunction::isJoint(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return false;
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    if (function.getArgAttr(index, FadDialect::kCotangentAttr))
      return true;
  return false;
}

JointFunction::JointFunction(func::FuncOp function) : function(function) {
  Operation *terminator = function.front().getTerminator();
  for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
    bool gradient = bool(
        function.getResultAttr(index, FadDialect::kGradientAttr));
    (gradient ? gradients : results).push_back(value);
  }
  for (BlockArgument argument : function.getArguments()) {
    auto result = function.getArgAttrOfType<IntegerAttr>(
        argument.getArgNumber(), FadDialect::kCotangentAttr);
    if (!result) {
      arguments.push_back(argument);
      continue;
    }
    cotangents.push_back(argument);
    size_t position = result.getInt();
    cotangentResults.push_back(position < results.size() ? results[position]
                                                         : Value());
  }
}

func::ReturnOp JointFunction::getReturn() const {
  func::FuncOp f = function;
  return cast<func::ReturnOp>(f.front().getTerminator());
}

SmallVector<Operation *> JointFunction::findBackward() const {
  DenseSet<Value> dependent(cotangents.begin(), cotangents.end());
  SmallVector<Operation *> backward;
  func::FuncOp f = function;
  for (Operation &op : f.front().without_terminator()) {
    bool depends = false;
    forEachOutsideOperand(&op, [&](OpOperand &operand) {
      depends |= dependent.contains(operand.get());
    });
    if (!depends)
      continue;
    backward.push_back(&op);
    dependent.insert(op.result_begin(), op.result_end());
  }
  return backward;
}

void fad::forEachOutsideOperand(
    Operation *op, llvm::function_ref<void(OpOperand &)> callback) {
  op->walk([&](Operation *nested) {
    for (OpOperand &operand : nested->getOpOperands())
      if (!op->isAncestor(operand.get().getParentRegion()->getParentOp()))
        callback(operand);
  });
}
