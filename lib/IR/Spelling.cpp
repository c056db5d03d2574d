//===- Spelling.cpp - How programs spell activations ----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/IR/Spelling.h"

using namespace mlir;
using namespace mlir::fad;
using namespace mlir::fad::raise;

static Formula makeFormula(FormulaNode node) {
  return Formula(std::make_shared<const FormulaNode>(std::move(node)));
}

Formula::Formula(double number)
    : Formula(makeFormula({FormulaNode::Number, {}, number})) {}

Formula::Formula(StringRef name, Predicate accepts, ArrayRef<Formula> arguments)
    : node(nullptr) {
  FormulaNode call{FormulaNode::Call, llvm::to_vector<4>(arguments)};
  call.name = name;
  call.accepts = std::move(accepts);
  node = std::make_shared<const FormulaNode>(std::move(call));
}

Formula raise::variable() { return makeFormula({FormulaNode::Variable}); }
Formula raise::parameter() { return makeFormula({FormulaNode::Parameter}); }

Formula raise::operator+(const Formula &lhs, const Formula &rhs) {
  // The matcher expects numbers last.
  if (lhs->kind == FormulaNode::Number)
    return makeFormula({FormulaNode::Sum, {rhs, lhs}});
  return makeFormula({FormulaNode::Sum, {lhs, rhs}});
}

Formula raise::operator-(const Formula &lhs, const Formula &rhs) {
  return rhs->kind == FormulaNode::Number ? lhs + Formula(-rhs->number)
                                          : lhs + -rhs;
}
Formula raise::operator-(const Formula &operand) { return -1 * operand; }

Formula raise::operator*(const Formula &lhs, const Formula &rhs) {
  FormulaNode product{FormulaNode::Product};
  for (const Formula &factor : {lhs, rhs}) {
    switch (factor->kind) {
    case FormulaNode::Parameter:
      product.hasParameter = true;
      break;
    case FormulaNode::Number:
    case FormulaNode::Product:
      product.number *= factor->number;
      product.hasParameter |= factor->hasParameter;
      llvm::append_range(product.parts, factor->parts);
      break;
    default:
      product.parts.push_back(factor);
    }
  }
  return makeFormula(std::move(product));
}

Formula raise::operator/(const Formula &lhs, const Formula &rhs) {
  if (rhs->kind == FormulaNode::Number)
    return lhs * (1 / rhs->number);
  return makeFormula({FormulaNode::Quotient, {lhs, rhs}});
}

Formula raise::either(ArrayRef<Formula> forms) {
  return makeFormula({FormulaNode::Either, llvm::to_vector<4>(forms)});
}

Formula raise::select(const Condition &condition, const Formula &ifTrue,
                      const Formula &ifFalse) {
  FormulaNode node{FormulaNode::Select,
                   {condition.lhs, condition.rhs, ifTrue, ifFalse}};
  node.holds = condition.holds;
  node.relevant = condition.relevant;
  return makeFormula(std::move(node));
}

Formula raise::expm1(const Formula &x) {
  return either({call<math::ExpM1Op>(x), exp(x) - 1});
}

Formula raise::softplus(const Formula &x) {
  return call<SoftplusOp>(x, [](SoftplusOp op) { return !op.getThreshold(); });
}

/// `KeepOp`, which keeps a NaN, or `DropOp` with the flag that excludes NaN.
template <typename KeepOp, typename DropOp>
static Formula callKeepingNaN(const Formula &x, double bound, Whole whole) {
  auto accepts = [whole](Operation *op) {
    if (isa<DropOp>(op))
      return arith::bitEnumContainsAll(cast<DropOp>(op).getFastmath(),
                                       arith::FastMathFlags::nnan);
    return isa<KeepOp>(op) && (whole == Whole::smooth ||
                               !op->hasAttr(FadDialect::kSharesTiesAttr));
  };
  SmallVector<Formula> forms;
  for (StringRef name :
       {KeepOp::getOperationName(), DropOp::getOperationName()}) {
    forms.push_back(Formula(name, accepts, {x, bound}));
    forms.push_back(Formula(name, accepts, {bound, x}));
  }
  return either(forms);
}

/// A select of `x` if `beyond` holds and of `bound` otherwise, or `DropOp` if
/// NaNs may be dropped.
template <typename DropOp>
static Formula chooseOrDrop(const Formula &x, double bound, NaNs nans,
                            const Condition &beyond) {
  Condition anyTie = beyond.eitherWhenEqual();
  if (nans == NaNs::kept)
    return select(anyTie.orNaN(), x, bound);
  return either({call<DropOp>({x, bound}), call<DropOp>({bound, x}),
                 select(anyTie, x, bound)});
}

Formula raise::maximum(const Formula &x, double bound, Whole whole) {
  return callKeepingNaN<arith::MaximumFOp, arith::MaxNumFOp>(x, bound, whole);
}

Formula raise::max(const Formula &x, double bound, NaNs nans, Whole whole) {
  SmallVector<Formula> forms = {
      maximum(x, bound, whole),
      chooseOrDrop<arith::MaxNumFOp>(x, bound, nans, greater(x, bound))};
  if (bound == 0)
    forms.push_back(call<ReluOp>(x));
  return either(forms);
}

Formula raise::min(const Formula &x, double bound, NaNs nans, Whole whole) {
  return either(
      {callKeepingNaN<arith::MinimumFOp, arith::MinNumFOp>(x, bound, whole),
       chooseOrDrop<arith::MinNumFOp>(x, bound, nans, less(x, bound))});
}

Formula raise::clamp(const Formula &x, double low, double high, NaNs nans) {
  // Not math.clampf: its definition, max(min(x, low), high), is no clamp.
  return either(
      {min(max(x, low, nans), high, nans), max(min(x, high, nans), low, nans)});
}
