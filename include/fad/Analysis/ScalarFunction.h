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

/// What a tensor is as a function, element by element, of the tensor that a
/// chain of fad.elementwise operations with one operand each begins with. It is
/// evaluated in double precision, whatever the types in the bodies are.
class ScalarFunction {
public:
  /// The function that gives `tensor`; `nullopt` where no such chain ends in
  /// it, or where an operation of it is not known how to evaluate. The chain
  /// begins with `source`, if that is in it, or else as early as possible.
  static std::optional<ScalarFunction> get(Value tensor,
                                           Value source = nullptr);

  double operator()(double source) {
    return evaluate(source, /*rounds=*/false);
  }

  /// The same with the result of each operation rounded to its type, as the
  /// compiled program has it.
  double getRounded(double source) { return evaluate(source, /*rounds=*/true); }

  /// Whether both do the same operations.
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
  /// The register of `value`, which is a new one where it is a constant;
  /// `nullopt` where it is not known.
  std::optional<unsigned> getRegister(Value value);

  /// The operations, from the source on, and which result each is read for.
  SmallVector<std::pair<ElementwiseOp, unsigned>> chain;
  llvm::DenseMap<Value, unsigned> registerOf;
  SmallVector<Step> steps;
  /// Number 0 is the source; constants keep what they are set to.
  SmallVector<double> registers = {0.0};
  unsigned output = 0;
};

} // namespace mlir::fad

#endif // FAD_ANALYSIS_SCALARFUNCTION_H
