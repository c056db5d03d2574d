//===- NestedPair.h - The functions that fad-nest makes ---------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_PIPELINES_NESTEDPAIR_H
#define FAD_PIPELINES_NESTEDPAIR_H

#include "fad/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::fad {

/// The pair of functions that `fad-nest` makes of one.
struct NestedPair {
  /// The reason why a value crosses from forward to backward.
  struct Residual {
    /// The primal operations whose adjoints read the value.
    SmallVector<std::string> neededBy;
    std::string reason;
  };

  /// Returns the results of the primal function and then the residuals.
  func::FuncOp forward;
  /// Takes the residuals and then the cotangents.
  func::FuncOp backward;
  /// In the order of forward's results and backward's arguments.
  SmallVector<Residual> residuals;

  unsigned getNumPrimalResults() {
    return forward.getNumResults() - residuals.size();
  }
  /// The result of the primal function that each cotangent belongs to.
  SmallVector<unsigned> getCotangentResults();
  /// The argument of the primal function that each gradient belongs to.
  SmallVector<unsigned> getGradientArguments();

  /// Runs `fad-nest` on `module`, whose entry becomes public. Fails with an
  /// error if the pipeline does.
  static FailureOr<NestedPair> create(ModuleOp module,
                                      const NestOptions &options);
  /// Its second part, on the function that `createJoint` returns.
  static FailureOr<NestedPair> split(func::FuncOp joint,
                                     bool reuseResiduals = false);
};

/// Runs `fad-nest` on `module` up to the joint function of the entry, with its
/// residuals selected. Fails with an error if the pipeline does.
FailureOr<func::FuncOp> createJoint(ModuleOp module,
                                    const NestOptions &options);

} // namespace mlir::fad

#endif // FAD_PIPELINES_NESTEDPAIR_H
