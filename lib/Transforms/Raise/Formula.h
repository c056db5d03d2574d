//===- Formula.h - Formulas that fad-raise recognizes -----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_RAISE_FORMULA_H
#define FAD_LIB_TRANSFORMS_RAISE_FORMULA_H

// A formula in one variable is written as it is in a paper,
//
//   Formula x = variable();
//   0.5 * x * (1 + erf(x * M_SQRT1_2))
//
// and stands for every way in which `arith` and `math` operations compute it:
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
#include "mlir/IR/PatternMatch.h"
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
  /// An operation called `name`, of which `accepts` holds, on `arguments`.
  Formula(StringRef name, Predicate accepts, ArrayRef<Formula> arguments);
  explicit Formula(std::shared_ptr<const FormulaNode> node)
      : node(std::move(node)) {}

  const FormulaNode *operator->() const { return node.get(); }
  bool operator==(const Formula &other) const { return node == other.node; }

private:
  std::shared_ptr<const FormulaNode> node;
};

/// What a formula says; the matcher reads it.
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
  /// Arguments, terms, factors that are no numbers, dividend and divisor,
  /// compared values and branches, or alternatives.
  SmallVector<Formula, 4> parts;
  /// The number, or the constant factor of a product.
  double number = 1;
  /// The constant factor of the product is the parameter.
  bool hasParameter = false;
  /// Which operation is called.
  StringRef name;
  Formula::Predicate accepts;
  /// See Condition.
  unsigned holds = 0, relevant = 0;
};

/// The value that the formula is a function of. Every occurrence is the same
/// value; a constant is none.
Formula variable();
/// A finite constant that may be any, alone or as the factor of a product. In a
/// product it may be missing: then it is 1.
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
/// An `OpTy` of which `accepts` holds.
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

/// What a formula requires of an `arith.cmpf`.
struct Condition {
  enum Outcome : unsigned { less = 1, equal = 2, greater = 4, unordered = 8 };

  Formula lhs, rhs;
  /// The outcomes in which the comparison holds.
  unsigned holds;
  /// The outcomes that matter.
  unsigned relevant = less | equal | greater;

  /// The same condition, whatever it is where both sides are equal.
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
/// operands of the comparison. Unless the condition says what it is for NaN, it
/// may be either.
Formula select(const Condition &condition, const Formula &ifTrue,
               const Formula &ifFalse);

/// What becomes of a NaN in `max`, `min` and `clamp`.
enum class NaNs { kept, keptOrDropped };

/// Where `max` and `min` have no derivative, what the whole formula has: none
/// either, so that what the program says about ties counts, or one.
enum class Whole { kinked, smooth };

/// The larger of two, by an operation for it; NaNs are kept.
Formula maximum(const Formula &x, double bound, Whole whole = Whole::kinked);
/// The larger or smaller of two, by an operation for it or by a comparison of
/// any kind.
Formula max(const Formula &x, double bound, NaNs nans = NaNs::kept,
            Whole whole = Whole::kinked);
Formula min(const Formula &x, double bound, NaNs nans = NaNs::kept,
            Whole whole = Whole::kinked);
Formula clamp(const Formula &x, double low, double high,
              NaNs nans = NaNs::kept);

/// A formula that was found.
struct FormulaMatch {
  /// The value of `variable()`.
  Value x;
  /// The value of `parameter()`.
  double parameter = 1;
  /// The flags that all matched operations have.
  arith::FastMathFlags fastmath;
};

/// What may be raised where an intermediate value that is costly to compute is
/// also used elsewhere, so that it is computed twice afterwards.
enum class Shared {
  /// The formula: its result is more accurate at some inputs.
  raised,
  /// Nothing: the formula would only be shorter.
  kept
};

using BuildRaised =
    std::function<Value(OpBuilder &, Location, const FormulaMatch &)>;

/// Matches `formula` with the operations that compute the result of `root`, a
/// scalar, vector or ranked tensor of f16, bf16, f32 or f64.
std::optional<FormulaMatch> matchFormula(const Formula &formula,
                                         Operation *root, Shared shared);

/// Adds patterns that replace a value that one of `formulas` computes, tried in
/// order, by what `build` makes of it.
void addRaisePattern(RewritePatternSet &patterns, ArrayRef<Formula> formulas,
                     Shared shared, BuildRaised build,
                     PatternBenefit benefit = 1);

/// The same for a primitive that has no attribute but its flags.
template <typename OpTy>
void addRaisePattern(RewritePatternSet &patterns, ArrayRef<Formula> formulas,
                     Shared shared, PatternBenefit benefit = 1) {
  addRaisePattern(
      patterns, formulas, shared,
      [](OpBuilder &b, Location loc, const FormulaMatch &match) {
        return OpTy::create(b, loc, match.x, match.fastmath);
      },
      benefit);
}

/// The families of activations, one per file.
void populateRaiseSigmoidPatterns(RewritePatternSet &patterns);
void populateRaiseGeluPatterns(RewritePatternSet &patterns);
void populateRaisePiecewisePatterns(RewritePatternSet &patterns);
/// Constants rounded to a narrower type.
void populateFoldTruncPatterns(RewritePatternSet &patterns);
/// One canonical form for elementwise operations on tensors.
void populateRaiseLinalgPatterns(RewritePatternSet &patterns);

} // namespace mlir::fad::raise

#endif // FAD_LIB_TRANSFORMS_RAISE_FORMULA_H
