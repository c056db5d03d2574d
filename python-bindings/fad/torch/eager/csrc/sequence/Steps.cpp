//===- Steps.cpp - Operators that backward runs again ---------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sequence/ReadMemory.h"
#include "sequence/Value.h"
#include <atomic>
#include <unordered_set>

namespace fad::eager {

Step::Step() {
  // A sequence may go on in another thread.
  static std::atomic<uint64_t> next{0};
  number = next.fetch_add(1, std::memory_order_relaxed);
}

Step::~Step() = default;

void Step::release_resources() { removeReader(*this); }

void Step::setComputed(std::shared_ptr<const ComputedValue> found) {
  std::lock_guard<std::mutex> lock(access);
  computed = std::move(found);
}

at::Tensor Step::findComputed(bool isSaved) {
  std::shared_ptr<const ComputedValue> place;
  {
    std::lock_guard<std::mutex> lock(access);
    place = computed;
  }
  if (!place)
    return {};
  return isSaved ? place->findSaved() : place->find();
}

bool Step::isComputedIn(const c10::Storage &memory) {
  std::lock_guard<std::mutex> lock(access);
  return computed && computed->isIn(memory);
}

void Step::setOwn(const NodePtr &node) {
  std::lock_guard<std::mutex> lock(access);
  own.emplace(node);
}

NodePtr Step::findOwn() {
  std::lock_guard<std::mutex> lock(access);
  return own ? own->lock() : NodePtr();
}

at::Tensor aliasOf(const at::Tensor &tensor) {
  c10::TensorImpl *impl = tensor.unsafeGetTensorImpl();
  NoEscapes guard;
  return at::Tensor(
      impl->shallow_copy_and_detach(impl->version_counter(), false));
}

StepPtr recordSource(const at::Tensor &tensor, Source source, bool isDeferred) {
  auto step = c10::make_intrusive<Step>();
  step->source = source;
  step->value = {aliasOf(tensor), static_cast<uint32_t>(tensor._version())};
  step->value.isLeaf = tensor.is_leaf();
  // Sharded parameters are gathered anew for backward, which changes no
  // version.
  if (step->value.isLeaf)
    step->value.silentWrites = std::numeric_limits<uint64_t>::max();
  step->value.isIntermediate =
      !step->value.isLeaf && !(isView(tensor) && tensor._base().is_leaf());
  // A buffer may be the memory of thousands of leaves.
  if (step->value.isIntermediate || (isDeferred && !step->value.isLeaf))
    addReader(step);
  return step;
}

StepPtr record(const c10::OperatorHandle &op,
               c10::ArrayRef<c10::IValue> arguments,
               c10::ArrayRef<size_t> positions,
               c10::SmallVectorImpl<StepPtr> &operands, bool isDeferred) {
  auto step = c10::make_intrusive<Step>();
  step->op = op;
  for (size_t i = 0, next = 0; i < arguments.size(); ++i) {
    c10::IValue &argument = step->arguments.emplace_back();
    if (next < positions.size() && positions[next] == i) {
      step->length = std::max(step->length, operands[next]->length);
      step->isWide |= operands[next]->isWide;
      step->operands.emplace_back(i, std::move(operands[next++]));
      continue;
    }
    argument = arguments[i];
    if (!argument.isTensor() || !argument.toTensor().defined())
      continue;
    at::Tensor constant = argument.toTensor();
    // A number is nobody else's.
    if (constant.unsafeGetTensorImpl()->is_wrapped_number())
      continue;
    argument = aliasOf(constant);
    step->constants.push_back(
        {argument.toTensor(), static_cast<uint32_t>(constant._version())});
    step->constants.back().original.emplace(constant.getIntrusivePtr());
  }
  ++step->length;
  if (isDeferred && !step->constants.empty())
    addReader(step);
  return step;
}

static bool isFreed(const at::Tensor &tensor) {
  // Dense tensors alone are part of sequences.
  return tensor.has_storage() && tensor.is_non_overlapping_and_dense() &&
         tensor.storage().nbytes() <
             (tensor.storage_offset() + tensor.numel()) * tensor.element_size();
}

static bool isNewer(const Step::Constant &constant) {
  return static_cast<uint32_t>(constant.tensor._version()) != constant.version;
}

bool isModified(const Step::Constant &constant) {
  return isNewer(constant) || isFreed(constant.tensor) ||
         isSilentlyWritten(constant.tensor, constant.silentWrites);
}

void checkVersion(const Step::Constant &constant) {
  const at::Tensor &tensor = constant.tensor;
  TORCH_CHECK(
      !isFreed(tensor),
      "fad.torch.nest: the memory of a tensor that a sequence reads, of shape ",
      tensor.sizes(), ", has been freed; read the sequence's value before");
  TORCH_CHECK(
      !isSilentlyWritten(tensor, constant.silentWrites),
      "fad.torch.nest: a tensor from which a sequence is computed, of shape ",
      tensor.sizes(),
      ", has been modified by a batch normalization or a collective. "
      "Read a copy.");
  TORCH_CHECK(
      !isNewer(constant),
      "fad.torch.nest: a tensor from which a sequence is computed, of shape ",
      constant.tensor.sizes(),
      ", has been modified by an inplace operation: it is at "
      "version ",
      constant.tensor._version(), "; expected version ", constant.version,
      " instead. Write to a copy; inside of nest(), a source that an operator "
      "has computed is copied. With policy=\"fad\" and the engine "
      "\"interactive\", "
      "backward does not read it.");
}

std::vector<Step *> order(const StepPtr &end, Values *known,
                          bool addsComputed) {
  std::vector<Step *> all, open = {end.get()};
  std::unordered_set<Step *> seen = {end.get()};
  while (!open.empty()) {
    Step *step = open.back();
    open.pop_back();
    all.push_back(step);
    if (known && addsComputed && step->op)
      if (at::Tensor value = step->findComputed(); value.defined())
        known->emplace(step, std::move(value));
    if (known && known->count(step))
      continue;
    for (auto &[position, operand] : step->operands)
      if (seen.insert(operand.get()).second)
        open.push_back(operand.get());
  }
  std::sort(all.begin(), all.end(),
            [](Step *a, Step *b) { return a->number < b->number; });
  return all;
}

std::vector<StepPtr> findWidened(const StepPtr &end,
                                 c10::ArrayRef<Source> sources,
                                 const Values &known) {
  std::vector<StepPtr> found;
  if (!end->isWide)
    return found;
  std::vector<StepPtr> open = {end};
  std::unordered_set<Step *> seen = {end.get()};
  while (!open.empty()) {
    StepPtr step = std::move(open.back());
    open.pop_back();
    if (known.count(step.get()))
      continue;
    if (step->op && step->source.node &&
        std::find(sources.begin(), sources.end(), step->source) !=
            sources.end()) {
      found.push_back(std::move(step));
      continue;
    }
    for (auto &[position, operand] : step->operands)
      if (operand->isWide && seen.insert(operand.get()).second)
        open.push_back(operand);
  }
  return found;
}

StepPtr findStep(const StepPtr &end, uint64_t number) {
  std::vector<StepPtr> open = {end};
  std::unordered_set<Step *> seen = {end.get()};
  while (!open.empty()) {
    StepPtr step = std::move(open.back());
    open.pop_back();
    if (step->number == number)
      return step;
    // Operands were executed before.
    for (auto &[position, operand] : step->operands)
      if (operand->number >= number && seen.insert(operand.get()).second)
        open.push_back(operand);
  }
  return {};
}

} // namespace fad::eager
