//===- LeastResiduals.h - Residuals of least cost ---------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_RESIDUALS_LEASTRESIDUALS_H
#define FAD_LIB_TRANSFORMS_RESIDUALS_LEASTRESIDUALS_H

#include "fad/Analysis/MinCut.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::fad {
class CostModel;

/// Which values of the forward part are saved, so that backward can compute
/// all others that it reads, and what that costs.
struct LeastResiduals {
  llvm::DenseSet<Value> saved;
  Cost cost;
};

/// The choice of least cost that makes the values `read` available in backward:
/// a minimum cut between what only forward has and what backward has. What is
/// computed again needs all that its operation reads.
///
/// Each value is a node, and each operation that may be computed again is one.
/// A node is on the side of the sink where backward has the value, or executes
/// the operation. The edges, with what cutting them means:
///
///     source -> operation   execute it again in backward: its time
///     operand -> operation  impossible: it needs its operands
///     operation -> result   save the result: its bytes
///     source -> value       the same, where nothing computes it again
///     value -> sink         impossible: backward reads it
///
/// `resolve` says which value stands for another one.
LeastResiduals findLeastResiduals(
    ArrayRef<Value> read, CostModel &costs,
    llvm::function_ref<Value(Value)> resolve = [](Value value) {
      return value;
    });

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_RESIDUALS_LEASTRESIDUALS_H
