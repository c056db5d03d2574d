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
  Splitter(const JointFunction &joint)
      : joint(joint), function(joint.getFunction()),
        residuals(function.front().getOps<ResidualOp>().begin(),
                  function.front().getOps<ResidualOp>().end()) {}

  LogicalResult run(SymbolTable &symbols);

private:
  /// `@f_forward(args) -> (results, residuals)`.
  func::FuncOp buildForward(StringRef name);
  /// `@f_backward(residuals, cotangents) -> gradients`.
  FailureOr<func::FuncOp> buildBackward(StringRef name);
  /// A function like the joint one, with an empty block.
  func::FuncOp createFunction(StringRef name, TypeRange inputs,
                              TypeRange results);
  /// The attributes of an argument or result. All of a function are set at
  /// once: one at a time takes quadratic time.
  DictionaryAttr getAttributes(DictionaryAttr attributes) {
    return attributes ? attributes : DictionaryAttr::get(function.getContext());
  }
  DictionaryAttr getAttributesOf(Value argument) {
    return getAttributes(
        function.getArgAttrDict(cast<BlockArgument>(argument).getArgNumber()));
  }
  SmallVector<DictionaryAttr> getAttributesOf(ArrayRef<unsigned> results) {
    return llvm::map_to_vector(results, [&](unsigned number) {
      return getAttributes(function.getResultAttrDict(number));
    });
  }
  DictionaryAttr getResidualAttributes() {
    Builder builder(function.getContext());
    return builder.getDictionaryAttr(
        builder.getNamedAttr(FadDialect::kResidualAttr, builder.getUnitAttr()));
  }
  /// Finds the operations that do something besides computing results.
  void findEffects();
  /// Fills `target` with what `values` and `effects` depend on, and returns
  /// `values`. Fails where that is an argument that `mapping` lacks.
  LogicalResult fill(func::FuncOp target, ValueRange values,
                     ArrayRef<Operation *> effects, IRMapping &mapping);

  JointFunction joint;
  func::FuncOp function;
  SmallVector<ResidualOp> residuals;
  SmallVector<Operation *> forwardEffects, backwardEffects;
};
} // namespace

void Splitter::findEffects() {
  SmallVector<Operation *> operations = joint.findBackward();
  llvm::SmallPtrSet<Operation *, 32> backward(llvm::from_range, operations);
  for (Operation &op : function.front().without_terminator())
    if (!wouldOpBeTriviallyDead(&op))
      (backward.contains(&op) ? backwardEffects : forwardEffects)
          .push_back(&op);
}

func::FuncOp Splitter::createFunction(StringRef name, TypeRange inputs,
                                      TypeRange results) {
  OpBuilder builder(function);
  auto created = func::FuncOp::create(builder, function.getLoc(), name,
                                      builder.getFunctionType(inputs, results));
  created->setDiscardableAttrs(function->getDiscardableAttrDictionary());
  created->removeDiscardableAttr(FadDialect::kRequestAttr);
  created.setVisibility(function.getVisibility());
  created.addEntryBlock();
  return created;
}

LogicalResult Splitter::fill(func::FuncOp target, ValueRange values,
                             ArrayRef<Operation *> effects,
                             IRMapping &mapping) {
  llvm::SetVector<Operation *> needed(effects.begin(), effects.end());
  SmallVector<Value> worklist(values);
  auto pushOperands = [&](Operation *op) {
    forEachOutsideOperand(
        op, [&](OpOperand &operand) { worklist.push_back(operand.get()); });
  };
  llvm::for_each(effects, pushOperands);
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
    if (needed.insert(def))
      pushOperands(def);
  }
  OpBuilder builder = OpBuilder::atBlockEnd(&target.front());
  for (Operation &op : function.front())
    if (needed.contains(&op))
      builder.clone(op, mapping);
  SmallVector<Value> returned;
  for (Value value : values)
    returned.push_back(mapping.lookup(value));
  func::ReturnOp::create(builder, joint.getReturn().getLoc(), returned);
  return success();
}

func::FuncOp Splitter::buildForward(StringRef name) {
  SmallVector<Value> values(joint.getResults());
  for (ResidualOp residual : residuals)
    values.push_back(residual.getValue());
  func::FuncOp forward = createFunction(name, TypeRange(joint.getArguments()),
                                        TypeRange(ValueRange(values)));
  IRMapping mapping;
  SmallVector<DictionaryAttr> argumentAttributes;
  for (auto [index, argument] : llvm::enumerate(joint.getArguments())) {
    mapping.map(argument, forward.getArgument(index));
    argumentAttributes.push_back(getAttributesOf(argument));
  }
  forward.setAllArgAttrs(argumentAttributes);
  // A joint function's forward part reads no cotangent.
  (void)fill(forward, values, forwardEffects, mapping);
  auto attributes = getAttributesOf(joint.getResultNumbers());
  attributes.append(residuals.size(), getResidualAttributes());
  forward.setAllResultAttrs(attributes);
  return forward;
}

FailureOr<func::FuncOp> Splitter::buildBackward(StringRef name) {
  SmallVector<Type> inputs;
  for (ResidualOp residual : residuals)
    inputs.push_back(residual.getType());
  llvm::append_range(inputs, TypeRange(joint.getCotangents()));
  func::FuncOp backward =
      createFunction(name, inputs, TypeRange(joint.getGradients()));
  IRMapping mapping;
  SmallVector<DictionaryAttr> argumentAttributes(residuals.size(),
                                                 getResidualAttributes());
  for (auto [index, residual] : llvm::enumerate(residuals))
    mapping.map(residual.getResult(), backward.getArgument(index));
  for (auto [index, cotangent] : llvm::enumerate(joint.getCotangents())) {
    mapping.map(cotangent, backward.getArgument(residuals.size() + index));
    argumentAttributes.push_back(getAttributesOf(cotangent));
  }
  backward.setAllArgAttrs(argumentAttributes);
  if (failed(fill(backward, joint.getGradients(), backwardEffects, mapping))) {
    backward.erase();
    return failure();
  }
  backward.setAllResultAttrs(getAttributesOf(joint.getGradientNumbers()));
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
  if (!SymbolTable::symbolKnownUseEmpty(function, function->getParentOp()))
    return function.emitError("cannot split @")
           << function.getSymName()
           << ": other operations refer to it; split a copy, or inline the "
              "calls first (--inline)";
  findEffects();
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
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (!JointFunction::isJoint(function))
        continue;
      FailureOr<JointFunction> joint = JointFunction::get(function);
      if (failed(joint) || failed(Splitter(*joint).run(symbols)))
        return signalPassFailure();
    }
  }
};
} // namespace
