//===- LinearTerms.cpp - Coefficients of a linear region ------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinearTerms.h"
#include "fad/Analysis/Splats.h"
#include "fad/IR/Fad.h"
#include "fad/Interfaces/DerivativeOpInterface.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "fad/Transforms/Utils/Linearity.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fad;

/// The type of the coefficients of `value`.
static Type getWideType(Value value) {
  return getTangentType(getElementTypeOrSelf(value));
}

Type LinearTerms::getProductType(Value value) const {
  Type type = getWideType(value);
  for (const Read &source : sources)
    if (Type other = getWideType(source.value); other.isF64())
      type = other;
  return type;
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

ExprBuilder &LinearTerms::getBuilder(Type type) {
  std::unique_ptr<ExprBuilder> &found = builders[type];
  if (!found)
    found = std::make_unique<ExprBuilder>(builder, loc, type);
  return *found;
}

Expr LinearTerms::getPrimal(Value primal, Type type) {
  ExprBuilder &eb = getBuilder(type);
  return viewConstant(convert(Expr(eb, primals.lookupOrDefault(primal)), type));
}

Terms LinearTerms::getTerms(Value value, Type type) {
  auto it = termsOf.find(value);
  if (it == termsOf.end())
    return {};
  return transform(it->second, [&](const Expr &coefficient) {
    Value computed = coefficient.getValue();
    return computed ? convert(Expr(getBuilder(type), computed), type)
                    : coefficient;
  });
}

Terms LinearTerms::transform(const Terms &terms,
                             function_ref<Expr(const Expr &)> callback) {
  Terms result;
  for (auto &[source, coefficient] : terms)
    result.emplace_back(source, callback(coefficient));
  return result;
}

Terms LinearTerms::combine(const Terms &terms, const Terms &others,
                           function_ref<Expr(const Expr &, const Expr &)> of) {
  Terms result;
  const auto *first = terms.begin(), *second = others.begin();
  while (first != terms.end() || second != others.end()) {
    bool hasFirst = second == others.end() ||
                    (first != terms.end() && first->first <= second->first);
    bool hasSecond = first == terms.end() ||
                     (second != others.end() && second->first <= first->first);
    unsigned source = hasFirst ? first->first : second->first;
    Expr a = hasFirst ? (first++)->second : Expr(0);
    Expr b = hasSecond ? (second++)->second : Expr(0);
    result.emplace_back(source, of(a, b));
  }
  return result;
}

/// `x / divisor`, in which a selected zero stays zero.
static Expr divide(const Expr &x, const Expr &divisor) {
  auto op = x.getValue() ? x.getValue().getDefiningOp<arith::SelectOp>()
                         : arith::SelectOp();
  if (!op)
    return x / divisor;
  ExprBuilder &eb = *x.getBuilder();
  Expr ifTrue = viewConstant(Expr(eb, op.getTrueValue()));
  Expr ifFalse = viewConstant(Expr(eb, op.getFalseValue()));
  if (!ifTrue.isConstant(0) && !ifFalse.isConstant(0))
    return x / divisor;
  return select(Expr(eb, op.getCondition()),
                ifTrue.isConstant(0) ? ifTrue : divide(ifTrue, divisor),
                ifFalse.isConstant(0) ? ifFalse : divide(ifFalse, divisor));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Terms LinearTerms::visitLinear(Operation *op) {
  Type type = getWideType(op->getResult(0));
  auto terms = [&](unsigned index) {
    return getTerms(op->getOperand(index), type);
  };
  auto add = [](const Expr &a, const Expr &b) { return a + b; };
  auto product = [&]() {
    bool isFirst = linearity.isLinear(op->getOperand(0));
    Expr factor = getPrimal(op->getOperand(isFirst ? 1 : 0), type);
    return transform(terms(isFirst ? 0 : 1), [&](const Expr &coefficient) {
      return tangentProduct(factor, coefficient);
    });
  };
  if (isa<arith::NegFOp>(op))
    return transform(terms(0), [](const Expr &x) { return -x; });
  if (isa<arith::AddFOp>(op))
    return combine(terms(0), terms(1), add);
  if (isa<arith::SubFOp>(op))
    return combine(terms(0), terms(1),
                   [](const Expr &a, const Expr &b) { return a - b; });
  if (isa<arith::MulFOp>(op))
    return product();
  if (isa<math::FmaOp>(op))
    return combine(linearity.isLinear(op->getOperand(0)) ||
                           linearity.isLinear(op->getOperand(1))
                       ? product()
                       : Terms(),
                   terms(2), add);
  if (isa<arith::DivFOp>(op)) {
    Expr divisor = getPrimal(op->getOperand(1), type);
    return transform(terms(0),
                     [&](const Expr &x) { return divide(x, divisor); });
  }
  if (auto choice = dyn_cast<arith::SelectOp>(op)) {
    Expr condition(getBuilder(type),
                   primals.lookupOrDefault(choice.getCondition()));
    return combine(terms(1), terms(2), [&](const Expr &a, const Expr &b) {
      return select(condition, a, b);
    });
  }
  // An extension or a truncation.
  return terms(0);
}

void LinearTerms::visit(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    Block &scalars = getScalarBody(op);
    Value argument = scalars.getArgument(operand.getOperandNumber());
    if (!argument.use_empty())
      addOperand(operand, argument);
  }
  for (Operation &inner : getScalarBody(op).without_terminator()) {
    if (llvm::any_of(inner.getOperands(),
                     [&](Value v) { return linearity.isLinear(v); })) {
      termsOf[inner.getResult(0)] = visitLinear(&inner);
      continue;
    }
    Operation *clone = builder.clone(inner, primals);
    clone->removeAttr(FadDialect::kTapeAttr);
  }
  ValueRange yielded = getScalarBody(op).getTerminator()->getOperands();
  for (auto [result, value] : llvm::zip_equal(op->getResults(), yielded)) {
    Terms terms = getTerms(value, getWideType(result));
    termsOf[result] = std::move(terms);
  }
}

void LinearTerms::addOperand(OpOperand &operand, Value argument) {
  Value value = operand.get();
  if (termsOf.contains(value)) {
    Terms terms = termsOf.lookup(value);
    termsOf[argument] = std::move(terms);
    return;
  }
  Read read{value, getReadMap(operand)};
  auto find = [&](SmallVector<Read> &reads) -> unsigned {
    auto *it = llvm::find(reads, read);
    if (it == reads.end()) {
      reads.push_back(read);
      return reads.size() - 1;
    }
    return std::distance(reads.begin(), it);
  };
  if (linearity.isLinear(value)) {
    termsOf[argument] = {{find(sources), Expr(1)}};
    return;
  }
  // A splat is a scalar of the body.
  if (OpFoldResult splat =
          isa<RankedTensorType>(value.getType()) ? getSplat(value) : nullptr) {
    auto constant = dyn_cast<Attribute>(splat);
    primals.map(argument, constant ? Value(arith::ConstantOp::create(
                                         builder, value.getLoc(),
                                         cast<TypedAttr>(constant)))
                                   : cast<Value>(splat));
    return;
  }
  unsigned index = find(inputs);
  if (index == body->getNumArguments())
    body->addArgument(argument.getType(), value.getLoc());
  primals.map(argument, body->getArgument(index));
}

LinearTerms::LinearTerms(const LinearRegion &region, const Linearity &linearity)
    : linearity(linearity), loc(region.back()->getLoc()),
      body(std::make_unique<Block>()),
      builder(appendTo(*body, region.back()->getContext())) {
  for (Operation *op : region)
    visit(op);
}
