//===- GilRelease.h - Work without Python's lock ----------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_PYTHON_GILRELEASE_H
#define FAD_PYTHON_GILRELEASE_H

#include "nanobind/nanobind.h"
#include <chrono>
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

} // namespace mlir::fad::python

#endif // FAD_PYTHON_GILRELEASE_H
