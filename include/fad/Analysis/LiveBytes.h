//===- LiveBytes.h - Bytes in memory over a schedule ------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_ANALYSIS_LIVEBYTES_H
#define FAD_ANALYSIS_LIVEBYTES_H

#include "fad/Analysis/MinCut.h"

namespace mlir::fad {

/// The bytes in memory during each step of a schedule, given the bytes and the
/// lifetime of each buffer. The steps 0, 1, ... run one after the other.
///
/// All peaks of memory are computed here. Three models give buffers and
/// lifetimes, which differ because they are of different programs:
///
/// - `PeakMemory`: a pair of functions after their split, by the buffers that
///   bufferization assigns (`BufferPlan`); for reports and rematerialization.
/// - `PeakModel`: a joint function under any selection of residuals, before the
///   selection is made, by the fusion of the compiler that executes it; for
///   budgets.
/// - `fad.torch.compile._peak`: the graphs of PyTorch that a selection gave, by
///   their storages; for explanations.
class LiveBytes {
public:
  using Count = Cost::Count;

  explicit LiveBytes(unsigned numSteps) : changes(numSteps + 1) {}

  /// Lets `bytes` be in memory from step `first` to step `last`, both included.
  void add(Count bytes, unsigned first, unsigned last) {
    assert(first <= last && last + 1 < changes.size() && "no such steps");
    changes[first] += bytes;
    changes[last + 1] -= bytes;
  }

  /// The bytes during each step.
  llvm::SmallVector<Count> get() const;

  /// The most bytes during one step, and the first step with as many.
  struct Peak {
    Count bytes = 0;
    unsigned step = 0;
  };
  Peak getPeak() const;

private:
  /// The bytes during a step less those during the step before.
  llvm::SmallVector<Count> changes;
};

} // namespace mlir::fad

#endif // FAD_ANALYSIS_LIVEBYTES_H
