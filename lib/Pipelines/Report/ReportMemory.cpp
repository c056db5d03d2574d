//===- ReportMemory.cpp - Memory reports for all policies -----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "fad/Analysis/Entry.h"
#include "fad/Pipelines/NestedPair.h"
#include "fad/Pipelines/Stages.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::fad;

static SelectionOptions getSelection(const ReportRequest &request,
                                     Policy policy) {
  SelectionOptions options = request.selection;
  if (policy != Policy::automatic) {
    options = SelectionOptions();
    options.target = request.selection.target;
    options.assumedSize = request.selection.assumedSize;
  }
  options.policy = policy;
  // The sizes that the bytes are stated for.
  if (!request.hasAssumedSize && request.sizes.others)
    options.assumedSize = std::clamp<uint64_t>(
        *request.sizes.others, 1, std::numeric_limits<int64_t>::max());
  return options;
}

static void setOptions(NestOptions &options, StringRef entry, Policy policy,
                       const ReportRequest &request) {
  options.setSelection(getSelection(request, policy));
  options.entry = entry.str();
  for (int64_t number : request.wrt)
    options.wrt.push_back(number);
  for (int64_t number : request.results)
    options.results.push_back(number);
}

/// A copy of `module`, with the residuals of `policy` selected.
static FailureOr<OwningOpRef<ModuleOp>>
selectOnCopy(ModuleOp module, StringRef entry, Policy policy,
             const ReportRequest &request) {
  NestOptions options;
  setOptions(options, entry, policy, request);
  OwningOpRef<ModuleOp> copy = module.clone();
  if (failed(createJoint(*copy, options)))
    return failure();
  return copy;
}

FailureOr<MemoryReport> fad::reportMemory(ModuleOp module,
                                          const ReportRequest &request) {
  FailureOr<func::FuncOp> entry = findEntry(module, request.entry);
  if (failed(entry))
    return failure();
  StringRef name = entry->getSymName();
  MemoryReport report(name, request.sizes);
  llvm::SetVector<Policy> policies(llvm::from_range, request.policies);
  for (Policy policy : policies) {
    FailureOr<OwningOpRef<ModuleOp>> selected =
        selectOnCopy(module, name, policy, request);
    if (failed(selected))
      return failure();
    func::FuncOp joint = findJoint(**selected, name);
    SelectionOptions options = getSelection(request, policy);
    FailureOr<PolicyReport *> added = report.add(joint, options);
    if (failed(added))
      return failure();
    FailureOr<NestedPair> pair = NestedPair::split(joint);
    if (failed(pair) ||
        failed(report.addRepeated(**added, pair->forward, pair->backward,
                                  options)) ||
        failed(addFootprint(**added, request, *pair)))
      return failure();
  }
  return report;
}

LogicalResult fad::drawResiduals(ModuleOp module, const ReportRequest &request,
                                 raw_ostream &os) {
  if (request.policies.size() != 1)
    return module.emitError("a picture is of one policy; choose it");
  FailureOr<func::FuncOp> entry = findEntry(module, request.entry);
  if (failed(entry))
    return failure();
  StringRef name = entry->getSymName();
  Policy policy = request.policies.front();
  FailureOr<OwningOpRef<ModuleOp>> selected =
      selectOnCopy(module, name, policy, request);
  if (failed(selected))
    return failure();
  FailureOr<JointFunction> joint =
      JointFunction::get(findJoint(**selected, name));
  if (failed(joint))
    return failure();
  drawJoint(*joint, getSelection(request, policy), request.sizes,
            request.summarizePicture, os);
  return success();
}

/// Those of `points` than which no other one takes less time and fewer bytes.
static SmallVector<TimeMemoryPoint>
findFront(SmallVector<TimeMemoryPoint> points) {
  llvm::sort(points, [](const TimeMemoryPoint &a, const TimeMemoryPoint &b) {
    return std::tie(a.time, a.bytes) < std::tie(b.time, b.bytes);
  });
  SmallVector<TimeMemoryPoint> front;
  for (const TimeMemoryPoint &point : points)
    if (front.empty() || point.bytes < front.back().bytes)
      front.push_back(point);
  return front;
}

FailureOr<TimeMemoryCurve> fad::measureCurve(ModuleOp module,
                                             const ReportRequest &request) {
  FailureOr<func::FuncOp> entry = findEntry(module, request.entry);
  if (failed(entry))
    return failure();
  TimeMemoryCurve curve;
  curve.entry = entry->getSymName().str();
  NestOptions options;
  setOptions(options, curve.entry, Policy::automatic, request);
  auto run = [](OpPassManager &passes, ModuleOp copy) {
    PassManager pm(copy.getContext());
    static_cast<OpPassManager &>(pm) = passes;
    return pm.run(copy);
  };
  OpPassManager preparation(ModuleOp::getOperationName());
  addImport(preparation, options);
  OwningOpRef<ModuleOp> prepared = module.clone();
  if (failed(run(preparation, *prepared)))
    return failure();

  FadDifferentiateOptions differentiate;
  differentiate.entry = curve.entry;
  differentiate.wrt = request.wrt;
  differentiate.results = request.results;
  SmallVector<TimeMemoryPoint> points;
  auto take = [&](JointCandidate candidate) {
    func::FuncOp joint = findJoint(*candidate.module, curve.entry);
    // A budget has the first joint function that is within it.
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const TimeMemoryPoint &point : points)
      least = std::min(least, point.bytes);
    for (const TimeMemoryPoint &point :
         findTimeMemoryCurve(joint, options.getSelection(), candidate.rules))
      if (point.bytes < least)
        points.push_back(point);
    if (llvm::any_of(joint.getArgumentTypes(), [](Type type) {
          auto shaped = dyn_cast<ShapedType>(type);
          return shaped && !shaped.hasStaticShape();
        }))
      curve.assumedSize = options.assumedSize;
    return true;
  };
  if (failed(forEachCandidate(*prepared, differentiate, Policy::automatic, run,
                              take)))
    return failure();
  curve.points = findFront(std::move(points));
  return curve;
}

void TimeMemoryCurve::print(raw_ostream &os) const {
  os << "Bytes that auto keeps of @" << entry
     << " against the time of keeping them and computing the rest again.\n"
     << "One unit of time is the time in which memory moves one byte.\n";
  if (assumedSize)
    os << "  sizes that are known only when the program runs count as "
       << *assumedSize << "\n";
  os << "\n"
     << llvm::right_justify("bytes", 16) << llvm::right_justify("time", 16)
     << "\n";
  for (const TimeMemoryPoint &point : points)
    os << llvm::format("%16" PRId64 "%16" PRId64 "\n", point.bytes,
                       point.time / 8);
}
