//===- NestedFunction.cpp - A forward and a backward function, compiled ---===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Runtime/NestedFunction.h"
#include "fad/Pipelines/NestedPair.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fad;

/// Whether `op` computes numbers that are rounded to the type of its results.
static bool rounds(Operation *op) {
  // Operations with regions compute in these.
  return op->getNumRegions() == 0 && !op->hasTrait<OpTrait::ConstantLike>() &&
         !isa<arith::SelectOp>(op) &&
         !isa_and_nonnull<tensor::TensorDialect>(op->getDialect());
}

/// The float types to which `gradient`, a result of `pair`, and the values that
/// it is computed from, are rounded. Arguments and cotangents are exact.
static SmallVector<FloatType> findRoundings(NestedPair &pair, Value gradient) {
  llvm::SetVector<FloatType> types;
  llvm::SetVector<Value> values;
  llvm::SetVector<Operation *> ops;
  values.insert(gradient);
  for (size_t nextValue = 0, nextOp = 0; nextValue < values.size();
       ++nextValue) {
    Value value = values[nextValue];
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument)
      ops.insert(value.getDefiningOp());
    else if (argument.getOwner() == &pair.backward.front() &&
             argument.getArgNumber() < pair.residuals.size())
      values.insert(pair.forward.front().getTerminator()->getOperand(
          pair.getNumPrimalResults() + argument.getArgNumber()));
    for (; nextOp < ops.size(); ++nextOp)
      ops[nextOp]->walk([&](Operation *op) {
        values.insert_range(op->getOperands());
        if (auto call = dyn_cast<CallOpInterface>(op))
          if (Operation *callee = call.resolveCallable())
            ops.insert(callee);
        if (!rounds(op))
          return;
        for (Type type : op->getResultTypes())
          if (auto floatType = dyn_cast<FloatType>(getElementTypeOrSelf(type)))
            types.insert(floatType);
      });
  }
  return types.takeVector();
}

FailureOr<NestedFunction> NestedFunction::compile(ModuleOp module,
                                                  const NestOptions &options,
                                                  CompileOptions target) {
  FailureOr<NestedPair> pair = NestedPair::create(module, options);
  if (failed(pair))
    return failure();
  unsigned numPrimalResults = pair->getNumPrimalResults();
  SmallVector<unsigned> cotangentResults = pair->getCotangentResults();
  SmallVector<unsigned> gradientArguments = pair->getGradientArguments();
  SmallVector<SmallVector<FloatType>> roundings;
  for (Value gradient : pair->backward.front().getTerminator()->getOperands())
    roundings.push_back(findRoundings(*pair, gradient));
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
