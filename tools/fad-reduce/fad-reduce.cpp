//===- fad-reduce.cpp - Makes an input that shows a bug smaller -----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Common/Mains.h"
#include "../Common/Tool.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

using namespace mlir;

int fad_reduce_main(int argc, char **argv) {
  fad::initTool();
  DialectRegistry registry;
  fad::registerToolDialects(registry);
  fad::registerToolPasses(registry);
  MLIRContext context(registry);
  return failed(mlirReduceMain(argc, argv, context));
}
