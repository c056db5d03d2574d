//===- NestedFunction.h - Forward and backward, compiled --------*- C++ -*-===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FAD_RUNTIME_NESTEDFUNCTION_H
#define FAD_RUNTIME_NESTEDFUNCTION_H

#include "fad/Pipelines/Pipelines.h"
#include "fad/Runtime/CompiledModule.h"

namespace mlir::fad {

/// The results of the forward function of a pair.
struct ForwardResults {
  SmallVector<HostTensor> results, residuals;
};

/// A gradient with respect to argument `argument`.
struct Gradient {
  unsigned argument;
  HostTensor value;
  /// The types to which it, and the values that it is computed from, are
  /// rounded.
  SmallVector<FloatType> roundings;
};

/// The pair of functions that `fad-nest` makes of one, compiled.
class NestedFunction {
public:
  /// Differentiates and compiles the only public function of `module`, and
  /// consumes the module. Emits an error on failure.
  static FailureOr<NestedFunction> compile(ModuleOp module,
                                           const NestOptions &options,
                                           CompileOptions target = {});

  /// The results of the original function that have cotangents, in the order
  /// of the cotangents.
  ArrayRef<unsigned> getCotangentResults() const { return cotangentResults; }

  llvm::Expected<ForwardResults> forward(ArrayRef<HostTensor> arguments,
                                         CallMemory *memory = nullptr) const;
  /// With the option `reuse-residuals`, residuals that are moved in, and that
  /// have no other owner, are overwritten and freed; others are copied before.
  llvm::Expected<SmallVector<Gradient>>
  backward(ForwardResults forward, ArrayRef<HostTensor> cotangents,
           CallMemory *memory = nullptr) const;

  /// Resets the state that calls change, such as the seed of random masks.
  void resetGlobals() const { compiled.resetGlobals(); }

private:
  explicit NestedFunction(CompiledModule compiled)
      : compiled(std::move(compiled)) {}

  CompiledModule compiled;
  std::string forwardName, backwardName;
  /// Of the results of the forward function, which precede the residuals.
  unsigned numPrimalResults = 0;
  SmallVector<unsigned> cotangentResults, gradientArguments;
  /// Of each gradient.
  SmallVector<SmallVector<FloatType>> roundings;
};

} // namespace mlir::fad

#endif // FAD_RUNTIME_NESTEDFUNCTION_H
