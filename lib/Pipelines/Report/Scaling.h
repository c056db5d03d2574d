//===- Scaling.h - Memory that grows with the batch -------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_PIPELINES_REPORT_SCALING_H
#define FAD_LIB_PIPELINES_REPORT_SCALING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::fad {

/// What is in memory at one time, in bytes: what is there at any batch, and
/// what there is of a batch.
struct Moment {
  uint64_t fixed = 0, growing = 0;
};

/// What the pair `forward` and `backward`, of fixed sizes, has in memory at
/// each operation, but for arguments and cotangents. `weights` are the numbers
/// of the arguments that are weights: these, what is computed from nothing
/// else, and their gradients are there at any batch. `bytesOf` tells what a
/// tensor takes.
std::vector<Moment> findMoments(func::FuncOp forward, func::FuncOp backward,
                                const DenseSet<unsigned> &weights,
                                llvm::function_ref<uint64_t(Value)> bytesOf);

} // namespace mlir::fad

#endif // FAD_LIB_PIPELINES_REPORT_SCALING_H
