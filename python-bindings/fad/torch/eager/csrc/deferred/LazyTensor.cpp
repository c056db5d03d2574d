//===- LazyTensor.cpp - Tensors that are computed where they are read ----===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "deferred/LazyTensor.h"
#include "deferred/Defer.h"
#include "sequence/Bits.h"
#include "sequence/Fork.h"
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty_strided.h>

namespace fad::eager {

std::atomic<int64_t> LazyTensor::live{0}, LazyTensors::count{0};

static c10::DispatchKeySet keysOf(const at::Tensor &like) {
  return c10::DispatchKeySet(c10::computeDispatchKey(
      like.scalar_type(), like.layout(), like.device()));
}

LazyTensor::LazyTensor(StepPtr step, const at::Tensor &like,
                       c10::ScalarType type)
    : TensorImpl(keysOf(like), c10::scalarTypeToTypeMeta(type), like.device()),
      step(std::move(step)), stream(getCurrentStream(like.device())),
      place(std::make_shared<LazyPlace>(this)) {
  set_sizes_and_strides(like.sizes(), like.strides());
  storage_access_should_throw_ = true;
  this->step->place = place;
  ++live;
}

bool LazyTensor::readsFrom(const at::Tensor &operand) {
  LazyTensor *lazy = lazyOf(operand);
  if (!lazy)
    return true;
  bool isComputed = false;
  lazy->place->visit([&](LazyTensor &) {
    isComputed = lazy->isComputed();
    if (!isComputed)
      operands.insert(operands.end(), lazy->operands.begin(),
                      lazy->operands.end());
  });
  // The reference may wait for Python's lock.
  if (isComputed)
    operands.push_back(operand);
  return isComputed;
}

LazyTensor::~LazyTensor() {
  disappear();
  leave();
  forget();
}

void LazyTensor::disappear() {
  std::lock_guard<std::mutex> lock(place->mutex);
  place->tensor = nullptr;
}

void LazyTensor::release_resources() {
  disappear();
  leave();
  forget();
  // The value lets go of its node while the tensor has that.
  set_backend_meta(nullptr);
  TensorImpl::release_resources();
}

void LazyTensor::leave() {
  // The last reference to a step's tensor may wait for Python's lock.
  Dropped dropped;
  {
    std::lock_guard<std::mutex> lock(place->mutex);
    dropped.open = std::move(open);
    dropped.linear = std::move(linear);
  }
  if (auto tensors = std::move(list))
    tensors->remove(*this);
}

LazyTensor::Dropped LazyTensor::forget() {
  if (step)
    --live;
  return {std::move(step), {}, {}, std::move(operands)};
}

bool LazyTensor::isOwn() const { return list == LazyTensors::ofThread(); }

torch::autograd::Edge LazyTensor::find(const StepPtr &step, at::Tensor *value) {
  torch::autograd::Edge edge;
  Dropped dropped;
  if (auto *place = static_cast<LazyPlace *>(step->place.get()))
    place->visit([&](LazyTensor &tensor) {
      auto *own = castTo<Value>(tensor.get_backend_meta());
      if (!tensor.isOwn() || !own || own->tensor != &tensor || !own->sequence ||
          !own->isCurrent())
        return;
      edge = {share<torch::autograd::Node>(own->sequence), 0};
      if (!value)
        return;
      dropped = tensor.computeVisited({});
      if (StepPtr steps = endComputed(tensor)) {
        dropped.step = std::move(steps);
        dropped.open = std::move(tensor.open);
      }
      *value = aliasOf(*Borrowed(&tensor));
    });
  return edge;
}

void LazyTensor::compute() {
  if (!isComputed())
    computeOnce();
  if (work)
    work->wait();
}

template <typename Function>
Originals LazyTensor::findOriginals(LazyPlace &place, Function isNeeded) {
  StepPtr step;
  place.visit([&](LazyTensor &tensor) {
    if (isNeeded(tensor))
      step = findRunOwn(tensor);
  });
  return Originals(step);
}

void LazyTensor::computeOnce() {
  Originals originals =
      findOriginals(*place, [](LazyTensor &) { return true; });
  Dropped dropped;
  std::lock_guard<std::mutex> lock(place->mutex);
  dropped = computeVisited(originals);
}

LazyTensor::Dropped LazyTensor::computeVisited(const Originals &originals) {
  if (isComputed())
    return {};
  OnRecordedStream there(stream);
  evaluate(*this, originals);
  Dropped dropped = forget();
  if (!openNodeOf(*this))
    dropped.open = std::move(open);
  return dropped;
}

LazyTensor::Dropped LazyTensor::computeElsewhere() {
  if (isComputed())
    return {};
  OnRecordedStream there(stream);
  evaluateElsewhere(*this);
  return forget();
}

std::string_view name(Computed computed) {
  static constexpr std::string_view names[] = {
      "at once", "operator by operator, before its kernel is compiled",
      "operator by operator, as no kernel is called", "operator by operator",
      "by a kernel"};
  return names[static_cast<size_t>(computed)];
}

namespace {
/// The tensor that has the value of a step, and the tensor's version and
/// memory, which `.data = ` replaces.
struct ComputedTensor final : ComputedValue {
  ComputedTensor(std::shared_ptr<LazyPlace> place, const at::Tensor &tensor)
      : place(std::move(place)), saved(tensor),
        version(static_cast<uint32_t>(tensor._version())),
        strides(tensor.strides().vec()) {}

