//===- ElementwiseOp.cpp - fad.elementwise and fad.yield ------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/IR/Fad.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::fad;

#define GET_OP_CLASSES
#include "fad/IR/FadOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Construction and access
//===----------------------------------------------------------------------===//

/// Adds the body block that `inputs` call for.
static Block *addBody(OpBuilder &builder, OperationState &state,
                      ValueRange inputs) {
  Region *region = state.addRegion();
  SmallVector<Type> types;
  for (Value input : inputs)
    types.push_back(isa<RankedTensorType>(input.getType())
                        ? getElementTypeOrSelf(input)
                        : input.getType());
  OpBuilder::InsertionGuard guard(builder);
  return builder.createBlock(
      region, {}, types, SmallVector<Location>(types.size(), state.location));
}

void ElementwiseOp::build(
    OpBuilder &builder, OperationState &state, ValueRange inputs,
    function_ref<SmallVector<Value>(OpBuilder &, Location, ValueRange)>
        buildBody) {
  Block *block = addBody(builder, state, inputs);
  state.addOperands(inputs);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(block);
  SmallVector<Value> yielded =
      buildBody(builder, state.location, block->getArguments());
  YieldOp::create(builder, state.location, yielded);
  RankedTensorType shape;
  for (Value input : inputs)
    if (!shape)
      shape = dyn_cast<RankedTensorType>(input.getType());
  for (Value value : yielded)
    state.addTypes(shape.clone(value.getType()));
}

void ElementwiseOp::build(OpBuilder &builder, OperationState &state,
                          TypeRange resultTypes, ValueRange inputs) {
  addBody(builder, state, inputs);
  state.addOperands(inputs);
  state.addTypes(resultTypes);
}

YieldOp ElementwiseOp::getYield() {
  return cast<YieldOp>(getBodyBlock()->getTerminator());
}

/// Whether `value` is a tensor, as opposed to a scalar that is the same for
/// every index.
static bool isTensor(Value value) {
  return isa<RankedTensorType>(value.getType());
}

Value ElementwiseOp::getShapeOperand() {
  return *llvm::find_if(getInputs(), isTensor);
}

bool ElementwiseOp::hasSingleSource() {
  return llvm::count_if(getInputs(), isTensor) == 1;
}

