//===- ScalarRules.h - Forms of scalar derivative rules ---------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Base classes of rules that consist of their formula:
//
//   struct Log : UnaryRule<Log, math::LogOp> {
//     static Expr d(Expr x) { return 1 / x; }
//   };
//   struct MulF : BinaryRule<MulF, arith::MulFOp> {
//     static Expr da(Expr, Expr b) { return b; }
//     static Expr db(Expr a, Expr) { return a; }
//   };
//
// A formula that depends on attributes takes the operation as its first
// argument. `attachRules` attaches rules to their operations; a dialect calls
// it from an extension of its registry.
//
// The evaluation order of the operands of an operator is unspecified in C++. A
// formula gives the same IR under every compiler if at most one operand of each
// operator emits operations.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_RULES_SCALARRULES_H
#define FAD_RULES_SCALARRULES_H

#include "fad/Interfaces/DerivativeOpInterface.h"
#include "fad/Interfaces/Formulas.h"
#include <type_traits>

namespace mlir::fad {

namespace detail {
/// `formula(args)`, or `formula(op, args)` if it takes the operation.
template <typename OpTy, typename Formula, typename... Args>
Expr evaluate(Formula formula, Operation *op, const Args &...args) {
  if constexpr (std::is_invocable_v<Formula, Args...>)
    return formula(args...);
  else
    return formula(cast<OpTy>(op), args...);
}
} // namespace detail

/// An operation with one operand and one result. `Rule` defines the derivative
/// as `d(x)` and optionally as `dFromResult(y)`.
template <typename Rule, typename OpTy>
struct UnaryRule : DerivativeOpInterface::ExternalModel<Rule, OpTy> {
  Expr partial(Operation *op, const Primal &at, unsigned, unsigned) const {
    return detail::evaluate<OpTy>(Rule::d, op, at.operands[0]);
  }
  Expr partialFromResult(Operation *op, const Primal &at, unsigned,
                         unsigned) const {
    return detail::evaluate<OpTy>(Rule::dFromResult, op, at.results[0]);
  }
  static Expr dFromResult(Expr) { return {}; }
};

/// An operation with two operands and one result. `Rule` defines the
/// derivatives with respect to them as `da(a, b)` and `db(a, b)` and optionally
/// as `daFromResult(a, b, y)` and `dbFromResult(a, b, y)`.
template <typename Rule, typename OpTy>
struct BinaryRule : DerivativeOpInterface::ExternalModel<Rule, OpTy> {
  Expr partial(Operation *op, const Primal &at, unsigned,
               unsigned operand) const {
    auto formula = operand == 0 ? Rule::da : Rule::db;
    return detail::evaluate<OpTy>(formula, op, at.operands[0], at.operands[1]);
  }
  Expr partialFromResult(Operation *op, const Primal &at, unsigned,
                         unsigned operand) const {
    auto formula = operand == 0 ? Rule::daFromResult : Rule::dbFromResult;
    return detail::evaluate<OpTy>(formula, op, at.operands[0], at.operands[1],
                                  at.results[0]);
  }
  static Expr daFromResult(Expr, Expr, Expr) { return {}; }
  static Expr dbFromResult(Expr, Expr, Expr) { return {}; }
};

/// An operation with three operands and one result. `Rule` defines the
/// derivatives with respect to them as `da(a, b, c)`, `db(a, b, c)` and
/// `dc(a, b, c)`.
template <typename Rule, typename OpTy>
struct TernaryRule : DerivativeOpInterface::ExternalModel<Rule, OpTy> {
  Expr partial(Operation *op, const Primal &at, unsigned,
               unsigned operand) const {
    auto formula = operand == 0 ? Rule::da : operand == 1 ? Rule::db : Rule::dc;
    return detail::evaluate<OpTy>(formula, op, at.operands[0], at.operands[1],
                                  at.operands[2]);
  }
};

/// A piecewise constant function.
template <typename OpTy> struct StepRule : UnaryRule<StepRule<OpTy>, OpTy> {
  static Expr d(Expr) { return 0; }
};

/// Attaches each rule to its operation.
template <typename... Rules> void attachRules(MLIRContext *context) {
  (Rules::ConcreteEntity::template attachInterface<Rules>(*context), ...);
}

} // namespace mlir::fad

#endif // FAD_RULES_SCALARRULES_H
