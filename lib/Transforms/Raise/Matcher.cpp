//===- Matcher.cpp - Matching formulas with operations --------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Raise.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fad;
using namespace mlir::fad::raise;

namespace {

/// The constant factor of a product, gathered from several operations.
struct Coefficient {
  double value = 1;
  /// The number of rounded constants, that is, of constants other than powers
  /// of two.
  unsigned roundings = 0;

  static Coefficient get(double constant) {
    int exponent;
    bool isExact = std::fabs(std::frexp(constant, &exponent)) == 0.5;
    return {constant, isExact ? 0u : 1u};
  }
  Coefficient operator*(Coefficient other) const {
    return {value * other.value, roundings + other.roundings};
  }
  Coefficient operator/(Coefficient other) const {
    return {value / other.value, roundings + other.roundings};
  }
  Coefficient operator-() const { return {-value, roundings}; }
};

/// Matches a formula with the operations that compute one value.
///
/// Matching backtracks: each function tries every way of matching its formula
/// with the operations, and asks its continuation `next` whether the rest of
/// the formula matches. Bindings persist only if it does.
class FormulaMatcher {
public:
  FormulaMatcher(Operation *root, Shared shared)
      : root(root), shared(shared),
        semantics(cast<FloatType>(getElementTypeOrSelf(root->getResult(0)))
                      .getFloatSemantics()) {}

  std::optional<FormulaMatch> run(const Formula &formula);

private:
  using Next = llvm::function_ref<bool()>;
  using NextFactor = llvm::function_ref<bool(Coefficient)>;

  bool match(const Formula &formula, Value value, Next next);
  bool matchInOrder(ArrayRef<Formula> formulas, ArrayRef<Value> values,
                    Next next);
  bool matchVariable(Value value, Next next);
  bool matchParameter(double value, Next next);
  bool matchCall(const Formula &formula, Value value, Next next);
  bool matchSum(const Formula &formula, Value value, Next next);
  bool matchProduct(const Formula &formula, Value value, Next next);
  bool matchQuotient(const Formula &formula, Value value, Next next);
  bool matchSelect(const Formula &formula, Value value, Next next);

  bool matchFactors(ArrayRef<Formula> factors, Value value, NextFactor next);
  bool splitFactors(ArrayRef<Formula> factors, arith::MulFOp op,
                    NextFactor next);
  bool matchPower(ArrayRef<Formula> factors, Value value, NextFactor next);

  /// Runs `next` with `ops` counted as matched.
  bool through(ArrayRef<Operation *> ops, Next next);
  bool standsFor(Coefficient found, double number) const;
  bool repeatsCostlyOps() const;

  /// The operation behind `value`. One in another block stays out of the match:
  /// it may run less often than the root.
  Operation *producer(Value value) const {
    Operation *op = value.getDefiningOp();
    return op && op->getBlock() == root->getBlock() ? op : nullptr;
  }
  template <typename OpTy> OpTy producer(Value value) const {
    return dyn_cast_or_null<OpTy>(producer(value));
  }

  Operation *root;
  Shared shared;
  const llvm::fltSemantics &semantics;
  Value x;
  std::optional<double> parameter;
  SmallVector<Operation *> matched;
};

} // namespace

/// The number that `value` is, in each of its elements.
static std::optional<double> getConstant(Value value) {
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    value = splat.getInput();
  APFloat constant(0.0);
  if (!matchPattern(value, m_ConstantFloat(&constant)) ||
      !APFloat::isRepresentableBy(constant.getSemantics(),
                                  APFloat::IEEEdouble()))
    return std::nullopt;
  return constant.convertToDouble();
}

bool FormulaMatcher::through(ArrayRef<Operation *> ops, Next next) {
  // No formula takes as many operations. A chain of multiplications with
  // constants may have thousands, and would be followed from each of them.
  constexpr size_t maxMatched = 64;
  size_t size = matched.size();
  if (size > maxMatched)
    return false;
  llvm::append_range(matched, ops);
  if (next())
    return true;
  matched.truncate(size);
  return false;
}

