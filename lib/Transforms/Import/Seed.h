//===- Seed.h - The cotangent that a frontend has folded away ---*- C++ -*-===//
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

/// Gives `function`, which returns a loss and the gradients numbered
/// `gradients` of it, the cotangent of the loss as its last argument, and
/// returns its number. A frontend that differentiates a loss may start backward
/// from a constant tensor. All gradients are linear in that constant, so that
/// the constant times the cotangent in its place gives the gradients times the
/// cotangent.
///
/// Fails, with an error, where there is no single loss or no such constant.
FailureOr<unsigned> addCotangent(func::FuncOp function,
                                 ArrayRef<int64_t> gradients);

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_IMPORT_SEED_H
