//===- Dialects.cpp - C API of the fad dialect ----------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad-c/Dialects.h"
#include "fad/IR/Fad.h"
#include "fad/Pipelines/Pipelines.h"
#include "fad/Rules/Rules.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"

using namespace mlir;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Fad, fad, fad::FadDialect)

void fadRegisterDialects(MlirDialectRegistry wrapped) {
  DialectRegistry &registry = *unwrap(wrapped);
  registry.insert<arith::ArithDialect, fad::FadDialect, func::FuncDialect,
                  linalg::LinalgDialect, math::MathDialect,
                  tensor::TensorDialect>();
  tensor::registerInferTypeOpInterfaceExternalModels(registry);
  fad::registerAllRules(registry);
  fad::registerToCPUExtensions(registry);
}
