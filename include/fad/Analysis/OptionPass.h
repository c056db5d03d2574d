//===- OptionPass.h - Passes that explain wrong options ---------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_ANALYSIS_OPTIONPASS_H
#define FAD_ANALYSIS_OPTIONPASS_H

#include "fad/Analysis/OptionParsers.h"
#include "mlir/Pass/Pass.h"

namespace mlir::fad {

/// The base of passes, on operations `OpT` or on any. The error about a wrong
/// option has the reason, which upstream's passes print to stderr instead.
template <typename OpT = void> class OptionPass : public OperationPass<OpT> {
public:
  LogicalResult initializeOptions(
      StringRef options,
      function_ref<LogicalResult(const Twine &)> errorHandler) override {
    std::string message;
    llvm::raw_string_ostream os(message);
    OptionErrors errors(os);
    return OperationPass<OpT>::initializeOptions(
        options, [&](const Twine &other) {
          return message.empty() ? errorHandler(other) : errorHandler(message);
        });
  }

protected:
  using OperationPass<OpT>::OperationPass;
  OptionPass(const OptionPass &) = default;
};

} // namespace mlir::fad

// The type of an option in Passes.td. TableGen makes two declarations of it: a member of a struct, and an option of the pass, whose parser is a
// second argument of a template. The headers that include the structs define
// the macro before them as the type alone.
#define FAD_OPTION(...) __VA_ARGS__, ::mlir::fad::ValueParser<__VA_ARGS__>

#endif // FAD_ANALYSIS_OPTIONPASS_H
