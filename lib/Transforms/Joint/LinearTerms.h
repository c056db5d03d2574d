//===- LinearTerms.h - Coefficients of a linear region ----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_JOINT_LINEARTERMS_H
#define FAD_LIB_TRANSFORMS_JOINT_LINEARTERMS_H

#include "LinearRegions.h"
#include "fad/Interfaces/Expr.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::fad {

/// A tensor or scalar that a linear region reads, with its indexing map.
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

/// The values of a linear region as sums of its linear operands, the *sources*,
/// each times a coefficient, which is a formula in its other operands, the
/// *inputs*.
///
/// A coefficient is computed in f64 or, if no value has that type, in f32. A
/// selection between a linear value and zero becomes a selection between its
/// coefficient and zero, and factors move into the branches of the selection.
class LinearTerms {
public:
  LinearTerms(const LinearRegion &region, const Linearity &linearity);

  ArrayRef<Read> getSources() const { return sources; }
  ArrayRef<Read> getInputs() const { return inputs; }
  /// The operations of the formulas; its arguments stand for the inputs.
  Block &getBody() { return *body; }
  /// The terms of a tensor that the region computes.
  const Terms &get(Value value) const { return termsOf.find(value)->second; }
  /// The type of products for the result `value` of the region.
  Type getProductType(Value value) const;

private:
  void addOperand(OpOperand &operand, Value argument);
  void visit(Operation *op);
  /// The terms of the result of `op`, which has a linear operand.
  Terms visitLinear(Operation *op);
  /// `terms` and `others`, each pair of coefficients combined.
  static Terms combine(const Terms &terms, const Terms &others,
                       llvm::function_ref<Expr(const Expr &, const Expr &)> of);
  static Terms transform(const Terms &terms,
                         llvm::function_ref<Expr(const Expr &)> callback);
  /// The builder of formulas of the type `type`.
  ExprBuilder &getBuilder(Type type);
  /// The clone of the value `primal` of the region, in the type `type`.
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

#endif // FAD_LIB_TRANSFORMS_JOINT_LINEARTERMS_H
