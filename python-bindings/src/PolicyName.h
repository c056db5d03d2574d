//===- PolicyName.h - Policies by name --------------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_PYTHON_POLICYNAME_H
#define FAD_PYTHON_POLICYNAME_H

#include "fad/Transforms/Residuals/SelectionOptions.h"
#include "nanobind/nanobind.h"
#include "nanobind/stl/string.h"

namespace mlir::fad::python {

// Names are those of `fad._choices`, where Python checks them.

/// The policy called `name`.
inline Policy getPolicy(const std::string &name) {
  return symbolizePolicy(name).value();
}

/// Levels of recomputation in backward, by name.
inline RecomputeLevel getRecomputeLevel(const std::string &name) {
  return symbolizeRecomputeLevel(name).value();
}

/// The target called `name`.
inline Target getTarget(const std::string &name) {
  return name == "gpu" ? Target::gpu : Target::cpu;
}

/// The number of bytes in `text`; `name` is what the error calls it.
inline uint64_t getBytes(const std::string &name, const std::string &text) {
  if (std::optional<uint64_t> bytes = parseBytes(text))
    return *bytes;
  std::string message = name + " is '" + text + "', " + explainBytes(text);
  throw nanobind::value_error(message.c_str());
}

/// Sets `member` to the value of `name` in `options`, if that has one.
template <typename T>
void setOption(const nanobind::dict &options, const char *name, T &member) {
  if (options.contains(name))
    member = nanobind::cast<T>(options[name]);
}

/// The options that `fad._policy.check_options` returns, by name.
inline SelectionOptions getSelection(const nanobind::dict &options) {
  SelectionOptions selection;
  std::string level = "elementwise", target = "cpu";
  setOption(options, "recompute", level);
  setOption(options, "target", target);
  setOption(options, "assumed_size", selection.assumedSize);
  setOption(options, "derivative_bits", selection.derivativeBits);
  setOption(options, "derivative_from_output", selection.derivativeFromOutput);
  setOption(options, "residual_budget", selection.residualBudget);
  setOption(options, "peak_budget", selection.peakBudget);
  setOption(options, "peak_fraction", selection.peakFraction);
  setOption(options, "slowdown", selection.slowdown);
  setOption(options, "proposal", selection.proposal);
  setOption(options, "launch_time", selection.launchTime);
  selection.recompute = getRecomputeLevel(level);
  selection.target = getTarget(target);
  return selection;
}

} // namespace mlir::fad::python

#endif // FAD_PYTHON_POLICYNAME_H
