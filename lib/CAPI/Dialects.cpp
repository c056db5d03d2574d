//===- Dialects.cpp - C API of the fad dialect ----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad-c/Dialects.h"
#include "fad/IR/Fad.h"
#include "fad/Rules/Rules.h"
#include "fad/TransformOps/FadTransformOps.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

using namespace mlir;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Fad, fad, fad::FadDialect)

void fadRegisterDialects(MlirDialectRegistry wrapped) {
  DialectRegistry &registry = *unwrap(wrapped);
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<fad::FadDialect>();
  fad::registerAllRules(registry);
  fad::registerTransformOps(registry);
  // For mlirExecutionEngineCreate, and for fad-to-nvvm.
  registerAllToLLVMIRTranslations(registry);
}
