//===- Extension.cpp - The extension module fad._fad ----------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Diagnostics.h"

using namespace mlir::fad::python;

NB_MODULE(_fad, module) {
  module.doc() = "The C++ part of fad; use the package `fad`.";
  module.attr("version") = FAD_VERSION;
  // Modules that are still in use when Python ends are no mistake.
  nanobind::set_leak_warnings(false);
  registerErrorTranslator();
  bindModule(module);
  bindBuilder(module);
  bindNest(module);
  bindPlan(module);
  bindMemoryReport(module);
  bindExecutable(module);
  bindExchange(module);
  bindKernels(module);
  bindSystem(module);
}
