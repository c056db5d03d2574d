//===- Linearity.cpp - Linearity in the cotangents ------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Utils/Linearity.h"
#include "fad/Analysis/Movement.h"
#include "fad/IR/Fad.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// Zeros
//===----------------------------------------------------------------------===//

bool Linearity::isZero(Value value) const {
  for (Value viewed = value; viewed;
       viewed = getMovedOperand(viewed.getDefiningOp())) {
    if (zeros.contains(viewed))
      return true;
    value = viewed;
  }
  return matchPattern(value, m_AnyZeroFloat()) ||
         value.getDefiningOp<tensor::EmptyOp>();
}

Dependence Linearity::get(Value value) const {
  if (linear.contains(value))
    return Dependence::linear;
  return isZero(value) ? Dependence::zero : Dependence::none;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

void Linearity::report(Operation *op, const Twine &what) {
  valid = false;
  // The body of a named operation has no location in the source; the operation
  // may have become a linalg.generic.
  Operation *place = op;
  while (isa<UnknownLoc>(place->getLoc()) &&
         !isa<FunctionOpInterface>(place->getParentOp()))
    place = place->getParentOp();
  if (!isa<linalg::GenericOp>(place))
    op = place;
  if (!silent && reported.insert(op).second)
    emitError(place->getLoc())
        << "'" << op->getName() << "' op " << what
        << "; the backward part of a joint function is linear in its "
           "cotangents: mark cotangents only, with "
        << FadDialect::kCotangentAttr;
}

void Linearity::set(ValueRange values, Dependence dependence) {
  for (Value value : values)
    if (dependence == Dependence::linear &&
        isa<FloatType>(getElementTypeOrSelf(value)))
      linear.insert(value);
}

void Linearity::bind(Value argument, Value value) {
  Dependence dependence = get(value);
  if (dependence == Dependence::linear)
    linear.insert(argument);
  else if (dependence == Dependence::zero)
    zeros.insert(argument);
}

Dependence Linearity::join(Operation *op, ValueRange values) {
  bool hasLinear = false, hasOther = false, hasZero = false;
  for (Value value : values) {
    Dependence dependence = get(value);
    hasLinear |= dependence == Dependence::linear;
    hasZero |= dependence == Dependence::zero;
    hasOther |= dependence == Dependence::none;
  }
  if (hasLinear && hasOther)
    report(op, "combines a value that depends on a cotangent with one that "
               "does not and is not zero");
  if (hasLinear)
    return Dependence::linear;
  return hasZero && !hasOther ? Dependence::zero : Dependence::none;
}

void Linearity::requirePrimal(Operation *op, ValueRange values,
                              const Twine &what) {
  if (llvm::any_of(values, [&](Value value) { return isLinear(value); }))
    report(op, what);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

void Linearity::visitProduct(Operation *op, Value lhs, Value rhs,
                             ValueRange addends) {
  if (isLinear(lhs) && isLinear(rhs))
    report(op, "multiplies two values that depend on cotangents");
  bool isProductLinear = isLinear(lhs) || isLinear(rhs);
  bool isZeroProduct =
      get(lhs) == Dependence::zero || get(rhs) == Dependence::zero;
  for (Value addend : addends)
    if (isProductLinear ? get(addend) == Dependence::none
                        : isLinear(addend) && !isZeroProduct)
      report(op, "adds a value that does not depend on a cotangent to one "
                 "that does");
  set(op->getResults(), Dependence::linear);
}

void Linearity::visitArithmetic(Operation *op) {
  if (isa<arith::MulFOp>(op))
    return visitProduct(op, op->getOperand(0), op->getOperand(1), {});
  if (auto fma = dyn_cast<math::FmaOp>(op))
    return visitProduct(op, fma.getA(), fma.getB(), fma.getC());
  if (isa<arith::DivFOp>(op))
    requirePrimal(op, op->getOperand(1),
                  "divides by a value that depends on a cotangent");
  else if (isa<arith::AddFOp, arith::SubFOp>(op))
    (void)join(op, op->getOperands());
  else if (auto select = dyn_cast<arith::SelectOp>(op))
    (void)join(op, {select.getTrueValue(), select.getFalseValue()});
  else if (!isa<arith::NegFOp, arith::ExtFOp, arith::TruncFOp>(op))
    report(op, "is no linear function of an operand that depends on a "
               "cotangent");
  set(op->getResults(), Dependence::linear);
}

//===----------------------------------------------------------------------===//
// Structured operations and control flow
//===----------------------------------------------------------------------===//

void Linearity::visitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (reads(&op))
      visit(&op);
}

void Linearity::visitStructured(linalg::LinalgOp op) {
  Block &body = *op.getBlock();
  for (OpOperand &operand : op->getOpOperands())
    bind(op.getMatchingBlockArgument(&operand), operand.get());
  visitBlock(body);
  // Partial sums are linear from the second iteration on.
  bool again = false;
  ValueRange yielded = body.getTerminator()->getOperands();
  for (auto [init, value] : llvm::zip(op.getDpsInitsMutable(), yielded))
    if (isLinear(value) && op.getNumReductionLoops() != 0 &&
        op.payloadUsesValueFromOperand(&init))
      again |= linear.insert(op.getMatchingBlockArgument(&init)).second;
  if (again)
    visitBlock(body);
  for (auto [init, value, result] :
       llvm::zip(op.getDpsInitsMutable(), yielded, op->getResults())) {
    if (!isLinear(value))
      continue;
    // Some elements of the init may remain.
    AffineMap map = op.getMatchingIndexingMap(&init);
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      (void)join(op, {value, init.get()});
    linear.insert(result);
  }
}

void Linearity::visitConditional(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      visitBlock(block);
  for (OpResult result : op->getResults()) {
    unsigned number = result.getResultNumber();
    auto getYielded = [&](Region &branch) -> Value {
      return branch.front().getTerminator()->getOperand(number);
    };
    set(result, join(op, llvm::map_to_vector(op->getRegions(), getYielded)));
  }
}

void Linearity::visitFor(scf::ForOp op) {
  for (auto [init, argument] :
       llvm::zip(op.getInitArgs(), op.getRegionIterArgs()))
    bind(argument, init);
  // Each round makes an argument linear or no zero any more, or is the last.
  bool again = true;
  while (again) {
    visitBlock(*op.getBody());
    again = false;
    for (auto [argument, yielded] :
         llvm::zip(op.getRegionIterArgs(), op.getYieldedValues())) {
      Dependence dependence = join(op, {argument, yielded});
      if (dependence == Dependence::linear)
        again |= linear.insert(argument).second;
      else if (dependence == Dependence::none)
        again |= zeros.erase(argument);
    }
  }
  for (auto [argument, result] :
       llvm::zip(op.getRegionIterArgs(), op.getResults()))
    if (isLinear(argument))
      linear.insert(result);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

bool Linearity::reads(Operation *op) const {
  bool found = false;
  forEachOutsideOperand(
      op, [&](OpOperand &operand) { found |= isLinear(operand.get()); });
  return found;
}

bool Linearity::visitMovement(Operation *op) {
  if (getMovement(op) == Movement::none && !isa<ScatterAddOp>(op))
    return false;
  // Places and sizes are integers.
  SmallVector<Value> data =
      llvm::filter_to_vector(op->getOperands(), [](Value operand) {
        return isa<FloatType>(getElementTypeOrSelf(operand));
      });
  for (Region &region : op->getRegions())
    if (!region.empty()) {
      visitBlock(region.front());
      llvm::append_range(data, region.front().getTerminator()->getOperands());
    }
  // Their destination is written over.
  if (isa<linalg::PackOp, linalg::UnPackOp>(op))
    llvm::erase(data, cast<DestinationStyleOpInterface>(op).getDpsInits()[0]);
  set(op->getResults(), join(op, data));
  return true;
}

void Linearity::visit(Operation *op) {
  // Sizes are not data, and operations without results compute nothing.
  if (isa<tensor::DimOp>(op) || op->getNumResults() == 0)
    return;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return visitStructured(structured);
  if (auto region = dyn_cast<ElementwiseOp>(op)) {
    for (auto [argument, input] :
         llvm::zip(region.getBodyBlock()->getArguments(), region.getInputs()))
      bind(argument, input);
    visitBlock(*region.getBodyBlock());
    for (auto [yielded, result] :
         llvm::zip(region.getYield().getValues(), region.getResults()))
      if (isLinear(yielded))
        linear.insert(result);
    return;
  }
  if (isa<OpaqueOp>(op))
    return set(op->getResults(), Dependence::linear);
  if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
    return visitConditional(op);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitFor(loop);
  if (visitMovement(op))
    return;
  if (isa_and_nonnull<arith::ArithDialect, math::MathDialect, FadDialect>(
          op->getDialect()))
    return visitArithmetic(op);
  report(op, "is not known to be linear in an operand that depends on a "
             "cotangent");
  set(op->getResults(), Dependence::linear);
}

Linearity::Linearity(func::FuncOp function, Value cotangent) : silent(true) {
  linear.insert(cotangent);
  visitBlock(function.front());
}

Linearity::Linearity(const JointFunction &joint) : silent(false) {
  linear.insert(joint.getCotangents().begin(), joint.getCotangents().end());
  for (Operation *op : joint.getBackward())
    if (reads(op))
      visit(op);
}

LogicalResult Linearity::verifyGradients(const JointFunction &joint) {
  func::FuncOp function = joint.getFunction();
  for (auto [gradient, number] :
       llvm::zip(joint.getGradients(), joint.getGradientNumbers()))
    if (get(gradient) == Dependence::none)
      return emitError(gradient.getLoc())
             << "result " << number << " of @" << function.getSymName()
             << " is marked with " << FadDialect::kGradientAttr
             << ", but depends on no cotangent; mark the arguments that its "
                "backward part starts from with "
             << FadDialect::kCotangentAttr << ", or remove the mark";
  return success();
}
