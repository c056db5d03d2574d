//===- Slope.h - Derivatives that are functions of results ------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_SLOPE_H
#define FAD_EAGER_SLOPE_H

#include "sequence/Operators.h"
#include <ATen/core/Tensor.h>

namespace fad::eager {

/// The derivative of factor * result, in one pass over memory: that of `factor`
/// is a number, and that of `result` is the slope of the operator that has
/// computed it from the source.
///
/// There is such a pass where the slope is known, the two are dense tensors of
/// f32 or f64 on the CPU, of one shape and one order of elements in memory, and
/// one thread would compute it in any case. Elsewhere, what is returned is
/// undefined.
at::Tensor deriveProductInOnePass(const at::Tensor &factor, double derivative,
                                  const at::Tensor &result, Slope slope);

/// Whether a tensor has the elements of `like`, in the same order in memory
/// without gaps.
bool isDenseLike(const at::Tensor &tensor, const at::Tensor &like);

} // namespace fad::eager

#endif // FAD_EAGER_SLOPE_H
