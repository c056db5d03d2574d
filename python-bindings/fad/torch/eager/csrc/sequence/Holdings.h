//===- Holdings.h - Tensors that sequences hold for backward ----*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_HOLDINGS_H
#define FAD_EAGER_HOLDINGS_H

#include "sequence/Steps.h"
#include <string>
#include <vector>

namespace fad::eager {

/// Tensors that something holds, each with a name for reports. The name "own"
/// stands for all that a node of PyTorch's has saved: its tensor is a new one,
/// whose gradient function is that node.
struct Holdings {
  std::vector<std::string> names;
  std::vector<at::Tensor> tensors;

  void add(const char *name, const at::Tensor &tensor);
  /// The sources and constants of the operators that lead to a value.
  void add(const StepPtr &end);
};

/// Tensors of a sequence's node; nothing for nodes of others.
Holdings holdingsOf(torch::autograd::Node &node);

/// While it is on, a thread that reads what a reader's node has saved, and what
/// would be computed, gets an error, and this what it would be computed from.
struct Peek {
  bool isOn = false;
  Holdings found;
};
extern thread_local Peek peek;

} // namespace fad::eager

#endif // FAD_EAGER_HOLDINGS_H
