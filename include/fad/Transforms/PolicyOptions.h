//===- PolicyOptions.h - Options that name a policy -------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_POLICYOPTIONS_H
#define FAD_TRANSFORMS_POLICYOPTIONS_H

#include "fad/IR/Fad.h"
#include "llvm/Support/CommandLine.h"

namespace mlir::fad {

/// The values of an option of the type `Policy`.
inline llvm::cl::ValuesClass getPolicyValues() {
  return llvm::cl::values(
      clEnumValN(Policy::bp, "bp", "What a tape saves"),
      clEnumValN(Policy::recompute, "recompute", "Sources of regions"),
      clEnumValN(Policy::fad, "fad", "Derivatives of regions"),
      clEnumValN(Policy::automatic, "auto",
                 "Whatever takes the fewest bytes, then the least time"));
}

/// The values of an option of the type `RecomputeLevel`.
inline llvm::cl::ValuesClass getRecomputeLevelValues() {
  return llvm::cl::values(
      clEnumValN(RecomputeLevel::nothing, "nothing",
                 "What holds no data: constants, views, masks from a seed"),
      clEnumValN(RecomputeLevel::elementwise, "elementwise",
                 "And elementwise operations, broadcasts, slices"),
      clEnumValN(RecomputeLevel::reductions, "reductions",
                 "And reductions, and so normalizations"),
      clEnumValN(RecomputeLevel::all, "all",
                 "Everything but contractions and convolutions"));
}

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_POLICYOPTIONS_H
