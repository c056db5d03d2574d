//===- JointFunction.cpp - The parts of a joint function ------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Utils/JointFunction.h"
#include "fad/IR/Fad.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::fad;

bool JointFunction::isJoint(func::FuncOp function) {
  if (function.isExternal())
    return false;
  bool hasCotangent = false, hasPrimal = false;
  for (unsigned index : llvm::seq(function.getNumArguments())) {
    if (function.getArgAttr(index, FadDialect::kResidualAttr))
      return false;
    bool cotangent =
        bool(function.getArgAttr(index, FadDialect::kCotangentAttr));
    (cotangent ? hasCotangent : hasPrimal) = true;
  }
  for (unsigned index : llvm::seq(function.getNumResults()))
    hasPrimal |= !function.getResultAttr(index, FadDialect::kGradientAttr);
  return hasCotangent && hasPrimal;
}

JointFunction::JointFunction(func::FuncOp function) : function(function) {
  for (OpOperand &operand : getReturn()->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    bool gradient =
        bool(function.getResultAttr(number, FadDialect::kGradientAttr));
    (gradient ? gradients : results).push_back(operand.get());
    (gradient ? gradientNumbers : resultNumbers).push_back(number);
  }
  for (BlockArgument argument : function.getArguments()) {
    bool cotangent = bool(function.getArgAttr(argument.getArgNumber(),
                                              FadDialect::kCotangentAttr));
    (cotangent ? cotangents : arguments).push_back(argument);
  }
}

FailureOr<JointFunction> JointFunction::get(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitError("has cotangents and several blocks; a joint "
                              "function has one: express its control flow with "
                              "scf"),
           failure();
  Operation *terminator = function.front().getTerminator();
  if (!isa<func::ReturnOp>(terminator))
    return terminator->emitOpError(
               "ends a joint function; only func.return can"),
           failure();
  JointFunction joint(function);
  if (failed(joint.verifyPlaces()) || failed(joint.verifyCotangents()) ||
      failed(joint.verifyGradients()) || failed(joint.verifyForward()))
    return failure();
  return joint;
}

unsigned JointFunction::getResultNumberOf(unsigned index) const {
  func::FuncOp f = function;
  unsigned number = cast<BlockArgument>(cotangents[index]).getArgNumber();
  return f.getArgAttrOfType<IntegerAttr>(number, FadDialect::kCotangentAttr)
      .getInt();
}

Value JointFunction::getResultOf(unsigned index) const {
  return results[getResultNumberOf(index)];
}

LogicalResult JointFunction::verifyPlaces() const {
  func::FuncOp f = function;
  for (BlockArgument argument : f.getArguments())
    if (f.getArgAttr(argument.getArgNumber(), FadDialect::kGradientAttr))
      return emitError(argument.getLoc())
             << "argument " << argument.getArgNumber() << " is marked with "
             << FadDialect::kGradientAttr
             << ", which belongs on a result; mark a cotangent with "
             << FadDialect::kCotangentAttr;
  for (unsigned number : llvm::seq(f.getNumResults())) {
    if (f.getResultAttr(number, FadDialect::kResidualAttr))
      return f.emitError("result ")
             << number << " is marked with " << FadDialect::kResidualAttr
             << ", which belongs on results of a forward function; remove it";
    if (f.getResultAttr(number, FadDialect::kCotangentAttr))
      return f.emitError("result ")
             << number << " is marked with " << FadDialect::kCotangentAttr
             << ", which belongs on an argument; mark a gradient with "
             << FadDialect::kGradientAttr;
  }
  return success();
}

LogicalResult JointFunction::verifyCotangents() const {
  DenseMap<unsigned, unsigned> seen;
  for (auto [index, cotangent] : llvm::enumerate(cotangents)) {
    unsigned number = getResultNumberOf(index);
    unsigned argument = cast<BlockArgument>(cotangent).getArgNumber();
    if (number >= results.size())
      return emitError(cotangent.getLoc())
             << "is marked as the cotangent of result " << number
             << ", but the primal function has " << results.size()
             << " results; results count without gradients";
    Type type = results[number].getType();
    if (failed(verifyCompatibleShape(cotangent.getType(), type)))
      return emitError(cotangent.getLoc())
             << "is marked as the cotangent of result " << number
             << ", but has the type " << cotangent.getType()
             << ", which does not fit " << type
             << "; results count without gradients";
    if (auto [other, isNew] = seen.try_emplace(number, argument); !isNew)
      return emitError(cotangent.getLoc())
             << "argument " << argument << " is marked as the cotangent of "
             << "result " << number << ", as argument " << other->second
             << " is; mark one argument for each result";
  }
  return success();
}

