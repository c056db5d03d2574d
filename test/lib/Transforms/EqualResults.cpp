//===- EqualResults.cpp - Whether functions compute the same --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EqualResults.h"
#include "fad/Transforms/Residuals/Candidates/Recomputation.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// Compares values of two functions, tensors and those in bodies of operations,
/// each pair once, by what computes them. In bodies there may be alternatives,
/// too, so that equal ones need not have equally many operations.
class Comparison {
public:
  bool areEqual(Value selected, Value joint);

private:
  bool findEqual(Value selected, Value joint);
  bool areEqual(BlockArgument selected, BlockArgument joint);
  bool areEqual(Operation *selected, Operation *joint);
  /// Whether regions of equal operations yield the same, and have the same
  /// effects.
  bool areEqual(Region &selected, Region &joint);

  /// Arguments of regions that are compared are equal there.
  DenseMap<std::pair<Value, Value>, bool> known;
};
} // namespace

/// The numbers that `unpack` takes out of bytes again; null where they are not
/// packed in the same function.
static Value findPacked(UnpackOp unpack) {
  Value bytes = unpack.getBytes();
  while (auto residual = bytes.getDefiningOp<ResidualOp>())
    bytes = residual.getValue();
  auto pack = bytes.getDefiningOp<PackOp>();
  return pack ? pack.getCodes() : Value();
}

/// What `value` was before it was saved: in the forward part, and unpacked.
static Value findSaved(Value value) {
  while (auto residual = value.getDefiningOp<ResidualOp>())
    value = residual.getValue();
  // Small numbers are packed as they are, others by their number.
  if (auto unpack = value.getDefiningOp<UnpackOp>())
    if (Value packed = findPacked(unpack))
      return packed;
  auto decoded = value.getDefiningOp<ElementwiseOp>();
  if (!decoded || decoded.getInputs().size() != 1)
    return value;
  auto unpack = decoded.getInputs()[0].getDefiningOp<UnpackOp>();
  Value codes = unpack ? findPacked(unpack) : Value();
  auto encoded = codes ? codes.getDefiningOp<ElementwiseOp>() : ElementwiseOp();
  return encoded ? encoded.getInputs()[0] : value;
}

/// The scalar in the body of `op` that `result` has for its elements.
static Value getYielded(ElementwiseOp op, Value result) {
  return op.getYield().getOperand(cast<OpResult>(result).getResultNumber());
}

bool Comparison::areEqual(Value selected, Value joint) {
  selected = findSaved(selected);
  auto it = known.find({selected, joint});
  if (it != known.end())
    return it->second;
  bool equal = findEqual(selected, joint);
  known[{selected, joint}] = equal;
  return equal;
}

bool Comparison::findEqual(Value selected, Value joint) {
  if (auto alternatives = joint.getDefiningOp<AlternativesOp>())
    return llvm::any_of(alternatives.getValues(),
                        [&](Value value) { return areEqual(selected, value); });
  if (selected.getType() != joint.getType())
    return false;
  auto argument = dyn_cast<BlockArgument>(selected);
  auto jointArgument = dyn_cast<BlockArgument>(joint);
  if (argument && jointArgument)
    return areEqual(argument, jointArgument);
  if (argument || jointArgument)
    return false;
  // A region has the results that are read, of those that it could have.
  auto region = selected.getDefiningOp<ElementwiseOp>();
  auto jointRegion = joint.getDefiningOp<ElementwiseOp>();
  if (region && jointRegion)
    return areEqual(getYielded(region, selected),
                    getYielded(jointRegion, joint));
  // Equal sizes come from where they are at hand.
  if (isa<IndexType>(joint.getType()) && joint.getDefiningOp<tensor::DimOp>())
    return true;
  return cast<OpResult>(selected).getResultNumber() ==
             cast<OpResult>(joint).getResultNumber() &&
         areEqual(selected.getDefiningOp(), joint.getDefiningOp());
}

bool Comparison::areEqual(BlockArgument selected, BlockArgument joint) {
  auto region = dyn_cast<ElementwiseOp>(selected.getOwner()->getParentOp());
  auto jointRegion = dyn_cast<ElementwiseOp>(joint.getOwner()->getParentOp());
  if (!region || !jointRegion)
    return isa<func::FuncOp>(selected.getOwner()->getParentOp()) &&
           isa<func::FuncOp>(joint.getOwner()->getParentOp()) &&
           selected.getArgNumber() == joint.getArgNumber();
  return areEqual(region.getInputs()[selected.getArgNumber()],
                  jointRegion.getInputs()[joint.getArgNumber()]);
}

bool Comparison::areEqual(Operation *selected, Operation *joint) {
  DenseSet<Value> read;
  forEachReadOperand(joint, [&](Value operand) { read.insert(operand); });
  auto check = [&](Value value, Value jointValue) {
    return success(!read.contains(jointValue) || areEqual(value, jointValue));
  };
  Operation *op = selected->cloneWithoutRegions();
  Operation *jointOp = joint->cloneWithoutRegions();
  bool equal = OperationEquivalence::isEquivalentTo(
      op, jointOp, check, /*markEquivalent=*/nullptr,
      OperationEquivalence::IgnoreLocations |
          OperationEquivalence::IgnoreDiscardableAttrs);
  op->destroy();
  jointOp->destroy();
  return equal &&
         llvm::all_of(
             llvm::zip_equal(selected->getRegions(), joint->getRegions()),
             [&](auto pair) {
               return areEqual(std::get<0>(pair), std::get<1>(pair));
             });
}

/// What is executed in `block` whether its results are read or not.
static SmallVector<Operation *> findEffects(Block &block) {
  SmallVector<Operation *> effects;
  for (Operation &op : block)
    if (op.hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(&op))
      effects.push_back(&op);
  return effects;
}

bool Comparison::areEqual(Region &selected, Region &joint) {
  if (selected.empty() || joint.empty())
    return selected.empty() && joint.empty();
  if (!selected.hasOneBlock() || !joint.hasOneBlock() ||
      selected.getArgumentTypes() != joint.getArgumentTypes())
    return false;
  for (auto [argument, jointArgument] :
       llvm::zip(selected.getArguments(), joint.getArguments()))
    known[{argument, jointArgument}] = true;
  SmallVector<Operation *> effects = findEffects(selected.front());
  SmallVector<Operation *> jointEffects = findEffects(joint.front());
  return effects.size() == jointEffects.size() &&
         llvm::all_of(llvm::zip(effects, jointEffects), [&](auto pair) {
           return areEqual(std::get<0>(pair), std::get<1>(pair));
         });
}

bool fad::test::haveEqualResults(func::FuncOp selected, func::FuncOp joint) {
  // Bodies are simplified where residuals are selected.
  func::FuncOp simplified = joint.clone();
  IRRewriter rewriter(joint.getContext());
  simplified.walk([&](ElementwiseOp op) {
    for (Operation &inner : *op.getBodyBlock())
      inner.removeAttr(FadDialect::kTapeAttr);
    simplifyBody(rewriter, op);
  });
  Comparison comparison;
  bool equal = llvm::all_of(
      llvm::zip_equal(selected.front().getTerminator()->getOperands(),
                      simplified.front().getTerminator()->getOperands()),
      [&](auto pair) {
        return comparison.areEqual(std::get<0>(pair), std::get<1>(pair));
      });
  simplified.erase();
  return equal;
}
