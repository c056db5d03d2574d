//===- Recompute.h - Readers that compute what they saved ----- -*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_RECOMPUTE_H
#define FAD_EAGER_RECOMPUTE_H

#include "sequence/SequenceNode.h"

namespace fad::eager {

/// Lets a reader's node compute the value that it has saved, or a view of it,
/// from the sources of its sequence.
void replaceSaved(torch::autograd::Node &reader, const at::Tensor &tensor,
                  Value &value);

} // namespace fad::eager

#endif // FAD_EAGER_RECOMPUTE_H