/// A number that every element type represents has to be met exactly; another
/// one within one unit in the last place for every constant that was rounded.
bool FormulaMatcher::standsFor(Coefficient found, double number) const {
  if (found.value == number)
    return true;
  APFloat narrow(number);
  bool isRounded;
  narrow.convert(APFloat::BFloat(), APFloat::rmNearestTiesToEven, &isRounded);
  if (!isRounded || !std::isfinite(found.value))
    return false;
  int precision = APFloat::semanticsPrecision(semantics);
  double ulp = std::ldexp(1.0, std::ilogb(number) + 1 - precision);
  return std::fabs(found.value - number) <= found.roundings * ulp;
}

bool FormulaMatcher::match(const Formula &formula, Value value, Next next) {
  switch (formula->kind) {
  case FormulaNode::Number: {
    std::optional<double> constant = getConstant(value);
    return constant && standsFor({*constant, 1}, formula->number) && next();
  }
  case FormulaNode::Variable:
    return matchVariable(value, next);
  case FormulaNode::Parameter: {
    std::optional<double> constant = getConstant(value);
    return constant && matchParameter(*constant, next);
  }
  case FormulaNode::Call:
    return matchCall(formula, value, next);
  case FormulaNode::Sum:
    return matchSum(formula, value, next);
  case FormulaNode::Product:
    return matchProduct(formula, value, next);
  case FormulaNode::Quotient:
    return matchQuotient(formula, value, next);
  case FormulaNode::Select:
    return matchSelect(formula, value, next);
  case FormulaNode::Either:
    return llvm::any_of(formula->parts, [&](const Formula &form) {
      return match(form, value, next);
    });
  }
  llvm_unreachable("all kinds of formulas are handled");
}

bool FormulaMatcher::matchInOrder(ArrayRef<Formula> formulas,
                                  ArrayRef<Value> values, Next next) {
  if (formulas.empty())
    return next();
  return match(formulas.front(), values.front(), [&] {
    return matchInOrder(formulas.drop_front(), values.drop_front(), next);
  });
}

bool FormulaMatcher::matchVariable(Value value, Next next) {
  if (x)
    return x == value && next();
  if (getConstant(value))
    return false;
  x = value;
  if (next())
    return true;
  x = Value();
  return false;
}

bool FormulaMatcher::matchParameter(double value, Next next) {
  if (!std::isfinite(value))
    return false;
  if (parameter)
    return *parameter == value && next();
  parameter = value;
  if (next())
    return true;
  parameter = std::nullopt;
  return false;
}

bool FormulaMatcher::matchCall(const Formula &formula, Value value, Next next) {
  Operation *op = producer(value);
  if (!op || !formula->accepts(op))
    return false;
  return through({op}, [&] {
    return matchInOrder(formula->parts, llvm::to_vector(op->getOperands()),
                        next);
  });
}

bool FormulaMatcher::matchSum(const Formula &formula, Value value, Next next) {
  ArrayRef<Formula> terms = formula->parts;
  if (auto add = producer<arith::AddFOp>(value)) {
    Value lhs = add.getLhs(), rhs = add.getRhs();
    return through({add}, [&] {
      return matchInOrder(terms, {lhs, rhs}, next) ||
             matchInOrder(terms, {rhs, lhs}, next);
    });
  }
  auto sub = producer<arith::SubFOp>(value);
  if (!sub)
    return false;
  if (terms.back()->kind == FormulaNode::Product && terms.back()->number < 0)
    return through({sub}, [&] {
      return matchInOrder({terms.front(), -terms.back()},
                          {sub.getLhs(), sub.getRhs()}, next);
    });
  if (terms.back()->kind != FormulaNode::Number)
    return false;
  std::optional<double> constant = getConstant(sub.getRhs());
  return constant && standsFor({-*constant, 1}, terms.back()->number) &&
         through({sub},
                 [&] { return match(terms.front(), sub.getLhs(), next); });
}

