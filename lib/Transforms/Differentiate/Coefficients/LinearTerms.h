//===- LinearTerms.h - Coefficients of a slice as formulas ------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_DIFFERENTIATE_COEFFICIENTS_LINEARTERMS_H
#define FAD_LIB_TRANSFORMS_DIFFERENTIATE_COEFFICIENTS_LINEARTERMS_H

#include "Slices.h"
#include "fad/Interfaces/Expr.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::fad {

/// A tensor or scalar that a slice reads, and how.
struct Read {
  Value value;
  AffineMap map;

  bool operator==(const Read &other) const {
    return value == other.value && map == other.map;
  }
};

/// A sum of linear values, each times a coefficient: the number of the value
/// and the coefficient, ordered by number.
using Terms = SmallVector<std::pair<unsigned, Expr>>;

/// The values that a slice computes as sums of the linear values that it reads,
/// its *sources*, each times a coefficient, a formula in what it reads besides,
/// its *inputs*.
///
/// A coefficient is computed in f64 or, if nothing is of that type, in f32. A
/// choice between a linear value and zero is a choice between its coefficient
/// and zero, and what that is multiplied by goes into the choice.
class LinearTerms {
public:
  LinearTerms(const Slice &slice, const Linearity &linearity);

  ArrayRef<Read> getSources() const { return sources; }
  ArrayRef<Read> getInputs() const { return inputs; }
  /// The operations of the formulas; its arguments stand for the inputs.
  Block &getBody() { return *body; }
  /// The terms of a tensor that the slice computes.
  const Terms &get(Value value) const { return termsOf.find(value)->second; }
  /// The type to multiply in for the result `value` of the slice.
  Type getProductType(Value value) const;

private:
  void addOperand(OpOperand &operand, Value argument);
  void visit(Operation *op);
  /// The terms of the result of `op`, of which some operand is linear.
  Terms visitLinear(Operation *op);
  /// `terms` and `others`, each pair of coefficients combined.
  static Terms combine(const Terms &terms, const Terms &others,
                       llvm::function_ref<Expr(const Expr &, const Expr &)> of);
  static Terms transform(const Terms &terms,
                         llvm::function_ref<Expr(const Expr &)> callback);
  /// The builder of formulas of the type `type`.
  ExprBuilder &getBuilder(Type type);
  /// What stands for the value `primal` of the slice, in the type `type`.
  Expr getPrimal(Value primal, Type type);
  /// The terms of `value` in the type `type`; none for a zero.
  Terms getTerms(Value value, Type type);

  const Linearity &linearity;
  Location loc;
  std::unique_ptr<Block> body;
  OpBuilder builder;
  llvm::SmallDenseMap<Type, std::unique_ptr<ExprBuilder>> builders;
  SmallVector<Read> sources, inputs;
  IRMapping primals;
  DenseMap<Value, Terms> termsOf;
};

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_DIFFERENTIATE_COEFFICIENTS_LINEARTERMS_H
