//===- TimeMemoryCurve.cpp - Trade-offs of bytes and time -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures the selections of the Pareto front, and the rules that keep fewer
// bytes than its end, without changing the function.
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Residuals/Selection/TimeMemoryCurve.h"
#include "Alternatives.h"
#include "Materialize.h"
#include "ParetoFront.h"
#include "Rule.h"
#include "fad/Transforms/Residuals/Candidates/Recomputation.h"
#include "fad/Transforms/Residuals/Costs/CostModel.h"
#include "fad/Transforms/Utils/JointFunction.h"

using namespace mlir;
using namespace mlir::fad;

static void addCuts(SmallVectorImpl<TimeMemoryPoint> &points,
                    func::FuncOp function, const SelectionOptions &options) {
  prepareForCut(
      function, options,
      [&](const JointFunction &joint, CostModel &costs, const auto &) {
        for (const Selection &choice :
             findParetoFront(findReadValues(joint).getArrayRef(), costs))
          points.push_back(
              {saturate(choice.cost.bytes), saturate(choice.cost.time)});
      });
}

static TimeMemoryPoint measureRule(func::FuncOp function, Policy policy,
                                   SelectionOptions options) {
  // A rule keeps derivatives exactly.
  options.derivativeBits = 0;
  prepareForRule(function, policy);
  JointFunction joint = JointFunction::getVerified(function);
  Recomputation recomputation(joint);
  CostModel costs(recomputation, options);
  Rule rule(joint, policy, recomputation);
  return {rule.getBytes(options.assumedSize), rule.getTime(costs)};
}

SmallVector<TimeMemoryPoint>
fad::findTimeMemoryCurve(func::FuncOp joint, const SelectionOptions &options,
                         ArrayRef<Policy> rules) {
  SmallVector<TimeMemoryPoint> points;
  if (failed(JointFunction::get(joint)))
    return points;
  // The choice of alternatives changes the function.
  addCuts(points, *OwningOpRef<func::FuncOp>(joint.clone()), options);
  for (Policy policy : rules) {
    if (isBeyond(policy, options.recompute))
      continue;
    OwningOpRef<func::FuncOp> copy = joint.clone();
    TimeMemoryPoint point = measureRule(*copy, policy, options);
    // In more time, a cut keeps fewer bytes.
    if (point.bytes < points.back().bytes)
      points.push_back(point);
  }
  return points;
}
