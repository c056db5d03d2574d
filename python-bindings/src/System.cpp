//===- System.cpp - The compiler and target of generated code -------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "fad/Codegen/CUDAToolkit.h"
#include "nanobind/stl/string.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/TargetParser/Host.h"

namespace nb = nanobind;

/// The facts of `fad-opt --version`, by name.
static nb::dict describeSystem() {
  nb::dict system;
  system["llvm"] = LLVM_VERSION_STRING;
  system["triple"] = llvm::sys::getProcessTriple();
  system["processor"] = llvm::sys::getHostCPUName().str();
  nb::list features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    if (feature.getValue())
      features.append(feature.getKey().str());
  features.sort();
  system["features"] = features;
  system["cuda_toolkit"] = mlir::fad::findCUDAToolkit();
  return system;
}

void mlir::fad::python::bindSystem(nb::module_ &module) {
  module.def("system", &describeSystem);
}
