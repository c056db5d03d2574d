//===- ForwardMode.h - Forward mode in scalar blocks ------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_DIFFERENTIATE_FORWARDMODE_H
#define FAD_TRANSFORMS_DIFFERENTIATE_FORWARDMODE_H

#include "fad/Interfaces/Expr.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir {
class IRMapping;

namespace fad {

/// Tangents of scalar values, by the original value. A value without an entry,
/// or with a null one, has tangent zero.
using TangentMap = llvm::DenseMap<Value, Expr>;

/// Clones the operations of the scalar block `from`, without its terminator, at
/// the builder's insertion point. Operations with side effects and no result,
/// such as `cf.assert`, are left out: they have happened. `primals` maps the
/// block's arguments, and known results, to their replacements; every result is
/// added to it.
void clonePrimals(OpBuilder &builder, Block &from, IRMapping &primals);

/// Emits, at the builder's insertion point, the tangent of every value of the
/// scalar block `from` that depends on a value with a tangent and on which one
/// of `wanted` depends (forward mode); an empty `wanted` stands for all values.
/// `primals` maps to the primal values at which the rules are evaluated, as
/// after `clonePrimals`. `tangents` maps the seeds to their tangents, in the
/// tangent types; the other tangents are added to it.
///
/// With `preferResults`, derivatives are written in terms of results if an
/// operation has both forms.
///
/// Fails, with an error at each operation that lacks a rule.
llvm::LogicalResult pushforward(OpBuilder &builder, Block &from,
                                IRMapping &primals, TangentMap &tangents,
                                bool preferResults = false,
                                ValueRange wanted = {});

/// The same for one operation.
llvm::LogicalResult pushforward(OpBuilder &builder, Operation *op,
                                IRMapping &primals, TangentMap &tangents,
                                bool preferResults);

/// The tangent of `value` as a value of `type`: looked up, or a zero.
Value materializeTangent(OpBuilder &builder, Location loc,
                         const TangentMap &tangents, Value value, Type type);

} // namespace fad
} // namespace mlir

#endif // FAD_TRANSFORMS_DIFFERENTIATE_FORWARDMODE_H