bool FormulaMatcher::matchQuotient(const Formula &formula, Value value,
                                   Next next) {
  auto div = producer<arith::DivFOp>(value);
  return div && getConstant(div.getRhs()) != 0.0 && through({div}, [&] {
           return matchInOrder(formula->parts, {div.getLhs(), div.getRhs()},
                               next);
         });
}

/// The outcomes of a comparison of two numbers for which `predicate` holds.
static unsigned getOutcomes(arith::CmpFPredicate predicate) {
  using C = Condition;
  using arith::CmpFPredicate;
  switch (predicate) {
  case CmpFPredicate::AlwaysFalse:
    return 0;
  case CmpFPredicate::OEQ:
    return C::equal;
  case CmpFPredicate::OGT:
    return C::greater;
  case CmpFPredicate::OGE:
    return C::greater | C::equal;
  case CmpFPredicate::OLT:
    return C::less;
  case CmpFPredicate::OLE:
    return C::less | C::equal;
  case CmpFPredicate::ONE:
    return C::less | C::greater;
  case CmpFPredicate::ORD:
    return C::less | C::equal | C::greater;
  case CmpFPredicate::UEQ:
    return C::equal | C::unordered;
  case CmpFPredicate::UGT:
    return C::greater | C::unordered;
  case CmpFPredicate::UGE:
    return C::greater | C::equal | C::unordered;
  case CmpFPredicate::ULT:
    return C::less | C::unordered;
  case CmpFPredicate::ULE:
    return C::less | C::equal | C::unordered;
  case CmpFPredicate::UNE:
    return C::less | C::greater | C::unordered;
  case CmpFPredicate::UNO:
    return C::unordered;
  case CmpFPredicate::AlwaysTrue:
    return C::less | C::equal | C::greater | C::unordered;
  }
  llvm_unreachable("all predicates are handled");
}

/// The outcomes after an exchange of the operands.
static unsigned swapOutcomes(unsigned outcomes) {
  unsigned swapped = outcomes & (Condition::equal | Condition::unordered);
  if (outcomes & Condition::less)
    swapped |= Condition::greater;
  if (outcomes & Condition::greater)
    swapped |= Condition::less;
  return swapped;
}

