//===- Contraction.h - Recognition of contractions --------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_CODEGEN_LINALG_CONTRACTION_H
#define FAD_CODEGEN_LINALG_CONTRACTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::fad {

/// The attribute of operations that become calls of a library.
inline constexpr StringLiteral kLibraryAttr = "fad.library";

/// Whether `block` yields its third argument plus the product of the others.
bool addsProduct(Block &block);

/// Whether `op`, on tensors or buffers, adds products of elements of its two
/// inputs to its only output, and every loop is a batch loop, one of rows, of
/// columns, or a reduction; there is one of each of the last three at least.
/// Loops of one iteration may also be in one operand only.
bool isContraction(linalg::LinalgOp op);

/// The type of the elements of a contraction as the library's functions have it
/// in their names: `f32` or `f64`. Empty for others.
StringRef getContractionType(linalg::LinalgOp op);

} // namespace mlir::fad

#endif // FAD_CODEGEN_LINALG_CONTRACTION_H