LogicalResult
ElementwiseOp::reifyResultShapes(OpBuilder &builder,
                                 ReifiedRankedShapedTypeDims &reified) {
  Value source = getShapeOperand();
  for (Value result : getOutputs()) {
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<OpFoldResult> &dims = reified.emplace_back();
    for (int64_t i = 0, rank = type.getRank(); i < rank; ++i)
      dims.push_back(
          type.isDynamicDim(i)
              ? OpFoldResult(tensor::DimOp::create(builder, getLoc(), source, i)
                                 .getResult())
              : OpFoldResult(builder.getIndexAttr(type.getDimSize(i))));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult ElementwiseOp::verify() {
  SmallVector<Type> tensors;
  for (Value input : getInputs()) {
    Type type = input.getType();
    if (isa<RankedTensorType>(type))
      tensors.push_back(type);
    else if (isa<ShapedType>(type))
      return emitOpError("expects each operand to be a ranked tensor or a "
                         "scalar, but got ")
             << type;
  }
  if (tensors.empty())
    return emitOpError("expects at least one operand to be a ranked tensor; "
                       "the results take their shape from it");
  if (getOutputs().empty())
    return emitOpError("expects at least one result");
  llvm::append_range(tensors, getOutputs().getTypes());
  if (failed(verifyCompatibleShapes(tensors)))
    return emitOpError("expects all tensor operands and results to have one "
                       "shape; broadcast explicitly (linalg.broadcast) first");
  return success();
}

LogicalResult ElementwiseOp::verifyRegions() {
  Block *block = getBodyBlock();
  if (block->getNumArguments() != getInputs().size())
    return emitOpError("expects one body argument for each of its ")
           << getInputs().size() << " operands, but got "
           << block->getNumArguments();
  for (auto [index, input] : llvm::enumerate(getInputs())) {
    Type expected =
        isTensor(input) ? getElementTypeOrSelf(input) : input.getType();
    if (block->getArgument(index).getType() != expected)
      return emitOpError("expects body argument ")
             << index << " to have type " << expected << ", but got "
             << block->getArgument(index).getType();
  }
  auto yield = dyn_cast<YieldOp>(block->getTerminator());
  if (!yield)
    return emitOpError("expects its body to end with fad.yield");
  if (yield.getNumOperands() != getNumResults())
    return yield.emitOpError("expects one value for each of the ")
           << getNumResults() << " results, but got " << yield.getNumOperands();
  for (auto [index, type] : llvm::enumerate(yield.getOperandTypes()))
    if (type != getElementTypeOrSelf(getResult(index)))
      return yield.emitOpError("expects value ")
             << index << " to have type "
             << getElementTypeOrSelf(getResult(index)) << ", but got " << type;
  for (Operation &op : block->without_terminator())
    if (!isMemoryEffectFree(&op))
      return op.emitOpError("has side effects, which the body of "
                            "fad.elementwise may not have");
  return success();
}

//===----------------------------------------------------------------------===//
// Canonicalization
//===----------------------------------------------------------------------===//

namespace {
/// Rebuilds `op` with the given operands and yields; body arguments of dropped
/// operands must be unused.
ElementwiseOp rebuild(PatternRewriter &rewriter, ElementwiseOp op,
                      ArrayRef<unsigned> keptInputs,
                      ArrayRef<unsigned> keptResults) {
  SmallVector<Value> inputs;
  for (unsigned index : keptInputs)
    inputs.push_back(op.getInputs()[index]);
  SmallVector<Type> types;
  for (unsigned index : keptResults)
    types.push_back(op.getResult(index).getType());
  auto result = ElementwiseOp::create(rewriter, op.getLoc(), types, inputs);
  result->setDiscardableAttrs(op->getDiscardableAttrDictionary());

  SmallVector<Value> yielded;
  for (unsigned index : keptResults)
    yielded.push_back(op.getYield().getOperand(index));
  YieldOp yield = op.getYield();
  rewriter.setInsertionPoint(yield);
  rewriter.replaceOpWithNewOp<YieldOp>(yield, yielded);

  SmallVector<Value> replacements(op.getInputs().size());
  for (auto [position, index] : llvm::enumerate(keptInputs))
    replacements[index] = result.getBodyArgument(position);
  // Dropped arguments have no uses, but every argument needs a replacement of
  // its type.
  for (auto [index, value] : llvm::enumerate(replacements))
    if (!value)
      value = op.getBodyArgument(index);
  Block *from = op.getBodyBlock();
  for (auto [argument, value] : llvm::zip(from->getArguments(), replacements))
    if (argument != value)
      rewriter.replaceAllUsesWith(argument, value);
  Block *to = result.getBodyBlock();
  to->getOperations().splice(to->end(), from->getOperations());
  return result;
}

SmallVector<unsigned> allOf(unsigned count) {
  return llvm::to_vector(llvm::seq(count));
}

/// Whether a kernel fixes the operands and results of `op`.
bool isBoundToKernel(ElementwiseOp op) {
  return op->hasAttr(FadDialect::kKernelAttr);
}

struct DropUnusedResults : OpRewritePattern<ElementwiseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ElementwiseOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<unsigned> kept;
    for (auto [index, result] : llvm::enumerate(op.getOutputs()))
      if (!result.use_empty())
        kept.push_back(index);
    if (kept.size() == op.getNumResults())
      return rewriter.notifyMatchFailure(op, "every result is used");
    if (kept.empty()) {
      rewriter.eraseOp(op);
      return success();
    }
    if (isBoundToKernel(op))
      return rewriter.notifyMatchFailure(op, "its kernel writes all results");
    auto result = rebuild(rewriter, op, allOf(op.getInputs().size()), kept);
    for (auto [position, index] : llvm::enumerate(kept))
      rewriter.replaceAllUsesWith(op.getResult(index),
                                  result.getResult(position));
    rewriter.eraseOp(op);
    return success();
  }
};

/// Merges the results of a value that is yielded twice.
struct MergeEqualResults : OpRewritePattern<ElementwiseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ElementwiseOp op,
                                PatternRewriter &rewriter) const override {
    llvm::SmallDenseMap<Value, unsigned> first;
    bool changed = false;
    for (auto [index, value] : llvm::enumerate(op.getYield().getValues())) {
      auto [it, inserted] = first.try_emplace(value, index);
      Value result = op.getResult(index);
      if (inserted || result.use_empty() ||
          result.getType() != op.getResult(it->second).getType())
        continue;
      rewriter.replaceAllUsesWith(result, op.getResult(it->second));
      changed = true;
    }
    return success(changed);
  }
};

