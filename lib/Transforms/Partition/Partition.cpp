//===- Partition.cpp - Collect single-source subgraphs --------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementwiseRegions.h"
#include "fad/Analysis/Splats.h"
#include "fad/Transforms/Passes.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::fad {
#define GEN_PASS_DEF_FADPARTITION
#include "fad/Transforms/Passes.h.inc"
} // namespace mlir::fad

using namespace mlir;
using namespace mlir::fad;

using Kind = ElementwiseView::Kind;

//===----------------------------------------------------------------------===//
// Annotation
//===----------------------------------------------------------------------===//

/// Attaches the class of each operation on tensors, and the number of its
/// region.
static void annotate(Block &block, ArrayRef<SingleSourceRegion> regions) {
  MLIRContext *context = block.getParentOp()->getContext();
  Builder builder(context);
  for (Operation &op : block.without_terminator())
    if (llvm::any_of(op.getResultTypes(), llvm::IsaPred<TensorType>))
      op.setAttr(FadDialect::kClassAttr,
                 OpClassAttr::get(context, OpClass::nfad));
  for (auto [number, region] : llvm::enumerate(regions)) {
    for (const ElementwiseView &member : region.members) {
      member.op->setAttr(FadDialect::kClassAttr,
                         OpClassAttr::get(context, OpClass::fad));
      member.op->setAttr(FadDialect::kRegionAttr,
                         builder.getI64IntegerAttr(number));
    }
  }
}

//===----------------------------------------------------------------------===//
// Collection
//===----------------------------------------------------------------------===//

namespace {
/// Builds the scalar body of one region.
class RegionBuilder {
public:
  RegionBuilder(RewriterBase &rewriter, const SingleSourceRegion &region)
      : rewriter(rewriter), region(region), body(std::make_unique<Block>()) {}

  /// Replaces the members by one fad.elementwise.
  void run();

private:
  /// Adds the tensor `input` as an operand; returns its scalar.
  Value addInput(Value input);
  /// The scalar that stands for the operand `index` of `view` in the body.
  Value getScalar(const ElementwiseView &view, unsigned index);
  /// A constant of type `type`, in the body.
  Value getConstant(Location loc, Attribute value);
  /// Appends the scalar operations of `view` to the body.
  void append(const ElementwiseView &view);
  void appendBlock(const ElementwiseView &view, Block &block);
  void appendMappable(const ElementwiseView &view);
  /// Notes that `scalar` is the element of the tensor `result`.
  void define(Value result, Value scalar);

  RewriterBase &rewriter;
  const SingleSourceRegion &region;
  std::unique_ptr<Block> body;
  /// The scalar of each tensor.
  IRMapping scalars;
  /// The tensors that the region reads.
  SmallVector<Value> inputs;
};
} // namespace

Value RegionBuilder::getConstant(Location loc, Attribute value) {
  return arith::ConstantOp::create(rewriter, loc, cast<TypedAttr>(value));
}

Value RegionBuilder::addInput(Value input) {
  inputs.push_back(input);
  Value scalar = body->addArgument(getElementTypeOrSelf(input), input.getLoc());
  scalars.map(input, scalar);
  return scalar;
}

Value RegionBuilder::getScalar(const ElementwiseView &view, unsigned index) {
  Value operand = view.op->getOperand(index);
  if (Value scalar = scalars.lookupOrNull(operand))
    return scalar;
  if (view.operands[index] == Kind::Constants)
    return addInput(operand);
  if (!isa<ShapedType>(operand.getType()))
    return operand;
  OpFoldResult splat = getSplat(operand);
  if (auto attr = dyn_cast<Attribute>(splat))
    return getConstant(view.op->getLoc(), attr);
  return cast<Value>(splat);
}

void RegionBuilder::define(Value result, Value scalar) {
  scalars.map(result, scalar);
  // A tape could save this value, a tensor in the source program.
  if (Operation *def = scalar.getDefiningOp())
    if (def->getBlock() == body.get() && !matchPattern(def, m_Constant()))
      def->setAttr(FadDialect::kTapeAttr, rewriter.getUnitAttr());
}

