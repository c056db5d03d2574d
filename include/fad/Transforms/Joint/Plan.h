//===- Plan.h - Residuals of another framework's graph ----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_JOINT_PLAN_H
#define FAD_TRANSFORMS_JOINT_PLAN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"

namespace mlir::fad {

/// Describes the changes to the graph of another framework by which its
/// backward part reads the residuals of `joint`: a joint function with selected
/// residuals, whose arguments have a `fad.nodes` of one name and whose
/// operations list the names of their results in `fad.nodes`. Operations
/// without `fad.nodes` are new.
///
/// The result is an object with these members:
/// - `new`: new nodes in program order. Each has a `name`, an `op` (the name of
///   a scalar operation in MLIR, with the predicate of a comparison after a
///   dot), `args` (names of nodes, or numbers as `{"value": ...}`), and the
///   element type `type` of its result. Shapes follow from the operands, which
///   are broadcast to each other from the last dimension on.
/// - `operands`: for each operation of the graph that reads a new node, the
///   names of all of its operands in order, by the name of its first result.
/// - `results`: the names of the results of the function.
/// - `saved`: for each residual, its `name`, its `bytes`, its `reason`, and its
///   `place` between forward and backward, `device` or `host`.
///
/// Fails, with an error, if a new operation has no such form.
FailureOr<llvm::json::Value> describePlan(func::FuncOp joint);

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_JOINT_PLAN_H
