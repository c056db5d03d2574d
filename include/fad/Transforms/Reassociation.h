//===- Reassociation.h - Which factors are multiplied first -----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMS_REASSOCIATION_H
#define FAD_TRANSFORMS_REASSOCIATION_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/CommandLine.h"

namespace mlir::fad {

/// Which factors of a cotangent may be multiplied with each other first, as a
/// coefficient. Rounding differs from that of a product with one factor after
/// the other.
enum class Reassociation {
  /// None. Gradients keep their bits.
  never,
  /// Those of cotangents whose type has the exponents of f32, or more. In f16,
  /// a product of factors may overflow, or become zero, where the gradient does
  /// not.
  inRange,
  /// All.
  always
};

inline raw_ostream &operator<<(raw_ostream &os, Reassociation reassociation) {
  switch (reassociation) {
  case Reassociation::never:
    return os << "never";
  case Reassociation::inRange:
    return os << "in-range";
  case Reassociation::always:
    return os << "always";
  }
  llvm_unreachable("no such value");
}

/// The values of an option of the type `Reassociation`.
inline llvm::cl::ValuesClass getReassociationValues() {
  return llvm::cl::values(
      clEnumValN(Reassociation::never, "never",
                 "Each operation is a region of its own; gradients keep their "
                 "bits"),
      clEnumValN(Reassociation::inRange, "in-range",
                 "All but factors of cotangents of f16, whose product may "
                 "overflow or become zero where the gradient does not"),
      clEnumValN(Reassociation::always, "always", "All factors of a region"));
}

} // namespace mlir::fad

#endif // FAD_TRANSFORMS_REASSOCIATION_H
