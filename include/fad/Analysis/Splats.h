//===- Splats.h - Tensors of one repeated scalar ----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_ANALYSIS_SPLATS_H
#define FAD_ANALYSIS_SPLATS_H

#include "mlir/IR/OpDefinition.h"

namespace mlir::fad {

/// Whether the scalar `value` may depend on an element of a floating-point
/// tensor that is not constant, and so may have a tangent.
bool mayHaveTangent(Value value);

/// The scalar that all elements of the tensor `tensor` equal: a constant, or a
/// value defined outside of tensors. Null if none is known. A dense splat gives
/// its attribute.
OpFoldResult getSplat(Value tensor);

} // namespace mlir::fad

#endif // FAD_ANALYSIS_SPLATS_H
