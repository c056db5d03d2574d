//===- Writes.cpp - Writes to what deferred sequences read ----------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Writes.h"
#include "Keys.h"
#include "LazyTensor.h"
#include <ATen/core/stack.h>
#include <torch/library.h>

namespace fad::eager {

static void write(const c10::OperatorHandle &op, c10::DispatchKeySet keys,
                  torch::jit::Stack *stack) {
  if (LazyTensor::live) {
    auto visit = [&](const at::Tensor &tensor) {
      if (tensor.defined() && (!lazyOf(tensor) || lazyOf(tensor)->isComputed()))
        LazyTensors::computeReadersOf(tensor);
    };
    for (const c10::IValue &argument :
         torch::jit::last(*stack, op.schema().arguments().size())) {
      if (argument.isTensor())
        visit(argument.toTensor());
      else if (argument.isTensorList())
        for (const at::Tensor &tensor : argument.toTensorVector())
          visit(tensor);
    }
  }
  if (keys.has(tensorKey))
    return readBoxed(op, keys, stack);
  if (op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd))
    return op.redispatchBoxed(belowKeys(keys), stack);
  redispatch(op, keys, stack);
}

void watchWrites() {
  static torch::Library library(torch::Library::IMPL, "aten", modeKey, __FILE__, __LINE__);
  auto &dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName &name : dispatcher.getAllOpNames()) {
    auto op = dispatcher.findSchema(name);
    if (!op || name.name.rfind("aten::", 0) != 0)
      continue;
    // A tensor without a graph is what arrays of other libraries are made of.
    if (!op->schema().is_mutable() && name.name != "aten::detach")
      continue;
    std::string full = name.name + (name.overload_name.empty() ? "" : ".") + name.overload_name;
    library.impl(full.c_str(), torch::CppFunction::makeFromBoxedFunction<&write>());
  }
}

} // namespace fad::eager
