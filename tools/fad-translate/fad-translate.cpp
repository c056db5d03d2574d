//===- fad-translate.cpp - Translates out of MLIR -------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GPUBinaryToPTX.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"

int main(int argc, char **argv) {
  mlir::fad::registerGPUBinaryToPTX();
  return mlir::failed(
      mlir::mlirTranslateMain(argc, argv, "fad translation driver"));
}
