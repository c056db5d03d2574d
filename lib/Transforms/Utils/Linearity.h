//===- Linearity.h - What is linear in the cotangents -----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_UTILS_LINEARITY_H
#define FAD_LIB_TRANSFORMS_UTILS_LINEARITY_H

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

/// How a value depends on the cotangents of a joint function.
enum class Dependence {
  /// It does not, and may be any number.
  none,
  /// It does not, and is zero, or not written yet.
  zero,
  /// It is a sum of cotangents, each times something that depends on none.
  linear
};

/// Says of each value of a joint function, those in bodies included, how it
/// depends on the cotangents. An operation that makes something else of them
/// than a linear function is an error at that operation.
class Linearity {
public:
  /// Looks at all operations that depend on a cotangent, and reports all that
  /// are in the way.
  explicit Linearity(const JointFunction &joint);
  /// What is linear in `cotangent`, an argument of `function`; reports nothing.
  Linearity(func::FuncOp function, Value cotangent);

  /// Whether everything is linear. With errors, what follows from what was
  /// reported counts as linear.
  bool isValid() const { return valid; }
  Dependence get(Value value) const;
  bool isLinear(Value value) const { return linear.contains(value); }
  /// Fails, with an error, where a gradient does not depend on any cotangent
  /// and is not zero.
  LogicalResult verifyGradients(const JointFunction &joint);

private:
  /// Reports that `op` does `what` to a value that depends on a cotangent.
  void report(Operation *op, const Twine &what);
  /// The dependence of a sum, a choice or a concatenation of `values` in `op`.
  Dependence join(Operation *op, ValueRange values);
  /// Notes that the argument of a body stands for `value`.
  void bind(Value argument, Value value);
  /// Notes that all floating-point results of `op` are `dependence`.
  void set(ValueRange values, Dependence dependence);
  /// Reports `op` if one of `values`, which are no data, is linear.
  void requirePrimal(Operation *op, ValueRange values, const Twine &what);

  void visit(Operation *op);
  void visitBlock(Block &block);
  void visitArithmetic(Operation *op);
  void visitProduct(Operation *op, Value lhs, Value rhs, ValueRange addends);
  void visitStructured(linalg::LinalgOp op);
  void visitConditional(Operation *op);
  void visitFor(scf::ForOp op);
  /// Returns whether `op` is one that only moves elements.
  bool visitMovement(Operation *op);
  bool isZero(Value value) const;
  /// Whether `op` reads something that is linear.
  bool reads(Operation *op) const;

  bool valid = true, silent;
  DenseSet<Value> linear;
  /// Arguments of bodies that stand for zeros.
  DenseSet<Value> zeros;
  DenseSet<Operation *> reported;
};

} // namespace fad
} // namespace mlir

#endif // FAD_LIB_TRANSFORMS_UTILS_LINEARITY_H
