//===- OptionPass.td - Passes that explain wrong options ---*- tablegen -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_ANALYSIS_OPTIONPASS_TD
#define FAD_ANALYSIS_OPTIONPASS_TD

include "mlir/Pass/PassBase.td"

// A pass on `operation` whose errors about options have the reason. The type of an
// option that is no string is `FAD_OPTION(type)`; see OptionPass.h.
class FadPass<string passArg, string operation = "">
  : PassBase<passArg, "::mlir::fad::OptionPass<" # operation # ">">;

#endif // FAD_ANALYSIS_OPTIONPASS_TD
