//===- ScalarFunction.cpp - Numbers for functions of one number -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/ScalarFunction.h"
#include "fad/Analysis/FiniteValues.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fad;

using Numbers = ArrayRef<double>;
using Evaluate = std::function<double(Numbers)>;

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static double minimum(double a, double b) {
  return std::isnan(a) || a < b ? a : b;
}

static double maximum(double a, double b) {
  return std::isnan(a) || a > b ? a : b;
}

/// The evaluation of activations.
static Evaluate getActivation(Operation *op) {
  auto activation = dyn_cast<ActivationOpInterface>(op);
  if (!activation)
    return nullptr;
  return [=](Numbers x) mutable {
    return activation.getValueAt(x[0]).getConstant();
  };
}

/// The evaluation of operations of `arith`; conditions are 0 or 1.
static Evaluate getArithmetic(Operation *op) {
  return TypeSwitch<Operation *, Evaluate>(op)
      .Case([](arith::AddFOp) { return [](Numbers x) { return x[0] + x[1]; }; })
      .Case([](arith::SubFOp) { return [](Numbers x) { return x[0] - x[1]; }; })
      .Case([](arith::MulFOp) { return [](Numbers x) { return x[0] * x[1]; }; })
      .Case([](arith::DivFOp) { return [](Numbers x) { return x[0] / x[1]; }; })
      .Case([](arith::NegFOp) { return [](Numbers x) { return -x[0]; }; })
      .Case<arith::ExtFOp, arith::TruncFOp>(
          [](auto) { return [](Numbers x) { return x[0]; }; })
      .Case([](arith::MaximumFOp) {
        return [](Numbers x) { return maximum(x[0], x[1]); };
      })
      .Case([](arith::MinimumFOp) {
        return [](Numbers x) { return minimum(x[0], x[1]); };
      })
      .Case([](arith::SelectOp) {
        return [](Numbers x) { return x[0] != 0 ? x[1] : x[2]; };
      })
      .Case([](arith::CmpFOp op) {
        arith::CmpFPredicate predicate = op.getPredicate();
        return [=](Numbers x) -> double {
          return arith::applyCmpPredicate(predicate, APFloat(x[0]),
                                          APFloat(x[1]));
        };
      })
      .Default([](Operation *) { return nullptr; });
}

static Evaluate getUnary(double (*function)(double)) {
  return [function](Numbers x) { return function(x[0]); };
}

/// The evaluation of operations of `math` with one operand.
static Evaluate getUnaryMath(Operation *op) {
  return TypeSwitch<Operation *, Evaluate>(op)
      .Case([](math::AbsFOp) { return getUnary(::fabs); })
      .Case([](math::AcosOp) { return getUnary(::acos); })
      .Case([](math::AcoshOp) { return getUnary(::acosh); })
      .Case([](math::AsinOp) { return getUnary(::asin); })
      .Case([](math::AsinhOp) { return getUnary(::asinh); })
      .Case([](math::AtanOp) { return getUnary(::atan); })
      .Case([](math::AtanhOp) { return getUnary(::atanh); })
      .Case([](math::CbrtOp) { return getUnary(::cbrt); })
      .Case([](math::CeilOp) { return getUnary(::ceil); })
      .Case([](math::CosOp) { return getUnary(::cos); })
      .Case([](math::CoshOp) { return getUnary(::cosh); })
      .Case([](math::ErfOp) { return getUnary(::erf); })
      .Case([](math::ErfcOp) { return getUnary(::erfc); })
      .Case([](math::ExpOp) { return getUnary(::exp); })
      .Case([](math::Exp2Op) { return getUnary(::exp2); })
      .Case([](math::ExpM1Op) { return getUnary(::expm1); })
      .Case([](math::FloorOp) { return getUnary(::floor); })
      .Case([](math::LogOp) { return getUnary(::log); })
      .Case([](math::Log10Op) { return getUnary(::log10); })
      .Case([](math::Log1pOp) { return getUnary(::log1p); })
      .Case([](math::Log2Op) { return getUnary(::log2); })
      .Case([](math::SinOp) { return getUnary(::sin); })
      .Case([](math::SinhOp) { return getUnary(::sinh); })
      .Case([](math::SqrtOp) { return getUnary(::sqrt); })
      .Case([](math::TanOp) { return getUnary(::tan); })
      .Case([](math::TanhOp) { return getUnary(::tanh); })
      .Case([](math::TruncOp) { return getUnary(::trunc); })
      .Default([](Operation *) { return nullptr; });
}

/// The evaluation of other operations of `math`.
static Evaluate getMath(Operation *op) {
  return TypeSwitch<Operation *, Evaluate>(op)
      .Case([](math::RsqrtOp) {
        return [](Numbers x) { return 1 / std::sqrt(x[0]); };
      })
      .Case<math::PowFOp, math::FPowIOp>(
          [](auto) { return [](Numbers x) { return std::pow(x[0], x[1]); }; })
      .Case([](math::Atan2Op) {
        return [](Numbers x) { return std::atan2(x[0], x[1]); };
      })
      .Case([](math::CopySignOp) {
        return [](Numbers x) { return std::copysign(x[0], x[1]); };
      })
      .Case([](math::FmaOp) {
        return [](Numbers x) { return std::fma(x[0], x[1], x[2]); };
      })
      .Default([](Operation *) { return nullptr; });
}

