//===- NestedFunction.cpp - A forward and a backward function, compiled ---===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Runtime/NestedFunction.h"
#include "Roundings.h"
#include "fad/Pipelines/NestedPair.h"

using namespace mlir;
using namespace mlir::fad;

FailureOr<NestedFunction> NestedFunction::compile(ModuleOp module,
                                                  const NestOptions &options,
                                                  CompileOptions target) {
  FailureOr<NestedPair> pair = NestedPair::create(module, options);
  if (failed(pair))
    return failure();
  unsigned numPrimalResults = pair->getNumPrimalResults();
  SmallVector<unsigned> cotangentResults = pair->getCotangentResults();
  SmallVector<unsigned> gradientArguments = pair->getGradientArguments();
  auto roundings = findRoundings(*pair);
  std::string forwardName = pair->forward.getSymName().str();
  std::string backwardName = pair->backward.getSymName().str();

  FailureOr<CompiledModule> compiled =
      CompiledModule::compile(module, std::move(target));
  if (failed(compiled))
    return failure();
  NestedFunction nested(std::move(*compiled));
  nested.forwardName = std::move(forwardName);
  nested.backwardName = std::move(backwardName);
  nested.numPrimalResults = numPrimalResults;
  nested.cotangentResults = std::move(cotangentResults);
  nested.gradientArguments = std::move(gradientArguments);
  nested.roundings = std::move(roundings);
  return nested;
}

llvm::Expected<ForwardResults>
NestedFunction::forward(ArrayRef<HostTensor> arguments,
                        CallMemory *memory) const {
  auto values = compiled.call(forwardName, arguments, memory);
  if (!values)
    return values.takeError();
  ArrayRef<HostTensor> all = *values;
  ForwardResults split;
  split.results = llvm::to_vector(all.take_front(numPrimalResults));
  split.residuals = llvm::to_vector(all.drop_front(numPrimalResults));
  return split;
}

llvm::Expected<SmallVector<Gradient>>
NestedFunction::backward(ForwardResults forward,
                         ArrayRef<HostTensor> cotangents,
                         CallMemory *memory) const {
  SmallVector<HostTensor> arguments = std::move(forward.residuals);
  llvm::append_range(arguments, cotangents);
  auto values = compiled.consume(backwardName, std::move(arguments), memory);
  if (!values)
    return values.takeError();
  SmallVector<Gradient> gradients;
  for (auto [argument, value, types] :
       llvm::zip(gradientArguments, *values, roundings))
    gradients.push_back({argument, value, types});
  return gradients;
}
