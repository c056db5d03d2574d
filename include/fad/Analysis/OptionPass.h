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
/// Stands for all options of a pass.
struct AllOptions;
} // namespace mlir::fad

namespace mlir {

/// Gives access to the options of a pass, which no member of `Pass` hands out
/// but its templates for single options.
template <> struct Pass::Option<fad::AllOptions, void> {
  static detail::PassOptions &get(Pass &pass) { return pass.passOptions; }
};

namespace fad {

/// The base of passes, on operations `OpT` or on any. The error about a wrong
/// option has the reason, which upstream's passes print to stderr instead.
template <typename OpT = void> class OptionPass : public OperationPass<OpT> {
public:
  LogicalResult initializeOptions(
      StringRef options,
      function_ref<LogicalResult(const Twine &)> errorHandler) override {
    std::string message;
    auto &all = Pass::Option<AllOptions, void>::get(*this);
    if (failed(parseOptions(all, options, message)))
      return errorHandler(message);
    return success();
  }

protected:
  using OperationPass<OpT>::OperationPass;
  OptionPass(const OptionPass &) = default;
};

} // namespace fad
} // namespace mlir

// The type of an option in Passes.td. TableGen makes two declarations of it: a
// member of a struct, and an option of the pass, whose parser is a second
// argument of a template. The headers that include the structs define the macro
// before them as the type alone.
#define FAD_OPTION(...) __VA_ARGS__, ::mlir::fad::ValueParser<__VA_ARGS__>

#endif // FAD_ANALYSIS_OPTIONPASS_H
