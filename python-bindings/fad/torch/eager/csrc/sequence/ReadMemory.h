//===- ReadMemory.h - The memory that sequences read ------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Backward reads the sources and the constants of a sequence again. Eager
// PyTorch may have saved none of them, and a program may write to them. A write
// finds the steps that read its memory here, and gives them a copy.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_READMEMORY_H
#define FAD_EAGER_READMEMORY_H

#include "sequence/Steps.h"
#include <unordered_set>

namespace fad::eager {

/// Whether any step of the process reads memory.
bool hasReaders();
/// Notes that a new step reads the memory of its tensors, at the versions that
/// they have now, or, where it is no new one but a copy, at those that they
/// had. A source that another thread is writing to gets a copy.
void addReader(const StepPtr &step, bool isNew = true);
/// The step does not any more.
void removeReader(Step &step);
/// The steps that read memory of a tensor, in all threads.
std::vector<StepPtr> findReaders(const at::Tensor &tensor);
/// Whether a copy of an input stands for what a write to memory overwrites.
bool mayCopy(const Step::Constant &input, const at::Tensor &written);
/// Has a source or constant of a step, and all that has the same alias of its
/// tensor, read `copy`, which has its elements, at the version that it had.
/// Returns the memory that it read before, the end of which may wait for
/// Python's lock.
c10::Storage readCopy(Step &step, const Step::Constant &input,
                      const at::Tensor &copy);
/// The lock of those that make copies.
std::mutex &copying();
/// A tensor of a copy of the elements, with the same strides where the elements
/// take no more memory than they are many.
at::Tensor copyElements(const at::Tensor &tensor);

/// The memories that an operator is writing to. It notes them before it looks
/// for their readers, until it has written: a reader that another thread
/// records meanwhile may have the version before the write or that after.
class WriteUnderWay {
public:
  WriteUnderWay() = default;
  WriteUnderWay(const WriteUnderWay &) = delete;
  WriteUnderWay &operator=(const WriteUnderWay &) = delete;
  ~WriteUnderWay();
  void add(const at::Tensor &written);

private:
  std::unordered_set<const c10::StorageImpl *> memories;
};

/// Keeps operators from beginning to write. No reference to a tensor goes
/// meanwhile, which may wait for Python's lock.
class NoNewWrites {
public:
  NoNewWrites();
  /// Whether another thread is writing to any memory.
  bool isAnyWritten() const;
  /// Whether another thread is writing to that of an input, or has written
  /// since the input was recorded.
  bool isWritten(const Step::Constant &input) const;

private:
  std::lock_guard<std::mutex> lock;
};

/// The memory of a source or constant. A thread that reads it keeps it, as
/// another one may have the step read a copy meanwhile.
c10::Storage getMemory(const Step::Constant &input);

/// The current stream of a device, or none where there are no streams.
std::optional<c10::Stream> getCurrentStream(c10::Device device);

} // namespace fad::eager

#endif // FAD_EAGER_READMEMORY_H
