//===- OutputAlternatives.cpp - Let auto choose results and bits ----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Offers a second form of the derivative of an activation: computed from the
// activation's result, which is often in memory anyway, and one bit an element,
// the side of the minimum. Pairs of an activation and its derivative are
// regions of one operand whose difference quotients match; both forms become
// operands of a `fad.alternatives`.
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/ScalarFunction.h"
#include "fad/IR/Fad.h"
#include "fad/Transforms/Residuals/Candidates/DerivativeFromOutput.h"
#include "fad/Transforms/Utils/JointFunction.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fad;

//===----------------------------------------------------------------------===//
// Finding forms
//===----------------------------------------------------------------------===//

/// The most users of a tensor to try in the search for the primal of a
/// derivative.
static constexpr unsigned kMaxTries = 16;

/// Whether difference quotients of `value` at some arguments match its
/// derivative `slope`; a cheap test before the exact one.
static bool isSlope(ScalarFunction &slope, ScalarFunction &value) {
  constexpr double step = 1e-4;
  return llvm::all_of(ArrayRef<double>{-2.3, -0.7, 0.4, 1.9}, [&](double x) {
    double difference = (value(x + step) - value(x - step)) / (2 * step);
    return std::abs(difference - slope(x)) <= 1e-3 * (1 + std::abs(slope(x)));
  });
}

namespace {
/// Finds the form of a derivative; layers of a network share it.
class FormFinder {
public:
  const DerivativeFromOutput *find(Value activation, Value derivative);

private:
  struct Found {
    ScalarFunction activation, derivative;
    Type type;
    std::optional<DerivativeFromOutput> form;
  };
  std::vector<std::unique_ptr<Found>> found;
};
} // namespace

const DerivativeFromOutput *FormFinder::find(Value activation,
                                             Value derivative) {
  auto type = dyn_cast<FloatType>(getElementTypeOrSelf(activation));
  // Both become functions of their common operand.
  Value source = derivative.getDefiningOp()->getOperand(0);
  std::optional<ScalarFunction> value = ScalarFunction::get(activation, source);
  std::optional<ScalarFunction> slope = ScalarFunction::get(derivative, source);
  if (!type || !value || !slope || !isSlope(*slope, *value))
    return nullptr;
  auto it = llvm::find_if(found, [&](const auto &other) {
    return other->type == type && other->activation.isSameAs(*value) &&
           other->derivative.isSameAs(*slope);
  });
  if (it == found.end()) {
    std::optional<DerivativeFromOutput> form =
        findDerivativeFromOutput(*value, *slope, type);
    found.push_back(std::make_unique<Found>(
        Found{std::move(*value), std::move(*slope), type, std::move(form)}));
    it = std::prev(found.end());
  }
  return (*it)->form ? &*(*it)->form : nullptr;
}

//===----------------------------------------------------------------------===//
// Building them
//===----------------------------------------------------------------------===//

/// Builds the side of the minimum that each element of `source` is on.
static ElementwiseOp buildSide(ImplicitLocOpBuilder &b, Value source,
                               const DerivativeFromOutput &form) {
  auto type = cast<FloatType>(getElementTypeOrSelf(source));
  return ElementwiseOp::create(
      b, source, [&](OpBuilder &inside, Location loc, ValueRange arguments) {
        ImplicitLocOpBuilder inner(loc, inside);
        // A result above the minimum is above the next smaller number.
        double below =
            roundTo(type, form.argument, llvm::RoundingMode::TowardNegative);
        Value argument =
            arith::ConstantOp::create(inner, FloatAttr::get(type, below));
        return SmallVector<Value>{arith::CmpFOp::create(
            inner, arith::CmpFPredicate::OGT, arguments[0], argument)};
      });
}

/// Builds the derivative at `output`, a scalar of f32 or f64.
static Value evaluate(ImplicitLocOpBuilder &b, Value output, Value isRight,
                      const DerivativeFromOutput &form) {
  auto constant = [&](double number) -> Value {
    return arith::ConstantOp::create(b,
                                     b.getFloatAttr(output.getType(), number));
  };
  auto ofSide = [&](double right, double left) -> Value {
    Value ifRight = constant(right), ifLeft = constant(left);
    return arith::SelectOp::create(b, isRight, ifRight, ifLeft);
  };
  Value distance = arith::MaximumFOp::create(
      b, arith::SubFOp::create(b, output, constant(form.minimum)),
      constant(0.0));
  Value s =
      arith::MinimumFOp::create(b, math::SqrtOp::create(b, distance),
                                ofSide(form.right.largest, form.left.largest));
  Value u = math::FmaOp::create(
      b, s, ofSide(2 / form.right.largest, 2 / form.left.largest),
      constant(-1.0));
  // Polynomials of one degree, so that the sides share the arithmetic.
  auto &right = form.right.coefficients, &left = form.left.coefficients;
  auto get = [](ArrayRef<double> coefficients, size_t power) {
    return power < coefficients.size() ? coefficients[power] : 0.0;
  };
  size_t power = std::max(right.size(), left.size()) - 1;
  Value value = ofSide(get(right, power), get(left, power));
  while (power-- > 0)
    value = math::FmaOp::create(b, value, u,
                                ofSide(get(right, power), get(left, power)));
  return value;
}

