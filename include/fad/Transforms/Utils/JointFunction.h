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
  /// if its body or its attributes are inconsistent.
  static FailureOr<JointFunction> get(func::FuncOp function);

  /// The view of `function`, which `get` has accepted in this pass.
  static JointFunction getVerified(func::FuncOp function) {
    return JointFunction(function);
  }

  func::FuncOp getFunction() const { return function; }
  func::ReturnOp getReturn() const;

  /// The arguments of the primal function.
  ArrayRef<Value> getArguments() const { return arguments; }
  ArrayRef<Value> getCotangents() const { return cotangents; }
  /// The results of the primal function.
  ArrayRef<Value> getResults() const { return results; }
  ArrayRef<Value> getGradients() const { return gradients; }
  /// The numbers of `getResults` and `getGradients` among the results of the
  /// joint function.
  ArrayRef<unsigned> getResultNumbers() const { return resultNumbers; }
  ArrayRef<unsigned> getGradientNumbers() const { return gradientNumbers; }
  /// The result of the primal function that cotangent `index` belongs to.
  Value getResultOf(unsigned index) const;

  /// The operations that currently depend on a cotangent, in program order.
  SmallVector<Operation *> getBackward() const;

private:
  explicit JointFunction(func::FuncOp function);
  /// The value of `fad.cotangent` on the cotangent `index`.
  unsigned getResultNumberOf(unsigned index) const;
  /// Fail unless the attributes make cotangents and gradients belong to primal
  /// results and arguments, each to another one.
  LogicalResult verifyPlaces() const;
  LogicalResult verifyCotangents() const;
  LogicalResult verifyGradients() const;
  /// Fails where a primal result or a residual depends on a cotangent.
  LogicalResult verifyForward() const;

  func::FuncOp function;
  SmallVector<Value> arguments, cotangents, results, gradients;
  SmallVector<unsigned> resultNumbers, gradientNumbers;
};

/// The operations of `block` that depend on `values`, in order. Dependences
/// through operations that are `ignored` do not count.
SmallVector<Operation *>
findDependent(Block &block, ValueRange values,
              llvm::function_ref<bool(Operation *)> ignored = {});

/// Calls `callback` on each operand of `op` and of its nested operations that
/// is defined outside `op`.
void forEachOutsideOperand(Operation *op,
                           llvm::function_ref<void(OpOperand &)> callback);

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_UTILS_JOINTFUNCTION_H
