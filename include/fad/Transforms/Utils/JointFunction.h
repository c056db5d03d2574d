//===- JointFunction.h - The parts of a joint function ----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_UTILS_JOINTFUNCTION_H
#define FAD_TRANSFORMS_UTILS_JOINTFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::fad {

/// A view of a joint function, as `fad-differentiate` leaves it:
/// `@f_joint(arguments, cotangents) -> (results, gradients)`, in one block.
/// Arguments with `fad.cotangent` are cotangents and results with
/// `fad.gradient` are gradients, wherever they stand.
class JointFunction {
public:
  /// Whether `function` has a body and a cotangent, and is not the backward
  /// function of a pair.
  static bool isJoint(func::FuncOp function);

  /// The view of `function`, for which `isJoint` holds. Fails, with an error,
  /// where its body or its marks do not make sense.
  static FailureOr<JointFunction> get(func::FuncOp function);

  func::FuncOp getFunction() const { return function; }
  func::ReturnOp getReturn() const;

  /// The arguments of the primal function.
  ArrayRef<Value> getArguments() const { return arguments; }
  ArrayRef<Value> getCotangents() const { return cotangents; }
  /// What the primal function returns.
  ArrayRef<Value> getResults() const { return results; }
  ArrayRef<Value> getGradients() const { return gradients; }
  /// Which results of the joint function `getResults` and `getGradients` are.
  ArrayRef<unsigned> getResultNumbers() const { return resultNumbers; }
  ArrayRef<unsigned> getGradientNumbers() const { return gradientNumbers; }
  /// The result of the primal function that cotangent `index` belongs to.
  Value getResultOf(unsigned index) const;

  /// The operations that depend on a cotangent now, in program order.
  SmallVector<Operation *> getBackward() const;

private:
  explicit JointFunction(func::FuncOp function);
  /// The number that the cotangent `index` is marked with.
  unsigned getResultNumberOf(unsigned index) const;
  /// Fail where arguments or results are not marked as cotangents and
  /// gradients of primal results and arguments, one of each.
  LogicalResult verifyPlaces() const;
  LogicalResult verifyCotangents() const;
  LogicalResult verifyGradients() const;
  /// Fails where a primal result or a residual depends on a cotangent.
  LogicalResult verifyForward() const;

  func::FuncOp function;
  SmallVector<Value> arguments, cotangents, results, gradients;
  SmallVector<unsigned> resultNumbers, gradientNumbers;
};

/// The operations of `block` that depend on `values`, in order, without those
/// that are `ignored` and what depends on `values` through these alone.
SmallVector<Operation *>
findDependent(Block &block, ValueRange values,
              llvm::function_ref<bool(Operation *)> ignored = {});

/// Calls `callback` on each operand of `op` and of the operations nested in it
/// that is defined outside `op`.
void forEachOutsideOperand(Operation *op,
                           llvm::function_ref<void(OpOperand &)> callback);

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_UTILS_JOINTFUNCTION_H
