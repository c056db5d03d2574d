//===- VectorVerification.h - Vectors of tensors at run time ----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CODEGEN_LINALG_VECTORVERIFICATION_H
#define FAD_LIB_CODEGEN_LINALG_VECTORVERIFICATION_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::fad {

/// Makes operations that read or write a vector of a tensor verifiable at run
/// time.
void registerVectorVerification(DialectRegistry &registry);

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_LINALG_VECTORVERIFICATION_H
