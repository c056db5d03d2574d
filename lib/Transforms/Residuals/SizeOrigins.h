//===- SizeOrigins.h - Origins of the sizes of tensors ----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_RESIDUALS_SIZEORIGINS_H
#define FAD_LIB_TRANSFORMS_RESIDUALS_SIZEORIGINS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::fad {

/// A size: dimension `dim` of `value` or, if `dim` is negative, the index
/// `value` itself.
using SizeKey = std::pair<Value, int64_t>;

/// The origins of sizes, as equal keys for equal sizes. Each step is cached,
/// because many sizes of a deep network have long chains of origins.
class SizeOrigins {
public:
  SizeKey find(Value tensor, int64_t dim);

private:
  llvm::DenseMap<SizeKey, SizeKey> origins;
};

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_RESIDUALS_SIZEORIGINS_H
