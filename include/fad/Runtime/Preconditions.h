//===- Preconditions.h - What a function asks of its arguments --*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_RUNTIME_PRECONDITIONS_H
#define FAD_RUNTIME_PRECONDITIONS_H

#include "fad/Runtime/HostTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::fad {

/// A module of `function`, which is public in it, and what it refers to.
/// Emits an error where it calls a function that has no body.
FailureOr<OwningOpRef<ModuleOp>> extractFunction(func::FuncOp function);

/// Whether `arguments` suit the only public function of `module`: the sizes of
/// its tensors agree wherever an operation needs them to, and the conditions
/// of each `cf.assert` hold. Emits an error at the operation where not.
///
/// What compiled code does with arguments that do not suit is undefined.
LogicalResult checkPreconditions(ModuleOp module,
                                 ArrayRef<HostTensor> arguments);

/// Erases each `cf.assert` of `module`, after checkPreconditions.
void eraseAssertions(ModuleOp module);

} // namespace mlir::fad

#endif // FAD_RUNTIME_PRECONDITIONS_H
