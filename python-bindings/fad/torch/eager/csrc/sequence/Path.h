//===- Path.h - Operators that may come to begin elsewhere ------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sequence that has ended keeps its sources in place of values that eager
// PyTorch saves. Where something saves such a value after all, it is there
// anyway: the sequence begins at that, and lets go of sources. Steps stay as
// they are, as threads share them without a lock; copies take their place.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_PATH_H
#define FAD_EAGER_PATH_H

#include "sequence/Steps.h"

namespace fad::eager {

/// The steps that the node of a sequence and readers of its value run again.
class Path {
public:
  explicit Path(StepPtr end);
  StepPtr get() const;
  /// Notes that readers run them. False where they give the derivative alone,
  /// as there is a source that is not kept.
  bool noteReaders();
  bool hasReaders() const;
  /// Puts others in the place of these, unless another thread has done so, or
  /// readers run them and cannot run the others.
  void replace(const StepPtr &before, StepPtr after);

private:
  mutable std::mutex access;
  StepPtr end;
  bool isRead = false, givesValue;
};
using PathPtr = std::shared_ptr<Path>;

/// The memory of a value, as long as something has it, as a node that has saved
/// the value, and nothing has written to it.
class SavedValue final : public ComputedValue {
public:
  explicit SavedValue(const at::Tensor &value);
  at::Tensor find() const override { return {}; }
  at::Tensor findSaved() const override;
  bool isIn(const c10::Storage &other) const override {
    return other.unsafeGetStorageImpl() == memory._unsafe_get_target();
  }

private:
  // The weak reference keeps the memory's address from being another's.
  const c10::weak_intrusive_ptr<c10::StorageImpl> memory;
  const c10::VariableVersion counter;
  const uint32_t version;
  const std::vector<int64_t> sizes, strides;
  const int64_t offset;
  const at::TensorOptions options;
};

/// The steps at which a sequence is to begin, and the sources in their places.
using Starts = std::unordered_map<Step *, StepPtr>;

/// A source that has the value of a step, whose gradient the node takes; or, of
/// a cast to a wider type, which has no node here, its own source.
StepPtr makeStart(const Step &step, const at::Tensor &value, NodePtr node);
/// Adds those sources whose elements no derivative reads, as of operands of
/// sums alone, and in the place of each one without elements.
void addUnread(const StepPtr &end, Starts &starts);
/// Copies of the steps that come after some of `starts`, which take the place
/// of these.
StepPtr beginAt(const StepPtr &end, const Starts &starts);
/// Whether that lets go of any tensor.
bool letsGo(const StepPtr &end, const Starts &starts);
/// The sources of steps that have come to begin elsewhere.
std::vector<StepPtr> findStarts(const StepPtr &end);

} // namespace fad::eager

#endif // FAD_EAGER_PATH_H
