//===- Passes.h - Conversions out of the fad dialect ------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_CODEGEN_PASSES_H
#define FAD_CODEGEN_PASSES_H

#include "fad/Analysis/OptionPass.h"
#include "llvm/Support/CommandLine.h"

namespace mlir {
class ModuleOp;
class RewritePatternSet;

namespace gpu {
class GPUModuleOp;
} // namespace gpu

namespace fad {

/// Which contractions become calls of a library.
enum class Contractions { automatic, library, loops };

/// Writes the name that options give `contractions`.
inline raw_ostream &operator<<(raw_ostream &os, Contractions contractions) {
  switch (contractions) {
  case Contractions::automatic:
    return os << "auto";
  case Contractions::library:
    return os << "library";
  case Contractions::loops:
    return os << "loops";
  }
  llvm_unreachable("no such value");
}

inline llvm::cl::ValuesClass getContractionsValues() {
  return llvm::cl::values(
      clEnumValN(Contractions::automatic, "auto",
                 "A library's functions where they are faster"),
      clEnumValN(Contractions::library, "library", "A library's functions"),
      clEnumValN(Contractions::loops, "loops", "Loops of fad's own"));
}

#pragma push_macro("FAD_OPTION")
#undef FAD_OPTION
#define FAD_OPTION(...) __VA_ARGS__
#define GEN_PASS_DECL
#include "fad/Codegen/Passes.h.inc"
#pragma pop_macro("FAD_OPTION")

/// Adds the patterns of `fad-expand-primitives`.
void populateExpandPrimitivesPatterns(RewritePatternSet &patterns);

#define GEN_PASS_REGISTRATION
#include "fad/Codegen/Passes.h.inc"

} // namespace fad
} // namespace mlir

#endif // FAD_CODEGEN_PASSES_H
