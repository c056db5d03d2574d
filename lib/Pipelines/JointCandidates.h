//===- JointCandidates.h - Joint functions for the policy auto --*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_PIPELINES_JOINTCANDIDATES_H
#define FAD_LIB_PIPELINES_JOINTCANDIDATES_H

#include "fad/Transforms/Passes.h"
#include "fad/Transforms/Residuals/SelectionOptions.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::fad {

/// A copy of a module in which the entry is its joint function.
struct JointCandidate {
  OwningOpRef<ModuleOp> module;
  /// The policies whose rule applies to this candidate.
  ArrayRef<Policy> rules;
};

/// Runs a pipeline on a module; fails with an error.
using PipelineRunner =
    llvm::function_ref<LogicalResult(OpPassManager &, ModuleOp)>;

/// Calls `take` on each joint function from which `policy` selects residuals,
/// until `take` returns false. Rules have one each. `auto` has the one with
/// derivatives in all forms, that of a tape, and that of plain reverse mode
/// without regions. `module`,
/// after `addPreparation`, stays as it is. Fails, with an error, if the first
/// cannot be built or taken. Others that cannot are left out; an optimization
/// remark has the text of their error.
LogicalResult
forEachJoint(ModuleOp module, const FadDifferentiateOptions &options,
             Policy policy, PipelineRunner run,
             llvm::function_ref<FailureOr<bool>(JointCandidate)> take);

} // namespace mlir::fad

#endif // FAD_LIB_PIPELINES_JOINTCANDIDATES_H