  at::Tensor find() const override {
    // A mode of Python's would get a reference to the tensor.
    c10::impl::ExcludeDispatchKeyGuard outsideModes(c10::DispatchKeySet(
        {c10::DispatchKey::Python, c10::DispatchKey::PythonTLSSnapshot}));
    at::Tensor alias;
    place->visit([&](LazyTensor &lazy) {
      // An alias may have been written to, which changes no version.
      auto *own = castTo<Value>(lazy.get_backend_meta());
      if (own && own->isEscaped)
        return;
      Borrowed borrowed(&lazy);
      const at::Tensor &tensor = *borrowed;
      if (static_cast<uint32_t>(tensor._version()) == version &&
          saved.isIn(tensor.storage()) && !tensor.storage_offset() &&
          tensor.strides().equals(strides))
        alias = aliasOf(tensor);
    });
    return alias;
  }
  at::Tensor findSaved() const override { return saved.findSaved(); }
  bool isIn(const c10::Storage &other) const override {
    return saved.isIn(other);
  }

  const std::shared_ptr<LazyPlace> place;
  const SavedValue saved;
  const uint32_t version;
  const std::vector<int64_t> strides;
};
} // namespace

/// Whether the elements of a tensor lie as these strides say. That of one
/// element along a dimension makes no difference.
static bool isLaidOutAs(const at::Tensor &tensor, c10::IntArrayRef strides) {
  for (int64_t i = 0; i < tensor.dim(); ++i)
    if (tensor.size(i) != 1 && tensor.stride(i) != strides[i])
      return false;
  return true;
}

void LazyTensor::fill(const at::Tensor &value, Computed how) {
  computedHow = how;
  if (isTraced())
    trace.compute(std::string(name(how)), step->length,
                  static_cast<int64_t>(numel() * itemsize()));
  at::Tensor dense = value;
  if (!isLaidOutAs(value, strides()) || value.storage_offset() ||
      !isMaterial(value)) {
    // No version counts this write: the tensor is still what a sequence has
    // computed.
    at::AutoDispatchBelowADInplaceOrView below;
    dense = at::empty_strided(sizes(), strides(), value.options()).copy_(value);
  }
  storage_ = dense.storage();
  // A result that an operator's node has saved sees writes to this tensor.
  set_version_counter(dense.unsafeGetTensorImpl()->version_counter());
  storage_access_should_throw_ = false;
  if (stream) {
    visitInputs(step, [&](const Step::Constant &input) {
      recordUse(input.tensor, *stream);
    });
    work = LateWork::record(*stream);
  }
  computed.store(true, std::memory_order_release);
  step->setComputed(std::make_shared<ComputedTensor>(place, *Borrowed(this)));
}

const c10::Storage &LazyTensor::storage() const {
  get().compute();
  return storage_;
}

bool LazyTensor::has_storage() const {
  get().compute();
  return true;
}

c10::intrusive_ptr<c10::TensorImpl>
LazyTensor::shallow_copy_and_detach(const c10::VariableVersion &version,
                                    bool allow) const {
  get().compute();
  return TensorImpl::shallow_copy_and_detach(version, allow);
}

c10::intrusive_ptr<c10::TensorImpl>
LazyTensor::shallow_copy_and_detach(c10::VariableVersion &&version,
                                    bool allow) const {
  get().compute();
  return TensorImpl::shallow_copy_and_detach(std::move(version), allow);
}

static thread_local std::shared_ptr<LazyTensors> tensorsOfThread;
/// The places of the thread's own, while it forks. Others may fork as well.
static thread_local std::vector<std::shared_ptr<LazyPlace>> lockedPlaces;

/// Those of all threads.
struct Threads {
  /// A child has none of the other threads, and no part in their tensors.
  ProcessMutex mutex{Rank::Others, [this] { all = {tensorsOfThread}; }};
  std::vector<std::weak_ptr<LazyTensors>> all;