void RegionBuilder::appendBlock(const ElementwiseView &view, Block &block) {
  IRMapping mapping;
  for (auto [index, kind] : llvm::enumerate(view.operands)) {
    if (kind == Kind::Unused)
      continue;
    mapping.map(block.getArgument(index), getScalar(view, index));
  }
  for (Operation &op : block.without_terminator())
    rewriter.clone(op, mapping);
  for (auto [result, yielded] : llvm::zip_equal(
           view.op->getResults(), block.getTerminator()->getOperands()))
    define(result, mapping.lookupOrDefault(yielded));
}

void RegionBuilder::appendMappable(const ElementwiseView &view) {
  SmallVector<Value> operands;
  for (unsigned index : llvm::seq<unsigned>(0, view.operands.size()))
    operands.push_back(getScalar(view, index));
  SmallVector<Type> types;
  for (Type type : view.op->getResultTypes())
    types.push_back(getElementTypeOrSelf(type));
  OperationState state(view.op->getLoc(), view.op->getName(), operands, types,
                       view.op->getAttrs());
  state.propertiesAttr = view.op->getPropertiesAsAttribute();
  Operation *scalarOp = rewriter.create(state);
  for (auto [result, scalar] :
       llvm::zip_equal(view.op->getResults(), scalarOp->getResults()))
    define(result, scalar);
}

void RegionBuilder::append(const ElementwiseView &view) {
  if (auto elementwise = dyn_cast<ElementwiseOp>(view.op))
    return appendBlock(view, *elementwise.getBodyBlock());
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(view.op))
    return appendBlock(view, *linalgOp.getBlock());
  appendMappable(view);
}

void RegionBuilder::run() {
  Operation *first = region.members.front().op;
  SmallPtrSet<Operation *, 8> members;
  for (const ElementwiseView &view : region.members)
    members.insert(view.op);

  addInput(region.source);
  rewriter.setInsertionPointToEnd(body.get());
  for (const ElementwiseView &view : region.members)
    append(view);

  SmallVector<Value> results, yielded;
  SmallVector<Type> types;
  for (const ElementwiseView &view : region.members) {
    for (Value result : view.op->getResults()) {
      if (llvm::all_of(result.getUsers(),
                       [&](Operation *user) { return members.contains(user); }))
        continue;
      results.push_back(result);
      yielded.push_back(scalars.lookup(result));
      types.push_back(result.getType());
    }
  }
  if (!results.empty()) {
    // The first member may not have read all the constants.
    for (Value input : ArrayRef(inputs).drop_front())
      if (Operation *def = input.getDefiningOp();
          def->getBlock() == first->getBlock() && first->isBeforeInBlock(def))
        rewriter.moveOpBefore(def, first);
    rewriter.setInsertionPoint(first);
    ElementwiseOp op = buildElementwise(rewriter, first->getLoc(), types,
                                        std::move(body), inputs, yielded);
    for (auto [result, replacement] : llvm::zip(results, op.getResults()))
      rewriter.replaceAllUsesWith(result, replacement);
  }
  for (const ElementwiseView &view : llvm::reverse(region.members))
    rewriter.eraseOp(view.op);
}

namespace {
struct FadPartitionPass : fad::impl::FadPartitionBase<FadPartitionPass> {
  using FadPartitionBase::FadPartitionBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    for (Block *block : findTensorBlocks(function)) {
      SmallVector<SingleSourceRegion> regions = findSingleSourceRegions(*block);
      if (annotateOnly) {
        annotate(*block, regions);
        continue;
      }
      IRRewriter rewriter(&getContext());
      // The last first: a result of one region may be the source of a later
      // one.
      for (const SingleSourceRegion &region : llvm::reverse(regions))
        RegionBuilder(rewriter, region).run();
      eraseDeadOps(*block);
    }
  }
};
} // namespace
