//===- CapturedScalars.h - Scalars that bodies capture ----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_UTILS_CAPTUREDSCALARS_H
#define FAD_LIB_TRANSFORMS_UTILS_CAPTUREDSCALARS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::fad {

/// Replaces `op` by an operation that takes `scalars`, which its body captures,
/// as operands, in tensors of rank 0, because rules apply to operands.
linalg::GenericOp passScalars(RewriterBase &rewriter, linalg::GenericOp op,
                              ArrayRef<Value> scalars);

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_UTILS_CAPTUREDSCALARS_H
