//===- CommandLine.h - The options of fad-runner ----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TOOLS_FADRUNNER_COMMANDLINE_H
#define FAD_TOOLS_FADRUNNER_COMMANDLINE_H

#include "../Common/RequestOptions.h"
#include "fad/Codegen/Passes.h"

namespace mlir::fad {

/// The options of fad-runner.
struct CommandLine {
  llvm::cl::OptionCategory category{"fad-runner options"};
  llvm::cl::opt<std::string> input{
      llvm::cl::Positional, llvm::cl::desc("<input file>"), llvm::cl::init("-"),
      llvm::cl::cat(category)};
  RequestOptions request{category};
  llvm::cl::list<std::string> arguments{
      "arg",
      llvm::cl::desc(
          "Argument, in order: a .npy file, random:SEED, or a number for "
          "all its elements; default: random"),
      llvm::cl::value_desc("spec"), llvm::cl::cat(category)};
  llvm::cl::list<std::string> cotangents{
      "cotangent",
      llvm::cl::desc(
          "Cotangent of each differentiated result, in order, like --arg; "
          "default: 1"),
      llvm::cl::value_desc("spec"), llvm::cl::cat(category)};
  llvm::cl::opt<uint64_t> size{
      "size",
      llvm::cl::desc(
          "Size of every dynamic dimension that no .npy file determines"),
      llvm::cl::value_desc("N"), llvm::cl::cat(category)};
  llvm::cl::opt<std::string> out{
      "out",
      llvm::cl::desc(
          "Folder for the results, out0.npy and so on, and the gradients, "
          "grad0.npy and so on, numbered by argument"),
      llvm::cl::value_desc("dir"), llvm::cl::cat(category)};
  llvm::cl::opt<bool> checkGradients{
      "check-gradients",
      llvm::cl::desc(
          "Compare the gradients with central differences of the same "
          "function in f64; policy auto unless told otherwise"),
      llvm::cl::cat(category)};
  llvm::cl::opt<bool> statistics{"stats",
                                 llvm::cl::desc("Print times and memory"),
                                 llvm::cl::cat(category)};
  llvm::cl::opt<std::string> statisticsFile{
      "stats-json", llvm::cl::desc("File to write the statistics to, as JSON"),
      llvm::cl::value_desc("file"), llvm::cl::cat(category)};
  enum class Target { cpu, cuda };
  llvm::cl::opt<Target, false, NamedParser<Target>> target{
      "target", llvm::cl::desc("Where elementwise operations run"),
      llvm::cl::values(
          clEnumValN(Target::cpu, "cpu", "on the host"),
          clEnumValN(Target::cuda, "cuda",
                     "on the first NVIDIA GPU; all else on the host")),
      llvm::cl::init(Target::cpu), llvm::cl::cat(category)};
  llvm::cl::opt<Contractions, false, NamedParser<Contractions>> contractions{
      "contractions", llvm::cl::desc("What computes products of matrices"),
      getContractionsValues(), llvm::cl::init(Contractions::automatic),
      llvm::cl::cat(category)};

  CommandLine() {
    request.policy.setDescription(
        "Differentiate, and run forward and backward, with this policy");
    request.expose({request.policy, request.reuseResiduals});
  }
  bool wantsStatistics() const {
    return statistics || statisticsFile.getNumOccurrences();
  }
  bool isNested() const {
    return request.policy.getNumOccurrences() || checkGradients;
  }
};

} // namespace mlir::fad

#endif // FAD_TOOLS_FADRUNNER_COMMANDLINE_H
