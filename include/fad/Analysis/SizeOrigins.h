//===- SizeOrigins.h - Origins of the sizes of tensors ----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_ANALYSIS_SIZEORIGINS_H
#define FAD_ANALYSIS_SIZEORIGINS_H

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::fad {

/// A size: dimension `dim` of the tensor `value`; the index `value`, if `dim`
/// is `kIndex`; the number `dim`, if `value` is null.
using Size = std::pair<Value, int64_t>;
constexpr int64_t kIndex = -1;

/// `index` as a size: a number if it is constant, a dimension if it is the
/// result of `tensor.dim`.
Size asSize(OpFoldResult index);

/// Calls `use` with the size of a dimension of a result as its operation
/// computes it, by `ReifyRankedShapedTypeOpInterface`. The operations for it
/// are in no function, and exist during the call only. Without an answer, `use`
/// is not called.
void visitReified(Size size, llvm::function_ref<void(OpFoldResult)> use);

/// Where sizes come from. Each step is cached, because many sizes of a deep
/// network have long chains of origins.
class SizeOrigins {
public:
  /// The first size, by way of the operations that compute `size`, that is not
  /// merely another one: a number, an index, or a dimension of a block argument
  /// or of a tensor whose operation computes the size. Sizes with one origin
  /// are equal.
  Size find(Size size);

  /// Clears the cache, whose keys are addresses of values. Required between the
  /// erasure of values and further queries.
  void clear() { origins.clear(); }

private:
  llvm::DenseMap<Size, Size> origins;
};

/// Whether two sizes are equal by the way that they are computed. May be false
/// if they are equal.
bool areEqual(Size size, Size other);

} // namespace mlir::fad

#endif // FAD_ANALYSIS_SIZEORIGINS_H
