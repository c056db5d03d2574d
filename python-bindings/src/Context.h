//===- Context.h - An MLIR context for the modules of a program -*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_PYTHON_CONTEXT_H
#define FAD_PYTHON_CONTEXT_H

#include "Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "nanobind/nanobind.h"
#include "llvm/Support/ThreadPool.h"
#include <chrono>
#include <mutex>
#include <thread>

namespace mlir::fad::python {

/// Gives up the GIL for as long as it lives.
class GilRelease {
public:
  GilRelease() : state(PyEval_SaveThread()) {}
  GilRelease(const GilRelease &) = delete;
  GilRelease &operator=(const GilRelease &) = delete;

  ~GilRelease() {
    // A daemon thread that asks for the GIL when Python has ended is unwound
    // by Python, which ends the process where a frame is not made for that.
    try {
      PyEval_RestoreThread(state);
    } catch (...) {
      while (true)
        std::this_thread::sleep_for(std::chrono::hours(1));
    }
  }

private:
  PyThreadState *state;
};

/// The context of a module and of the modules made from it. Passes run one at
/// a time in it, on the thread that asks for them: threads of its own would not
/// survive a fork.
class Context {
public:
  Context();

  MLIRContext &get() { return context; }

  /// Calls `work(context)` without the GIL and with the context to itself, and
  /// returns what it gives: LogicalResult or FailureOr. Where that is failure,
  /// throws a DiagnosticError of the errors that `work` emitted.
  template <typename Work> auto run(const Work &work) {
    Diagnostics diagnostics;
    auto result = [&] {
      GilRelease release;
      std::lock_guard<std::mutex> lock(mutex);
      ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
        diagnostics.emplace_back(diagnostic);
      });
      return work(context);
    }();
    if (failed(result))
      throw DiagnosticError{std::move(diagnostics)};
    reportDiagnostics(diagnostics);
    if constexpr (!std::is_same_v<decltype(result), LogicalResult>)
      return std::move(*result);
  }

private:
  // Multithreading stays on for the sake of types, which threads that run
  // compiled functions create.
  llvm::SingleThreadExecutor executor{llvm::hardware_concurrency(1)};
  MLIRContext context;
  std::mutex mutex;
};

} // namespace mlir::fad::python

#endif // FAD_PYTHON_CONTEXT_H
