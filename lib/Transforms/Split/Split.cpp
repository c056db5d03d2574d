//===- Split.cpp - Split joint functions at their residuals ---------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Analysis/Entry.h"
#include "fad/Analysis/SymbolUses.h"
#include "fad/Transforms/Passes.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "fad/Transforms/Utils/JointFunction.h"
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
/// Splits one joint function in two. Its operations move; only operations of
/// both parts are cloned.
class Splitter {
public:
  Splitter(const JointFunction &joint, bool reuseResiduals)
      : joint(joint), reuseResiduals(reuseResiduals),
        function(joint.getFunction()),
        residuals(function.front().getOps<ResidualOp>().begin(),
                  function.front().getOps<ResidualOp>().end()) {}

  /// Fails, with an error, if the function cannot be split. `users` gives the
  /// references to it.
  LogicalResult run(SymbolTable &symbols, const SymbolUserMap &users);

private:
  /// `@f_forward(args) -> (results, residuals)`, with an empty block.
  func::FuncOp createForward(StringRef name);
  /// `@f_backward(residuals, cotangents) -> gradients`, with an empty block.
  func::FuncOp createBackward(StringRef name);
  func::FuncOp createFunction(StringRef name, TypeRange inputs,
                              TypeRange results);
  /// The attributes of an argument or result. All of a function are set at
  /// once: one at a time takes quadratic time.
  DictionaryAttr getAttributes(DictionaryAttr attributes) {
    return attributes ? attributes : DictionaryAttr::get(function.getContext());
  }
  SmallVector<DictionaryAttr> getAttributesOf(ArrayRef<Value> arguments) {
    return llvm::map_to_vector(arguments, [&](Value argument) {
      return getAttributes(function.getArgAttrDict(
          cast<BlockArgument>(argument).getArgNumber()));
    });
  }
  SmallVector<DictionaryAttr> getAttributesOf(ArrayRef<unsigned> results) {
    return llvm::map_to_vector(results, [&](unsigned number) {
      return getAttributes(function.getResultAttrDict(number));
    });
  }
  SmallVector<DictionaryAttr> getResidualAttributes() {
    Builder builder(function.getContext());
    auto attributes = builder.getDictionaryAttr(
        builder.getNamedAttr(FadDialect::kResidualAttr, builder.getUnitAttr()));
    return SmallVector<DictionaryAttr>(residuals.size(), attributes);
  }
  /// The same for the arguments of backward, which may own some of them.
  SmallVector<DictionaryAttr> getResidualArgumentAttributes();
  /// Finds the operations that each part needs for its results and its side
  /// effects. Fails if backward needs an argument of the forward function.
  LogicalResult findParts();
  LogicalResult findNeeded(DenseSet<Value> &available,
                           SmallVector<Value> worklist,
                           llvm::SetVector<Operation *> &needed);
  /// Lets backward read `replacement` in place of `value`.
  void replaceInBackward(Value value, Value replacement);
  void cloneShared();
  /// Moves the operations of each part, and adds its return.
  void fill(func::FuncOp forward, func::FuncOp backward);

  JointFunction joint;
  bool reuseResiduals;
  func::FuncOp function;
  SmallVector<ResidualOp> residuals;
  llvm::SetVector<Operation *> forwardOps, backwardOps;
};
} // namespace

SmallVector<DictionaryAttr> Splitter::getResidualArgumentAttributes() {
  SmallVector<DictionaryAttr> attributes = getResidualAttributes();
  if (!reuseResiduals)
    return attributes;
  // A residual that is also an argument or result, or another residual, has
  // other readers.
  llvm::SmallDenseMap<Value, unsigned> readers;
  for (Value result : joint.getResults())
    ++readers[result];
  for (ResidualOp residual : residuals)
    ++readers[residual.getValue()];
  Builder builder(function.getContext());
  for (auto [residual, attribute] : llvm::zip(residuals, attributes)) {
    Value value = residual.getValue();
    if (isa<BlockArgument>(value) || readers[value] > 1 ||
        !isa<TensorType>(value.getType()))
      continue;
    NamedAttrList list(attribute);
    list.set(FadDialect::kOwnedAttr, builder.getUnitAttr());
    attribute = list.getDictionary(function.getContext());
  }
  return attributes;
}

