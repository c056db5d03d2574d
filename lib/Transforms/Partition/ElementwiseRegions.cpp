//===- ElementwiseRegions.cpp - Single-source subgraphs -------------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementwiseRegions.h"
#include "fad/Analysis/Splats.h"
#include "fad/IR/Fad.h"
#include "fad/Interfaces/DerivativeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::fad;

using Kind = ElementwiseView::Kind;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Whether `operand` counts as a constant, given its kind.
static bool isConstant(Value operand) {
  if (!isa<ShapedType>(operand.getType()))
    return !mayHaveTangent(operand);
  return bool(getSplat(operand));
}

/// The kind of the tensor `operand` of an elementwise operation; it is no
/// splat.
static Kind getTensorKind(Value operand) {
  bool isNumber = getElementTypeOrSelf(operand).isIntOrIndexOrFloat();
  return isNumber && matchPattern(operand, m_Constant()) ? Kind::Constants
                                                         : Kind::Tensor;
}

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

static bool isScalar(Type type) { return type.isIntOrIndexOrFloat(); }

/// Whether a scalar operation can be part of a region: pure, on scalars, and
/// with a derivative rule if a tangent can flow through it.
static bool isDifferentiableScalarOp(Operation &op) {
  if (!isPure(&op) || op.getNumRegions() != 0 || isa<linalg::IndexOp>(op) ||
      !llvm::all_of(op.getOperandTypes(), isScalar) ||
      !llvm::all_of(op.getResultTypes(), isScalar))
    return false;
  auto hasTangent = [](Type type) { return bool(getTangentType(type)); };
  bool needsRule = llvm::any_of(op.getOperandTypes(), hasTangent) &&
                   llvm::any_of(op.getResultTypes(), hasTangent);
  return !needsRule || isa<DerivativeOpInterface>(op);
}

/// Checks the body and collects the values that it captures.
static bool isElementwiseBody(Block &body, SmallVectorImpl<Value> &captures) {
  auto capture = [&](Value operand) {
    if (operand.getParentBlock() != &body)
      captures.push_back(operand);
  };
  for (Operation &op : body.without_terminator()) {
    if (!isDifferentiableScalarOp(op))
      return false;
    llvm::for_each(op.getOperands(), capture);
  }
  llvm::for_each(body.getTerminator()->getOperands(), capture);
  return llvm::all_of(captures, [](Value v) { return isConstant(v); });
}

static std::optional<ElementwiseView> viewLinalg(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op->getNumResults() == 0 ||
      op.getNumParallelLoops() != op.getNumLoops())
    return std::nullopt;
  ElementwiseView view{op, {}, {}};
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    bool used = op.payloadUsesValueFromOperand(&operand);
    if (op.isDpsInit(&operand) && (used || !map.isIdentity()))
      return std::nullopt;
    if (!used)
      view.operands.push_back(Kind::Unused);
    else if (isConstant(operand.get()))
      view.operands.push_back(Kind::Constant);
    else if (op.isScalar(&operand) || !map.isIdentity())
      return std::nullopt;
    else
      view.operands.push_back(getTensorKind(operand.get()));
  }
  if (!isElementwiseBody(*op.getBlock(), view.captures))
    return std::nullopt;
  return view;
}

static std::optional<ElementwiseView> viewRegion(ElementwiseOp op) {
  ElementwiseView view{op, {}, {}};
  for (Value input : op.getInputs())
    view.operands.push_back(isConstant(input) ? Kind::Constant
                                              : getTensorKind(input));
  for (auto [input, kind] : llvm::zip(op.getInputs(), view.operands))
    if (kind != Kind::Constant && !isa<RankedTensorType>(input.getType()))
      return std::nullopt;
  if (!isElementwiseBody(*op.getBodyBlock(), view.captures))
    return std::nullopt;
  return view;
}

