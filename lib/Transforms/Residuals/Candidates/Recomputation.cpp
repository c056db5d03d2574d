//===- Recomputation.cpp - Operations that backward repeats ---------------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the operations that backward repeats under every policy, in one pass
// over the joint function: views, constants, arithmetic on sizes, masks from a
// seed, and selections of live elements. Values that arguments, results and
// such operations determine are alive in backward anyway, and never cost bytes.
//
//===----------------------------------------------------------------------===//

#include "fad/Transforms/Residuals/Candidates/Recomputation.h"
#include "fad/Analysis/Movement.h"
#include "fad/IR/Fad.h"
#include "fad/Transforms/Utils/ElementwiseUtils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fad;

bool fad::isOverwritten(OpOperand &operand) {
  auto op = dyn_cast<linalg::LinalgOp>(operand.getOwner());
  return op && op.isDpsInit(&operand) &&
         !op.payloadUsesValueFromOperand(&operand);
}

void fad::forEachReadOperand(Operation *op,
                             llvm::function_ref<void(Value)> callback) {
  auto dim = dyn_cast<tensor::DimOp>(op);
  forEachOutsideOperand(op, [&](OpOperand &operand) {
    bool isSize =
        dim && dim.getConstantIndex() && operand.get() == dim.getSource();
    if (!isSize && !isOverwritten(operand))
      callback(operand.get());
  });
}

bool fad::isBetweenCheckpoints(Operation *op) {
  return llvm::any_of(
             op->getOperands(),
             [](Value operand) {
               auto opaque = operand.getDefiningOp<OpaqueOp>();
               while (opaque && opaque.getKind() == OpaqueKind::view &&
                      !opaque.getOperands().empty())
                 opaque =
                     opaque.getOperands().front().getDefiningOp<OpaqueOp>();
               return opaque && opaque.getKind() == OpaqueKind::repeat;
             }) &&
         llvm::any_of(op->getUsers(), [](Operation *user) {
           auto opaque = dyn_cast<OpaqueOp>(user);
           return opaque && opaque.getKind() == OpaqueKind::repeat;
         });
}

bool fad::mentionsAllLoops(AffineMap map, ArrayRef<int64_t> ranges) {
  for (auto [loop, range] : llvm::enumerate(ranges))
    if (range != 1 && !map.isFunctionOfDim(loop))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// Whether `op` is a linalg.generic that copies, broadcasts or transposes.
static bool isCopy(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumParallelLoops() != generic.getNumLoops() ||
      !generic.hasPureTensorSemantics())
    return false;
  Block &body = *generic.getBody();
  return body.without_terminator().empty() &&
         llvm::all_of(body.getTerminator()->getOperands(), [&](Value yielded) {
           auto argument = dyn_cast<BlockArgument>(yielded);
           if (!argument || argument.getOwner() != &body)
             return false;
           OpOperand *operand = generic.getMatchingOpOperand(argument);
           return generic.isDpsInput(operand) &&
                  findOwnLoops(generic, *operand);
         });
}

/// Whether `op` is part of an adjoint and only reorders the elements of a
/// tensor, such as a convolution's filter, or puts them among zeros.
static bool isReordering(Operation *op) {
  if (!op->hasAttr(FadDialect::kAdjointOfAttr))
    return false;
  if (isa<tensor::InsertSliceOp>(op))
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumParallelLoops() != generic.getNumLoops() ||
      generic.getNumDpsInputs() != 0 || generic->getNumResults() != 1)
    return false;
  Block &body = *generic.getBody();
  auto extract =
      body.getTerminator()->getOperand(0).getDefiningOp<tensor::ExtractOp>();
  auto to = dyn_cast<RankedTensorType>(generic.getResultTypes().front());
  if (!extract || !to)
    return false;
  RankedTensorType from = extract.getTensor().getType();
  return from.getRank() == to.getRank() &&
         from.hasStaticShape() == to.hasStaticShape() &&
         (!to.hasStaticShape() || from.getNumElements() == to.getNumElements());
}

bool fad::isView(Operation *op) {
  if (matchPattern(op, m_Constant()))
    return true;
  Movement movement = getMovement(op);
  if (movement == Movement::reshape || movement == Movement::arrangement ||
      isa<tensor::EmptyOp, tensor::DimOp>(op))
    return true;
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return bool(pad.getConstantPaddingValue());
  if (isCopy(op) || isReordering(op))
    return true;
  if (auto opaque = dyn_cast<OpaqueOp>(op))
    return opaque.getKind() == OpaqueKind::repeat;
  // Arithmetic on sizes.
  return isPure(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getResultTypes(), llvm::IsaPred<IndexType>) &&
         llvm::all_of(op->getOperandTypes(), llvm::IsaPred<IndexType>);
}

bool fad::isLookup(Operation *op) {
  return isa<UnpackOp>(op) || llvm::any_of(op->getOperands(), [](Value value) {
           return isa_and_nonnull<UnpackOp>(value.getDefiningOp());
         });
}

//===----------------------------------------------------------------------===//
// Recomputation
//===----------------------------------------------------------------------===//

/// Whether `type` has one number, whose cost is negligible.
static bool isOneNumber(Type type) {
  auto shaped = dyn_cast<RankedTensorType>(type);
  return shaped ? shaped.hasStaticShape() && shaped.getNumElements() == 1
                : type.isIntOrIndexOrFloat();
}

bool Recomputation::isAlive(Value value) const {
  Operation *def = value.getDefiningOp();
  return !def || alive.contains(value) || matchPattern(def, m_Constant());
}

bool Recomputation::isGenerated(Operation *op) const {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  bool isElementwise =
      structured
          ? structured.getNumReductionLoops() == 0
          : isa<ElementwiseOp>(op) ||
                isa_and_nonnull<tensor::TensorDialect>(op->getDialect()) ||
                OpTrait::hasElementwiseMappableTraits(op);
  if (!isElementwise || !isMemoryEffectFree(op) ||
      llvm::any_of(op->getResultTypes(), isOneNumber))
    return false;
  // A single number stays one under reshapes and casts.
  bool isReshape = getMovement(op) == Movement::reshape;
  bool readsNoData = true;
  forEachReadOperand(op, [&](Value operand) {
    Operation *def = operand.getDefiningOp();
    readsNoData &=
        (!isReshape && isOneNumber(operand.getType())) ||
        (def && (generated.contains(def) || isa<tensor::EmptyOp>(def) ||
                 matchPattern(def, m_Constant())));
  });
  return readsNoData;
}

bool Recomputation::isSelection(Operation *op) const {
  return getMovement(op) == Movement::blocks &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return !isa<TensorType>(operand.getType()) || isAlive(operand);
         });
}

Recomputation::Recomputation(const JointFunction &joint) {
  results.insert(joint.getResults().begin(), joint.getResults().end());
  alive = results;
  func::FuncOp function = joint.getFunction();
  for (Operation &op : function.front().without_terminator()) {
    // Readers of alternatives may use the best of them.
    if (isa<AlternativesOp>(op) &&
        llvm::any_of(op.getOperands(), [&](Value v) { return isAlive(v); }))
      alive.insert(op.getResult(0));
    bool isNew = isGenerated(&op);
    if (isNew)
      generated.insert(&op);
    if (!isNew && !isView(&op) && !isSelection(&op))
      continue;
    ops.insert(&op);
    bool fromAlive = true;
    forEachReadOperand(&op, [&](Value operand) {
      fromAlive &= isOneNumber(operand.getType()) || isAlive(operand);
    });
    if (fromAlive)
      alive.insert(op.result_begin(), op.result_end());
  }
}