/// Replaces a result that is an operand, unchanged, by that operand.
struct ForwardIdentity : OpRewritePattern<ElementwiseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ElementwiseOp op,
                                PatternRewriter &rewriter) const override {
    bool changed = false;
    for (auto [index, value] : llvm::enumerate(op.getYield().getValues())) {
      auto argument = dyn_cast<BlockArgument>(value);
      if (!argument || op.getResult(index).use_empty())
        continue;
      Value input = op.getInputs()[argument.getArgNumber()];
      if (input.getType() != op.getResult(index).getType())
        continue;
      rewriter.replaceAllUsesWith(op.getResult(index), input);
      changed = true;
    }
    return success(changed);
  }
};

/// Moves constants into the body, and drops operands that the body ignores or
/// that are given twice, as long as a tensor remains to give the shape.
struct SimplifyInputs : OpRewritePattern<ElementwiseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ElementwiseOp op,
                                PatternRewriter &rewriter) const override {
    if (isBoundToKernel(op))
      return rewriter.notifyMatchFailure(op, "its kernel takes all operands");
    SmallVector<unsigned> kept;
    llvm::SmallDenseMap<Value, unsigned> first;
    unsigned tensors = llvm::count_if(op.getInputs(), isTensor);
    for (auto [index, input] : llvm::enumerate(op.getInputs())) {
      BlockArgument argument = op.getBodyArgument(index);
      bool droppable = !isTensor(input) || tensors > 1;
      auto [it, inserted] = first.try_emplace(input, index);
      if (droppable && !inserted)
        rewriter.replaceAllUsesWith(argument, op.getBodyArgument(it->second));
      else if (!droppable || (!argument.use_empty() &&
                              !inlineConstant(rewriter, op, index))) {
        kept.push_back(index);
        continue;
      } else {
        // A later copy of this operand cannot use the dropped argument.
        first.erase(input);
      }
      tensors -= isTensor(input);
    }
    if (kept.size() == op.getInputs().size())
      return rewriter.notifyMatchFailure(op, "every operand is needed");
    auto result = rebuild(rewriter, op, kept, allOf(op.getNumResults()));
    rewriter.replaceOp(op, result);
    return success();
  }

  /// Replaces the body argument of a scalar constant or of a splat by that
  /// constant.
  static bool inlineConstant(PatternRewriter &rewriter, ElementwiseOp op,
                             unsigned index) {
    Attribute value;
    if (!matchPattern(op.getInputs()[index], m_Constant(&value)))
      return false;
    if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
      if (!dense.isSplat())
        return false;
      value = dense.getSplatValue<Attribute>();
    }
    auto typed = dyn_cast<TypedAttr>(value);
    BlockArgument argument = op.getBodyArgument(index);
    if (!typed || typed.getType() != argument.getType())
      return false;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(op.getBodyBlock());
    auto constant = arith::ConstantOp::create(rewriter, op.getLoc(), typed);
    rewriter.replaceAllUsesWith(argument, constant);
    return true;
  }
};
} // namespace

void ElementwiseOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                MLIRContext *context) {
  patterns.add<DropUnusedResults, MergeEqualResults, ForwardIdentity,
               SimplifyInputs>(context);
}
