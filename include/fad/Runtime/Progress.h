//===- Progress.h - A line on the terminal for what takes long --*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_RUNTIME_PROGRESS_H
#define FAD_RUNTIME_PROGRESS_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlir::fad {

/// Lets this process show its steps, on the last line of the terminal that the
/// standard error stream is. Elsewhere, before this is called, and in a process
/// that was forked after that, nothing is shown. `setting` is the number of
/// seconds after which a step is shown, or "off"; an empty text stands for 1.
/// Fails, with a message, for any other.
llvm::Error showProgress(StringRef setting);

/// The same, for the setting of the variable FAD_PROGRESS of the environment.
llvm::Error showProgress();

/// A step of what the process does, from construction to destruction. A step of
/// the same thread within another is shown behind it. The line is removed when
/// the last step ends, and when `exit` ends the process within a step.
class ProgressStep {
public:
  explicit ProgressStep(StringRef what, StringRef name = {});
  ~ProgressStep();
  ProgressStep(const ProgressStep &) = delete;
  ProgressStep &operator=(const ProgressStep &) = delete;

  /// Says what the step has come to.
  void update(StringRef what);

private:
  bool isCounted;
};

/// Removes the line, for other output on the terminal, for a moment.
void hideProgress();

} // namespace mlir::fad

#endif // FAD_RUNTIME_PROGRESS_H
