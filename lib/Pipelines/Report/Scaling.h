//===- Scaling.h - Memory as a function of the batch ------------*- C++ -*-===//
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

/// The live bytes at one time: a part that is independent of the batch, and a
/// part that grows with it.
struct Moment {
  uint64_t fixed = 0, growing = 0;
};

/// The live bytes of the pair `forward` and `backward`, of fixed sizes, at each
/// operation, without arguments and cotangents. `weights` are the numbers of
/// the arguments that are weights: the weights, values that depend on nothing
/// else, and their gradients are independent of the batch. `bytesOf` gives the
/// bytes of a tensor.
std::vector<Moment> findMoments(func::FuncOp forward, func::FuncOp backward,
                                const DenseSet<unsigned> &weights,
                                llvm::function_ref<uint64_t(Value)> bytesOf);

} // namespace mlir::fad

#endif // FAD_LIB_PIPELINES_REPORT_SCALING_H
