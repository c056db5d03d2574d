//===- FadTransformOps.h - Differentiation in schedules ---------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_TRANSFORMOPS_FADTRANSFORMOPS_H
#define FAD_TRANSFORMOPS_FADTRANSFORMOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/OpImplementation.h"

#define GET_OP_CLASSES
#include "fad/TransformOps/FadTransformOps.h.inc"

namespace mlir::fad {

/// Adds transform.fad.nest and the others to the transform dialect.
void registerTransformOps(DialectRegistry &registry);

} // namespace mlir::fad

#endif // FAD_TRANSFORMOPS_FADTRANSFORMOPS_H
