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
/// writes to it, of sources that operators have computed and, in deferred
/// sequences that no operator has ended, of all. Sharded parameters,
/// among other memory, are freed and gathered anew for backward, which is to
/// read those. Elements that several steps read are copied once.
///
/// Where the tensor is going to take other memory, by `.data = `, and takes the
/// version of this one with it, sources that operators have computed get a
/// copy.
void copyForReaders(const at::Tensor &written, bool isForgotten = false);

} // namespace fad::eager

#endif // FAD_EAGER_COPIES_H
