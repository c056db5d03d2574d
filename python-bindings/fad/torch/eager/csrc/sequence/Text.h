//===- Text.h - A sequence as a text ----------------------------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_EAGER_TEXT_H
#define FAD_EAGER_TEXT_H

#include "sequence/Steps.h"

namespace fad::eager {

/// A sequence with its tensors and numbers apart.
struct SequenceText {
  /// A line for each operator, after a line break, with what it is applied to,
  /// as in
  ///
  ///   mul.Tensor %0 $0
  ///   pow.Tensor_Scalar %1 =3
  ///
  /// where %N is a tensor, in this order: sources, constants, results; $N is a
  /// number, and what follows = is itself. That of a cast, `_to_copy %0 =Half`,
  /// has the type alone. Empty, if an argument has no text.
  std::string lines;
  std::vector<Step::Constant> sources, constants;
  /// The sources' places in the graph of backward.
  std::vector<Source> places;
  std::vector<double> numbers;
  /// A number, and the type of its operator's result.
  struct Number {
    double value;
    c10::ScalarType type;
  };
  /// Those of numbers that PyTorch on the CPU rounds to the type of the tensors
  /// for the value, and not for the gradient; and those that it fails with
  /// where the type has none that large.
  std::vector<Number> halfRounded, bounds;
  /// The type of the value.
  c10::ScalarType type = c10::ScalarType::Undefined;
  /// The tensors without dimensions that some of the numbers come from.
  std::vector<Step::Constant> scalars;
  /// Whether fad has kernels for the exponents.
  bool hasKernel = true;
};

/// The text of a sequence. With `computed`, values that tensors have are
/// sources, and are put there. Of gradients, those are sources, with their
/// places, that are there already.
SequenceText describe(const StepPtr &end, Values *computed = nullptr,
                      bool isOfGradients = false);

} // namespace fad::eager

#endif // FAD_EAGER_TEXT_H
