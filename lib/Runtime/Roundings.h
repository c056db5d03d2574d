//===- Roundings.h - Types to which values are rounded ----------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_RUNTIME_ROUNDINGS_H
#define FAD_LIB_RUNTIME_ROUNDINGS_H

#include "fad/Pipelines/NestedPair.h"

namespace mlir::fad {

/// For each gradient of `pair`, the float types to which the gradient, and the
/// values it is computed from, are rounded. Arguments and cotangents are exact.
SmallVector<SmallVector<FloatType>> findRoundings(NestedPair &pair);

} // namespace mlir::fad

#endif // FAD_LIB_RUNTIME_ROUNDINGS_H
