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

namespace fad::eager {

/// Whether any step of the process reads memory.
bool hasReaders();
/// Notes that a new step reads the memory of its tensors.
void addReader(const StepPtr &step);
/// The step does not any more.
void removeReader(Step &step);
/// The steps that read memory of a tensor, in all threads.
std::vector<StepPtr> findReaders(const at::Tensor &tensor);
/// Has a source or constant of a step, and all that has the same alias of its
/// tensor, read `copy`, which has its elements, at the version that it had.
void readCopy(Step &step, const Step::Constant &input, const at::Tensor &copy);
/// The memory of a source or constant. A thread that reads it keeps it, as
/// another one may have the step read a copy meanwhile.
c10::Storage getMemory(const Step::Constant &input);

/// The current stream of a device, or none where there are no streams.
std::optional<c10::Stream> getCurrentStream(c10::Device device);

} // namespace fad::eager

#endif // FAD_EAGER_READMEMORY_H