/// `number` as a constant of `type`; null if it has none.
static Attribute getConstant(Type type, double number) {
  if (type.isInteger(1))
    return BoolAttr::get(type.getContext(), number != 0);
  return isa<FloatType>(type) ? FloatAttr::get(type, number) : Attribute();
}

static std::optional<double> getNumber(Attribute constant) {
  if (auto number = dyn_cast_if_present<FloatAttr>(constant))
    return number.getValueAsDouble();
  auto condition = dyn_cast_if_present<BoolAttr>(constant);
  return condition ? std::optional<double>(condition.getValue()) : std::nullopt;
}

/// Folds `op` at `operands`; `nullopt` if it does not fold.
static std::optional<double> fold(Operation *op, Numbers operands) {
  llvm::DenseMap<Value, Attribute> known;
  for (auto [operand, number] : llvm::zip_equal(op->getOperands(), operands))
    known[operand] = getConstant(operand.getType(), number);
  return foldConstants(op, known) ? getNumber(known[op->getResult(0)])
                                  : std::nullopt;
}

/// The evaluation of `op`; null if it is unknown.
static Evaluate getEvaluate(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0)
    return nullptr;
  for (auto get : {getActivation, getArithmetic, getUnaryMath, getMath})
    if (Evaluate evaluate = get(op))
      return evaluate;
  // Whether a folder knows an operation shows at any numbers in its domain.
  SmallVector<double> ones(op->getNumOperands(), 1.0);
  if (!fold(op, ones))
    return nullptr;
  return [op](Numbers operands) {
    return fold(op, operands)
        .value_or(std::numeric_limits<double>::quiet_NaN());
  };
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

std::optional<unsigned> ScalarFunction::getRegister(Value value) {
  auto it = registerOf.find(value);
  if (it != registerOf.end())
    return it->second;
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  std::optional<double> number = getNumber(constant);
  if (!number)
    return std::nullopt;
  registers.push_back(*number);
  return registerOf[value] = registers.size() - 1;
}

bool ScalarFunction::append(Operation *op) {
  Step step;
  for (Value operand : op->getOperands()) {
    std::optional<unsigned> number = getRegister(operand);
    if (!number)
      return false;
    step.operands.push_back(*number);
  }
  step.evaluate = getEvaluate(op);
  if (!step.evaluate)
    return false;
  step.type = op->getResult(0).getType();
  registers.push_back(0.0);
  step.result = registerOf[op->getResult(0)] = registers.size() - 1;
  steps.push_back(std::move(step));
  return true;
}

bool ScalarFunction::append(ElementwiseOp op) {
  registerOf[op.getBodyBlock()->getArgument(0)] = output;
  for (Operation &inner : op.getBodyBlock()->without_terminator())
    if (!matchPattern(&inner, m_Constant()) && !append(&inner))
      return false;
  return true;
}

std::optional<ScalarFunction> ScalarFunction::get(Value tensor, Value source) {
  ScalarFunction function;
  while (auto op = tensor.getDefiningOp<ElementwiseOp>()) {
    if (op->getNumOperands() != 1 || tensor == source)
      break;
    function.chain.emplace_back(op, cast<OpResult>(tensor).getResultNumber());
    tensor = op->getOperand(0);
  }
  if (function.chain.empty() || !isa<FloatType>(getElementTypeOrSelf(tensor)))
    return std::nullopt;
  std::reverse(function.chain.begin(), function.chain.end());
  for (auto [op, result] : function.chain) {
    if (!function.append(op))
      return std::nullopt;
    std::optional<unsigned> output =
        function.getRegister(op.getYield().getOperand(result));
    if (!output)
      return std::nullopt;
    function.output = *output;
  }
  return function;
}

double fad::roundTo(FloatType type, double number, llvm::RoundingMode mode) {
  APFloat rounded(number);
  bool losesInfo;
  rounded.convert(type.getFloatSemantics(), mode, &losesInfo);
  rounded.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
  return rounded.convertToDouble();
}

double ScalarFunction::evaluate(double source, bool rounds) {
  registers[0] = source;
  SmallVector<double, 3> operands;
  for (const Step &step : steps) {
    operands.clear();
    for (unsigned operand : step.operands)
      operands.push_back(registers[operand]);
    double &result = registers[step.result] = step.evaluate(operands);
    auto type = dyn_cast<FloatType>(step.type);
    if (rounds && type)
      result = roundTo(type, result);
  }
  return registers[output];
}

bool ScalarFunction::isSameAs(const ScalarFunction &other) const {
  return llvm::equal(chain, other.chain, [](auto a, auto b) {
    return a.second == b.second &&
           OperationEquivalence::isRegionEquivalentTo(
               &a.first->getRegion(0), &b.first->getRegion(0),
               OperationEquivalence::IgnoreLocations);
  });
}
