//===- Preconditions.h - What a function asks of its arguments --*- C++ -*-===//
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

/// A module of `function`, which is public in it, and what it refers to.
/// Emits an error where it calls a function that has no body.
FailureOr<OwningOpRef<ModuleOp>> extractFunction(func::FuncOp function);

/// A condition that arguments have to meet.
struct Precondition {
  Location loc;
  /// What to say where they do not.
  std::string message;
};

/// What a function asks of its arguments: the sizes of its tensors agree
/// wherever an operation needs them to, and the conditions of each `cf.assert`
/// hold. What compiled code does with arguments that do not suit is undefined.
class Preconditions {
public:
  /// Those of the only public function of `module`, compiled. Emits an error
  /// where that fails.
  static FailureOr<Preconditions> compile(ModuleOp module);

  /// The `ml_program.global`s, which calls may have changed, that the
  /// preconditions depend on.
  ArrayRef<std::string> getGlobals() const { return globals; }

  /// A precondition that `arguments` do not meet, if any, or what keeps the
  /// preconditions from being computed. `values` are those of the globals;
  /// none stand for the initial ones.
  std::optional<Precondition>
  findViolated(ArrayRef<HostTensor> arguments,
               ArrayRef<HostTensor> values = {}) const;

private:
  SmallVector<Precondition> all;
  SmallVector<std::string> globals;
  /// The function that asserts them, where there are any, and the one that
  /// takes the values of the globals.
  std::string function, storeGlobals;
  std::optional<CompiledModule> compiled;
};

/// Emits an error at the operation where `arguments` do not suit the only
/// public function of `module`.
LogicalResult checkPreconditions(ModuleOp module,
                                 ArrayRef<HostTensor> arguments);

/// Adds to `module` a public function that returns the values of the globals
/// `names`. Returns its name.
std::string addLoadOfGlobals(ModuleOp module, ArrayRef<std::string> names);

/// Erases each `cf.assert` of `module`, after checkPreconditions.
void eraseAssertions(ModuleOp module);

} // namespace mlir::fad

#endif // FAD_RUNTIME_PRECONDITIONS_H
