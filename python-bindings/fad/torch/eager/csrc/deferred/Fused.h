//===- Fused.h - Sequences by one kernel -----------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function computes by a kernel what others compute operator by operator.
// Where there is no kernel yet, or never will be, the result is undefined.
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_FUSED_H
#define FAD_EAGER_FUSED_H

#include "deferred/Call.h"
#include "deferred/Program.h"

namespace fad::eager {

/// The value of a sequence. In forward, that counts as a sighting.
at::Tensor computeFused(const StepPtr &end, bool isForward = false);
/// The value and the derivative of a sequence with one source.
std::pair<at::Tensor, at::Tensor> deriveFused(const StepPtr &end);
/// The gradients of `sources` for a gradient of the value; empty without a
/// kernel.
std::vector<at::Tensor> pullFused(const StepPtr &end,
                                  const at::Tensor &gradient,
                                  c10::ArrayRef<Source> sources);
/// Whether there is a kernel of the value, or will be, that may be called.
bool hasKernel(const StepPtr &end);
/// All of this, as sequences know it.
const SequenceKernels &kernelsOfSequences();

} // namespace fad::eager

#endif // FAD_EAGER_FUSED_H
