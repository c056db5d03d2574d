//===- DerivativeForm.h - Operands of derivatives ---------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_INTERFACES_DERIVATIVEFORM_H
#define FAD_INTERFACES_DERIVATIVEFORM_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/CommandLine.h"

namespace mlir::fad {

/// The values from which derivatives of elementary functions are computed, if a
/// rule has two forms.
enum class DerivativeForm {
  /// The operands: accurate everywhere.
  operands,
  /// The results, as a tape prefers.
  results,
  /// The operands and, if the results of a region suffice, these, as
  /// `fad.alternatives`. Each elementwise operation of one source gets a
  /// derivative tensor, as a candidate for a residual.
  both,
};

inline raw_ostream &operator<<(raw_ostream &os, DerivativeForm form) {
  switch (form) {
  case DerivativeForm::operands:
    return os << "operands";
  case DerivativeForm::results:
    return os << "results";
  case DerivativeForm::both:
    return os << "both";
  }
  llvm_unreachable("no such value");
}

/// The values of an option of the type `DerivativeForm`.
inline llvm::cl::ValuesClass getDerivativeFormValues() {
  return llvm::cl::values(
      clEnumValN(DerivativeForm::operands, "operands",
                 "From operands, accurate everywhere"),
      clEnumValN(DerivativeForm::results, "results",
                 "From results where a rule has that form, as a tape does"),
      clEnumValN(DerivativeForm::both, "both",
                 "Both, as alternatives, for fad-select-residuals"));
}

} // namespace mlir::fad

#endif // FAD_INTERFACES_DERIVATIVEFORM_H