/// `op` on scalars must be pure and have a rule, just as in a body.
static std::optional<ElementwiseView> viewMappable(Operation *op) {
  if (!OpTrait::hasElementwiseMappableTraits(op) || !isPure(op) ||
      !llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
    return std::nullopt;
  auto hasTangent = [](Type type) {
    return bool(getTangentType(getElementTypeOrSelf(type)));
  };
  if (llvm::any_of(op->getOperandTypes(), hasTangent) &&
      llvm::any_of(op->getResultTypes(), hasTangent) &&
      !isa<DerivativeOpInterface>(op))
    return std::nullopt;
  ElementwiseView view{op, {}, {}};
  for (Value operand : op->getOperands()) {
    bool constant = isConstant(operand);
    if (!constant && !isa<RankedTensorType>(operand.getType()))
      return std::nullopt;
    view.operands.push_back(constant ? Kind::Constant : getTensorKind(operand));
  }
  return view;
}

std::optional<ElementwiseView> fad::viewElementwise(Operation *op) {
  if (auto region = dyn_cast<ElementwiseOp>(op))
    return viewRegion(region);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return viewLinalg(linalgOp);
  return viewMappable(op);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Whether `value` dominates `op` in its block, or is a constant that can be
/// moved there.
static bool isAvailableAt(Value value, Operation *op) {
  Operation *def = value.getDefiningOp();
  if (!def || def->getBlock() != op->getBlock() ||
      matchPattern(def, m_Constant()))
    return true;
  return def->isBeforeInBlock(op);
}

/// Whether all scalars that `view` reads are available at `op`.
static bool areConstantsAvailableAt(const ElementwiseView &view,
                                    Operation *op) {
  for (auto [operand, kind] :
       llvm::zip(view.op->getOperands(), view.operands)) {
    if (kind != Kind::Constant)
      continue;
    Value scalar = operand;
    if (isa<ShapedType>(operand.getType()))
      scalar = dyn_cast<Value>(getSplat(operand));
    if (scalar && !isAvailableAt(scalar, op))
      return false;
  }
  return llvm::all_of(view.captures,
                      [&](Value v) { return isAvailableAt(v, op); });
}

/// Whether `op` only rounds `source`, which has no other reader, to a narrower
/// type.
static bool isOnlyRounding(Operation &op, Value source) {
  if (!source.hasOneUse() || !llvm::is_contained(op.getOperands(), source))
    return false;
  if (isa<arith::TruncFOp>(op))
    return true;
  Block *body = nullptr;
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    body = generic.getBody();
  else if (auto elementwise = dyn_cast<ElementwiseOp>(op))
    body = elementwise.getBodyBlock();
  return body && llvm::hasSingleElement(body->without_terminator()) &&
         isa<arith::TruncFOp>(body->front()) &&
         llvm::all_of(body->getTerminator()->getOperands(), [&](Value v) {
           return v.getDefiningOp() == &body->front();
         });
}

SmallVector<SingleSourceRegion> fad::findSingleSourceRegions(Block &block) {
  SmallVector<SingleSourceRegion> regions;
  // The region of each source, and the source of each tensor other than a
  // source.
  DenseMap<Value, unsigned> regionOf;
  DenseMap<Value, Value> sourceOf;
  for (Operation &op : block.without_terminator()) {
    std::optional<ElementwiseView> view = viewElementwise(&op);
    if (!view)
      continue;
    llvm::SmallSetVector<Value, 2> sources;
    for (auto [operand, kind] : llvm::zip(op.getOperands(), view->operands))
      if (kind == Kind::Tensor)
        sources.insert(sourceOf.lookup_or(operand, operand));
    if (sources.size() != 1 ||
        !getTangentType(getElementTypeOrSelf(sources.front())))
      continue;
    Value source = sources.front();
    auto [it, inserted] = regionOf.try_emplace(source, regions.size());
    if (inserted)
      regions.push_back({source, {}});
    else if (!areConstantsAvailableAt(*view,
                                      regions[it->second].members.front().op))
      continue;
    regions[it->second].members.push_back(std::move(*view));
    // The rounded tensor suffices for its readers, and the derivative of
    // rounding is 1.
    if (isOnlyRounding(op, source))
      continue;
    for (Value result : op.getResults())
      sourceOf[result] = source;
  }
  return regions;
}
