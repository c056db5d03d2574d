//===- fad-lsp-server.cpp - Language server for MLIR files with fad -------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Common/Mains.h"
#include "../Common/Tool.h"
#include "fad/IR/Fad.h"
#include "fad/TransformOps/FadTransformOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

using namespace mlir;

int fad_lsp_server_main(int argc, char **argv) {
  fad::initTool();
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<fad::FadDialect>();
  fad::registerTransformOps(registry);
  return failed(MlirLspServerMain(argc, argv, registry));
}
