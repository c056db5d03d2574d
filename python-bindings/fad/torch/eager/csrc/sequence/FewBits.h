//===- FewBits.h - Derivatives in few bits ---------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_FEWBITS_H
#define FAD_EAGER_FEWBITS_H

#include "sequence/Steps.h"
#include <memory>
#include <optional>

namespace fad::eager {

/// Values of a derivative's numbers, at most 256 of them.
struct Levels {
  int bits = 0;
  /// Ascending.
  std::vector<double> levels;
  /// The midpoints of neighbors. A number is at the level whose number is how
  /// many of them are below.
  std::vector<double> boundaries;
};
using LevelsPtr = std::shared_ptr<const Levels>;
struct Value;

/// The levels of a fad tensor's derivative, where it may be approximated: where
/// it is a function of one source and of numbers alone. Null where it may not,
/// or has none.
LevelsPtr levelsOf(const at::Tensor &tensor, const Value &value);

/// The derivative of the sequence that is placed, at arguments in `float64`.
/// None where PyTorch's operators cannot evaluate it.
std::optional<at::Tensor> evaluateDerivative(const at::Tensor &arguments);

/// The numbers of levels of a tensor on the CPU, in bytes: those of eight
/// elements take as many bytes as a number has bits. Undefined where an element
/// is infinite or no number, which no level is.
at::Tensor packLevels(const at::Tensor &tensor, const Levels &levels);

/// The tensor that they stand for, in the shape and type of another.
at::Tensor unpackLevels(const at::Tensor &packed, const Levels &levels,
                        const at::Tensor &like);

/// The product of a gradient and that tensor.
at::Tensor multiplyLevels(const at::Tensor &gradient, const at::Tensor &packed,
                          const Levels &levels);

} // namespace fad::eager

#endif // FAD_EAGER_FEWBITS_H
