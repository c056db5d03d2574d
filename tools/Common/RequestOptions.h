//===- RequestOptions.h - Options of the differentiation --------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TOOLS_COMMON_REQUESTOPTIONS_H
#define FAD_TOOLS_COMMON_REQUESTOPTIONS_H

#include "fad/Pipelines/Pipelines.h"
#include <functional>

namespace mlir::fad {

/// The options of `fad-nest` that describe the differentiation, as options of a
/// tool in `category`.
struct RequestOptions : NestOptions {
  explicit RequestOptions(llvm::cl::OptionCategory &category)
      : category(category) {
    expose({entry, wrt, results});
    expose(automatic);
  }

  using Reference = std::reference_wrapper<llvm::cl::Option>;

  /// Makes `options`, which are members, options of the tool.
  void expose(ArrayRef<Reference> options) {
    for (llvm::cl::Option &option : options) {
      option.removeArgument();
      option.Subs.clear();
      option.addSubCommand(llvm::cl::SubCommand::getTopLevel());
      option.addCategory(category);
      option.addArgument();
    }
  }

  /// The options of the policy auto.
  SmallVector<Reference, 6> automatic = {
      recompute,   derivativeBits, derivativeFromOutput,
      assumedSize, residualBudget, peakBudget};

private:
  llvm::cl::OptionCategory &category;
};

} // namespace mlir::fad

#endif // FAD_TOOLS_COMMON_REQUESTOPTIONS_H
