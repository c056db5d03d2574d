//===- fad-translate.cpp - Translates out of MLIR -------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Common/FatalErrors.h"
#include "GPUBinary.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"

int main(int argc, char **argv) {
  mlir::fad::reportFatalErrors();
  mlir::fad::registerGPUBinaryTranslations();
  return mlir::failed(
      mlir::mlirTranslateMain(argc, argv, "fad translation driver"));
}