LogicalResult JointFunction::verifyGradients() const {
  func::FuncOp f = function;
  DenseMap<unsigned, unsigned> seen;
  for (auto [gradient, number] : llvm::zip(gradients, gradientNumbers)) {
    unsigned argument =
        f.getResultAttrOfType<IntegerAttr>(number, FadDialect::kGradientAttr)
            .getInt();
    if (argument >= arguments.size())
      return f.emitError("result ")
             << number << " is marked as the gradient of argument " << argument
             << ", but the primal function has " << arguments.size()
             << " arguments; arguments count without cotangents";
    Type type = arguments[argument].getType();
    if (failed(verifyCompatibleShape(gradient.getType(), type)))
      return f.emitError("result ")
             << number << " is marked as the gradient of argument " << argument
             << ", but has the type " << gradient.getType()
             << ", which does not fit " << type
             << "; arguments count without cotangents";
    if (auto [other, isNew] = seen.try_emplace(argument, number); !isNew)
      return f.emitError("result ")
             << number << " is marked as the gradient of argument " << argument
             << ", as result " << other->second
             << " is; mark one result for each argument";
  }
  return success();
}

LogicalResult JointFunction::verifyForward() const {
  DenseSet<Value> dependent(cotangents.begin(), cotangents.end());
  for (Operation *op : getBackward()) {
    if (isa<ResidualOp>(op))
      return op->emitOpError("depends on a cotangent; only values of the "
                             "forward part cross to backward");
    dependent.insert(op->result_begin(), op->result_end());
  }
  func::FuncOp f = function;
  for (auto [value, number] : llvm::zip(results, resultNumbers))
    if (dependent.contains(value))
      return f.emitError("result ")
             << number << " depends on a cotangent; mark it with "
             << FadDialect::kGradientAttr << " if it is a gradient";
  return success();
}

func::ReturnOp JointFunction::getReturn() const {
  func::FuncOp f = function;
  return cast<func::ReturnOp>(f.front().getTerminator());
}

SmallVector<Operation *> JointFunction::getBackward() const {
  func::FuncOp f = function;
  return findDependent(f.front(), cotangents);
}

SmallVector<Operation *>
fad::findDependent(Block &block, ValueRange values,
                   llvm::function_ref<bool(Operation *)> ignored) {
  SmallVector<Operation *> ops;
  DenseSet<Value> dependent(values.begin(), values.end());
  for (Operation &op : block.without_terminator()) {
    bool depends = false;
    if (!ignored || !ignored(&op))
      forEachOutsideOperand(&op, [&](OpOperand &operand) {
        depends |= dependent.contains(operand.get());
      });
    if (!depends)
      continue;
    ops.push_back(&op);
    dependent.insert(op.result_begin(), op.result_end());
  }
  return ops;
}

void fad::forEachOutsideOperand(
    Operation *op, llvm::function_ref<void(OpOperand &)> callback) {
  for (OpOperand &operand : op->getOpOperands())
    callback(operand);
  if (op->getNumRegions() == 0 || op->hasTrait<OpTrait::IsIsolatedFromAbove>())
    return;
  auto visit = [&](Operation *nested) {
    for (OpOperand &operand : nested->getOpOperands()) {
      // Most operands are defined beside their reader.
      Block *definedIn = operand.get().getParentBlock();
      if (definedIn != nested->getBlock() &&
          !op->isAncestor(definedIn->getParentOp()))
        callback(operand);
    }
  };
  // Most bodies have no regions: a walk would take longer than the visits.
  for (Region &region : op->getRegions())
    for (Operation &nested : region.getOps()) {
      for (Region &inner : nested.getRegions())
        inner.walk(visit);
      visit(&nested);
    }
}
