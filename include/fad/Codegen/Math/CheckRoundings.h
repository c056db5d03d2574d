//===- CheckRoundings.h - Rounding modes without instructions ---*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_CODEGEN_MATH_CHECKROUNDINGS_H
#define FAD_CODEGEN_MATH_CHECKROUNDINGS_H

#include "mlir/Support/LLVM.h"

namespace mlir::fad {

/// Emits an error for a truncation below `root` with another rounding mode than
/// to the nearest, ties to even. LLVM assumes the mode in the operation, but
/// does not set it.
LogicalResult checkRoundings(Operation *root);

} // namespace mlir::fad

#endif // FAD_CODEGEN_MATH_CHECKROUNDINGS_H