bool FormulaMatcher::matchSelect(const Formula &formula, Value value,
                                 Next next) {
  auto op = producer<arith::SelectOp>(value);
  auto cmp = op ? producer<arith::CmpFOp>(op.getCondition()) : nullptr;
  if (!cmp)
    return false;
  unsigned relevant = formula->relevant;
  if (arith::bitEnumContainsAll(cmp.getFastmath(), arith::FastMathFlags::nnan))
    relevant &= ~Condition::unordered;

  auto matchAs = [&](unsigned outcomes, Value lhs, Value rhs, Value ifTrue,
                     Value ifFalse) {
    if ((outcomes ^ formula->holds) & relevant)
      return false;
    return through({op, cmp}, [&] {
      return matchInOrder(formula->parts, {lhs, rhs, ifTrue, ifFalse}, next);
    });
  };
  unsigned holds = getOutcomes(cmp.getPredicate());
  Value a = cmp.getLhs(), b = cmp.getRhs();
  Value t = op.getTrueValue(), f = op.getFalseValue();
  return matchAs(holds, a, b, t, f) || matchAs(~holds, a, b, f, t) ||
         matchAs(swapOutcomes(holds), b, a, t, f) ||
         matchAs(swapOutcomes(~holds), b, a, f, t);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

bool FormulaMatcher::matchProduct(const Formula &formula, Value value,
                                  Next next) {
  return matchFactors(formula->parts, value, [&](Coefficient found) {
    if (formula->hasParameter)
      return matchParameter(found.value, next);
    return standsFor(found, formula->number) && next();
  });
}

/// Matches `value` with the product of `factors`, which may be empty, and a
/// constant, which is passed to `next`.
bool FormulaMatcher::matchFactors(ArrayRef<Formula> factors, Value value,
                                  NextFactor next) {
  if (factors.empty()) {
    std::optional<double> constant = getConstant(value);
    return constant && next(Coefficient::get(*constant));
  }
  if (factors.size() == 1 &&
      match(factors.front(), value, [&] { return next({}); }))
    return true;
  if (auto mul = producer<arith::MulFOp>(value))
    return through({mul}, [&] { return splitFactors(factors, mul, next); });
  if (auto neg = producer<arith::NegFOp>(value))
    return through({neg}, [&] {
      return matchFactors(factors, neg.getOperand(),
                          [&](Coefficient found) { return next(-found); });
    });
  if (auto div = producer<arith::DivFOp>(value)) {
    std::optional<double> divisor = getConstant(div.getRhs());
    return divisor && through({div}, [&] {
             return matchFactors(factors, div.getLhs(), [&](Coefficient found) {
               return next(found / Coefficient::get(*divisor));
             });
           });
  }
  return matchPower(factors, value, next);
}

/// Matches the operands of `op` with `factors`: one with all of them if the
/// other is constant, else every split into two nonempty parts.
bool FormulaMatcher::splitFactors(ArrayRef<Formula> factors, arith::MulFOp op,
                                  NextFactor next) {
  auto matchBoth = [&](ArrayRef<Formula> left, ArrayRef<Formula> right) {
    return matchFactors(left, op.getLhs(), [&](Coefficient found) {
      return matchFactors(right, op.getRhs(), [&](Coefficient other) {
        return next(found * other);
      });
    });
  };
  if (getConstant(op.getRhs()))
    return matchBoth(factors, {});
  if (getConstant(op.getLhs()))
    return matchBoth({}, factors);

  // The bits of `split` assign factors to the sides; both sides get some.
  for (unsigned split = 1; split + 1 < 1u << factors.size(); ++split) {
    SmallVector<Formula> left, right;
    for (auto [index, factor] : llvm::enumerate(factors))
      (split >> index & 1 ? left : right).push_back(factor);
    if (matchBoth(left, right))
      return true;
  }
  return false;
}

/// Matches n times the same factor with a power of it.
bool FormulaMatcher::matchPower(ArrayRef<Formula> factors, Value value,
                                NextFactor next) {
  Operation *op = producer(value);
  if (!op || !isa<math::FPowIOp, math::PowFOp>(op) || !llvm::all_equal(factors))
    return false;
  Value base = op->getOperand(0), exponent = op->getOperand(1);
  APInt integer;
  bool isPower = matchPattern(exponent, m_ConstantInt(&integer))
                     ? integer == factors.size()
                     : getConstant(exponent) == double(factors.size());
  return isPower && through({op}, [&] {
           return match(factors.front(), base, [&] { return next({}); });
         });
}

//===----------------------------------------------------------------------===//
// Whole formulas
//===----------------------------------------------------------------------===//

/// Whether an expensive operation of the match has other users, so that raising
/// computes it twice.
bool FormulaMatcher::repeatsCostlyOps() const {
  return llvm::any_of(matched, [&](Operation *op) {
    if (op == root || isa<ReluOp>(op) ||
        isa_and_nonnull<arith::ArithDialect>(op->getDialect()))
      return false;
    return llvm::any_of(op->getUsers(), [&](Operation *user) {
      return !llvm::is_contained(matched, user);
    });
  });
}

std::optional<FormulaMatch> FormulaMatcher::run(const Formula &formula) {
  if (!match(formula, root->getResult(0),
             [&] { return shared == Shared::raised || !repeatsCostlyOps(); }))
    return std::nullopt;

  FormulaMatch result{x, parameter.value_or(1), arith::FastMathFlags::fast};
  for (Operation *op : matched)
    if (auto flags = dyn_cast<arith::ArithFastMathInterface>(op))
      result.fastmath =
          result.fastmath & flags.getFastMathFlagsAttr().getValue();
  return result;
}

std::optional<FormulaMatch>
raise::matchFormula(const Formula &formula, Operation *root, Shared shared) {
  return FormulaMatcher(root, shared).run(formula);
}
