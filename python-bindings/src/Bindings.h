//===- Bindings.h - The parts of the extension module -----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_PYTHON_BINDINGS_H
#define FAD_PYTHON_BINDINGS_H

#include "nanobind/nanobind.h"

namespace mlir::fad::python {

void bindBuilder(nanobind::module_ &module);
void bindExchange(nanobind::module_ &module);
void bindExecutable(nanobind::module_ &module);
void bindKernels(nanobind::module_ &module);
void bindMemoryReport(nanobind::module_ &module);
void bindModule(nanobind::module_ &module);
void bindNest(nanobind::module_ &module);
void bindPlan(nanobind::module_ &module);
void bindSystem(nanobind::module_ &module);

} // namespace mlir::fad::python

#endif // FAD_PYTHON_BINDINGS_H
