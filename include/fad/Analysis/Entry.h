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

/// The function `name` or, if `name` is empty, the only function of `module`
/// with `fad.request` or, if no function has this, the only public one. The
/// function has a body. Otherwise emits an error that lists the functions.
FailureOr<func::FuncOp> findEntry(ModuleOp module, StringRef name);

/// The arguments of `function` to differentiate with respect to: `wrt`, or else
/// those of its `fad.request`, or else every ranked tensor of floating-point
/// elements (scalars have to be listed). Emits an error for an argument that
/// does not exist or has no tangent, and if none is left.
FailureOr<SmallVector<unsigned>> resolveWrt(func::FuncOp function,
                                            ArrayRef<int64_t> wrt);

/// The results of `function` to differentiate, each of which gets a cotangent:
/// `results`, or else those of its `fad.request`, or else every floating-point
/// scalar and ranked tensor. Emits an error for a result that does not exist or
/// cannot have a cotangent, and if none is left.
FailureOr<SmallVector<unsigned>> resolveResults(func::FuncOp function,
                                                ArrayRef<int64_t> results);

/// Whether `results`, or else the `fad.request` of `function`, lists the
/// results to differentiate.
bool listsResults(func::FuncOp function, ArrayRef<int64_t> results);

/// The name of the joint function of `@name`.
std::string getJointName(StringRef name);
/// The name of the function that `@joint` is the joint function of; `joint` if
/// it has another form.
StringRef getNameOfJoint(StringRef joint);

/// The joint function that `fad-differentiate` makes of `@name`, and the
/// forward function that `fad-split` makes of that; null if there is none.
func::FuncOp findJoint(ModuleOp module, StringRef name);
func::FuncOp findForward(ModuleOp module, StringRef name);

/// The function that `fad.pullback` of `forward` names; null without the
/// attribute. Fails, with an error, if there is no such function.
FailureOr<func::FuncOp> findPullback(func::FuncOp forward);

/// The advice for a function that has buffers.
inline constexpr StringLiteral kTakesTensors(
    "fad takes tensors, not memrefs: give it the program as it is before "
    "bufferization");

/// Whether `type` is f16, bf16, f32 or f64, or a ranked tensor of them.
bool isDifferentiable(Type type);

} // namespace fad
} // namespace mlir

#endif // FAD_ANALYSIS_ENTRY_H
