//===- PolicyName.h - Policies by name --------------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_PYTHON_POLICYNAME_H
#define FAD_PYTHON_POLICYNAME_H

#include "fad/IR/Fad.h"
#include "nanobind/nanobind.h"

namespace mlir::fad::python {

/// The policy called `name`. Throws `ValueError` where there is none.
inline Policy getPolicy(const std::string &name) {
  if (std::optional<Policy> policy = symbolizePolicy(name))
    return *policy;
  std::string message = "there is no policy '" + name +
                        "'; choose one of 'bp', 'recompute', 'fad', 'auto'";
  throw nanobind::value_error(message.c_str());
}

/// What backward may compute again, by name. Throws `ValueError` where there is
/// nothing of that name.
inline RecomputeLevel getRecomputeLevel(const std::string &name) {
  if (std::optional<RecomputeLevel> level = symbolizeRecomputeLevel(name))
    return *level;
  std::string message =
      "recompute is '" + name +
      "'; choose one of 'nothing', 'elementwise', 'reductions', 'all'";
  throw nanobind::value_error(message.c_str());
}

} // namespace mlir::fad::python

#endif // FAD_PYTHON_POLICYNAME_H
