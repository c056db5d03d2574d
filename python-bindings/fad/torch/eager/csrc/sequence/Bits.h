//===- Bits.h - Derivatives with two values ------------------- -*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_BITS_H
#define FAD_EAGER_BITS_H

#include <ATen/core/Tensor.h>

namespace fad::eager {

/// Whether a tensor's memory has its elements: that of PyTorch's tensors of
/// zeros may be none, and that of views may have the negatives.
bool isMaterial(const at::Tensor &tensor);

/// A contiguous tensor whose memory has the elements of another.
at::Tensor denseOf(const at::Tensor &tensor);

/// Whether a tensor's memory has all of its elements, and they are all there is
/// of it. That of functorch's transforms and of subclasses is another
/// tensor's, and a forward-mode tangent is one more tensor: operators of
/// PyTorch's take those along, and kernels on pointers do not.
bool isPlain(const at::Tensor &tensor);

/// One bit for each element of a dense tensor on the CPU that has at most two
/// different values, as bytes; undefined for other tensors. `values` are those
/// of the bits 0 and 1.
at::Tensor packBits(const at::Tensor &tensor, double values[2]);

/// The tensor of such bits, in the shape, strides and type of another.
at::Tensor unpackBits(const at::Tensor &bits, const double values[2],
                      const at::Tensor &like);

/// The product of a gradient and the tensor of such bits. Where the tensor is
/// zero, so is the product, as in PyTorch's own derivatives of piecewise
/// functions. The gradient may be any tensor.
at::Tensor multiplyBits(const at::Tensor &gradient, const at::Tensor &bits,
                        const double values[2]);

} // namespace fad::eager

#endif // FAD_EAGER_BITS_H
