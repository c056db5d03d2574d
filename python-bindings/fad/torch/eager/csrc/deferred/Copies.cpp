//===- Copies.cpp - Copies of overwritten memory --------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "deferred/Copies.h"
#include "deferred/Defer.h"

namespace fad::eager {

/// Whether the memory is what it was when the sequence read it, and is going to
/// be written to.
bool Copies::isWritten(const Step::Constant &input) const {
  const at::Tensor &tensor = input.tensor;
  return tensor.defined() && tensor.has_storage() &&
         tensor.storage().is_alias_of(written.storage()) && !isModified(input);
}

void Copies::keep(Step::Constant &input,
                  const std::optional<c10::Stream> &stream) {
  auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const auto &each) {
        return each.stream == stream && isSame(each.tensor, input.tensor) &&
               each.tensor.scalar_type() == input.tensor.scalar_type();
      });
  if (found == tensors.end()) {
    OutsideModes guard;
    // Backward runs there.
    OnRecordedStream there(stream);
    tensors.push_back({input.tensor, input.tensor.clone(), stream});
    if (stream)
      LateWork::record(*stream);
    found = std::prev(tensors.end());
  }
  input = {found->copy, static_cast<uint32_t>(found->copy._version())};
}

StepPtr Copies::replace(const StepPtr &end,
                        const std::optional<c10::Stream> &stream) {
  for (Step *step : order(end)) {
    bool isChanged = isWritten(step->value);
    for (const Step::Constant &constant : step->constants)
      isChanged |= isWritten(constant);
    for (auto &[position, operand] : step->operands)
      isChanged |= steps.count(operand.get()) != 0;
    if (!isChanged || steps.count(step))
      continue;
    StepPtr made = step->copy();
    for (auto &[position, operand] : made->operands)
      if (auto found = steps.find(operand.get()); found != steps.end())
        operand = found->second;
    if (isWritten(made->value))
      keep(made->value, stream);
    for (Step::Constant &constant : made->constants) {
      if (!isWritten(constant))
        continue;
      at::Tensor before = constant.tensor;
      keep(constant, stream);
      for (c10::IValue &argument : made->arguments)
        if (argument.isTensor() && argument.toTensor().is_same(before))
          argument = constant.tensor;
    }
    steps.emplace(step, std::move(made));
  }
  auto found = steps.find(end.get());
  return found == steps.end() ? end : found->second;
}

StepPtr Copies::keepFor(LazyTensor &lazy) {
  SequenceNode *node = openNodeOf(lazy);
  if (!node || !readsMemoryOf(node->step, written))
    return {};
  StepPtr before = node->step;
  node->step = replace(before, lazy.getStream());
  return before;
}

} // namespace fad::eager
