//===- Plan.cpp - Residuals of joint graphs in Python ---------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Joint/Plan.h"
#include "Bindings.h"
#include "Module.h"
#include "PolicyName.h"
#include "fad/Analysis/LiveBytes.h"
#include "fad/Transforms/Passes.h"
#include "fad/Transforms/Residuals/Candidates/Quantizer.h"
#include "fad/Transforms/Residuals/Selection/ResidualSelection.h"
#include "mlir/Pass/PassManager.h"
#include "nanobind/stl/pair.h"
#include "nanobind/stl/tuple.h"
#include "nanobind/stl/vector.h"

namespace nb = nanobind;
using namespace mlir;
using namespace mlir::fad;
using namespace mlir::fad::python;

/// The first function of `module` that has one block.
static FailureOr<func::FuncOp> findFirst(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function.getBody().hasOneBlock())
      return function;
  return emitError(module.getLoc()) << "there is no function of one block";
}

static std::string toText(const llvm::json::Value &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

/// The plan of the first function of `module`, in JSON.
static std::string plan(python::Module &module, const std::string &policyName,
                        const nb::kwargs &selection) {
  SelectionOptions options = getSelection(selection);
  options.policy = getPolicy(policyName);
  FadExtractCoefficientsOptions coefficients;
  std::string reassociation = "always";
  setOption(selection, "reassociate", reassociation);
  coefficients.reassociate =
      symbolizeReassociation(reassociation).value_or(Reassociation::always);
  return module.run([&](ModuleOp op) -> FailureOr<std::string> {
    OwningOpRef<ModuleOp> copy = op.clone();
    FailureOr<func::FuncOp> joint = findFirst(*copy);
    if (failed(joint))
      return failure();
    PassManager manager(op.getContext());
    manager.enableVerifier(false);
    manager.addNestedPass<func::FuncOp>(
        createFadExtractCoefficients(coefficients));
    if (failed(manager.run(*copy)))
      return failure();
    FailureOr<PeakEstimates> peaks = selectResiduals(*joint, options);
    if (failed(peaks))
      return failure();
    int64_t bytes = countKeptBytes(*joint, options.assumedSize);
    FailureOr<llvm::json::Value> described = describePlan(*joint);
    if (failed(described))
      return failure();
    // A framework that cannot have its budget wants the least that there is,
    // and says so.
    if (options.peakBudget >= 0) {
      (*described->getAsObject())["peak"] = peaks->chosen;
      (*described->getAsObject())["fastest_peak"] = peaks->front.front();
      (*described->getAsObject())["front"] = peaks->front;
    }
    if (options.peakBudget >= 0 && options.target == Target::gpu) {
      (*described->getAsObject())["time"] = peaks->time;
      (*described->getAsObject())["calls"] = peaks->calls;
      (*described->getAsObject())["fastest_time"] = peaks->fastestTime;
      (*described->getAsObject())["proposed_time"] = peaks->proposedTime;
    }
    if (options.residualBudget >= 0)
      (*described->getAsObject())["bytes"] = bytes;
    if (!peaks->decider.rule) {
      (*described->getAsObject())["candidates"] = peaks->decider.cut.candidates;
      (*described->getAsObject())["edges"] = peaks->decider.cut.edges;
    }
    return toText(*described);
  });
}

/// The operations of the first function of `module` in JSON, as a plan has
/// those that it adds.
static std::string describeFirst(python::Module &module) {
  return module.run([&](ModuleOp op) -> FailureOr<std::string> {
    FailureOr<func::FuncOp> function = findFirst(op);
    if (failed(function))
      return failure();
    FailureOr<llvm::json::Value> described = describePlan(*function);
    if (failed(described))
      return failure();
    return toText(*described);
  });
}

/// The levels of sorted numbers, as derivatives have them that are kept in few
/// bits.
static std::vector<double> getLevels(const std::vector<double> &numbers,
                                     unsigned count,
                                     const std::vector<double> &fixed) {
  if (numbers.empty())
    return fixed;
  SmallVector<double> levels = placeLevels(numbers, count, fixed);
  return {levels.begin(), levels.end()};
}

/// The most bytes at once of buffers, each with its bytes and its first and
/// last step, and the first step with as many.
static std::pair<int64_t, unsigned>
findPeak(const std::vector<std::tuple<int64_t, unsigned, unsigned>> &buffers) {
  unsigned end = 0;
  for (auto [bytes, first, last] : buffers)
    end = std::max(end, last + 1);
  LiveBytes live(end);
  for (auto [bytes, first, last] : buffers)
    live.add(bytes, first, last);
  LiveBytes::Peak peak = live.getPeak();
  return {saturate(peak.bytes), peak.step};
}

void mlir::fad::python::bindPlan(nb::module_ &module) {
  module.def("plan", plan, nb::arg("module"), nb::arg("policy"),
             nb::arg("selection"));
  module.def("describe", describeFirst, nb::arg("module"));
  module.def("place_levels", getLevels, nb::arg("numbers"), nb::arg("count"),
             nb::arg("fixed"));
  module.def("find_peak", findPeak, nb::arg("buffers"));
}
