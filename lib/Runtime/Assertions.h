//===- Assertions.h - Preconditions of operations ---------------*- C++ -*-===//
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

/// Asserts, before each operation of `module`, the preconditions without which
/// it traps or accesses memory outside of its tensors, beyond upstream's
/// runtime verification: divisors of integers are not zero, sizes are not
/// negative and do not wrap, reshapes keep the number of elements, and slices
/// and indices of loops are in bounds.
void addAssertions(ModuleOp module);

/// The same for `tensor.pad`, which `fad-normalize` rewrites to slices.
void addPaddingAssertions(ModuleOp module);

} // namespace mlir::fad

#endif // FAD_LIB_RUNTIME_ASSERTIONS_H
