//===- Diagnostics.cpp - Messages of fad in Python ------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

namespace nb = nanobind;
using namespace mlir;
using namespace mlir::fad::python;

static const char *getSeverity(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  llvm_unreachable("unknown severity");
}

DiagnosticText::DiagnosticText(std::string severity, std::string message,
                               std::optional<Location> loc)
    : severity(std::move(severity)), message(std::move(message)) {
  FileLineColLoc place;
  if (loc)
    place = (*loc)->findInstanceOf<FileLineColLoc>();
  if (!place) {
    // An operation of another framework's graph.
    if (auto named = loc ? (*loc)->findInstanceOf<NameLoc>() : NameLoc())
      file = named.getName().str();
    return;
  }
  file = place.getFilename().str();
  line = place.getLine();
  column = place.getColumn();
}

DiagnosticText::DiagnosticText(const Diagnostic &diagnostic)
    : DiagnosticText(getSeverity(diagnostic.getSeverity()), diagnostic.str(),
                     diagnostic.getLocation()) {
  for (const Diagnostic &note : diagnostic.getNotes())
    notes.emplace_back(note);
}

static nb::list toList(const Diagnostics &diagnostics) {
  nb::list list;
  for (const DiagnosticText &diagnostic : diagnostics)
    list.append(diagnostic.toPython());
  return list;
}

/// Names in programs and of files need not be UTF-8.
static nb::str toStr(StringRef text) {
  PyObject *decoded =
      PyUnicode_DecodeUTF8(text.data(), text.size(), "backslashreplace");
  if (!decoded)
    throw nb::python_error();
  return nb::steal<nb::str>(decoded);
}

nb::tuple DiagnosticText::toPython() const {
  return nb::make_tuple(severity.c_str(), toStr(message), toStr(file), line,
                        column, toList(notes));
}

/// The Python side of this file.
static nb::module_ importDiagnostics() {
  return nb::module_::import_("fad._diagnostics");
}

void mlir::fad::python::reportDiagnostics(const Diagnostics &diagnostics) {
  if (!diagnostics.empty())
    importDiagnostics().attr("report")(toList(diagnostics));
}

static void translate(const std::exception_ptr &exception, void *) {
  try {
    std::rethrow_exception(exception);
  } catch (const DiagnosticError &error) {
    nb::object value =
        importDiagnostics().attr("make_error")(toList(error.diagnostics));
    PyErr_SetObject(value.type().ptr(), value.ptr());
  }
}

void mlir::fad::python::registerErrorTranslator() {
  nb::register_exception_translator(translate);
}
