//===- TimeMemoryCurve.cpp - Bytes against time ---------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/TimeMemoryCurve.h"
#include "Alternatives.h"
#include "CostModel.h"
#include "Materialize.h"
#include "OutputForm.h"
#include "Recomputation.h"
#include "ResidualCurve.h"
#include "fad/Transforms/JointFunction.h"

using namespace mlir;
using namespace mlir::fad;

SmallVector<TimeMemoryPoint> fad::findTimeMemoryCurve(func::FuncOp original,
                                                      RecomputeLevel recompute,
                                                      int64_t assumedSize,
                                                      int64_t derivativeBits,
                                                      bool branchBits) {
  // Choosing between alternatives changes the function.
  OwningOpRef<func::FuncOp> function = original.clone();
  FailureOr<JointFunction> joint = JointFunction::get(*function);
  if (failed(joint))
    return {};
  OutputFormReasons reasons;
  if (branchBits)
    reasons = addOutputForms(*joint);
  joint = JointFunction::get(*function);
  Recomputation recomputation(*joint);
  CostModel costs(recomputation, recompute, assumedSize, derivativeBits);
  costs.setApproximations(llvm::to_vector(llvm::make_first_range(reasons)));
  chooseAlternatives(*joint, costs);
  joint = JointFunction::get(*function);
  Recomputation afterChoice(*joint);
  costs.setRecomputation(afterChoice);
  costs.setApproximations({});
  SmallVector<TimeMemoryPoint> points;
  for (const LeastResiduals &choice :
       findResidualCurve(findReadValues(*joint).getArrayRef(), costs))
    points.push_back({choice.cost.bytes, choice.cost.time});
  return points;
}
