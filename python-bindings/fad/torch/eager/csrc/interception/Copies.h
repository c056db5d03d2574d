//===- Copies.h - Copies of overwritten memory -----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_COPIES_H
#define FAD_EAGER_COPIES_H

#include <ATen/core/Tensor.h>

namespace fad::eager {

/// Has the steps that read memory of a tensor read copies, before an operator
/// writes to it. What several of them read is copied once. Leaves are not
/// copied: sharded parameters are gathered anew for backward, by writes that
/// PyTorch does not count in the end.
void copyForReaders(const at::Tensor &written);

} // namespace fad::eager

#endif // FAD_EAGER_COPIES_H
