//===- ConvolveInterface.h - Bufferization of fad.convolve ------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_CODEGEN_LINALG_CONVOLVEINTERFACE_H
#define FAD_LIB_CODEGEN_LINALG_CONVOLVEINTERFACE_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::fad {

/// Makes `fad.convolve` known to bufferization, and to the verification of
/// sizes at run time.
void registerConvolveInterfaces(DialectRegistry &registry);

} // namespace mlir::fad

#endif // FAD_LIB_CODEGEN_LINALG_CONVOLVEINTERFACE_H
