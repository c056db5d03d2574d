//===- Passes.h - Passes on tensor programs ---------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_PASSES_H
#define FAD_TRANSFORMS_PASSES_H

#include "fad/Analysis/OptionPass.h"
#include "fad/IR/Fad.h"
#include "fad/Interfaces/DerivativeForm.h"

namespace mlir {
class ModuleOp;
class RewritePatternSet;

namespace func {
class FuncOp;
} // namespace func

namespace fad {
struct SelectionOptions;

#pragma push_macro("FAD_OPTION")
#undef FAD_OPTION
#define FAD_OPTION(...) __VA_ARGS__
#define GEN_PASS_DECL
#include "fad/Transforms/Passes.h.inc"
#pragma pop_macro("FAD_OPTION")

/// With `leavesJoint`, a function that is differentiated already, of which some
/// argument has `fad.cotangent`, stays as it is, but for its name.
std::unique_ptr<Pass>
createFadDifferentiate(const FadDifferentiateOptions &options,
                       bool leavesJoint);

/// `rules` are those of one of several candidates for a joint function: `auto`
/// compares their selections alone, residuals may exceed their budget, and
/// there are no remarks.
std::unique_ptr<Pass>
createFadSelectResiduals(const SelectionOptions &options,
                         std::optional<ArrayRef<Policy>> rules = {});

/// Adds the patterns of `fad-raise` on scalar, vector and tensor operations.
void populateRaisePatterns(RewritePatternSet &patterns);

/// Adds the pattern that rewrites elementwise named operations of linalg to
/// linalg.generic.
void populateGeneralizeElementwisePatterns(RewritePatternSet &patterns);

/// Adds the pattern that rewrites tensor.gather to linalg.generic.
void populateGatherPatterns(RewritePatternSet &patterns);

/// Adds the pattern that rewrites tensor.scatter to loops of insertions.
void populateScatterPatterns(RewritePatternSet &patterns);

/// The number of the first tile whose size is a value, if `op` is a linalg.pack
/// that has one: `fad-normalize` leaves such operations as they are.
/// `describeTile` says so, and how to proceed.
std::optional<unsigned> findDynamicTile(Operation *op);
std::string describeTile(unsigned number);

#define GEN_PASS_REGISTRATION
#include "fad/Transforms/Passes.h.inc"

} // namespace fad
} // namespace mlir

#endif // FAD_TRANSFORMS_PASSES_H
