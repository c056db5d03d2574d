//===- RequestOptions.h - Options of the differentiation --------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TOOLS_COMMON_REQUESTOPTIONS_H
#define FAD_TOOLS_COMMON_REQUESTOPTIONS_H

#include "EscapingStream.h"
#include "fad/Pipelines/ReportMemory.h"
#include "fad/Transforms/PolicyOptions.h"

namespace mlir::fad {

/// The options of a tool that describe the differentiation, in `category`.
struct RequestOptions {
  explicit RequestOptions(llvm::cl::OptionCategory &category)
      : category(category) {}

  llvm::cl::OptionCategory &category;
  llvm::cl::opt<std::string> entry{
      "entry",
      llvm::cl::desc("Function of the file; default: the only one with "
                     "fad.request, or else the only public function with a "
                     "body"),
      llvm::cl::value_desc("name"), llvm::cl::cat(category)};
  llvm::cl::list<int64_t> wrt{
      "wrt", llvm::cl::CommaSeparated,
      llvm::cl::desc("Arguments to differentiate with respect to; default: "
                     "every floating-point tensor"),
      llvm::cl::value_desc("list"), llvm::cl::cat(category)};
  llvm::cl::list<int64_t> results{
      "results", llvm::cl::CommaSeparated,
      llvm::cl::desc("Results to differentiate, each of which has a cotangent; "
                     "default: every one of floating point"),
      llvm::cl::value_desc("list"), llvm::cl::cat(category)};
  llvm::cl::opt<RecomputeLevel> recompute{
      "recompute",
      llvm::cl::desc("What backward may compute again under the policy auto"),
      getRecomputeLevelValues(), llvm::cl::init(RecomputeLevel::elementwise),
      llvm::cl::cat(category)};
  llvm::cl::opt<int64_t> derivativeBits{
      "derivative-bits",
      llvm::cl::desc("Bits an element that the policy auto may round bounded "
                     "derivatives to, 1 to 8; 0: derivatives are exact"),
      llvm::cl::value_desc("bits"), llvm::cl::init(0), llvm::cl::cat(category)};
  llvm::cl::opt<bool> derivativeFromOutput{
      "derivative-from-output",
      llvm::cl::desc("Let the policy auto compute the derivative of an "
                     "activation with one minimum approximately, from the "
                     "result and one bit an element: the side of the minimum"),
      llvm::cl::cat(category)};
  llvm::cl::opt<int64_t> assumedSize{
      "assumed-size",
      llvm::cl::desc("What the policy auto takes for a size that is known only "
                     "when the program runs"),
      llvm::cl::value_desc("N"), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> residualBudget{
      "residual-budget",
      llvm::cl::desc("Bytes that the policy auto may keep to save time, such "
                     "as 50MB or 64KiB; default: it keeps the fewest"),
      llvm::cl::value_desc("bytes"), llvm::cl::cat(category)};

  /// For each option of the policy auto, whether it is given.
  SmallVector<std::pair<StringRef, bool>> getAutomaticOptions() const {
    return {{"--recompute", recompute.getNumOccurrences() != 0},
            {"--derivative-bits", derivativeBits.getNumOccurrences() != 0},
            {"--derivative-from-output", derivativeFromOutput},
            {"--assumed-size", assumedSize.getNumOccurrences() != 0},
            {"--residual-budget", residualBudget.getNumOccurrences() != 0}};
  }

  /// Puts these options into `options`, which has members of their names, or
  /// prints an error.
  template <typename Options>
  LogicalResult setOptions(Options &options) const {
    options.entry = entry.getValue();
    for (int64_t index : wrt)
      options.wrt.push_back(index);
    for (int64_t index : results)
      options.results.push_back(index);
    options.recompute = recompute.getValue();
    options.derivativeBits = derivativeBits.getValue();
    options.derivativeFromOutput = derivativeFromOutput.getValue();
    if (assumedSize.getNumOccurrences())
      options.assumedSize = assumedSize.getValue();
    if (!residualBudget.getNumOccurrences())
      return success();
    std::optional<uint64_t> budget = parseBytes(residualBudget);
    if (!budget)
      return printError("--residual-budget is '" + residualBudget +
                        "'; give a number of bytes, such as 50MB or 64KiB");
    options.residualBudget = static_cast<int64_t>(*budget);
    return success();
  }
};

} // namespace mlir::fad

#endif // FAD_TOOLS_COMMON_REQUESTOPTIONS_H
