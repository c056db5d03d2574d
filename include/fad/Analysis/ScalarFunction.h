//===- ScalarFunction.h - Numbers for functions of one number ---*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_ANALYSIS_SCALARFUNCTION_H
#define FAD_ANALYSIS_SCALARFUNCTION_H

#include "fad/IR/Fad.h"
#include "llvm/ADT/FloatingPointMode.h"
#include <functional>
#include <optional>

namespace mlir::fad {

/// `number` rounded to `type`.
double roundTo(FloatType type, double number,
               llvm::RoundingMode mode = llvm::RoundingMode::NearestTiesToEven);

/// A tensor as an elementwise function of the first operand of a chain of
/// fad.elementwise operations with one operand each. The function is evaluated
/// in double precision, whatever the types in the bodies.
class ScalarFunction {
public:
  /// The function that computes `tensor`; `nullopt` if no such chain ends in
  /// it, or if an operation of the chain cannot be evaluated. The chain begins
  /// with `source`, if that is in it, or else as early as possible.
  static std::optional<ScalarFunction> get(Value tensor,
                                           Value source = nullptr);

  double operator()(double source) {
    return evaluate(source, /*rounds=*/false);
  }

  /// Evaluates with the result of each operation rounded to its type, as in the
  /// compiled program.
  double getRounded(double source) { return evaluate(source, /*rounds=*/true); }

  /// Whether both have the same operations.
  bool isSameAs(const ScalarFunction &other) const;

private:
  using Evaluate = std::function<double(ArrayRef<double>)>;
  struct Step {
    Evaluate evaluate;
    SmallVector<unsigned, 3> operands;
    unsigned result;
    Type type;
  };

  double evaluate(double source, bool rounds);

  bool append(ElementwiseOp op);
  bool append(Operation *op);
  /// The register of `value`, which is a new one for a constant; `nullopt` if
  /// it is unknown.
  std::optional<unsigned> getRegister(Value value);

  /// The operations, from the source on, and the result of each that is read.
  SmallVector<std::pair<ElementwiseOp, unsigned>> chain;
  llvm::DenseMap<Value, unsigned> registerOf;
  SmallVector<Step> steps;
  /// Number 0 is the source; constants keep their value.
  SmallVector<double> registers = {0.0};
  unsigned output = 0;
};

} // namespace mlir::fad

#endif // FAD_ANALYSIS_SCALARFUNCTION_H
