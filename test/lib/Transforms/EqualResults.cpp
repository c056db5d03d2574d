//===- EqualResults.cpp - Whether functions compute the same --------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EqualResults.h"
#include "Residuals/Recomputation.h"
#include "fad/Transforms/ElementwiseUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::fad;

namespace {
/// Compares values of two functions, tensors and those of elementwise bodies,
/// each pair once.
class Comparison {
public:
  bool areEqual(Value selected, Value joint);

private:
  bool findEqual(Value selected, Value joint);
  bool areEqual(BlockArgument selected, BlockArgument joint);
  bool areEqual(Operation *selected, Operation *joint);

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
    return !region && !jointRegion &&
           selected.getArgNumber() == joint.getArgNumber();
  return areEqual(region.getInputs()[selected.getArgNumber()],
                  jointRegion.getInputs()[joint.getArgNumber()]);
}

bool Comparison::areEqual(Operation *selected, Operation *joint) {
  DenseSet<Value> read;
  forEachReadOperand(joint, [&](Value operand) { read.insert(operand); });
  // Values of the bodies.
  DenseMap<Value, Value> marked;
  auto check = [&](Value value, Value jointValue) {
    auto it = marked.find(value);
    if (it != marked.end())
      return success(it->second == jointValue);
    return success(!read.contains(jointValue) || areEqual(value, jointValue));
  };
  auto mark = [&](Value value, Value jointValue) {
    marked[value] = jointValue;
  };
  return OperationEquivalence::isEquivalentTo(
      selected, joint, check, mark,
      OperationEquivalence::IgnoreLocations |
          OperationEquivalence::IgnoreDiscardableAttrs);
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
