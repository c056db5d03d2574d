//===- RepeatedWork.h - Forward's work in backward --------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_RESIDUALS_EXPLANATION_REPEATEDWORK_H
#define FAD_TRANSFORMS_RESIDUALS_EXPLANATION_REPEATEDWORK_H

#include "fad/Analysis/SizeExpr.h"
#include "fad/Analysis/TargetTimes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::fad {

/// An operation of a backward function that computes something without a
/// cotangent.
struct RepeatedWork {
  Operation *op;
  /// The results that depend on no cotangent.
  SmallVector<Value> results;
  /// The estimated time of work that depends on no cotangent, in units of the
  /// time that moving an eighth of a byte between memory and processor takes.
  int64_t time;
};

/// The work of `backward`, the last form of a backward function, that depends
/// on no element of a cotangent, in program order: operations, and parts of the
/// bodies of elementwise ones. Operations that hold no data, such as views and
/// constants, are left out, and so are the bodies of loops and branches that
/// read a cotangent. `forward` gives sizes, and `sizeOf` those of its
/// arguments.
SmallVector<RepeatedWork> findRepeatedWork(
    func::FuncOp forward, func::FuncOp backward, Target target,
    llvm::function_ref<uint64_t(const SizeSymbols::Symbol &)> sizeOf);

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_RESIDUALS_EXPLANATION_REPEATEDWORK_H
