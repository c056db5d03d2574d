//===- Slope.h - Derivatives that are functions of results ------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_SLOPE_H
#define FAD_EAGER_SLOPE_H

#include "interception/Operators.h"
#include <ATen/core/Tensor.h>

namespace fad::eager {

/// term + factor * slope(result), elementwise and in one pass over memory, with
/// the roundings of PyTorch's backward function and sum. `result` is what the
/// slope's operator has computed. The sum may have the memory of `term`, if
/// that is nobody else's.
///
/// There is such a pass where the slope is known, and the three are tensors of
/// f32 or f64 on the CPU, of one shape and one order of elements in memory.
/// Elsewhere, what is returned is undefined.
at::Tensor addSlope(at::Tensor term, const at::Tensor &factor, Slope slope,
                    const at::Tensor &result);

/// Whether a tensor like another is nobody else's, so that a result may have
/// its memory.
bool isFree(const at::Tensor &tensor, const at::Tensor &like);

} // namespace fad::eager

#endif // FAD_EAGER_SLOPE_H