LogicalResult Splitter::findNeeded(DenseSet<Value> &available,
                                   SmallVector<Value> worklist,
                                   llvm::SetVector<Operation *> &needed) {
  auto push = [&](OpOperand &operand) { worklist.push_back(operand.get()); };
  for (Operation *op : needed)
    forEachOutsideOperand(op, push);
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (available.contains(value))
      continue;
    Operation *def = value.getDefiningOp();
    if (!def)
      return emitError(value.getLoc())
             << "backward reads argument "
             << cast<BlockArgument>(value).getArgNumber()
             << " of the forward function other than through fad.residual; "
                "run fad-select-residuals before fad-split";
    if (needed.insert(def))
      forEachOutsideOperand(def, push);
  }
  return success();
}

LogicalResult Splitter::findParts() {
  for (ResidualOp residual : residuals)
    if (failed(residual.verifyHasLowering()))
      return failure();
  SmallVector<Operation *> operations = joint.getBackward();
  DenseSet<Operation *> dependent(operations.begin(), operations.end());
  for (Operation &op : function.front().without_terminator())
    if (!wouldOpBeTriviallyDead(&op))
      (dependent.contains(&op) ? backwardOps : forwardOps).insert(&op);

  SmallVector<Value> returned(joint.getResults());
  for (ResidualOp residual : residuals)
    returned.push_back(residual.getValue());
  DenseSet<Value> available(function.getArguments().begin(),
                            function.getArguments().end());
  if (failed(findNeeded(available, returned, forwardOps)))
    return failure();

  available = DenseSet<Value>(joint.getCotangents().begin(),
                              joint.getCotangents().end());
  for (ResidualOp residual : residuals)
    available.insert(residual.getResult());
  return findNeeded(available, SmallVector<Value>(joint.getGradients()),
                    backwardOps);
}

func::FuncOp Splitter::createFunction(StringRef name, TypeRange inputs,
                                      TypeRange results) {
  OpBuilder builder(function);
  auto created = func::FuncOp::create(builder, function.getLoc(), name,
                                      builder.getFunctionType(inputs, results));
  created->setDiscardableAttrs(function->getDiscardableAttrDictionary());
  for (StringRef name : {FadDialect::kRequestAttr, FadDialect::kPullbackAttr})
    created->removeDiscardableAttr(name);
  created.setVisibility(function.getVisibility());
  created.addEntryBlock();
  return created;
}

func::FuncOp Splitter::createForward(StringRef name) {
  SmallVector<Type> results(TypeRange(joint.getResults()));
  for (ResidualOp residual : residuals)
    results.push_back(residual.getType());
  func::FuncOp forward =
      createFunction(name, TypeRange(joint.getArguments()), results);
  forward.setAllArgAttrs(getAttributesOf(joint.getArguments()));
  auto attributes = getAttributesOf(joint.getResultNumbers());
  llvm::append_range(attributes, getResidualAttributes());
  forward.setAllResultAttrs(attributes);
  return forward;
}

func::FuncOp Splitter::createBackward(StringRef name) {
  SmallVector<Type> inputs;
  for (ResidualOp residual : residuals)
    inputs.push_back(residual.getType());
  llvm::append_range(inputs, TypeRange(joint.getCotangents()));
  func::FuncOp backward =
      createFunction(name, inputs, TypeRange(joint.getGradients()));
  auto attributes = getResidualArgumentAttributes();
  llvm::append_range(attributes, getAttributesOf(joint.getCotangents()));
  backward.setAllArgAttrs(attributes);
  backward.setAllResultAttrs(getAttributesOf(joint.getGradientNumbers()));
  return backward;
}

void Splitter::replaceInBackward(Value value, Value replacement) {
  Block &block = function.front();
  Operation *terminator = block.getTerminator();
  value.replaceUsesWithIf(replacement, [&](OpOperand &use) {
    Operation *user = block.findAncestorOpInBlock(*use.getOwner());
    if (user == terminator)
      return bool(function.getResultAttr(use.getOperandNumber(),
                                         FadDialect::kGradientAttr));
    return backwardOps.contains(user) && !forwardOps.contains(user);
  });
}