  Threads() { atFork(Rank::Tensors, {lockOwn, unlockOwn, {}}); }
  /// Another thread may compute one of them, because it overwrites what that
  /// reads. Values are computed before those that they are computed from.
  static void lockOwn() {
    if (!tensorsOfThread)
      return;
    lockedPlaces = tensorsOfThread->getAll();
    std::reverse(lockedPlaces.begin(), lockedPlaces.end());
    for (auto &place : lockedPlaces)
      place->mutex.lock();
    tensorsOfThread->mutex.lock();
  }
  static void unlockOwn() {
    if (!tensorsOfThread)
      return;
    tensorsOfThread->mutex.unlock();
    for (auto &place : lockedPlaces)
      place->mutex.unlock();
    lockedPlaces.clear();
  }
};

static Threads &threads() { return OfProcess<Threads>::get(); }

std::shared_ptr<LazyTensors> LazyTensors::ofThread() {
  std::shared_ptr<LazyTensors> &tensors = tensorsOfThread;
  if (tensors)
    return tensors;
  tensors = std::make_shared<LazyTensors>();
  std::lock_guard<std::mutex> lock(threads().mutex);
  auto &all = threads().all;
  all.erase(std::remove_if(all.begin(), all.end(),
                           [](auto &each) { return each.expired(); }),
            all.end());
  all.push_back(tensors);
  return tensors;
}

std::vector<std::shared_ptr<LazyTensors>> LazyTensors::ofThreads() {
  std::vector<std::shared_ptr<LazyTensors>> all;
  std::lock_guard<std::mutex> lock(threads().mutex);
  for (const auto &each : threads().all)
    if (auto tensors = each.lock())
      all.push_back(std::move(tensors));
  return all;
}

void LazyTensors::add(LazyTensor &tensor,
                      const std::shared_ptr<LazyTensors> &self) {
  std::lock_guard<std::mutex> lock(mutex);
  tensor.listed = places.insert(places.end(), tensor.place);
  ++count;
  tensor.list = self;
}

void LazyTensors::remove(LazyTensor &tensor) {
  std::lock_guard<std::mutex> lock(mutex);
  places.erase(tensor.listed);
  --count;
}

std::vector<std::shared_ptr<LazyPlace>> LazyTensors::getAll() {
  std::lock_guard<std::mutex> lock(mutex);
  return {places.begin(), places.end()};
}

std::vector<StepPtr> LazyTensors::findOpen() {
  std::vector<StepPtr> found;
  std::shared_ptr<LazyTensors> own = ofThread();
  for (const auto &tensors : ofThreads())
    for (const auto &place : tensors->getAll())
      place->visit([&](LazyTensor &lazy) {
        SequenceNode *node = tensors == own ? openNodeOf(lazy) : nullptr;
        if (const StepPtr &step = node ? node->getSteps() : lazy.open;
            step && (node || tensors != own))
          found.push_back(step);
      });
  return found;
}

void LazyTensors::computeReadersOf(const at::Tensor &tensor, bool isWritten) {
  // Sparse tensors, among others, have none that a sequence reads.
  if (!tensor.has_storage())
    return;
  std::vector<std::shared_ptr<LazyTensors>> all = ofThreads();
  auto isReader = [&](LazyTensor &lazy) {
    const StepPtr &step = lazy.getStep();
    return step && readsMemoryOf(step, tensor);
  };
  std::shared_ptr<LazyTensors> own = ofThread();
  std::vector<std::pair<std::shared_ptr<LazyPlace>, bool>> computed;
  for (const auto &tensors : all)
    for (const auto &place : tensors->getAll()) {
      bool isOwn = tensors == own;
      Originals originals =
          isOwn ? LazyTensor::findOriginals(*place, isReader) : Originals();
      LazyTensor::Dropped dropped;
      place->visit([&](LazyTensor &lazy) {
        if (isReader(lazy)) {
          dropped =
              isOwn ? lazy.computeVisited(originals) : lazy.computeElsewhere();
          if (lazy.work)
            lazy.work->wait();
        }
        if (!lazy.isComputed())
          return;
        if (isWritten && lazy.linear && readsMemoryOf(lazy.linear, tensor)) {
          lazy.overtaken = true;
          dropped.linear = std::move(lazy.linear);
        }
        if (lazy.open && lazy.open->policy == Policy::Fad)
          computed.emplace_back(place, isOwn);
      });
    }
  for (const auto &[place, isOwn] : computed) {
    std::vector<c10::Storage> before;
    place->visit([&, isOwn = isOwn](LazyTensor &lazy) {
      if (lazy.open)
        before = copyLeaves(lazy, isOwn, tensor);
    });
  }
}

void LazyTensors::computeAll() {
  for (const auto &place : getAll()) {
    Originals originals =
        LazyTensor::findOriginals(*place, [](LazyTensor &) { return true; });
    LazyTensor::Dropped dropped;
    place->visit(
        [&](LazyTensor &lazy) { dropped = lazy.computeVisited(originals); });
  }
}

LazyTensor *lazyOf(const at::Tensor &tensor) {
  return dynamic_cast<LazyTensor *>(tensor.unsafeGetTensorImpl());
}

void compute(const at::Tensor &tensor) {
  if (LazyTensor *lazy = lazyOf(tensor))
    lazy->compute();
}

} // namespace fad::eager
