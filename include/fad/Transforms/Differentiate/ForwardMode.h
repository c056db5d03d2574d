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

/// Clones the operations of the scalar block `from`, without its terminator,
/// at the builder's insertion point. What has side effects and no result, such
/// as `cf.assert`, is left out: it has happened. `primals` maps the block's
/// arguments, and results that are known already, to their replacements, and
/// comes back with every result added.
void clonePrimals(OpBuilder &builder, Block &from, IRMapping &primals);

/// Emits, at the builder's insertion point, the tangent of every value of the
/// scalar block `from` that depends on a value with a tangent and that one of
/// `wanted` depends on (forward mode). Where `wanted` is empty, these are all
/// values. `primals` gives the primal values at which the rules are evaluated,
/// as `clonePrimals` leaves it. `tangents` holds the seeds, in the tangent
/// types of their values, and comes back with the rest.
///
/// With `preferResults`, derivatives are written in terms of results rather
/// than operands where an operation has both forms.
///
/// Fails, with an error at each operation, where rules are missing.
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
