//===- Stages.h - Stages of differentiation --------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_PIPELINES_STAGES_H
#define FAD_PIPELINES_STAGES_H

#include "fad/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::fad {

struct NestOptions;

/// From a program to one function of operations with rules.
void addImport(OpPassManager &pm, const NestOptions &options);

/// The operations in elementwise regions.
enum class RegionForm {
  /// Activations, also those of several operations.
  activations,
  /// The operations of the source program.
  tape,
  /// The operations of the source program after CSE, without regions: each has
  /// an adjoint of its own.
  none,
};

/// From an imported function to elementwise regions, ready for differentiation.
void addRegions(OpPassManager &pm, RegionForm form);

/// A copy of a module in which the entry is its joint function.
struct JointCandidate {
  OwningOpRef<ModuleOp> module;
  /// The form of its regions.
  RegionForm regions;
  /// The policies whose rule applies to this candidate.
  ArrayRef<Policy> rules;
};

/// Runs a pipeline on a module; fails with an error.
using PipelineRunner =
    llvm::function_ref<LogicalResult(OpPassManager &, ModuleOp)>;

/// Calls `take` on each joint function from which `policy` selects residuals,
/// until `take` returns false. `module`, after `addImport`, stays as it is.
/// Fails, with an error, if the first cannot be built or taken. Others that
/// cannot are left out; an optimization remark has the text of their error.
LogicalResult
forEachCandidate(ModuleOp module, const FadDifferentiateOptions &options,
                 Policy policy, PipelineRunner run,
                 llvm::function_ref<FailureOr<bool>(JointCandidate)> take);

} // namespace mlir::fad

#endif // FAD_PIPELINES_STAGES_H
