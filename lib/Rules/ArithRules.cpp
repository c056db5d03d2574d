//===- ArithRules.cpp - Derivative rules of the arith dialect -------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Rules/Rules.h"
#include "fad/Rules/ScalarRules.h"

using namespace mlir;
using namespace mlir::fad;

namespace {

struct AddF : BinaryRule<AddF, arith::AddFOp> {
  static Expr da(Expr, Expr) { return 1; }
  static Expr db(Expr, Expr) { return 1; }
};

struct SubF : BinaryRule<SubF, arith::SubFOp> {
  static Expr da(Expr, Expr) { return 1; }
  static Expr db(Expr, Expr) { return -1; }
};

struct MulF : BinaryRule<MulF, arith::MulFOp> {
  static Expr da(Expr, Expr b) { return b; }
  static Expr db(Expr a, Expr) { return a; }
};

struct DivF : BinaryRule<DivF, arith::DivFOp> {
  static Expr da(Expr, Expr b) { return 1 / b; }
  // b * b could overflow although the derivative is finite.
  static Expr db(Expr a, Expr b) { return -(a / b) / b; }
  static Expr dbFromResult(Expr a, Expr b, Expr y) {
    // The derivative of a reciprocal needs only the result.
    Expr numerator = viewConstant(a);
    if (numerator.isConstant() && !numerator.isConstant(0))
      return y * (y * (-1 / numerator.getConstant()));
    return -y / b;
  }
};

/// `a - b * n` with the integer `n = trunc(a / b)`. Since the remainder is
/// exact, rounding recovers `n` even where `a / b` rounds up to an integer.
struct RemF : BinaryRule<RemF, arith::RemFOp> {
  static Expr da(Expr, Expr) { return 1; }
  static Expr db(Expr a, Expr b) {
    Expr multiple = a - rem(a, b);
    return -roundeven(multiple / b);
  }
};

struct NegF : UnaryRule<NegF, arith::NegFOp> {
  static Expr d(Expr) { return -1; }
};

// The type of the tangent changes with the type of the value.
struct ExtF : UnaryRule<ExtF, arith::ExtFOp> {
  static Expr d(Expr) { return 1; }
};

struct TruncF : UnaryRule<TruncF, arith::TruncFOp> {
  static Expr d(Expr) { return 1; }
};

/// The share of `a` in the derivative of a maximum or minimum of `a` and `b`:
/// zero if it `loses`, a half if it equals `b`, else one. With `maximumf` and
/// `minimumf`, NaN wins, as in PyTorch.
Expr share(Expr loses, Expr a, Expr b) {
  Expr otherwise = select(equal(a, b), 0.5, 1);
  return select(loses, 0, otherwise);
}

struct MaximumF : BinaryRule<MaximumF, arith::MaximumFOp> {
  static Expr da(Expr a, Expr b) { return share(a < b, a, b); }
  static Expr db(Expr a, Expr b) { return share(b < a, b, a); }
};

struct MinimumF : BinaryRule<MinimumF, arith::MinimumFOp> {
  static Expr da(Expr a, Expr b) { return share(a > b, a, b); }
  static Expr db(Expr a, Expr b) { return share(b > a, b, a); }
};

/// The same for `maxnumf` and `minnumf`, where NaN always loses.
Expr shareOfNumber(Expr loses, Expr a, Expr b) {
  return share(loses | isNaN(a), a, b);
}

struct MaxNumF : BinaryRule<MaxNumF, arith::MaxNumFOp> {
  static Expr da(Expr a, Expr b) { return shareOfNumber(a < b, a, b); }
  static Expr db(Expr a, Expr b) { return shareOfNumber(b < a, b, a); }
};

struct MinNumF : BinaryRule<MinNumF, arith::MinNumFOp> {
  static Expr da(Expr a, Expr b) { return shareOfNumber(a > b, a, b); }
  static Expr db(Expr a, Expr b) { return shareOfNumber(b > a, b, a); }
};

/// Chooses between tangents. A product with a zero or one would let an
/// infinity in the branch not taken through.
struct Select : DerivativeOpInterface::ExternalModel<Select, arith::SelectOp> {
  Expr partial(Operation *, const Primal &at, unsigned,
               unsigned operand) const {
    if (operand == 0)
      return {};
    return operand == 1 ? select(at.operands[0], 1, 0)
                        : select(at.operands[0], 0, 1);
  }
  Expr pushforward(Operation *, const Primal &at, unsigned,
                   ArrayRef<Expr> tangents, bool) const {
    auto orZero = [](Expr tangent) { return tangent ? tangent : Expr(0); };
    return select(at.operands[0], orZero(tangents[1]), orZero(tangents[2]));
  }
};

} // namespace

void fad::registerArithRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    attachRules<AddF, SubF, MulF, DivF, RemF, NegF, ExtF, TruncF, MaximumF,
                MinimumF, MaxNumF, MinNumF, Select>(context);
  });
}
