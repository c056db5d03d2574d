//===- EqualSizes.h - Tensors of equal sizes --------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_LIB_TRANSFORMS_DIFFERENTIATE_REVERSEMODE_EQUALSIZES_H
#define FAD_LIB_TRANSFORMS_DIFFERENTIATE_REVERSEMODE_EQUALSIZES_H

#include "mlir/IR/Value.h"

namespace mlir::fad {

/// Whether the tensor `value` has the sizes of the tensor `like`, of the same
/// type, because of its computation from `like`. Conservative.
bool haveEqualSizes(Value value, Value like);

} // namespace mlir::fad

#endif // FAD_LIB_TRANSFORMS_DIFFERENTIATE_REVERSEMODE_EQUALSIZES_H
