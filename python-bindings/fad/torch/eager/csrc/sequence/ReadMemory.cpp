//===- ReadMemory.cpp - The memory that sequences read --------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sequence/ReadMemory.h"
#include "sequence/Fork.h"
#include <ATen/ops/as_strided.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <thread>

namespace fad::eager {

namespace {
struct Readers {
  /// A child has none of the threads that were writing.
  ProcessMutex mutex{Rank::Readers, [this] { written.clear(); }};
  std::unordered_map<const c10::StorageImpl *, Step::Readers> all;
  /// The memories that operators are writing to, with their threads.
  std::unordered_multimap<const c10::StorageImpl *, std::thread::id> written;

  /// With the lock: whether another thread is writing to a memory.
  bool isWritten(const c10::StorageImpl *memory) const {
    auto [begin, end] = written.equal_range(memory);
    return std::any_of(begin, end, [&](const auto &each) {
      return each.second != std::this_thread::get_id();
    });
  }
};
} // namespace

static Readers &readers() { return OfProcess<Readers>::get(); }

/// How many memories steps read, each as often as steps are.
static std::atomic<int64_t> readings{0};

bool hasReaders() { return readings.load(std::memory_order_relaxed) != 0; }

static const c10::StorageImpl *memoryOf(const at::Tensor &tensor) {
  return tensor.defined() && tensor.has_storage()
             ? tensor.storage().unsafeGetStorageImpl()
             : nullptr;
}

/// Whether all elements of a tensor are those of its memory, and not negated.
static bool canCopy(const at::Tensor &tensor);

void addReader(const StepPtr &step, bool isNew) {
  bool isWritten = false;
  auto add = [&](Step::Constant &input) {
    const c10::StorageImpl *memory = memoryOf(input.tensor);
    if (!memory)
      return;
    if (!step->stream)
      step->stream = getCurrentStream(input.tensor.device());
    isWritten |= readers().isWritten(memory);
    if (isNew)
      input.version = static_cast<uint32_t>(input.tensor._version());
    Step::Readers &own = readers().all[memory];
    step->read.emplace_back(memory, own.emplace(own.end(), step));
    ++readings;
  };
  {
    std::lock_guard<std::mutex> lock(readers().mutex);
    add(step->value);
    for (Step::Constant &constant : step->constants)
      add(constant);
  }
  if (isWritten && step->value.isIntermediate && canCopy(step->value.tensor)) {
    OutsideModes outsideModes;
    OutsideTransforms outsideTransforms;
    c10::Storage before;
    std::lock_guard<std::mutex> lock(copying());
    before = readCopy(*step, step->value, copyElements(step->value.tensor));
  }
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
  std::lock_guard<std::mutex> lock(readers().mutex);
  const auto &all = readers().all;
  auto place = memory ? all.find(memory) : all.end();
  if (place == all.end())
    return found;
  for (const auto &each : place->second)
    if (StepPtr step = each.lock())
      found.push_back(std::move(step));
  return found;
}

namespace {
struct Copying {
  ProcessMutex mutex{Rank::Copying};
};
} // namespace

std::mutex &copying() { return OfProcess<Copying>::get().mutex; }

c10::Storage readCopy(Step &step, const Step::Constant &input,
                      const at::Tensor &copy) {
  c10::TensorImpl *alias = input.tensor.unsafeGetTensorImpl();
  Step::Readers removed;
  c10::Storage before = alias->storage();
  std::lock_guard<std::mutex> lock(readers().mutex);
  const c10::StorageImpl *memory = memoryOf(input.tensor);
  auto found = std::find_if(step.read.begin(), step.read.end(),
                            [&](auto &each) { return each.first == memory; });
  // A write looks for no leaf.
  if (found == step.read.end() && !input.isLeaf)
    return before;
  if (found != step.read.end()) {
    remove(readers(), *found, removed);
    step.read.erase(found);
  }
  forgetSilentWrites(copy);
  alias->set_allow_tensor_metadata_change(true);
  // A thread that goes backward meanwhile, without the lock that it needs, may
  // read other elements, but none beyond the memory.
  alias->set_sizes_and_strides(copy.sizes(), copy.strides());
  alias->set_storage_offset(copy.storage_offset());
  alias->set_storage_keep_dtype(copy.storage());
  alias->set_version_counter(c10::VariableVersion(input.version));
  return before;
}

/// How many elements of memory a tensor spans.
static int64_t countSpan(const at::Tensor &tensor) {
  int64_t span = 1;
  for (int64_t i = 0; i < tensor.dim(); ++i)
    span += (tensor.size(i) - 1) * tensor.stride(i);
  return tensor.numel() ? span : 0;
}

static bool canCopy(const at::Tensor &tensor) {
  auto end = static_cast<size_t>(tensor.storage_offset() + countSpan(tensor));
  return end * tensor.itemsize() <= tensor.storage().nbytes() &&
         !tensor.is_neg() && !tensor.is_conj();
}

bool mayCopy(const Step::Constant &input, const at::Tensor &written) {
  const at::Tensor &tensor = input.tensor;
  return tensor.defined() && tensor.has_storage() &&
         tensor.storage().is_alias_of(written.storage()) &&
         !isModified(input) && canCopy(tensor);
}

at::Tensor copyElements(const at::Tensor &tensor) {
  int64_t span = countSpan(tensor);
  if (!span || span > tensor.numel())
    return tensor.clone();
  return tensor.as_strided({span}, {1})
      .clone()
      .as_strided(tensor.sizes(), tensor.strides(), 0);
}

void WriteUnderWay::add(const at::Tensor &written) {
  const c10::StorageImpl *memory = memoryOf(written);
  if (!memory)
    return;
  if (!memories.insert(memory).second)
    return;
  std::lock_guard<std::mutex> lock(readers().mutex);
  readers().written.emplace(memory, std::this_thread::get_id());
}

WriteUnderWay::~WriteUnderWay() {
  if (memories.empty())
    return;
  std::lock_guard<std::mutex> lock(readers().mutex);
  auto &written = readers().written;
  for (const c10::StorageImpl *memory : memories) {
    auto [begin, end] = written.equal_range(memory);
    auto found = std::find_if(begin, end, [](const auto &each) {
      return each.second == std::this_thread::get_id();
    });
    if (found != end)
      written.erase(found);
  }
}

NoNewWrites::NoNewWrites() : lock(readers().mutex) {}

bool NoNewWrites::isAnyWritten() const {
  const auto &written = readers().written;
  return std::any_of(written.begin(), written.end(), [](const auto &each) {
    return each.second != std::this_thread::get_id();
  });
}

bool NoNewWrites::isWritten(const Step::Constant &input) const {
  return input.tensor.defined() &&
         (readers().isWritten(memoryOf(input.tensor)) ||
          static_cast<uint32_t>(input.tensor._version()) != input.version);
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
