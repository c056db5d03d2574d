//===- ReadMemory.cpp - The memory that sequences read --------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sequence/ReadMemory.h"
#include <c10/core/impl/VirtualGuardImpl.h>

namespace fad::eager {

namespace {
struct Readers {
  std::mutex mutex;
  std::unordered_map<const c10::StorageImpl *, Step::Readers> all;
};
} // namespace

static Readers &readers() {
  // Steps may go when the process ends.
  static auto *readers = new Readers();
  return *readers;
}

/// How many memories steps read, each as often as steps are.
static std::atomic<int64_t> readings{0};

bool hasReaders() { return readings.load(std::memory_order_relaxed) != 0; }

static const c10::StorageImpl *memoryOf(const at::Tensor &tensor) {
  return tensor.defined() && tensor.has_storage()
             ? tensor.storage().unsafeGetStorageImpl()
             : nullptr;
}

void addReader(const StepPtr &step) {
  auto &[mutex, all] = readers();
  std::lock_guard<std::mutex> lock(mutex);
  auto add = [&](const Step::Constant &input) {
    const c10::StorageImpl *memory = memoryOf(input.tensor);
    if (!memory)
      return;
    if (!step->stream)
      step->stream = getCurrentStream(input.tensor.device());
    Step::Readers &own = all[memory];
    step->read.emplace_back(memory, own.emplace(own.end(), step));
    ++readings;
  };
  add(step->value);
  for (const Step::Constant &constant : step->constants)
    add(constant);
}

/// With the lock.
static void
remove(Readers &readers,
       const std::pair<const c10::StorageImpl *, Step::Readers::iterator> &each,
       Step::Readers &removed) {
  auto found = readers.all.find(each.first);
  removed.splice(removed.end(), found->second, each.second);
  if (found->second.empty())
    readers.all.erase(found);
  --readings;
}

void removeReader(Step &step) {
  if (step.read.empty())
    return;
  // The last weak reference frees the step's memory: it goes after the lock.
  Step::Readers removed;
  std::lock_guard<std::mutex> lock(readers().mutex);
  for (const auto &each : step.read)
    remove(readers(), each, removed);
  step.read.clear();
}

std::vector<StepPtr> findReaders(const at::Tensor &tensor) {
  std::vector<StepPtr> found;
  const c10::StorageImpl *memory = memoryOf(tensor);
  auto &[mutex, all] = readers();
  std::lock_guard<std::mutex> lock(mutex);
  auto place = memory ? all.find(memory) : all.end();
  if (place == all.end())
    return found;
  for (const auto &each : place->second)
    if (StepPtr step = each.lock())
      found.push_back(std::move(step));
  return found;
}

void readCopy(Step &step, const Step::Constant &input, const at::Tensor &copy) {
  c10::TensorImpl *alias = input.tensor.unsafeGetTensorImpl();
  // The last owner of memory may wait for Python's lock: it goes after the
  // readers' lock.
  Step::Readers removed;
  c10::Storage before = alias->storage();
  std::lock_guard<std::mutex> lock(readers().mutex);
  const c10::StorageImpl *memory = memoryOf(input.tensor);
  auto found = std::find_if(step.read.begin(), step.read.end(),
                            [&](auto &each) { return each.first == memory; });
  if (found == step.read.end())
    return;
  remove(readers(), *found, removed);
  step.read.erase(found);
  forgetSilentWrites(copy);
  alias->set_allow_tensor_metadata_change(true);
  alias->set_sizes_and_strides(copy.sizes(), copy.strides());
  alias->set_storage_keep_dtype(copy.storage());
  alias->set_storage_offset(copy.storage_offset());
  alias->set_version_counter(c10::VariableVersion(input.version));
}

c10::Storage getMemory(const Step::Constant &input) {
  std::lock_guard<std::mutex> lock(readers().mutex);
  return input.tensor.has_storage() ? input.tensor.storage() : c10::Storage();
}

std::optional<c10::Stream> getCurrentStream(c10::Device device) {
  if (device.is_cpu() || device.is_meta() ||
      !c10::impl::hasDeviceGuardImpl(device.type()))
    return std::nullopt;
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

} // namespace fad::eager
