//===- ReportMemory.cpp - What each policy keeps of a function ------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Pipelines/ReportMemory.h"
#include "fad/Analysis/Entry.h"
#include "fad/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::fad;

/// Selects residuals by `policy` on a copy of `module`. Null after an error.
static OwningOpRef<ModuleOp> selectResiduals(ModuleOp module, StringRef entry,
                                             Policy policy,
                                             const ReportRequest &request) {
  OwningOpRef<ModuleOp> copy = module.clone();
  NestOptions options;
  options.policy = policy;
  options.recompute = request.recompute;
  if (request.assumedSize)
    options.assumedSize = *request.assumedSize;
  // The sizes that the bytes are stated for.
  else if (request.sizes.others)
    options.assumedSize = std::clamp<uint64_t>(
        *request.sizes.others, 1, std::numeric_limits<int64_t>::max());
  options.entry = entry.str();
  for (int64_t number : request.wrt)
    options.wrt.push_back(number);
  for (int64_t number : request.results)
    options.results.push_back(number);
  PassManager pm(module.getContext());
  buildSelectPipeline(pm, options);
  if (failed(pm.run(*copy)))
    return nullptr;
  return copy;
}

FailureOr<MemoryReport> fad::reportMemory(ModuleOp module,
                                          const ReportRequest &request) {
  FailureOr<func::FuncOp> entry = findEntry(module, request.entry);
  if (failed(entry))
    return failure();
  StringRef name = entry->getSymName();
  MemoryReport report(name, request.sizes);
  SmallVector<Policy> reported;
  for (Policy policy : request.policies) {
    if (llvm::is_contained(reported, policy))
      continue;
    reported.push_back(policy);
    OwningOpRef<ModuleOp> selected =
        selectResiduals(module, name, policy, request);
    if (!selected)
      return failure();
    // fad-differentiate turned @f into @f_joint.
    auto joint = selected->lookupSymbol<func::FuncOp>((name + "_joint").str());
    if (failed(report.add(policy, joint)))
      return failure();
  }
  return report;
}