void Splitter::cloneShared() {
  IRMapping mapping;
  OpBuilder builder(function.getContext());
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    if (!forwardOps.contains(&op) || !backwardOps.contains(&op))
      continue;
    builder.setInsertionPoint(&op);
    Operation *copy = builder.clone(op, mapping);
    backwardOps.insert(copy);
    for (auto [value, replacement] :
         llvm::zip(op.getResults(), copy->getResults()))
      replaceInBackward(value, replacement);
  }
}

void Splitter::fill(func::FuncOp forward, func::FuncOp backward) {
  cloneShared();
  for (auto [index, residual] : llvm::enumerate(residuals))
    replaceInBackward(residual.getResult(), backward.getArgument(index));
  // The view of the joint function has the values returned before.
  SmallVector<Value> values, gradients;
  for (OpOperand &operand : joint.getReturn()->getOpOperands())
    (function.getResultAttr(operand.getOperandNumber(),
                            FadDialect::kGradientAttr)
         ? gradients
         : values)
        .push_back(operand.get());
  for (ResidualOp residual : residuals)
    values.push_back(residual.getValue());

  Location loc = joint.getReturn().getLoc();
  Block &forwardBlock = forward.front(), &backwardBlock = backward.front();
  for (Operation &op : llvm::make_early_inc_range(function.front()))
    if (forwardOps.contains(&op))
      op.moveBefore(&forwardBlock, forwardBlock.end());
    else if (backwardOps.contains(&op))
      op.moveBefore(&backwardBlock, backwardBlock.end());
  OpBuilder builder = OpBuilder::atBlockEnd(&forwardBlock);
  func::ReturnOp::create(builder, loc, values);
  builder.setInsertionPointToEnd(&backwardBlock);
  func::ReturnOp::create(builder, loc, gradients);

  auto replace = [](ValueRange values, ValueRange replacements) {
    for (auto [value, replacement] : llvm::zip_equal(values, replacements))
      value.replaceAllUsesWith(replacement);
  };
  replace(joint.getArguments(), forward.getArguments());
  replace(joint.getCotangents(),
          backward.getArguments().drop_front(residuals.size()));
}

LogicalResult Splitter::run(SymbolTable &symbols, const SymbolUserMap &users) {
  StringRef base = function.getSymName();
  base = getNameOfJoint(base);
  std::string forwardName = (base + "_forward").str();
  std::string backwardName = (base + "_backward").str();
  for (StringRef name : {forwardName, backwardName})
    if (symbols.lookup(name))
      return function.emitError("cannot create @")
             << name << ": the module has a symbol of that name; rename it";
  if (!users.useEmpty(function))
    return function.emitError("cannot split @")
           << function.getSymName()
           << ": other operations refer to it; split a copy, or inline the "
              "calls first (--inline)";
  if (failed(findParts()))
    return failure();
  func::FuncOp forward = createForward(forwardName);
  func::FuncOp backward = createBackward(backwardName);
  fill(forward, backward);
  symbols.insert(forward);
  symbols.insert(backward);
  forward->setAttr(FadDialect::kPullbackAttr, FlatSymbolRefAttr::get(backward));
  symbols.erase(function);
  return success();
}

namespace {
struct FadSplitPass : fad::impl::FadSplitBase<FadSplitPass> {
  using FadSplitBase::FadSplitBase;

  void runOnOperation() override {
    if (failed(checkSymbolUses(getOperation())))
      return signalPassFailure();
    SymbolTableCollection tables;
    SymbolTable &symbols = tables.getSymbolTable(getOperation());
    SymbolUserMap users(tables, getOperation());
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (!JointFunction::isJoint(function))
        continue;
      FailureOr<JointFunction> joint = JointFunction::get(function);
      if (failed(joint) ||
          failed(Splitter(*joint, reuseResiduals).run(symbols, users)))
        return signalPassFailure();
    }
  }
};
} // namespace
