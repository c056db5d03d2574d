//===- Arguments.h - Tensors among the arguments of operators ---*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_ARGUMENTS_H
#define FAD_EAGER_ARGUMENTS_H

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

namespace fad::eager {

/// Calls `visit` with a tensor, or with all in a list, or in lists of lists.
template <typename Visitor>
void visitTensors(const c10::IValue &value, const Visitor &visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined())
      visit(value.toTensor());
  } else if (value.isList()) {
    for (const c10::IValue &element : value.toListRef())
      visitTensors(element, visit);
  }
}

} // namespace fad::eager

#endif // FAD_EAGER_ARGUMENTS_H
