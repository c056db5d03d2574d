//===- Spelling.h - How programs spell activations --------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_IR_SPELLING_H
#define FAD_IR_SPELLING_H

// A formula in one variable is written as it is in a paper,
//
//   Formula x = variable();
//   0.5 * x * (1 + erf(x * M_SQRT1_2))
//
// and matches every computation of it by `arith` and `math` operations:
//
// - sums and products commute, and products associate; x * x * x is also
//   `math.fpowi` and `math.powf` with exponent 3;
// - a constant factor of a product may be spread over several constants, and be
//   divided by instead of multiplied with, and -1 may be `arith.negf`;
// - a constant matches within its rounding (see docs/Raising.md).
//
//===----------------------------------------------------------------------===//

#include "fad/IR/Fad.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <functional>
#include <memory>
#include <optional>

namespace mlir::fad::raise {

struct FormulaNode;

/// An immutable formula; copies share their representation.
class Formula {
public:
  using Predicate = std::function<bool(Operation *)>;

  /// A number, of any element type.
  Formula(double number);
  /// A call of the operation `name` on `arguments`, restricted by `accepts`.
  Formula(StringRef name, Predicate accepts, ArrayRef<Formula> arguments);
  explicit Formula(std::shared_ptr<const FormulaNode> node)
      : node(std::move(node)) {}

  const FormulaNode *operator->() const { return node.get(); }
  bool operator==(const Formula &other) const { return node == other.node; }

private:
  std::shared_ptr<const FormulaNode> node;
};

/// The contents of a formula, for the matcher.
struct FormulaNode {
  enum Kind {
    Number,
    Variable,
    Parameter,
    Call,
    Sum,
    Product,
    Quotient,
    Select,
    Either
  };
  Kind kind;
  /// Arguments, terms, non-constant factors, dividend and divisor, compared
  /// values and branches, or alternatives.
  SmallVector<Formula, 4> parts;
  /// The number, or the constant factor of a product.
  double number = 1;
  /// Whether the constant factor of the product is the parameter.
  bool hasParameter = false;
  /// The name of the called operation.
  StringRef name;
  Formula::Predicate accepts;
  /// See Condition.
  unsigned holds = 0, relevant = 0;
};

/// The argument of the formula. Every occurrence matches the same value, which
/// is no constant.
Formula variable();
/// An arbitrary finite constant, alone or as the factor of a product, where it
/// may be missing and then is 1.
Formula parameter();

Formula operator+(const Formula &lhs, const Formula &rhs);
Formula operator-(const Formula &lhs, const Formula &rhs);
Formula operator*(const Formula &lhs, const Formula &rhs);
Formula operator/(const Formula &lhs, const Formula &rhs);
Formula operator-(const Formula &operand);

/// Any of `forms`.
Formula either(ArrayRef<Formula> forms);

template <typename OpTy> Formula call(ArrayRef<Formula> arguments) {
  return Formula(OpTy::getOperationName(), llvm::IsaPred<OpTy>, arguments);
}
/// An `OpTy` that `accepts` admits.
template <typename OpTy>
Formula call(ArrayRef<Formula> arguments, bool (*accepts)(OpTy)) {
  return Formula(
      OpTy::getOperationName(),
      [accepts](Operation *op) {
        auto typed = dyn_cast<OpTy>(op);
        return typed && accepts(typed);
      },
      arguments);
}

inline Formula abs(const Formula &x) { return call<math::AbsFOp>(x); }
inline Formula erf(const Formula &x) { return call<math::ErfOp>(x); }
inline Formula erfc(const Formula &x) { return call<math::ErfcOp>(x); }
inline Formula exp(const Formula &x) { return call<math::ExpOp>(x); }
inline Formula log(const Formula &x) { return call<math::LogOp>(x); }
inline Formula log1p(const Formula &x) { return call<math::Log1pOp>(x); }
inline Formula tanh(const Formula &x) { return call<math::TanhOp>(x); }
inline Formula sigmoid(const Formula &x) { return call<SigmoidOp>(x); }
/// exp(x) - 1, by one operation or two.
Formula expm1(const Formula &x);
/// softplus(x) without a threshold.
Formula softplus(const Formula &x);

/// The conditions of an `arith.cmpf` that a formula admits.
struct Condition {
  enum Outcome : unsigned { less = 1, equal = 2, greater = 4, unordered = 8 };

  Formula lhs, rhs;
  /// The outcomes in which the comparison holds.
  unsigned holds;
  /// The outcomes that the formula depends on.
  unsigned relevant = less | equal | greater;

  /// The same condition, arbitrary for equal operands.
  Condition eitherWhenEqual() const {
    return {lhs, rhs, holds, relevant & ~equal};
  }
  /// The same condition, which also holds for NaN.
  Condition orNaN() const {
    return {lhs, rhs, holds | unordered, relevant | unordered};
  }
};
inline Condition greater(const Formula &lhs, const Formula &rhs) {
  return {lhs, rhs, Condition::greater};
}
inline Condition less(const Formula &lhs, const Formula &rhs) {
  return {lhs, rhs, Condition::less};
}

/// `condition ? ifTrue : ifFalse`, in either order of the branches and of the
/// operands of the comparison. It is arbitrary for NaN unless the condition
/// covers NaN.
Formula select(const Condition &condition, const Formula &ifTrue,
               const Formula &ifFalse);

/// The result of `max`, `min` and `clamp` for a NaN.
enum class NaNs { kept, keptOrDropped };

/// The derivative of the whole formula at ties of `max` and `min`: undefined,
/// so that the program's treatment of ties counts, or defined.
enum class Whole { kinked, smooth };

/// The larger of two, by an operation for it; NaNs are kept.
Formula maximum(const Formula &x, double bound, Whole whole = Whole::kinked);
/// The larger or smaller of two, by an operation for it or by any kind of
/// comparison.
Formula max(const Formula &x, double bound, NaNs nans = NaNs::kept,
            Whole whole = Whole::kinked);
Formula min(const Formula &x, double bound, NaNs nans = NaNs::kept,
            Whole whole = Whole::kinked);
Formula clamp(const Formula &x, double low, double high,
              NaNs nans = NaNs::kept);

/// A match of a formula.
struct FormulaMatch {
  /// The value of `variable()`.
  Value x;
  /// The value of `parameter()`.
  double parameter = 1;
  /// The common flags of all matched operations.
  arith::FastMathFlags fastmath;
};

/// The use that decides about raising if an intermediate value that is costly
/// to compute has other users, so that raising computes it twice.
enum class Shared {
  /// The formula is raised: its result is more accurate at some inputs.
  raised,
  /// The formula is not raised: it would only be shorter.
  kept
};

using BuildRaised =
    std::function<Value(OpBuilder &, Location, const FormulaMatch &)>;

/// The spelling that an activation is raised from.
struct Spelling {
  /// The match is replaced by the activation, with the parameter that was
  /// found, if any, for its attribute `parameter`.
  Spelling(std::initializer_list<Formula> formulas, Shared shared,
           StringRef parameter = "")
      : formulas(formulas), shared(shared), parameter(parameter) {}
  /// The match is replaced by what `build` makes of it.
  Spelling(std::initializer_list<Formula> formulas, Shared shared,
           BuildRaised build)
      : formulas(formulas), shared(shared), build(std::move(build)) {}

  /// Tried in order.
  SmallVector<Formula> formulas;
  Shared shared;
  StringRef parameter;
  BuildRaised build;
};

} // namespace mlir::fad::raise

#endif // FAD_IR_SPELLING_H
