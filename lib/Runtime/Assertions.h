//===- Assertions.h - Conditions that operations have -----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_RUNTIME_ASSERTIONS_H
#define FAD_LIB_RUNTIME_ASSERTIONS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::fad {

/// Asserts, before each operation of `module` that has one, the condition
/// without which it traps or leaves its tensors, where upstream's verification
/// at run time does not: that an integer is divided by another one than zero,
/// sizes are not negative and do not wrap, a reshaped tensor has as many
/// elements as before, and slices and indices of loops are inside of tensors.
void addAssertions(ModuleOp module);

/// The same for `tensor.pad`, of which `fad-normalize` makes slices.
void addPaddingAssertions(ModuleOp module);

} // namespace mlir::fad

#endif // FAD_LIB_RUNTIME_ASSERTIONS_H
