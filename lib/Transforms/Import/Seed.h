//===- Seed.h - Cotangents folded into constants ----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_IMPORT_SEED_H
#define FAD_LIB_TRANSFORMS_IMPORT_SEED_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::fad {

/// Appends the cotangent of the loss to the arguments of `function`, which
/// returns a loss and the gradients numbered `gradients`, and returns its
/// number. A frontend that differentiates a loss may start backward from a
/// constant tensor. All gradients are linear in that constant, so multiplying
/// it by the cotangent multiplies the gradients.
///
/// Fails, with an error, if no single loss or no such constant exists.
FailureOr<unsigned> addCotangent(func::FuncOp function,
                                 ArrayRef<int64_t> gradients);

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_IMPORT_SEED_H
