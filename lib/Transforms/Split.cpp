//===- Split.cpp - Split joint functions at their residuals ---------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/ElementwiseUtils.h"
#include "fad/Transforms/JointFunction.h"
#include "fad/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADSPLIT
#include "fad/Transforms/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

namespace {
/// Cuts one joint function in two.
class Splitter {
public:
  Splitter(func::FuncOp function)
      : joint(function), function(function),
        residuals(function.front().getOps<ResidualOp>().begin(),
                  function.front().getOps<ResidualOp>().end()) {}

  LogicalResult run(SymbolTable &symbols);

private:
  /// `@f_forward(args) -> (results, residuals)`.
  func::FuncOp buildForward(StringRef name);
  /// `@f_backward(residuals, cotangents) -> gradients`.
  FailureOr<func::FuncOp> buildBackward(StringRef name);
  /// The attributes of an argument or result, set all at once: one at a time
  /// takes quadratic time.
  DictionaryAttr getAttributes(DictionaryAttr attributes) {
    return attributes ? attributes
                      : DictionaryAttr::get(function.getContext());
  }
  DictionaryAttr getResidualAttributes() {
    Builder builder(function.getContext());
    return builder.getDictionaryAttr(builder.getNamedAttr(
        FadDialect::kResidualAttr, builder.getUnitAttr()));
  }

  /// Clones into `target`, through `mapping`, what `values` depend on.
  LogicalResult cloneSlice(OpBuilder &builder, ValueRange values,
                           IRMapping &mapping);

  JointFunction joint;
  func::FuncOp function;
  SmallVector<ResidualOp> residuals;
};
} // namespace

LogicalResult Splitter::cloneSlice(OpBuilder &builder, ValueRange values,
                                   IRMapping &mapping) {
  llvm::SetVector<Operation *> needed;
  SmallVector<Value> worklist(values);
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (mapping.contains(value))
      continue;
    Operation *def = value.getDefiningOp();
    if (!def)
      return emitError(value.getLoc())
             << "backward reads argument "
             << cast<BlockArgument>(value).getArgNumber()
             << " of the forward function other than through fad.residual; "
                "run fad-select-residuals before fad-split";
    if (!needed.insert(def))
      continue;
    llvm::append_range(worklist, def->getOperands());
    def->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (operand.getParentBlock() == &function.front())
          worklist.push_back(operand);
    });
  }
  for (Operation &op : function.front())
    if (needed.contains(&op))
      builder.clone(op, mapping);
  return success();
}

func::FuncOp Splitter::buildForward(StringRef name) {
  OpBuilder builder(function);
  SmallVector<Value> values(joint.getResults());
  for (ResidualOp residual : residuals)
    values.push_back(residual.getValue());
  auto type = builder.getFunctionType(
      TypeRange(joint.getArguments()), TypeRange(ValueRange(values)));
  auto forward = func::FuncOp::create(builder, function.getLoc(), name, type);
  forward->setDiscardableAttrs(function->getDiscardableAttrDictionary());
  forward.setVisibility(function.getVisibility());
  Block *block = forward.addEntryBlock();
  IRMapping mapping;
  SmallVector<DictionaryAttr> argumentAttributes;
  for (auto [index, argument] : llvm::enumerate(joint.getArguments())) {
    mapping.map(argument, block->getArgument(index));
    argumentAttributes.push_back(getAttributes(function.getArgAttrDict(
        cast<BlockArgument>(argument).getArgNumber())));
  }
  forward.setAllArgAttrs(argumentAttributes);
  builder.setInsertionPointToStart(block);
  // Everything is available here, so the slice cannot fail.
  (void)cloneSlice(builder, values, mapping);
  SmallVector<Value> returned;
  for (Value value : values)
    returned.push_back(mapping.lookup(value));
  func::ReturnOp::create(builder, joint.getReturn().getLoc(), returned);
  SmallVector<DictionaryAttr> attributes;
  for (unsigned index : llvm::seq<unsigned>(joint.getResults().size()))
    attributes.push_back(getAttributes(function.getResultAttrDict(index)));
  attributes.append(residuals.size(), getResidualAttributes());
  forward.setAllResultAttrs(attributes);
  return forward;
}

FailureOr<func::FuncOp> Splitter::buildBackward(StringRef name) {
  OpBuilder builder(function);
  SmallVector<Type> inputs;
  for (ResidualOp residual : residuals)
    inputs.push_back(residual.getType());
  llvm::append_range(inputs, TypeRange(joint.getCotangents()));
  auto type =
      builder.getFunctionType(inputs, TypeRange(joint.getGradients()));
  auto backward = func::FuncOp::create(builder, function.getLoc(), name, type);
  backward.setVisibility(function.getVisibility());
  Block *block = backward.addEntryBlock();
  IRMapping mapping;
  SmallVector<DictionaryAttr> argumentAttributes(residuals.size(),
                                                 getResidualAttributes());
  for (auto [index, residual] : llvm::enumerate(residuals))
    mapping.map(residual.getResult(), block->getArgument(index));
  for (auto [index, cotangent] : llvm::enumerate(joint.getCotangents())) {
    mapping.map(cotangent, block->getArgument(residuals.size() + index));
    argumentAttributes.push_back(getAttributes(function.getArgAttrDict(
        cast<BlockArgument>(cotangent).getArgNumber())));
  }
  backward.setAllArgAttrs(argumentAttributes);
  builder.setInsertionPointToStart(block);
  if (failed(cloneSlice(builder, joint.getGradients(), mapping))) {
    backward.erase();
    return failure();
  }
  SmallVector<Value> returned;
  for (Value value : joint.getGradients())
    returned.push_back(mapping.lookup(value));
  func::ReturnOp::create(builder, joint.getReturn().getLoc(), returned);
  SmallVector<DictionaryAttr> attributes;
  unsigned first = joint.getResults().size();
  for (unsigned index : llvm::seq<unsigned>(returned.size()))
    attributes.push_back(
        getAttributes(function.getResultAttrDict(first + index)));
  backward.setAllResultAttrs(attributes);
  return backward;
}

LogicalResult Splitter::run(SymbolTable &symbols) {
  StringRef base = function.getSymName();
  base.consume_back("_joint");
  std::string forwardName = (base + "_forward").str();
  std::string backwardName = (base + "_backward").str();
  for (StringRef name : {forwardName, backwardName})
    if (symbols.lookup(name))
      return function.emitError("cannot create @")
             << name << ": the module has a symbol of that name; rename it";
  FailureOr<func::FuncOp> backward = buildBackward(backwardName);
  if (failed(backward))
    return failure();
  buildForward(forwardName);
  (*backward)->moveAfter(function);
  symbols.erase(function);
  return success();
}

namespace {
struct FadSplitPass : fad::impl::FadSplitBase<FadSplitPass> {
  using FadSplitBase::FadSplitBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (JointFunction::isJoint(function) &&
          failed(Splitter(function).run(symbols)))
        return signalPassFailure();
  }
};
} // namespace
