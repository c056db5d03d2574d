//===- Preconditions.h - Conditions on arguments of functions ---*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_RUNTIME_PRECONDITIONS_H
#define FAD_RUNTIME_PRECONDITIONS_H

#include "fad/Runtime/CompiledModule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::fad {

/// A module of `function`, which becomes public, and all functions and globals
/// that it refers to. Emits an error if it calls a function that has no body.
FailureOr<OwningOpRef<ModuleOp>> extractFunction(func::FuncOp function);

/// Reduces the only public function of `module` to the conditions of its
/// operations: it returns nothing, and computes only what a `cf.assert` reads.
/// Emits an error on failure.
LogicalResult reduceToPreconditions(ModuleOp module);

/// A condition that arguments have to meet.
struct Precondition {
  Location loc;
  /// The message for arguments that violate it.
  std::string message;
};

/// The preconditions of a function on its arguments: the sizes of its tensors
/// agree wherever an operation requires this, and the conditions of each
/// `cf.assert` hold. Compiled code has undefined behavior for other arguments.
class Preconditions {
public:
  /// The preconditions of the only public function of `module`, compiled. Emits
  /// an error on failure.
  static FailureOr<Preconditions> compile(ModuleOp module);

  /// The `ml_program.global`s on which the preconditions depend; calls may
  /// change them.
  ArrayRef<std::string> getGlobals() const { return globals; }

  /// A precondition that `arguments` violate, if any, or the error that keeps
  /// the preconditions from being computed. `values` are those of the globals;
  /// an empty list stands for the initial ones.
  std::optional<Precondition>
  findViolated(ArrayRef<HostTensor> arguments,
               ArrayRef<HostTensor> values = {}) const;

private:
  SmallVector<Precondition> all;
  SmallVector<std::string> globals;
  /// The function that asserts the preconditions, if any, and the one that
  /// takes the values of the globals.
  std::string function, storeGlobals;
  std::optional<CompiledModule> compiled;
};

/// Emits an error at each operation whose precondition `arguments` of the only
/// public function of `module` violate.
LogicalResult checkPreconditions(ModuleOp module,
                                 ArrayRef<HostTensor> arguments);

/// Adds to `module` a public function that returns the values of the globals
/// `names`. Returns its name.
std::string addLoadOfGlobals(ModuleOp module, ArrayRef<std::string> names);

/// Erases each `cf.assert` of `module`, for use after checkPreconditions.
void eraseAssertions(ModuleOp module);

} // namespace mlir::fad

#endif // FAD_RUNTIME_PRECONDITIONS_H
