//===- Entry.cpp - The function to differentiate --------------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/Entry.h"
#include "fad/IR/Fad.h"
#include "fad/Interfaces/DerivativeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::fad;

static constexpr StringLiteral kJointSuffix = "_joint";

std::string fad::getJointName(StringRef name) {
  return (name + kJointSuffix).str();
}

StringRef fad::getNameOfJoint(StringRef joint) {
  joint.consume_back(kJointSuffix);
  return joint;
}

func::FuncOp fad::findJoint(ModuleOp module, StringRef name) {
  return module.lookupSymbol<func::FuncOp>(getJointName(name));
}

func::FuncOp fad::findForward(ModuleOp module, StringRef name) {
  return module.lookupSymbol<func::FuncOp>((name + "_forward").str());
}

FailureOr<func::FuncOp> fad::findPullback(func::FuncOp forward) {
  auto name =
      forward->getAttrOfType<FlatSymbolRefAttr>(FadDialect::kPullbackAttr);
  if (!name)
    return func::FuncOp();
  auto backward =
      SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(forward, name);
  if (!backward)
    return forward.emitError("there is no function ")
           << name << ", which '" << FadDialect::kPullbackAttr
           << "' names; add it, or remove the attribute";
  return backward;
}

bool fad::isDifferentiable(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    type = tensor.getElementType();
  return bool(getTangentType(type));
}

/// Appends the names of `functions` to `diagnostic`.
static void listFunctions(InFlightDiagnostic &diagnostic,
                          ArrayRef<func::FuncOp> functions) {
  llvm::interleaveComma(functions, diagnostic, [&](func::FuncOp function) {
    diagnostic << "@" << function.getSymName();
  });
}

/// The function `name` among `functions`, those with a body.
static FailureOr<func::FuncOp> findNamed(ModuleOp module, StringRef name,
                                         ArrayRef<func::FuncOp> functions) {
  for (func::FuncOp function : functions)
    if (function.getSymName() == name)
      return function;
  auto diagnostic = module.emitError("there is no function @")
                    << name << " with a body; ";
  if (functions.empty())
    return diagnostic << "the module has no function with a body", failure();
  diagnostic << "name one of ";
  listFunctions(diagnostic, functions);
  return diagnostic;
}

FailureOr<func::FuncOp> fad::findEntry(ModuleOp module, StringRef name) {
  SmallVector<func::FuncOp> all, candidates, requested;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    all.push_back(function);
    if (function.isPublic())
      candidates.push_back(function);
    if (function->hasAttr(FadDialect::kRequestAttr))
      requested.push_back(function);
  }
  if (!name.empty())
    return findNamed(module, name, all);
  if (!requested.empty())
    candidates = requested;
  if (candidates.size() == 1)
    return candidates.front();
  if (candidates.empty())
    return module.emitError("the module has no public function with a body to "
                            "differentiate; make one public or name one with "
                            "'entry'"),
           failure();
  auto diagnostic = module.emitError("the module has ")
                    << candidates.size()
                    << (requested.empty() ? " public functions"
                                          : " functions with fad.request")
                    << "; choose one with 'entry': ";
  listFunctions(diagnostic, candidates);
  return diagnostic;
}

/// The list in the `fad.request` of `function`, if any; `option` has
/// precedence.
static ArrayRef<int64_t>
getRequested(func::FuncOp function, ArrayRef<int64_t> option,
             ArrayRef<int64_t> (RequestAttr::*getNumbers)() const) {
  auto request = function->getAttrOfType<RequestAttr>(FadDialect::kRequestAttr);
  return option.empty() && request ? (request.*getNumbers)() : option;
}

/// Whether an argument or a result of `function` is a buffer.
static bool hasBuffer(func::FuncOp function) {
  FunctionType type = function.getFunctionType();
  return llvm::any_of(
      llvm::concat<const Type>(type.getInputs(), type.getResults()),
      llvm::IsaPred<BaseMemRefType>);
}

FailureOr<SmallVector<unsigned>> fad::resolveWrt(func::FuncOp function,
                                                 ArrayRef<int64_t> wrt) {
  wrt = getRequested(function, wrt, &RequestAttr::getWrt);
  if (wrt.empty()) {
    SmallVector<unsigned> arguments;
    for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
      if (isa<RankedTensorType>(type) && isDifferentiable(type))
        arguments.push_back(index);
    if (!arguments.empty())
      return arguments;
    auto diagnostic = function.emitError("@")
                      << function.getSymName()
                      << " has no argument that is a ranked tensor of f16, "
                         "bf16, f32 or f64, so there is nothing to "
                         "differentiate with respect to; ";
    if (hasBuffer(function))
      return diagnostic << kTakesTensors;
    return diagnostic << "list scalars in 'wrt'";
  }
  SmallVector<unsigned> arguments;
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t index : wrt) {
    if (index < 0 || index >= function.getNumArguments())
      return function.emitError(
                 "cannot differentiate with respect to argument ")
             << index << ": @" << function.getSymName() << " has "
             << function.getNumArguments() << " arguments";
    if (!seen.insert(index).second)
      return function.emitError("argument ")
             << index << " is listed twice in 'wrt'";
    Type type = function.getArgumentTypes()[index];
    if (!isDifferentiable(type))
      return emitError(function.getArgument(index).getLoc())
             << "cannot differentiate with respect to argument " << index
             << " of type " << type
             << "; only f16, bf16, f32 and f64, and ranked tensors of them, "
                "have gradients";
    arguments.push_back(index);
  }
  llvm::sort(arguments);
  return arguments;
}

bool fad::listsResults(func::FuncOp function, ArrayRef<int64_t> results) {
  return !getRequested(function, results, &RequestAttr::getResults).empty();
}

FailureOr<SmallVector<unsigned>>
fad::resolveResults(func::FuncOp function, ArrayRef<int64_t> results) {
  results = getRequested(function, results, &RequestAttr::getResults);
  if (results.empty()) {
    SmallVector<unsigned> numbers;
    for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
      if (isDifferentiable(type))
        numbers.push_back(index);
    if (!numbers.empty())
      return numbers;
    auto diagnostic = function.emitError("cannot differentiate @")
                      << function.getSymName()
                      << ": no result is f16, bf16, f32 or f64, or a ranked "
                         "tensor of them";
    if (hasBuffer(function))
      diagnostic << "; " << kTakesTensors;
    return diagnostic;
  }
  SmallVector<unsigned> numbers;
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t index : results) {
    if (index < 0 || index >= function.getNumResults())
      return function.emitError("cannot differentiate result ")
             << index << ": @" << function.getSymName() << " has "
             << function.getNumResults() << " results";
    if (!seen.insert(index).second)
      return function.emitError("result ")
             << index << " is listed twice in 'results'";
    Type type = function.getResultTypes()[index];
    if (!isDifferentiable(type))
      return function.emitError("cannot differentiate result ")
             << index << " of type " << type
             << "; only f16, bf16, f32 and f64, and ranked tensors of them, "
                "have cotangents";
    numbers.push_back(index);
  }
  llvm::sort(numbers);
  return numbers;
}
