//===- NestedPair.cpp - The pair of functions of fad-nest -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Pipelines/NestedPair.h"
#include "fad/Analysis/Entry.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::fad;

static SmallVector<NestedPair::Residual> getResiduals(func::FuncOp joint) {
  SmallVector<NestedPair::Residual> residuals;
  for (auto op : joint.front().getOps<ResidualOp>()) {
    NestedPair::Residual &residual = residuals.emplace_back();
    residual.reason = op.getReason().str();
    for (StringRef name : op.getNeededBy().getAsValueRange<StringAttr>())
      residual.neededBy.push_back(name.str());
  }
  return residuals;
}

FailureOr<func::FuncOp> fad::createJoint(ModuleOp module,
                                         const NestOptions &options) {
  FailureOr<func::FuncOp> entry = findEntry(module, options.entry);
  if (failed(entry))
    return failure();
  std::string name = entry->getSymName().str();
  PassManager pm(module.getContext());
  buildSelectPipeline(pm, options);
  if (failed(pm.run(module)))
    return failure();
  return findJoint(module, name);
}

FailureOr<NestedPair> NestedPair::split(func::FuncOp joint,
                                        bool reuseResiduals) {
  auto module = joint->getParentOfType<ModuleOp>();
  std::string name = getNameOfJoint(joint.getSymName()).str();
  NestedPair pair;
  pair.residuals = getResiduals(joint);
  PassManager pm(module.getContext());
  buildSplitPipeline(pm, reuseResiduals);
  if (failed(pm.run(module)))
    return failure();
  pair.forward = findForward(module, name);
  pair.backward = *findPullback(pair.forward);
  return pair;
}

FailureOr<NestedPair> NestedPair::create(ModuleOp module,
                                         const NestOptions &options) {
  FailureOr<func::FuncOp> joint = createJoint(module, options);
  if (failed(joint))
    return failure();
  return split(*joint, options.reuseResiduals);
}

static unsigned getNumber(Attribute attribute) {
  return cast<IntegerAttr>(attribute).getInt();
}

SmallVector<unsigned> NestedPair::getCotangentResults() {
  SmallVector<unsigned> numbers;
  for (unsigned i = residuals.size(), end = backward.getNumArguments(); i < end;
       ++i)
    numbers.push_back(
        getNumber(backward.getArgAttr(i, FadDialect::kCotangentAttr)));
  return numbers;
}

SmallVector<unsigned> NestedPair::getGradientArguments() {
  SmallVector<unsigned> numbers;
  for (unsigned i = 0, end = backward.getNumResults(); i < end; ++i)
    numbers.push_back(
        getNumber(backward.getResultAttr(i, FadDialect::kGradientAttr)));
  return numbers;
}
