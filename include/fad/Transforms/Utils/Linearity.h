//===- Linearity.h - Linearity in the cotangents ----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_UTILS_LINEARITY_H
#define FAD_TRANSFORMS_UTILS_LINEARITY_H

#include "fad/Transforms/Utils/JointFunction.h"

namespace mlir {
namespace linalg {
class LinalgOp;
} // namespace linalg

namespace scf {
class ForOp;
class IfOp;
} // namespace scf

namespace fad {

/// The dependence of a value on the cotangents of a joint function.
enum class Dependence {
  /// Independent, of any value.
  none,
  /// Independent, and zero or not written yet.
  zero,
  /// A sum of cotangents, each times a factor that depends on none.
  linear
};

/// An analysis of the dependence of each value of a joint function, those in
/// bodies included, on the cotangents. An operation that is not linear in the
/// cotangents is an error at that operation.
class Linearity {
public:
  /// Visits all operations that depend on a cotangent, and reports all that are
  /// not linear.
  explicit Linearity(const JointFunction &joint);
  /// The analysis for `cotangent`, an argument of `function`; reports nothing.
  Linearity(func::FuncOp function, Value cotangent);

  /// Whether everything is linear. After an error, dependent values count as
  /// linear.
  bool isValid() const { return valid; }
  Dependence get(Value value) const;
  bool isLinear(Value value) const { return linear.contains(value); }
  /// Fails, with an error, if a gradient depends on no cotangent and is not
  /// zero.
  LogicalResult verifyGradients(const JointFunction &joint);

private:
  /// Reports that `op` does `what` to a value that depends on a cotangent.
  void report(Operation *op, const Twine &what);
  /// The dependence of a sum, a selection or a concatenation of `values` in
  /// `op`.
  Dependence join(Operation *op, ValueRange values);
  /// Binds the argument of a body to `value`.
  void bind(Value argument, Value value);
  /// Sets the dependence of all floating-point values among `values`.
  void set(ValueRange values, Dependence dependence);
  /// Reports `op` if one of `values`, which are operands other than data, is
  /// linear.
  void requirePrimal(Operation *op, ValueRange values, const Twine &what);

  void visit(Operation *op);
  void visitBlock(Block &block);
  void visitArithmetic(Operation *op);
  void visitProduct(Operation *op, Value lhs, Value rhs, ValueRange addends);
  void visitStructured(linalg::LinalgOp op);
  void visitConditional(Operation *op);
  void visitFor(scf::ForOp op);
  /// Visits `op` if it only moves elements, or adds them up; returns whether it
  /// does.
  bool visitMovement(Operation *op);
  bool isZero(Value value) const;
  /// Whether an operand of `op` is linear.
  bool reads(Operation *op) const;

  bool valid = true, silent;
  DenseSet<Value> linear;
  /// Arguments of bodies that are bound to zeros.
  DenseSet<Value> zeros;
  DenseSet<Operation *> reported;
};

} // namespace fad
} // namespace mlir

#endif // FAD_TRANSFORMS_UTILS_LINEARITY_H
