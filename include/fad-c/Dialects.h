//===- Dialects.h - C API of the fad dialect --------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_C_DIALECTS_H
#define FAD_C_DIALECTS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Declares mlirGetDialectHandle__fad__.
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Fad, fad);

/// Registers the fad dialect, the derivative rules, transform.fad.nest and the
/// others, and the dialects, extensions and translations to LLVM's IR of
/// upstream.
MLIR_CAPI_EXPORTED void fadRegisterDialects(MlirDialectRegistry registry);

#ifdef __cplusplus
}
#endif

#endif // FAD_C_DIALECTS_H
