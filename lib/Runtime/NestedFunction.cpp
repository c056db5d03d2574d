//===- NestedFunction.cpp - A forward and a backward function, compiled ---===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Runtime/NestedFunction.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::fad;

/// The number in the attribute `name`, which says what a cotangent or gradient
/// belongs to.
static unsigned getNumber(Attribute attribute) {
  return cast<IntegerAttr>(attribute).getInt();
}

/// The backward function that `fad-nest` left in `module`: the one that takes
/// cotangents.
static func::FuncOp findBackward(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned i = 0, end = function.getNumArguments(); i < end; ++i)
      if (function.getArgAttr(i, FadDialect::kCotangentAttr))
        return function;
  return nullptr;
}

FailureOr<NestedFunction> NestedFunction::compile(ModuleOp module,
                                                  const NestOptions &options) {
  PassManager pm(module.getContext());
  buildNestPipeline(pm, options);
  if (failed(pm.run(module)))
    return failure();

  func::FuncOp backward = findBackward(module);
  StringRef base = backward.getSymName();
  base.consume_back("_backward");
  std::string forwardName = (base + "_forward").str();
  auto forward = module.lookupSymbol<func::FuncOp>(forwardName);
  SmallVector<bool> isResidual;
  for (unsigned i = 0, end = forward.getNumResults(); i < end; ++i)
    isResidual.push_back(
        bool(forward.getResultAttr(i, FadDialect::kResidualAttr)));
  SmallVector<unsigned> cotangentResults, gradientArguments;
  for (unsigned i = 0, end = backward.getNumArguments(); i < end; ++i)
    if (Attribute result = backward.getArgAttr(i, FadDialect::kCotangentAttr))
      cotangentResults.push_back(getNumber(result));
  for (unsigned i = 0, end = backward.getNumResults(); i < end; ++i)
    if (Attribute argument =
            backward.getResultAttr(i, FadDialect::kGradientAttr))
      gradientArguments.push_back(getNumber(argument));
  std::string backwardName = backward.getSymName().str();

  FailureOr<CompiledModule> compiled = CompiledModule::compile(module);
  if (failed(compiled))
    return failure();
  NestedFunction nested(std::move(*compiled));
  nested.forwardName = std::move(forwardName);
  nested.backwardName = std::move(backwardName);
  nested.isResidual = std::move(isResidual);
  nested.cotangentResults = std::move(cotangentResults);
  nested.gradientArguments = std::move(gradientArguments);
  return nested;
}

llvm::Expected<ForwardResults>
NestedFunction::forward(ArrayRef<HostTensor> arguments) const {
  auto values = compiled.call(forwardName, arguments);
  if (!values)
    return values.takeError();
  ForwardResults split;
  for (auto [value, kept] : llvm::zip(*values, isResidual))
    (kept ? split.residuals : split.results).push_back(value);
  return split;
}

llvm::Expected<SmallVector<Gradient>>
NestedFunction::backward(const ForwardResults &forward,
                         ArrayRef<HostTensor> cotangents) const {
  SmallVector<HostTensor> arguments(forward.residuals);
  llvm::append_range(arguments, cotangents);
  auto values = compiled.call(backwardName, arguments);
  if (!values)
    return values.takeError();
  SmallVector<Gradient> gradients;
  for (auto [argument, value] : llvm::zip(gradientArguments, *values))
    gradients.push_back({argument, value});
  return gradients;
}

int64_t fad::getResidualBytes(const ForwardResults &forward,
                              ArrayRef<HostTensor> arguments) {
  DenseSet<void *> counted;
  for (ArrayRef<HostTensor> alive : {arguments, ArrayRef(forward.results)})
    for (const HostTensor &tensor : alive)
      counted.insert(tensor.data());
  int64_t bytes = 0;
  for (const HostTensor &residual : forward.residuals)
    if (counted.insert(residual.data()).second)
      bytes += residual.getNumBytes();
  return bytes;
}
