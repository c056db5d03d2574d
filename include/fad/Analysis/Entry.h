//===- Entry.h - The function that a request is about -----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_ANALYSIS_ENTRY_H
#define FAD_ANALYSIS_ENTRY_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir {
class ModuleOp;

namespace func {
class FuncOp;
} // namespace func

namespace fad {

/// The function called `name` or, where `name` is empty, the only function of
/// `module` with `fad.request` or, where there is none, the only public one; it
/// has a body. Otherwise emits an error that lists the functions there are.
FailureOr<func::FuncOp> findEntry(ModuleOp module, StringRef name);

/// The arguments of `function` to differentiate with respect to: `wrt`, or
/// else what its `fad.request` attribute says, or else every ranked tensor of
/// floating-point elements: scalars have to be asked for. Emits an error where
/// an argument does not exist, has no tangent, or none is left.
FailureOr<SmallVector<unsigned>> resolveWrt(func::FuncOp function,
                                            ArrayRef<int64_t> wrt);

/// The results of `function` that are differentiated, and so get a cotangent:
/// `results`, or else what its `fad.request` attribute says, or else every
/// floating-point scalar and ranked tensor. Emits an error where a result does
/// not exist, can have no cotangent, or none is left.
FailureOr<SmallVector<unsigned>> resolveResults(func::FuncOp function,
                                                ArrayRef<int64_t> results);

/// Whether `results`, or else the `fad.request` attribute of `function`, lists
/// the results that are differentiated.
bool listsResults(func::FuncOp function, ArrayRef<int64_t> results);

/// Whether `type` is f16, bf16, f32 or f64, or a ranked tensor of them.
bool isDifferentiable(Type type);

} // namespace fad
} // namespace mlir

#endif // FAD_ANALYSIS_ENTRY_H
