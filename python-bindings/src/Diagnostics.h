//===- Diagnostics.h - Messages of fad in Python ----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_PYTHON_DIAGNOSTICS_H
#define FAD_PYTHON_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "nanobind/nanobind.h"
#include <string>
#include <vector>

namespace mlir::fad::python {

/// A copy of a diagnostic that outlives the context it is from.
struct DiagnosticText {
  explicit DiagnosticText(const Diagnostic &diagnostic);
  DiagnosticText(std::string severity, std::string message,
                 std::optional<Location> loc = std::nullopt);

  /// The arguments of `fad._diagnostics.make_diagnostic`.
  nanobind::tuple toPython() const;

  std::string severity, message;
  /// Without a file, the location is unknown.
  std::string file;
  unsigned line = 0, column = 0;
  std::vector<DiagnosticText> notes;
};

using Diagnostics = std::vector<DiagnosticText>;

/// The exception that becomes `fad.Error`.
struct DiagnosticError {
  Diagnostics diagnostics;
};

/// Hands diagnostics of a call that succeeded to Python's warnings and logs.
void reportDiagnostics(const Diagnostics &diagnostics);

/// Makes a DiagnosticError that leaves a bound function a `fad.Error`.
void registerErrorTranslator();

} // namespace mlir::fad::python

#endif // FAD_PYTHON_DIAGNOSTICS_H
