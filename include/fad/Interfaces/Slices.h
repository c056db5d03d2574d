//===- Slices.h - Slices that upstream's verifier takes ---------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_INTERFACES_SLICES_H
#define FAD_INTERFACES_SLICES_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::fad {

/// `tensor.extract_slice`, of the type `type`, which may have fewer dimensions.
/// Becomes a `tensor.empty` if the result has no elements: upstream's verifier
/// rejects an offset at the end of a tensor, even for an empty result.
Value extractSlice(OpBuilder &b, Location loc, RankedTensorType type,
                   Value tensor, ArrayRef<OpFoldResult> offsets,
                   ArrayRef<OpFoldResult> sizes,
                   ArrayRef<OpFoldResult> strides);

/// `tensor.insert_slice`, or `tensor` itself if `slice` has no elements.
Value insertSlice(OpBuilder &b, Location loc, Value slice, Value tensor,
                  ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                  ArrayRef<OpFoldResult> strides);

} // namespace mlir::fad

#endif // FAD_INTERFACES_SLICES_H
