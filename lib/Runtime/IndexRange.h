//===- IndexRange.h - Ranges of indices of loops ----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_RUNTIME_INDEXRANGE_H
#define FAD_LIB_RUNTIME_INDEXRANGE_H

namespace mlir {
class DialectRegistry;
namespace fad {

/// Tells MLIR's analysis of integer ranges that a `linalg.index` is less than
/// the size of its loop, which upstream does not.
void registerIndexRange(DialectRegistry &registry);

} // namespace fad
} // namespace mlir

#endif // FAD_LIB_RUNTIME_INDEXRANGE_H