/// Builds the derivative, of the element type `type`, from the tensors `output`
/// and `side`.
static ElementwiseOp buildDerivative(ImplicitLocOpBuilder &b, Value output,
                                     Value side, Type type,
                                     const DerivativeFromOutput &form) {
  return ElementwiseOp::create(
      b, ValueRange{output, side},
      [&](OpBuilder &inside, Location loc, ValueRange arguments) {
        ImplicitLocOpBuilder inner(loc, inside);
        Value number = arguments[0];
        bool isNarrow = number.getType().getIntOrFloatBitWidth() < 32;
        if (isNarrow)
          number = arith::ExtFOp::create(inner, inner.getF32Type(), number);
        Value value = evaluate(inner, number, arguments[1], form);
        if (isNarrow)
          value = arith::TruncFOp::create(inner, type, value);
        return SmallVector<Value>{value};
      });
}

/// The representative of `value`: itself, or its alternatives.
static Value getOffered(Value value) {
  if (value.hasOneUse())
    if (auto all = dyn_cast<AlternativesOp>(*value.getUsers().begin()))
      return all;
  return value;
}

/// Makes `derivative`, computed from `source` as `output` is, one of several
/// alternatives; returns the operation that computes the other one.
static Operation *addAlternative(Value derivative, Value source, Value output,
                                 const DerivativeFromOutput &form) {
  Value offered = getOffered(derivative);
  output = getOffered(output);
  Operation *def = offered.getDefiningOp();
  Operation *outputDef = output.getDefiningOp();
  ImplicitLocOpBuilder b(def->getLoc(), def);
  b.setInsertionPointAfter(def->isBeforeInBlock(outputDef) ? outputDef : def);
  ElementwiseOp side = buildSide(b, source, form);
  ElementwiseOp other = buildDerivative(b, output, side.getResult(0),
                                        getElementTypeOrSelf(derivative), form);
  Attribute adjointOf =
      derivative.getDefiningOp()->getAttr(FadDialect::kAdjointOfAttr);
  side->setAttr(FadDialect::kAdjointOfAttr, adjointOf);
  other->setAttr(FadDialect::kAdjointOfAttr, adjointOf);
  SmallVector<Value> values = {derivative};
  if (offered != derivative)
    values.assign(def->operand_begin(), def->operand_end());
  values.push_back(other.getResult(0));
  auto all = AlternativesOp::create(b, derivative.getType(), values);
  offered.replaceAllUsesExcept(all.getResult(), all);
  if (offered != derivative)
    def->erase();
  return other;
}

/// Whether `derivative` may become an alternative that is built after `output`.
static bool isReplaceable(Value derivative, Operation *output) {
  return llvm::all_of(getOffered(derivative).getUsers(), [&](Operation *user) {
    Operation *ancestor = output->getBlock()->findAncestorOpInBlock(*user);
    return !isa<AlternativesOp>(user) && output->isBeforeInBlock(ancestor);
  });
}

/// The first result of `region`, a function of the operand of `derivative`,
/// that determines the derivative; null if there is none.
static Value findOutput(ElementwiseOp region, Value derivative,
                        FormFinder &forms) {
  if (!region || region->getNumOperands() != 1 ||
      region->hasAttr(FadDialect::kAdjointOfAttr) ||
      region->getBlock() != derivative.getParentBlock() ||
      !isReplaceable(derivative, region))
    return nullptr;
  for (Value output : region->getResults())
    if (getElementTypeOrSelf(output) == getElementTypeOrSelf(derivative) &&
        forms.find(output, derivative))
      return output;
  return nullptr;
}

DerivativeFromOutputReasons
fad::addDerivativesFromOutput(const JointFunction &joint) {
  SmallVector<Value> derivatives;
  for (auto op : joint.getFunction().front().getOps<ElementwiseOp>())
    if (op->hasAttr(FadDialect::kAdjointOfAttr) && op->getNumOperands() == 1)
      llvm::append_range(derivatives, op->getResults());
  DerivativeFromOutputReasons reasons;
  FormFinder forms;
  for (Value derivative : derivatives) {
    Value source = derivative.getDefiningOp()->getOperand(0);
    Value output;
    unsigned numTries = 0;
    for (Operation *user : source.getUsers()) {
      output = findOutput(dyn_cast<ElementwiseOp>(user), derivative, forms);
      if (output || ++numTries == kMaxTries)
        break;
    }
    if (!output)
      continue;
    const DerivativeFromOutput &form = *forms.find(output, derivative);
    Operation *other = addAlternative(derivative, source, output, form);
    DerivativeFromOutputReason &reason = reasons[other];
    reason.error = form.error;
    llvm::raw_string_ostream(reason.text) << llvm::format(
        "for a derivative from a result, off by at most %.3g, mean square %.3g",
        form.error.largest, form.error.meanSquare);
  }
  return reasons;
}
