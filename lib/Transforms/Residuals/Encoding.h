//===- Encoding.h - Residuals in few bits -----------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_RESIDUALS_ENCODING_H
#define FAD_LIB_TRANSFORMS_RESIDUALS_ENCODING_H

#include "fad/IR/Fad.h"
#include <optional>

namespace mlir::fad {

/// How a tensor is kept whose elements take few values: for each element the
/// number of its value, in as few bits as that takes. What is read from it is
/// equal to what was written, bit for bit.
struct Encoding {
  /// The values, of the tensor's element type.
  SmallVector<Attribute> levels;

  /// 1, 2 or 4.
  int64_t getBits() const {
    return levels.size() <= 2 ? 1 : levels.size() <= 4 ? 2 : 4;
  }
};

/// The encoding of `tensor` where it takes few values: a tensor of i1, or a
/// result of fad.elementwise whose body yields constants only (the derivative
/// of a rectifier is 0 or 1). `nullopt` where that is not known.
std::optional<Encoding> findEncoding(Value tensor);

/// Builds the bytes that hold `tensor`, at the insertion point.
Value encode(OpBuilder &builder, Value tensor, const Encoding &encoding);

/// Builds the tensor of `type` that `bytes` hold, given its dynamic sizes.
Value decode(OpBuilder &builder, Location loc, Value bytes,
             RankedTensorType type, ValueRange sizes, const Encoding &encoding);

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_RESIDUALS_ENCODING_H
